#pragma once
// Gets and lists.
//
// A get begins with a proposal that changes nothing, so that the member which is asked has caught up with all that was committed before. A
// list begins with a sync, which a leader that was deposed and does not know it yet answers too: it may be older than others' writes.
// A list reads node after node. If none of them is newer than what was known before, it is of one moment. Else it looks again at all nodes:
// if none has moved, it is; if some have, it is read again, and in the end its revision is what was known before it began.

#include "evenkeel/store/backends/zookeeper/detail/call.h"
#include "evenkeel/store/backends/zookeeper/detail/walk.h"

namespace evenkeel::store::zookeeper {

class GetCall final : public Call {
 public:
  GetCall(Context& context, std::string key, Answer<Read> answer);

 protected:
  void attempt() override;
  void answer_error(Error error) override { answer_(fail(std::move(error))); }

 private:
  void take(Reply reply);

  std::string key_;
  std::string path_;
  Answer<Read> answer_;
};

class ListCall final : public Call {
 public:
  ListCall(Context& context, const std::string& prefix, Answer<Listing> answer);

 protected:
  void attempt() override;
  void answer_error(Error error) override { answer_(fail(std::move(error))); }

 private:
  void walk();
  void take(Walk::Found found);
  void look_again();
  void take_look(const std::string& path, const NodeStat& before, const Reply& reply);
  void answer(Revision revision);

  std::string top_;
  Answer<Listing> answer_;
  std::shared_ptr<Walk> walk_;
  Walk::Found found_;
  Revision before_;  // known when the walk began
  Revision newest_;  // of all nodes
  std::size_t looks_left_ = 0;
  bool moved_ = false;
  int walks_ = 0;
};

}  // namespace evenkeel::store::zookeeper
