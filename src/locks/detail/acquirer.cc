#include "evenkeel/locks/detail/acquirer.h"

#include <algorithm>
#include <utility>

#include "evenkeel/base/text.h"

namespace evenkeel::locks::detail {

using store::Committed;
using store::Read;

Acquirer::Effects Acquirer::step(const Input& input, Instant now) {
  Effects effects;
  std::visit(Overloaded{
                 [](const Tick&) {},
                 [&](const Got& got) { on_read(got.read, now, effects); },
                 [&](const Wrote& wrote) { on_written(wrote.done, now, effects); },
                 [&](const Seen& seen) { on_seen(seen); },
                 [&](const Over& over) { on_over(over.ended, now, effects); },
                 [&](const Stop& stop) {
                   if (!answered_) answer(effects, fail(stop.error));
                 },
             },
             input);
  if (call_ == Call::none) act(now, effects);
  return effects;
}

// ------------------------------------------------------------------------------------------------------------- answers

void Acquirer::on_read(const Result<Read>& read, Instant now, Effects& effects) {
  const Call call = std::exchange(call_, Call::none);
  if (!read) return failed(read.error(), now, effects);
  if (call == Call::own_beat) return on_own_beat(*read, effects);
  if (call == Call::beat) return on_beat(*read, now, effects);
  on_lock(*read, now, effects);
}

void Acquirer::failed(const Error& error, Instant now, Effects& effects) {
  retry_ = later(now, pause_of(wish_.record.ttl));
  if (answered_ || (may_pass(error.code) && now < wish_.until)) return;
  Error told = error;
  if (in_doubt_) told.code = Code::unknown_outcome;
  answer(effects, fail(std::move(told)));
}

void Acquirer::on_own_beat(const Read& read, Effects& effects) {
  const auto beat = read.entry ? parse_beat(*read.entry) : Result<Beat>(fail(Code::not_found, "its beat is gone"));
  if (!beat || beat->identity != wish_.record.identity || beat->ended)
    return answer(effects,
                  fail(Code::refused, "the session {} is over, and its locks are with it", quote(wish_.record.identity)));
  wish_.record.ttl = beat->ttl;
}

void Acquirer::on_lock(const Read& read, Instant now, Effects& effects) {
  known_ = read.revision >= hinted_;  // else the watch was quicker, and there is something newer
  as_of_ = read.revision;
  auto record = parse_record(read.entry);
  if (!record) return failed(record.error(), now, effects);
  const std::optional<store::Revision> modified = read.entry ? std::optional(read.entry->modified) : std::nullopt;
  if (record->owner == wish_.record.owner) {
    const Instant sent = in_doubt_.value_or(sent_);
    modified_ = modified;
    in_doubt_.reset();
    return have(record->token, sent, now, effects);
  }
  const bool moved = !ever_known_ || modified != modified_;
  if (moved) see(modified, *std::move(record), effects);
  // A store that says so of every take, as one that is full may, is not asked again and again without a pause.
  if (in_doubt_ && !answered_ && now < wish_.until) retry_ = later(now, pause_of(wish_.record.ttl));
  if (answered_ || !refused_) return;
  refused_ = false;
  if (!moved && !wish_.queued.empty()) {
    // The lock is as it was compared, so the place in the queue is not; and no other take of this one can be done without it.
    leave_queue(effects);
  }
}

void Acquirer::leave_queue(Effects& effects) {
  in_doubt_.reset();
  answered_ = true;
  effects.displaced = true;
}

void Acquirer::see(std::optional<store::Revision> modified, Record record, Effects& effects) {
  ever_known_ = true;
  modified_ = modified;
  there_ = std::move(record);
  in_doubt_.reset();  // it compared something else
  over_ = !there_.held();
  looked_ = false;
  look_ = Instant::min();
  gone_since_.reset();
  if (std::exchange(observing_, false)) effects.observe = std::string();
}

// A session's beat is taken over by a new identity only once the one before it is ended. That it is not there says less: somebody may have
// deleted it under a holder that trusts itself for a while, but can renew nothing any more. An expiring lock's beat is written with the
// lock, so another's in its place is somebody's doing as well, or the lock is another's by now too.
void Acquirer::on_beat(const Read& read, Instant now, Effects& effects) {
  looked_ = true;
  look_ = now + there_.ttl;
  if (!read.entry) return missing_beat(now);
  const auto beat = parse_beat(*read.entry);
  if (!beat) return failed(beat.error(), now, effects);
  if (beat->identity != there_.identity) {
    if (there_.kind == Kind::session) over_ = true;
    if (there_.kind == Kind::expiring) {
      missing_beat(now);
      known_ = false;
    }
    return;
  }
  gone_since_.reset();
  over_ = beat->ended;
  look_ = now + beat->ttl;
  if (over_ || std::exchange(observing_, true)) return;
  effects.observe = there_.beat;
}

void Acquirer::missing_beat(Instant now) {
  if (!gone_since_) gone_since_ = now;
  look_ = *gone_since_ + stands_still_for(there_.ttl);
  over_ = now >= look_;
}

void Acquirer::on_seen(const Seen& seen) {
  if (!seen.entry && ever_known_ && !modified_) return;  // it was not there before either
  hinted_ = std::max(hinted_, seen.entry ? seen.entry->modified : seen.revision);
  if (hinted_ > as_of_) known_ = false;
}

void Acquirer::on_over(const Result<store::Ended>& ended, Instant now, Effects& effects) {
  if (!std::exchange(observing_, false)) return;
  if (!ended) return failed(ended.error(), now, effects);
  if (ended->identity.str() == there_.identity)
    over_ = true;
  else
    look_ = now;  // the observer found another one there, or nothing
}

void Acquirer::on_written(const Result<Committed>& done, Instant now, Effects& effects) {
  if (std::exchange(call_, Call::none) == Call::take)
    on_taken(done, now, effects);
  else
    on_undone(done, now, effects);
}

void Acquirer::on_taken(const Result<Committed>& done, Instant now, Effects& effects) {
  if (done && done->succeeded) {
    modified_ = done->revision;
    in_doubt_.reset();
    return have(Token(done->revision.value()), sent_, now, effects);
  }
  known_ = false;
  refused_ = done.has_value();
  if (done) return;
  if (done.error().code == Code::unknown_outcome) {
    if (!in_doubt_) in_doubt_ = sent_;
    doubt_ = done.error().message;
    return;
  }
  failed(done.error(), now, effects);
}

void Acquirer::on_undone(const Result<Committed>& done, Instant now, Effects& effects) {
  if (!done) {
    retry_ = later(now, pause_of(wish_.record.ttl));
    if (done.error().code == Code::unknown_outcome) known_ = false;
    return;
  }
  known_ = false;
  if (done->succeeded || mine_) in_doubt_.reset();
  // Given back, or somebody else's by now. The place in the queue went with the taking, and is not to be trusted if it is there again: whoever
  // was behind it may have written that it is over.
  if (std::exchange(mine_, std::nullopt) && !answered_ && !wish_.queued.empty()) leave_queue(effects);
}

// ------------------------------------------------------------------------------------------------------------- what next

// It is taken. If the answer took so long that it cannot be trusted, or nobody wants it any more, it is given back.
void Acquirer::have(Token token, Instant sent, Instant now, Effects& effects) {
  wish_.record.token = token;
  known_ = true;
  const bool late = wish_.record.kind == Kind::expiring && now >= sent + wish_.record.ttl - wish_.margin;
  if (!answered_ && !late) {
    answer(effects, Acquired{token, sent, wish_.record});
    return;
  }
  mine_ = token;
  ever_known_ = false;
  if (answered_ || now < wish_.until) return;
  answer(effects, fail(Code::unavailable, "the store answers too slowly for a lock of {}", evenkeel::format(wish_.record.ttl)));
}

void Acquirer::answer(Effects& effects, Result<Acquired> done) {
  answered_ = true;
  observing_ = false;
  effects.observe = std::string();
  effects.done = std::move(done);
}

void Acquirer::get(Call call, const std::string& key, Effects& effects) {
  call_ = call;
  effects.get = key;
}

void Acquirer::act(Instant now, Effects& effects) {
  const bool doubtful = mine_ || (answered_ && in_doubt_);
  if (answered_ && !doubtful) return;
  if (answered_ && !give_up_) give_up_ = later(now, wish_.record.ttl * 2);
  // It ends by itself anyway. A session lock does not, as long as its session lives.
  if (answered_ && now >= *give_up_ && wish_.record.kind == Kind::expiring) {
    in_doubt_.reset();
    mine_.reset();
    return;
  }
  if (now < retry_) {
    effects.wake = retry_;
  } else if (doubtful && (mine_ || known_)) {
    undo(effects);
  } else if (wish_.record.ttl == Duration{}) {
    get(Call::own_beat, wish_.record.beat, effects);
  } else if (!known_) {
    get(Call::lock, wish_.path, effects);
  } else if (!over_) {
    act_on_holder(now, effects);
  } else if (takes_ > 0 && now >= wish_.until) {
    if (in_doubt_)
      answer(effects, fail(Code::unknown_outcome, "{} may have been taken, or may still be: {}", wish_.path, doubt_));
    else
      answer(effects, fail(Code::conflict, "somebody else was quicker to take {}", wish_.path));
    act(now, effects);
  } else {
    take(now, effects);
  }
}

void Acquirer::act_on_holder(Instant now, Effects& effects) {
  if (now >= look_) return get(Call::beat, there_.beat, effects);
  if (now >= wish_.until && looked_)
    return answer(effects,
                  fail(Code::conflict, "{} is held by {}", wish_.path, quote(there_.meta.empty() ? there_.owner : there_.meta)));
  effects.wake = std::min(look_, wish_.until);
}

void Acquirer::take(Instant now, Effects& effects) {
  call_ = Call::take;
  ++takes_;
  sent_ = now;
  store::Txn& txn = effects.write.emplace();
  txn.compare(as_seen(wish_.path, modified_)).put(wish_.path, format(wish_.record));
  if (wish_.record.kind == Kind::expiring)
    txn.put(renewal_key(wish_.path), format(Beat{wish_.record.identity, 0, wish_.record.ttl, wish_.record.meta, false}));
  if (!wish_.queued.empty()) txn.compare(store::present(wish_.queued)).erase(wish_.queued);
}

// What was taken is released. What may still be taken is made to fail, by moving the revision that it compares: nobody has the lock as it
// was seen, or it would not have been taken.
void Acquirer::undo(Effects& effects) {
  call_ = Call::undo;
  if (mine_)
    effects.write = empty_lock(wish_.path, store::Revision(mine_->value()), wish_.record);
  else
    effects.write = empty_lock(wish_.path, modified_, there_);
}

}  // namespace evenkeel::locks::detail
