// The allocator: what it promises, on small clusters that show it and on random ones that try to break it.

#include "evenkeel/place/allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

#include "evenkeel/base/rng.h"
#include "evenkeel/model/cluster_file.h"

namespace evenkeel::place {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const ResourceId cpu("cpu");
const ResourceId disk("disk");
const WorkloadId t1("t1");

Cluster read(std::string_view text) {
  auto cluster = parse_cluster(text, "c.yaml");
  EXPECT_TRUE(cluster.has_value()) << (cluster ? "" : cluster.error().format());
  return cluster ? *std::move(cluster) : Cluster{};
}

Cluster equal_nodes(std::uint32_t count, std::uint32_t zones = 0, std::uint32_t cores = 0) {
  Cluster cluster{.name = ClusterId("c")};
  for (std::uint32_t i = 0; i < count; ++i) {
    Node node{.name = NodeId(fmt::format("n{:03}", i)), .cores = cores};
    if (zones > 0) node.zone = fmt::format("dc{}", i % zones);
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

// All that can be seen of an allocator: equal means equal.
struct Seen {
  Cluster cluster;
  std::vector<NodeUsage> usage;
  friend bool operator==(const Seen&, const Seen&) = default;
};
Seen see(const Allocator& allocator) { return {allocator.observe(), allocator.usage()}; }

// The rows of a reservation by name.
std::string show(const Allocator& allocator, const Reservation& reservation) {
  std::string out;
  for (std::size_t shard = 0; shard < reservation.rows().size(); ++shard) {
    for (const Spot& spot : reservation.rows()[shard]) out += fmt::format("{}:{} ", allocator.node(spot.node).name, spot.core);
    out += "\n";
  }
  return out;
}

// Least and most replicas on a node.
std::pair<std::uint64_t, std::uint64_t> extremes(const Allocator& allocator) {
  const auto usage = allocator.usage();
  const auto [least, most] = std::ranges::minmax(usage, {}, &NodeUsage::replicas);
  return {least.replicas, most.replicas};
}

std::vector<std::string> names(const std::vector<std::pair<NodeId, std::string>>& reasons) {
  std::vector<std::string> out;
  for (const auto& [node, why] : reasons) out.push_back(fmt::format("{}: {}", node, why));
  return out;
}

TEST(Allocator, PlacesAWorkloadAndKeepsItOnceCommitted) {
  Allocator allocator(equal_nodes(6, 3));
  auto reserved = allocator.allocate({.name = t1, .shards = 4, .replicas = 3});
  ASSERT_TRUE(reserved.has_value());
  EXPECT_EQ(reserved->rows().size(), 4u);
  EXPECT_EQ(reserved->rows().cells(), 12u);
  EXPECT_THAT(allocator.observe().placement, IsEmpty()) << "it is not there before the commit";
  EXPECT_EQ(extremes(allocator), std::pair(2ul, 2ul)) << "but its place is taken";
  EXPECT_TRUE(reserved->commit().has_value());
  EXPECT_EQ(allocator.observe().placement.at(t1).cells(), 12u);
  EXPECT_THAT(check(allocator.observe()), IsEmpty());
  EXPECT_EQ(reserved->commit().error().code, Code::conflict) << "once";
}

TEST(Allocator, AReservationThatIsDroppedNeverWas) {
  Allocator allocator(equal_nodes(6, 3));
  const Seen before = see(allocator);
  {
    const auto reserved = allocator.allocate({.name = t1, .shards = 4, .replicas = 3, .load = {{cpu, Quantity(1)}}});
    ASSERT_TRUE(reserved.has_value());
    EXPECT_NE(see(allocator), before);
  }
  EXPECT_EQ(see(allocator), before);
  auto reserved = allocator.allocate({.name = t1, .shards = 4, .replicas = 3});
  auto other = std::move(reserved);
  reserved = allocator.allocate({.name = WorkloadId("t2"), .shards = 1});
  other->cancel();
  reserved->cancel();
  EXPECT_EQ(see(allocator), before);
}

TEST(Allocator, AReservationMayOutliveItsAllocator) {
  std::optional<Allocator> allocator(equal_nodes(3));
  auto reserved = allocator->allocate({.name = t1, .shards = 1});
  allocator.reset();
  EXPECT_FALSE(reserved->commit().has_value());
}

TEST(Allocator, SaysWhatIsWrongWithARequest) {
  Allocator allocator(equal_nodes(3));
  auto first = allocator.allocate({.name = t1, .shards = 1});
  EXPECT_EQ(allocator.allocate({.name = t1, .shards = 1}).error().code, Code::conflict) << "also before the commit";
  EXPECT_EQ(allocator.allocate({.name = WorkloadId("a/b"), .shards = 1}).error().code, Code::invalid);
  EXPECT_EQ(allocator.allocate({.name = WorkloadId("t2"), .shards = 1, .replicas = 0}).error().code, Code::invalid);
  EXPECT_EQ(allocator.allocate({.name = WorkloadId("t2"), .shards = 1, .spread = Spread{"planet", false}}).error().detail,
            "workloads.0.spread.level: there is no level \"planet\"");
  Workload pinned{.name = WorkloadId("t2"), .shards = 1};
  pinned.pinned.shards.emplace_back(0);
  pinned.pinned.nodes.push_back(std::vector{NodeIndex(0)});
  EXPECT_EQ(allocator.allocate(pinned).error().code, Code::invalid);
  EXPECT_EQ(allocator.allocate({.name = WorkloadId("t2"), .shards = 2'000'000'000}).error().code, Code::too_large);
  EXPECT_EQ(allocator.grow(t1, 1).error().code, Code::not_found) << "it is not committed";
  EXPECT_EQ(allocator.release(WorkloadId("none")).error().code, Code::not_found);
}

TEST(Allocator, RefusesWithTheBoundThatBinds) {
  Allocator allocator(read(R"(
cluster: c
settings: {replicas_per_core: 5}
nodes:
  - {name: n1, zone: dc1, labels: {disk: ssd}, capacity: {disk: 100}, cores: 1}
  - {name: n2, zone: dc1, labels: {disk: ssd}, capacity: {disk: 100}, used: {disk: 90}}
  - {name: n3, zone: dc2, status: down}
  - {name: n4, zone: dc2, taints: [{key: dedicated, value: db}], replicas_max: 3}
)"));
  const Seen before = see(allocator);
  const auto refused = [&](Workload request) {
    request.name = t1;
    auto answer = allocator.allocate(request);
    EXPECT_FALSE(answer.has_value());
    EXPECT_EQ(see(allocator), before);
    return answer ? NotAllocated{} : answer.error();
  };
  NotAllocated no = refused({.shards = 1, .replicas = 4});
  EXPECT_EQ(no.reason, RefusalReason::nodes);
  EXPECT_EQ(no.detail, "needs 4 nodes; 3 take replicas");
  EXPECT_TRUE(no.proved);
  no = refused({.shards = 1, .replicas = 3});
  EXPECT_EQ(no.reason, RefusalReason::labels);
  EXPECT_THAT(names(no.nodes), ElementsAre("n3: down", "n4: has taint dedicated=db, which is not tolerated"));
  no = refused({.shards = 1, .replicas = 2, .require = {{"disk", "ssd"}}, .spread = Spread{"zone", true}});
  EXPECT_EQ(no.reason, RefusalReason::spread);
  EXPECT_EQ(no.detail, "needs 2 domains of level zone; there are 1");
  no = refused({.shards = 4, .replicas = 3, .tolerate = {{"dedicated", std::nullopt}}});
  EXPECT_EQ(no.reason, RefusalReason::count);
  EXPECT_EQ(no.detail, "needs slots for 12 replicas; there is for 10");
  no = refused({.shards = 1, .replicas = 2, .load = {{disk, Quantity(6)}}});
  EXPECT_EQ(no.reason, RefusalReason::capacity);
  EXPECT_TRUE(no.proved);
  EXPECT_THAT(names(no.nodes),
              ElementsAre("n2: disk 90%+6% > 95%", "n3: down", "n4: has taint dedicated=db, which is not tolerated"));
}

TEST(Allocator, ABillionShardsAreRefusedAtOnce) {
  Allocator allocator(equal_nodes(1000, 3, 4));
  EXPECT_EQ(allocator.allocate({.name = t1, .shards = 1'000'000'000}).error().code, Code::too_large);
  EXPECT_EQ(allocator.allocate({.name = t1, .shards = 130'000'000}).error().reason, RefusalReason::count);
}

// Greedy choice alone would use up the small nodes and then find the large one twice for one shard.
TEST(Allocator, AlikeReplicasAreRefusedOnlyIfNoPlacementExists) {
  EXPECT_TRUE(rc::check("as counting says", [](std::uint64_t seed) {
    Rng rng(seed);
    const auto count = static_cast<std::uint32_t>(2 + rng.below(6));
    Cluster cluster = equal_nodes(count, rng.chance(1, 2) ? 3 : 0);
    std::vector<std::uint64_t> free;
    const bool by_load = rng.chance(1, 2);
    for (Node& node : cluster.nodes) {
      free.push_back(1 + rng.below(6));
      if (by_load) {
        node.capacity[disk] = Quantity(static_cast<std::int64_t>(free.back() * 10 + 9));
        node.hard_limit = Ratio::percent(100);
      } else {
        node.replicas_max = static_cast<std::uint32_t>(free.back());
      }
    }
    const bool hard = rng.chance(1, 2);
    Workload request{.name = t1,
                     .shards = static_cast<std::uint32_t>(1 + rng.below(8)),
                     .replicas = static_cast<std::uint32_t>(1 + rng.below(3)),
                     .spread = Spread{"zone", hard}};
    if (by_load) request.load[disk] = Quantity(10);
    std::map<std::string, std::uint64_t> units;
    for (std::size_t i = 0; i < cluster.nodes.size(); ++i)
      units[hard && !cluster.nodes[i].zone.empty() ? cluster.nodes[i].zone : cluster.nodes[i].name.str()] +=
          std::min<std::uint64_t>(free[i], request.shards);
    std::uint64_t fit = 0;
    for (const auto& [unit, room] : units) fit += std::min<std::uint64_t>(room, request.shards);

    Allocator allocator(cluster, {.seed = seed});
    const auto answer = allocator.allocate(request);
    RC_ASSERT(answer.has_value() == (fit >= std::uint64_t{request.shards} * request.replicas));
    RC_ASSERT(answer.has_value() || answer.error().proved);
  }));
}

TEST(Allocator, LevelsOverEqualNodes) {
  EXPECT_TRUE(rc::check("within one replica, whatever the requests", [](std::uint64_t seed) {
    Rng rng(seed);
    const auto count = static_cast<std::uint32_t>(3 + rng.below(20));
    Cluster cluster = equal_nodes(count);
    const bool load = rng.chance(1, 2);
    for (Node& node : cluster.nodes) node.capacity[cpu] = Quantity(1000);
    Allocator allocator(cluster, {.seed = seed});
    for (int i = 0; i < 8; ++i) {
      Workload request{.name = WorkloadId(fmt::format("t{}", i)),
                       .shards = static_cast<std::uint32_t>(rng.below(20)),
                       .replicas = static_cast<std::uint32_t>(1 + rng.below(3))};
      if (load) request.load[cpu] = Quantity(3);
      auto reserved = allocator.allocate(request);
      RC_ASSERT(reserved.has_value());
      RC_ASSERT(reserved->commit().has_value());
      const auto [least, most] = extremes(allocator);
      RC_ASSERT(most - least <= 1);
    }
  }));
}

TEST(Allocator, LevelsEachRequestAndThenTheWhole) {
  // n000 is empty, the others hold ten each: a large request is level by itself; small ones fill the gap.
  Cluster cluster = equal_nodes(5);
  for (Node& node : cluster.nodes) node.capacity[cpu] = Quantity(1000);
  cluster.workloads.push_back({.name = WorkloadId("old"), .shards = 40, .load = {{cpu, Quantity(1)}}});
  for (std::uint32_t i = 0; i < 40; ++i) cluster.placement[WorkloadId("old")].push_back(std::vector{NodeIndex(1 + i % 4)});
  Allocator allocator(cluster);
  auto large = allocator.allocate({.name = t1, .shards = 50, .load = {{cpu, Quantity(1)}}});
  const auto after_large = allocator.usage();
  EXPECT_EQ(after_large[0].replicas, 10u);
  EXPECT_EQ(after_large[1].replicas, 20u);
  std::vector<Reservation> kept;
  for (int i = 0; i < 10; ++i) {
    auto small = allocator.allocate({.name = WorkloadId(fmt::format("s{}", i)), .shards = 1, .load = {{cpu, Quantity(1)}}});
    ASSERT_TRUE(small.has_value());
    kept.push_back(*std::move(small));
  }
  EXPECT_EQ(extremes(allocator), std::pair(20ul, 20ul));
}

TEST(Allocator, FollowsCapacityAndPower) {
  Allocator allocator(read(R"(
cluster: c
nodes:
  - {name: a, capacity: {cpu: 100}}
  - {name: b, capacity: {cpu: 300}}
  - {name: c, capacity: {cpu: 200}, power: 0.5}
)"));
  auto large = allocator.allocate({.name = t1, .shards = 50, .load = {{cpu, Quantity(1)}}});
  ASSERT_TRUE(large.has_value());
  const auto usage = allocator.usage();
  EXPECT_EQ(usage[0].replicas, 10u);
  EXPECT_EQ(usage[1].replicas, 30u);
  EXPECT_EQ(usage[2].replicas, 10u);
  std::vector<Reservation> kept;
  for (int i = 0; i < 50; ++i)
    kept.push_back(*allocator.allocate({.name = WorkloadId(fmt::format("s{}", i)), .shards = 1, .load = {{cpu, Quantity(1)}}}));
  EXPECT_NEAR(static_cast<double>(allocator.usage()[1].replicas), 60, 2);
}

TEST(Allocator, AvoidsWhatItIsAskedToWhereItCan) {
  Cluster cluster = equal_nodes(4);
  cluster.nodes[2].taints.push_back({.key = "old", .effect = Taint::Effect::avoid});
  cluster.nodes[0].replicas_max = 20;
  Allocator allocator(cluster);
  auto large = allocator.allocate({.name = t1, .shards = 30});
  EXPECT_EQ(allocator.usage()[2].replicas, 0u);
  auto small = allocator.allocate({.name = WorkloadId("t2"), .shards = 1});
  EXPECT_EQ(allocator.usage()[2].replicas, 0u);
  EXPECT_TRUE(allocator.allocate({.name = WorkloadId("t3"), .shards = 3, .replicas = 4}).has_value())
      << "but no request is refused for it";
  auto tolerant = allocator.allocate({.name = WorkloadId("t4"), .shards = 1, .tolerate = {{"old", std::nullopt}}});
  EXPECT_EQ(allocator.usage()[2].replicas, 1u) << "the least full";
}

TEST(Allocator, EveryPairOfNodesSharesAboutEquallyManyShards) {
  for (const bool one_by_one : {false, true}) {
    Allocator allocator(equal_nodes(10));
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> shared;
    std::vector<Reservation> kept;
    for (int i = 0; i < (one_by_one ? 4500 : 1); ++i) {
      auto reserved =
          allocator.allocate({.name = WorkloadId(fmt::format("t{}", i)), .shards = one_by_one ? 1u : 4500u, .replicas = 3});
      ASSERT_TRUE(reserved.has_value());
      for (std::size_t shard = 0; shard < reserved->rows().size(); ++shard) {
        for (const Spot& a : reserved->rows()[shard]) {
          for (const Spot& b : reserved->rows()[shard]) {
            if (a.node < b.node) ++shared[{a.node.value(), b.node.value()}];
          }
        }
      }
      kept.push_back(*std::move(reserved));
    }
    ASSERT_EQ(shared.size(), 45u);
    for (const auto& [pair, count] : shared) EXPECT_NEAR(count, 300, 100) << pair.first << " " << pair.second;
  }
}

TEST(Allocator, LevelsLeaders) {
  Cluster cluster = equal_nodes(6, 3);
  cluster.nodes[5].leaders = false;
  Allocator allocator(cluster);
  auto reserved = allocator.allocate({.name = t1, .shards = 100, .replicas = 3, .leader_load = {{cpu, Quantity(1)}}});
  ASSERT_TRUE(reserved.has_value());
  const auto usage = allocator.usage();
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(static_cast<double>(usage[i].leaders), 20, 1) << i;
  EXPECT_EQ(usage[5].leaders, 0u);
}

TEST(Allocator, ANodeThatMayNotLeadLeadsIfNobodyElseCan) {
  Cluster cluster = equal_nodes(2);
  cluster.nodes[0].status = NodeStatus::no_leaders;
  Allocator allocator(cluster);
  auto both = allocator.allocate({.name = t1, .shards = 3, .replicas = 2});
  EXPECT_EQ(allocator.usage()[0].leaders, 0u);
  auto other = allocator.allocate({.name = WorkloadId("t2"), .shards = 2, .replicas = 1});
  EXPECT_EQ(allocator.usage()[0].leaders, 0u) << "a single replica goes to who may lead";
  cluster.nodes[1].leaders = false;
  Allocator none(cluster);
  EXPECT_TRUE(none.allocate({.name = t1, .shards = 3, .replicas = 2}).has_value());
}

TEST(Allocator, ALeaderFitsWithWhatItCarriesOnTop) {
  Cluster cluster = equal_nodes(3);
  for (Node& node : cluster.nodes) node.capacity[cpu] = Quantity(node.name.str() == "n001" ? 100 : 10);
  Allocator allocator(cluster);
  auto reserved = allocator.allocate(
      {.name = t1, .shards = 8, .replicas = 3, .load = {{cpu, Quantity(1)}}, .leader_load = {{cpu, Quantity(9)}}});
  ASSERT_TRUE(reserved.has_value());
  EXPECT_EQ(allocator.usage()[1].leaders, 8u);
}

TEST(Allocator, ChoosesCores) {
  Cluster cluster = equal_nodes(1, 0, 4);
  cluster.settings.core0_reserve = 2;
  Allocator allocator(cluster);
  auto first = allocator.allocate({.name = t1, .shards = 6});
  EXPECT_EQ(show(allocator, *first), "n000:1 \nn000:2 \nn000:3 \nn000:1 \nn000:2 \nn000:3 \n");
  // Core 0 with its reserve is no longer ahead, and has the fewest of all.
  auto second = allocator.allocate({.name = WorkloadId("t2"), .shards = 2});
  EXPECT_EQ(show(allocator, *second), "n000:0 \nn000:1 \n");
  EXPECT_THAT(allocator.usage()[0].cores, ElementsAre(1, 3, 2, 2));
}

TEST(Allocator, NoCoreHoldsMoreThanItMay) {
  Cluster cluster = equal_nodes(1, 0, 3);
  cluster.settings.replicas_per_core = 4;
  cluster.settings.core0_reserve = 3;
  Allocator allocator(cluster);
  std::vector<Reservation> kept;
  for (int i = 0; i < 9; ++i) {
    auto one = allocator.allocate({.name = WorkloadId(fmt::format("t{}", i)), .shards = 1});
    ASSERT_TRUE(one.has_value()) << i;
    kept.push_back(*std::move(one));
  }
  EXPECT_THAT(allocator.usage()[0].cores, ElementsAre(1, 4, 4));
  const WorkloadId other("other");
  EXPECT_EQ(allocator.allocate({.name = other, .shards = 1}).error().reason, RefusalReason::count);
  EXPECT_TRUE(allocator.allocate({.name = other, .shards = 1, .system = true}).has_value()) << "the limit is not the system's";
}

TEST(Allocator, Grows) {
  Allocator allocator(equal_nodes(5, 0, 2));
  ASSERT_TRUE(allocator.allocate({.name = t1, .shards = 3, .replicas = 2})->commit().has_value());
  auto more = allocator.grow(t1, 2);
  ASSERT_TRUE(more.has_value());
  EXPECT_EQ(more->first_shard(), ShardIndex(3));
  EXPECT_EQ(allocator.grow(t1, 1).error().code, Code::conflict);
  EXPECT_TRUE(more->commit().has_value());
  EXPECT_EQ(allocator.row({t1, ShardIndex(4)}).size(), 2u);
  EXPECT_EQ(extremes(allocator), std::pair(2ul, 2ul));
  EXPECT_THAT(check(allocator.observe()), IsEmpty());
}

TEST(Allocator, ReallocatesWhatLeavesANode) {
  Allocator allocator(equal_nodes(6, 3, 2));
  const Workload request{.name = t1,
                         .shards = 30,
                         .replicas = 3,
                         .load = {{cpu, Quantity(1)}},
                         .leader_load = {{cpu, Quantity(2)}},
                         .spread = Spread{"zone", true}};
  ASSERT_TRUE(allocator.allocate(request)->commit().has_value());
  Node node = allocator.node(NodeIndex(4));
  node.status = NodeStatus::draining;
  ASSERT_TRUE(allocator.change_node(node).has_value());
  EXPECT_EQ(allocator.remove_node(node.name).error().code, Code::conflict);
  const auto shards = allocator.shards_on(node.name);
  ASSERT_FALSE(shards.empty());
  for (const ShardId& shard : shards) {
    const Seen before = see(allocator);
    const auto old = allocator.row(shard);
    {
      auto dropped = allocator.reallocate(shard, std::vector{node.name});
      ASSERT_TRUE(dropped.has_value());
      EXPECT_EQ(allocator.observe().moving.size(), 1u);
      EXPECT_EQ(allocator.reallocate(shard, std::vector{node.name}).error().code, Code::conflict);
    }
    EXPECT_EQ(see(allocator), before);
    auto move = allocator.reallocate(shard, std::vector{node.name});
    ASSERT_TRUE(move.has_value());
    EXPECT_TRUE(move->commit().has_value());
    const auto now = allocator.row(shard);
    EXPECT_EQ(now.size(), 3u);
    EXPECT_EQ(std::ranges::count(now, NodeIndex(1), &Spot::node), 1) << "the other node of its zone";
    if (old.front().node != NodeIndex(4)) {
      EXPECT_EQ(now.front(), old.front()) << "the leader stays";
    }
  }
  EXPECT_EQ(allocator.usage()[4].replicas, 0u);
  EXPECT_EQ(allocator.usage()[4].leaders, 0u);
  EXPECT_THAT(allocator.usage()[4].load, IsEmpty());
  EXPECT_TRUE(allocator.remove_node(node.name).has_value());
  EXPECT_THAT(check(allocator.observe()), IsEmpty());
  EXPECT_EQ(allocator.observe().nodes.size(), 5u);
  Quantity sum;
  for (const NodeUsage& usage : allocator.usage()) sum += usage.load.at(cpu);
  EXPECT_EQ(sum, Quantity(30 * 3 + 30 * 2));
  EXPECT_EQ(allocator.reallocate({t1, ShardIndex(0)}, std::vector{NodeId("none")}).error().code, Code::not_found);
}

TEST(Allocator, SaysWhyAReplicaCannotMove) {
  Allocator allocator(equal_nodes(3));
  ASSERT_TRUE(allocator.allocate({.name = t1, .shards = 1, .replicas = 3})->commit().has_value());
  const auto no = allocator.reallocate({t1, ShardIndex(0)}, std::vector{NodeId("n000")});
  EXPECT_EQ(no.error().reason, RefusalReason::nodes);
  EXPECT_EQ(no.error().detail, "needs 1 other nodes; 0 take replicas");
  EXPECT_THAT(names(no.error().nodes), ElementsAre("n000: is to be left", "n001: holds the shard", "n002: holds the shard"));
}

TEST(Allocator, TakesOverACluster) {
  const Cluster cluster = read(R"(
cluster: c
nodes:
  - {name: "n[1-4]", cores: 2, capacity: {disk: 100}}
workloads:
  - {name: t1, shards: 2, replicas: 2, load: {disk: 10}, leader_load: {cpu: 1}, shard_loads: {1: {disk: 30}}}
  - {name: later, shards: 1}
placement:
  t1: [[n1, n2], [n2, n3]]
cores:
  t1: [[1, 0], [1, 1]]
moving:
  - {workload: t1, shard: 0, from: n1, to: n4}
)");
  Allocator allocator(cluster);
  EXPECT_EQ(allocator.observe(), cluster);
  const auto usage = allocator.usage();
  EXPECT_EQ(usage[0].load, (Amounts{{disk, Quantity(10)}, {cpu, Quantity(1)}}));
  EXPECT_EQ(usage[1].load, (Amounts{{disk, Quantity(40)}, {cpu, Quantity(1)}}));
  EXPECT_EQ(usage[3].load, (Amounts{{disk, Quantity(10)}, {cpu, Quantity(1)}})) << "both ends count while it moves";
  auto moves = allocator.take_moving();
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_THAT(allocator.take_moving(), IsEmpty());
  EXPECT_EQ(show(allocator, moves[0]), "n4:1 n2:0 \n");
  EXPECT_TRUE(moves[0].commit().has_value());
  EXPECT_EQ(allocator.usage()[0].replicas, 0u);
  EXPECT_THAT(allocator.observe().moving, IsEmpty());
  EXPECT_TRUE(allocator.allocate({.name = WorkloadId("later"), .shards = 1})->commit().has_value());
}

TEST(Allocator, ReleasesWhatItHeldAndEndsItsReservations) {
  Allocator allocator(equal_nodes(5));
  const Seen before = see(allocator);
  ASSERT_TRUE(allocator.allocate({.name = t1, .shards = 3, .replicas = 2})->commit().has_value());
  auto more = allocator.grow(t1, 2);
  auto move =
      allocator.reallocate({t1, ShardIndex(0)}, std::vector{allocator.node(allocator.row({t1, ShardIndex(0)})[0].node).name});
  ASSERT_TRUE(more.has_value() && move.has_value());
  EXPECT_TRUE(allocator.release(ShardId{t1, ShardIndex(0)}).has_value());
  EXPECT_EQ(move->commit().error().code, Code::conflict);
  EXPECT_THAT(allocator.row({t1, ShardIndex(0)}), IsEmpty());
  EXPECT_TRUE(allocator.release(t1).has_value());
  EXPECT_EQ(more->commit().error().code, Code::conflict);
  EXPECT_EQ(see(allocator), before);
}

TEST(Allocator, NodesComeAndGo) {
  Allocator allocator(equal_nodes(2));
  EXPECT_EQ(allocator.allocate({.name = t1, .shards = 1, .replicas = 3}).error().reason, RefusalReason::nodes);
  EXPECT_EQ(allocator.add_node({.name = NodeId("n000")}).error().code, Code::conflict);
  EXPECT_EQ(allocator.add_node({.name = NodeId("a b")}).error().code, Code::invalid);
  EXPECT_EQ(*allocator.add_node({.name = NodeId("new")}), NodeIndex(2));
  EXPECT_TRUE(allocator.allocate({.name = t1, .shards = 1, .replicas = 3}).has_value());
  EXPECT_TRUE(allocator.remove_node(NodeId("n000")).has_value());
  EXPECT_EQ(allocator.remove_node(NodeId("n000")).error().code, Code::not_found);
  EXPECT_EQ(*allocator.add_node({.name = NodeId("n000")}), NodeIndex(3)) << "no number is given twice";
  EXPECT_EQ(allocator.change_node({.name = NodeId("none")}).error().code, Code::not_found);
}

// A random cluster with limits of all kinds, and requests that press against them.
Cluster limited_cluster(Rng& rng) {
  Cluster cluster{.name = ClusterId("c")};
  cluster.settings.replicas_per_core = static_cast<std::uint32_t>(rng.below(8));
  cluster.settings.core0_reserve = static_cast<std::uint32_t>(rng.below(4));
  const std::uint64_t zones = rng.below(5);
  for (std::uint64_t i = 0, count = 1 + rng.below(14); i < count; ++i) {
    Node node{.name = NodeId(fmt::format("n{}", i)), .cores = static_cast<std::uint32_t>(rng.below(4))};
    if (zones > 0 && rng.chance(9, 10)) node.zone = fmt::format("dc{}/r{}", rng.below(zones), rng.below(3));
    if (rng.chance(3, 4)) node.capacity[cpu] = Quantity(static_cast<std::int64_t>(rng.below(60)));
    if (rng.chance(1, 2)) node.capacity[disk] = Quantity(static_cast<std::int64_t>(10 + rng.below(90)));
    if (rng.chance(1, 4)) node.used[cpu] = Quantity(static_cast<std::int64_t>(rng.below(20)));
    if (rng.chance(1, 6)) node.power = Quantity::from_nano(500'000'000);
    if (rng.chance(1, 4)) node.replicas_max = static_cast<std::uint32_t>(1 + rng.below(9));
    if (rng.chance(1, 3)) node.labels["disk"] = "ssd";
    if (rng.chance(1, 8)) node.taints.push_back({.key = "dedicated", .value = "db"});
    if (rng.chance(1, 10)) node.taints.push_back({.key = "old", .effect = Taint::Effect::avoid});
    if (rng.chance(1, 5)) node.status = static_cast<NodeStatus>(rng.below(5));
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

Workload random_request(Rng& rng, int number) {
  Workload request{.name = WorkloadId(fmt::format("t{}", number)),
                   .shards = static_cast<std::uint32_t>(rng.below(12)),
                   .replicas = static_cast<std::uint32_t>(1 + rng.below(4))};
  if (rng.chance(2, 3)) request.load[cpu] = Quantity(static_cast<std::int64_t>(rng.below(5)));
  if (rng.chance(1, 3)) request.load[disk] = Quantity(static_cast<std::int64_t>(1 + rng.below(9)));
  if (rng.chance(1, 4)) request.leader_load[cpu] = Quantity(static_cast<std::int64_t>(1 + rng.below(3)));
  if (rng.chance(1, 5)) request.require["disk"] = "ssd";
  if (rng.chance(1, 5)) request.tolerate.push_back({"dedicated", std::nullopt});
  if (rng.chance(1, 2)) request.spread = Spread{rng.chance(1, 2) ? "zone" : "rack", rng.chance(1, 2)};
  if (rng.chance(1, 4)) {
    request.shard_loads.resources = {cpu};
    for (std::uint32_t i = 0; i < request.shards; i += 2) {
      request.shard_loads.shards.emplace_back(i);
      request.shard_loads.values.push_back(Quantity(static_cast<std::int64_t>(1 + rng.below(9))));
    }
  }
  request.system = rng.chance(1, 6);
  return request;
}

std::string domain(const Node& node, const std::string& level) {
  if (node.zone.empty()) return "/" + node.name.str();
  return level == "rack" ? node.zone : node.zone.substr(0, node.zone.find('/'));
}

// What every reservation keeps, and every node.
void expect_rules(const Allocator& allocator, const Workload& request, const Reservation& reservation) {
  const Spread spread = request.spread.value_or(Spread{});
  std::set<std::string> all;
  for (std::uint32_t i = 0; i < 14; ++i) {
    if (i >= allocator.usage().size()) break;
    const Node& node = allocator.node(NodeIndex(i));
    const bool tainted = request.tolerate.empty() && std::ranges::any_of(node.taints, [](const Taint& taint) {
                           return taint.effect == Taint::Effect::refuse;
                         });
    if ((node.status == NodeStatus::up || node.status == NodeStatus::no_leaders) && !tainted &&
        (request.require.empty() || node.labels.contains("disk")))
      all.insert(domain(node, spread.level));
  }
  for (std::size_t shard = 0; shard < reservation.rows().size(); ++shard) {
    const auto row = reservation.rows()[shard];
    RC_ASSERT(row.size() == request.replicas);
    std::set<NodeIndex> nodes;
    std::set<std::string> domains;
    for (const Spot& spot : row) {
      const Node& node = allocator.node(spot.node);
      nodes.insert(spot.node);
      domains.insert(domain(node, spread.level));
      RC_ASSERT(node.status == NodeStatus::up || node.status == NodeStatus::no_leaders);
      RC_ASSERT(all.contains(domain(node, spread.level)));
      RC_ASSERT(spot.core.value() < std::max(1u, node.cores));
    }
    RC_ASSERT(nodes.size() == row.size());
    RC_ASSERT(!spread.hard || domains.size() == row.size());
  }
}

void expect_limits(const Allocator& allocator) {
  const Cluster cluster = allocator.observe();
  std::map<ResourceId, std::pair<Quantity, std::int64_t>> named;
  for (const Node& node : cluster.nodes) {
    for (const auto& [resource, amount] : node.capacity) {
      named[resource].first += amount;
      ++named[resource].second;
    }
  }
  for (const NodeUsage& usage : allocator.usage()) {
    const auto found = std::ranges::find(cluster.nodes, usage.name, &Node::name);
    const Node& node = *found;
    const Settings& settings = cluster.settings;
    if (node.cores > 0 && settings.replicas_per_core > 0)
      RC_ASSERT(usage.counted + std::min(settings.core0_reserve, node.cores * settings.replicas_per_core) <=
                std::uint64_t{node.cores} * settings.replicas_per_core);
    if (node.replicas_max > 0) RC_ASSERT(usage.counted <= node.replicas_max);
    for (const auto& [resource, amount] : usage.load) {
      if (!named.contains(resource)) continue;
      const Quantity mean = Quantity::from_nano(named[resource].first.nano() / named[resource].second);
      const Quantity capacity = node.capacity.contains(resource) ? node.capacity.at(resource) : mean;
      const Quantity all = amount + (node.used.contains(resource) ? node.used.at(resource) : Quantity());
      RC_ASSERT(all * 100 <= capacity * 95);
    }
  }
}

TEST(Allocator, KeepsEveryRuleAndUndoesExactly) {
  EXPECT_TRUE(rc::check("whatever is asked", [](std::uint64_t seed) {
    Rng rng(seed);
    Allocator allocator(limited_cluster(rng), {.seed = seed});
    std::vector<Reservation> open;
    for (int i = 0; i < 12; ++i) {
      const Workload request = random_request(rng, i);
      const Seen before = see(allocator);
      auto reserved = allocator.allocate(request);
      if (!reserved) {
        RC_ASSERT(see(allocator) == before);
        RC_ASSERT(!reserved.error().detail.empty());
        continue;
      }
      expect_rules(allocator, request, *reserved);
      expect_limits(allocator);
      switch (rng.below(4)) {
        case 0:
          reserved->cancel();
          RC_ASSERT(see(allocator) == before);
          break;
        case 1:
          open.push_back(*std::move(reserved));
          break;
        default:
          RC_ASSERT(reserved->commit().has_value());
      }
    }
    open.clear();
    // Every replica moves, is dropped, moves again; then all is given back.
    const Cluster placed = allocator.observe();
    for (const auto& [workload, rows] : placed.placement) {
      for (std::uint32_t shard = 0; shard < rows.size(); ++shard) {
        const std::vector leaving{allocator.node(rows[shard][rng.below(rows[shard].size())]).name};
        const Seen before = see(allocator);
        auto move = allocator.reallocate({workload, ShardIndex(shard)}, leaving);
        if (move) {
          expect_limits(allocator);
          move->cancel();
        }
        RC_ASSERT(see(allocator) == before);
        move = allocator.reallocate({workload, ShardIndex(shard)}, leaving);
        if (move) RC_ASSERT(move->commit().has_value());
        RC_ASSERT(allocator.row({workload, ShardIndex(shard)}).size() == rows[shard].size());
      }
    }
    RC_ASSERT(check(allocator.observe()).empty());
    Allocator again(allocator.observe());
    RC_ASSERT(see(again) == see(allocator));
    for (const auto& [workload, rows] : placed.placement) RC_ASSERT(allocator.release(workload).has_value());
    for (const NodeUsage& usage : allocator.usage()) RC_ASSERT(usage.replicas == 0 && usage.leaders == 0 && usage.load.empty());
  }));
}

TEST(Allocator, TheOrderOfNodesDoesNotMatter) {
  EXPECT_TRUE(rc::check("for random clusters", [](std::uint64_t seed) {
    Rng rng(seed);
    Cluster cluster = limited_cluster(rng);
    Cluster other = cluster;
    rng.shuffle(std::span(other.nodes));
    Allocator a(cluster, {.seed = seed}), b(other, {.seed = seed});
    std::vector<Reservation> kept;
    for (int i = 0; i < 6; ++i) {
      const Workload request = random_request(rng, i);
      auto in_a = a.allocate(request), in_b = b.allocate(request);
      RC_ASSERT(in_a.has_value() == in_b.has_value());
      if (in_a) {
        RC_ASSERT(show(a, *in_a) == show(b, *in_b));
        kept.push_back(*std::move(in_a));
        kept.push_back(*std::move(in_b));
      } else {
        RC_ASSERT(in_a.error() == in_b.error());
      }
    }
  }));
}

// Views are kept for the kinds of requests seen lately; which are kept must not show.
TEST(Allocator, WhatItRemembersDoesNotShow) {
  Cluster cluster = equal_nodes(9, 3);
  for (Node& node : cluster.nodes) node.capacity[cpu] = Quantity(100'000);
  Allocator a(cluster), b(cluster);
  const auto request = [](int i) {
    return Workload{.name = WorkloadId(fmt::format("t{}", i)), .shards = 2, .replicas = 2, .load = {{cpu, Quantity(1 << i % 9)}}};
  };
  std::vector<Reservation> kept;
  for (int i = 0; i < 40; ++i) {
    kept.push_back(*a.allocate(request(i)));
    static_cast<void>(b.allocate({.name = WorkloadId("x"), .shards = 1, .load = {{cpu, Quantity(1 << i % 5)}}}));
    kept.push_back(*b.allocate(request(i)));
    EXPECT_EQ(show(a, kept[kept.size() - 2]), show(b, kept.back()));
  }
}

}  // namespace
}  // namespace evenkeel::place
