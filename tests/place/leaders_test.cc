// Levelling the leaders of many shards on few nodes.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/place/judge.h"
#include "tests/place/random_cluster.h"
#include "tests/place/seeds.h"

namespace evenkeel::place {
namespace {

// Ten nodes that hold equally many, of which the first leads all that it holds: three times its share.
Cluster one_leads_most(std::uint32_t shards) {
  Cluster cluster{.name = ClusterId("leaders")};
  for (int i = 0; i < 10; ++i) cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i))});
  cluster.workloads.push_back({.name = WorkloadId("t"), .shards = shards, .replicas = 3});
  Placement& rows = cluster.placement[WorkloadId("t")];
  for (std::uint32_t s = 0; s < shards; ++s) {
    std::vector row = {NodeIndex(s % 10), NodeIndex((s + 1) % 10), NodeIndex((s + 2) % 10)};
    if (const auto first = std::ranges::find(row, NodeIndex(0)); first != row.end()) std::iter_swap(row.begin(), first);
    rows.push_back(row);
  }
  return cluster;
}

std::vector<std::size_t> leaders(const Cluster& cluster, const Plan& plan) {
  std::vector<std::size_t> count(cluster.nodes.size());
  const Placement& rows = plan.placement.at(WorkloadId("t"));
  for (std::size_t s = 0; s < rows.size(); ++s) ++count[rows[s].front().value()];
  return count;
}

// Each change is chosen among a bounded number of shards: were it all that the node leads, this budget would not do.
TEST(Leaders, AreLevelledWithinABudgetInProportionToTheShards) {
  constexpr std::uint32_t shards = 6000;
  const Cluster cluster = one_leads_most(shards);
  const PlanOptions options{.budget = 200 * shards};
  const Plan plan = place::plan(cluster, options);
  EXPECT_FALSE(plan.stats.cut_short);
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(judge(cluster, plan, options), std::vector<std::string>());
  EXPECT_LE(std::ranges::max(leaders(cluster, plan)), shards / 10 * 105 / 100);  // its share, and the tolerance
}

TEST(Leaders, RestAndDoNotDependOnTheOrderOfNodesWhereThereAreMany) {
  const Cluster cluster = one_leads_most(4000);
  const Plan plan = place::plan(cluster);
  ASSERT_FALSE(plan.leaders.empty());
  Rng rng(1);
  const Cluster other = shuffle_nodes(cluster, rng);
  EXPECT_EQ(whole_text(cluster, plan), whole_text(other, place::plan(other)));
  const Plan second = place::plan(apply(cluster, plan));
  EXPECT_TRUE(second.moves.empty());
  EXPECT_TRUE(second.leaders.empty());
}

}  // namespace
}  // namespace evenkeel::place
