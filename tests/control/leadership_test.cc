// Rules 2 and 3: who follows, when nobody may, and hand-overs that come to nothing.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

// Three nodes, a shard that is led by the first of its placement.
struct Three {
  explicit Three(std::uint32_t acks, Duration hand_over = 10s) {
    Workload workload = workload_of(1, 3);
    workload.control.acks = acks;
    workload.control.hand_over = hand_over;
    workload.control.lag_max = 1000;
    bench.configure();
    for (const char* name : {"n1", "n2", "n3"}) bench.join(name, name);
    bench.create(workload);
    bench.run(10s);
    for (const NodeId& node : bench.shard().record.placement) names.push_back(node.str());
  }
  // What a node says of itself, beside what it was told.
  void say(const std::string& name, const std::function<void(ReplicaReport&)>& change) {
    BenchNode& node = bench.node(name);
    change(node.held.at(s0));
    Report report{.node = node.name, .workload = s0.workload, .incarnation = node.incarnation, .data = node.data};
    report.replicas.push_back(node.held.at(s0));
    bench.put({.kind = Key::Kind::report, .node = node.name, .workload = s0.workload}, report);
  }
  Epoch epoch() const { return bench.shard().record.version.epoch; }

  Bench bench;
  std::vector<std::string> names;
};

TEST(HandOver, TheOldOneLeadsOnAtANewEpochIfTheNewOneDoesNotGetThere) {
  Three three(2);
  const auto& [first, second] = std::pair(three.names[0], three.names[1]);
  three.say(first, [](ReplicaReport& report) { report.progress = 500; });
  const Epoch before = three.epoch();
  three.bench.order(s0, {.lead = NodeId(second)});
  three.bench.run(9s);
  EXPECT_FALSE(three.bench.shard().view.leader);
  EXPECT_NE(three.bench.why().find(second + " is to lead, and waits for what " + first + " had"), std::string::npos)
      << three.bench.why();
  three.bench.run(2s);
  EXPECT_EQ(three.bench.shard().view.leader, NodeId(first));
  EXPECT_GT(three.epoch(), before);
}

// Those at rest have nothing, so there is nothing to ask them: a seal would only keep others from coming in place of those who are gone.
TEST(HandOver, WithoutDataIsNotSealedIfWhoLedIsLost) {
  Bench bench;
  bench.config.settings.control.rebalance_delay = 5s;
  bench.configure();
  for (const char* name : {"n1", "n2", "n3"}) bench.join(name, name);
  Workload workload = workload_of(1, 2);
  workload.state_model = StateModelId("leader-standby");
  bench.create(workload);
  bench.run(10s);
  const auto placement = bench.shard().record.placement;
  bench.node(placement[0].str()).obeys = false;
  bench.order(s0, {.lead = placement[1]});
  ASSERT_TRUE(bench.shard().record.hand_over);
  for (const NodeId& node : placement) bench.end(node.str());
  bench.run(1min);
  EXPECT_FALSE(bench.shard().record.seal);
  EXPECT_FALSE(bench.said("seals epoch"));
  EXPECT_TRUE(bench.shard().view.leader) << bench.why();
}

TEST(HandOver, TheNewOneLeadsOnceItHasAllThatTheOldOneHad) {
  Three three(2);
  const auto& [first, second] = std::pair(three.names[0], three.names[1]);
  three.say(first, [](ReplicaReport& report) { report.progress = 500; });
  three.bench.order(s0, {.lead = NodeId(second)});
  three.bench.run(5s);
  EXPECT_FALSE(three.bench.shard().view.leader);
  three.say(second, [](ReplicaReport& report) { report.progress = 499; });
  EXPECT_FALSE(three.bench.shard().view.leader);
  three.say(second, [](ReplicaReport& report) { report.progress = 500; });
  EXPECT_EQ(three.bench.shard().view.leader, NodeId(second));
  three.bench.run(1h);  // whom an operator has asked for stays
  EXPECT_EQ(three.bench.shard().view.leader, NodeId(second));
}

// It has stepped down, and the new one still has to get from it what it had.
TEST(HandOver, WhoWantsToStopMayNotBeforeTheNewOneLeads) {
  Three three(2);
  const std::string first = three.names[0];
  three.say(first, [](ReplicaReport& report) { report.progress = 500; });
  three.bench.ask_permit(first);
  three.bench.run(5s);
  EXPECT_FALSE(three.bench.shard().view.leader);
  EXPECT_EQ(three.bench.permit(first)->stage, PermitDocument::Stage::granted);
  for (const std::string& other : {three.names[1], three.names[2]})
    three.say(other, [](ReplicaReport& report) { report.progress = 500; });
  three.bench.run(1s);
  EXPECT_EQ(three.bench.shard().view.leader, NodeId(three.names[1]));
  EXPECT_EQ(three.bench.permit(first)->stage, PermitDocument::Stage::go);
  EXPECT_FALSE(three.bench.said("failover"));
}

// It had more before it was started again.
TEST(HandOver, PulsesOfAnEarlierProcessSayNothing) {
  Three three(2);
  const auto& [first, second] = std::pair(three.names[0], three.names[1]);
  three.say(first, [](ReplicaReport& report) { report.progress = 500; });
  const BenchNode& node = three.bench.node(second);
  const ReplicaPulse pulse{.shard = s0, .last = node.held.at(s0).last, .progress = 500};
  three.bench.feed(Pulsed{{.node = node.name, .incarnation = node.incarnation, .count = 1, .replicas = {pulse}}, 1h});
  three.bench.restart(second);
  three.bench.order(s0, {.lead = NodeId(second)});
  three.bench.run(5s);
  EXPECT_NE(three.bench.shard().view.leader, NodeId(second)) << three.bench.why();
  three.say(second, [](ReplicaReport& report) { report.progress = 500; });
  three.bench.run(1s);
  EXPECT_EQ(three.bench.shard().view.leader, NodeId(second)) << three.bench.why();
}

TEST(HandOver, DoesNotBeginWhileTheNewOneIsFarBehind) {
  Three three(2);
  const auto& [first, second] = std::pair(three.names[0], three.names[1]);
  three.say(first, [](ReplicaReport& report) { report.progress = 5000; });
  three.bench.order(s0, {.lead = NodeId(second)});
  three.bench.run(1min);
  EXPECT_EQ(three.bench.shard().view.leader, NodeId(first));
  EXPECT_NE(three.bench.why().find("is 5000 behind"), std::string::npos) << three.bench.why();
}

// Acks 2 of 3: one that is left may not know of what the other two have.
TEST(Seals, NobodyLeadsBeforeEnoughAreSealedAndItSaysForWhomItWaits) {
  Three three(2);
  three.bench.end(three.names[0]);
  three.bench.run(1s);
  EXPECT_TRUE(three.bench.shard().view.leader);
  const std::string leader = three.bench.shard().view.leader->str();
  three.bench.end(leader);
  three.bench.run(1h);
  EXPECT_FALSE(three.bench.shard().view.leader);
  EXPECT_NE(three.bench.why().find("1 of 2 sealed, waits for"), std::string::npos) << three.bench.why();
  three.bench.order(s0, {.accept_loss = true});
  EXPECT_TRUE(three.bench.shard().view.leader);
}

TEST(Seals, TheBestOfTheSealedLeads) {
  Three three(0);
  three.say(three.names[2], [](ReplicaReport& report) { report.progress = 7; });
  three.say(three.names[1], [](ReplicaReport& report) { report.progress = 6; });
  three.bench.end(three.names[0]);
  three.bench.run(5s);
  EXPECT_TRUE(three.bench.said(three.names[2] + " leads at epoch 2 (failover)")) << three.bench.why();
}

// The view names followers on, while they take up who leads now.
TEST(View, FollowersStayInItWhileLeadershipChanges) {
  Three three(2);
  three.bench.node(three.names[2]).obeys = false;
  three.bench.order(s0, {.lead = NodeId(three.names[1])});
  three.bench.run(1s);
  const ShardView view = three.bench.shard().view;
  EXPECT_EQ(view.leader, NodeId(three.names[1]));
  EXPECT_NE(std::ranges::find(view.others, NodeId(three.names[2]), &Peer::node), view.others.end());
  EXPECT_EQ(view.others.size(), 2u);
}

}  // namespace
}  // namespace evenkeel::control::test
