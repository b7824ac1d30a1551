// How a cluster stands, from the documents that the bench has: the same as its controller says.

#include "evenkeel/control/survey.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

using SurveyState = NodeSurvey::State;

class Survey : public testing::Test {
 protected:
  void SetUp() override {
    bench.configure();
    for (const char* name : {"n1", "n2", "n3"}) bench.join(name, name);
    bench.create(workload_of(4, 3));
    bench.run(1s);
  }
  NodeSurvey node(const std::string& name) {
    for (NodeSurvey& one : survey_nodes(snapshot_of(bench))) {
      if (one.node.str() == name) return one;
    }
    ADD_FAILURE() << "no node " << name;
    return {};
  }
  Bench bench;
};

TEST_F(Survey, CountsWhatTheControllerCounts) {
  const auto nodes = survey_nodes(snapshot_of(bench));
  const auto states = bench.machine->nodes(bench.now);
  ASSERT_EQ(nodes.size(), states.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(nodes[i].node, states[i].node);
    EXPECT_EQ(nodes[i].replicas, states[i].replicas);
    EXPECT_EQ(nodes[i].leaders, states[i].leaders);
    EXPECT_EQ(nodes[i].state, SurveyState::there);
  }
  const auto workloads = survey_workloads(snapshot_of(bench));
  ASSERT_EQ(workloads.size(), 1u);
  EXPECT_EQ(workloads[0].led, 4u);
  EXPECT_EQ(workloads[0].below_min_active, 0u);
  EXPECT_EQ(workloads[0].incomplete, 0u);
}

// The record tells it to lead, and its handler fails each time: nobody leads.
TEST_F(Survey, WhoFailsToLeadIsNoLeader) {
  Snapshot seen = snapshot_of(bench);
  const ShardId s0{WorkloadId("t"), ShardIndex(0)};
  const NodeId leader = *seen.view(s0)->leader;
  const std::uint32_t leaders = node(leader.str()).leaders;
  for (Report& report : seen.reports) {
    if (report.node != leader) continue;
    for (ReplicaReport& replica : report.replicas) {
      if (replica.shard != s0.shard) continue;
      replica.state = StateId("follower");
      replica.error = "no space";
      replica.tries = 2;
    }
  }
  for (auto& [key, bucket] : seen.views) {
    for (ShardView& view : bucket.shards) {
      if (view.shard == s0.shard) view.next = std::exchange(view.leader, std::nullopt);
    }
  }
  for (const NodeSurvey& one : survey_nodes(seen)) {
    EXPECT_EQ(one.replicas, 4u) << one.node.str();
    EXPECT_EQ(one.errors, one.node == leader ? 1u : 0u) << one.node.str();
    if (one.node == leader) {
      EXPECT_EQ(one.leaders, leaders - 1);
    }
  }
}

TEST_F(Survey, TheControllerCountsAsLeadersThoseThatHaveSaidSo) {
  const auto leaders = [&] {
    std::uint32_t all = 0;
    for (const NodeState& state : bench.machine->nodes(bench.now)) all += state.leaders;
    return all;
  };
  EXPECT_EQ(leaders(), 4u);
  const std::string old = bench.shard().view.leader->str();
  for (const char* name : {"n1", "n2", "n3"}) bench.node(name).obeys = name == old;
  bench.order(old, {.operation = Operation::no_leaders});
  bench.run(1s);
  const auto told = [](const Holder& holder) { return holder.told.str() == "leader"; };
  EXPECT_TRUE(std::ranges::any_of(bench.shard().record.holders, told)) << "somebody is told to lead, and does not yet";
  EXPECT_EQ(bench.shard().view.leader, std::nullopt);
  std::uint32_t led = 0;
  for (const NodeSurvey& one : survey_nodes(snapshot_of(bench))) led += one.leaders;
  EXPECT_LT(led, 4u);
  EXPECT_EQ(leaders(), led);
}

TEST_F(Survey, SaysWhoIsGoneAndWhatThatLeaves) {
  bench.order("n9", {.operation = Operation::cordon, .reason = "not yet"});
  EXPECT_EQ(node("n9").state, SurveyState::never);
  EXPECT_EQ(node("n9").reason, "not yet");
  bench.end("n3");
  bench.run(20s);
  EXPECT_EQ(node("n3").state, SurveyState::gone);
  ASSERT_TRUE(node("n3").gone);
  EXPECT_GE(*node("n3").gone, 10s);
  EXPECT_EQ(node("n3").zone, "n3") << "as it said last";
  const auto workloads = survey_workloads(snapshot_of(bench));
  EXPECT_EQ(workloads[0].incomplete, 4u);
  EXPECT_EQ(workloads[0].below_min_active, bench.machine->overview().below_min_active);
  EXPECT_EQ(workloads[0].led, 4u);
}

// Nobody can take its replicas, so it stays on the list.
TEST_F(Survey, HowLongOneIsGoneIsCountedAlsoWhenItIsNotWaitedForAnyMore) {
  bench.end("n3");
  bench.run(30min + 30s);
  ASSERT_TRUE(node("n3").gone);
  EXPECT_GE(*node("n3").gone, 30min);
  bench.take_over();
  bench.run(10min);
  EXPECT_GE(*node("n3").gone, 39min) << "a successor goes on from there";
}

TEST_F(Survey, WhatANodeSaysGoesBeforeWhatIsKeptOfAnEarlierJoin) {
  const NodeId n1("n1");
  Snapshot seen = snapshot_of(bench);
  ASSERT_TRUE(seen.live.contains(n1) && seen.members.contains(n1));
  LiveDocument& kept = seen.members.at(n1);
  kept.incarnation = Incarnation(77);
  kept.zone = "where it was";
  EXPECT_EQ(seen.said(n1)->zone, "n1");
  EXPECT_TRUE(is_there(seen, n1));
  // The other way round as well: the kept one is of the present join.
  std::swap(seen.live.at(n1), seen.members.at(n1));
  EXPECT_EQ(seen.said(n1)->zone, "n1");
  seen.live.erase(n1);
  EXPECT_EQ(seen.said(n1)->zone, "n1");
  EXPECT_EQ(seen.said(NodeId("n9")), nullptr);
}

TEST_F(Survey, AWorkloadThatNobodyServesIsNotWell) {
  Workload other = workload_of(5, 3);
  other.name = WorkloadId("u");
  Snapshot seen = snapshot_of(bench);
  seen.workloads.emplace(other.name, WorkloadDocument{.spec = other});
  const auto workloads = survey_workloads(seen);
  ASSERT_EQ(workloads.size(), 2u);
  EXPECT_EQ(workloads[1].led, 0u);
  EXPECT_EQ(workloads[1].below_min_active, 5u);
}

TEST_F(Survey, PutsRecordAndReportsSideBySide) {
  const ShardId s0{WorkloadId("t"), ShardIndex(0)};
  Snapshot seen = snapshot_of(bench);
  auto replicas = survey_replicas(seen, s0);
  ASSERT_EQ(replicas.size(), 3u);
  for (const ReplicaSurvey& one : replicas) {
    ASSERT_TRUE(one.told != nullptr && one.says != nullptr && one.there);
    EXPECT_EQ(one.told->told, one.says->state);
  }
  seen.records.clear();
  replicas = survey_replicas(seen, s0);
  ASSERT_EQ(replicas.size(), 3u);
  EXPECT_EQ(replicas[0].told, nullptr);
  EXPECT_EQ(replicas[0].node, NodeId("n1"));
}

TEST_F(Survey, ExplainsAsAControllerWould) {
  const ShardId s0{WorkloadId("t"), ShardIndex(0)};
  EXPECT_TRUE(explain(snapshot_of(bench), s0).empty());
  bench.end("n3");
  bench.run(20s);
  const auto why = explain(snapshot_of(bench), s0);
  ASSERT_FALSE(why.empty());
  EXPECT_TRUE(std::ranges::any_of(why, [](const std::string& line) { return line.starts_with("n3 is gone for "); }))
      << why.front();
}

}  // namespace
}  // namespace evenkeel::control::test
