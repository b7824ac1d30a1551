// Rules 6, 7, 8 and 12, suspicion, and who counts as joined.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

void nodes(Bench& bench, int count, const Workload& workload, int zones = 100) {
  bench.configure();
  for (int n = 1; n <= count; ++n) bench.join(fmt::format("n{}", n), fmt::format("z{}", n % zones));
  bench.create(workload);
  bench.run(10s);
}

TEST(Maintenance, IsEnteredBeforeAnythingIsMovedAndLeftAtResume) {
  Bench bench;
  bench.config.settings.control.rebalance_delay = 0s;
  bench.config.settings.control.max_offline = 1;
  bench.config.settings.control.resume_offline = 0;
  nodes(bench, 6, workload_of(6, 3));
  bench.end("n1");
  const std::size_t plans = bench.problems.size();
  bench.end("n2");
  ASSERT_TRUE(bench.machine->overview().maintenance);
  std::vector<std::string> before;
  for (std::uint32_t s = 0; s < 6; ++s) before.push_back(fmt::format("{}", fmt::join(bench.shard(s).record.placement, " ")));
  bench.run(10min);
  EXPECT_LE(bench.problems.size(), plans + 1);
  for (std::uint32_t s = 0; s < 6; ++s) EXPECT_EQ(before[s], fmt::format("{}", fmt::join(bench.shard(s).record.placement, " ")));
  for (std::uint32_t s = 0; s < 6; ++s) {
    EXPECT_TRUE(bench.shard(s).view.leader) << bench.why(s);
  }
  bench.join("n2");
  bench.run(1s);
  EXPECT_TRUE(bench.machine->overview().maintenance);  // one is more than none
  bench.join("n1");
  bench.run(1s);
  EXPECT_FALSE(bench.machine->overview().maintenance);
}

TEST(Maintenance, AWholeZoneCountsAsOne) {
  Bench bench;
  bench.config.settings.control.max_offline = 1;
  nodes(bench, 9, workload_of(9, 3), 3);
  for (const char* name : {"n1", "n4", "n7"}) bench.end(name);
  EXPECT_EQ(bench.machine->overview().offline, 1u);
  bench.end("n2");
  EXPECT_EQ(bench.machine->overview().offline, 2u);
}

TEST(Maintenance, ByHandEndsAtItsTimeOutAndASuccessorGoesOnCounting) {
  for (const bool another : {false, true}) {
    Bench bench;
    nodes(bench, 3, workload_of(1, 1));
    bench.config.maintenance = Maintenance{.reason = "disks", .timeout = 2min};
    bench.configure();
    bench.run(90s);
    if (another) bench.take_over();
    bench.run(25s);
    EXPECT_TRUE(bench.machine->overview().maintenance);
    bench.run(16s);
    EXPECT_FALSE(bench.machine->overview().maintenance);
  }
}

// What is asked for meanwhile is counted, shard by shard, and done when it ends.
TEST(Maintenance, ShowsWhatItHoldsBack) {
  Bench bench;
  bench.config.settings.control.rebalance_delay = 10s;
  nodes(bench, 4, workload_of(6, 2));
  EXPECT_FALSE(bench.machine->overview().held_back);
  bench.config.maintenance = Maintenance{.reason = "disks"};
  bench.configure();
  EXPECT_EQ(bench.machine->overview().held_back, HeldBack{});
  std::uint32_t on_n1 = 0, on_n2 = 0;
  for (std::uint32_t s = 0; s < 6; ++s) {
    on_n1 += bench.holders(s).find("n1") != std::string::npos ? 1 : 0;
    on_n2 += bench.holders(s).find("n2") != std::string::npos ? 1 : 0;
  }
  bench.order("n1", {.operation = Operation::drain});
  EXPECT_EQ(bench.machine->overview().held_back, (HeldBack{.moved = on_n1}));
  bench.end("n2");
  bench.run(5s);
  EXPECT_EQ(bench.machine->overview().held_back, (HeldBack{.moved = on_n1}));  // n2 is waited for
  bench.run(10s);
  EXPECT_EQ(bench.machine->overview().held_back, (HeldBack{.placed = on_n2, .moved = on_n1}));
  for (std::uint32_t s = 0; s < 6; ++s) {
    const bool moves = bench.holders(s).find("n1") != std::string::npos, lacks = bench.holders(s).find("n2") != std::string::npos;
    EXPECT_EQ(bench.why(s).find("would move from n1, held back by maintenance: disks") != std::string::npos, moves);
    EXPECT_EQ(bench.why(s).find("1 more would be placed, held back by maintenance: disks") != std::string::npos, lacks);
  }
  bench.config.maintenance.reset();
  bench.configure();
  bench.run(2min);
  EXPECT_FALSE(bench.machine->overview().held_back);
  for (std::uint32_t s = 0; s < 6; ++s) {
    EXPECT_EQ(bench.holders(s).find("n1"), std::string::npos);
    EXPECT_EQ(bench.shard(s).view.others.size(), 1u) << bench.why(s);
  }
}

TEST(Maintenance, HoldsBackWhatIsDeletedAndWhatIsNew) {
  Bench bench;
  nodes(bench, 3, workload_of(4, 2));
  bench.config.maintenance = Maintenance{.reason = "disks"};
  bench.configure();
  bench.create(workload_of(4, 2), true);
  EXPECT_EQ(bench.machine->overview().held_back, (HeldBack{.dropped = 4}));
  EXPECT_NE(bench.why().find("would be dropped on"), std::string::npos) << bench.why();
  Workload workload = workload_of(3, 2);
  workload.name = WorkloadId("u");
  bench.create(workload);
  EXPECT_EQ(bench.machine->overview().held_back, (HeldBack{.placed = 3, .dropped = 4}));
}

// An old replica would go, and its place is to be taken: that is one move.
TEST(Maintenance, HoldsBackMovesThatHaveNotBegun) {
  Bench bench;
  nodes(bench, 3, workload_of(1, 2));
  const auto before = bench.shard().record.placement;
  const std::string other = before[0] != NodeId("n1") && before[1] != NodeId("n1")   ? "n1"
                            : before[0] != NodeId("n2") && before[1] != NodeId("n2") ? "n2"
                                                                                     : "n3";
  bench.node(other).obeys = false;
  bench.order(before[1].str(), {.operation = Operation::drain});
  bench.run(1s);
  ASSERT_EQ(bench.shard().record.holders.size(), 3u) << bench.holders();
  bench.config.maintenance = Maintenance{.reason = "disks"};
  bench.configure();
  bench.node(other).obeys = true;
  bench.run(1min);
  EXPECT_EQ(bench.machine->overview().held_back, (HeldBack{.dropped = 1})) << bench.why();  // what had begun is finished
  EXPECT_NE(bench.why().find(fmt::format("would be dropped on {}, held back by", before[1])), std::string::npos) << bench.why();
}

// A plan that has not begun when maintenance does is of the past when it ends: things are planned as they are then.
TEST(Maintenance, GivesUpPlansThatHaveNotBegun) {
  Bench bench;
  bench.config.settings.control.rebalance_delay = 0s;
  bench.config.settings.control.max_offline = 1;
  bench.config.settings.control.resume_offline = 0;
  nodes(bench, 6, workload_of(1, 3));
  const std::vector<NodeId> placement = bench.shard().record.placement;
  const std::string gone = placement.back().str(), silent = placement.front().str();
  bench.pulse(silent);
  const auto plan = bench.planner;
  bench.planner = [&](const Cluster& problem) {
    bench.now = bench.now + 1min;  // it takes so long that another node is suspect when it comes
    return plan(problem);
  };
  bench.end(gone);
  bench.run(1s);
  ASSERT_TRUE(bench.machine->overview().maintenance);
  EXPECT_EQ(bench.shard().record.placement, placement);
  bench.planner = plan;
  bench.restart(gone);
  bench.pulse(silent);
  bench.run(1min);
  EXPECT_FALSE(bench.machine->overview().maintenance);
  EXPECT_EQ(bench.shard().record.placement, placement) << bench.why();
}

// Also one that is being made meanwhile, and comes when something may move again.
TEST(Maintenance, GivesUpPlansThatAreBeingMade) {
  Bench bench;
  bench.config.settings.control.rebalance_delay = 0s;
  nodes(bench, 6, workload_of(1, 3));
  const std::vector<NodeId> placement = bench.shard().record.placement;
  const std::string gone = placement.back().str();
  const auto plan = bench.planner;
  bool first = true;
  bench.planner = [&](const Cluster& problem) {
    const place::Plan made = plan(problem);
    if (!std::exchange(first, false)) return made;
    bench.config.maintenance = Maintenance{.reason = "disks"};
    bench.feed(Saw{{.kind = Key::Kind::config}, bench.config});
    bench.restart(gone);
    bench.config.maintenance.reset();
    bench.feed(Saw{{.kind = Key::Kind::config}, bench.config});
    return made;
  };
  bench.end(gone);
  bench.run(1min);
  EXPECT_EQ(bench.shard().record.placement, placement) << bench.why();
}

void freeze(Bench& bench, const Freeze& freeze) {
  nodes(bench, 3, workload_of(1, 3));
  bench.config.freeze = freeze;
  bench.configure();
}

TEST(Freeze, StopsEverythingAndWithKeepLeadersOnlyMoves) {
  for (const bool keep : {false, true}) {
    Bench bench;
    freeze(bench, {.keep_leaders = keep, .reason = "audit", .timeout = 5min});
    const std::size_t written = bench.targets.size();
    const std::string leader = bench.shard().view.leader->str();
    bench.end(leader);
    bench.run(1min);
    EXPECT_EQ(bench.shard().view.leader.has_value(), keep) << bench.why();
    EXPECT_EQ(bench.targets.size(), written);
    EXPECT_EQ(bench.machine->overview().freeze, "audit");
    EXPECT_NE(bench.why().find("frozen: audit"), std::string::npos) << bench.why();
    bench.run(5min);
    EXPECT_FALSE(bench.machine->overview().freeze);
    EXPECT_TRUE(bench.shard().view.leader);
  }
}

TEST(Freeze, ASuccessorKeepsToItForAsLongAsItIsToLast) {
  Bench bench;
  freeze(bench, {.reason = "audit", .timeout = 2min});
  bench.run(90s);
  bench.take_over();
  bench.end(bench.shard().view.leader->str());
  bench.run(25s);
  EXPECT_FALSE(bench.shard().view.leader);
  EXPECT_EQ(bench.machine->overview().freeze, "audit");
  bench.run(16s);
  EXPECT_FALSE(bench.machine->overview().freeze);
  EXPECT_TRUE(bench.shard().view.leader) << bench.why();
}

TEST(Freeze, OnceItsTimeIsOverASuccessorDoesNotBeginItAnew) {
  Bench bench;
  freeze(bench, {.reason = "audit", .timeout = 2min});
  bench.run(3min);
  EXPECT_FALSE(bench.machine->overview().freeze);
  bench.take_over();
  EXPECT_FALSE(bench.machine->overview().freeze);
  bench.end(bench.shard().view.leader->str());
  bench.run(2s);
  EXPECT_TRUE(bench.shard().view.leader) << bench.why();
}

// The node's own, else the workload's, else the cluster's.
TEST(Delay, IsTheWorkloadsOwnIfItHasOne) {
  Bench bench;
  Workload workload = workload_of(1, 3);
  workload.control.rebalance_delay = 10s;
  nodes(bench, 4, workload);
  const std::string first = bench.shard().record.placement.front().str();
  bench.end(first);
  bench.run(9s);
  EXPECT_NE(bench.holders().find(first), std::string::npos);
  EXPECT_NE(bench.why().find("and waited for 10s"), std::string::npos) << bench.why();
  bench.run(5s);
  EXPECT_EQ(bench.shard().view.others.size(), 2u) << bench.holders();
}

TEST(Delay, ANodesOwnGoesBeforeTheWorkloads) {
  Bench bench;
  Workload workload = workload_of(1, 3);
  workload.control.rebalance_delay = 10s;
  nodes(bench, 4, workload);
  const std::string first = bench.shard().record.placement.front().str();
  bench.order(first, {.rebalance_delay = 5min});
  bench.end(first);
  bench.run(4min);
  EXPECT_EQ(bench.shard().view.others.size(), 1u) << bench.holders();
  bench.run(2min);
  EXPECT_EQ(bench.shard().view.others.size(), 2u) << bench.holders();
}

// Two of three are gone, and there is nowhere else: they count as still holding it, and hold it when they are back.
TEST(Delay, WhoIsWaitedForKeepsItsPlaceWhereThereIsNoOther) {
  Bench bench;
  nodes(bench, 3, workload_of(1, 3));
  const auto placement = bench.shard().record.placement;
  bench.end(placement[0].str());
  bench.end(placement[1].str());
  bench.run(10s);
  EXPECT_EQ(bench.shard().record.placement, placement);
  bench.join(placement[1].str());
  bench.run(10s);
  bench.join(placement[0].str());
  bench.run(10s);
  EXPECT_EQ(bench.shard().record.placement, placement);
  EXPECT_FALSE(bench.said("is dropped"));
}

TEST(Errors, WhatGaveUpIsReplacedElsewhere) {
  Bench bench;
  nodes(bench, 4, workload_of(1, 3));
  const std::string first = bench.shard().record.placement.back().str();
  bench.end(first);
  bench.node(first).fails = {s0};
  bench.join(first);
  bench.run(1s);
  ASSERT_FALSE(bench.problems.back().barred.empty());
  const Barred& barred = bench.problems.back().barred.front();
  EXPECT_EQ(bench.problems.back().nodes[barred.node.value()].name, NodeId(first));
  EXPECT_EQ(barred.shard, s0.shard);
}

TEST(Errors, BalanceStopsWhereTooManyFail) {
  Bench bench;
  nodes(bench, 3, workload_of(4, 2));
  EXPECT_EQ(bench.machine->overview().errors, 0u);
  bench.end("n1");
  for (std::uint32_t s = 0; s < 4; ++s) bench.node("n1").fails.insert({WorkloadId("t"), ShardIndex(s)});
  bench.planner = [](const Cluster& cluster) {
    place::Plan plan;
    plan.placement = cluster.placement;
    return plan;
  };
  bench.join("n1");
  bench.run(1s);
  EXPECT_GT(bench.machine->overview().errors, 0u);
  EXPECT_TRUE(bench.said("balance stops"));
}

// Three nodes that pulse, and a shard on all of them. Returns who leads it.
NodeId pulsing(Bench& bench, Fencing fencing) {
  Workload workload = workload_of(1, 3);
  workload.control.fencing = fencing;
  workload.control.acks = 2;
  nodes(bench, 3, workload);
  for (const char* name : {"n1", "n2", "n3"}) bench.pulse(name);
  return *bench.shard().view.leader;
}

TEST(Suspects, SealAndFailOverOnlyWhereEpochsFence) {
  for (const Fencing fencing : {Fencing::session, Fencing::epoch}) {
    Bench bench;
    const NodeId leader = pulsing(bench, fencing);
    bench.feed(PulseBroken{leader});
    bench.run(500ms);
    EXPECT_EQ(bench.shard().view.leader != leader, fencing == Fencing::epoch) << bench.why();
  }
}

// It reaches the store, is sealed like the others, and has a write that they have not, and that was acknowledged to nobody.
TEST(Suspects, DoNotLeadAgainBecauseTheyAreAhead) {
  Bench bench;
  const NodeId leader = pulsing(bench, Fencing::epoch);
  bench.node(leader.str()).held.at(s0).progress = 5;
  bench.feed(PulseBroken{leader});
  bench.run(500ms);
  ASSERT_TRUE(bench.shard().view.leader) << bench.why();
  EXPECT_NE(bench.shard().view.leader, leader);
}

// In a record that was made again of what was found, after the store was put back, nobody knows who else had all: who has the most leads.
TEST(Suspects, LeadAgainWhereNobodyKnowsWhoHasAll) {
  Bench bench;
  const NodeId leader = pulsing(bench, Fencing::epoch);
  bench.node(leader.str()).held.at(s0).progress = 5;
  const Key key{.kind = Key::Kind::shards, .workload = s0.workload};
  RecordBucket records = *bench.stored<RecordBucket>(key);
  records.shards.front().rebuilt = true;
  bench.feed(PulseBroken{leader});
  bench.put(key, records);
  bench.run(500ms);
  EXPECT_EQ(bench.shard().view.leader, leader) << bench.why();
}

// One of the others says nothing: it is waited for a moment, and then whoever has all that was acknowledged leads.
TEST(Suspects, LeadAgainIfNobodyElseHasAll) {
  Bench bench;
  const NodeId leader = pulsing(bench, Fencing::epoch);
  bench.node(leader.str()).held.at(s0).progress = 5;
  const auto& placement = bench.shard().record.placement;
  bench.node(std::ranges::find_if(placement, [&](const NodeId& node) { return node != leader; })->str()).obeys = false;
  bench.feed(PulseBroken{leader});
  const Epoch before = bench.shard().record.version.epoch;
  bench.run(500ms);
  EXPECT_EQ(bench.shard().record.version.epoch, before) << "nobody leads at a later one";
  EXPECT_NE(bench.why().find("is suspect, waits a moment for"), std::string::npos) << bench.why();
  bench.run(1s);
  EXPECT_EQ(bench.shard().view.leader, leader) << bench.why();
  EXPECT_GT(bench.shard().record.version.epoch, before);
}

// Also one that was told to step down and has not said that it did.
TEST(Suspects, AreNotWaitedForToStepDownWhereEpochsFence) {
  for (const Fencing fencing : {Fencing::session, Fencing::epoch}) {
    Bench bench;
    const NodeId leader = pulsing(bench, fencing);
    bench.node(leader.str()).obeys = false;
    bench.order(leader.str(), {.operation = Operation::no_leaders});
    bench.run(100ms);
    EXPECT_NE(bench.why().find("to step down"), std::string::npos) << bench.why();
    bench.feed(PulseBroken{leader});
    bench.run(500ms);
    EXPECT_EQ(bench.shard().view.leader.has_value(), fencing == Fencing::epoch) << bench.why();
  }
}

// Who was told to hand over is back under a new incarnation: what it says it has is not what it stepped down with, for it has not.
TEST(HandOver, IsOverWhenTheOldLeaderBeginsAnew) {
  Bench bench;
  const NodeId leader = pulsing(bench, Fencing::epoch);
  bench.node(leader.str()).obeys = false;
  bench.order(leader.str(), {.operation = Operation::no_leaders});
  bench.run(100ms);
  ASSERT_TRUE(bench.shard().record.hand_over) << bench.why();
  ASSERT_FALSE(bench.said("seals epoch 2"));
  bench.node(leader.str()).obeys = true;
  bench.restart(leader.str());
  bench.run(500ms);
  EXPECT_TRUE(bench.said("seals epoch 2"));
  EXPECT_NE(bench.shard().view.leader, leader) << bench.why();
}

TEST(Suspects, OnlyWhoHasPulsedToThisController) {
  Bench bench;
  nodes(bench, 3, workload_of(1, 3));
  bench.pulse("n1");
  bench.take_over();
  bench.run(1min);
  EXPECT_FALSE(bench.said("is suspect"));
}

TEST(Suspects, ManyAtOnceMeanThatTheControllerDistrustsItself) {
  Bench bench;
  Workload workload = workload_of(1, 3);
  workload.control.fencing = Fencing::epoch;
  workload.control.acks = 2;
  nodes(bench, 3, workload);
  for (const char* name : {"n1", "n2", "n3"}) bench.pulse(name);
  const auto leader = bench.shard().view.leader;
  ASSERT_TRUE(leader) << bench.why();
  bench.run(1h);
  EXPECT_TRUE(bench.said("only sessions count"));
  EXPECT_EQ(bench.shard().view.leader, leader);
  EXPECT_FALSE(bench.machine->overview().maintenance);
}

TEST(Suspects, HaveTimeToBeHeardOfOnceOthersAre) {
  Bench bench;
  const NodeId leader = pulsing(bench, Fencing::epoch);
  bench.run(1min);
  ASSERT_TRUE(bench.said("only sessions count"));
  for (const char* name : {"n1", "n2", "n3"})
    if (leader != NodeId(name)) bench.pulse(name, 1h);
  bench.run(500ms);
  EXPECT_TRUE(bench.said("counts again"));
  EXPECT_EQ(bench.shard().view.leader, leader) << bench.why();
  bench.run(1min);
  EXPECT_NE(bench.shard().view.leader, leader) << "that time is over: " << bench.why();
}

TEST(Suspects, CountAsOfflineAndGetNoLeadersUntilSteady) {
  Bench bench;
  Workload workload = workload_of(1, 3);
  workload.control.fencing = Fencing::epoch;
  workload.control.acks = 2;
  nodes(bench, 3, workload);
  const std::string leader = bench.shard().view.leader->str();
  bench.pulse(leader, 1h);
  bench.feed(PulseBroken{NodeId(leader)});
  bench.run(1s);
  EXPECT_EQ(bench.machine->overview().offline, 1u);
  EXPECT_NE(bench.shard().view.leader, NodeId(leader));
  bench.pulse(leader, 1h);
  bench.run(50s);
  EXPECT_EQ(bench.machine->overview().offline, 0u);
  EXPECT_NE(bench.shard().view.leader, NodeId(leader));
  bench.run(30s);
  EXPECT_EQ(bench.shard().view.leader, NodeId(leader)) << bench.why();
}

TEST(Joined, ALiveDocumentOfAnEarlierSessionChangesNothing) {
  Bench bench;
  nodes(bench, 3, workload_of(1, 3));
  const Key key{.kind = Key::Kind::live, .node = NodeId("n1")};
  const LiveDocument old = *bench.stored<LiveDocument>(key);
  bench.restart("n1");
  bench.run(1s);
  const std::size_t commits = bench.commits.size();
  bench.put(key, old);
  bench.run(1s);
  EXPECT_EQ(bench.commits.size(), commits);
  EXPECT_TRUE(bench.machine->nodes(bench.now).front().joined);
}

// What it said of itself while it was there goes with its lease; a successor has never seen it.
TEST(Gone, ASuccessorKnowsInWhichZoneItWas) {
  Bench bench;
  bench.config.settings.spread = {.level = bench.config.settings.levels.front(), .hard = true};
  bench.configure();
  for (const auto& [name, zone] : {std::pair("n1", "a"), {"n2", "b"}, {"n3", "c"}}) bench.join(name, zone);
  bench.create(workload_of(1, 3));
  bench.run(1s);
  bench.join("n4", "a");
  bench.end("n1");
  bench.take_over();
  bench.order("n2", {.operation = Operation::drain});
  bench.run(1min);
  EXPECT_EQ(bench.shard().record.placement.size(), 3u);
  for (const Holder& holder : bench.shard().record.holders) EXPECT_NE(holder.node, NodeId("n4")) << bench.why();
}

TEST(Gone, WhatIsKeptOfANodeThatHoldsNothingGoes) {
  Bench bench;
  nodes(bench, 3, workload_of(1, 3));
  bench.join("n4", "d");
  bench.run(1s);
  const Key spare{.kind = Key::Kind::member, .node = NodeId("n4")}, holder{.kind = Key::Kind::member, .node = NodeId("n1")};
  ASSERT_TRUE(bench.stored<LiveDocument>(spare));
  bench.end("n4");
  bench.end("n1");
  bench.run(1s);
  EXPECT_FALSE(bench.stored<LiveDocument>(spare));
  EXPECT_TRUE(bench.stored<LiveDocument>(holder));
}

TEST(Joined, WhoCannotReadWhatIsWrittenIsNotTakenAndItIsSaid) {
  Bench bench;
  bench.configure();
  bench.join("n1", "a", [](LiveDocument& live) { live.reads = format_written - 1; });
  bench.create(workload_of(1, 1));
  bench.run(1s);
  EXPECT_EQ(bench.holders(), "");
  EXPECT_NE(bench.trouble("n1").find("reads documents up to format"), std::string::npos);
  EXPECT_TRUE(bench.said("reads documents up to format"));
}

TEST(Joined, TwoProcessesOfOneNameAreTold) {
  Bench bench;
  nodes(bench, 3, workload_of(1, 3));
  bench.feed(Pulsed{{.node = NodeId("n1"), .incarnation = Incarnation(77), .count = 1}, 1s});
  EXPECT_TRUE(bench.said("another process calls itself so"));
}

TEST(Explain, NamesTheDelay) {
  Bench bench;
  nodes(bench, 3, workload_of(1, 3));
  bench.end("n2");
  bench.run(20s);
  EXPECT_NE(bench.why().find("n2 is gone for 20s and waited for 1m"), std::string::npos) << bench.why();
}

TEST(Cost, ABeatTouchesNoShardAndAReportOnlyItsOwn) {
  Bench bench;
  nodes(bench, 3, workload_of(64, 3));
  const std::size_t commits = bench.commits.size(), plans = bench.problems.size();
  for (int i = 0; i < 10; ++i) {
    const Output out = bench.machine->step(
        Saw{{.kind = Key::Kind::beat, .node = NodeId("n1")}, BeatSeen{bench.node("n1").incarnation, 10s, false}}, bench.now);
    EXPECT_TRUE(out.commits.empty() && out.puts.empty() && !out.plan && out.events.empty());
  }
  bench.run(1min);
  EXPECT_EQ(bench.commits.size(), commits);
  EXPECT_EQ(bench.problems.size(), plans);
}

}  // namespace
}  // namespace evenkeel::control::test
