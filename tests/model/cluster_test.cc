// Clusters that programs build: tables, look-ups, and check() on values that no file could say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evenkeel/model/model.h"

namespace evenkeel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Cluster small() {
  Cluster cluster;
  cluster.name = ClusterId("c");
  for (const char* name : {"n0", "n1", "n2"}) cluster.nodes.push_back({.name = NodeId(name)});
  cluster.workloads.push_back({.name = WorkloadId("t"), .shards = 4, .replicas = 2});
  return cluster;
}

TEST(Rows, HoldRowsOfAnyLength) {
  Rows<NodeIndex> rows;
  rows.push_back(std::vector{NodeIndex(1), NodeIndex(2)});
  rows.end_row();
  rows.add(NodeIndex(3));
  rows.end_row();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.cells(), 3u);
  EXPECT_THAT(rows[0], ElementsAre(NodeIndex(1), NodeIndex(2)));
  EXPECT_THAT(rows[1], IsEmpty());
  EXPECT_THAT(rows[2], ElementsAre(NodeIndex(3)));
  Rows<NodeIndex> other = rows;
  EXPECT_EQ(other, rows);
  other.end_row();
  EXPECT_NE(other, rows);
}

TEST(ShardLoads, AreFoundByShard) {
  const ShardLoads loads{.resources = {ResourceId("cpu"), ResourceId("disk")},
                         .shards = {ShardIndex(3), ShardIndex(9)},
                         .values = {Quantity(1), Quantity(2), Quantity(3), Quantity(4)}};
  EXPECT_THAT(loads.find(ShardIndex(9)).value(), ElementsAre(Quantity(3), Quantity(4)));
  EXPECT_FALSE(loads.find(ShardIndex(4)));
  EXPECT_FALSE(loads.find(ShardIndex(10)));
}

TEST(Pins, AreFoundByShard) {
  Pins pins;
  pins.shards = {ShardIndex(2), ShardIndex(5)};
  pins.nodes.push_back(std::vector{NodeIndex(1)});
  pins.nodes.push_back(std::vector{NodeIndex(2), NodeIndex(0)});
  EXPECT_THAT(pins.find(ShardIndex(5)), ElementsAre(NodeIndex(2), NodeIndex(0)));
  EXPECT_THAT(pins.find(ShardIndex(3)), IsEmpty());
}

TEST(Check, AcceptsAWholeCluster) { EXPECT_THAT(check(small()), IsEmpty()); }

TEST(Check, FindsIndexesBeyondTheNodes) {
  Cluster cluster = small();
  cluster.placement[WorkloadId("t")].push_back(std::vector{NodeIndex(0), NodeIndex(7)});
  cluster.moving.push_back({WorkloadId("t"), ShardIndex(0), NodeIndex(8), NodeIndex(9)});
  cluster.recent.push_back({WorkloadId("t"), ShardIndex(0), NodeIndex(3)});
  std::vector<std::vector<std::string>> paths;
  for (const Problem& problem : check(cluster)) paths.push_back(problem.path);
  EXPECT_THAT(paths, ElementsAre(ElementsAre("placement", "t", "0", "1"), ElementsAre("moving", "0", "from"),
                                 ElementsAre("moving", "0", "to"), ElementsAre("recent", "0", "node")));
}

TEST(Check, FindsWhatNoFileCouldSay) {
  Cluster cluster = small();
  cluster.nodes[0].capacity[ResourceId("cpu")] = Quantity(-1);
  cluster.workloads[0].move_cost = Quantity(-1);
  cluster.workloads[0].replicas = 0;
  cluster.workloads[0].shards = shards_max + 1u;
  cluster.nodes[1].cores = cores_max + 1;
  EXPECT_EQ(check(cluster).size(), 5u);
}

// What a file refuses as it is read, a program may still ask for.
TEST(Check, FindsWhatNoControllerCouldDo) {
  Cluster cluster = small();
  cluster.settings.control.steady = -1s;
  cluster.settings.control.balance_per_zone.bytes_per_second = Quantity(-1);
  WorkloadControl& control = cluster.workloads[0].control;
  control.rebalance_delay = -1s;
  control.linger = -1s;
  control.metadata = std::string(metadata_bytes_max, 'x');
  EXPECT_EQ(check(cluster).size(), 4u);
  control.metadata.back() = '\xff';
  control.metadata += "x";
  std::vector<std::string> messages;
  for (const Problem& problem : check(cluster)) messages.push_back(problem.message);
  EXPECT_THAT(messages, ElementsAre("-1s is negative", "a limit is negative", "-1s is negative", "-1s is negative",
                                    "metadata of 16385 bytes is too large", "metadata is not valid UTF-8"));
  cluster = small();
  cluster.barred = {{WorkloadId("t"), ShardIndex(1), NodeIndex(2)}, {WorkloadId("t"), ShardIndex(1), NodeIndex(3)}};
  ASSERT_EQ(check(cluster).size(), 1u);
  EXPECT_THAT(check(cluster)[0].path, ElementsAre("barred", "1", "node"));
}

TEST(Check, FindsTablesThatDoNotFit) {
  Cluster cluster = small();
  Workload& workload = cluster.workloads[0];
  workload.shard_loads = {
      .resources = {ResourceId("cpu"), ResourceId("cpu")}, .shards = {ShardIndex(1), ShardIndex(1)}, .values = {Quantity(-1)}};
  workload.pinned.shards = {ShardIndex(0)};
  EXPECT_EQ(check(cluster).size(), 5u);  // repeated shard, too few values, repeated column, negative load; no row for the pin
}

TEST(Check, StopsAtItsBound) {
  Cluster cluster = small();
  for (int i = 0; i < 1000; ++i) cluster.nodes.push_back({.name = NodeId("n0")});
  EXPECT_EQ(check(cluster, 7).size(), 7u);
}

// Long lists take another way through the search for repetitions than short ones; both find the same.
TEST(Check, FindsRepetitionsInLongRows) {
  Cluster cluster = small();
  for (int i = 3; i < 100; ++i) cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i))});
  std::vector<NodeIndex> row;
  for (std::uint32_t i = 0; i < 50; ++i) row.emplace_back(i);
  row[40] = row[11];
  row[30] = row[11];
  cluster.placement[WorkloadId("t")].push_back(row);
  std::vector<std::vector<std::string>> paths;
  for (const Problem& problem : check(cluster)) paths.push_back(problem.path);
  EXPECT_THAT(paths, ElementsAre(ElementsAre("placement", "t", "0", "30"), ElementsAre("placement", "t", "0", "40")));
}

TEST(Names, AreSaidWhenWrong) {
  EXPECT_FALSE(why_not_a_name("n1.eu-west:9090"));
  EXPECT_TRUE(why_not_a_name(std::string(254, 'a')));
  EXPECT_FALSE(why_not_a_name(std::string(253, 'a')));
  EXPECT_TRUE(why_not_a_label_value("a\tb"));
  EXPECT_TRUE(why_not_a_label_value("\xff"));
  EXPECT_FALSE(why_not_a_label_value("größe"));
  EXPECT_FALSE(why_not_a_label_key("app.io/kind"));
  EXPECT_FALSE(why_not_a_zone(""));
}

TEST(Helix, StatesHaveOurNames) {
  EXPECT_EQ(state_from_helix("MASTER"), StateId("leader"));
  EXPECT_EQ(state_from_helix("slave"), StateId("follower"));
  EXPECT_EQ(state_from_helix("DROPPED"), StateId("dropped"));
  EXPECT_EQ(state_from_helix("LORD"), std::nullopt);
}

TEST(StateModel, NodesBoundsReplicasEverywhere) {
  EXPECT_EQ(find_built_in("everywhere")->states_for(1, 4).size(), 4u);
  EXPECT_EQ(find_built_in("leader-follower")->states_for(0, 4).size(), 0u);
  const auto model = StateModel::make({.name = StateModelId("m"),
                                       .states = {{StateId("leader"), {StateCount::Kind::number, 2}},
                                                  {StateId("online"), {StateCount::Kind::nodes}},
                                                  {StateId("offline"), {}}},
                                       .initial = StateId("offline"),
                                       .transitions = {{StateId("offline"), StateId("online")},
                                                       {StateId("online"), StateId("leader")},
                                                       {StateId("leader"), StateId("online")},
                                                       {StateId("online"), StateId("offline")}}});
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->states_for(1, 5), model->states_for(5, 5));
  EXPECT_EQ(model->states_for(1, 5).size(), 5u);
  EXPECT_EQ(find_built_in("online-offline")->next(StateId("online"), StateId("nonsense")), std::nullopt);
}

TEST(StateModel, ManyStatesAreRefusedBeforeAnythingIsCompared) {
  StateModelSpec spec{.name = StateModelId("big"), .states = {}, .initial = StateId("s0"), .transitions = {}};
  for (int i = 0; i < 100'000; ++i) spec.states.push_back({StateId(fmt::format("s{}", i)), {StateCount::Kind::number, 1}});
  const auto model = StateModel::make(spec);
  ASSERT_FALSE(model.has_value());
  EXPECT_THAT(model.error(), ElementsAre(testing::HasSubstr("at most 32")));
}

// Versions order as routers need it, and values of the flow compare.
TEST(Exchange, VersionsAndNumbersNeverTie) {
  EXPECT_LT((Version{Epoch(1), Change(9)}), (Version{Epoch(2), Change(0)}));
  EXPECT_LT((Version{Epoch(2), Change(0)}), (Version{Epoch(2), Change(1)}));
  EXPECT_LT((TargetNumber{ControllerEpoch(1), 9}), (TargetNumber{ControllerEpoch(2), 0}));
  Target target{.node = NodeId("n1"), .incarnation = Incarnation(3), .number = {}, .replicas = {}};
  Target same = target;
  EXPECT_EQ(target, same);
  same.replicas.push_back({.shard = ShardIndex(1), .state = StateId("leader"), .version = {}});
  EXPECT_NE(target, same);
  EXPECT_EQ(name(Reason::operator_asked), "operator");
  EXPECT_EQ(name(Reason::failover), "failover");
}

}  // namespace
}  // namespace evenkeel
