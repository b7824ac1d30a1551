#include "evenkeel/locks/detail/keeper.h"

#include <algorithm>
#include <utility>

namespace evenkeel::locks::detail {

using store::Committed;
using store::Read;

Keeper::Keeper(std::string path, const Acquired& acquired, Duration margin)
    : path_(std::move(path)), record_(acquired.record), margin_(margin), beat_(acquired.token.value()) {
  record_.token = acquired.token;
  if (record_.kind == Kind::expiring) deadline_ = acquired.sent + record_.ttl - margin_;
}

Keeper::Effects Keeper::step(const Input& input, Instant now) {
  Effects effects;
  if (now >= deadline_) lose(now, effects);
  std::visit(Overloaded{
                 [](const Tick&) {},
                 [&](const Got& got) { on_read(got.read, now, effects); },
                 [&](const Wrote& wrote) {
                   std::exchange(call_, Call::none) == Call::renew ? on_renewed(wrote.done, now, effects)
                                                                   : on_released(wrote.done, now, effects);
                 },
                 [&](const Seen& seen) { on_seen(seen, now, effects); },
                 [&](const Renew&) { asked_.push_back(now); },
                 [&](const Release&) { on_release(now, effects); },
                 [&](const SessionLost&) {
                   give_up_ = std::min(give_up_, now);
                   lose(now, effects);
                 },
             },
             input);
  if (lost_ || releasing_)
    refuse_renewals({Code::conflict, fmt::format("the lock {} is no longer held by this acquisition", path_)}, effects);
  if (call_ == Call::none) act(now, effects);
  if (!lost_ && !releasing_) effects.wake = std::min(effects.wake, deadline_);
  return effects;
}

void Keeper::on_read(const Result<Read>& read, Instant now, Effects& effects) {
  const Call call = std::exchange(call_, Call::none);
  if (!read) return failed(read.error(), now, effects);
  call == Call::lock ? on_lock(*read, now, effects) : on_beat(*read, now, effects);
}

void Keeper::on_lock(const Read& read, Instant now, Effects& effects) {
  lock_read_ = true;
  if (!read.entry || read.entry->modified.value() != token().value()) lose(now, effects);
}

void Keeper::on_beat(const Read& read, Instant now, Effects& effects) {
  const auto beat = read.entry ? parse_beat(*read.entry) : Result<Beat>(fail(Code::not_found, "it is gone"));
  if (!beat || beat->identity != record_.identity || beat->ended) return lose(now, effects);
  doubtful_ = lock_read_ = false;
  beat_ = read.entry->modified;
  const auto found = std::find_if(sent_.begin(), sent_.end(), [&](const Sent& sent) { return sent.count == beat->count; });
  if (found == sent_.end()) {
    retry_ = later(now, pause_of(record_.ttl));  // it may still be under way
    return;
  }
  const Instant sent = found->at;
  sent_.erase(sent_.begin(), found + 1);  // those before it compared something older
  confirm(sent, effects);
}

void Keeper::on_renewed(const Result<Committed>& done, Instant now, Effects& effects) {
  if (!done && done.error().code == Code::unknown_outcome) {
    doubtful_ = true;
    return;
  }
  const Sent sent = sent_.back();
  sent_.pop_back();
  if (!done) return failed(done.error(), now, effects);
  if (!done->succeeded) {
    doubtful_ = true;
    return;
  }
  beat_ = done->revision;
  sent_.clear();
  confirm(sent.at, effects);
}

// Whatever compares this acquisition's revision and finds another: somebody else has given it back, or this one's earlier attempt did.
void Keeper::on_released(const Result<Committed>& done, Instant now, Effects& effects) {
  if (!done) return failed(done.error(), now, effects);
  released_ = true;
  effects.released = Result<>();
}

void Keeper::on_seen(const Seen& seen, Instant now, Effects& effects) {
  const store::Revision at = seen.entry ? seen.entry->modified : seen.revision;
  if (at.value() > token().value()) lose(now, effects);
}

void Keeper::on_release(Instant now, Effects& effects) {
  if (released_) effects.released = Result<>();
  if (std::exchange(releasing_, true)) return;
  retry_ = now;
  if (record_.kind == Kind::expiring) give_up_ = std::max(now, deadline_);
  if (record_.kind == Kind::session && lost_) give_up_ = now;
}

void Keeper::failed(const Error& error, Instant now, Effects& effects) {
  retry_ = later(now, pause_of(record_.ttl));
  const bool hopeless = !may_pass(error.code);
  if (!releasing_ && hopeless) refuse_renewals(error, effects);
  if (!releasing_ || released_ || (now < give_up_ && !hopeless)) return;
  released_ = true;
  effects.released = fail(error);
}

// A renewal that was asked for after this one was sent needs another.
void Keeper::confirm(Instant sent, Effects& effects) {
  if (lost_) return;
  deadline_ = std::max(deadline_, sent + record_.ttl - margin_);
  while (!asked_.empty() && asked_.front() <= sent) {
    asked_.pop_front();
    effects.renewed.emplace_back(deadline_);
  }
}

void Keeper::lose(Instant now, Effects& effects) {
  deadline_ = std::min(deadline_, now);
  if (std::exchange(lost_, true)) return;
  effects.lost = !releasing_;
}

void Keeper::refuse_renewals(const Error& error, Effects& effects) {
  for (; !asked_.empty(); asked_.pop_front()) effects.renewed.emplace_back(fail(error));
}

void Keeper::act(Instant now, Effects& effects) {
  const bool wanted = releasing_ ? !released_ : !lost_ && !asked_.empty();
  if (!wanted) return;
  if (now < retry_) {
    effects.wake = retry_;
  } else if (releasing_) {
    call_ = Call::release;
    effects.write = empty_lock(path_, store::Revision(token().value()), record_);
  } else if (doubtful_) {
    call_ = lock_read_ ? Call::beat : Call::lock;
    effects.get = lock_read_ ? record_.beat : path_;
  } else {
    renew(now, effects);
  }
}

void Keeper::renew(Instant now, Effects& effects) {
  call_ = Call::renew;
  sent_.push_back({++count_, now});
  effects.write.emplace()
      .compare(store::unchanged(path_, store::Revision(token().value())))
      .compare(store::unchanged(record_.beat, beat_))
      .put(record_.beat, format(Beat{record_.identity, count_, record_.ttl, record_.meta, false}));
}

}  // namespace evenkeel::locks::detail
