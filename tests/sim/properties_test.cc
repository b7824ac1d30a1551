// Properties of whole lives: what may happen to documents, clocks and controllers without changing where things end.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "evenkeel/model/cluster_file.h"
#include "evenkeel/sim/run.h"

namespace evenkeel::sim {
namespace {

Cluster four_nodes() {
  auto cluster = parse_cluster(R"(
cluster: c
nodes: [{name: "n[1-4]", zone: "z[1-4]"}]
workloads: [{name: t, shards: 6, replicas: 3, acks: 2}]
)",
                               "test.yaml");
  if (!cluster) ADD_FAILURE() << cluster.error().format();
  return cluster.value();
}

const Condition settled{Condition::Kind::settled, false, {}};
Condition of(Condition::Kind kind, Words words) { return {kind, false, std::move(words)}; }

void act(Simulation& simulation, Action::Kind kind, Words words = {}) {
  const auto done = simulation.perform({kind, std::move(words)});
  EXPECT_TRUE(done) << done.error().message;
}

void expect_holds(Simulation& simulation, const Condition& condition, Duration most) {
  EXPECT_TRUE(simulation.run_until_holds(condition, most)) << simulation.why_not(condition);
  EXPECT_EQ(simulation.violation(), std::nullopt);
}

// A node dies and comes back, another one is drained.
void live(Simulation& simulation) {
  expect_holds(simulation, settled, 2min);
  act(simulation, Action::Kind::kill, {.node = NodeId("n2")});
  simulation.run_for(20s);
  act(simulation, Action::Kind::start, {.node = NodeId("n2")});
  simulation.run_for(20s);
  act(simulation, Action::Kind::drain, {.node = NodeId("n3")});
  expect_holds(simulation, of(Condition::Kind::holds_nothing, {.node = NodeId("n3")}), 5min);
  expect_holds(simulation, settled, 3min);
}

std::set<std::set<NodeId>> where_it_is(const Simulation& simulation) {
  std::set<std::set<NodeId>> places;
  for (const ShardRecord& record : simulation.records(WorkloadId("t"))) {
    std::set<NodeId> nodes;
    for (const Holder& holder : record.holders) nodes.insert(holder.node);
    places.insert(nodes);
  }
  return places;
}

const std::set<std::set<NodeId>> on_the_others{{NodeId("n1"), NodeId("n2"), NodeId("n4")}};

// Every target is written again as it is, again and again, so that it is delivered twice and more.
class Echo {
 public:
  explicit Echo(Simulation& simulation) : simulation_(simulation), store_(simulation.store().connect("echo")) { again(); }

 private:
  void again() {
    for (const store::Entry& entry : simulation_.store().contents().entries) {
      const auto key = simulation_.keys().parse(entry.key);
      if (!key || key->kind != Key::Kind::target) continue;
      store::Txn txn;
      txn.compare(store::unchanged(entry)).put(entry.key, entry.value);
      store_->txn(std::move(txn), [](const Result<store::Committed>&) {});
    }
    simulation_.loop().post_after(300ms, [this, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) again();
    });
  }

  Simulation& simulation_;
  std::unique_ptr<store::Store> store_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

TEST(Properties, TargetsThatComeTwiceChangeNothing) {
  for (const std::uint64_t seed : {1, 2}) {
    // Without the checkers, which would hold it against somebody that targets are written by none of the controllers.
    Simulation simulation({.seed = seed, .cluster = four_nodes(), .check = false});
    Echo echo(simulation);
    live(simulation);
    EXPECT_EQ(where_it_is(simulation), on_the_others);
  }
}

// Watches fall behind, so that documents between are never seen; lists are old; answers come late.
TEST(Properties, TargetsThatComeLateOrNeverChangeNothingInTheEnd) {
  for (const std::uint64_t seed : {1, 2}) {
    Simulation simulation(
        {.seed = seed, .cluster = four_nodes(), .store = {.delay_max = 100ms, .late_watch = 300'000, .stale_lists = 300'000}});
    live(simulation);
    EXPECT_EQ(where_it_is(simulation), on_the_others);
  }
}

// Whoever is active dies a moment after it has taken office, until there is nothing left to do.
TEST(Properties, ControllersThatDieAgainAndAgainComeToTheSameEnd) {
  for (const std::uint64_t seed : {1, 2}) {
    Simulation simulation({.seed = seed, .cluster = four_nodes()});
    expect_holds(simulation, settled, 2min);
    act(simulation, Action::Kind::kill, {.node = NodeId("n2")});
    act(simulation, Action::Kind::drain, {.node = NodeId("n3")});
    const Condition first = of(Condition::Kind::active, {.number = 1}), second = of(Condition::Kind::active, {.number = 2});
    for (int i = 0; i < 60 && !simulation.violation(); ++i) {
      if (i == 20) act(simulation, Action::Kind::start, {.node = NodeId("n2")});
      simulation.run_for(Duration(10ms) * (1 + i % 37));  // each time at another step
      const bool one = simulation.holds(first);
      if (!one && !simulation.holds(second)) {
        simulation.run_for(1s);
        continue;
      }
      act(simulation, Action::Kind::kill_controller, {.number = one ? 1u : 2u});
      act(simulation, Action::Kind::start_controller, {.number = one ? 1u : 2u});
    }
    expect_holds(simulation, of(Condition::Kind::holds_nothing, {.node = NodeId("n3")}), 3min);
    expect_holds(simulation, settled, 3min);
    EXPECT_EQ(where_it_is(simulation), on_the_others);
  }
}

// Nobody's clock is compared with anybody else's: the same life with clocks an hour apart is as calm.
TEST(Properties, ClocksAnHourApartChangeNothing) {
  std::map<bool, Calm> calm;
  for (const bool apart : {false, true}) {
    Simulation simulation({.seed = 5, .cluster = four_nodes()});
    for (const char* name : {"n1", "n2", "n3", "n4"}) {
      if (apart) act(simulation, Action::Kind::clock_ahead, {.node = NodeId(name), .time = 1h * (name[1] - '0')});
      act(simulation, Action::Kind::kill, {.node = NodeId(name)});
      act(simulation, Action::Kind::start, {.node = NodeId(name)});
    }
    live(simulation);
    calm[apart] = simulation.calm();
  }
  EXPECT_EQ(calm[true].moves, calm[false].moves);
  EXPECT_EQ(calm[true].leader_changes, calm[false].leader_changes);
}

// A crash of the leader costs two changes: away from it, and back once it has caught up.
TEST(Properties, LeadershipComesBackOnce) {
  Simulation simulation({.seed = 6, .cluster = four_nodes()});
  expect_holds(simulation, settled, 2min);
  const auto led = simulation.sample().nodes.front().leaders;
  ASSERT_GT(led, 0u);
  const std::uint64_t before = simulation.calm().leader_changes;
  act(simulation, Action::Kind::kill, {.node = NodeId("n1")});
  simulation.run_for(30s);
  act(simulation, Action::Kind::start, {.node = NodeId("n1")});
  simulation.run_for(5min);
  expect_holds(simulation, settled, 1s);
  EXPECT_EQ(simulation.sample().nodes.front().leaders, led);
  EXPECT_EQ(simulation.calm().leader_changes - before, 2 * led);
}

}  // namespace
}  // namespace evenkeel::sim
