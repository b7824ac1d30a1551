// Locks, one behaviour at a time, on virtual time and a store without faults, or with the one fault that matters.

#include "evenkeel/locks/locks.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/locks/detail/record.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::locks {
namespace {

using Got = std::optional<Result<std::unique_ptr<Held>>>;

// A process: a client, and a session of it where one is asked for.
struct Process {
  Process(store::World& world, const std::string& name) : store(world.connect(name)), locks(*store, nullptr) {}

  void open(VirtualLoop& loop, const std::string& key, Duration ttl = 10s) {
    store::Session::open(*store, {.key = key, .ttl = ttl}, {}, [&](Result<std::unique_ptr<store::Session>> opened) {
      ASSERT_TRUE(opened) << opened.error().message;
      session = *std::move(opened);
    });
    loop.run_for(1s);
    session_locks.emplace(*store, session.get());
  }

  std::unique_ptr<store::Store> store;
  std::unique_ptr<store::Session> session;
  Locks locks;
  std::optional<Locks> session_locks;
};

class LocksTest : public testing::Test {
 protected:
  // Without running the loop.
  void ask(Locks& locks, Got& got, AcquireOptions options, std::stop_token stop = {}, const std::string& path = "/locks/a") {
    locks.acquire(path, std::move(options), stop, [&got](Result<std::unique_ptr<Held>> held) { got = std::move(held); });
  }
  std::unique_ptr<Held> acquire(Locks& locks, AcquireOptions options = {}, const std::string& path = "/locks/a") {
    Got got;
    ask(locks, got, std::move(options), {}, path);
    loop.run_for(100ms);
    if (!got || !*got) {
      ADD_FAILURE() << path << " was not acquired: " << (got ? got->error().message : "no answer");
      return nullptr;
    }
    return std::move(**got);
  }
  Code refused(Locks& locks, AcquireOptions options = {}, const std::string& path = "/locks/a") {
    Got got;
    ask(locks, got, std::move(options), {}, path);
    loop.run_for(100ms);
    EXPECT_TRUE(got && !*got);
    return got && !*got ? got->error().code : Code::invalid;
  }
  Result<> release(Held& held) {
    std::optional<Result<>> done;
    held.release([&](Result<> result) { done = std::move(result); });
    loop.run_for(100ms);
    EXPECT_TRUE(done.has_value());
    return done.value_or(fail(Code::unavailable, "no answer"));
  }
  Result<Instant> renew(Held& held) {
    std::optional<Result<Instant>> done;
    held.renew([&](Result<Instant> deadline) { done = std::move(deadline); });
    loop.run_for(100ms);
    EXPECT_TRUE(done.has_value());
    return done.value_or(fail(Code::unavailable, "no answer"));
  }
  LockState show(const std::string& path = "/locks/a") {
    std::optional<LockState> state;
    a.locks.show(path, [&](Result<LockState> shown) {
      ASSERT_TRUE(shown) << shown.error().message;
      state = *std::move(shown);
    });
    loop.run_for(100ms);
    EXPECT_TRUE(state.has_value());
    return state.value_or(LockState{});
  }
  bool guarded_write(Process& process, const Held& held) {
    store::Txn txn;
    txn.compare(held.guard()).put("/result", "x");
    bool passed = false;
    process.store->txn(std::move(txn), [&](Result<store::Committed> done) { passed = done && done->succeeded; });
    loop.run_for(100ms);
    return passed;
  }
  std::uint64_t commits_during(Duration duration) {
    std::uint64_t commits = 0;
    world.on_commit([&](const std::string&, const store::Txn&, const store::Committed&) { ++commits; });
    loop.run_for(duration);
    world.on_commit(nullptr);
    return commits;
  }

  VirtualLoop loop;
  store::World world{loop, {.seed = 1, .delay_min = 1ms, .delay_max = 1ms}};
  Process a{world, "a"};
  Process b{world, "b"};
  Process c{world, "c"};
};

TEST_F(LocksTest, TheTokenIsTheRevisionOfTheAcquisition) {
  const auto held = acquire(a.locks, {.meta = "run 1"});
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->valid());
  EXPECT_EQ(held->path(), "/locks/a");
  EXPECT_EQ(held->guard(), store::unchanged("/locks/a", store::Revision(held->token().value())));
  const LockState state = show();
  EXPECT_TRUE(state.held);
  EXPECT_EQ(state.meta, "run 1");
  EXPECT_EQ(state.token, held->token());
  EXPECT_EQ(state.ttl, 30s);
  EXPECT_EQ(state.kind, Kind::expiring);
}

TEST_F(LocksTest, WhoeverFailsToAcquireReleasesNothing) {
  const auto held = acquire(a.locks);
  const auto before = world.contents();
  EXPECT_EQ(refused(b.locks), Code::conflict);
  EXPECT_EQ(refused(b.locks, {.fair = true}), Code::conflict);
  EXPECT_EQ(refused(a.locks), Code::conflict) << "not even for the process that has it";
  EXPECT_EQ(world.contents(), before);
  EXPECT_TRUE(held->valid());
  EXPECT_TRUE(guarded_write(a, *held));
}

TEST_F(LocksTest, AReleaseLetsTheNextOneInWithALargerToken) {
  const auto first = acquire(a.locks);
  Got second;
  ask(b.locks, second, {.wait = 1min});
  loop.run_for(5s);
  EXPECT_FALSE(second);
  EXPECT_TRUE(release(*first));
  EXPECT_FALSE(first->valid());
  EXPECT_FALSE(first->lost().stop_requested());
  ASSERT_TRUE(second && *second);
  EXPECT_GT((**second)->token(), first->token());
  EXPECT_FALSE(guarded_write(a, *first));
  EXPECT_TRUE(guarded_write(b, ***second));
  // Once more changes nothing: it is another's by now.
  EXPECT_TRUE(release(*first));
  EXPECT_TRUE((**second)->valid());
  EXPECT_TRUE(guarded_write(b, ***second));
}

TEST_F(LocksTest, AnExpiringLockOutlivesItsProcessForItsTtl) {
  auto held = acquire(a.locks, {.ttl = 10s});
  const Instant deadline = held->deadline();
  held.reset();
  const Instant asked = loop.now();
  Got next;
  ask(b.locks, next, {.wait = 1min});
  loop.run_until(asked + 10s);
  EXPECT_FALSE(next) << "it is not taken over before ttl × 1.02";
  loop.run_until(asked + 10s + 200ms + 50ms);
  ASSERT_TRUE(next && *next);
  EXPECT_GT(loop.now(), deadline);
}

TEST_F(LocksTest, ARenewalMovesTheDeadlineAndKeepsTheToken) {
  const auto held = acquire(a.locks, {.ttl = 10s});
  const Instant first = held->deadline();
  const Token token = held->token();
  Got next;
  ask(b.locks, next, {.wait = 15s});
  loop.run_for(6s);
  const Instant asked = loop.now();
  const auto renewed = renew(*held);
  ASSERT_TRUE(renewed) << renewed.error().message;
  EXPECT_EQ(*renewed, asked + 9s) << "ttl less the margin of a tenth, from before it was sent";
  EXPECT_GT(*renewed, first);
  EXPECT_EQ(held->token(), token);
  loop.run_for(8s);
  EXPECT_TRUE(held->valid());
  EXPECT_FALSE(next);
  EXPECT_TRUE(guarded_write(a, *held));
  loop.run_for(2s);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->error().code, Code::conflict);
}

TEST_F(LocksTest, PastItsDeadlineAHandleIsDeadForGood) {
  const auto held = acquire(a.locks, {.ttl = 10s});
  loop.run_until(held->deadline() - 1ns);
  EXPECT_TRUE(held->valid());
  EXPECT_FALSE(held->lost().stop_requested());
  loop.run_for(1ns);
  EXPECT_FALSE(held->valid());
  EXPECT_TRUE(held->lost().stop_requested());
  const auto before = world.contents();
  EXPECT_EQ(renew(*held).error().code, Code::conflict) << "although the store would still prolong it";
  EXPECT_EQ(world.contents(), before);
  Got again;
  ask(a.locks, again, {.wait = 11s});
  loop.run_for(11s);
  ASSERT_TRUE(again && *again);
  EXPECT_GT((**again)->token(), held->token());
}

TEST_F(LocksTest, ARenewalIsTriedUntilTheDeadlineWhileTheStoreIsOut) {
  const auto held = acquire(a.locks, {.ttl = 30s});
  world.cut_off("a");
  std::optional<Result<Instant>> renewed;
  held->renew([&](Result<Instant> deadline) { renewed = std::move(deadline); });
  loop.run_for(20s);
  EXPECT_FALSE(renewed);
  EXPECT_TRUE(held->valid());
  world.heal("a");
  loop.run_for(6s);
  ASSERT_TRUE(renewed && *renewed);
  EXPECT_GT(**renewed, loop.now());
}

TEST_F(LocksTest, ARenewalThatCannotBeDoneIsRefusedAtTheDeadline) {
  const auto held = acquire(a.locks, {.ttl = 30s});
  world.cut_off("a");
  std::optional<Result<Instant>> renewed;
  held->renew([&](Result<Instant> deadline) { renewed = std::move(deadline); });
  loop.run_until(held->deadline());
  ASSERT_TRUE(renewed && !*renewed);
  EXPECT_EQ(renewed->error().code, Code::conflict);
  EXPECT_TRUE(held->lost().stop_requested());
}

TEST_F(LocksTest, ARenewalThatWasAskedForLaterCountsFromThen) {
  const auto held = acquire(a.locks, {.ttl = 10s});
  std::vector<Instant> deadlines;
  const auto note = [&](Result<Instant> deadline) { deadlines.push_back(deadline.value_or(Instant{})); };
  held->renew(note);
  loop.run_for(1ms);  // the first is under way
  const Instant second = loop.now();
  held->renew(note);
  loop.run_for(1s);
  ASSERT_EQ(deadlines.size(), 2U);
  EXPECT_LT(deadlines[0], second + 9s);
  EXPECT_GE(deadlines[1], second + 9s);
}

TEST_F(LocksTest, WaitingCanBeStopped) {
  const auto held = acquire(a.locks);
  std::stop_source stop;
  Got next;
  ask(b.locks, next, {.wait = Duration::max()}, stop.get_token());
  loop.run_for(1s);
  stop.request_stop();
  EXPECT_FALSE(next) << "an answer never comes inside a call";
  loop.run_for(1ms);
  ASSERT_TRUE(next && !*next);
  EXPECT_EQ(next->error().code, Code::cancelled);
  EXPECT_TRUE(release(*held));
  loop.run_for(1min);
  EXPECT_FALSE(show().held);
}

TEST_F(LocksTest, WhoIsStoppedBeforehandTakesNothing) {
  std::stop_source stop;
  stop.request_stop();
  Got got;
  ask(a.locks, got, {}, stop.get_token());
  loop.run_for(1s);
  ASSERT_TRUE(got && !*got);
  EXPECT_EQ(got->error().code, Code::cancelled);
  EXPECT_FALSE(show().held);
}

TEST_F(LocksTest, SessionLocksGoWithTheirSessionAndCostNothing) {
  a.open(loop, "/beats/a");
  b.open(loop, "/beats/b");
  std::vector<std::unique_ptr<Held>> held;
  for (int i = 0; i < 50; ++i) held.push_back(acquire(*a.session_locks, {.kind = Kind::session}, fmt::format("/locks/{}", i)));
  // Two sessions of 10 s write their beats, and nothing else happens.
  EXPECT_LE(commits_during(100s), 62U);
  for (const auto& one : held) EXPECT_TRUE(one->valid());
  EXPECT_EQ(held[0]->deadline(), a.session->deadline());
  EXPECT_EQ(*renew(*held[0]), a.session->deadline());
  EXPECT_EQ(refused(*b.session_locks, {.kind = Kind::session}, "/locks/7"), Code::conflict);

  Got next;
  ask(*b.session_locks, next, {.kind = Kind::session, .wait = 1min}, {}, "/locks/7");
  loop.run_for(1s);
  a.session->end([](Result<store::Revision>) {});
  EXPECT_FALSE(held[7]->valid()) << "from the call on";
  loop.run_for(1s);
  for (const auto& one : held) EXPECT_TRUE(one->lost().stop_requested());
  ASSERT_TRUE(next && *next);
  EXPECT_GT((**next)->token(), held[7]->token());
  EXPECT_EQ(refused(*a.session_locks, {.kind = Kind::session}), Code::refused);
  EXPECT_EQ(renew(*held[7]).error().code, Code::conflict);
}

TEST_F(LocksTest, ADeadSessionIsEndedByWhoWaits) {
  a.open(loop, "/beats/a");
  b.open(loop, "/beats/b");
  const auto held = acquire(*a.session_locks, {.kind = Kind::session});
  Got next;
  ask(*b.session_locks, next, {.kind = Kind::session, .wait = 1min});
  world.cut_off("a");
  while (!next && loop.now() < Instant{} + 1min) {
    loop.run_for(1ms);
    EXPECT_FALSE(next && held->valid());
  }
  ASSERT_TRUE(next && *next);
  EXPECT_TRUE(held->lost().stop_requested());
  EXPECT_TRUE(guarded_write(b, ***next));
}

TEST_F(LocksTest, ASuccessorOnTheSameBeatMeansThatTheHolderIsOver) {
  a.open(loop, "/beats/a");
  const auto held = acquire(*a.session_locks, {.kind = Kind::session});
  a.session->end([](Result<store::Revision>) {});
  loop.run_for(1s);
  b.open(loop, "/beats/a");  // the process was started anew, and does not want the lock
  const auto next = acquire(c.locks);
  ASSERT_TRUE(next);
  EXPECT_GT(next->token(), held->token());
}

TEST_F(LocksTest, ADeletedBeatIsWaitedOut) {
  auto held = acquire(a.locks, {.ttl = 10s});
  c.store->erase("/locks/a.renewal", [](Result<store::Committed>) {});
  loop.run_for(1s);
  EXPECT_EQ(refused(b.locks), Code::conflict);
  Got next;
  ask(b.locks, next, {.wait = 1min});
  while (held->valid()) {
    EXPECT_FALSE(next);
    loop.run_for(10ms);
  }
  loop.run_for(3s);
  EXPECT_TRUE(next && *next);
}

TEST_F(LocksTest, ASessionLockNeedsASession) { EXPECT_EQ(refused(a.locks, {.kind = Kind::session}), Code::invalid); }

TEST_F(LocksTest, BreakingTakesItAwayAtOnce) {
  const auto held = acquire(a.locks, {.meta = "stuck"});
  std::optional<LockState> broken;
  b.locks.break_lock("/locks/a", [&](Result<LockState> state) { broken = state.value_or(LockState{}); });
  loop.run_for(100ms);
  ASSERT_TRUE(broken);
  EXPECT_TRUE(broken->held);
  EXPECT_EQ(broken->meta, "stuck");
  EXPECT_EQ(broken->token, held->token());
  EXPECT_FALSE(guarded_write(a, *held));
  EXPECT_TRUE(held->lost().stop_requested()) << "its watch has told it";
  EXPECT_FALSE(show().held);
  EXPECT_EQ(show().token, held->token());
  EXPECT_TRUE(acquire(b.locks));

  b.locks.break_lock("/locks/none", [&](Result<LockState> state) { broken = state.value_or(LockState{.held = true}); });
  loop.run_for(100ms);
  EXPECT_FALSE(broken->held);
}

TEST_F(LocksTest, AFairQueueKeepsTheOrderAndSkipsTheDead) {
  const auto first = acquire(a.locks);
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<Got> got(6);
  for (std::size_t i = 0; i < got.size(); ++i) {
    processes.push_back(std::make_unique<Process>(world, fmt::format("p{}", i)));
    ask(processes[i]->locks, got[i], {.wait = 1h, .meta = fmt::format("p{}", i), .fair = true});
    loop.run_for(1s);
  }
  EXPECT_EQ(show().waiting, (std::vector<std::string>{"p0", "p1", "p2", "p3", "p4", "p5"}));
  processes[1].reset();  // they die
  processes[2].reset();
  loop.run_for(40s);
  EXPECT_EQ(show().waiting, (std::vector<std::string>{"p3", "p4", "p5"}));
  EXPECT_EQ(show().meta, "p0") << "the 30 s of the first holder are over";
  const std::size_t order[] = {0, 3, 4, 5};
  for (std::size_t at = 0; at < 4; ++at) {
    ASSERT_TRUE(got[order[at]] && *got[order[at]]) << at;
    EXPECT_FALSE(at < 3 && got[order[at + 1]]);
    EXPECT_TRUE(release(***got[order[at]]));
    loop.run_for(1s);
  }
  EXPECT_TRUE(show().waiting.empty());
}

TEST_F(LocksTest, WhoLeavesTheQueueIsSkipped) {
  const auto held = acquire(a.locks, {.ttl = 10min});
  std::stop_source stop;
  Got first;
  Got second;
  Got third;
  ask(b.locks, first, {.wait = 1h, .fair = true}, stop.get_token());
  loop.run_for(1s);
  ask(b.locks, second, {.wait = 20s, .fair = true});
  loop.run_for(1s);
  ask(c.locks, third, {.wait = 1h, .fair = true});
  loop.run_for(1s);
  stop.request_stop();
  loop.run_for(1s);
  ASSERT_TRUE(first && !*first);
  EXPECT_EQ(first->error().code, Code::cancelled);
  loop.run_for(20s);
  ASSERT_TRUE(second && !*second);
  EXPECT_EQ(second->error().code, Code::conflict);
  EXPECT_EQ(show().waiting.size(), 1U);
  EXPECT_TRUE(release(*held));
  loop.run_for(1s);
  EXPECT_TRUE(third && *third);
}

// The answer of the taking is lost: it is found by reading.
TEST_F(LocksTest, ATakingWhoseAnswerIsLostIsFound) {
  bool lose = true;
  world.on_commit([&](const std::string& client, const store::Txn&, const store::Committed&) {
    if (client == "a" && std::exchange(lose, false)) world.cut_off("a");
  });
  Got got;
  const Instant asked = loop.now();
  ask(a.locks, got, {.wait = 1min});
  loop.run_for(1s);
  EXPECT_FALSE(got);
  world.heal("a");
  loop.run_for(10s);
  ASSERT_TRUE(got && *got);
  EXPECT_TRUE((**got)->valid());
  EXPECT_LE((**got)->deadline(), asked + 1s + 27s);
  EXPECT_EQ(show().token, (**got)->token());
}

// The caller gave up while its taking was in the air. Nobody knows of it, so it is undone.
TEST_F(LocksTest, ATakingThatNobodyWantsAnyMoreIsUndone) {
  a.open(loop, "/beats/a", 1min);
  bool lose = true;
  world.on_commit([&](const std::string& client, const store::Txn& txn, const store::Committed&) {
    if (client == "a" && txn.then.front().key == "/locks/a" && std::exchange(lose, false)) world.cut_off("a");
  });
  Got got;
  std::stop_source stop;
  ask(*a.session_locks, got, {.kind = Kind::session, .wait = 1min}, stop.get_token());
  loop.run_for(1s);
  stop.request_stop();
  loop.run_for(1s);
  ASSERT_TRUE(got && !*got);
  EXPECT_EQ(got->error().code, Code::cancelled);
  EXPECT_TRUE(detail::parse_record(world.contents("/locks/").entries.front())->held());
  world.heal("a");
  loop.run_for(20s);
  EXPECT_TRUE(a.session->valid());
  EXPECT_TRUE(acquire(b.locks)) << "else it would be locked as long as that session lives";
}

TEST_F(LocksTest, TheStoresErrorsComeWhenTheyLast) {
  world.cut_off("a");
  Got got;
  ask(a.locks, got, {.wait = 8s});
  loop.run_for(7s);
  EXPECT_FALSE(got);
  loop.run_for(8s);
  ASSERT_TRUE(got && !*got);
  EXPECT_EQ(got->error().code, Code::unavailable);
}

TEST_F(LocksTest, ListShowsTheLocksAndNothingElse) {
  a.open(loop, "/beats/a");
  const auto one = acquire(a.locks, {.meta = "m1"}, "/locks/one");
  const auto two = acquire(*a.session_locks, {.kind = Kind::session, .meta = "m2"}, "/locks/deep/two");
  const auto three = acquire(b.locks, {}, "/locks/three");
  EXPECT_TRUE(release(*three));
  Got waiting;
  ask(b.locks, waiting, {.wait = 1h, .meta = "w", .fair = true}, {}, "/locks/one");
  b.store->put("/locks/other", "no lock", [](Result<store::Committed>) {});
  loop.run_for(1s);
  std::vector<LockState> states;
  c.locks.list("/locks/", [&](Result<std::vector<LockState>> listed) {
    ASSERT_TRUE(listed) << listed.error().message;
    states = *std::move(listed);
  });
  loop.run_for(1s);
  ASSERT_EQ(states.size(), 3U);
  EXPECT_EQ(states[0].path, "/locks/deep/two");
  EXPECT_TRUE(states[0].held);
  EXPECT_EQ(states[0].kind, Kind::session);
  EXPECT_EQ(states[0].ttl, 10s);
  EXPECT_GT(states[0].renewed, store::Revision());
  EXPECT_EQ(states[1].path, "/locks/one");
  EXPECT_EQ(states[1].meta, "m1");
  EXPECT_EQ(states[1].waiting, std::vector<std::string>{"w"});
  EXPECT_EQ(states[2].path, "/locks/three");
  EXPECT_FALSE(states[2].held);
  EXPECT_EQ(states[2].token, three->token());
}

TEST_F(LocksTest, BadInputIsRefused) {
  EXPECT_EQ(refused(a.locks, {}, "no path"), Code::invalid);
  EXPECT_EQ(refused(a.locks, {}, "/locks/a.renewal"), Code::invalid);
  EXPECT_EQ(refused(a.locks, {}, "/locks/a.queue"), Code::invalid);
  EXPECT_EQ(refused(a.locks, {}, "/" + std::string(1000, 'x')), Code::too_large);
  EXPECT_EQ(refused(a.locks, {.ttl = 299ms}), Code::invalid);
  EXPECT_EQ(refused(a.locks, {.ttl = 1s, .margin = 501ms}), Code::invalid);
  EXPECT_EQ(refused(a.locks, {.ttl = 1s, .margin = -1ns}), Code::invalid);
  EXPECT_EQ(refused(a.locks, {.wait = -1ns}), Code::invalid);
  EXPECT_EQ(refused(a.locks, {.meta = "\xff"}), Code::invalid);
  EXPECT_EQ(refused(a.locks, {.meta = std::string(20'000, 'x')}), Code::invalid);
  b.store->put("/locks/a", "hello", [](Result<store::Committed>) {});
  loop.run_for(1s);
  EXPECT_EQ(refused(a.locks), Code::invalid) << "something else is there";
  EXPECT_EQ(world.contents("/locks/").entries.front().value, "hello");
}

TEST_F(LocksTest, DestroyingWhatIsUnderWayIsSafe) {
  auto held = acquire(a.locks);
  {
    Process process(world, "d");
    Got got;
    ask(process.locks, got, {.wait = 1h, .fair = true});
    ask(process.locks, got, {.wait = 1h});
    loop.run_for(3s);
    EXPECT_FALSE(got);
  }
  held->renew([](Result<Instant>) { ADD_FAILURE() << "nobody is there to be told"; });
  held->release([](Result<>) { ADD_FAILURE() << "nobody is there to be told"; });
  held.reset();
  loop.run_for(1min);
  EXPECT_FALSE(show().held) << "the release went on";
}

// ------------------------------------------------------------------------------------------------------------- values

TEST(LockRecord, RoundTrip) {
  const detail::Record held{
      .owner = "o\"1", .token = Token(7), .kind = Kind::session, .ttl = 90s, .meta = "ü", .beat = "/b", .identity = "i"};
  const detail::Record free{.token = Token(9)};
  EXPECT_EQ(detail::parse_record(store::Entry{.key = "/k", .value = format(held), .modified = store::Revision(7)}).value(), held);
  EXPECT_EQ(detail::parse_record(store::Entry{.key = "/k", .value = format(free), .modified = store::Revision(12)}).value(),
            free);
  const detail::Beat beat{"i", 3, 10s, "m", true};
  EXPECT_EQ(detail::parse_beat({.key = "/k", .value = format(beat)}).value(), beat);
}

TEST(LockRecord, WhatIsNoRecordIsRefused) {
  for (const std::string value :
       {"", "{", "[]", R"({"owner":""})", R"({"format":2,"owner":"","token":1})", R"({"format":1,"owner":""})",
        R"({"format":1,"owner":"x"})", R"({"format":1,"owner":"","token":-1})",
        R"({"format":1,"owner":"x","kind":"other","ttl":"1s","meta":"","beat":"/b","identity":"i"})",
        R"({"format":1,"owner":"x","kind":"session","ttl":"0s","meta":"","beat":"/b","identity":"i"})"}) {
    const auto record = detail::parse_record(store::Entry{.key = "/k", .value = value});
    ASSERT_FALSE(record) << value;
    EXPECT_EQ(record.error().code, Code::invalid) << value;
  }
}

TEST(LockQueue, PlacesAreInOrderOfCreation) {
  const auto entry = [](std::string key, std::int64_t created) {
    return store::Entry{.key = std::move(key), .created = store::Revision(created)};
  };
  const std::vector<store::Entry> queue = {entry("/q/a", 9), entry("/q/b", 3), entry("/q/c", 5)};
  EXPECT_TRUE(detail::place_in(queue, "/q/x").gone);
  EXPECT_FALSE(detail::place_in(queue, "/q/b").ahead);
  EXPECT_EQ(detail::place_in(queue, "/q/c").ahead->key, "/q/b");
  EXPECT_EQ(detail::place_in(queue, "/q/a").ahead->key, "/q/c");
  EXPECT_EQ(detail::place_in(queue, "/q/a").before, 2U);
}

}  // namespace
}  // namespace evenkeel::locks
