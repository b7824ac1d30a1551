// A rolling restart, on documents of a cluster that lives on the bench: in which order, never below min_active, and what ends it early.

#include "evenkeel/control/rollout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

using Order = RolloutOptions::Order;
using NodeStage = RolloutNode::Stage;

// n1 and n4 in z1, n2 and n5 in z2, n3 and n6 in z3; three replicas in three zones, of which two must serve.
class Rolling : public testing::Test {
 protected:
  void SetUp() override {
    bench.configure();
    for (int n = 1; n <= 6; ++n) bench.join(fmt::format("n{}", n), fmt::format("z{}/r{}", (n - 1) % 3 + 1, n));
    Workload workload = workload_of(12, 3);
    workload.spread = Spread{.level = "zone", .hard = true};
    bench.create(workload);
    bench.run(10s);
  }

  Rollout plan(RolloutOptions options) {
    auto planned = plan_rollout(snapshot_of(bench), std::move(options));
    EXPECT_TRUE(planned) << planned.error().message;
    return planned->rollout;
  }
  std::string order(RolloutOptions options) {
    std::string out;
    const Rollout planned = plan(std::move(options));
    for (const RolloutNode& node : planned.nodes()) out += (out.empty() ? "" : " ") + node.node.str();
    return out;
  }
  std::string refused(RolloutOptions options) {
    const auto planned = plan_rollout(snapshot_of(bench), std::move(options));
    return planned ? "" : planned.error().message;
  }

  RolloutStep step(Rollout& rollout) {
    RolloutStep step = rollout.step(snapshot_of(bench), bench.now);
    write(step.changes);
    return step;
  }
  void write(const Changes& changes) {
    for (const Write& one : changes.writes)
      bench.put(one.key, one.text.empty() ? std::nullopt : std::optional<Document>(*parse_permit(one.text, "")));
  }
  std::size_t fewest_serving() const {
    std::size_t fewest = 3;
    for (std::uint32_t s = 0; s < 12; ++s)
      fewest = std::min(fewest, bench.shard(s).view.others.size() + (bench.shard(s).view.leader ? 1 : 0));
    return fewest;
  }

  // Runs it to its end; who is stopped is back when nobody waits for leave. "n1 n4, n2": those that were away together.
  std::string roll(Rollout& rollout) {
    std::string out;
    std::vector<NodeId> away;
    for (int looks = 0; looks < 1000; ++looks) {
      const RolloutStep now = step(rollout);
      EXPECT_FALSE(now.failed) << now.failed->message;
      if (now.failed || now.finished) return now.finished ? out : "failed";
      if (now.stop) {
        const NodeId node = *now.stop;
        EXPECT_EQ(bench.permit(node.str())->stage, PermitDocument::Stage::go);
        out += (out.empty() ? "" : away.empty() ? ", " : " ") + node.str();
        for (std::uint32_t s = 0; s < 12; ++s) EXPECT_NE(bench.shard(s).view.leader, node) << "its leaders are handed over";
        bench.end(node.str());
        rollout.stopped(node, bench.now);
        away.push_back(node);
      }
      EXPECT_GE(fewest_serving(), 2u);
      bench.run(1s);
      const bool asking = std::ranges::find(rollout.nodes(), NodeStage::asked, &RolloutNode::stage) != rollout.nodes().end();
      if (!asking && !away.empty() && !now.stop) {
        bench.join(away.front().str());
        away.erase(away.begin());
      }
    }
    return "without end";
  }

  Bench bench;
};

TEST_F(Rolling, TheOrderIsByNameOrByZoneOrByChance) {
  EXPECT_EQ(order({}), "n1 n2 n3 n4 n5 n6");
  EXPECT_EQ(order({.order = Order::zone_by_zone}), "n1 n4 n2 n5 n3 n6");
  EXPECT_EQ(order({.nodes = {NodeId("n5"), NodeId("n1")}}), "n5 n1");
  EXPECT_EQ(order({.zone = "z2"}), "n2 n5");
  EXPECT_EQ(order({.zone = "z2/r5"}), "n5");
  const std::string by_chance = order({.order = Order::random, .seed = 7});
  EXPECT_EQ(by_chance, order({.order = Order::random, .seed = 7}));
  EXPECT_NE(by_chance, order({.order = Order::random, .seed = 8}));
}

TEST_F(Rolling, WhoCannotBeRestartedIsSaid) {
  EXPECT_EQ(refused({.zone = "z"}), "no node is in the zone \"z\"");
  EXPECT_EQ(refused({.nodes = {NodeId("n1"), NodeId("n1")}}), "n1 is named twice: name it once");
  EXPECT_EQ(refused({.nodes = {NodeId("n12")}}), "there is no node \"n12\": did you mean \"n1\"?");
  bench.end("n6");
  EXPECT_EQ(refused({.nodes = {NodeId("n6")}}), "n6 is not there: start it first, or leave it out");
  const auto planned = plan_rollout(snapshot_of(bench), {});
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->notes, std::vector<std::string>{"n6 is not there, and is left out"});
  bench.config.maintenance = Maintenance{.reason = "disks"};
  bench.configure();
  EXPECT_NE(refused({}).find("the cluster is in maintenance (disks)"), std::string::npos) << refused({});
  bench.config.maintenance.reset();
  bench.config.freeze = Freeze{.reason = "new switch"};
  bench.configure();
  EXPECT_NE(refused({}).find("the cluster is frozen (new switch)"), std::string::npos) << refused({});
}

TEST_F(Rolling, OneAtATimeInOrder) {
  std::vector<std::vector<NodeId>> before;
  for (std::uint32_t s = 0; s < 12; ++s) before.push_back(bench.shard(s).record.placement);
  Rollout rollout = plan({});
  EXPECT_EQ(roll(rollout), "n1, n2, n3, n4, n5, n6");
  for (std::uint32_t s = 0; s < 12; ++s) EXPECT_EQ(bench.shard(s).record.placement, before[s]);
  for (int n = 1; n <= 6; ++n) EXPECT_FALSE(bench.permit(fmt::format("n{}", n)));
}

TEST_F(Rolling, AZoneTogetherAndNeverTwo) {
  Rollout rollout = plan({.order = Order::zone_by_zone, .at_once = 6});
  EXPECT_EQ(roll(rollout), "n1 n4, n2 n5, n3 n6");
}

// With two of three that must serve, nobody of another zone that shares a shard is asked.
TEST_F(Rolling, WhoCouldNotStopBesideOthersIsNotAsked) {
  Rollout rollout = plan({.nodes = {NodeId("n1"), NodeId("n2")}, .at_once = 2});
  step(rollout);
  bench.run(1s);
  EXPECT_TRUE(rollout.asks_beside());
  const RolloutStep next = step(rollout);
  ASSERT_EQ(next.stop, NodeId("n1"));
  rollout.stopped(NodeId("n1"), bench.now);
  step(rollout);
  EXPECT_FALSE(bench.permit("n2"));
  EXPECT_EQ(rollout.nodes()[1].stage, NodeStage::waiting);
}

// While two are away no records are read. One of them is done, and what was read does not say whether the next could stop.
TEST_F(Rolling, NobodyIsAskedBesideOthersByWhatWasNotRead) {
  Rollout rollout = plan({.nodes = {NodeId("n1"), NodeId("n4"), NodeId("n2")}, .at_once = 2});
  for (const char* name : {"n1", "n4"}) {
    step(rollout);
    bench.run(1s);
    ASSERT_EQ(step(rollout).stop, NodeId(name));
    rollout.stopped(NodeId(name), bench.now);
    bench.end(name);
  }
  bench.join("n1");
  bench.run(1s);
  ASSERT_FALSE(rollout.asks_beside());
  Snapshot seen = snapshot_of(bench);
  seen.workloads.clear();
  seen.records.clear();
  seen.views.clear();
  EXPECT_TRUE(rollout.step(seen, bench.now).changes.writes.empty());
  EXPECT_EQ(rollout.nodes()[0].stage, NodeStage::done);
  EXPECT_EQ(rollout.nodes()[2].stage, NodeStage::waiting);
}

// What is known of the second is old by the time the first one's command has run.
TEST_F(Rolling, OfSeveralThatMayStopOneIsToldAtATime) {
  Rollout rollout = plan({.order = Order::zone_by_zone, .at_once = 2});
  Snapshot seen = snapshot_of(bench);
  const auto permit = [&](const char* name, PermitDocument::Stage stage) {
    seen.permits[NodeId(name)] = PermitDocument{.incarnation = bench.node(name).incarnation, .stage = stage};
  };
  rollout.step(seen, bench.now);
  permit("n1", PermitDocument::Stage::granted);
  rollout.step(seen, bench.now);
  ASSERT_EQ(rollout.nodes()[1].stage, NodeStage::asked);
  permit("n1", PermitDocument::Stage::go);
  permit("n4", PermitDocument::Stage::go);
  EXPECT_EQ(rollout.step(seen, bench.now).stop, NodeId("n1"));
  rollout.stopped(NodeId("n1"), bench.now);
  seen.permits.erase(NodeId("n4"));
  const RolloutStep next = rollout.step(seen, bench.now);
  EXPECT_FALSE(next.stop);
  EXPECT_EQ(next.failed->message, "somebody has taken back the permit of n4");
}

TEST_F(Rolling, BetweenTwoThereIsAPause) {
  Rollout rollout = plan({.nodes = {NodeId("n1"), NodeId("n2")}, .pause = 1min});
  const Instant start = bench.now;
  EXPECT_EQ(roll(rollout), "n1, n2");
  EXPECT_GE(bench.now - start, 1min);
}

TEST_F(Rolling, WhatIsTakenBackOrRefusedEndsIt) {
  Rollout rollout = plan({.nodes = {NodeId("n1")}});
  step(rollout);
  bench.put({.kind = Key::Kind::permit, .node = NodeId("n1")}, std::nullopt);
  EXPECT_EQ(step(rollout).failed->message, "somebody has taken back the permit of n1");

  rollout = plan({.nodes = {NodeId("n1")}});
  step(rollout);
  bench.put(
      {.kind = Key::Kind::permit, .node = NodeId("n1")},
      PermitDocument{.incarnation = bench.node("n1").incarnation, .stage = PermitDocument::Stage::refused, .reason = "no place"});
  EXPECT_EQ(step(rollout).failed->message, "n1 may not stop: no place; --allow-outage would let it");

  rollout = plan({.nodes = {NodeId("n1")}});  // asks anew
  step(rollout);
  bench.end("n1");
  bench.put({.kind = Key::Kind::permit, .node = NodeId("n1")}, std::nullopt);
  EXPECT_EQ(step(rollout).failed->message, "n1 went before it was told to stop");
}

TEST_F(Rolling, WhoIsNotRelievedOrNotBackInTimeEndsIt) {
  for (int n = 1; n <= 6; ++n) bench.node(fmt::format("n{}", n)).obeys = false;  // so nothing is handed over
  Rollout rollout = plan({.nodes = {NodeId("n1")}, .within = 1min});
  step(rollout);
  bench.run(50s);
  EXPECT_FALSE(step(rollout).failed);
  bench.run(10s);
  EXPECT_EQ(step(rollout).failed->message, "n1 hands over what it leads after 1m");
  write(rollout.withdraw(snapshot_of(bench)));
  EXPECT_FALSE(bench.permit("n1"));

  for (int n = 1; n <= 6; ++n) bench.node(fmt::format("n{}", n)).obeys = true;
  bench.run(1min);
  rollout = plan({.nodes = {NodeId("n2")}, .permit = {.timeout = 30s}});
  step(rollout);
  bench.run(1s);
  ASSERT_TRUE(step(rollout).stop);
  bench.end("n2");
  rollout.stopped(NodeId("n2"), bench.now);
  bench.run(20s);
  EXPECT_EQ(step(rollout).waits, std::vector<std::string>{"n2 is not back yet"});
  bench.run(20s);
  EXPECT_EQ(step(rollout).failed->message, "n2 is not back in time, and counts as lost");
}

// It takes up nothing. The permit would end all the same, later.
TEST_F(Rolling, WhoIsBackAndNotWholeEndsIt) {
  Rollout rollout = plan({.nodes = {NodeId("n1")}, .permit = {.timeout = 90s}, .within = 1min});
  step(rollout);
  bench.run(1s);
  ASSERT_TRUE(step(rollout).stop);
  rollout.stopped(NodeId("n1"), bench.now);
  bench.node("n1").obeys = false;
  bench.restart("n1");
  bench.run(50s);
  EXPECT_EQ(step(rollout).waits, std::vector<std::string>{"n1 is back, and not all its replicas serve yet"});
  bench.run(10s);
  EXPECT_EQ(step(rollout).failed->message, "n1 is back, and not all its replicas serve yet after 1m");
}

TEST_F(Rolling, APermitOfSomebodyElseIsUsedOnlyWhereItsNodeIsNamedAndNeverTakenBack) {
  bench.ask_permit("n1");
  bench.run(1s);
  Rollout rollout = plan({});
  EXPECT_EQ(step(rollout).failed->message, "somebody else has asked to stop n1: wait until that is over, or name it with --node");
  rollout = plan({.nodes = {NodeId("n1")}});
  EXPECT_FALSE(step(rollout).failed);
  EXPECT_EQ(rollout.nodes()[0].stage, NodeStage::asked);
  EXPECT_TRUE(rollout.unused().empty());
  EXPECT_TRUE(rollout.withdraw(snapshot_of(bench)).writes.empty());
  EXPECT_EQ(step(rollout).stop, NodeId("n1"));
}

// Somebody else has asked between the look and the write.
TEST_F(Rolling, WhatWasNotWrittenIsNotOurs) {
  Rollout rollout = plan({});
  ASSERT_EQ(rollout.step(snapshot_of(bench), bench.now).changes.writes.size(), 1u);
  EXPECT_EQ(rollout.unused(), std::vector<NodeId>{NodeId("n1")});
  bench.ask_permit("n1");
  rollout.not_written();
  EXPECT_TRUE(rollout.withdraw(snapshot_of(bench)).writes.empty());
  EXPECT_TRUE(step(rollout).failed);
}

// A command that restarts nothing.
TEST_F(Rolling, WhoGoesOnAsItWasIsNotDone) {
  Rollout rollout = plan({.nodes = {NodeId("n1")}, .permit = {.timeout = 30s}});
  step(rollout);
  bench.run(1s);
  ASSERT_TRUE(step(rollout).stop);
  rollout.stopped(NodeId("n1"), bench.now);
  bench.run(10s);
  EXPECT_FALSE(step(rollout).failed);
  bench.run(30s);
  EXPECT_EQ(step(rollout).failed->message, "n1 goes on as it was: its command has not restarted it while it might");
}

TEST_F(Rolling, OnlyWhatWasNotUsedIsTakenBack) {
  Rollout rollout = plan({.order = Order::zone_by_zone, .at_once = 2});
  step(rollout);
  bench.run(1s);
  ASSERT_TRUE(step(rollout).stop);
  rollout.stopped(NodeId("n1"), bench.now);
  step(rollout);
  bench.run(1s);
  EXPECT_EQ(bench.permit("n4")->stage, PermitDocument::Stage::go);
  write(rollout.withdraw(snapshot_of(bench)));
  EXPECT_TRUE(bench.permit("n1")) << "it was told to stop";
  EXPECT_FALSE(bench.permit("n4"));
  EXPECT_EQ(rollout.in(false).size(), 6u);
}

}  // namespace
}  // namespace evenkeel::control::test
