#include "evenkeel/store/memory/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/base/virtual_loop.h"

namespace evenkeel::store {
namespace {

using testing::ElementsAre;

// A world whose calls are made one after another.
struct Bench {
  explicit Bench(Faults faults = {}) : world(loop, faults) {}

  template <class T, class Call>
  Result<T> wait(Call call) {
    std::vector<Result<T>> answers;
    call([&](Result<T> answer) { answers.push_back(std::move(answer)); });
    EXPECT_TRUE(answers.empty()) << "an answer came inside its call";
    loop.run_for(1min);
    EXPECT_EQ(answers.size(), 1U);
    return answers.empty() ? fail(Code::cancelled, "not answered") : answers.front();
  }
  Result<Committed> txn(Store& store, Txn txn) {
    return wait<Committed>([&](Answer<Committed> answer) { store.txn(std::move(txn), std::move(answer)); });
  }
  Result<Committed> put(Store& store, std::string key, std::string value) {
    return wait<Committed>([&](Answer<Committed> answer) { store.put(std::move(key), std::move(value), std::move(answer)); });
  }
  Result<Committed> put_ephemeral(Store& store, std::string key) {
    Txn one;
    one.put_ephemeral(std::move(key), "");
    return txn(store, std::move(one));
  }
  Result<Committed> erase(Store& store, std::string key) {
    return wait<Committed>([&](Answer<Committed> answer) { store.erase(std::move(key), std::move(answer)); });
  }
  Result<Read> get(Store& store, std::string key) {
    return wait<Read>([&](Answer<Read> answer) { store.get(std::move(key), std::move(answer)); });
  }
  Result<Listing> list(Store& store, std::string prefix) {
    return wait<Listing>([&](Answer<Listing> answer) { store.list(std::move(prefix), std::move(answer)); });
  }
  Result<Revision> compact(Store& store, Revision before) {
    return wait<Revision>([&](Answer<Revision> answer) { store.compact(before, std::move(answer)); });
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const Entry& entry : world.contents().entries) keys.push_back(entry.key);
    return keys;
  }

  VirtualLoop loop;
  World world;
};

Result<Committed> committed(bool succeeded, std::int64_t revision) { return Committed{succeeded, Revision(revision)}; }

std::string text(const Result<Changes>& seen) {
  if (!seen) return seen.error().message;
  std::string text = seen->fresh ? "fresh" : "";
  for (const Change& change : seen->changes)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", change.key, change.entry ? change.entry->value : "-");
  return text + fmt::format(" @{}", seen->revision);
}

TEST(Memory, RevisionsGrowByOneForEachTxnThatWrites) {
  Bench bench;
  auto store = bench.world.connect();
  EXPECT_EQ(bench.get(*store, "/a"), (Read{std::nullopt, Revision(1)}));
  EXPECT_EQ(bench.put(*store, "/a", "1"), committed(true, 2));
  EXPECT_EQ(bench.put(*store, "/a", "1"), committed(true, 3));  // the same value counts
  EXPECT_EQ(bench.erase(*store, "/none"), committed(true, 3));
  Txn two;
  two.compare(present("/a")).compare(absent("/b")).put("/b/c", "x").put("/b/d", "y");
  EXPECT_EQ(bench.txn(*store, two), committed(true, 4));
  EXPECT_EQ(bench.get(*store, "/a"), (Read{Entry{"/a", "1", Revision(2), Revision(3)}, Revision(4)}));
  EXPECT_EQ(bench.list(*store, "/b/"),
            (Listing{{{"/b/c", "x", Revision(4), Revision(4)}, {"/b/d", "y", Revision(4), Revision(4)}}, Revision(4)}));
  Txn stale;
  stale.compare(unchanged("/a", Revision(2))).put("/a", "no");
  EXPECT_EQ(bench.txn(*store, stale), committed(false, 4));
  stale.otherwise.push_back({Write::Kind::erase_below, "/b/", {}});
  EXPECT_EQ(bench.txn(*store, stale), committed(false, 5));
  EXPECT_EQ(bench.erase(*store, "/a"), committed(true, 6));
  EXPECT_EQ(bench.put(*store, "/a", "2"), committed(true, 7));
  EXPECT_EQ(bench.list(*store, "/"), (Listing{{{"/a", "2", Revision(7), Revision(7)}}, Revision(7)}));
}

TEST(Memory, RefusesWhatIsWrongWithAnAnswer) {
  Bench bench;
  auto store = bench.world.connect();
  EXPECT_EQ(bench.get(*store, "a").error().code, Code::invalid);
  EXPECT_EQ(bench.list(*store, "/a").error().code, Code::invalid);
  EXPECT_EQ(bench.put(*store, "/a", std::string(value_bytes_max + 1, 'x')).error().code, Code::too_large);
  ASSERT_TRUE(bench.put_ephemeral(*store, "/e"));
  Txn compares;
  compares.compare(unchanged("/e", Revision(2))).put("/a", "");
  EXPECT_EQ(bench.txn(*store, compares).error().message, "/e is ephemeral: compare whether it is there, not its revision");
  EXPECT_EQ(bench.compact(*store, Revision(9)).error().message, "revision 9 is still to come: the store is at 2");
}

TEST(Memory, AWatchBeginsWithAListAndGoesOnInOrder) {
  Bench bench;
  auto store = bench.world.connect();
  ASSERT_TRUE(bench.put(*store, "/w/a", "1"));
  std::vector<std::string> seen;
  const auto see = [&](Result<Changes> changes) { seen.push_back(text(changes)); };
  auto watching = store->watch("/w/", {}, see);
  bench.loop.run_for(1s);
  ASSERT_TRUE(bench.put(*store, "/other", "1"));
  ASSERT_TRUE(bench.put(*store, "/w/a", "2"));
  ASSERT_TRUE(bench.erase(*store, "/w/a"));
  EXPECT_THAT(seen, ElementsAre("fresh /w/a=1 @2", "/w/a=2 @4", "/w/a=- @5"));
  watching.reset();
  ASSERT_TRUE(bench.put(*store, "/w/a", "3"));
  EXPECT_EQ(seen.size(), 3U);
  auto wrong = store->watch("/w", {}, see);
  bench.loop.run_for(1s);
  EXPECT_EQ(seen.back(), "\"/w\" is no prefix: a prefix ends with '/'");
}

TEST(Memory, AWatchResumesWhereItWasUnlessThatIsForgotten) {
  Bench bench({.history = 3});
  auto store = bench.world.connect();
  for (const char* value : {"1", "2", "3", "4"}) ASSERT_TRUE(bench.put(*store, "/a", value));
  const auto first = [&](std::int64_t after) {
    std::vector<std::string> seen;
    const auto watching = store->watch("/", Revision(after), [&](Result<Changes> changes) { seen.push_back(text(changes)); });
    bench.loop.run_for(1s);
    return seen.empty() ? "" : seen.front();
  };
  EXPECT_EQ(first(5), "");
  EXPECT_EQ(first(4), "/a=4 @5");
  EXPECT_TRUE(first(2) == "/a=4 @5" || first(2) == "/a=2 /a=3 /a=4 @5");
  EXPECT_EQ(first(1), "fresh /a=4 @5");
  EXPECT_EQ(first(99), "fresh /a=4 @5");  // of another store
  EXPECT_EQ(bench.compact(*store, Revision(4)), Revision(5));
  EXPECT_EQ(first(4), "/a=4 @5");
  EXPECT_EQ(first(3), "fresh /a=4 @5");
}

TEST(Memory, EphemeralKeysGoSomeTimeAfterTheirWriter) {
  Bench bench({.lease = 5min});
  auto store = bench.world.connect("n1");
  auto other = bench.world.connect("n2");
  ASSERT_TRUE(bench.put_ephemeral(*store, "/e/1"));
  ASSERT_TRUE(bench.put_ephemeral(*store, "/e/2"));
  ASSERT_TRUE(bench.put(*other, "/e/2", "taken over, and persistent"));
  ASSERT_TRUE(bench.put_ephemeral(*other, "/e/3"));
  EXPECT_EQ(bench.get(*other, "/e/1")->entry->ephemeral, true);
  EXPECT_EQ(bench.get(*other, "/e/2")->entry->ephemeral, false);
  const Revision before = bench.world.contents().revision;

  bench.world.cut_off("n1");
  bench.loop.run_for(4min);
  bench.world.heal("n1");
  bench.loop.run_for(10min);
  EXPECT_THAT(bench.keys(), ElementsAre("/e/1", "/e/2", "/e/3"));
  bench.world.cut_off("n1");
  bench.world.stop();
  bench.loop.run_for(10min);
  bench.world.resume();  // leases begin anew
  bench.loop.run_for(4min);
  EXPECT_THAT(bench.keys(), ElementsAre("/e/1", "/e/2", "/e/3"));
  std::vector<std::string> commits;
  bench.world.on_commit([&](const std::string& client, const Txn& txn, const Committed& done) {
    commits.push_back(fmt::format("{} {} @{}", client, txn.then.size(), done.revision));
  });
  bench.loop.run_for(2min);
  EXPECT_THAT(bench.keys(), ElementsAre("/e/2", "/e/3"));
  EXPECT_THAT(commits, ElementsAre(fmt::format("n1 1 @{}", before.next())));
  other.reset();
  bench.loop.run_for(6min);
  EXPECT_THAT(bench.keys(), ElementsAre("/e/2"));
  bench.world.heal("n1");
  ASSERT_TRUE(bench.put_ephemeral(*store, "/e/4"));
  bench.world.expire("n1");
  EXPECT_THAT(bench.keys(), ElementsAre("/e/2"));
  ASSERT_TRUE(bench.put_ephemeral(*store, "/e/5"));
  bench.loop.run_for(1h);
  EXPECT_THAT(bench.keys(), ElementsAre("/e/2", "/e/5"));
}

TEST(Memory, ALostAnswerIsAnUnknownOutcomeAndALostReadUnavailable) {
  Bench bench({.lost_answers = 1'000'000, .timeout = 5s});
  auto store = bench.world.connect();
  EXPECT_EQ(bench.put(*store, "/a", "1").error().code, Code::unknown_outcome);
  EXPECT_THAT(bench.keys(), ElementsAre("/a"));  // done
  EXPECT_EQ(bench.get(*store, "/a").error().code, Code::unavailable);
  EXPECT_EQ(bench.list(*store, "/").error().code, Code::unavailable);
  bench.world.set_faults({.lost_requests = 1'000'000});
  EXPECT_EQ(bench.put(*store, "/b", "1").error().code, Code::unknown_outcome);
  EXPECT_THAT(bench.keys(), ElementsAre("/a"));  // not done
  bench.world.set_faults({});
  EXPECT_TRUE(bench.put(*store, "/b", "1"));
}

TEST(Memory, WhatWasSentToACutOffOrStoppedServerMayStillHappen) {
  int late = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Bench bench({.seed = seed});
    auto store = bench.world.connect("n1");
    seed % 2 == 0 ? bench.world.cut_off("n1") : bench.world.stop();
    EXPECT_EQ(bench.put(*store, "/a", "1").error().code, Code::unknown_outcome) << "seed " << seed;
    EXPECT_THAT(bench.keys(), ElementsAre()) << "seed " << seed;
    seed % 2 == 0 ? bench.world.heal("n1") : bench.world.resume();
    bench.loop.run_for(1s);
    late += bench.keys().empty() ? 0 : 1;
    EXPECT_TRUE(bench.get(*store, "/a")) << "seed " << seed;
  }
  EXPECT_GT(late, 5);
  EXPECT_LT(late, 35);
}

TEST(Memory, AnswersAndWatchesMayDestroyWhatCallsThem) {
  Bench bench;
  auto store = bench.world.connect();
  auto second = bench.world.connect();
  const auto token = std::make_shared<int>();
  std::unique_ptr<Watching> watching;
  int calls = 0;
  watching = store->watch("/", {}, [&](Result<Changes>) {
    ++calls;
    watching.reset();
  });
  bench.loop.run_for(1s);
  EXPECT_EQ(calls, 1);
  auto kept = store->watch("/", {}, [&, token](Result<Changes>) { ++calls; });
  store->get("/a", [&, token](Result<Read>) {
    ++calls;
    store.reset();
  });
  store->get("/b", [&, token](Result<Read>) { FAIL() << "the store was destroyed before"; });
  bench.loop.run_for(1min);
  EXPECT_GE(calls, 2);
  EXPECT_FALSE(store);
  EXPECT_EQ(token.use_count(), 1);  // nothing is kept of it
  kept.reset();
  EXPECT_TRUE(bench.put(*second, "/a", "1"));
}

}  // namespace
}  // namespace evenkeel::store
