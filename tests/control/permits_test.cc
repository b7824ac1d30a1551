// Rules 10 and 11: who may stop, who is swapped, who may be removed.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

using Stage = PermitDocument::Stage;

void nodes_of_zones(Bench& bench, int count, const Workload& workload) {
  bench.configure();
  for (int n = 1; n <= count; ++n) bench.join(fmt::format("n{}", n), fmt::format("z{}", n));
  bench.create(workload);
  bench.run(10s);
}

TEST(Permits, LeadersLeaveThenTheViewThenItMayGo) {
  Bench bench;
  nodes_of_zones(bench, 3, workload_of(3, 3));
  bench.ask_permit("n1");
  bench.run(1s);
  ASSERT_TRUE(bench.permit("n1"));
  EXPECT_EQ(bench.permit("n1")->stage, Stage::go) << bench.permit("n1")->reason;
  for (std::uint32_t s = 0; s < 3; ++s) {
    EXPECT_NE(bench.shard(s).view.leader, NodeId("n1"));
    EXPECT_EQ(bench.shard(s).view.others.size(), 1u);
  }
}

TEST(Permits, OutstandingOnesAreCountedTogether) {
  Bench bench;
  nodes_of_zones(bench, 3, workload_of(1, 3));
  bench.ask_permit("n1");
  bench.ask_permit("n2");
  bench.run(1s);
  EXPECT_EQ(bench.permit("n1")->stage, Stage::go);
  EXPECT_EQ(bench.permit("n2")->stage, Stage::asked);
  EXPECT_EQ(bench.permit("n2")->reason, "t/0 would have 1 serving, and needs 2");
  bench.restart("n1");
  bench.run(1s);
  EXPECT_FALSE(bench.permit("n1"));  // all is as it was
  EXPECT_EQ(bench.permit("n2")->stage, Stage::go);
}

// The first one's answer is written, and not seen yet.
TEST(Permits, OneThatIsBeingGivenCountsToo) {
  Bench bench;
  nodes_of_zones(bench, 3, workload_of(1, 3));
  std::vector<Stage> stages;
  for (const char* name : {"n1", "n2"}) {
    const Output out = bench.machine->step(
        Saw{{.kind = Key::Kind::permit, .node = NodeId(name)}, PermitDocument{.incarnation = bench.node(name).incarnation}},
        bench.now);
    for (const Put& put : out.puts) {
      if (const auto* permit = std::get_if<PermitDocument>(&put.document)) stages.push_back(permit->stage);
    }
  }
  EXPECT_EQ(stages, (std::vector{Stage::granted, Stage::asked}));
}

TEST(Permits, AreRevokedByTakingThemAwayBeforeGo) {
  Bench bench;
  nodes_of_zones(bench, 3, workload_of(1, 3));
  const std::string first = bench.shard().record.placement.front().str();
  bench.node(first).obeys = false;  // it does not step down
  bench.ask_permit(first);
  bench.run(1s);
  EXPECT_EQ(bench.permit(first)->stage, Stage::granted);
  EXPECT_NE(bench.why().find("waits for " + first + " to step down"), std::string::npos) << bench.why();
  bench.put({.kind = Key::Kind::permit, .node = NodeId(first)}, std::nullopt);
  bench.node(first).obeys = true;
  bench.run(2min);
  EXPECT_FALSE(bench.permit(first));
  EXPECT_EQ(bench.shard().view.leader, NodeId(first)) << bench.why();
  EXPECT_EQ(bench.shard().view.others.size(), 2u);
}

TEST(Permits, ItMayLeadAgainWhenItIsBack) {
  Bench bench;
  nodes_of_zones(bench, 3, workload_of(1, 3));
  const std::string first = bench.shard().record.placement.front().str();
  bench.ask_permit(first);
  bench.run(1s);
  bench.restart(first);
  bench.run(60s);
  EXPECT_EQ(bench.shard().view.leader, NodeId(first));
}

TEST(Permits, WhatCanNeverBeMetGetsAnotherCopyFirst) {
  Bench bench;
  Workload workload = workload_of(1, 1);
  workload.control.min_active = 1;
  nodes_of_zones(bench, 2, workload);
  const std::string first = bench.shard().record.placement.front().str(), other = first == "n1" ? "n2" : "n1";
  bench.planner = [&](const Cluster& cluster) {  // what a plan does about a node that is barred
    place::Plan plan;
    Placement& rows = plan.placement[WorkloadId("t")];
    rows.add(NodeIndex(cluster.nodes[0].name == NodeId(other) ? 0 : 1));
    rows.end_row();
    return plan;
  };
  bench.ask_permit(first);
  EXPECT_EQ(bench.permit(first)->stage, Stage::asked);
  EXPECT_NE(bench.permit(first)->reason.find("another copy is made first"), std::string::npos) << bench.permit(first)->reason;
  bench.run(100ms);
  ASSERT_EQ(bench.problems.back().barred.size(), 1u);
  EXPECT_EQ(bench.problems.back().nodes[bench.problems.back().barred.front().node.value()].name, NodeId(first));
  bench.run(30s);
  EXPECT_EQ(bench.holders(), other + "*");
  EXPECT_EQ(bench.permit(first)->stage, Stage::go) << bench.permit(first)->reason;
}

TEST(Permits, AreRefusedIfThereIsNoPlaceForAnotherCopy) {
  Bench bench;
  nodes_of_zones(bench, 1, workload_of(1, 1));
  bench.planner = [](const Cluster&) {
    place::Plan plan;
    plan.refused.push_back({.workload = WorkloadId("t"), .shard = ShardIndex(0), .detail = "no other node"});
    return plan;
  };
  bench.ask_permit("n1");
  bench.run(1s);
  EXPECT_EQ(bench.permit("n1")->stage, Stage::refused);
  EXPECT_NE(bench.permit("n1")->reason.find("no other node"), std::string::npos) << bench.permit("n1")->reason;
}

TEST(Permits, AllowOutageLetsTheOnlyOneGo) {
  Bench bench;
  nodes_of_zones(bench, 1, workload_of(1, 1));
  bench.ask_permit("n1", true);
  bench.run(1s);
  EXPECT_EQ(bench.permit("n1")->stage, Stage::go);
}

TEST(Permits, ThereAreNoneInMaintenance) {
  Bench bench;
  nodes_of_zones(bench, 3, workload_of(1, 3));
  bench.config.maintenance = Maintenance{.reason = "disks", .timeout = 1min};
  bench.configure();
  bench.ask_permit("n1");
  bench.run(30s);
  EXPECT_EQ(bench.permit("n1")->stage, Stage::asked);
  EXPECT_EQ(bench.permit("n1")->reason, "the cluster is in maintenance or frozen");
  bench.run(31s);  // its time is over
  EXPECT_EQ(bench.permit("n1")->stage, Stage::go);
}

// Delay 60 s, permit 10 min: nothing is placed anew before the permit is over and the delay has passed from then.
TEST(Permits, AtItsTimeOutANodeCountsAsLostFromThatMoment) {
  for (const bool another : {false, true}) {
    Bench bench;
    nodes_of_zones(bench, 4, workload_of(1, 3));
    const std::string gone = bench.shard().record.placement.front().str();
    bench.ask_permit(gone);
    bench.run(1s);
    bench.end(gone);
    bench.run(9min);
    if (another) bench.take_over();
    bench.run(1min + 50s);
    EXPECT_NE(bench.holders().find(gone), std::string::npos) << bench.holders();
    EXPECT_FALSE(bench.permit(gone));
    bench.run(40s);
    EXPECT_EQ(bench.shard().view.others.size(), 2u) << bench.holders() << bench.why();
  }
}

// Its replica fails for good, so all is never as it was: others wait for it until its time is over, also under another controller.
TEST(Permits, WhoIsBackAndNeverWholeKeepsItNoLongerThanItsTime) {
  for (const bool another : {false, true}) {
    Bench bench;
    nodes_of_zones(bench, 3, workload_of(1, 3));
    bench.ask_permit("n1");
    bench.run(1s);
    bench.node("n1").fails.insert(s0);
    bench.restart("n1");
    bench.run(5min);
    if (another) bench.take_over();
    bench.run(4min);
    EXPECT_TRUE(bench.permit("n1"));
    bench.run(2min);
    EXPECT_FALSE(bench.permit("n1"));
    EXPECT_TRUE(bench.said("its time is over"));
  }
}

std::string why_not(const Bench& bench, const std::vector<std::string>& names) {
  std::vector<NodeId> nodes_of_zones;
  for (const std::string& name : names) nodes_of_zones.emplace_back(name);
  const Stoppable answer = bench.machine->stoppable(nodes_of_zones);
  std::string text;
  for (const Stoppable::Node& node : answer.nodes) {
    if (!node.why_not.empty()) text += fmt::format("{}: {}\n", node.node, fmt::join(node.why_not, "; "));
  }
  EXPECT_EQ(answer.all, text.empty());
  return text;
}

TEST(Stoppable, AnswersForASetAndSaysWhyNotInTheWordsOfPermits) {
  Bench bench;
  nodes_of_zones(bench, 3, workload_of(1, 3));
  EXPECT_EQ(why_not(bench, {}), "");
  EXPECT_EQ(why_not(bench, {"n1"}), "");
  EXPECT_EQ(why_not(bench, {"n2", "n1", "n2"}),
            "n1: t/0 would have 1 serving, and needs 2\nn2: t/0 would have 1 serving, and needs 2\n");
  EXPECT_EQ(why_not(bench, {"n1", "n9"}), "n9: no node of this name is known\n");
  EXPECT_EQ(bench.machine->stoppable({NodeId("n2"), NodeId("n1"), NodeId("n2")}).nodes.size(), 2u);
}

TEST(Stoppable, CountsPermitsThatAreOut) {
  Bench bench;
  nodes_of_zones(bench, 3, workload_of(1, 3));
  bench.ask_permit("n1");
  bench.run(1s);
  EXPECT_EQ(why_not(bench, {"n1"}), "");  // it has one
  EXPECT_EQ(why_not(bench, {"n2"}), "n2: t/0 would have 1 serving, and needs 2\n");
  bench.ask_permit("n2");
  bench.run(1s);
  EXPECT_EQ(bench.permit("n2")->reason, "t/0 would have 1 serving, and needs 2");
  bench.restart("n1");
  bench.run(1s);
  EXPECT_EQ(bench.permit("n2")->stage, Stage::go);
  EXPECT_EQ(why_not(bench, {"n3"}), "n3: t/0 would have 1 serving, and needs 2\n");
}

TEST(Stoppable, ThoseThatShareNoShardCouldStopTogether) {
  Bench bench;
  bench.planner = [](const Cluster&) {  // t/0 on n1 and n2, t/1 on n3 and n4
    place::Plan plan;
    Placement& rows = plan.placement[WorkloadId("t")];
    for (std::uint32_t n = 0; n < 4; ++n) {
      rows.add(NodeIndex(n));
      if (n % 2 == 1) rows.end_row();
    }
    return plan;
  };
  nodes_of_zones(bench, 4, workload_of(2, 2));
  EXPECT_EQ(why_not(bench, {"n1", "n3"}), "");
  EXPECT_EQ(why_not(bench, {"n1", "n2", "n3"}),
            "n1: t/0 would have 0 serving, and needs 1\nn2: t/0 would have 0 serving, and needs 1\n");
}

TEST(Stoppable, NobodyInMaintenanceAndOnlyTheActiveControllerKnows) {
  Bench bench;
  nodes_of_zones(bench, 3, workload_of(1, 3));
  bench.config.maintenance = Maintenance{.reason = "disks"};
  bench.configure();
  EXPECT_EQ(why_not(bench, {"n1"}), "n1: the cluster is in maintenance or frozen\n");
  bench.feed(Deposed{});
  EXPECT_EQ(why_not(bench, {"n1"}), "n1: this controller is not the active one\n");
}

TEST(Stoppable, OfVeryManyReasonsItSaysHowMany) {
  Bench bench;
  nodes_of_zones(bench, 1, workload_of(14, 1));
  const Stoppable answer = bench.machine->stoppable({NodeId("n1")});
  ASSERT_EQ(answer.nodes.size(), 1u);
  ASSERT_EQ(answer.nodes.front().why_not.size(), 11u);
  EXPECT_EQ(answer.nodes.front().why_not.back(), "and 4 more shards");
}

TEST(Swap, TheNewOneTakesExactlyTheOldOnesPlace) {
  Bench bench;
  nodes_of_zones(bench, 4, workload_of(8, 2));
  std::vector<std::vector<NodeId>> rows;
  for (std::uint32_t s = 0; s < 8; ++s) rows.push_back(bench.shard(s).record.placement);
  bench.order("n1", {.operation = Operation::swap, .swap_with = NodeId("n9")});
  bench.run(10s);
  EXPECT_NE(bench.trouble("n1").find("waits for n9"), std::string::npos) << bench.trouble("n1");
  for (std::uint32_t s = 0; s < 8; ++s) EXPECT_EQ(bench.shard(s).record.placement, rows[s]);
  bench.join("n9", "z1");
  bench.run(0s);
  bench.feed(Tick{});
  bench.run(60ms);
  for (std::uint32_t s = 0; s < 8; ++s) {
    std::ranges::replace(rows[s], NodeId("n1"), NodeId("n9"));
    EXPECT_EQ(bench.shard(s).record.placement, rows[s]);
  }
  bench.run(60s);
  EXPECT_TRUE(bench.node("n1").held.empty());
  EXPECT_EQ(bench.trouble("n1"), "");
}

TEST(Remove, IsRefusedWhileItIsLiveOrHasALastCopy) {
  Bench bench;
  nodes_of_zones(bench, 1, workload_of(1, 1));
  bench.order("n1", {.operation = Operation::remove});
  bench.run(1s);
  EXPECT_EQ(bench.trouble("n1"), "is not removed: it is live");
  bench.end("n1");
  bench.run(10min);
  EXPECT_EQ(bench.trouble("n1"), "is not removed: it has the last copy of t/0");
  EXPECT_TRUE(bench.said("it has the last copy of t/0"));
  EXPECT_EQ(bench.holders(), "n1");
}

// The first one's tombstone is written, and not seen yet.
TEST(Remove, OneThatIsBeingRemovedHasNoCopy) {
  Bench bench;
  nodes_of_zones(bench, 2, workload_of(1, 2));
  bench.end("n1");
  bench.end("n2");
  std::vector<std::string> removed;
  for (const char* name : {"n1", "n2"}) {
    const Output out = bench.machine->step(
        Saw{{.kind = Key::Kind::node, .node = NodeId(name)}, NodeDocument{.operation = Operation::remove}}, bench.now);
    for (const Put& put : out.puts) {
      if (std::holds_alternative<NodeDocument>(put.document)) removed.push_back(put.key.node.str());
    }
  }
  EXPECT_EQ(removed, std::vector<std::string>{"n1"});
  EXPECT_EQ(bench.trouble("n2"), "is not removed: it has the last copy of t/0");
}

TEST(Remove, LeavesATombstoneAndThatDiskDoesNotComeBack) {
  Bench bench;
  nodes_of_zones(bench, 3, workload_of(1, 2));
  const std::string first = bench.shard().record.placement.front().str();
  bench.end(first);
  bench.order(first, {.operation = Operation::remove});
  bench.run(30s);
  const Key key{.kind = Key::Kind::node, .node = NodeId(first)};
  ASSERT_TRUE(bench.stored<NodeDocument>(key)->data);
  EXPECT_EQ(*bench.stored<NodeDocument>(key)->data, DataId("d-" + first));
  EXPECT_EQ(bench.holders().find(first), std::string::npos) << bench.holders();
  EXPECT_EQ(bench.shard().view.others.size(), 1u) << bench.why();
  bench.join(first);
  bench.run(1s);
  EXPECT_NE(bench.trouble(first).find("this disk does not come back"), std::string::npos);
  bench.end(first);
  bench.node(first).held.clear();
  bench.join(first, "", [](LiveDocument& live) { live.data = DataId("new"); });
  bench.run(1s);
  EXPECT_EQ(bench.trouble(first), "");
}

TEST(Forget, IsAboutOneSession) {
  Bench bench;
  nodes_of_zones(bench, 4, workload_of(1, 3));
  const std::string first = bench.shard().record.placement.front().str();
  bench.end(first);
  bench.order(first, {.operation = Operation::forget, .since = bench.node(first).incarnation});
  bench.run(10s);
  EXPECT_EQ(bench.shard().view.others.size(), 2u) << bench.holders();
}

}  // namespace
}  // namespace evenkeel::control::test
