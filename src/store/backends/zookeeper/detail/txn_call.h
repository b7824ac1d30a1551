#pragma once
// A txn: read what it names, decide (decide.h), write one multi; if somebody was quicker, begin again, a little later.

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
  void take(const std::string& path, bool with_data, Reply reply);
  void have_nodes();
  void have_subtrees(Walk::Found found);
  void decide_and_write();
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
  bool only_reads_ = false;  // nothing was to be written, so it is read again after a proposal
};

}  // namespace evenkeel::store::zookeeper
