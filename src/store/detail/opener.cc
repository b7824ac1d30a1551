#include "evenkeel/store/detail/opener.h"

#include <algorithm>

#include "evenkeel/base/text.h"

namespace evenkeel::store::detail {

Opener::Opener(const SessionOptions& options, Instant until)
    : key_(options.key),
      margin_(options.margin),
      until_(until),
      beat_{options.identity, 0, options.ttl, options.meta, false},
      witness_(key_, Observer::Mode::end_it) {}

Opener::Effects Opener::step(const Input& input, Instant now) {
  Effects effects;
  const auto* got = std::get_if<Got>(&input);
  const auto* wrote = std::get_if<Wrote>(&input);
  switch (phase_) {
    case Phase::looking:
      look(input, now, effects);
      break;
    case Phase::taking:
      if (wrote) on_taken(wrote->done, now, effects);
      break;
    case Phase::finding:
      if (got) on_found(got->read, now, effects);
      if (phase_ == Phase::finding) find(now, effects);
      break;
    case Phase::done:
      break;
  }
  return effects;
}

void Opener::look(const Input& input, Instant now, Effects& effects) {
  if (const auto* got = std::get_if<Got>(&input); got && sent_as(got->read)) return on_found(got->read, now, effects);
  Witness::Effects seen = witness_.step(input, now);
  effects.read = seen.read;
  effects.write = std::move(seen.write);
  effects.wake = seen.wake;
  if (seen.watch) effects.watch = seen.watch;
  if (seen.over) {
    effects.abandon |= !witness_.idle();  // the watch was quicker than the answer
    return on_over(*seen.over, now, effects);
  }
  if (!witness_.idle()) return;
  effects.wake = std::min(effects.wake, until_);
  if (now < until_) return;
  if (witness_.trouble()) return finish(effects, fail(*witness_.trouble()));
  finish(effects, fail(Code::conflict, "{} is held by {}, which is alive", key_, quote(witness_.subject()->identity.str())));
}

void Opener::on_over(const Result<Witness::Over>& over, Instant now, Effects& effects) {
  if (!over) return finish(effects, fail(over.error()));
  if (over->ended.identity == beat_.identity) return refuse(effects);
  if (over->free && doubt_ && now >= until_) return finish(effects, fail(*doubt_));
  if (over->free && may_be_over(over->at, now)) return refuse(effects);
  if (over->free) return take(over->at, now, effects);
  if (now >= until_) return finish(effects, fail(Code::conflict, "somebody else was quicker, and holds {}", key_));
  look_anew(Tick{}, now, effects);
}

// Whether an earlier take of this one may have been done and proved over by others. That takes a ttl at least from when it was sent; and a key
// that is still as that take wanted it was not taken, while of one that is not there nobody knows who deleted it.
bool Opener::may_be_over(std::optional<Revision> at, Instant now) const {
  return !sent_.empty() && now >= first_sent_ + beat_.ttl && (!at || at != compared_);
}

void Opener::refuse(Effects& effects) {
  effects.used_up = true;
  finish(effects, fail(Code::conflict, "{} was held by {} before, and what is over stays over: choose another identity", key_,
                       quote(beat_.identity.str())));
}

// The watch goes on, if there is one.
void Opener::look_anew(const Input& input, Instant now, Effects& effects) {
  phase_ = Phase::looking;
  witness_ = Witness(key_, Observer::Mode::end_it);
  look(input, now, effects);
}

void Opener::take(std::optional<Revision> at, Instant now, Effects& effects) {
  phase_ = Phase::taking;
  ++beat_.count;
  if (sent_.empty()) first_sent_ = now;
  compared_ = at;
  // Of those before, one may still be found; the earliest are long dead by comparison.
  if (sent_.size() == 8) sent_.erase(sent_.begin());
  sent_.push_back({beat_.count, now});
  effects.wake = Instant::max();
  effects.write.emplace().compare(at ? unchanged(key_, *at) : absent(key_)).put(key_, format(beat_));
}

void Opener::on_taken(const Result<Committed>& done, Instant now, Effects& effects) {
  if (done && done->succeeded) return have(done->revision, sent_.back(), now, effects);
  phase_ = Phase::finding;
  retry_ = now;
  if (done || done.error().code != Code::unknown_outcome) sent_.pop_back();
  if (!done) {
    if (done.error().code == Code::unknown_outcome) doubt_ = done.error();
    if (!may_pass(done.error().code) || (now >= until_ && done.error().code != Code::unknown_outcome))
      return finish(effects, fail(done.error()));
    retry_ = later(now, pause_of(beat_.ttl));
  }
  find(now, effects);
}

void Opener::find(Instant now, Effects& effects) {
  if (calling_) return;
  effects.read = calling_ = now >= retry_;
  if (!calling_) effects.wake = retry_;
}

void Opener::on_found(const Result<Read>& read, Instant now, Effects& effects) {
  calling_ = false;
  if (!read) {
    retry_ = later(now, pause_of(beat_.ttl));
    if (may_pass(read.error().code) && now < until_) return;
    Error error = read.error();
    if (!sent_.empty()) error.code = Code::unknown_outcome;
    return finish(effects, fail(std::move(error)));
  }
  if (const Sent* sent = sent_as(read)) return have(read->entry->modified, *sent, now, effects);
  look_anew(Got{read}, now, effects);
}

// The write of this one that a read has found alive, if it is one.
const Sent* Opener::sent_as(const Result<Read>& read) const {
  if (!read || !read->entry || sent_.empty()) return nullptr;
  const auto beat = parse_beat(*read->entry);
  if (!beat || beat->identity != beat_.identity || beat->ended) return nullptr;
  const auto found = std::find_if(sent_.begin(), sent_.end(), [&](const Sent& sent) { return sent.count == beat->count; });
  return found == sent_.end() ? nullptr : &*found;
}

void Opener::have(Revision revision, Sent sent, Instant now, Effects& effects) {
  if (now < deadline(sent.at)) return finish(effects, Holder(key_, beat_, revision, sent.at, margin_));
  if (now >= until_)
    return finish(effects,
                  fail(Code::unavailable, "the store answers too slowly for a session of {}", evenkeel::format(beat_.ttl)));
  take(revision, now, effects);
}

void Opener::finish(Effects& effects, Result<Holder> done) {
  phase_ = Phase::done;
  effects.done = std::move(done);
}

}  // namespace evenkeel::store::detail
