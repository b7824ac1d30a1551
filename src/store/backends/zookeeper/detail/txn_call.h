#pragma once
// A txn: read what it names, decide (decide.h), write one multi; if somebody was quicker, begin again, a little later. Where all that it names is known by
// this client's earlier txns (memory.h), it is decided by that first, without reading.

#include "evenkeel/store/backends/zookeeper/detail/call.h"
#include "evenkeel/store/backends/zookeeper/detail/walk.h"

namespace evenkeel::store::zookeeper {

class TxnCall final : public Call {
 public:
  TxnCall(Context& context, Txn txn, Answer<Committed> answer);

 protected:
  void attempt() override;
  void answer_error(Error error) override { answer_(fail(std::move(error))); }
  Error time_is_up() const override;

 private:
  bool write_from_memory();
  void read();
  void take(const std::string& path, bool with_data, Reply reply);
  void have_nodes();
  void have_subtrees(Walk::Found found);
  void decide_and_write();
  void write(Decision decision);
  void written(const Decision& decision, const Reply& reply);
  void lost_a_race();
  void answer(Committed committed);

  const Txn txn_;
  const Wanted wanted_;
  Answer<Committed> answer_;
  View view_;
  std::shared_ptr<Walk> walk_;
  std::size_t reads_left_ = 0;
  std::uint32_t races_lost_ = 0;
  bool sent_ = false;        // the multi is under way
  bool recalled_ = false;    // it was decided by memory, once
  bool only_reads_ = false;  // nothing was to be written, so it is read again after a proposal
};

}  // namespace evenkeel::store::zookeeper
