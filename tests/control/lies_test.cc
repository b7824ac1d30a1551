// What is wrong with what nodes and specs say: it changes nothing, and explain names it.

#include <gtest/gtest.h>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

void three_nodes(Bench& bench, std::uint32_t shards = 1) {
  bench.configure();
  for (const char* name : {"n1", "n2", "n3"}) bench.join(name, name);
  Workload workload = workload_of(shards, 3);
  workload.control.acks = 2;
  bench.create(workload);
  bench.run(10s);
}

// It says so, and keeps to it whatever it is told.
void lie(Bench& bench, const std::string& name, const std::function<void(ReplicaReport&)>& change) {
  BenchNode& node = bench.node(name);
  Report report{.node = node.name, .workload = s0.workload, .incarnation = node.incarnation, .data = node.data};
  report.replicas.push_back(node.held.at(s0));
  change(report.replicas.front());
  bench.put({.kind = Key::Kind::report, .node = node.name, .workload = s0.workload}, report);
}

std::string follower(const Bench& bench) { return bench.shard().view.others.front().node.str(); }

TEST(Lies, ALeadershipThatWasNotGivenCountsForNothing) {
  Bench bench;
  three_nodes(bench);
  const auto leader = bench.shard().view.leader;
  const ShardRecord before = bench.shard().record;
  const std::string liar = follower(bench);
  lie(bench, liar, [](ReplicaReport& report) { report.state = StateId("leader"); });
  bench.run(1min);
  EXPECT_EQ(bench.shard().view.leader, leader);
  EXPECT_EQ(bench.shard().record, before);
  EXPECT_NE(bench.why().find(liar + " says that it is leader, which it was not told"), std::string::npos) << bench.why();
}

TEST(Lies, AnEpochOfTheFutureIsOnlyPassedOver) {
  Bench bench;
  three_nodes(bench);
  const auto leader = bench.shard().view.leader;
  const std::string liar = follower(bench);
  lie(bench, liar, [](ReplicaReport& report) { report.version = {Epoch(1000), Change(0)}; });
  bench.run(1min);
  EXPECT_EQ(bench.shard().view.leader, leader);
  EXPECT_NE(bench.why().find(liar + " names epoch 1000, which was not given"), std::string::npos) << bench.why();
  bench.end(leader->str());
  bench.run(30s);
  EXPECT_TRUE(bench.shard().view.leader) << bench.why();
  EXPECT_GT(bench.shard().record.version.epoch, Epoch(1000));  // nobody can take an old one's word for the new one's
  EXPECT_EQ(bench.why().find("names epoch"), std::string::npos) << bench.why();
}

TEST(Lies, ProgressThatGoesBackMovesNobody) {
  Bench bench;
  three_nodes(bench);
  const std::string leader = bench.shard().view.leader->str();
  lie(bench, leader, [](ReplicaReport& report) { report.progress = 100; });
  const ShardRecord before = bench.shard().record;
  lie(bench, leader, [](ReplicaReport& report) { report.progress = 3; });
  bench.run(1min);
  EXPECT_EQ(bench.shard().record, before);
  EXPECT_EQ(bench.shard().view.leader, NodeId(leader));
}

TEST(Lies, AShardThatDoesNotExistIsAnOrphan) {
  Bench bench;
  three_nodes(bench);
  lie(bench, "n1", [](ReplicaReport& report) { report.shard = ShardIndex(77); });
  bench.run(1s);
  const auto orphans = bench.machine->overview().orphans;
  ASSERT_EQ(orphans.size(), 1u);
  EXPECT_EQ(orphans.front().shard, (ShardId{WorkloadId("t"), ShardIndex(77)}));
  EXPECT_EQ(orphans.front().node, NodeId("n1"));
}

TEST(Lies, AnotherShardsReplicaIsAnOrphanAndExplained) {
  Bench bench;
  three_nodes(bench);
  bench.join("n4", "n4");
  bench.node("n4").held[s0] = bench.node("n1").held.at(s0);
  lie(bench, "n4", [](ReplicaReport&) {});
  bench.run(1s);
  EXPECT_EQ(bench.holders().find("n4"), std::string::npos) << bench.holders();
  EXPECT_NE(bench.why().find("n4 holds it, and no record knows"), std::string::npos) << bench.why();
}

TEST(Lies, WhoSaysThatItDroppedWhatItShouldHaveIsToldAgain) {
  Bench bench;
  three_nodes(bench);
  const std::string liar = follower(bench);
  lie(bench, liar, [](ReplicaReport& report) { report.state = StateId(std::string(state_dropped)); });
  bench.run(1s);
  EXPECT_EQ(bench.shard().view.others.size(), 1u);  // it does not serve, by its own word
  EXPECT_NE(bench.holders().find(liar), std::string::npos);
}

TEST(Specs, AStateModelThatNobodyKnowsIsSaidAndHarmsNobody) {
  Bench bench;
  three_nodes(bench);
  Workload other = workload_of(2, 3);
  other.name = WorkloadId("u");
  other.state_model = StateModelId("nonsense");
  bench.create(other);
  bench.run(1s);
  EXPECT_NE(fmt::format("{}", fmt::join(bench.shard(0, "u").why, "; ")).find("no state model \"nonsense\""), std::string::npos);
  EXPECT_TRUE(bench.shard(0, "u").record.holders.empty());
  bench.end(bench.shard().view.leader->str());
  bench.run(5s);
  EXPECT_TRUE(bench.shard().view.leader);
}

// A spec that is changed into one that cannot be keeps what is there.
TEST(Specs, AStateModelThatIsTakenAwayStopsOnlyItsWorkload) {
  Bench bench;
  three_nodes(bench);
  const std::string before = bench.holders();
  Workload other = workload_of(1, 3);
  other.state_model = StateModelId("nonsense");
  bench.create(other);
  bench.run(1min);
  EXPECT_EQ(bench.holders(), before);
  EXPECT_NE(bench.why().find("no state model"), std::string::npos) << bench.why();
}

}  // namespace
}  // namespace evenkeel::control::test
