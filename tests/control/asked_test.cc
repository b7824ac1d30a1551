// What people and pulses ask a machine.

#include <gtest/gtest.h>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

TEST(Asked, WorkloadsSayWhatTheyLack) {
  Bench bench;
  bench.configure();
  bench.create(workload_of(3, 2));
  bench.run(10s);
  ASSERT_EQ(bench.machine->workloads().size(), 1);
  const WorkloadState before = bench.machine->workloads()[0];
  EXPECT_EQ(before.workload.str(), "t");
  EXPECT_EQ(before.state_model, "leader-follower");
  EXPECT_EQ(before.shards, 3);
  EXPECT_EQ(before.replicas, 2);
  EXPECT_EQ(before.leaderless, 3);
  EXPECT_EQ(before.below_min_active, 3);
  for (const char* name : {"n1", "n2"}) bench.join(name, name);
  bench.run(10s);
  const WorkloadState after = bench.machine->workloads()[0];
  EXPECT_EQ(after.leaderless, 0);
  EXPECT_EQ(after.below_min_active, 0);
  EXPECT_EQ(bench.machine->view({WorkloadId("t"), ShardIndex(1)}), bench.shard(1).view);
  EXPECT_FALSE(bench.machine->view({WorkloadId("t"), ShardIndex(3)}));
  EXPECT_FALSE(bench.machine->view({WorkloadId("u"), ShardIndex(0)}));
  // Of a deleted one nothing but its epoch is left, and that is nobody's workload.
  bench.create(workload_of(3, 2), true);
  EXPECT_TRUE(bench.machine->workloads().empty() || bench.machine->workloads()[0].deleted);
  bench.run(1min);
  EXPECT_TRUE(bench.machine->workloads().empty());
}

TEST(Asked, OnlyTheProcessThatCountsIsKnown) {
  Bench bench;
  bench.configure();
  bench.join("n1");
  bench.run(1s);
  const NodeId n1("n1");
  const Incarnation first = bench.node("n1").incarnation;
  EXPECT_TRUE(bench.machine->knows(n1, first));
  EXPECT_FALSE(bench.machine->knows(n1, Incarnation(first.value() + 1)));
  EXPECT_FALSE(bench.machine->knows(NodeId("n2"), first));
  bench.end("n1");
  EXPECT_FALSE(bench.machine->knows(n1, first));
}

TEST(Asked, APulseOfNobodyLeavesNothing) {
  Bench bench;
  bench.configure();
  bench.join("n1");
  bench.run(1s);
  bench.feed(Pulsed{{.node = NodeId("n9"), .incarnation = Incarnation(9), .count = 1}, 1s});
  bench.feed(PulseBroken{NodeId("n8")});
  ASSERT_EQ(bench.machine->nodes(bench.now).size(), 1);
  EXPECT_EQ(bench.machine->nodes(bench.now)[0].node.str(), "n1");
}

}  // namespace
}  // namespace evenkeel::control::test
