#include "evenkeel/store/detail/witness.h"

#include <algorithm>
#include <utility>

namespace evenkeel::store::detail {

Witness::Effects Witness::step(const Input& input, Instant now) {
  Effects effects;
  if (over_) return effects;
  std::visit(Overloaded{
                 [](const Tick&) {},
                 [](const End&) { stop_on_bug("only a holder is told to end"); },
                 [&](const Got& got) { on_read(got.read, now, effects); },
                 [&](const Wrote& wrote) { on_written(wrote.done, now, effects); },
                 [&](const Seen& seen) { on_seen(seen, now, effects); },
             },
             input);
  if (!over_) act(now, effects);
  return effects;
}

void Witness::on_read(const Result<Read>& read, Instant now, Effects& effects) {
  call_ = Call::none;
  if (!read) return failed(read.error(), now, effects);
  trouble_.reset();
  look_ = false;
  const Seen seen{read->entry, read->revision, false};
  if (subject_) return look_again(seen, now, effects);
  look_first(seen, now, effects);
  if (const auto early = std::exchange(early_, {}); early && !over_) look_again(*early, now, effects);
}

void Witness::on_written(const Result<Committed>& done, Instant now, Effects& effects) {
  call_ = Call::none;
  if (!done && done.error().code != Code::unknown_outcome) return failed(done.error(), now, effects);
  if (done && done->succeeded) return finish(effects, Over{{subject_->identity, done->revision}, true, done->revision});
  look_ = true;  // somebody was quicker, or this was it: the beat says so
  if (done) return;
  trouble_ = done.error();
  retry_ = later(now, pause());
}

// The watch's latest word is enough: it has all that came before in it.
void Witness::on_seen(const Seen& seen, Instant now, Effects& effects) {
  if (subject_) return look_again(seen, now, effects);
  if (!early_ || seen.revision >= early_->revision) early_ = seen;
}

void Witness::failed(const Error& error, Instant now, Effects& effects) {
  if (!may_pass(error.code)) return finish(effects, fail(error));
  trouble_ = error;
  look_ = true;
  retry_ = later(now, pause());
}

void Witness::look_first(const Seen& seen, Instant now, Effects& effects) {
  if (!seen.entry) return finish(effects, Over{{Identity(), seen.revision}, true, std::nullopt});
  auto beat = parse_beat(*seen.entry);
  if (!beat) return finish(effects, fail(std::move(beat).error()));
  const Revision modified = seen.entry->modified;
  if (beat->ended) return finish(effects, Over{{beat->identity, modified}, true, modified});
  subject_ = *std::move(beat);
  created_ = seen.entry->created;
  standing_ = modified;
  as_of_ = std::max(seen.revision, modified);
  since_ = now;
  effects.watch = seen.revision;
}

void Witness::look_again(const Seen& seen, Instant now, Effects& effects) {
  if (seen.interrupted && !gone_) since_ = now;
  // Reads and the watch overtake each other; what is older says nothing new.
  if (seen.entry ? standing_ && seen.entry->modified < *standing_ : seen.revision < as_of_) return;
  if (seen.entry && !standing_ && seen.entry->modified <= as_of_) return;
  as_of_ = std::max({as_of_, seen.revision, seen.entry ? seen.entry->modified : Revision()});
  if (!seen.entry) {
    if (!std::exchange(gone_, true)) since_ = now;
    standing_.reset();
    return;
  }
  const auto beat = parse_beat(*seen.entry);
  if (!beat) return finish(effects, fail(beat.error()));
  judge(seen, *beat, now, effects);
}

void Witness::judge(const Seen& seen, const Beat& beat, Instant now, Effects& effects) {
  const Revision modified = seen.entry->modified;
  const bool changed = standing_ != modified;
  standing_ = modified;
  if (beat.identity == subject_->identity) {
    if (beat.ended) return finish(effects, Over{{beat.identity, modified}, true, modified});
    if (changed || gone_) since_ = now;
    gone_ = false;
    created_ = seen.entry->created;
    subject_ = beat;
  } else if (!gone_ && seen.entry->created == created_) {
    finish(effects, Over{{subject_->identity, modified}, beat.ended, modified});
  } else {
    if (!std::exchange(gone_, true)) since_ = now;
    free_ = beat.ended;
  }
}

void Witness::act(Instant now, Effects& effects) {
  if (call_ != Call::none) return;
  if (now < retry_) {
    effects.wake = retry_;
  } else if (look_) {
    call_ = Call::read;
    effects.read = true;
  } else if (const Instant due = later(since_, stands_still_for(subject_->ttl)); now >= due) {
    act_on_standstill(effects);
  } else {
    effects.wake = due;
  }
}

void Witness::act_on_standstill(Effects& effects) {
  if (gone_ && (standing_ || mode_ == Observer::Mode::only_watch))
    return finish(effects, Over{{subject_->identity, standing_.value_or(as_of_)}, !standing_ || free_, standing_});
  if (mode_ == Observer::Mode::only_watch) return;
  Beat ended = *subject_;
  ended.ended = true;
  call_ = Call::write;
  effects.write.emplace().compare(gone_ ? absent(key_) : unchanged(key_, *standing_)).put(key_, format(ended));
}

void Witness::finish(Effects& effects, Result<Over> over) {
  over_ = true;
  effects.over = std::move(over);
}

}  // namespace evenkeel::store::detail
