#include "evenkeel/store/detail/holder.h"

#include <algorithm>
#include <utility>

namespace evenkeel::store::detail {

Holder::Holder(std::string key, Beat beat, Revision revision, Instant sent, Duration margin)
    : key_(std::move(key)),
      margin_(margin),
      done_(beat.count),
      beat_(std::move(beat)),
      revision_(revision),
      next_(sent + beat_.ttl / 3),
      answered_(sent),
      deadline_(sent + beat_.ttl - margin) {}

Holder::Effects Holder::step(const Input& input, Instant now) {
  Effects effects;
  if (!lost_ && now >= deadline_) lose(now, effects);
  std::visit(Overloaded{
                 [](const Tick&) {},
                 [](const Seen&) { stop_on_bug("a holder watches nothing"); },
                 [&](const Got& got) { on_read(got.read, now, effects); },
                 [&](const Wrote& wrote) { on_written(wrote.done, now, effects); },
                 [&](const End&) { on_end(now, effects); },
             },
             input);
  if (!lost_ && !expiring_ && now >= expiring_at()) {
    expiring_ = true;
    effects.events.push_back(Session::Event::expiring);
  }
  act(now, effects);
  return effects;
}

void Holder::on_written(const Result<Committed>& done, Instant now, Effects& effects) {
  calling_ = false;
  if (!done && done.error().code == Code::unknown_outcome) {
    known_ = false;  // it may be done, or may still be: the beat's count will say
    next_ = now;
    if (ending_ && now >= give_up_) finish(effects, fail(done.error()));
    return;
  }
  const Sent sent = sent_.back();
  sent_.pop_back();
  if (!done) return failed(done.error(), now, effects);
  if (!done->succeeded) {
    known_ = false;
    next_ = now;
    return;
  }
  revision_ = done->revision;
  done_ = sent.count;
  sent_.clear();  // those before compare a revision that is gone
  if (beat_.ended) return finish(effects, done->revision);
  next_ = ending_ ? now : sent.at + beat_.ttl / 3;
  confirm(sent.at, now, effects);
}

void Holder::on_read(const Result<Read>& read, Instant now, Effects& effects) {
  calling_ = false;
  if (!read) return failed(read.error(), now, effects);
  const auto there = read->entry ? parse_beat(*read->entry) : Result<Beat>(fail(Code::not_found, "it is gone"));
  if (!there || there->identity != beat_.identity || there->ended) {
    lose(now, effects);
    return finish(effects, read->entry ? read->entry->modified : read->revision);
  }
  const auto found = std::find_if(sent_.begin(), sent_.end(), [&](const Sent& sent) { return sent.count == there->count; });
  const bool untouched = there->count == done_ && read->entry->modified == revision_;
  if (found == sent_.end() && !untouched && !ending_) lose(now, effects);
  known_ = true;
  revision_ = read->entry->modified;
  // Not at once if the last write's outcome was not known: nothing else would slow this down.
  next_ = sent_.empty() ? now : std::max(now, sent_.back().at + pause_of(beat_.ttl));
  if (found == sent_.end()) return;
  const Instant sent = found->at;
  done_ = found->count;
  sent_.clear();  // the others compare a revision that is gone
  next_ = ending_ ? now : std::max(now, sent + beat_.ttl / 3);
  confirm(sent, now, effects);
}

void Holder::on_end(Instant now, Effects& effects) {
  if (ended_) effects.ended = *ended_;
  if (ended_ || ending_) return;
  ending_ = true;
  give_up_ = deadline_;
  next_ = now;
  lose(now, effects);
}

void Holder::failed(const Error& error, Instant now, Effects& effects) {
  next_ = later(now, pause_of(beat_.ttl));
  if (ending_ && now >= give_up_) finish(effects, fail(error));
}

void Holder::confirm(Instant sent, Instant now, Effects& effects) {
  if (lost_) return;
  answered_ = std::max(answered_, sent);
  deadline_ = std::max(deadline_, sent + beat_.ttl - margin_);
  if (!expiring_ || now >= expiring_at()) return;
  expiring_ = false;
  effects.events.push_back(Session::Event::renewed);
}

void Holder::lose(Instant now, Effects& effects) {
  deadline_ = std::min(deadline_, now);
  if (std::exchange(lost_, true)) return;
  effects.events.push_back(Session::Event::lost);
}

void Holder::finish(Effects& effects, Result<Revision> ended) {
  if (ended) ended_ = *ended;
  if (std::exchange(ending_, false)) effects.ended = std::move(ended);
}

void Holder::act(Instant now, Effects& effects) {
  if (lost_ && !ending_) return;
  if (!calling_ && now >= next_) {
    calling_ = true;
    if (known_)
      write(now, effects);
    else
      effects.read = true;
  }
  if (!calling_) effects.wake = next_;
  if (lost_) return;
  effects.wake = std::min(effects.wake, expiring_ ? deadline_ : expiring_at());
}

void Holder::write(Instant now, Effects& effects) {
  ++beat_.count;
  beat_.ended = ending_;
  sent_.push_back({beat_.count, now});
  effects.write.emplace().compare(unchanged(key_, revision_)).put(key_, format(beat_));
}

}  // namespace evenkeel::store::detail
