// Least movement, in whatever quiet cluster: a node that is lost for good moves what was on it, and at most one replica more to level what is left; a
// node more gets its fair share, and nothing moves between the others.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "evenkeel/sim/sim.h"

namespace evenkeel::sim {
namespace {

const Condition movement_settled{Condition::Kind::settled, false, {}};

using Places = std::set<std::pair<std::string, std::string>>;  // shards and nodes

Places places(const Simulation& simulation, const Cluster& cluster) {
  Places all;
  for (const Workload& workload : cluster.workloads) {
    for (const ShardRecord& record : simulation.records(workload.name)) {
      for (const Holder& holder : record.holders) all.insert({format(ShardId{workload.name, record.shard}), holder.node.str()});
    }
  }
  return all;
}

Places on(const Places& all, const NodeId& node) {
  Places some;
  std::ranges::copy_if(all, std::inserter(some, some.end()), [&](const auto& place) { return place.second == node.str(); });
  return some;
}

Places without(const Places& all, const Places& those) {
  Places rest;
  std::ranges::set_difference(all, those, std::inserter(rest, rest.end()));
  return rest;
}

// Every node can do without any other, and is a zone by itself: else one that is alone in its zone gets more than others, and what is left in a zone
// whose node is lost may be better off elsewhere.
Cluster draw_cluster(std::uint64_t seed) {
  Cluster cluster = random_story({.seed = seed, .hours = 0.1, .faults = {}}).cluster;
  std::erase_if(cluster.workloads, [](const Workload& workload) { return workload.state_model.str() == "everywhere"; });
  for (Workload& workload : cluster.workloads) workload.replicas = std::max(workload.replicas, 2u);
  if (cluster.workloads.empty()) cluster.workloads.push_back({.name = WorkloadId("t"), .shards = 8, .replicas = 2});
  while (cluster.nodes.size() < 5) {
    const auto number = cluster.nodes.size() + 1;
    cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", number)), .zone = ""});
  }
  for (Node& node : cluster.nodes) node.zone = "zone-of-" + node.name.str();
  cluster.settings.spread.hard = false;
  cluster.settings.control.rebalance_delay = 20s;
  cluster.settings.control.max_offline = 1;
  return cluster;
}

void expect_settled(Simulation& simulation, std::uint64_t seed) {
  ASSERT_TRUE(simulation.run_until_holds(movement_settled, 30min)) << seed << ": " << simulation.why_not(movement_settled);
  ASSERT_EQ(simulation.violation(), std::nullopt) << seed;
}

TEST(Movement, ALostNodeMovesWhatItHeldAndANewOneGetsItsShare) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Cluster cluster = draw_cluster(seed);
    Simulation simulation({.seed = seed, .cluster = cluster, .writes_per_second = 2});
    expect_settled(simulation, seed);
    const Places first = places(simulation, cluster);
    const NodeId lost("n2");
    ASSERT_TRUE(simulation.perform({Action::Kind::kill, {.node = lost}}));
    simulation.run_for(1min);
    ASSERT_TRUE(simulation.perform({Action::Kind::remove, {.node = lost}}));
    simulation.run_for(1s);
    expect_settled(simulation, seed);
    simulation.run_for(5min);
    const Places second = places(simulation, cluster);
    EXPECT_EQ(on(second, lost), Places()) << seed;
    // What is left may be one from level, which is worth a move more.
    EXPECT_LE(without(without(first, second), on(first, lost)).size(), 1u) << seed << ": what moved is not what was on it";
    EXPECT_EQ(second.size(), first.size()) << seed;

    const NodeId fresh("fresh");
    ASSERT_TRUE(simulation.perform({Action::Kind::add, {.text = "{name: fresh, zone: zone-of-fresh}"}}));
    simulation.run_for(5min);
    expect_settled(simulation, seed);
    const Places third = places(simulation, cluster);
    EXPECT_EQ(without(third, second), on(third, fresh)) << seed << ": something moved between the old ones";
    const std::size_t share = (second.size() + cluster.nodes.size() - 1) / cluster.nodes.size();
    EXPECT_LE(on(third, fresh).size(), share) << seed << ": more than its share, of " << second.size();
  }
}

}  // namespace
}  // namespace evenkeel::sim
