// Orders about single shards: reset, adopt, drop; and what is held although no record says so.

#include <gtest/gtest.h>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

// Three nodes that hold a shard at the given epochs, and a store that knows nothing of it.
void hold(Bench& bench, const std::string& name, Epoch epoch, std::uint64_t progress) {
  bench.join(name, "z-" + name);
  bench.node(name).held[s0] = {
      .shard = s0.shard, .state = StateId("offline"), .version = {epoch, Change(7)}, .last = epoch, .progress = progress};
  bench.restart(name);
}

TEST(Orders, ResetTriesAgainWhatWasGivenUp) {
  Bench bench;
  bench.configure();
  for (const char* name : {"n1", "n2"}) bench.join(name, name);
  bench.create(workload_of(1, 2));
  bench.run(1s);
  const std::string other = bench.shard().view.others.front().node.str();
  bench.end(other);
  bench.node(other).fails = {s0};
  bench.join(other);
  bench.run(1s);
  EXPECT_EQ(bench.machine->overview().errors, 1u);
  EXPECT_NE(bench.why().find("it fails"), std::string::npos) << bench.why();
  bench.node(other).fails.clear();
  bench.run(1h);
  EXPECT_TRUE(bench.shard().view.others.empty());
  bench.order(s0, {.reset = {NodeId(other)}});
  bench.run(1s);
  EXPECT_EQ(bench.shard().view.others.size(), 1u);
  EXPECT_EQ(bench.machine->overview().errors, 0u);
  EXPECT_FALSE(bench.stored<OrderDocument>({.kind = Key::Kind::order, .workload = s0.workload, .shard = s0.shard}));
}

TEST(Orders, AShardThatNodesHoldDoesNotBeginAnew) {
  Bench bench;
  bench.configure();
  hold(bench, "n1", Epoch(5), 10);
  bench.join("n2", "b");
  bench.join("n3", "c");
  bench.create(workload_of(1, 3));
  bench.run(1s);
  EXPECT_EQ(bench.holders(), "");
  EXPECT_NE(bench.why().find("n1 hold it, and no record knows"), std::string::npos) << bench.why();
  ASSERT_EQ(bench.machine->overview().orphans, (std::vector<OrphanState>{{s0, NodeId("n1"), Epoch(5)}}));
}

// A node that joins before the workload is there knows nothing of its buckets: all is in the document of the first.
TEST(Orders, NorDoesOneThatIsToldOfInAnotherBucket) {
  constexpr std::uint32_t shards = 64;
  ASSERT_GT(buckets_for(shards), 1u);
  Bench bench;
  bench.configure();
  bench.join("n1", "a");
  for (std::uint32_t i = 0; i < shards; ++i)
    bench.node("n1").held[{s0.workload, ShardIndex(i)}] = {
        .shard = ShardIndex(i), .state = StateId("offline"), .version = {Epoch(5), Change(7)}, .last = Epoch(5), .progress = 10};
  bench.restart("n1");
  bench.join("n2", "b");
  bench.join("n3", "c");
  bench.create(workload_of(shards, 3));
  bench.run(1s);
  for (std::uint32_t i = 0; i < shards; ++i) EXPECT_EQ(bench.holders(i), "") << i;
  EXPECT_EQ(bench.machine->overview().orphans.size(), shards);
}

TEST(Orders, AdoptRebuildsTheRecordAndTheBestLeadsAboveAllThatWasNamed) {
  Bench bench;
  bench.configure();
  hold(bench, "n1", Epoch(5), 10);
  hold(bench, "n2", Epoch(6), 3);
  hold(bench, "n3", Epoch(6), 4);
  bench.create(workload_of(1, 3));
  bench.order(s0, {.adopt = {NodeId("n1"), NodeId("n2"), NodeId("n3")}});
  bench.run(30s);
  EXPECT_EQ(bench.holders().size(), 9u) << bench.holders() << " " << bench.why();
  EXPECT_GT(bench.shard().record.version.epoch, Epoch(6));
  EXPECT_TRUE(bench.shard().record.has_data);
  EXPECT_TRUE(bench.said("n3 leads")) << bench.why();
  EXPECT_TRUE(bench.machine->overview().orphans.empty());
}

// Where epochs fence, one that was followed before the store was lost may still say that it leads.
TEST(Orders, AdoptCountsOnlyTheLatestOfThoseWhoSayThatTheyLead) {
  for (const Fencing fencing : {Fencing::epoch, Fencing::session}) {
    Bench bench;
    bench.configure();
    hold(bench, "n1", Epoch(5), 10);
    hold(bench, "n2", Epoch(6), 3);
    hold(bench, "n3", Epoch(6), 3);
    Workload workload = workload_of(1, 3);
    workload.control.fencing = fencing;
    bench.create(workload);
    for (const char* name : {"n1", "n2"}) {
      const BenchNode& node = bench.node(name);
      Report report{.node = node.name, .workload = s0.workload, .incarnation = node.incarnation, .data = node.data};
      report.replicas.push_back(node.held.at(s0));
      report.replicas[0].state = StateId("leader");
      bench.put({.kind = Key::Kind::report, .node = node.name, .workload = s0.workload}, report);
    }
    bench.commits.clear();
    bench.order(s0, {.adopt = {NodeId("n1"), NodeId("n2"), NodeId("n3")}});
    ASSERT_FALSE(bench.commits.empty());
    std::string may_lead;
    for (const Holder& holder : bench.commits[0].records.shards.at(0).holders) {
      if (holder.may_be == StateId("leader")) may_lead += holder.node.str();
    }
    EXPECT_EQ(may_lead, fencing == Fencing::epoch ? "n2" : "n1n2");
  }
}

TEST(Orders, AdoptWaitsForWhoeverActsInIt) {
  Bench bench;
  bench.configure();
  hold(bench, "n1", Epoch(5), 10);
  hold(bench, "n2", Epoch(6), 3);
  bench.create(workload_of(1, 2));
  Report report{
      .node = NodeId("n2"), .workload = s0.workload, .incarnation = bench.node("n2").incarnation, .data = bench.node("n2").data};
  report.replicas.push_back(bench.node("n2").held[s0]);
  report.replicas[0].state = StateId("leader");
  bench.put({.kind = Key::Kind::report, .node = NodeId("n2"), .workload = s0.workload}, report);
  bench.order(s0, {.adopt = {NodeId("n1")}});
  bench.run(1s);
  EXPECT_EQ(bench.holders(), "");
  EXPECT_NE(bench.why().find("n2 acts in it"), std::string::npos) << bench.why();
}

TEST(Orders, AnOrphanIsDroppedOnlyByAnOrder) {
  Bench bench;
  bench.configure();
  for (const char* name : {"n1", "n2"}) bench.join(name, name);
  bench.create(workload_of(1, 2));
  bench.run(1s);
  hold(bench, "n3", Epoch(1), 1);
  bench.run(1h);
  EXPECT_TRUE(bench.node("n3").held.contains(s0));
  EXPECT_EQ(bench.machine->overview().orphans.size(), 1u);
  bench.order(s0, {.drop = {NodeId("n3")}});
  bench.run(1s);
  EXPECT_FALSE(bench.node("n3").held.contains(s0));
  EXPECT_TRUE(bench.machine->overview().orphans.empty());
  EXPECT_EQ(bench.holders().size(), 6u) << bench.holders();
}

// The commit that ends an order is under way when another one is seen.
TEST(Orders, OneThatCameSinceIsNotErased) {
  Bench bench;
  bench.configure();
  for (const char* name : {"n1", "n2", "n3"}) bench.join(name, name);
  bench.create(workload_of(1, 3));
  bench.run(10s);
  const NodeId other = bench.shard().view.others.front().node;
  const Key key{.kind = Key::Kind::order, .workload = s0.workload, .shard = s0.shard};
  const Output first = bench.machine->step(Saw{key, OrderDocument{.reset = {other}}}, bench.now);
  ASSERT_EQ(first.commits.size(), 1u);
  EXPECT_EQ(first.commits[0].orders, std::vector{s0.shard});
  EXPECT_TRUE(bench.machine->step(Saw{key, OrderDocument{.lead = other}}, bench.now).commits.empty());
  const Output then = bench.machine->step(Answered{s0.workload, Bucket(0), Answered::Outcome::done}, bench.now);
  ASSERT_EQ(then.commits.size(), 1u);
  EXPECT_EQ(then.commits[0].records.shards[0].hand_over->to, other);
}

TEST(Orders, AreNotLostWhenTheyAreSeenBeforeTheirWorkload) {
  Bench bench;
  bench.configure();
  hold(bench, "n1", Epoch(5), 10);
  bench.order(s0, {.adopt = {NodeId("n1")}});
  bench.create(workload_of(1, 1));
  bench.run(5s);
  EXPECT_EQ(bench.holders(), "n1*") << bench.why();
}

}  // namespace
}  // namespace evenkeel::control::test
