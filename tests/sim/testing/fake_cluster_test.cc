// A tiny service in a FakeCluster: what its author would test.

#include "evenkeel/sim/testing/fake_cluster.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace evenkeel::sim {
namespace {

const WorkloadId t("t");
ShardId shard(std::uint32_t number) { return {t, ShardIndex(number)}; }
NodeId n(int number) { return NodeId(fmt::format("n{}", number)); }

// Takes part in everything, and has a number for data.
class Counter final : public node::ShardHandler {
 public:
  Result<> transition(const node::Transition& transition, std::stop_token) override {
    ++transitions;
    if (fails) return fail(Code::unavailable, "out of order");
    if (throws) throw std::runtime_error("what a bug throws");
    if (transition.to.str() == state_dropped) {
      disk.erase(transition.shard);
      return {};
    }
    Replica& replica = disk[transition.shard];
    replica.version = transition.version;
    replica.reason = transition.reason;
    // Its own leading, or what it takes from the leader.
    if (transition.to.str() == "leader" || transition.copy_from) replica.last = transition.version.epoch;
    return {};
  }
  Sealed seal(const ShardId& id, Epoch epoch) override { return {epoch, disk[id].last, disk[id].count}; }
  node::Status report(const ShardId& id) override {
    const auto found = disk.find(id);
    if (found == disk.end()) return {};
    return {.last = found->second.last, .progress = found->second.count};
  }
  std::vector<node::Held> inventory() override {
    std::vector<node::Held> held;
    for (const auto& [id, replica] : disk) held.push_back({id, replica.version, replica.last, replica.count});
    return held;
  }

  struct Replica {
    Version version;
    Epoch last;
    std::uint64_t count = 0;
    Reason reason = Reason::first;
  };
  std::map<ShardId, Replica> disk;
  int transitions = 0;
  bool fails = false;
  bool throws = false;
};

struct Three {
  explicit Three(FakeOptions options = {}, Workload workload = {.name = t, .shards = 4, .replicas = 3})
      : cluster(std::move(options)) {
    for (int i = 1; i <= 3; ++i) cluster.add_node(n(i), handlers[i], {.zone = fmt::format("z{}", i)});
    const auto created = cluster.create(std::move(workload));
    EXPECT_TRUE(created) << created.error().message;
    EXPECT_TRUE(cluster.run_until_settled(1min)) << cluster.why_not_settled();
  }
  std::map<int, Counter> handlers;
  FakeCluster cluster;
};

TEST(FakeCluster, ShardsArePlacedServedAndLed) {
  Three three;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto led = three.cluster.leader(shard(i));
    ASSERT_TRUE(led);
    EXPECT_TRUE(three.cluster.may_lead(led->node, shard(i), led->epoch));
    EXPECT_FALSE(three.cluster.may_lead(led->node, shard(i), led->epoch.next()));
    int others = 0;
    for (int node = 1; node <= 3; ++node) others += three.cluster.state(n(node), shard(i)) == StateId("follower") ? 1 : 0;
    EXPECT_EQ(others, 2);
  }
  const auto to = three.cluster.route().pick(t, "user-17", route::Role::leader);
  ASSERT_TRUE(to);
  EXPECT_EQ(three.cluster.leader(shard(to->shard.value())), (Led{to->node, to->version.epoch}));
}

TEST(FakeCluster, AKilledLeaderIsFollowedByAnother) {
  Three three;
  const Led before = three.cluster.leader(shard(0)).value();
  node::Node& node = three.cluster.node(before.node);
  EXPECT_TRUE(node.may_lead(shard(0), before.epoch));
  three.cluster.kill(before.node);
  EXPECT_FALSE(node.may_lead(shard(0), before.epoch)) << "it is dead";
  EXPECT_FALSE(node.is_current());
  ASSERT_TRUE(three.cluster.run_until_settled(1min)) << three.cluster.why_not_settled();
  const Led after = three.cluster.leader(shard(0)).value();
  EXPECT_NE(after.node, before.node);
  EXPECT_GT(after.epoch, before.epoch);
}

TEST(FakeCluster, ARestartFindsWhatWasOnDiskAndANewDiskDoesNot) {
  Three three;
  three.cluster.kill(n(2));
  three.cluster.run_for(30s);
  three.cluster.start(n(2), three.handlers[2]);
  ASSERT_TRUE(three.cluster.run_until_settled(3min)) << three.cluster.why_not_settled();  // it leads again when it was steady
  EXPECT_EQ(three.handlers[2].disk.at(shard(0)).reason, Reason::restart);

  three.cluster.kill(n(2));
  three.handlers[2].disk.clear();
  three.cluster.start(n(2), three.handlers[2], Disk::empty);
  ASSERT_TRUE(three.cluster.run_until_settled(3min)) << three.cluster.why_not_settled();
  EXPECT_NE(three.handlers[2].disk.at(shard(0)).reason, Reason::restart);
}

// The controller knows what the workload was, and would say that it is gone.
TEST(FakeCluster, WhatSomebodyNewerWroteIsNotWrittenOver) {
  Three three;
  const auto operators = three.cluster.store().connect();
  const auto put = [&](const std::string& key, const std::string& value) {
    store::Txn txn;
    txn.put(key, value);
    operators->txn(std::move(txn), [](const Result<store::Committed>& done) { EXPECT_TRUE(done); });
    three.cluster.run_for(1s);
  };
  const auto text = [&](const std::string& key) { return three.cluster.store().contents(key).entries.at(0).value; };
  const Keys keys(ClusterId("fake"));
  const std::string newer = R"({"format": 99})";
  put(keys.waits(), newer);
  three.cluster.kill(n(1));  // it is waited for, which is saved
  three.cluster.run_for(1min);
  EXPECT_EQ(text(keys.waits()), newer);

  ASSERT_TRUE(three.cluster.erase(t));
  three.cluster.run_for(1s);
  const std::string deleted = text(keys.workload(t));
  put(keys.workload(t), newer);
  three.cluster.start(n(1), three.handlers[1]);  // with it the last replica is dropped
  three.cluster.run_for(1min);
  EXPECT_EQ(text(keys.workload(t)), newer);
  put(keys.workload(t), deleted);
  EXPECT_TRUE(three.cluster.run_until([&] { return text(keys.workload(t)) != deleted; }, 1min)) << "it can be read again";
}

TEST(FakeCluster, OneThatIsCutOffStopsLeadingByItself) {
  Three three;
  const Led before = three.cluster.leader(shard(0)).value();
  three.cluster.cut_off(before.node);
  ASSERT_TRUE(three.cluster.run_until([&] { return !three.cluster.may_lead(before.node, shard(0), before.epoch); }, 1min));
  const auto others_lead = [&] {
    const auto led = three.cluster.leader(shard(0));
    return led && led->node != before.node;
  };
  EXPECT_FALSE(others_lead()) << "it stops before anybody else begins";
  ASSERT_TRUE(three.cluster.run_until(others_lead, 1min));
  three.cluster.heal(before.node);
  EXPECT_TRUE(three.cluster.run_until_settled(5min)) << three.cluster.why_not_settled();
}

TEST(FakeCluster, ANodeLeavesInOrder) {
  Three three({}, {.name = t, .shards = 4, .replicas = 2});
  const Led before = three.cluster.leader(shard(0)).value();
  const auto left = three.cluster.leave(before.node, 2min);
  EXPECT_TRUE(left) << left.error().message;
  EXPECT_FALSE(three.cluster.running(before.node));
  ASSERT_TRUE(three.cluster.run_until_settled(1min)) << three.cluster.why_not_settled();
  EXPECT_NE(three.cluster.leader(shard(0)).value().node, before.node);
}

TEST(FakeCluster, ADrainedNodeHoldsNothing) {
  Three three({}, {.name = t, .shards = 4, .replicas = 2});
  ASSERT_TRUE(three.cluster.operate(n(1), {.operation = Operation::drain}));
  ASSERT_TRUE(three.cluster.run_until([&] { return three.handlers[1].disk.empty(); }, 5min)) << three.cluster.why_not_settled();
  EXPECT_TRUE(three.cluster.run_until_settled(1min)) << three.cluster.why_not_settled();
}

TEST(FakeCluster, AnErasedWorkloadIsDropped) {
  Three three;
  ASSERT_TRUE(three.cluster.erase(t));
  ASSERT_TRUE(three.cluster.run_until_settled(1min)) << three.cluster.why_not_settled();
  for (auto& [number, handler] : three.handlers) EXPECT_TRUE(handler.disk.empty());
}

TEST(FakeCluster, AnotherControllerGoesOn) {
  Three three({.controllers = 2});
  const auto* before = three.cluster.controller();
  three.cluster.restart_controller();
  ASSERT_TRUE(three.cluster.run_until([&] { return three.cluster.controller() != nullptr; }, 1min));
  EXPECT_NE(three.cluster.controller(), before);
  three.cluster.kill(three.cluster.leader(shard(0)).value().node);
  EXPECT_TRUE(three.cluster.run_until_settled(1min)) << three.cluster.why_not_settled();
}

TEST(FakeCluster, WhatAHandlerSaysAndThrowsIsSeen) {
  Counter handler;
  handler.throws = true;
  std::vector<std::string> said;
  FakeCluster cluster;
  cluster.on_event([&](const control::Event& event) { said.push_back(event.text); });
  cluster.add_node(n(1), handler);
  ASSERT_TRUE(cluster.create({.name = t, .shards = 1}));
  EXPECT_FALSE(cluster.run_until_settled(1min));
  EXPECT_FALSE(cluster.why_not_settled().empty());
  EXPECT_FALSE(said.empty());
  handler.throws = false;
  EXPECT_TRUE(cluster.run_until_settled(5min)) << cluster.why_not_settled();
}

TEST(FakeCluster, WhatIsWrongIsRefused) {
  FakeCluster cluster;
  EXPECT_EQ(cluster.create({.name = t, .shards = 1, .state_model = StateModelId("nothing")}).error().code, Code::invalid);
  EXPECT_EQ(cluster.create({.name = WorkloadId("a/b"), .shards = 1}).error().code, Code::invalid);
  ASSERT_TRUE(cluster.create({.name = t, .shards = 1}));
  EXPECT_EQ(cluster.create({.name = t, .shards = 1}).error().code, Code::conflict);
  EXPECT_EQ(cluster.erase(WorkloadId("nothing")).error().code, Code::not_found);
}

TEST(FakeCluster, NodesAreReadyAndGoneAsTheLibrarySays) {
  Counter handler;
  FakeCluster cluster;
  node::Node& node = cluster.add_node(n(1), handler);
  EXPECT_FALSE(node.is_current());
  EXPECT_TRUE(node.ready(1min));
  EXPECT_TRUE(node.is_current());
  EXPECT_TRUE(node.leave(1min));
  EXPECT_FALSE(node.is_current());
  EXPECT_FALSE(node.ready(1s));
}

TEST(FakeCluster, SessionsLastAsTheSettingsSay) {
  FakeOptions options;
  options.settings.control.session_ttl = 4s;
  FakeCluster cluster(std::move(options));
  Counter handlers[2];
  EXPECT_TRUE(cluster.add_node(n(1), handlers[0]).ready(1min));
  EXPECT_TRUE(cluster.add_node(n(2), handlers[1], {.session_ttl = 6s}).ready(1min));
  const auto beats = cluster.store().contents("/evenkeel/fake/beats/").entries;
  EXPECT_NE(beats.at(0).value.find("\"4s\""), std::string::npos) << beats.at(0).value;
  EXPECT_NE(beats.at(1).value.find("\"6s\""), std::string::npos) << beats.at(1).value;
}

// Its session is lost, and its leader does not step down: the process ends, or only says so.
TEST(FakeCluster, WhoCannotStepDownIsGone) {
  for (const auto what : {node::OnStuck::exit, node::OnStuck::report}) {
    Counter handler;
    FakeCluster cluster;
    cluster.add_node(n(1), handler, {.on_stuck = what});
    ASSERT_TRUE(cluster.create({.name = t, .shards = 1}));
    ASSERT_TRUE(cluster.run_until_settled(1min)) << cluster.why_not_settled();
    handler.fails = true;
    cluster.cut_off(n(1));
    cluster.run_for(30s);
    EXPECT_EQ(cluster.running(n(1)), what == node::OnStuck::report);
  }
}

TEST(FakeCluster, TheSameCallsGiveTheSameRun) {
  const auto life = [] {
    std::vector<std::string> said;
    Three three({.seed = 7});
    three.cluster.on_event([&](const control::Event& event) { said.push_back(event.text); });
    three.cluster.kill(n(1));
    three.cluster.run_for(10min);
    said.push_back(fmt::format("{}", three.cluster.store().contents().revision));
    return said;
  };
  EXPECT_EQ(life(), life());
}

}  // namespace
}  // namespace evenkeel::sim
