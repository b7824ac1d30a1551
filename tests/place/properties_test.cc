// What holds for every plan, on thousands of random problems (seeds.h).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/place/judge.h"
#include "tests/place/random_cluster.h"
#include "tests/place/seeds.h"

namespace evenkeel::place {
namespace {

TEST(PlanProperties, SameBytesForEveryOrderOfNodes) {
  on_seeds("order", 1500, [](Rng& rng) {
    const Cluster cluster = random_cluster(rng);
    const PlanOptions options = random_options(rng);
    const Cluster other = shuffle_nodes(cluster, rng);
    const Plan plan = place::plan(cluster, options);
    EXPLAIN(cluster, options, plan);
    EXPECT_EQ(plan, place::plan(cluster, options));
    EXPECT_EQ(whole_text(cluster, plan), whole_text(other, place::plan(other, options)));
  });
}

// How far one resource's load is from the fair shares of nodes that take part, as a part of the mean: standard deviation and greatest.
struct Uneven {
  double deviation = 0;
  double most = 0;
};
Uneven uneven(const Cluster& cluster, const naive::Held& held, const ResourceId& resource) {
  std::vector<std::pair<double, double>> nodes;  // load, share
  double load = 0, shares = 0;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    const Node& node = cluster.nodes[n];
    if (node.status != NodeStatus::up && node.status != NodeStatus::no_leaders) continue;
    const auto capacity = held.capacity(n, resource);
    nodes.emplace_back(held.load(n, resource).to_double(), (capacity ? capacity->value() : 1.0) * node.power.to_double());
    load += nodes.back().first;
    shares += nodes.back().second;
  }
  Uneven result;
  if (load <= 0 || shares <= 0) return result;
  for (const auto& [own, fair] : nodes) {
    const double off = own / fair / (load / shares) - 1;
    result.deviation += off * off * fair / shares;
    result.most = std::max(result.most, std::abs(off));
  }
  result.deviation = std::sqrt(result.deviation);
  return result;
}
std::set<ResourceId> resources(const Cluster& cluster) {
  std::set<ResourceId> found;
  for (const Workload& workload : cluster.workloads) {
    for (const auto& [resource, amount] : workload.load) found.insert(resource);
    found.insert(workload.shard_loads.resources.begin(), workload.shard_loads.resources.end());
  }
  return found;
}
double unevenness(const Cluster& cluster, const std::map<WorkloadId, Placement>& placement) {
  double sum = 0;
  for (const ResourceId& resource : resources(cluster))
    sum += uneven(cluster, naive::held(cluster, placement), resource).deviation;
  return sum;
}

TEST(PlanProperties, BalancingNeverWorsensTheBalance) {
  on_seeds("score", 800, [](Rng& rng) {
    // Of several workloads or resources one may gain what another loses, and `used` is not part of a workload's own balance.
    Cluster cluster = random_cluster(rng, {.workloads_max = 1, .shards_max = 40, .calm = true});
    for (Node& node : cluster.nodes) node.used.clear();
    if (resources(cluster).size() != 1) return;
    const PlanOptions options{.only = Only::balance};
    const Plan plan = place::plan(cluster, options);
    const bool only_balance = std::ranges::all_of(plan.moves, [](const Move& m) { return m.reason == MoveReason::balance; });
    if (!only_balance || plan.moves.empty()) return;
    EXPLAIN(cluster, options, plan);
    EXPECT_LE(unevenness(cluster, plan.placement), unevenness(cluster, cluster.placement) + 1e-9);
  });
}

// One workload at rest, then its loads drift: as long as every node is within the tolerance nothing moves.
TEST(PlanProperties, NothingMovesWithinTheTolerance) {
  std::size_t within = 0;
  on_seeds("tolerance", 600, [&](Rng& rng) {
    Cluster made = random_cluster(rng, {.workloads_max = 1, .shards_max = 60, .calm = true});
    made.workloads[0].leader_load.clear();
    std::optional<Cluster> cluster = settled(std::move(made), {});
    if (!cluster || cluster->workloads[0].load.empty()) return;
    cluster->settings.tolerance = Ratio::percent(static_cast<std::int64_t>(10 + rng.below(40)));
    for (Quantity& value : cluster->workloads[0].shard_loads.values) value += Quantity::from_nano(value.nano() / 10);
    const naive::Held held = naive::held(*cluster, cluster->placement);
    bool level = true;
    for (std::size_t n = 0; n < cluster->nodes.size(); ++n)
      level &= held.fits(n, true);  // above a soft limit there is another reason
    const double tolerance = static_cast<double>(cluster->settings.tolerance.millionths()) / 1e6;
    Cluster unused = *cluster;  // what others use is not part of a workload's own balance
    for (Node& node : unused.nodes) node.used.clear();
    for (const ResourceId& resource : resources(*cluster)) {
      level &= uneven(*cluster, held, resource).most <= tolerance;
      level &= uneven(unused, naive::held(unused, unused.placement), resource).most <= tolerance;
    }
    if (!level) return;
    ++within;
    const Plan plan = place::plan(*cluster);
    EXPLAIN(*cluster, PlanOptions{}, plan);
    EXPECT_TRUE(std::ranges::none_of(plan.moves, [](const Move& m) { return m.reason == MoveReason::balance; }));
  });
  EXPECT_GT(within, 0u);
}

TEST(PlanProperties, DrainedNodesEndEmpty) {
  on_seeds("drain", 600, [](Rng& rng) {
    Cluster cluster = random_cluster(rng, {.calm = true});
    const NodeIndex node(static_cast<std::uint32_t>(rng.below(cluster.nodes.size())));
    cluster.nodes[node.value()].status = NodeStatus::draining;
    const Plan plan = place::plan(cluster);
    EXPLAIN(cluster, PlanOptions{}, plan);
    for (const auto& [id, rows] : plan.placement) {
      for (std::uint32_t shard = 0; shard < rows.size(); ++shard) {
        if (std::ranges::find(rows[shard], node) == rows[shard].end()) continue;
        const bool refused = std::ranges::any_of(plan.refused, [&, workload = id](const Refusal& r) {
          return r.workload == workload && r.shard == ShardIndex(shard) && r.node == node;
        });
        EXPECT_TRUE(refused) << id.str() << "/" << shard << " stays";
      }
    }
  });
}

// Runs that are cut short by moves_max go on where the last one stopped, and come to rest without moving everything over and over.
TEST(PlanProperties, RunsCutShortComeToRest) {
  on_seeds("rest", 200, [](Rng& rng) {
    Cluster cluster = random_cluster(rng, {.calm = true});
    cluster.settings.moves_max = static_cast<std::uint32_t>(1 + rng.below(3));
    const Cluster first = cluster;
    std::size_t moves = 0, replicas = 0;
    for (int run = 0; run < 300; ++run) {
      const Plan plan = place::plan(cluster);
      if (plan.moves.empty()) break;
      moves += plan.moves.size();
      cluster = apply(cluster, plan);
    }
    EXPLAIN(first, PlanOptions{}, place::plan(first));
    for (const auto& [id, rows] : cluster.placement) replicas += rows.cells();
    EXPECT_LE(moves, replicas);
    EXPECT_TRUE(place::plan(cluster).moves.empty()) << format_cluster(cluster, Syntax::yaml);
  });
}

// No closed groups: every pair of nodes shares about equally many shards of a request. The aim is a third of the mean; with means of
// some dozens chance alone strays by less than half.
TEST(PlanProperties, EveryPairOfNodesSharesShards) {
  on_seeds("pairs", 40, [](Rng& rng) {
    Cluster cluster{.name = ClusterId("pairs")};
    const std::uint64_t nodes = 5 + rng.below(12);
    const bool load = rng.chance(1, 2);
    for (std::uint64_t i = 0; i < nodes; ++i)
      cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i)), .capacity = {{ResourceId("cpu"), Quantity(10'000)}}});
    Workload workload{.name = WorkloadId("t"), .replicas = static_cast<std::uint32_t>(2 + rng.below(2))};
    const std::uint64_t pairs = nodes * (nodes - 1) / 2;
    const std::uint64_t mean = 30;
    workload.shards = static_cast<std::uint32_t>(pairs * mean / (workload.replicas == 2 ? 1 : 3));
    if (load) workload.load[ResourceId("cpu")] = Quantity(1);
    cluster.workloads.push_back(std::move(workload));
    const Plan plan = place::plan(cluster);
    EXPLAIN(cluster, PlanOptions{}, plan);
    ASSERT_TRUE(plan.met());
    std::map<std::pair<NodeIndex, NodeIndex>, std::uint64_t> shared;
    const Placement& rows = plan.placement.at(WorkloadId("t"));
    for (std::size_t shard = 0; shard < rows.size(); ++shard) {
      for (const NodeIndex a : rows[shard]) {
        for (const NodeIndex b : rows[shard]) {
          if (a < b) ++shared[{a, b}];
        }
      }
    }
    EXPECT_EQ(shared.size(), pairs);
    for (const auto& [pair, times] : shared) {
      EXPECT_GE(times, mean / 2) << pair.first.value() << " " << pair.second.value();
      EXPECT_LE(times, mean * 3 / 2) << pair.first.value() << " " << pair.second.value();
    }
  });
}

// The best that can be, by trying everything: for one new workload of a handful of replicas.
class EveryPlacement {
 public:
  EveryPlacement(const Cluster& cluster, ResourceId resource)
      : cluster_(cluster), resource_(std::move(resource)), held_(cluster) {
    try_shard(0);
  }
  std::optional<double> best() const {
    return best_;
  }  // greatest load relative to capacity and power; nothing if none is allowed

 private:
  void try_shard(std::uint32_t shard) {
    if (shard == cluster_.workloads[0].shards) return keep();
    try_replica(shard, 0);
  }
  // Replicas of a shard are tried in rising order of nodes, but for the first, which leads and may be any.
  void try_replica(std::uint32_t shard, std::uint32_t replica) {
    const Workload& workload = cluster_.workloads[0];
    if (replica == workload.replicas) return try_shard(shard + 1);
    const std::uint32_t first = replica < 2 ? 0 : row_.back() + 1;
    for (std::uint32_t node = first; node < cluster_.nodes.size(); ++node) {
      if (!allowed(node, shard, replica)) continue;
      held_.add(node, workload, shard, replica == 0);
      if (held_.fits(node, false) && held_.count_fits(node)) {
        row_.push_back(node);
        try_replica(shard, replica + 1);
        row_.pop_back();
      }
      held_.remove(node, workload, shard, replica == 0);
    }
  }
  bool allowed(std::uint32_t node, std::uint32_t shard, std::uint32_t replica) const {
    const Workload& workload = cluster_.workloads[0];
    if (!naive::takes(cluster_.nodes[node], workload) || naive::is_barred(cluster_, workload, shard, node)) return false;
    const auto row = std::span(row_).last(replica);
    const auto beside = [&](std::uint32_t other) {
      return other == node || (naive::spread_is_hard(cluster_, workload) &&
                               naive::domain(cluster_, workload, other) == naive::domain(cluster_, workload, node));
    };
    return std::ranges::none_of(row, beside);
  }
  void keep() {
    double most = 0;
    for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
      if (cluster_.nodes[n].status != NodeStatus::up) continue;
      const auto capacity = held_.capacity(n, resource_);
      const double fair = (capacity ? capacity->value() : 1.0) * cluster_.nodes[n].power.to_double();
      most = std::max(most, held_.load(n, resource_).to_double() / fair);
    }
    best_ = std::min(best_.value_or(most), most);
  }

  const Cluster& cluster_;
  ResourceId resource_;
  naive::Held held_;
  std::vector<std::uint32_t> row_;
  std::optional<double> best_;
};

Cluster tiny_cluster(Rng& rng, bool alike) {
  const ResourceId by_cpu("cpu");
  Cluster cluster{.name = ClusterId("tiny")};
  const std::uint64_t nodes = 1 + rng.below(5);
  const std::uint64_t zones = rng.below(4);
  const std::int64_t size = rng.between(2, 12);
  for (std::uint64_t i = 0; i < nodes; ++i) {
    Node node{.name = NodeId(fmt::format("n{}", i)), .capacity = {{by_cpu, Quantity(size * (rng.chance(1, 3) ? 2 : 1))}}};
    if (zones > 0) node.zone = fmt::format("z{}", rng.below(zones));
    if (rng.chance(1, 5)) node.replicas_max = static_cast<std::uint32_t>(1 + rng.below(3));
    if (rng.chance(1, 8)) node.status = NodeStatus::cordoned;
    if (rng.chance(1, 3)) node.labels["disk"] = "ssd";
    if (rng.chance(1, 6)) node.used[by_cpu] = Quantity(rng.between(0, size));
    cluster.nodes.push_back(std::move(node));
  }
  cluster.settings.hard_limit = Ratio::percent(100);
  Workload workload{.name = WorkloadId("t"), .replicas = static_cast<std::uint32_t>(1 + rng.below(3))};
  workload.shards = static_cast<std::uint32_t>(1 + rng.below(6 / workload.replicas));
  workload.load[by_cpu] = Quantity(rng.between(1, 4));
  // Without zones, or with hard ones, nothing comes before the load.
  if (zones > 0) workload.spread = Spread{.level = "zone", .hard = true};
  if (rng.chance(1, 5)) workload.require["disk"] = "ssd";
  if (!alike) {
    if (rng.chance(1, 2)) workload.leader_load[by_cpu] = Quantity(rng.between(1, 3));
    workload.shard_loads.resources = {by_cpu};
    for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
      if (!rng.chance(1, 2)) continue;
      workload.shard_loads.shards.emplace_back(shard);
      workload.shard_loads.values.push_back(Quantity(rng.between(1, 8)));
    }
    if (workload.shard_loads.shards.empty()) workload.shard_loads = {};
    for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
      const auto node = static_cast<std::uint32_t>(rng.below(nodes));
      if (rng.chance(1, 4)) cluster.barred.push_back({workload.name, ShardIndex(shard), NodeIndex(node)});
    }
  }
  cluster.workloads.push_back(std::move(workload));
  return cluster;
}

double greatest_load(const Cluster& cluster, const Plan& plan, const ResourceId& resource) {
  const naive::Held held = naive::held(cluster, plan.placement);
  double most = 0;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    if (cluster.nodes[n].status != NodeStatus::up) continue;
    most = std::max(most, held.load(n, resource).to_double() / held.capacity(n, resource)->value());
  }
  return most;
}

TEST(PlanProperties, AlikeReplicasAreRefusedOnlyIfImpossible) {
  on_seeds("alike", 2000, [](Rng& rng) {
    const Cluster cluster = tiny_cluster(rng, true);
    const Plan plan = place::plan(cluster);
    EXPLAIN(cluster, PlanOptions{}, plan);
    const auto best = EveryPlacement(cluster, ResourceId("cpu")).best();
    EXPECT_EQ(plan.refused.empty(), best.has_value());
    EXPECT_EQ(plan.placement.contains(WorkloadId("t")), best.has_value());
    for (const Refusal& refusal : plan.refused) EXPECT_TRUE(refusal.proved);
  });
}

TEST(PlanProperties, TinyFirstPlacementsAgainstTheOptimum) {
  std::size_t refused_wrongly = 0, placed = 0;
  double worst = 1, sum = 0;
  on_seeds("tiny", 2000, [&](Rng& rng) {
    const Cluster cluster = tiny_cluster(rng, false);
    const ResourceId by_cpu("cpu");
    const Plan plan = place::plan(cluster);
    EXPLAIN(cluster, PlanOptions{}, plan);
    const auto best = EveryPlacement(cluster, by_cpu).best();
    if (plan.refused.empty()) {
      ASSERT_TRUE(best);
      const double ratio = greatest_load(cluster, plan, by_cpu) / *best;
      EXPECT_GE(ratio, 1 - 1e-9);
      worst = std::max(worst, ratio);
      sum += ratio;
      ++placed;
      EXPECT_LE(plan.stats.balance.at(by_cpu).floor, plan.stats.balance.at(by_cpu).max_over_mean + 1e-9);
    } else if (best) {
      ++refused_wrongly;
      EXPECT_FALSE(plan.refused.front().proved);
    }
  });
  ASSERT_GT(placed, 0u);
  EXPECT_LE(worst, 1.25);
  EXPECT_LE(sum / static_cast<double>(placed), 1.01);
  EXPECT_LE(refused_wrongly * 100, placed);
}

}  // namespace
}  // namespace evenkeel::place
