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
  look_at_leaving();
  read_permit();
}

// In the place of what was read there, and of nothing else: an operator may have asked for one. How long it holds is the cluster's to say.
void Participant::Work::ask_permit(const std::optional<store::Entry>& there) {
  permit_asked_ = true;
  const std::string key = keys_.permit(options_.node.name);
  store::Txn txn;
  txn.compare(there ? store::unchanged(*there) : store::absent(key)).put(key, format(PermitDocument{.incarnation = next_}));
  store_.txn(std::move(txn), guarded_now([](Work& self, const Result<store::Committed>& done) {
               if (self.stage_ != Stage::asking) return;
               if (!done) self.no_permit_ = done.error().message;
               self.set_timer(self.permit_, later(self.loop_.now(), permit_look), &Work::read_permit);
             }));
}

void Participant::Work::read_permit() {
  if (!session_ || stage_ != Stage::asking) return;
  store_.get(keys_.permit(options_.node.name), guarded_now([](Work& self, const Result<store::Read>& read) {
               if (self.stage_ != Stage::asking) return;
               if (!read) self.no_permit_ = read.error().message;
               if (read) return self.on_permit(read->entry);
               self.set_timer(self.permit_, later(self.loop_.now(), permit_look), &Work::read_permit);
             }));
}

void Participant::Work::on_permit(const std::optional<store::Entry>& there) {
  const auto permit =
      there ? parse_permit(there->value, there->key) : Result<PermitDocument>(fail(Code::not_found, "nobody asked"));
  if (!permit || permit->incarnation != next_) return ask_permit(there);
  if (permit->stage == PermitDocument::Stage::go) {
    no_permit_.clear();
    return close_replicas();
  }
  // Refused before it has asked itself: that was another time.
  if (permit->stage == PermitDocument::Stage::refused && !permit_asked_) return ask_permit(there);
  if (!permit->reason.empty()) no_permit_ = permit->reason;
  set_timer(permit_, later(loop_.now(), permit_look), &Work::read_permit);
}

void Participant::Work::close_replicas() {
  stage_ = Stage::closing;
  loop_.cancel(permit_);
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
  const auto is_over = [this](Duration after) {
    const Instant end = later(leave_begun_, after);
    if (loop_.now() >= end) return true;
    set_timer(leave_, end, &Work::look_at_leaving);
    return false;
  };
  if (stage_ == Stage::asking && (!session_ || is_over(leave_within_ / 2))) return close_replicas();
  const bool told = !session_ || !writer_ || writer_->idle();  // what was closed last is written, too
  if (stage_ == Stage::closing && ((told && unfinished().empty()) || is_over(leave_within_ / 4 * 3))) return step_down();
  if (stage_ == Stage::stepping_down && (unfinished().empty() || is_over(leave_within_))) say_goodbye();
}

void Participant::Work::say_goodbye() {
  stage_ = Stage::gone;
  loop_.cancel(leave_);
  std::vector<std::string> left = unfinished();
  const bool well = left.empty();
  if (!no_permit_.empty()) left.push_back("no permit: " + no_permit_);
  const auto tell = [](Work& self, const std::vector<std::string>& what) {
    if (!self.left_) return;  // it was told when its time was over
    auto answer = std::move(*std::exchange(self.left_, std::nullopt));
    self.loop_.cancel(self.leave_);
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
  if (const Instant end = later(leave_begun_, leave_within_); end != Instant::max()) {
    leave_ = loop_.post_at(end, guarded([tell, left](Work& self) mutable {
                             left.push_back("the session's end could not be written in time");
                             tell(self, left);
                           }));
  }
  session_->end(guarded([tell, left](Work& self, const Result<store::Revision>& ended) mutable {
    if (!ended) left.push_back("the session's end could not be written: " + ended.error().message);
    tell(self, left);
  }));
}

}  // namespace evenkeel::node
