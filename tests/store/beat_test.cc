#include "evenkeel/store/detail/beat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/store/detail/holder.h"
#include "evenkeel/store/detail/opener.h"
#include "evenkeel/store/detail/witness.h"

namespace evenkeel::store::detail {
namespace {

using testing::ElementsAre;
using Event = Session::Event;

const std::string key = "/beats/a";

Instant at(Duration since) { return Instant(since); }

Beat beat_of(const std::string& identity, std::uint64_t count, bool ended = false) {
  return {Identity(identity), count, 10s, "", ended};
}

Entry entry_of(const Beat& beat, std::int64_t modified, std::int64_t created = 2) {
  return {key, format(beat), Revision(created), Revision(modified)};
}

Got got(const Beat& beat, std::int64_t modified, std::int64_t created = 2) {
  return {Read{entry_of(beat, modified, created), Revision(modified)}};
}
Got got_nothing(std::int64_t revision) { return {Read{std::nullopt, Revision(revision)}}; }
Got no_read() { return {fail(Code::unavailable, "away")}; }
Wrote wrote(std::int64_t revision, bool succeeded = true) { return {Committed{succeeded, Revision(revision)}}; }
Wrote no_write(Code code) { return {fail(code, "away")}; }
Seen seen(const Beat& beat, std::int64_t modified, bool interrupted = false) {
  return {entry_of(beat, modified), Revision(modified), interrupted};
}

// What a txn compares and writes, or "-" for none.
std::string text(const std::optional<Txn>& txn) {
  if (!txn) return "-";
  const Compare& compare = txn->compares.at(0);
  const Beat beat = parse_beat(Entry{.key = key, .value = txn->then.at(0).value}).value();
  return fmt::format("{} {}{}", compare.kind == Compare::Kind::absent ? "absent" : fmt::format("@{}", compare.modified),
                     beat.identity, beat.ended ? " ended" : fmt::format(" {}", beat.count));
}

// ------------------------------------------------------------------------------------------------------------- beats

TEST(Beat, IsReadableAndReadsBack) {
  const Beat beat{Identity("n1/7"), 42, 1500ms, "a \"quoted\" é\n", false};
  EXPECT_EQ(format(beat), R"({"format":1,"identity":"n1/7","count":42,"ttl":"1s500ms","meta":"a \"quoted\" é\n","ended":false})");
  EXPECT_EQ(parse_beat(entry_of(beat, 1)), beat);
  EXPECT_TRUE(rc::check("any beat", [](std::uint64_t count, const std::string& meta, bool ended) {
    Beat any{Identity("x"), count, Duration(*rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000)), "", ended};
    for (const char c : meta) any.meta += static_cast<char>(c & 0x7f);
    RC_ASSERT(parse_beat(entry_of(any, 1)) == any);
    Entry spaced = entry_of(any, 1);  // which is read as any JSON is
    spaced.value.insert(1, " ");
    RC_ASSERT(parse_beat(spaced) == any);
  }));
}

TEST(Beat, OfALaterVersionMayHaveMoreButOthersAreRefused) {
  const auto parse = [](std::string value) { return parse_beat(Entry{.key = key, .value = std::move(value)}); };
  EXPECT_TRUE(parse(R"({"format":1,"identity":"x","count":1,"ttl":"1s","meta":"","ended":false,"more":[1]})"));
  EXPECT_EQ(parse(R"({"format":2,"who":"x"})").error().message,
            "/beats/a is no session's beat: it has format 2, and only 1 is known: a newer Evenkeel wrote it");
  for (const char* wrong :
       {"", "[]", "7", "{", "{}", R"({"format":1,"identity":"","count":1,"ttl":"1s","meta":"","ended":false})",
        R"({"format":1,"identity":"x","count":1,"ttl":"0","meta":"","ended":false})",
        R"({"format":1,"identity":"x","count":-1,"ttl":"1s","meta":"","ended":false})",
        R"({"format":1,"identity":"x","count":1,"ttl":"1s","meta":""})"}) {
    const auto beat = parse(wrong);
    ASSERT_FALSE(beat) << wrong;
    EXPECT_EQ(beat.error().code, Code::invalid) << wrong;
  }
}

// ------------------------------------------------------------------------------------------------------------- the holder

// Sent at 0 with a margin of 1 s: its deadline is at 9 s.
Holder holder() { return Holder(key, beat_of("me", 1), Revision(5), at(0s), 1s); }

TEST(Holder, CountsItsDeadlineFromWhenAnAnsweredWriteWasSent) {
  Holder me = holder();
  EXPECT_EQ(me.step(Tick{}, at(0s)).wake, at(Duration(10s) / 3));
  EXPECT_EQ(me.deadline(), at(9s));
  EXPECT_EQ(text(me.step(Tick{}, at(4s)).write), "@5 me 2");
  EXPECT_EQ(me.deadline(), at(9s));
  EXPECT_EQ(text(me.step(Tick{}, at(5s)).write), "-");  // one in flight
  const auto effects = me.step(wrote(9), at(5500ms));
  EXPECT_EQ(me.deadline(), at(13s));
  EXPECT_EQ(effects.wake, at(4s + Duration(10s) / 3));
  EXPECT_EQ(text(me.step(Tick{}, at(8s)).write), "@9 me 3");
}

TEST(Holder, ReadsBeforeItWritesAgainIfItDoesNotKnow) {
  Holder me = holder();
  me.step(Tick{}, at(4s));
  EXPECT_TRUE(me.step(no_write(Code::unknown_outcome), at(5s)).read);
  auto effects = me.step(got(beat_of("me", 2), 9), at(5s + 100ms));  // it was done
  EXPECT_EQ(me.deadline(), at(13s));
  EXPECT_EQ(text(me.step(Tick{}, at(7500ms)).write), "@9 me 3");
  EXPECT_TRUE(me.step(no_write(Code::unknown_outcome), at(8s)).read);
  EXPECT_EQ(text(me.step(got(beat_of("me", 2), 9), at(8100ms)).write), "@9 me 4");  // it was not, so far
  EXPECT_TRUE(me.step(wrote(12, false), at(8200ms)).read);                          // because it was just now
  effects = me.step(got(beat_of("me", 3), 11), at(8300ms));
  EXPECT_EQ(me.deadline(), at(7500ms + 9s));
  EXPECT_EQ(effects.wake, at(7500ms + Duration(10s) / 3));
  EXPECT_FALSE(me.lost());
}

TEST(Holder, TriesAgainAfterAPauseIfTheStoreIsAway) {
  Holder me = holder();
  me.step(Tick{}, at(4s));
  auto effects = me.step(no_write(Code::unavailable), at(4100ms));
  EXPECT_EQ(text(effects.write), "-");
  EXPECT_EQ(effects.wake, at(4600ms));
  EXPECT_EQ(text(me.step(Tick{}, at(4600ms)).write), "@5 me 3");
  EXPECT_THAT(me.step(Tick{}, at(6s)).events, ElementsAre(Event::expiring));
  EXPECT_THAT(me.step(Tick{}, at(7s)).events, ElementsAre());
  EXPECT_THAT(me.step(wrote(7), at(8s)).events, ElementsAre(Event::renewed));
}

TEST(Holder, IsLostAtItsDeadlineWhateverComesIn) {
  for (const Input& input : {Input(Tick{}), Input(wrote(9))}) {
    Holder me = holder();
    me.step(Tick{}, at(4s));
    me.step(Tick{}, at(8999ms));
    EXPECT_FALSE(me.lost());
    // An answer that lay in the buffers of a host that was suspended would prolong it to 13 s.
    const auto effects = me.step(input, at(9s));
    EXPECT_THAT(effects.events, ElementsAre(Event::lost));
    EXPECT_EQ(me.deadline(), at(9s));
    EXPECT_EQ(effects.wake, Instant::max());
    EXPECT_EQ(text(effects.write), "-");
  }
}

TEST(Holder, IsLostWhenItsBeatIsNotItsOwn) {
  for (const Got& there : {got(beat_of("me", 1, true), 7), got(beat_of("other", 1), 7), got_nothing(7)}) {
    Holder me = holder();
    me.step(Tick{}, at(4s));
    EXPECT_TRUE(me.step(wrote(7, false), at(4100ms)).read);
    const auto effects = me.step(there, at(4200ms));
    EXPECT_THAT(effects.events, ElementsAre(Event::lost));
    EXPECT_EQ(me.deadline(), at(4200ms));
    EXPECT_FALSE(effects.ended);
    EXPECT_EQ(me.step(End{}, at(5s)).ended.value().value(), Revision(7));  // it is known to be over
  }
}

// The store has lost what was in it, or somebody who knows of such a loss has touched it.
TEST(Holder, IsLostWhenItsBeatWasNotWrittenByIt) {
  for (const Got& there : {got(beat_of("me", 2), 8), got(beat_of("me", 1), 5), got(beat_of("me", 1), 8)}) {
    Holder me = holder();
    me.step(Tick{}, at(4s));
    me.step(wrote(7), at(4100ms));
    me.step(Tick{}, at(8s));
    EXPECT_TRUE(me.step(wrote(9, false), at(8100ms)).read);
    EXPECT_THAT(me.step(there, at(8200ms)).events, ElementsAre(Event::lost));
    EXPECT_EQ(text(me.step(End{}, at(8300ms)).write), fmt::format("@{} me ended", there.read->entry->modified));
  }
}

TEST(Holder, EndsAfterWhatIsUnderWay) {
  Holder me = holder();
  me.step(Tick{}, at(4s));
  auto effects = me.step(End{}, at(4100ms));
  EXPECT_THAT(effects.events, ElementsAre(Event::lost));
  EXPECT_EQ(me.deadline(), at(4100ms));
  EXPECT_EQ(text(effects.write), "-");
  EXPECT_EQ(text(me.step(wrote(9), at(4200ms)).write), "@9 me ended");
  EXPECT_EQ(me.deadline(), at(4100ms));
  EXPECT_TRUE(me.step(no_write(Code::unknown_outcome), at(4300ms)).read);
  EXPECT_EQ(me.step(got(beat_of("me", 3, true), 10), at(4400ms)).ended.value().value(), Revision(10));
}

TEST(Holder, GivesUpEndingWhenItsDeadlineHasPassed) {
  Holder me = holder();
  EXPECT_EQ(text(me.step(End{}, at(1s)).write), "@5 me ended");
  const auto effects = me.step(no_write(Code::unavailable), at(2s));
  EXPECT_FALSE(effects.ended);
  EXPECT_EQ(effects.wake, at(2500ms));
  EXPECT_EQ(text(me.step(Tick{}, at(8900ms)).write), "@5 me ended");
  EXPECT_EQ(me.step(no_write(Code::unavailable), at(9100ms)).ended->error().code, Code::unavailable);
}

// One key in a store that loses answers and does some writes late.
class LossyKey {
 public:
  explicit LossyKey(std::uint64_t seed) : rng_(seed) {}

  void send(Txn txn, Instant now) { flying_.push_back({std::move(txn), now}); }
  Input answer_write() {
    const std::uint64_t fate = rng_.below(4);
    if (fate == 0) return no_write(Code::unknown_outcome);  // it may still be done
    const Flying last = std::move(flying_.back());
    flying_.pop_back();
    if (fate == 1) return no_write(Code::unavailable);
    const bool done = land(last);
    return fate == 2 ? Input(wrote(revision_, done)) : Input(no_write(Code::unknown_outcome));
  }
  Input answer_read() { return rng_.below(4) == 0 ? no_read() : got(there_, revision_); }
  // Of those that were given up; the last may still be waited for.
  void something_lands(bool waiting) {
    const std::size_t given_up = flying_.size() - (waiting ? 1 : 0);
    if (given_up == 0 || rng_.below(3) != 0) return;
    const auto pick = flying_.begin() + static_cast<std::ptrdiff_t>(rng_.below(given_up));
    land(*pick);
    flying_.erase(pick);
  }
  // When the write that is there was sent.
  Instant sent() const { return sent_; }

 private:
  struct Flying {
    Txn txn;
    Instant sent;
  };

  bool land(const Flying& one) {
    if (one.txn.compares.at(0).modified != Revision(revision_)) return false;
    there_ = parse_beat(Entry{.key = key, .value = one.txn.then.at(0).value}).value();
    sent_ = one.sent;
    ++revision_;
    return true;
  }

  Rng rng_;
  Beat there_ = beat_of("me", 1);
  std::int64_t revision_ = 5;
  Instant sent_;
  std::vector<Flying> flying_;
};

TEST(Holder, NeverTrustsItselfBeyondWhatItSentAndWasDone) {
  EXPECT_TRUE(rc::check("for every seed", [](std::uint64_t seed) {
    Rng rng(seed);
    LossyKey store(seed);
    Holder me = holder();
    Instant now = at(0s);
    Input input = Tick{};
    bool reading = false, writing = false, lost = false;
    for (int i = 0; i < 200; ++i) {
      const auto effects = me.step(input, now);
      RC_ASSERT(int{reading} + int{writing} + int{effects.read} + int{effects.write.has_value()} <= 1);
      RC_ASSERT(!lost || (me.lost() && !effects.write && !effects.read && effects.events.empty()));
      lost = me.lost();
      RC_ASSERT(me.deadline() <= store.sent() + 9s);
      RC_ASSERT(lost == (now >= me.deadline()));
      reading |= effects.read;
      writing |= effects.write.has_value();
      if (effects.write) store.send(*effects.write, now);
      now = later(now, Duration(rng.between(0, 1'000'000'000)));
      if (effects.wake != Instant::max() && rng.below(2) == 0) now = std::max(now, effects.wake);
      store.something_lands(writing);
      input = Tick{};
      if (rng.below(3) == 0) continue;
      if (writing) input = store.answer_write();
      if (reading) input = store.answer_read();
      reading = writing = false;
    }
  }));
}

// ------------------------------------------------------------------------------------------------------------- the witness

Witness watching(const Got& first, Instant now = at(0s), Observer::Mode mode = Observer::Mode::end_it) {
  Witness witness(key, mode);
  EXPECT_TRUE(witness.step(Tick{}, now).read);
  EXPECT_TRUE(witness.step(first, now).watch);
  return witness;
}

std::string text(const std::optional<Result<Witness::Over>>& over) {
  if (!over) return "-";
  if (!*over) return (*over)->ended.identity.str();
  return fmt::format("{} @{}{}", (*over)->ended.identity, (*over)->ended.revision, (*over)->free ? " free" : "");
}

TEST(Witness, CountsFromWhenItReceivedABeat) {
  Witness witness(key, Observer::Mode::end_it);
  witness.step(Tick{}, at(0s));
  auto effects = witness.step(got(beat_of("it", 3), 7), at(2s));
  EXPECT_EQ(effects.watch, Revision(7));
  EXPECT_EQ(effects.wake, at(12200ms));
  EXPECT_EQ(witness.step(seen(beat_of("it", 3), 7), at(3s)).wake, at(12200ms));        // nothing new
  EXPECT_EQ(witness.step(seen(beat_of("it", 4), 8), at(5s)).wake, at(15200ms));        // it moved
  EXPECT_EQ(witness.step(seen(beat_of("it", 3), 7), at(6s)).wake, at(15200ms));        // older than what is known
  EXPECT_EQ(witness.step(seen(beat_of("it", 4), 8, true), at(7s)).wake, at(17200ms));  // who knows what was in between
  EXPECT_EQ(text(witness.step(Tick{}, at(17199ms)).write), "-");
  EXPECT_EQ(text(witness.step(Tick{}, at(17200ms)).write), "@8 it ended");
  EXPECT_EQ(text(witness.step(wrote(9), at(17300ms)).over), "it @9 free");
  EXPECT_EQ(text(witness.step(Tick{}, at(20s)).over), "-");  // once
}

TEST(Witness, LooksAgainWhenSomebodyWasQuickerOrItDoesNotKnow) {
  Witness witness = watching(got(beat_of("it", 3), 7));
  EXPECT_EQ(text(witness.step(Tick{}, at(10200ms)).write), "@7 it ended");
  EXPECT_TRUE(witness.step(wrote(9, false), at(10300ms)).read);
  auto effects = witness.step(got(beat_of("it", 4), 9), at(10400ms));  // it is alive
  EXPECT_EQ(effects.wake, at(20600ms));
  EXPECT_EQ(text(witness.step(Tick{}, at(20600ms)).write), "@9 it ended");
  effects = witness.step(no_write(Code::unknown_outcome), at(20700ms));
  EXPECT_EQ(effects.wake, at(21200ms));
  EXPECT_TRUE(witness.step(Tick{}, at(21200ms)).read);
  EXPECT_EQ(witness.step(no_read(), at(21300ms)).wake, at(21800ms));
  EXPECT_TRUE(witness.step(Tick{}, at(21800ms)).read);
  EXPECT_EQ(text(witness.step(got(beat_of("it", 4), 9), at(21900ms)).write), "@9 it ended");  // it has stood still all the time
  EXPECT_EQ(text(witness.step(seen(beat_of("it", 4, true), 10), at(22s)).over), "it @10 free");
}

TEST(Witness, TakesANewerIdentityForProofUnlessTheKeyWasDeleted) {
  EXPECT_EQ(text(watching(got(beat_of("it", 3), 7)).step(seen(beat_of("next", 1), 9), at(1s)).over), "it @9");
  EXPECT_EQ(text(watching(got(beat_of("it", 3), 7)).step(seen(beat_of("next", 2, true), 9), at(1s)).over), "it @9 free");
  Witness witness = watching(got(beat_of("it", 3), 7));
  const auto effects = witness.step(Seen{entry_of(beat_of("next", 1), 9, 9), Revision(9), false}, at(1s));
  EXPECT_EQ(text(effects.over), "-");
  EXPECT_EQ(effects.wake, at(11200ms));
  witness.step(Seen{entry_of(beat_of("next", 2), 10, 9), Revision(10), true}, at(5s));  // gone is gone
  EXPECT_EQ(text(witness.step(Tick{}, at(11200ms)).over), "it @10");
}

TEST(Witness, WaitsForADeletedBeatAsForOneThatStandsStill) {
  Witness witness = watching(got(beat_of("it", 3), 7));
  EXPECT_EQ(witness.step(Seen{std::nullopt, Revision(9), false}, at(4s)).wake, at(14200ms));
  EXPECT_EQ(witness.step(seen(beat_of("it", 3), 8), at(5s)).wake, at(14200ms));  // from before
  EXPECT_EQ(text(witness.step(Tick{}, at(14200ms)).write), "absent it ended");
  EXPECT_EQ(text(witness.step(wrote(10), at(14300ms)).over), "it @10 free");
  Witness other = watching(got(beat_of("it", 3), 7), at(0s), Observer::Mode::only_watch);
  other.step(Seen{std::nullopt, Revision(9), false}, at(4s));
  EXPECT_EQ(text(other.step(Tick{}, at(14200ms)).over), "it @9 free");
}

TEST(Witness, ThatOnlyWatchesWritesNothing) {
  Witness witness = watching(got(beat_of("it", 3), 7), at(0s), Observer::Mode::only_watch);
  const auto effects = witness.step(Tick{}, at(1h));
  EXPECT_EQ(text(effects.write), "-");
  EXPECT_EQ(effects.wake, Instant::max());
  EXPECT_EQ(text(witness.step(seen(beat_of("it", 3, true), 8), at(2h)).over), "it @8 free");
}

TEST(Witness, ForgetsNothingThatTheWatchSaidBeforeTheFirstLook) {
  Witness witness(key, Observer::Mode::only_watch);
  witness.step(Tick{}, at(0s));
  witness.step(seen(beat_of("it", 3, true), 8), at(100ms));
  EXPECT_EQ(text(witness.step(got(beat_of("it", 3), 7), at(200ms)).over), "it @8 free");
}

TEST(Witness, EndsWithErrorsThatWaitingDoesNotHelp) {
  Witness witness(key, Observer::Mode::end_it);
  witness.step(Tick{}, at(0s));
  EXPECT_EQ(witness.step(no_read(), at(1s)).wake, at(1200ms));
  EXPECT_TRUE(witness.step(Tick{}, at(1200ms)).read);
  EXPECT_EQ(witness.step(Got{fail(Code::denied, "no right to it")}, at(2s)).over->error().code, Code::denied);
}

// ------------------------------------------------------------------------------------------------------------- the opener

Opener opener(Duration wait = 0s) { return Opener({.key = key, .ttl = 10s, .margin = 1s, .identity = Identity("me")}, at(wait)); }

TEST(Opener, TakesAnEmptyOrEndedKey) {
  for (const bool ended : {false, true}) {
    Opener me = opener();
    EXPECT_TRUE(me.step(Tick{}, at(0s)).read);
    const auto effects = me.step(ended ? got(beat_of("it", 9, true), 7) : got_nothing(7), at(1s));
    EXPECT_EQ(text(effects.write), ended ? "@7 me 1" : "absent me 1");
    const auto done = me.step(wrote(8), at(2s)).done;
    ASSERT_TRUE(done && *done);
    EXPECT_EQ((*done)->deadline(), at(10s));
  }
}

TEST(Opener, FindsATakeWhoseOutcomeItDidNotKnow) {
  Opener me = opener();
  me.step(Tick{}, at(0s));
  me.step(got_nothing(7), at(1s));
  EXPECT_EQ(me.step(no_write(Code::unknown_outcome), at(2s)).wake, at(2500ms));
  EXPECT_TRUE(me.step(Tick{}, at(2500ms)).read);
  const auto done = me.step(got(beat_of("me", 1), 8), at(3s)).done;
  ASSERT_TRUE(done && *done);
  EXPECT_EQ((*done)->deadline(), at(10s));

  Opener other = opener();
  other.step(Tick{}, at(0s));
  other.step(got_nothing(7), at(1s));
  other.step(no_write(Code::unknown_outcome), at(2s));
  other.step(Tick{}, at(2500ms));
  EXPECT_EQ(other.step(no_read(), at(3s)).done->error().code, Code::unknown_outcome);
}

TEST(Opener, FindsALateTakeAndDoesNotConfuseItWithTheNext) {
  Opener me = opener(1min);
  me.step(Tick{}, at(0s));
  me.step(got_nothing(7), at(1s));
  me.step(no_write(Code::unknown_outcome), at(2s));
  me.step(Tick{}, at(2500ms));
  EXPECT_EQ(text(me.step(got_nothing(7), at(5s)).write), "absent me 2");
  EXPECT_TRUE(me.step(wrote(8, false), at(6s)).read);  // the first has come through
  const auto done = me.step(got(beat_of("me", 1), 8), at(7s)).done;
  ASSERT_TRUE(done && *done);
  EXPECT_EQ((*done)->deadline(), at(10s));  // so it counts from the first
}

TEST(Opener, RenewsWhatItGotTooLate) {
  Opener me = opener(1min);
  me.step(Tick{}, at(0s));
  me.step(got_nothing(7), at(1s));
  EXPECT_EQ(text(me.step(wrote(8), at(10s)).write), "@8 me 2");
  const auto done = me.step(wrote(9), at(11s)).done;
  ASSERT_TRUE(done && *done);
  EXPECT_EQ((*done)->deadline(), at(19s));
}

TEST(Opener, WaitsForTheLivingAndGivesUp) {
  Opener me = opener(30s);
  me.step(Tick{}, at(0s));
  auto effects = me.step(got(beat_of("it", 3), 7), at(1s));
  EXPECT_EQ(effects.wake, at(11200ms));
  EXPECT_TRUE(effects.watch);
  for (int i = 0; i < 10; ++i) effects = me.step(seen(beat_of("it", 4U + i), 8 + i), at(2s + i * 3s));
  EXPECT_EQ(effects.wake, at(30s));
  EXPECT_EQ(me.step(Tick{}, at(30s)).done->error().message, "/beats/a is held by \"it\", which is alive");
}

TEST(Opener, AbandonsAnEndThatTheWatchWasQuickerThan) {
  Opener me = opener(1min);
  me.step(Tick{}, at(0s));
  me.step(got(beat_of("it", 3), 7), at(1s));
  EXPECT_EQ(text(me.step(Tick{}, at(11200ms)).write), "@7 it ended");
  const auto effects = me.step(seen(beat_of("it", 3, true), 8), at(11300ms));
  EXPECT_TRUE(effects.abandon);
  EXPECT_EQ(text(effects.write), "@8 me 1");
  EXPECT_TRUE(me.step(wrote(9), at(12s)).done->has_value());
}

TEST(Opener, RefusesAnIdentityThatIsOver) {
  Opener me = opener(1min);
  me.step(Tick{}, at(0s));
  const auto effects = me.step(got(beat_of("me", 3, true), 7), at(1s));
  EXPECT_EQ(effects.done->error().code, Code::conflict);
  EXPECT_TRUE(effects.used_up);
}

// Its take may have been done, ended after a ttl, and taken over from, or deleted: nothing of it is left to be seen.
TEST(Opener, RefusesAnIdentityThatMayBeOver) {
  const auto after_a_lost_take = [](const Input& found, Duration when) {
    Opener me = opener(1min);
    me.step(Tick{}, at(0s));
    me.step(got(beat_of("it", 3, true), 7), at(1s));
    me.step(no_write(Code::unknown_outcome), at(2s));
    me.step(Tick{}, at(2500ms));
    return me.step(found, at(when));
  };
  const auto next_is_over = got(beat_of("next", 3, true), 12);
  EXPECT_TRUE(after_a_lost_take(next_is_over, 11s).used_up);
  EXPECT_EQ(after_a_lost_take(next_is_over, 11s).done->error().code, Code::conflict);
  EXPECT_TRUE(after_a_lost_take(got_nothing(12), 11s).used_up);
  EXPECT_EQ(text(after_a_lost_take(next_is_over, 10s).write), "@12 me 2") << "sooner than in a ttl nobody can have ended it";
  EXPECT_EQ(text(after_a_lost_take(got(beat_of("it", 3, true), 7), 11s).write), "@7 me 2") << "it was not done";
}

}  // namespace
}  // namespace evenkeel::store::detail
