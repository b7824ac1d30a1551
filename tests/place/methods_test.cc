// Placement without coordination. The values named golden are part of what users store and compute elsewhere: they hold forever, and a
// change that breaks one is wrong, whatever it gains.

#include "evenkeel/place/methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "evenkeel/base/hash.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/model/cluster_file.h"
#include "evenkeel/place/detail/methods_cost.h"

namespace evenkeel::place {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Method methods[] = {Method::rendezvous, Method::crush};

std::vector<DrawNode> some_nodes(std::uint32_t count, std::uint32_t zones, std::uint32_t racks) {
  std::vector<DrawNode> nodes;
  for (std::uint32_t i = 0; i < count; ++i) {
    DrawNode node{.name = NodeId(fmt::format("n{}", i))};
    if (zones > 0) node.zone = fmt::format("dc{}", i % zones);
    if (zones > 0 && racks > 0) node.zone += fmt::format("/r{}", i / zones % racks);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<std::string> names(const Draw& draw, const std::vector<std::uint32_t>& row) {
  std::vector<std::string> out;
  for (const std::uint32_t node : row) out.push_back(draw.nodes()[node].name.str());
  return out;
}

std::vector<std::string> pick(const Draw& draw, std::string_view key, std::uint32_t replicas) {
  return names(draw, draw.pick(key, replicas));
}

std::set<std::string> as_set(const std::vector<std::string>& row) { return {row.begin(), row.end()}; }

// Those of `a` that are not in `b`.
std::set<std::string> without(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::set<std::string> out = as_set(a);
  for (const auto& name : b) out.erase(name);
  return out;
}

TEST(MethodCost, IsTheLogarithm) {
  Rng rng(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t hash = rng.next() >> rng.below(64);
    const long double exact = -std::log(static_cast<long double>(hash | 1) / 18446744073709551616.0L);
    const long double found = static_cast<long double>(detail::cost(hash)) / static_cast<long double>(1ull << detail::cost_bits);
    ASSERT_NEAR(static_cast<double>(found - exact), 0, 1e-15) << hash;
    ASSERT_GE(detail::cost(hash), detail::cost_floor(hash)) << hash;
  }
}

TEST(MethodCost, GoldenValuesForever) {
  EXPECT_EQ(detail::cost(0), 6393154322601327796u);
  EXPECT_EQ(detail::cost(1ull << 63), 99893036290645746u);
  EXPECT_EQ(detail::cost(0x0123456789abcdef), 780542328101408638u);
  EXPECT_EQ(detail::cost(0xfedcba9876543210), 641939538356693u);
  EXPECT_EQ(detail::cost(~0ull - 0xffff), 512u);
  EXPECT_EQ(detail::cost(~0ull), 0u);
}

TEST(Methods, HaveNames) {
  for (const Method method : methods) EXPECT_EQ(parse_method(name(method)), method);
  EXPECT_EQ(parse_method("Rendezvous"), std::nullopt);
}

TEST(Methods, GoldenPicksForever) {
  auto nodes = some_nodes(12, 3, 2);
  nodes[1].weight = 4;
  const auto show = [&](DrawOptions options) {
    const Draw draw(nodes, options);
    std::string out;
    for (const std::string_view key : {"t1/0", "t1/1", "user:17", ""})
      out += fmt::format("{}\n", fmt::join(pick(draw, key, 3), " "));
    return out;
  };
  EXPECT_EQ(show({.method = Method::rendezvous}), "n8 n3 n1\nn5 n1 n2\nn1 n8 n7\nn6 n3 n11\n");
  EXPECT_EQ(show({.method = Method::rendezvous, .depth = 1, .hard = true, .seed = 7}),
            "n11 n4 n0\nn3 n4 n11\nn1 n5 n0\nn0 n4 n11\n");
  EXPECT_EQ(show({.method = Method::crush}), "n7 n1 n6\nn10 n0 n4\nn1 n7 n5\nn2 n1 n10\n");
  EXPECT_EQ(show({.method = Method::crush, .depth = 2, .hard = true, .seed = 7}), "n5 n3 n1\nn5 n10 n0\nn1 n8 n10\nn11 n8 n9\n");
}

TEST(Methods, AShardsKeyIsItsText) {
  const Draw draw(some_nodes(12, 3, 2));
  EXPECT_EQ(draw.pick(ShardId{WorkloadId("t1"), ShardIndex(9)}, 3), draw.pick("t1/9", 3));
}

// Whatever the nodes: different nodes, domains as many as there can be, never a node that takes nothing, and as many as asked for if
// they exist. The order of nodes does not matter.
TEST(Methods, KeepTheirRules) {
  EXPECT_TRUE(rc::check("for random nodes", [](std::uint64_t seed) {
    Rng rng(seed);
    auto nodes = some_nodes(static_cast<std::uint32_t>(1 + rng.below(30)), static_cast<std::uint32_t>(rng.below(6)),
                            static_cast<std::uint32_t>(rng.below(4)));
    for (DrawNode& node : nodes) {
      node.weight = rng.chance(1, 8) ? 0 : 1 + rng.below(rng.chance(1, 4) ? DrawNode::weight_max : 10);
      node.out = rng.chance(1, 8);
      if (rng.chance(1, 10)) node.zone.clear();
    }
    const DrawOptions options{.method = methods[rng.below(2)], .depth = rng.below(3), .hard = rng.chance(1, 2), .seed = seed};
    const Draw draw(nodes, options);
    const auto replicas = static_cast<std::uint32_t>(1 + rng.below(rng.chance(1, 5) ? 25 : 5));
    const auto row = draw.pick("key", replicas);

    std::map<std::string, std::uint32_t> domains;
    for (const std::uint32_t node : row) {
      RC_ASSERT(nodes[node].weight > 0 && !nodes[node].out);
      const std::string& zone = nodes[node].zone;
      const std::size_t end = options.depth == 1 ? std::min(zone.find('/'), zone.size()) : zone.size();
      ++domains[zone.empty() || options.depth == 0 ? "/" + nodes[node].name.str() : zone.substr(0, end)];
    }
    RC_ASSERT(as_set(names(draw, row)).size() == row.size());
    RC_ASSERT(row.size() == std::min(replicas, options.hard ? draw.domains() : draw.takers()));
    RC_ASSERT(domains.size() == std::min(replicas, draw.domains()));

    rng.shuffle(std::span(nodes));
    const Draw shuffled(nodes, options);
    RC_ASSERT(pick(shuffled, "key", replicas) == names(draw, row));
  }));
}

// A short list kept while nodes pass by, and all nodes sorted: the two ways to the same answer.
TEST(Methods, MoreReplicasBeginWithTheSameOnes) {
  const Draw draw(some_nodes(40, 0, 0));
  for (int i = 0; i < 100; ++i) {
    const auto key = fmt::format("k{}", i);
    auto all = draw.pick(key, 40);
    for (const std::uint32_t replicas : {1u, 3u, 16u, 17u}) {
      const auto row = draw.pick(key, replicas);
      EXPECT_TRUE(std::ranges::equal(row, std::span(all).first(replicas)));
    }
  }
}

TEST(Methods, KeptReplicasStayAndTheOthersKeepAway) {
  const auto nodes = some_nodes(9, 3, 0);
  for (const Method method : methods) {
    const Draw draw(nodes, {.method = method, .depth = 1, .hard = true});
    for (int i = 0; i < 50; ++i) {
      const auto row = draw.pick(fmt::format("k{}", i), 3, {4});
      ASSERT_EQ(row.size(), 3u);
      EXPECT_EQ(row[0], 4u);
      EXPECT_EQ((std::set<std::uint32_t>{row[0] % 3, row[1] % 3, row[2] % 3}.size()), 3u);
    }
  }
}

TEST(Methods, NoNodesNoPick) {
  for (const Method method : methods) {
    EXPECT_THAT(Draw({}, {.method = method}).pick("key", 3), IsEmpty());
    EXPECT_THAT(Draw({{.name = NodeId("n1"), .weight = 0}}, {.method = method}).pick("key", 3), IsEmpty());
    EXPECT_THAT(Draw({{.name = NodeId("n1"), .out = true}}, {.method = method}).pick("key", 3), IsEmpty());
    EXPECT_THAT(Draw(some_nodes(3, 0, 0), {.method = method}).pick("key", 0), IsEmpty());
  }
}

// Keys fall on nodes in proportion to weight: the sum of squared deviations, over what chance makes of it, is about one per node.
TEST(Methods, AreEvenByWeight) {
  for (const Method method : methods) {
    auto nodes = some_nodes(60, 3, 4);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) nodes[i].weight = 1 + i % 7;
    const Draw draw(nodes, {.method = method, .seed = 3});
    std::vector<double> counts(nodes.size());
    constexpr int keys = 200'000;
    for (int i = 0; i < keys; ++i) ++counts[draw.pick(fmt::format("key {}", i), 1)[0]];
    const double weight = std::accumulate(
        nodes.begin(), nodes.end(), 0.0, [](double sum, const DrawNode& node) { return sum + static_cast<double>(node.weight); });
    double chi_square = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const double fair = keys * static_cast<double>(nodes[i].weight) / weight;
      EXPECT_NEAR(counts[i] / fair, 1, 0.1) << name(method) << " " << i;
      chi_square += (counts[i] - fair) * (counts[i] - fair) / fair;
    }
    EXPECT_LT(chi_square, 100) << "for 59 degrees of freedom one seed in a thousand is above it";
  }
}

// What happens to rows of three when the nodes change. `allowed` says of a row's old and new nodes whether that is as it must be.
template <class Allowed>
std::size_t moved(const std::vector<DrawNode>& before, const std::vector<DrawNode>& after, DrawOptions options,
                  const Allowed& allowed) {
  const Draw old(before, options), now(after, options);
  std::size_t count = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto key = fmt::format("key {}", i);
    const auto a = pick(old, key, 3), b = pick(now, key, 3);
    EXPECT_TRUE(allowed(without(a, b), without(b, a)))
        << key << ": " << fmt::format("{} to {}", fmt::join(a, " "), fmt::join(b, " "));
    count += without(a, b).size();
  }
  return count;
}

using Names = std::set<std::string>;

TEST(Methods, ALostNodeMovesWhatItHeldAndNothingElse) {
  const auto only_n7_goes = [](const Names& gone, const Names& come) {
    return (gone.empty() && come.empty()) || (gone == Names{"n7"} && come.size() == 1);
  };
  const auto nodes = some_nodes(30, 5, 2);
  auto lost = nodes;
  lost[7].out = true;
  auto removed = nodes;
  removed.erase(removed.begin() + 7);
  for (const std::size_t depth : {0u, 1u, 2u}) {
    for (const bool hard : {true, false}) {
      const std::size_t count = moved(nodes, removed, {.method = Method::rendezvous, .depth = depth, .hard = hard}, only_n7_goes);
      EXPECT_NEAR(static_cast<double>(count), 500, 70);
      EXPECT_EQ(count, moved(nodes, lost, {.method = Method::rendezvous, .depth = depth, .hard = hard}, only_n7_goes));
      EXPECT_NEAR(static_cast<double>(moved(nodes, lost, {.method = Method::crush, .depth = depth, .hard = hard}, only_n7_goes)),
                  500, 70);
    }
  }
}

TEST(Methods, ANewNodeOnlyAttracts) {
  auto nodes = some_nodes(30, 5, 2);
  const auto before = nodes;
  nodes.push_back({.name = NodeId("new"), .zone = "dc1/r0"});
  const auto only_to_new = [](const Names& gone, const Names& come) {
    return (gone.empty() && come.empty()) || (gone.size() == 1 && come == Names{"new"});
  };
  for (const std::size_t depth : {0u, 1u, 2u}) {
    const std::size_t count = moved(before, nodes, {.method = Method::rendezvous, .depth = depth, .hard = true}, only_to_new);
    EXPECT_NEAR(static_cast<double>(count), 15'000.0 / 31, 70);
  }
}

TEST(Methods, MoreWeightOnlyAttractsAndLessOnlyGives) {
  const auto nodes = some_nodes(30, 5, 2);
  auto heavier = nodes;
  heavier[7].weight = 2;
  for (const std::size_t depth : {0u, 1u}) {
    const DrawOptions options{.method = Method::rendezvous, .depth = depth, .hard = true};
    const std::size_t count = moved(nodes, heavier, options, [](const Names& gone, const Names& come) {
      return (gone.empty() && come.empty()) || (gone.size() == 1 && come == Names{"n7"});
    });
    EXPECT_GT(count, 300u);
    EXPECT_EQ(count, moved(heavier, nodes, options, [](const Names& gone, const Names& come) {
                return (gone.empty() && come.empty()) || (gone == Names{"n7"} && come.size() == 1);
              }));
  }
}

// In the tree a heavier domain draws from all others; it is they who give, and never to each other.
TEST(Methods, ANewNodeInTheTreeMovesOnlyTowardsItsDomain) {
  auto nodes = some_nodes(30, 5, 2);
  const auto before = nodes;
  nodes.push_back({.name = NodeId("new"), .zone = "dc1/r0"});
  const Draw old(before, {.method = Method::crush}), now(nodes, {.method = Method::crush});
  std::size_t changed = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto key = fmt::format("key {}", i);
    const auto a = old.pick(key, 1)[0], b = now.pick(key, 1)[0];
    if (a == b) continue;
    ++changed;
    EXPECT_EQ(now.nodes()[b].zone.substr(0, 3), "dc1") << key;
    // Within its domain only its rack gains, and there only itself.
    EXPECT_TRUE(a % 5 != 1 || now.nodes()[b].zone == "dc1/r0") << key;
    EXPECT_TRUE(now.nodes()[a].zone != "dc1/r0" || now.nodes()[b].name.str() == "new") << key;
  }
  // Into its domain (7/31 - 6/30), from its domain's other rack (1/14 of 6/30), from its rack's other nodes (1/4 of 3/30).
  EXPECT_NEAR(static_cast<double>(changed), 129 + 71 + 125, 60);
}

TEST(Methods, AnUnevenTreeIsFilledAfterAll) {
  std::vector<DrawNode> nodes{{.name = NodeId("small"), .zone = "b"}};
  for (int i = 0; i < 10; ++i)
    nodes.push_back({.name = NodeId(fmt::format("n{}", i)), .zone = "a", .weight = DrawNode::weight_max});
  const Draw draw(nodes, {.method = Method::crush, .depth = 1, .hard = true});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(draw.pick(fmt::format("k{}", i), 2).size(), 2u);
}

Cluster cluster_in(std::string_view text) {
  auto cluster = parse_cluster(text, "c.yaml");
  EXPECT_TRUE(cluster.has_value()) << (cluster ? "" : cluster.error().format());
  return cluster ? *std::move(cluster) : Cluster{};
}

// The cluster once the plan is done.
Cluster next(Cluster cluster, const Plan& plan) {
  cluster.placement = plan.placement;
  cluster.moving.clear();
  return cluster;
}

TEST(PlanByMethod, PlacesAndThenRests) {
  const Cluster cluster = cluster_in(R"(
cluster: c
nodes:
  - {name: "n[1-9]", zone: "dc[1-3]", cores: 4, capacity: {cpu: 8}}
workloads:
  - {name: t1, shards: 100, replicas: 3, load: {cpu: 10m}, spread: {level: zone, hard: true}}
  - {name: t2, shards: 50, replicas: 2}
)");
  for (const Method method : methods) {
    const Plan plan = plan_by_method(cluster, method);
    EXPECT_TRUE(plan.met());
    EXPECT_THAT(plan.moves, IsEmpty());
    EXPECT_EQ(plan.placement.at(WorkloadId("t1")).cells(), 300u);
    EXPECT_EQ(plan.placement.at(WorkloadId("t2")).cells(), 100u);
    const Cluster settled = next(cluster, plan);
    EXPECT_THAT(check(settled), IsEmpty());
    const Plan again = plan_by_method(settled, method);
    EXPECT_EQ(again.placement, plan.placement);
    EXPECT_THAT(again.moves, IsEmpty());
    EXPECT_NE(plan_by_method(cluster, method, 1).placement, plan.placement) << "another seed, another placement";
  }
}

TEST(PlanByMethod, ALostNodeMovesWhatItHeld) {
  const Cluster cluster = cluster_in(R"(
cluster: c
nodes:
  - {name: "n[1-9]", zone: "dc[1-3]/r[1-2]"}
workloads:
  - {name: t1, shards: 300, replicas: 2}
)");
  for (const Method method : methods) {
    Cluster settled = next(cluster, plan_by_method(cluster, method));
    const Placement& rows = settled.placement.at(WorkloadId("t1"));
    std::size_t held = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) held += std::ranges::count(rows[i], NodeIndex(4));
    for (const auto& [status, reason] :
         {std::pair(NodeStatus::down, MoveReason::repair), std::pair(NodeStatus::draining, MoveReason::drain)}) {
      settled.nodes[4].status = status;
      const Plan plan = plan_by_method(settled, method);
      EXPECT_EQ(plan.moves.size(), held);
      EXPECT_EQ(plan.stats.moves_floor, held);
      for (const Move& move : plan.moves) {
        EXPECT_EQ(move.from, NodeIndex(4));
        EXPECT_EQ(move.reason, reason);
        EXPECT_EQ(move.step, 1u);
      }
      EXPECT_TRUE(plan.met());
    }
  }
}

TEST(PlanByMethod, WeighsByTheDominantResourceAndPower) {
  const Cluster cluster = cluster_in(R"(
cluster: c
settings: {replicas_per_core: 0}
nodes:
  - {name: small, capacity: {cpu: 1, disk: 8Ti}}
  - {name: large, capacity: {cpu: 3, disk: 8Ti}}
  - {name: weak, capacity: {cpu: 4, disk: 8Ti}, power: 0.5}
  - {name: unnamed}
workloads:
  - {name: t, shards: 20000, load: {cpu: 10m, disk: 1Gi}}
)");
  for (const Method method : methods) {
    const Placement rows = plan_by_method(cluster, method).placement.at(WorkloadId("t"));
    std::vector<double> counts(4);
    for (std::size_t i = 0; i < rows.size(); ++i) ++counts[rows[i][0].value()];
    const double unit = 20000 / (1 + 3 + 2 + 8.0 / 3);
    EXPECT_NEAR(counts[0], 1 * unit, 200);
    EXPECT_NEAR(counts[1], 3 * unit, 300);
    EXPECT_NEAR(counts[2], 2 * unit, 300);
    EXPECT_NEAR(counts[3], 8.0 / 3 * unit, 300);
  }
}

TEST(PlanByMethod, RefusesWhatHasTooFewNodes) {
  Cluster cluster = cluster_in(R"(
cluster: c
nodes:
  - {name: n1, zone: dc1, labels: {disk: ssd}}
  - {name: n2, zone: dc1, taints: [{key: dedicated, value: db, effect: refuse}]}
  - {name: n3, zone: dc2, status: down}
workloads:
  - {name: four, shards: 1000000000, replicas: 1}
  - {name: labels, shards: 1, replicas: 2}
  - {name: nodes, shards: 1, replicas: 3}
  - {name: spread, shards: 1, replicas: 2, tolerate: [{key: dedicated}], spread: {level: zone, hard: true}}
)");
  for (const Method method : methods) {
    const Plan plan = plan_by_method(cluster, method);
    EXPECT_THAT(plan.placement, IsEmpty());
    ASSERT_EQ(plan.refused.size(), 4u);
    EXPECT_EQ(plan.refused[0].reason, RefusalReason::too_large);
    EXPECT_EQ(plan.refused[1].reason, RefusalReason::labels);
    EXPECT_EQ(plan.refused[2].reason, RefusalReason::nodes);
    EXPECT_EQ(plan.refused[3].reason, RefusalReason::spread);
    EXPECT_EQ(plan.refused[1].shard, std::nullopt);
    EXPECT_EQ(plan.refused[1].nodes,
              (std::vector<std::pair<NodeIndex, std::string>>{{NodeIndex(1), "has taint dedicated=db, which is not tolerated"},
                                                              {NodeIndex(2), "down"}}));
    EXPECT_FALSE(plan.met());
  }
}

TEST(PlanByMethod, WhatHasNoHomeStays) {
  const Cluster cluster = cluster_in(R"(
cluster: c
nodes:
  - {name: n1}
  - {name: n2, status: down}
  - {name: n3, status: draining}
workloads:
  - {name: t, shards: 2, replicas: 2}
placement:
  t: [[n2, n1], [n3]]
)");
  const Plan plan = plan_by_method(cluster, Method::rendezvous);
  const Placement& rows = plan.placement.at(WorkloadId("t"));
  EXPECT_THAT(rows[0], ElementsAre(NodeIndex(0), NodeIndex(1)));
  EXPECT_THAT(rows[1], ElementsAre(NodeIndex(0), NodeIndex(2)));
  ASSERT_EQ(plan.refused.size(), 2u);
  EXPECT_EQ(plan.refused[0].node, NodeIndex(1));
  EXPECT_EQ(plan.refused[1].node, NodeIndex(2));
  ASSERT_EQ(plan.leaders.size(), 2u);
  EXPECT_EQ(plan.leaders[0], (LeaderChange{WorkloadId("t"), ShardIndex(0), NodeIndex(1), NodeIndex(0)}));
  ASSERT_EQ(plan.moves.size(), 1u);
  EXPECT_EQ(plan.moves[0].reason, MoveReason::grow);
  EXPECT_EQ(plan.moves[0].to, NodeIndex(0));
  ASSERT_EQ(plan.violations.size(), 2u);
  EXPECT_EQ(plan.violations[0].rule, Rule::down);
  EXPECT_EQ(plan.violations[1].rule, Rule::draining);
}

TEST(PlanByMethod, TellsWhichLimitsItBreaks) {
  const Cluster cluster = cluster_in(R"(
cluster: c
nodes:
  - {name: n1, replicas_max: 5, capacity: {disk: 100}}
  - {name: n2, capacity: {disk: 1000}, used: {disk: 900}}
workloads:
  - {name: full, shards: 10, replicas: 2, load: {disk: 10}}
  - {name: light, shards: 1, replicas: 2}
  - {name: inner, shards: 1, replicas: 2, system: true}
)");
  const Plan plan = plan_by_method(cluster, Method::crush);
  std::vector<std::string> told;
  for (const Violation& one : plan.violations) told.push_back(fmt::format("{} {}", one.workload, one.detail));
  EXPECT_THAT(told,
              ElementsAre("full n1: disk 100% > 95%, and 1 more nodes", "full n1: 11 replicas > 5", "light n1: 11 replicas > 5"));
  EXPECT_FALSE(plan.met());
}

TEST(PlanByMethod, MovesInFlightGoOnOrAreCancelled) {
  Cluster cluster = cluster_in(R"(
cluster: c
nodes: [{name: "n[1-4]"}]
workloads: [{name: t, shards: 1, replicas: 2}]
)");
  const Plan first = plan_by_method(cluster, Method::rendezvous);
  const auto row = first.placement.at(WorkloadId("t"))[0];
  std::vector<NodeIndex> others;
  for (std::uint32_t i = 0; i < 4; ++i) {
    if (std::ranges::find(row, NodeIndex(i)) == row.end()) others.emplace_back(i);
  }
  // One replica is on its way to where it belongs.
  cluster.placement[WorkloadId("t")].push_back(std::vector{row[0], others[0]});
  cluster.moving = {{WorkloadId("t"), ShardIndex(0), others[0], row[1]}};
  Plan plan = plan_by_method(cluster, Method::rendezvous);
  EXPECT_EQ(plan.placement, first.placement);
  EXPECT_THAT(plan.moves, IsEmpty());
  EXPECT_THAT(plan.cancelled, IsEmpty());
  // And one to where it does not.
  cluster.moving[0].to = others[1];
  plan = plan_by_method(cluster, Method::rendezvous);
  ASSERT_EQ(plan.cancelled.size(), 1u);
  EXPECT_EQ(plan.cancelled[0].reason, "the method puts it elsewhere");
  ASSERT_EQ(plan.moves.size(), 1u);
  EXPECT_EQ(plan.moves[0].from, others[0]);
  EXPECT_EQ(plan.moves[0].to, row[1]);
  EXPECT_EQ(plan.moves[0].reason, MoveReason::rules);
}

TEST(PlanByMethod, PinnedReplicasStayAndLeadersMayLead) {
  const Cluster cluster = cluster_in(R"(
cluster: c
nodes:
  - {name: "n[1-5]", zone: "dc[1-5]"}
  - {name: n6, zone: dc6, status: no-leaders}
workloads: [{name: t, shards: 200, replicas: 3, pinned: {7: [n6, n2]}}]
)");
  const Plan plan = plan_by_method(cluster, Method::rendezvous);
  const Placement& rows = plan.placement.at(WorkloadId("t"));
  EXPECT_EQ(rows[7][0], NodeIndex(1));
  EXPECT_EQ(rows[7][1], NodeIndex(5));
  std::size_t on_n6 = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NE(rows[i][0], NodeIndex(5));
    on_n6 += std::ranges::count(rows[i], NodeIndex(5));
  }
  EXPECT_GT(on_n6, 60u);
  EXPECT_TRUE(plan.met());
}

// Plans name nodes by index, so the placement is compared by name.
// The bar takes one node from a shard's own sequence: the others of its row stay, and so do all other shards.
TEST(PlanByMethod, BarredNodesArePassedOver) {
  for (const Method method : methods) {
    Cluster cluster = cluster_in(R"(
cluster: c
nodes: [{name: "n[1-9]", zone: "dc[1-3]"}]
workloads: [{name: t, shards: 50, replicas: 3}]
)");
    const Plan free = plan_by_method(cluster, method);
    const Placement& before = free.placement.at(WorkloadId("t"));
    for (std::uint32_t shard = 0; shard < 50; shard += 2)
      cluster.barred.push_back({WorkloadId("t"), ShardIndex(shard), before[shard][shard % 3]});
    const Cluster next = apply(cluster, free);
    const Plan plan = plan_by_method(next, method);
    EXPECT_TRUE(plan.met());
    EXPECT_EQ(plan.moves.size(), 25u);
    for (const Move& move : plan.moves) {
      EXPECT_EQ(move.from, before[move.shard.value()][move.shard.value() % 3]);
      EXPECT_EQ(move.reason, MoveReason::rules);
    }
    EXPECT_TRUE(plan_by_method(apply(next, plan), method).moves.empty());
  }
}

TEST(PlanByMethod, ShardsBarredFromTooMuchAreRefused) {
  const Cluster cluster = cluster_in(R"(
cluster: c
nodes: [{name: "n[1-3]"}]
workloads: [{name: t, shards: 1, replicas: 2}, {name: u, shards: 2, replicas: 2}]
placement: {t: [[n1, n2]]}
barred:
  - {workload: t, shard: 0, node: n2}
  - {workload: t, shard: 0, node: n3}
  - {workload: u, shard: 1, node: n1}
  - {workload: u, shard: 1, node: n3}
)");
  for (const Method method : methods) {
    const Plan plan = plan_by_method(cluster, method);
    EXPECT_THAT(plan.placement.at(WorkloadId("t"))[0], ElementsAre(NodeIndex(0), NodeIndex(1)));
    EXPECT_FALSE(plan.placement.contains(WorkloadId("u")));
    ASSERT_EQ(plan.refused.size(), 2u);
    EXPECT_EQ(plan.refused[0].reason, RefusalReason::barred);
    EXPECT_EQ(plan.refused[0].node, NodeIndex(1));
    EXPECT_EQ(plan.refused[1].shard, std::nullopt);
    EXPECT_EQ(plan.refused[1].detail, "needs 2 nodes that shard 1 is not barred from");
    EXPECT_THAT(plan.refused[1].nodes, ElementsAre(std::pair(NodeIndex(0), std::string("the shard is barred from it")),
                                                   std::pair(NodeIndex(2), std::string("the shard is barred from it"))));
    ASSERT_EQ(plan.violations.size(), 1u);
    EXPECT_EQ(plan.violations[0].rule, Rule::barred);
  }
}

TEST(PlanByMethod, TheOrderOfNodesDoesNotMatter) {
  EXPECT_TRUE(rc::check("for random clusters", [](std::uint64_t seed) {
    Rng rng(seed);
    Cluster cluster{.name = ClusterId("c")};
    for (int i = 0; i < 12; ++i) {
      Node node{.name = NodeId(fmt::format("n{}", i)), .zone = fmt::format("dc{}", rng.below(4))};
      node.cores = static_cast<std::uint32_t>(rng.below(4));
      if (rng.chance(2, 3)) node.capacity[ResourceId("cpu")] = Quantity(static_cast<std::int64_t>(1 + rng.below(9)));
      if (rng.chance(1, 5)) node.status = NodeStatus::down;
      cluster.nodes.push_back(std::move(node));
    }
    cluster.workloads.push_back(
        {.name = WorkloadId("a"), .shards = 9, .replicas = 2, .load = {{ResourceId("cpu"), Quantity(1)}}});
    cluster.workloads.push_back({.name = WorkloadId("b"), .shards = 9, .replicas = 3});
    const Method method = methods[rng.below(2)];
    const auto show = [&](const Plan& plan) {
      std::string out;
      for (const auto& [workload, rows] : plan.placement) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
          for (const NodeIndex node : rows[i]) out += fmt::format("{} ", cluster.nodes[node.value()].name);
          out += "\n";
        }
      }
      for (const Violation& one : plan.violations) out += fmt::format("{} {}\n", one.workload, one.detail);
      for (const auto& [resource, balance] : plan.stats.balance) out += fmt::format("{} {}\n", resource, balance.max_over_mean);
      return out;
    };
    const std::string before = show(plan_by_method(cluster, method, seed));
    rng.shuffle(std::span(cluster.nodes));
    RC_ASSERT(show(plan_by_method(cluster, method, seed)) == before);
  }));
}

}  // namespace
}  // namespace evenkeel::place
