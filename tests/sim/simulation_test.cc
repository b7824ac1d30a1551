#include "evenkeel/sim/simulation.h"

#include <gtest/gtest.h>

#include <functional>

#include "evenkeel/model/cluster_file.h"

namespace evenkeel::sim {
namespace {

Cluster cluster_of(const std::string& text) {
  auto cluster = parse_cluster(text, "test.yaml");
  if (!cluster) ADD_FAILURE() << cluster.error().format();
  return cluster.value();
}

Cluster three_nodes() {
  return cluster_of(R"(
cluster: c
nodes: [{name: "n[1-3]", zone: "z[1-3]"}]
workloads: [{name: t, shards: 8, replicas: 3, min_active: 2, acks: 2}]
)");
}

const Condition all_settled{Condition::Kind::settled, false, {}};
const Condition all_led{Condition::Kind::all_led, false, {}};

Condition condition_of(Condition::Kind kind, Words words) { return {kind, false, std::move(words)}; }
Action act(Action::Kind kind, Words words = {}) { return {kind, std::move(words)}; }

std::string last_moments(const Simulation& simulation) {
  std::string out;
  const auto& timeline = simulation.timeline();
  for (std::size_t i = timeline.size() > 60 ? timeline.size() - 60 : 0; i < timeline.size(); ++i)
    out += fmt::format("{} {}: {}\n", format(timeline[i].at), timeline[i].who, timeline[i].what);
  return out;
}

void expect_soon(Simulation& simulation, const Condition& condition, Duration most) {
  EXPECT_TRUE(simulation.run_until_holds(condition, most)) << simulation.why_not(condition) << "\n" << last_moments(simulation);
  EXPECT_EQ(simulation.violation(), std::nullopt);
}

TEST(Simulation, AClusterComesUpAndSettles) {
  Simulation simulation({.seed = 1, .cluster = three_nodes()});
  expect_soon(simulation, all_settled, 1min);
  EXPECT_TRUE(simulation.holds(all_led));
  EXPECT_TRUE(simulation.holds(condition_of(Condition::Kind::holds, {.node = NodeId("n1"), .number = 8})));
  const auto records = simulation.records(WorkloadId("t"));
  ASSERT_EQ(records.size(), 8u);
  for (const ShardRecord& record : records) EXPECT_EQ(record.holders.size(), 3u);
  simulation.run_for(1min);
  EXPECT_TRUE(simulation.holds(all_settled)) << simulation.why_not(all_settled);
  EXPECT_GT(simulation.calm().writes, 0u);
  EXPECT_EQ(simulation.calm().moves, 0u);
}

// Something that is done again and again without time passing ends the run, and is named.
TEST(Simulation, AMomentWithoutAnEndIsFound) {
  Simulation simulation({.seed = 1, .cluster = three_nodes()});
  std::function<void()> again = [&] { simulation.loop().post([&] { again(); }); };
  again();
  simulation.run_for(1s);
  ASSERT_TRUE(simulation.violation().has_value());
  EXPECT_TRUE(simulation.violation()->starts_with("time stands still at 0s: ")) << *simulation.violation();
  EXPECT_EQ(simulation.elapsed(), Duration(0));
}

TEST(Simulation, LeadersMoveWhenANodeIsKilledAndComeBackWithIt) {
  Simulation simulation({.seed = 2, .cluster = three_nodes()});
  expect_soon(simulation, all_settled, 1min);
  ASSERT_TRUE(simulation.perform(act(Action::Kind::kill, {.node = NodeId("n3")})));
  EXPECT_FALSE(simulation.holds(all_led));
  expect_soon(simulation, all_led, 15s);
  EXPECT_TRUE(simulation.holds(condition_of(Condition::Kind::leads, {.node = NodeId("n3"), .number = 0})));
  EXPECT_FALSE(simulation.holds(all_settled));
  ASSERT_TRUE(simulation.perform(act(Action::Kind::start, {.node = NodeId("n3")})));
  expect_soon(simulation, all_settled, 3min);
  EXPECT_EQ(simulation.calm().moves, 0u);
}

TEST(Simulation, AnotherControllerTakesOver) {
  Simulation simulation({.seed = 3, .cluster = three_nodes()});
  expect_soon(simulation, all_settled, 1min);
  const bool first = simulation.holds(condition_of(Condition::Kind::active, {.number = 1}));
  ASSERT_TRUE(simulation.perform(act(Action::Kind::kill_controller, {.number = first ? 1u : 2u})));
  expect_soon(simulation, condition_of(Condition::Kind::active, {.number = first ? 2u : 1u}), 15s);
  ASSERT_TRUE(simulation.perform(act(Action::Kind::kill, {.node = NodeId("n1")})));
  expect_soon(simulation, all_led, 15s);
}

TEST(Simulation, TheSameSeedIsTheSameRun) {
  const auto run = [](std::uint64_t seed) {
    Simulation simulation({.seed = seed, .cluster = three_nodes(), .store = {.delay_max = 5ms, .lost_answers = 1000}});
    simulation.run_for(30s);
    EXPECT_TRUE(simulation.perform(act(Action::Kind::kill, {.node = NodeId("n2")})));
    simulation.run_for(30s);
    EXPECT_EQ(simulation.violation(), std::nullopt);
    return simulation.digest();
  };
  EXPECT_EQ(run(4), run(4));
  EXPECT_NE(run(4), run(5));
}

TEST(Simulation, TheStoreLosesItsLastMinute) {
  Simulation simulation({.seed = 5, .cluster = three_nodes()});
  expect_soon(simulation, all_settled, 1min);
  simulation.run_for(1min);
  ASSERT_TRUE(simulation.perform(act(Action::Kind::kill, {.node = NodeId("n1")})));
  expect_soon(simulation, all_led, 15s);
  ASSERT_TRUE(simulation.perform(act(Action::Kind::start, {.node = NodeId("n1")})));
  expect_soon(simulation, all_settled, 3min);
  ASSERT_TRUE(simulation.perform(act(Action::Kind::store_loses, {.time = 1min})));
  simulation.run_for(1s);
  expect_soon(simulation, all_settled, 5min);
}

TEST(Simulation, ANodeStandsStillIsCutOffAndGoesOn) {
  Simulation simulation({.seed = 6, .cluster = three_nodes()});
  expect_soon(simulation, all_settled, 1min);
  ASSERT_TRUE(simulation.perform(act(Action::Kind::stop, {.node = NodeId("n1"), .time = 30s})));
  simulation.run_for(20s);
  expect_soon(simulation, all_led, 5s);
  simulation.run_for(10s);
  expect_soon(simulation, all_settled, 3min);
  ASSERT_TRUE(simulation.perform(act(Action::Kind::cut, {.node = NodeId("n2"), .time = 30s})));
  simulation.run_for(20s);
  expect_soon(simulation, all_led, 5s);
  simulation.run_for(10s);
  expect_soon(simulation, all_settled, 3min);
}

TEST(Simulation, ANodeThatIsGoneForLongIsReplaced) {
  Simulation simulation({.seed = 7, .cluster = cluster_of(R"(
cluster: c
settings: {rebalance_delay: 1m}
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 8, replicas: 3, min_active: 2, acks: 2}]
)")});
  expect_soon(simulation, all_settled, 1min);
  ASSERT_TRUE(simulation.perform(act(Action::Kind::kill, {.node = NodeId("n1")})));
  expect_soon(simulation, all_led, 15s);
  EXPECT_EQ(simulation.calm().moves, 0u);
  expect_soon(simulation, all_settled, 3min);
  expect_soon(simulation, condition_of(Condition::Kind::holds_nothing, {.node = NodeId("n1")}), 1s);
  EXPECT_GT(simulation.calm().moves, 0u);
}

TEST(Simulation, WhatMakesNoSenseIsRefused) {
  Simulation simulation({.seed = 8, .cluster = three_nodes()});
  EXPECT_EQ(simulation.perform(act(Action::Kind::kill, {.node = NodeId("n9")})).error().code, Code::not_found);
  EXPECT_EQ(simulation.perform(act(Action::Kind::start, {.node = NodeId("n1")})).error().code, Code::refused);
  EXPECT_EQ(simulation.perform(act(Action::Kind::kill_controller, {.number = 9})).error().code, Code::not_found);
}

}  // namespace
}  // namespace evenkeel::sim
