// A memory store that is restored from a backup: what clients, watches and leases make of a history that went back.

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::store {
namespace {

struct PutBack : testing::Test {
  Revision put(const std::string& key, const std::string& value, bool ephemeral = false) {
    Txn txn;
    ephemeral ? txn.put_ephemeral(key, value) : txn.put(key, value);
    Revision at;
    store->txn(std::move(txn), [&](const Result<Committed>& done) { at = done.value().revision; });
    loop.run_for(1s);
    return at;
  }
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> all;
    for (const Entry& entry : world.contents().entries) all[entry.key] = entry.value;
    return all;
  }

  VirtualLoop loop;
  World world{loop, {.seed = 3, .delay_max = 5ms}};
  std::unique_ptr<Store> store = world.connect("n1");
};

TEST_F(PutBack, TheStoreIsAsItWas) {
  put("/a", "1");
  put("/b", "1");
  const Listing then = world.contents();
  put("/a", "2");
  put("/c", "1");
  store->erase("/b", [](const Result<Committed>&) {});
  loop.run_for(1s);
  ASSERT_TRUE(world.put_back(then.revision));
  EXPECT_EQ(world.contents(), then);
  // Revisions come again.
  EXPECT_EQ(put("/d", "1"), then.revision.next());
}

TEST_F(PutBack, AnyPastThatIsRememberedComesBackExactly) {
  Rng rng(7);
  std::vector<Listing> past;
  for (int i = 0; i < 300; ++i) {
    past.push_back(world.contents());
    const std::string key = fmt::format("/k/{}", rng.below(12));
    Txn txn;
    if (rng.chance(1, 8)) {
      txn.erase_below("/k/");
    } else if (rng.chance(1, 3)) {
      txn.erase(key);
    } else {
      txn.put(key, fmt::format("{}", i));
    }
    store->txn(std::move(txn), [](const Result<Committed>&) {});
    loop.run_for(1s);
    if (!rng.chance(1, 10)) continue;
    const std::size_t to = past.size() - 1 - rng.below(std::min<std::uint64_t>(past.size(), 9));
    ASSERT_TRUE(world.put_back(past[to].revision));
    ASSERT_EQ(world.contents(), past[to]);
    past.resize(to);
  }
}

TEST_F(PutBack, AWatchGoesOnWithAFreshListThatIsOlder) {
  put("/w/a", "1");
  const Revision then = world.revision();
  std::vector<Changes> seen;
  const auto watching = store->watch("/w/", std::nullopt, [&](Result<Changes> changes) { seen.push_back(changes.value()); });
  loop.run_for(1s);
  put("/w/b", "1");
  ASSERT_EQ(seen.back().revision, then.next());
  seen.clear();
  ASSERT_TRUE(world.put_back(then));
  loop.run_for(1s);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(seen[0].fresh);
  EXPECT_EQ(seen[0].revision, then);
  ASSERT_EQ(seen[0].changes.size(), 1u);
  EXPECT_EQ(seen[0].changes[0].key, "/w/a");
  put("/w/c", "1");
  EXPECT_EQ(seen.back().changes.back().key, "/w/c");
}

// A delivery that was under way when the store went back is not the last word.
TEST_F(PutBack, AWatchEndsAtWhatIsThere) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    VirtualLoop own;
    World other(own, {.seed = seed, .delay_max = 20ms, .late_watch = 100'000, .stale_lists = 300'000});
    const auto client = other.connect("n1");
    std::map<std::string, std::string> known;
    const auto watching = client->watch("/", std::nullopt, [&](Result<Changes> changes) {
      if (changes.value().fresh) known.clear();
      for (const Change& change : changes->changes) {
        if (change.entry) known[change.key] = change.entry->value;
        else known.erase(change.key);
      }
    });
    Rng rng(seed);
    for (int i = 0; i < 60; ++i) {
      client->put(fmt::format("/k{}", rng.below(6)), fmt::format("{}", i), [](const Result<Committed>&) {});
      own.run_for(Duration(rng.between(0, 30'000'000)));
      if (i % 20 == 19) {
        ASSERT_TRUE(other.put_back(Revision(std::max<std::int64_t>(1, other.revision().value() - 5))));
      }
    }
    own.run_for(10s);
    std::map<std::string, std::string> there;
    for (const Entry& entry : other.contents().entries) there[entry.key] = entry.value;
    ASSERT_EQ(known, there) << seed;
  }
}

TEST_F(PutBack, AnEphemeralKeyOfSomebodyWhoIsGoneGoesAgain) {
  put("/e", "1", true);
  const Revision then = world.revision();
  store.reset();
  loop.run_for(1min);
  ASSERT_TRUE(contents().empty());
  store = world.connect("n2");
  ASSERT_TRUE(world.put_back(then));
  EXPECT_TRUE(contents().contains("/e"));
  loop.run_for(1min);
  EXPECT_TRUE(contents().empty());
}

TEST_F(PutBack, WhatIsNotRememberedIsRefused) {
  put("/a", "1");
  EXPECT_EQ(world.put_back(world.revision().next()).error().code, Code::refused);
}

TEST_F(PutBack, EverythingIsLost) {
  put("/a", "1");
  put("/e", "1", true);
  std::optional<Changes> last;
  const auto watching = store->watch("/", std::nullopt, [&](Result<Changes> changes) { last = std::move(*changes); });
  loop.run_for(1s);
  world.lose_everything();
  loop.run_for(1s);
  EXPECT_TRUE(contents().empty());
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->fresh);
  EXPECT_TRUE(last->changes.empty());
  EXPECT_EQ(put("/b", "1"), Revision(2));
}

}  // namespace
}  // namespace evenkeel::store
