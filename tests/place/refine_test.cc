// Where what moves anyway goes is searched over once more: as level as can be, and no move more than must be.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/detail/levels.h"
#include "evenkeel/place/detail/stages.h"
#include "evenkeel/place/place.h"
#include "tests/place/seeds.h"

namespace evenkeel::place {
namespace {

constexpr std::uint32_t weights_nodes = 100, weights_shards = 1000;

// One replica a shard, weights of 1 to 10: few and large, so that one step after the other ends where no single one helps.
Cluster weights(std::uint64_t seed) {
  Rng rng = Rng(seed).split("weights");
  Cluster cluster{.name = ClusterId("weights")};
  cluster.settings.moves_max = 0;
  for (std::uint32_t i = 0; i < weights_nodes; ++i)
    cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i)), .capacity = {{ResourceId("weight"), Quantity(100)}}});
  Workload workload{.name = WorkloadId("t"), .shards = weights_shards, .replicas = 1};
  workload.shard_loads.resources = {ResourceId("weight")};
  for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
    workload.shard_loads.shards.emplace_back(shard);
    workload.shard_loads.values.push_back(Quantity(static_cast<std::int64_t>(1 + rng.below(10))));
  }
  cluster.workloads.push_back(std::move(workload));
  return cluster;
}

// The fullest node that takes part, over the mean of these.
double fullest(const Cluster& cluster) {
  std::vector<double> held(cluster.nodes.size());
  const auto& rows = cluster.placement.at(WorkloadId("t"));
  double sum = 0, most = 0, many = 0;
  for (std::uint32_t shard = 0; shard < rows.size(); ++shard)
    held[rows[shard][0].value()] += (*cluster.workloads[0].shard_loads.find(ShardIndex(shard)))[0].to_double();
  for (std::uint32_t node = 0; node < held.size(); ++node) {
    if (cluster.nodes[node].status != NodeStatus::up) continue;
    sum += held[node], most = std::max(most, held[node]), many += 1;
  }
  return most / (sum / many);
}

TEST(Refine, NewReplicasAreAsLevelAsWholeNumbersCanBe) {
  for (std::uint64_t seed = 0; seed < seeds_of(10); ++seed) {
    const Cluster cluster = weights(seed);
    const Plan plan = place::plan(cluster);
    const auto& balance = plan.stats.balance.at(ResourceId("weight"));
    EXPECT_NEAR(fullest(apply(cluster, plan)), balance.floor, 1e-6) << "seed " << seed;
  }
}

// Five of a hundred nodes are to be emptied, and all that leaves them goes to ten others, one after the other.
std::unique_ptr<detail::Board> unevenly_moved(const Cluster& cluster) {
  auto board = detail::compile(cluster, {});
  Trial trial(*board->state);
  std::uint32_t movers = 0;
  for (std::uint32_t r = 0; r < board->problem.replicas(); ++r) {
    if (board->standing(r) == detail::Standing::fine) continue;
    const std::uint32_t to = board->board_node[50 + movers++ % 10];
    EXPECT_TRUE(board->state->allowed(trial.shift(r, to)));
    board->move(trial, MoveReason::drain);
  }
  return board;
}

Cluster with_five_to_empty() {
  Cluster cluster = weights(1);
  cluster = apply(cluster, place::plan(cluster));
  for (std::uint32_t i = 0; i < 5; ++i) cluster.nodes[i].status = NodeStatus::draining;
  return cluster;
}

// It is dealt out to all, and nobody else moves.
TEST(Refine, MoversChangeTheirDestinationsAndNobodyElseMoves) {
  const Cluster cluster = with_five_to_empty();
  const auto board = unevenly_moved(cluster);
  const std::uint64_t planned = board->moves_planned;
  EXPECT_GT(detail::Levels(*board).highest(), 0.3);
  detail::refine_movers(*board);
  EXPECT_LT(detail::Levels(*board).highest(), 0.13) << "some of what leaves is more than a tenth of a node";
  for (std::uint32_t r = 0; r < board->problem.replicas(); ++r) {
    if (board->standing(board->problem.replica_group[r], board->state->home(r)) != detail::Standing::fine) continue;
    EXPECT_EQ(board->state->at(r), board->state->home(r));
  }
  EXPECT_EQ(board->moves_planned, planned);
}

// What nodes are above their soft limits together outweighs how level they are: one that is far above is as good as two that are a little. Balancing
// cannot mend that, so such destinations stay what they were.
TEST(Refine, WhereSoftLimitsAreReachedDestinationsStay) {
  Cluster cluster = with_five_to_empty();
  for (Node& node : cluster.nodes) node.soft_limit = Ratio::percent(20);
  const auto board = unevenly_moved(cluster);
  const std::vector<std::uint32_t> before(board->state->places().begin(), board->state->places().end());
  detail::refine_movers(*board);
  EXPECT_TRUE(std::ranges::equal(board->state->places(), before));
}

TEST(Refine, IsTheSameForTheSameSeedWhateverTheOrderOfNodes) {
  const Cluster cluster = weights(1);
  Cluster turned = cluster;
  std::ranges::reverse(turned.nodes);
  const auto where = [](const Cluster& of, const Plan& plan) {
    std::vector<std::string> names;
    const Cluster next = apply(of, plan);
    const auto& rows = next.placement.at(WorkloadId("t"));
    for (std::uint32_t shard = 0; shard < rows.size(); ++shard) names.push_back(of.nodes[rows[shard][0].value()].name.str());
    return names;
  };
  EXPECT_EQ(where(cluster, place::plan(cluster)), where(turned, place::plan(turned)));
  EXPECT_NE(where(cluster, place::plan(cluster)), where(cluster, place::plan(cluster, {.seed = 2})));
}

TEST(Refine, EndsWhenItIsTold) {
  const Cluster cluster = weights(1);
  int asked = 0;
  const Plan plan = place::plan(cluster, {.stop = [&] { return ++asked > 3; }});
  EXPECT_TRUE(plan.met());
  EXPECT_TRUE(plan.stats.cut_short);
  asked = 0;
  EXPECT_TRUE(place::plan(cluster, {.stop = [&] { return ++asked > 3; }, .only = Only::allocate}).stats.cut_short);
  EXPECT_TRUE(place::plan(cluster, {.budget = 1}).met());
}

}  // namespace
}  // namespace evenkeel::place
