// Workloads that end, shrink, or ask for more than there is.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

const Key document{.kind = Key::Kind::workload, .workload = WorkloadId("t")};

void join_three(Bench& bench) {
  bench.configure();
  for (const char* name : {"n1", "n2", "n3"}) bench.join(name, name);
}

TEST(Workloads, ADeletedOneIsDroppedAndLeavesItsHighestEpoch) {
  Bench bench;
  join_three(bench);
  bench.create(workload_of(2, 3));
  bench.run(1s);
  bench.restart("n1");
  bench.run(10s);
  const Epoch reached = bench.shard().record.version.epoch;
  bench.create(workload_of(2, 3), true);
  bench.run(60s);
  for (const char* name : {"n1", "n2", "n3"}) EXPECT_TRUE(bench.node(name).held.empty()) << name;
  EXPECT_FALSE(bench.stored<RecordBucket>({.kind = Key::Kind::shards, .workload = WorkloadId("t")}));
  EXPECT_FALSE(bench.stored<ViewBucket>({.kind = Key::Kind::view, .workload = WorkloadId("t")}));
  EXPECT_TRUE(bench.targets.empty());
  EXPECT_GE(bench.stored<WorkloadDocument>(document)->highest, reached);
  EXPECT_TRUE(bench.said("t is gone"));

  const Epoch highest = bench.stored<WorkloadDocument>(document)->highest;
  bench.create(workload_of(70, 3), false, highest);  // in other buckets
  bench.run(10s);
  EXPECT_GT(bench.shard().record.version.epoch, highest);
  EXPECT_TRUE(bench.shard(69).view.leader) << bench.why(69);
}

TEST(Workloads, ADeletedOneIsKeptWhileSomebodyHoldsItWhoIsNotThere) {
  Bench bench;
  join_three(bench);
  bench.create(workload_of(1, 3));
  bench.run(1s);
  bench.end("n3");
  bench.create(workload_of(1, 3), true);
  bench.run(60s);
  EXPECT_EQ(bench.holders(), "n3");
  EXPECT_NE(bench.why().find("n3 is to drop it, and is not there"), std::string::npos) << bench.why();
  bench.join("n3");
  bench.run(1s);
  EXPECT_TRUE(bench.node("n3").held.empty());
  EXPECT_FALSE(bench.stored<RecordBucket>({.kind = Key::Kind::shards, .workload = WorkloadId("t")}));
}

TEST(Workloads, ADeletedOneThatIsWantedAgainBeginsAnew) {
  Bench bench;
  join_three(bench);
  bench.create(workload_of(6, 2));
  bench.run(1s);
  const Epoch before = bench.shard().record.version.epoch;
  bench.end("n3");
  bench.create(workload_of(6, 2), true);
  bench.run(60s);
  EXPECT_TRUE(bench.node("n1").held.empty());
  bench.create(workload_of(6, 2));
  bench.run(60s);
  for (std::uint32_t s = 0; s < 6; ++s) {
    EXPECT_TRUE(bench.shard(s).view.leader) << bench.why(s);
    EXPECT_GT(bench.shard(s).record.version.epoch, before);
  }
}

TEST(Workloads, NothingIsDroppedOfADeletedOneInMaintenance) {
  Bench bench;
  join_three(bench);
  bench.create(workload_of(1, 3));
  bench.run(1s);
  bench.config.maintenance = Maintenance{.reason = "disks"};
  bench.configure();
  bench.create(workload_of(1, 3), true);
  bench.run(60s);
  EXPECT_EQ(bench.node("n1").held.size(), 1u);
}

TEST(Workloads, ShardsDoNotBecomeFewer) {
  for (const bool another : {false, true}) {
    Bench bench;
    join_three(bench);
    bench.create(workload_of(4, 3));
    bench.run(1s);
    bench.create(workload_of(2, 3));
    if (another) bench.take_over();
    bench.run(10s);
    EXPECT_EQ(bench.holders(3).size(), 9u);
    EXPECT_NE(bench.why(0).find("has 4 shards and cannot have 2"), std::string::npos) << bench.why(0);
    EXPECT_EQ(bench.commits.back().view.shards_in_all, 4u);
  }
}

// What is on every node is not planned, and a bar of it does not stop the planning of the others.
TEST(Workloads, ABarOfOneThatIsNotPlannedDisturbsNobody) {
  Bench bench;
  join_three(bench);
  Workload everywhere = workload_of(2, 1);
  everywhere.name = WorkloadId("e");
  everywhere.state_model = StateModelId("everywhere");
  bench.create(everywhere);
  bench.create(workload_of(2, 3));
  bench.order(
      "n1",
      {.disabled = {{everywhere.name, ShardIndex(1)}, {WorkloadId("unknown"), ShardIndex(0)}, {WorkloadId("t"), ShardIndex(2)}}});
  bench.run(1min);
  EXPECT_FALSE(bench.said("cannot be planned"));
  EXPECT_TRUE(bench.shard().view.leader) << bench.why();
}

TEST(Workloads, WhatHasNoPlaceSaysWhy) {
  Bench bench;
  bench.config.settings.spread.hard = true;
  join_three(bench);
  bench.create(workload_of(1, 3));
  bench.run(1s);
  bench.create(workload_of(1, 5));
  bench.run(1s);
  EXPECT_EQ(bench.holders().size(), 9u);
  EXPECT_NE(bench.why().find("no place"), std::string::npos) << bench.why();
}

TEST(Workloads, ANodeThatCannotCarryAStateModelGetsNoneOfIt) {
  Bench bench;
  bench.configure();
  bench.join("n1", "a", [](LiveDocument& live) { live.state_models = {StateModelId("online-offline")}; });
  bench.join("n2", "b");
  bench.create(workload_of(4, 1));
  bench.run(1s);
  EXPECT_TRUE(bench.node("n1").held.empty());
  EXPECT_EQ(bench.node("n2").held.size(), 4u);
  bench.create(workload_of(4, 2));
  bench.run(1s);
  EXPECT_TRUE(bench.node("n1").held.empty());
  EXPECT_NE(bench.why().find("no place"), std::string::npos) << bench.why();
}

// Who is in a state that only one may be in, and does not lead, leaves it before it goes.
TEST(Workloads, ADrainedNodeLeavesABoundedStateThatIsNotLeadership) {
  const auto state = [](const char* name, StateCount count) { return State{StateId(name), count}; };
  const auto edge = [](const char* from, const char* to) { return StateEdge{StateId(from), StateId(to)}; };
  auto model =
      StateModel::make({.name = StateModelId("warm"),
                        .states = {state("leader", {StateCount::Kind::number, 1}), state("warm", {StateCount::Kind::number, 1}),
                                   state("follower", {StateCount::Kind::replicas}), state("offline", {})},
                        .initial = StateId("offline"),
                        .transitions = {edge("offline", "follower"), edge("follower", "warm"), edge("warm", "follower"),
                                        edge("follower", "leader"), edge("leader", "follower"), edge("follower", "offline")}});
  ASSERT_TRUE(model) << fmt::format("{}", fmt::join(model.error(), "; "));
  Bench bench;
  bench.config.state_models = {*model};
  join_three(bench);
  bench.join("n4", "n4");
  Workload workload = workload_of(1, 3);
  workload.state_model = StateModelId("warm");
  bench.create(workload);
  bench.run(10s);
  const auto holders = bench.shard().record.holders;
  const auto warm = std::ranges::find(holders, StateId("warm"), &Holder::told);
  ASSERT_NE(warm, holders.end()) << bench.why();
  bench.order(warm->node.str(), {.operation = Operation::drain});
  bench.run(60s);
  EXPECT_EQ(bench.holders().find(warm->node.str()), std::string::npos) << bench.holders() << " " << bench.why();
  EXPECT_NE(std::ranges::count(bench.shard().record.holders, StateId("warm"), &Holder::told), 0);
}

}  // namespace
}  // namespace evenkeel::control::test
