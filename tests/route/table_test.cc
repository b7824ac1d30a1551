#include "evenkeel/route/table.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "evenkeel/route/shard_map.h"
#include "tests/route/histories.h"

namespace evenkeel::route {
namespace {

const WorkloadId t1("t1");

ViewBucket bucket(std::uint32_t number, std::uint32_t shards, std::vector<ShardView> views) {
  return {.workload = t1, .bucket = Bucket(number), .shards_in_all = shards, .shards = std::move(views)};
}
ShardView view(std::uint32_t shard, std::uint64_t epoch, const char* leader) {
  return {.shard = ShardIndex(shard), .version = {Epoch(epoch), Change(0)}, .leader = NodeId(leader)};
}
LiveDocument live(const std::string& node, std::string address = "10.0.0.1:1", std::string zone = "") {
  return {.node = NodeId(node), .address = std::move(address), .zone = std::move(zone)};
}

// The documents of a few workloads, by bucket.
std::vector<std::vector<ViewBucket>> random_histories(Rng& rng) {
  std::vector<std::vector<ViewBucket>> histories;
  for (const char* workload : {"t1", "t2"}) {
    const auto buckets = static_cast<std::uint32_t>(1 + rng.below(4));
    const auto shards = static_cast<std::uint32_t>(1 + rng.below(12));
    for (std::uint32_t b = 0; b < buckets; ++b) histories.push_back(random_bucket(rng, WorkloadId(workload), b, buckets, shards));
  }
  return histories;
}

Table random_table(Rng& rng) {
  TableUpdate update;
  for (const auto& history : random_histories(rng)) update.buckets.push_back(history.back());
  for (auto nodes = rng.below(10); nodes > 0; --nodes) update.live.push_back(random_live(rng));
  Table table = Table().with(update);
  for (auto nodes = rng.below(3); nodes > 0; --nodes) table = table.without_live(random_node(rng));
  return table;
}

RC_GTEST_PROP(Table, IsTheSameInWhicheverOrderDocumentsCome, (std::uint64_t seed)) {
  Rng rng(seed);
  const auto histories = random_histories(rng);
  std::vector<std::size_t> read(histories.size(), 0);  // documents of each bucket that came in order
  Table table;
  TableUpdate together;
  for (bool more = true; more;) {
    const std::size_t which = rng.below(histories.size());
    const auto& history = histories[which];
    if (read[which] > 0 && rng.chance(1, 3)) {  // an old one again
      together.buckets.push_back(history[rng.below(read[which])]);
    } else if (read[which] < history.size()) {
      read[which] += 1 + rng.below(history.size() - read[which]);  // some are left out
      together.buckets.push_back(history[read[which] - 1]);
    }
    more = std::ranges::any_of(histories, [&](const auto& h) { return read[&h - histories.data()] < h.size(); });
    if (more && rng.chance(1, 3)) continue;
    if (together.buckets.size() == 1) {
      table = table.with(together.buckets[0]);
    } else {
      table = table.with(together);
    }
    together.buckets.clear();
  }
  Table last;
  for (const auto& history : histories) last = last.with(history.back());
  RC_ASSERT(table == last);
  RC_ASSERT(format_map(table, MapFormat::json) == format_map(last, MapFormat::json));
  RC_ASSERT(table.changed_since(last).empty());
  for (const auto& history : histories) {
    for (const ShardView& expected : history.back().shards) {
      const ShardView* found = table.find({history.back().workload, expected.shard});
      RC_ASSERT(found != nullptr);
      RC_ASSERT(*found == expected);
    }
  }
}

RC_GTEST_PROP(Table, OldDocumentsChangeNothing, (std::uint64_t seed)) {
  Rng rng(seed);
  const auto histories = random_histories(rng);
  Table table;
  for (const auto& history : histories) table = table.with(history.back());
  for (const auto& history : histories) {
    for (const ViewBucket& document : history) RC_ASSERT(table.with(document).shares_all(table));
  }
}

RC_GTEST_PROP(Table, ChangesArePlainDifferences, (std::uint64_t seed)) {
  Rng rng(seed);
  const auto histories = random_histories(rng);
  Table before;
  Table after;
  for (const auto& history : histories) {
    const std::size_t first = rng.below(history.size());
    if (rng.chance(3, 4)) before = before.with(history[first]);
    if (rng.chance(1, 2)) after = before;  // shares some
    if (rng.chance(3, 4)) after = after.with(history[first + rng.below(history.size() - first)]);
    if (rng.chance(1, 4)) after = after.without(history[0].workload, history[0].bucket);
  }
  std::vector<ShardId> expected;
  for (const char* workload : {"t1", "t2"}) {
    for (std::uint32_t shard = 0; shard < 12; ++shard) {
      const ShardId id{WorkloadId(workload), ShardIndex(shard)};
      const ShardView* was = before.find(id);
      const ShardView* now = after.find(id);
      const bool newer = now != nullptr && (was == nullptr || was->version < now->version);
      if (newer || (was != nullptr && now == nullptr)) expected.push_back(id);
    }
  }
  RC_ASSERT(after.changed_since(before) == expected);
}

std::size_t common_parts(const std::string& a, const std::string& b) {
  std::size_t common = 0;
  for (std::size_t end = 1; end <= a.size(); ++end) {
    const bool whole = (end == a.size() || a[end] == '/') && (end == b.size() || (end < b.size() && b[end] == '/'));
    if (whole && a.substr(0, end) == b.substr(0, end)) ++common;
  }
  return common;
}

RC_GTEST_PROP(Table, PicksOnlyWhoServesInTheRoleNearestFirst, (std::uint64_t seed)) {
  Rng rng(seed);
  const Table table = random_table(rng);
  const std::string near = random_live(rng).zone;
  for (std::uint32_t shard = 0; shard < 12; ++shard) {
    const ShardId id{t1, ShardIndex(shard)};
    const ShardView* view = table.find(id);
    for (const Role role : {Role::leader, Role::follower, Role::any}) {
      std::set<NodeId> expected;
      if (view != nullptr && role != Role::follower && view->leader) expected.insert(*view->leader);
      for (const Peer& peer : view != nullptr && role != Role::leader ? view->others : std::vector<Peer>())
        expected.insert(peer.node);
      std::erase_if(expected, [&](const NodeId& node) { return table.endpoint(node) == nullptr; });

      const auto picks = table.picks(id, role, near, rng.next());
      RC_ASSERT(picks.size() == expected.size());
      std::pair best(true, std::size_t{100});
      for (const Picked& picked : picks) {
        RC_ASSERT(expected.erase(picked.node) == 1U);
        RC_ASSERT((view->leader == picked.node) == (picked.state == StateId("leader")));
        RC_ASSERT(picked.version == view->version);
        RC_ASSERT(picked.address == table.endpoint(picked.node)->address);
        const std::pair rank(table.live(picked.node), common_parts(near, table.endpoint(picked.node)->zone));
        RC_ASSERT(rank <= best);
        best = rank;
      }
      const auto salt = rng.next();
      const auto one = table.pick(id, role, near, salt);
      const auto all = table.picks(id, role, near, salt);
      RC_ASSERT(one.has_value() == !all.empty());
      if (one) RC_ASSERT(one->node == all[0].node);
    }
  }
}

RC_GTEST_PROP(Table, PicksByKeyAsByShard, (std::uint64_t seed, const std::string& key)) {
  Rng rng(seed);
  const Table table = random_table(rng);
  const auto shard = table.shard(t1, key);
  RC_ASSERT(shard == shard_of(key, table.shards(t1)));
  const auto by_key = table.pick(t1, key, Role::any);
  const auto by_shard = table.pick(ShardId{t1, *shard}, Role::any);
  RC_ASSERT(by_key.has_value() == by_shard.has_value());
  if (by_key) RC_ASSERT(by_key->node == by_shard->node);
  RC_ASSERT(!table.pick(WorkloadId("t9"), key, Role::any));
}

RC_GTEST_PROP(Table, IsReadBackFromItsFile, (std::uint64_t seed)) {
  Rng rng(seed);
  const Table table = random_table(rng);
  const std::string text = format_map(table, MapFormat::json);
  const auto again = parse_map(text, "map.json");
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == table);
  RC_ASSERT(format_map(*again, MapFormat::json) == text);
  RC_ASSERT(format_map(*again, MapFormat::rocksplicator) == format_map(table, MapFormat::rocksplicator));
}

// Shards move from bucket 0 to bucket 1 when their number is doubled; the two documents may come in either order, or together.
TEST(Table, KeepsShardsThatChangeTheirBucket) {
  const Table before = Table().with(bucket(0, 4, {view(0, 1, "n1"), view(1, 1, "n1"), view(2, 1, "n1"), view(3, 1, "n1")}));
  const ViewBucket low = bucket(0, 4, {view(0, 1, "n1"), view(2, 1, "n1")});
  const ViewBucket high = bucket(1, 4, {view(1, 2, "n2"), view(3, 1, "n1")});
  const Table expected = Table().with(low).with(high);
  EXPECT_EQ(before.with(low).with(high), expected);
  EXPECT_EQ(before.with(TableUpdate{.buckets = {low, high}}), expected);
  EXPECT_EQ(before.with(TableUpdate{.buckets = {high, low}}), expected);
  const Table both = before.with(high);  // each is in two buckets for a moment
  EXPECT_EQ(both.find({t1, ShardIndex(1)})->version.epoch, Epoch(2));
  EXPECT_EQ(both.find({t1, ShardIndex(3)})->version.epoch, Epoch(1));
  EXPECT_EQ(both.with(low), expected);
  EXPECT_EQ(both.changed_since(before), std::vector{(ShardId{t1, ShardIndex(1)})});
  // The old bucket's document, changed in another shard, does not bring the old leader back.
  const Table later = both.with(bucket(0, 4, {view(0, 5, "n5"), view(1, 1, "n1"), view(2, 1, "n1"), view(3, 1, "n1")}));
  EXPECT_EQ(later.find({t1, ShardIndex(1)})->version.epoch, Epoch(2));
  EXPECT_EQ(later.find({t1, ShardIndex(0)})->version.epoch, Epoch(5));
}

// Whichever bucket says it, and wherever the shard was before.
TEST(Table, TakesTheHighestVersionOfAShardInTwoBuckets) {
  const auto epoch = [](const Table& table) { return table.find({t1, ShardIndex(1)})->version.epoch.value(); };
  const auto both = [](std::uint64_t low, std::uint64_t high) {
    return TableUpdate{.buckets = {bucket(0, 2, {view(1, low, "n1")}), bucket(1, 2, {view(1, high, "n1")})}};
  };
  for (const Table& table : {Table().with(both(1, 5)), Table().with(both(5, 1)), Table().with(both(1, 1)).with(both(1, 5)),
                             Table().with(both(1, 1)).with(both(5, 1))}) {
    EXPECT_EQ(epoch(table), 5U);
    EXPECT_EQ(epoch(table.with(bucket(0, 2, {view(1, 7, "n1")}))), 7U);
    EXPECT_EQ(epoch(table.with(bucket(1, 2, {view(1, 7, "n1")}))), 7U);
    EXPECT_EQ(epoch(table.with(bucket(0, 2, {view(1, 4, "n1")}))), 5U);
    EXPECT_EQ(epoch(table.with(bucket(1, 2, {view(1, 4, "n1")}))), 5U);
  }
}

// No controller writes this. If one did, neither shard would go back.
TEST(Table, TakesTheHigherHalfOfADocument) {
  const Table before = Table().with(bucket(0, 2, {view(0, 3, "n1"), view(1, 3, "n1")}));
  const Table after = before.with(bucket(0, 2, {view(0, 4, "n2"), view(1, 2, "n2")}));
  EXPECT_EQ(after, Table().with(bucket(0, 2, {view(0, 4, "n2"), view(1, 3, "n1")})));
}

// What is not about versions is old too in an old document: which shards there are, and how keys find them.
TEST(Table, TakesNothingFromAnOldDocument) {
  ViewBucket old = bucket(0, 8, {view(0, 1, "n1"), view(1, 1, "n1")});
  old.key_map = KeyMap::range;
  const Table table = Table().with(old).with(bucket(0, 4, {view(0, 2, "n1")}));
  EXPECT_EQ(table.find({t1, ShardIndex(1)}), nullptr);
  EXPECT_TRUE(table.with(old).shares_all(table));
}

TEST(Table, TakesTheHighestNumberOfShards) {
  const Table before = Table().with(bucket(0, 2, {view(0, 1, "n1")})).with(bucket(1, 2, {view(1, 1, "n1")}));
  EXPECT_EQ(before.shards(t1), 2U);
  const Table split = before.with(bucket(0, 4, {view(0, 1, "n1"), view(2, 1, "n1")}));
  EXPECT_EQ(split.shards(t1), 4U);
  EXPECT_NE(split.find({t1, ShardIndex(2)}), nullptr);
  // Re-created with fewer: what is beyond the number is not known, whoever still says it.
  const Table smaller = split.with(bucket(0, 1, {view(0, 2, "n1"), view(2, 2, "n1")})).without(t1, Bucket(1));
  EXPECT_EQ(smaller.shards(t1), 1U);
  EXPECT_EQ(smaller.find({t1, ShardIndex(2)}), nullptr);
  EXPECT_NE(smaller.find({t1, ShardIndex(0)}), nullptr);
  EXPECT_EQ(smaller.changed_since(split),
            (std::vector{ShardId{t1, ShardIndex(0)}, ShardId{t1, ShardIndex(1)}, ShardId{t1, ShardIndex(2)}}));
}

TEST(Table, TakesAnotherKeyMapOfTheSameShards) {
  ViewBucket document = bucket(0, 2, {view(0, 1, "n1"), view(1, 1, "n1")});
  const Table before = Table().with(document);
  document.key_map = KeyMap::range;
  const Table after = before.with(document);
  EXPECT_EQ(after.sharding(t1), (Sharding{.shards = 2, .key_map = KeyMap::range}));
  EXPECT_EQ(after.shard(t1, "\xff"), ShardIndex(1));
  EXPECT_TRUE(after.changed_since(before).empty());
  EXPECT_FALSE(after == before);
}

TEST(Table, MapsNoKeyByAHashThatItDoesNotKnow) {
  ViewBucket document = bucket(0, 1, {view(0, 1, "n1")});
  document.hash_version = 2;
  const Table table = Table().with(document).with(live("n1"));
  EXPECT_EQ(table.shard(t1, "k"), std::nullopt);
  EXPECT_FALSE(table.pick(t1, "k", Role::any));
  EXPECT_TRUE(table.pick(ShardId{t1, ShardIndex(0)}, Role::any));
}

TEST(Table, ForgetsAWorkloadWithItsLastBucket) {
  const Table table = Table().with(bucket(0, 2, {view(0, 1, "n1")})).with(bucket(1, 2, {view(1, 1, "n1")}));
  EXPECT_TRUE(table.without(t1, Bucket(0)).has(t1));
  const Table none = table.without(t1, Bucket(0)).without(t1, Bucket(1));
  EXPECT_FALSE(none.has(t1));
  EXPECT_EQ(none, Table());
  EXPECT_TRUE(none.without(t1, Bucket(1)).shares_all(none));
  EXPECT_EQ(table.with(TableUpdate{.gone = {{t1, Bucket(0)}, {t1, Bucket(1)}}}), Table());
}

TEST(Table, SpreadsClientsOverWhoIsEquallyNear) {
  ShardView shard = view(0, 1, "n1");
  for (const char* node : {"n2", "n3", "n4"}) shard.others.push_back({NodeId(node), StateId("follower")});
  Table table = Table().with(bucket(0, 1, {shard}));
  for (const char* node : {"n1", "n2", "n3", "n4"})
    table = table.with(live(node, "10.0.0.1:1", std::string(node) == "n4" ? "b" : "a"));
  std::map<NodeId, int> picked;
  for (std::uint64_t salt = 0; salt < 3000; ++salt) ++picked[table.pick(ShardId{t1, ShardIndex(0)}, Role::any, "a", salt)->node];
  ASSERT_EQ(picked.size(), 3U);
  // A third each; five standard deviations are 129.
  for (const auto& [node, times] : picked) EXPECT_NEAR(times, 1000, 129) << node.str();
}

TEST(Table, DoesNotRememberEveryNodeThatEverWas) {
  Table table = Table().with(bucket(0, 1, {view(0, 1, "kept")})).with(live("kept")).without_live(NodeId("kept"));
  std::size_t known = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = fmt::format("pod-{}", i);
    table = table.with(live(name)).without_live(NodeId(name));
  }
  for (int i = 0; i < 1000; ++i) known += table.endpoint(NodeId(fmt::format("pod-{}", i))) != nullptr;
  EXPECT_LE(known, 64U);
  EXPECT_EQ(table.nodes(), std::vector{NodeId("kept")});
  EXPECT_EQ(table.pick(ShardId{t1, ShardIndex(0)}, Role::leader)->node, NodeId("kept"));
}

// While n shards become 2n: a key goes to the new shard if that is there, else to the one that it comes of. That is the one whose leader takes it: one that
// is split takes what is its own among 2n, one that is not what is its own among n.
TEST(Table, KnowsTheShardOfEachKeyWhileAWorkloadIsSplit) {
  constexpr std::uint32_t n = 4;
  for (std::uint32_t split = 0; split < 1u << n; ++split) {  // those that are split, as bits
    std::vector<ShardView> views;
    for (std::uint32_t s = 0; s < n; ++s) views.push_back(view(s, 1, "n1"));
    for (std::uint32_t s = 0; s < n; ++s) {
      if ((split >> s & 1u) != 0) views.push_back(view(n + s, 1, "n2"));
    }
    ViewBucket document = bucket(0, 2 * n, std::move(views));
    document.split_from = n;
    const Table table = Table().with(document).with(live("n1")).with(live("n2"));
    for (int i = 0; i < 200; ++i) {
      const std::string key = fmt::format("user-{}", i);
      const ShardIndex to = table.shard(t1, key).value();
      ASSERT_NE(table.find({t1, to}), nullptr) << key;
      const bool is_split = to.value() >= n || (split >> to.value() & 1u) != 0;
      EXPECT_EQ(shard_of(key, is_split ? 2 * n : n), to) << key;
      EXPECT_EQ(table.pick(t1, key, Role::leader)->shard, to) << key;
    }
  }
}

// Buckets are written one after the other, so that some may still say less than others; and the last to be written may have been written first.
TEST(Table, KnowsOfASplitByAnyOfItsBuckets) {
  ViewBucket first = bucket(0, 2, {view(0, 1, "n1")}), second = bucket(1, 4, {view(1, 1, "n1")});
  second.split_from = 2;
  const Sharding expected{.shards = 4, .split_from = 2};
  EXPECT_EQ(Table().with(first).with(second).sharding(t1), expected);
  EXPECT_EQ(Table().with(second).with(first).sharding(t1), expected);
  first.shards_in_all = 4;  // written when it was over
  EXPECT_EQ(Table().with(first).with(second).sharding(t1), expected);
  EXPECT_EQ(Table().with(second).with(first).sharding(t1), expected);
}

// A shard that a document names twice, or out of order, counts at its highest version.
TEST(Table, TakesDocumentsThatAreOutOfOrder) {
  const Table table = Table().with(bucket(0, 3, {view(2, 1, "n2"), view(0, 1, "n1"), view(0, 3, "n3"), view(0, 2, "n2")}));
  EXPECT_EQ(table, Table().with(bucket(0, 3, {view(0, 3, "n3"), view(2, 1, "n2")})));
}

}  // namespace
}  // namespace evenkeel::route
