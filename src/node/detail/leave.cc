// How a participant goes: it asks for a permit, so that its leaders are taken over first; then it closes what does not lead; then whatever is
// left steps down; then its session ends. Each part has its time: half of it for the permit, a quarter for each of the others.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "evenkeel/node/detail/participant_work.h"

namespace evenkeel::node {
namespace {

constexpr Duration permit_look = 200ms;  // how often the permit is looked at

}  // namespace

void Participant::Work::leave(Duration timeout, store::Answer<void> answer) {
  if (closed_ || stage_ != Stage::staying) {
    Error why = closed_ ? Error{Code::cancelled, "the node ends"} : Error{Code::refused, "it is leaving already"};
    loop_.post([answer = std::move(answer), why = std::move(why)]() mutable { answer(fail(std::move(why))); });
    return;
  }
  left_ = std::move(answer);
  leave_begun_ = loop_.now();
  leave_within_ = timeout;
  stage_ = Stage::asking;
  if (!joined()) {
    no_permit_.clear();  // nobody counts on it
    return close_replicas();
  }
  live_.leaving = true;
  write_live();
  ask_permit();
}

void Participant::Work::ask_permit() {
  if (!session_ || stage_ != Stage::asking) return look_at_leaving();
  const PermitDocument permit{.incarnation = next_, .timeout = leave_within_};
  store_.put(keys_.permit(options_.node.name), format(permit), guarded_now([](Work& self, const Result<store::Committed>& done) {
               if (self.stage_ != Stage::asking) return;
               if (!done) self.no_permit_ = done.error().message;
               self.set_timer(self.leave_, later(self.loop_.now(), permit_look), &Work::read_permit);
             }));
}

void Participant::Work::read_permit() {
  look_at_leaving();
  if (!session_ || stage_ != Stage::asking) return;
  store_.get(keys_.permit(options_.node.name), guarded_now([](Work& self, const Result<store::Read>& read) {
               if (self.stage_ != Stage::asking) return;
               if (read && read->entry) {
                 const auto permit = parse_permit(read->entry->value, read->entry->key);
                 const bool ours = permit && permit->incarnation == self.next_;
                 if (ours && permit->stage == PermitDocument::Stage::go) {
                   self.no_permit_.clear();
                   return self.close_replicas();
                 }
                 if (ours && !permit->reason.empty()) self.no_permit_ = permit->reason;
                 if (!ours) return self.ask_permit();
               } else if (read) {
                 return self.ask_permit();
               }
               self.set_timer(self.leave_, later(self.loop_.now(), permit_look), &Work::read_permit);
             }));
}

void Participant::Work::close_replicas() {
  stage_ = Stage::closing;
  feed(Leaving());
}

// Those that lead still, and whatever would not close: without the session, which is kept until they are out.
void Participant::Work::step_down() {
  stage_ = Stage::stepping_down;
  deadline_.store(Instant::min().time_since_epoch().count(), std::memory_order_release);
  loop_.cancel(upkeep_);
  watching_.reset();
  if (writer_) writer_->close();
  told_reconciler_ = false;
  feed(SessionLost());
}

std::vector<std::string> Participant::Work::unfinished() const {
  std::vector<std::string> out;
  for (const auto& replica : reconciler_.replicas()) {
    if (replica.running || replica.state != replica.target)
      out.push_back(fmt::format("{} is {}", format(replica.shard), replica.state));
  }
  return out;
}

// Called whenever something has happened, and when a part's time is over.
void Participant::Work::look_at_leaving() {
  const Instant now = loop_.now();
  if (stage_ == Stage::asking) {
    const Instant end = leave_begun_ + leave_within_ / 2;
    if (!session_ || now >= end) return close_replicas();
    return;
  }
  if (stage_ == Stage::closing) {
    const Instant end = leave_begun_ + leave_within_ / 4 * 3;
    if (unfinished().empty() || now >= end) return step_down();
    return set_timer(leave_, end, &Work::look_at_leaving);
  }
  if (stage_ == Stage::stepping_down) {
    const Instant end = leave_begun_ + leave_within_;
    if (unfinished().empty() || now >= end) return say_goodbye();
    set_timer(leave_, end, &Work::look_at_leaving);
  }
}

void Participant::Work::say_goodbye() {
  stage_ = Stage::gone;
  loop_.cancel(leave_);
  std::vector<std::string> left = unfinished();
  const bool well = left.empty();
  if (!no_permit_.empty()) left.push_back("no permit: " + no_permit_);
  const auto tell = [](Work& self, const std::vector<std::string>& what) {
    auto answer = std::move(*std::exchange(self.left_, std::nullopt));
    self.incarnation_ = 0;
    if (what.empty()) return answer({});
    answer(fail(Code::unavailable, "not finished: {}", fmt::join(what, "; ")));
  };
  // Who may still be in a bounded state does not say that it is over: others wait until it is.
  if (!session_ || !well) {
    session_.reset();
    loop_.post(guarded([tell, left](Work& self) { tell(self, left); }));
    return;
  }
  store_.erase(keys_.live(options_.node.name), [](const Result<store::Committed>&) {});
  session_->end(guarded([tell, left](Work& self, const Result<store::Revision>& ended) mutable {
    if (!ended) left.push_back("the session's end could not be written: " + ended.error().message);
    tell(self, left);
  }));
}

}  // namespace evenkeel::node
