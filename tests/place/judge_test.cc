// The judge judged: it has nothing to say of a good plan, and something of every way to spoil one.

#include "tests/place/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evenkeel/model/cluster_file.h"

namespace evenkeel::place {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// n1 drains. t1/0 goes to n4, t1/1 has lost its leader on n5, t2 is new, t3 cannot be placed.
constexpr std::string_view judge_cluster = R"(
cluster: c
settings: {spread: {level: zone, hard: true}, moves_max: 3}
nodes:
  - {name: n1, zone: a, capacity: {cpu: 100}, status: draining}
  - {name: n2, zone: b, capacity: {cpu: 100}}
  - {name: n3, zone: c, capacity: {cpu: 100}, status: no-leaders}
  - {name: n4, zone: a, capacity: {cpu: 100}, labels: {disk: ssd}}
  - {name: n5, zone: d, capacity: {cpu: 100}, status: down}
  - {name: n6, zone: d, capacity: {cpu: 10}, replicas_max: 1}
workloads:
  - {name: t1, shards: 2, replicas: 3, load: {cpu: 8}}
  - {name: t2, shards: 1, replicas: 1, load: {cpu: 50}}
  - {name: t3, shards: 1, replicas: 1, load: {cpu: 1}, require: {disk: tape}}
placement:
  t1: [[n1, n2, n3], [n5, n3, n2]]
)";

class JudgeTest : public ::testing::Test {
 protected:
  static WorkloadId w(const char* name) { return WorkloadId(name); }
  static NodeIndex n(std::uint32_t number) { return NodeIndex(number - 1); }
  static Placement rows(const std::vector<std::vector<std::uint32_t>>& all) {
    Placement placement;
    for (const auto& row : all) {
      for (const std::uint32_t number : row) placement.add(n(number));
      placement.end_row();
    }
    return placement;
  }

  JudgeTest() : cluster_(parse_cluster(judge_cluster, "c").value()) {
    plan_.placement[w("t1")] = rows({{4, 2, 3}, {2, 3, 6}});
    plan_.placement[w("t2")] = rows({{4}});
    plan_.moves = {{w("t1"), ShardIndex(0), n(1), n(4), MoveReason::drain, 1},
                   {w("t1"), ShardIndex(1), n(5), n(6), MoveReason::repair, 1}};
    plan_.leaders = {{w("t1"), ShardIndex(1), n(5), n(2)}};
    plan_.refused = {{.workload = w("t3"), .reason = RefusalReason::labels, .detail = "no node has disk=tape"}};
    plan_.stats.moves = 2;
  }
  std::vector<std::string> judged() const { return judge(cluster_, plan_, options_); }

  Cluster cluster_;
  Plan plan_;
  PlanOptions options_;
};

TEST_F(JudgeTest, HasNothingAgainstAGoodPlan) { EXPECT_THAT(judged(), IsEmpty()); }

TEST_F(JudgeTest, RowsThatTheMovesDoNotReach) {
  plan_.placement[w("t1")] = rows({{2, 3, 6}, {2, 3, 6}});
  EXPECT_THAT(judged(), Contains(HasSubstr("the moves lead to")));
}
TEST_F(JudgeTest, KeysThatAreMissing) {
  plan_.placement.erase(w("t2"));
  EXPECT_THAT(judged(), Contains("the new workload t2 has no key and 0 refusals instead of 1"));
}
TEST_F(JudgeTest, RefusedAndPlaced) {
  plan_.refused.push_back({.workload = w("t2"), .reason = RefusalReason::capacity, .detail = "full"});
  EXPECT_THAT(judged(), Contains("t2 is refused and placed"));
}
TEST_F(JudgeTest, RefusedThoughThereIsRoom) {
  plan_.placement.erase(w("t2"));
  plan_.refused.push_back({.workload = w("t2"), .reason = RefusalReason::capacity, .detail = "full"});
  EXPECT_THAT(judged(), Contains(HasSubstr("there is room for all of it")));
}
TEST_F(JudgeTest, HalfOfARequest) {
  cluster_.workloads[1].replicas = 2;
  EXPECT_THAT(judged(), Contains("the new shard t2/0 has 1 of 2 replicas"));
}
TEST_F(JudgeTest, StaysWithoutAWord) {
  plan_.placement[w("t1")] = rows({{1, 2, 3}, {2, 3, 6}});
  plan_.moves.erase(plan_.moves.begin());
  EXPECT_THAT(judged(), Contains("t1/0 stays on n1, neither refused nor waiting"));
  plan_.violations = {{w("t1"), ShardIndex(0), Rule::draining, true, "n1", "moves_max"}};
  EXPECT_THAT(judged(), Contains(HasSubstr("waits for moves_max, which is not reached")));
  plan_.violations[0].reason.clear();
  plan_.refused.push_back({w("t1"), ShardIndex(0), n(1), RefusalReason::capacity, "full", true, {}});
  EXPECT_THAT(judged(), Contains("the refusal of t1/0 on n1: n4 could take it"));
}
TEST_F(JudgeTest, LimitsAtTheirPeak) {
  cluster_.workloads[1].load[ResourceId("cpu")] = Quantity(90);
  EXPECT_THAT(judged(), Contains("step 1: n4 receives and is above its hard limit"));
  cluster_.nodes[3].replicas_max = 1;
  EXPECT_THAT(judged(), Contains("step 1: n4 receives and has 2 replicas, too many"));
}
TEST_F(JudgeTest, MovesInFlightCountAtBothEnds) {
  cluster_.placement[w("t2")] = rows({{2}});
  cluster_.moving = {{w("t2"), ShardIndex(0), n(2), n(4)}};
  EXPECT_THAT(judged(), IsEmpty());
  cluster_.workloads[1].load[ResourceId("cpu")] = Quantity(90);
  EXPECT_THAT(judged(), Contains("step 1: n4 receives and is above its hard limit"));
  plan_.moves.push_back({w("t2"), ShardIndex(0), n(2), n(4), MoveReason::balance, 1});
  EXPECT_THAT(judged(), Contains("t2/0 has a move in flight and gets one"));
}
TEST_F(JudgeTest, CancelledWithoutNeed) {
  cluster_.placement[w("t2")] = rows({{4}});
  cluster_.moving = {{w("t2"), ShardIndex(0), n(4), n(2)}};
  plan_.cancelled = {{w("t2"), ShardIndex(0), n(4), n(2), "destination down"}};
  EXPECT_THAT(judged(), Contains("the move in flight t2/0 n4 -> n2 is cancelled without need"));
  cluster_.nodes[1].status = NodeStatus::cordoned;
  EXPECT_THAT(judged(), IsEmpty());
  plan_.cancelled.clear();
  EXPECT_THAT(judged(), Contains("the move in flight t2/0 n4 -> n2 leads nowhere and is not cancelled"));
}
TEST_F(JudgeTest, DestinationsThatAreNotAble) {
  for (const NodeStatus status : {NodeStatus::cordoned, NodeStatus::draining, NodeStatus::down}) {
    cluster_.nodes[3].status = status;
    EXPECT_THAT(judged(), Contains("move t1/0 n1 -> n4 (drain, step 1) goes to a node that is not able"));
  }
  cluster_.nodes[3].status = NodeStatus::up;
  cluster_.nodes[3].taints.push_back({.key = "k", .value = "v"});
  EXPECT_THAT(judged(), Contains("move t1/0 n1 -> n4 (drain, step 1) goes to a node that is not able"));
  cluster_.workloads[0].tolerate.push_back({.key = "k", .value = std::nullopt});
  cluster_.workloads[1].tolerate.push_back({.key = "k", .value = "v"});
  EXPECT_THAT(judged(), IsEmpty());
}
TEST_F(JudgeTest, BarredNodes) {
  cluster_.barred = {{w("t1"), ShardIndex(0), n(4)}};
  EXPECT_THAT(judged(), Contains("move t1/0 n1 -> n4 (drain, step 1) goes to a node that is not able"));
  EXPECT_THAT(judged(), Contains("t1/0 breaks the rule barred, and no violation says so"));
  EXPECT_THAT(judged(), Contains("t1/0 stays on n4, neither refused nor waiting"));
  cluster_.barred = {{w("t1"), ShardIndex(1), n(4)}, {w("t2"), ShardIndex(0), n(1)}};
  EXPECT_THAT(judged(), IsEmpty());
}
TEST_F(JudgeTest, HardSpread) {
  cluster_.nodes[3].zone = "b/r1";
  EXPECT_THAT(judged(), Contains("move t1/0 n1 -> n4 (drain, step 1) breaks hard spread beside n2"));
  EXPECT_THAT(judged(), Contains("t1/0 breaks the rule spread, and no violation says so"));
}
TEST_F(JudgeTest, BoundsOnMoves) {
  cluster_.settings.moves_max = 1;
  EXPECT_THAT(judged(), Contains(HasSubstr("more than moves_max")));
  cluster_.settings.moves_max = 2;
  cluster_.settings.moves_per_node_max = 1;
  EXPECT_THAT(judged(), IsEmpty());
  cluster_.placement[w("t2")] = rows({{2}});
  cluster_.moving = {{w("t2"), ShardIndex(0), n(2), n(4)}};
  EXPECT_THAT(judged(), Contains("n4 takes part in 2 moves, more than moves_per_node_max"));
}
TEST_F(JudgeTest, StepsOfOneShard) {
  plan_.moves[1].step = 3;
  EXPECT_THAT(judged(), Contains("the steps of the moves have gaps or do not start at 1"));
  plan_.moves.push_back({w("t1"), ShardIndex(0), n(2), n(6), MoveReason::balance, 1});
  EXPECT_THAT(judged(), Contains("two moves of t1/0 are in one step"));
}
TEST_F(JudgeTest, ReasonsThatAreNone) {
  plan_.moves[0].reason = MoveReason::repair;
  EXPECT_THAT(judged(), Contains("move t1/0 n1 -> n4 (repair, step 1): the node is not down"));
  plan_.moves[0].reason = MoveReason::balance;
  EXPECT_THAT(judged(), Contains("move t1/0 n1 -> n4 (balance, step 1): balance leaves the node alone"));
  plan_.moves[0].reason = MoveReason::spread;
  EXPECT_THAT(judged(), Contains("move t1/0 n1 -> n4 (spread, step 1): it shared no domain"));
  plan_.moves[0].reason = MoveReason::grow;
  EXPECT_THAT(judged(), Contains("move t1/0 n1 -> n4 (grow, step 1): exactly growth has no from"));
}
TEST_F(JudgeTest, BalanceAndWhatStays) {
  cluster_.nodes[0].status = NodeStatus::up;
  plan_.moves[0].reason = MoveReason::balance;
  EXPECT_THAT(judged(), IsEmpty());
  cluster_.recent = {{w("t1"), ShardIndex(0), n(1)}};
  EXPECT_THAT(judged(), Contains("move t1/0 n1 -> n4 (balance, step 1) moves what moved lately"));
  cluster_.workloads[0].pinned.shards = {ShardIndex(0)};
  cluster_.workloads[0].pinned.nodes = rows({{1}});
  EXPECT_THAT(judged(), Contains("move t1/0 n1 -> n4 (balance, step 1) moves what is pinned"));
  cluster_.workloads[1].load[ResourceId("cpu")] = Quantity(80);
  EXPECT_THAT(judged(), Contains("move t1/0 n1 -> n4 (balance, step 1) brings n4 above the soft limit of cpu"));
}
TEST_F(JudgeTest, LostQuorums) {
  cluster_.nodes[2].status = NodeStatus::down;
  EXPECT_THAT(judged(), Contains("t1/1 has lost its quorum and is touched"));
  EXPECT_THAT(judged(), Contains("t1/1 breaks the rule quorum, and no violation says so"));
}
TEST_F(JudgeTest, Leaders) {
  plan_.leaders.clear();
  EXPECT_THAT(judged(), Contains("t1/1: the change of its leader is not listed"));
  plan_.placement[w("t1")] = rows({{4, 2, 3}, {6, 2, 3}});
  EXPECT_THAT(judged(), Contains("t1/1: n6 leads, which holds it only after the move, though a live replica could"));
  plan_.placement[w("t1")] = rows({{4, 2, 3}, {3, 2, 6}});
  plan_.leaders = {{w("t1"), ShardIndex(1), n(5), n(3)}};
  EXPECT_THAT(judged(), Contains("t1/1 is led from n3, which should have no leaders; n2 could"));
}
TEST_F(JudgeTest, ViolationsThatAreNone) {
  plan_.violations = {{w("t1"), ShardIndex(0), Rule::spread, true, "2 replicas in a", ""}};
  EXPECT_THAT(judged(), Contains("the violation of spread by t1/0 is none: 2 replicas in a"));
}
TEST_F(JudgeTest, LimitsThatNobodySpeaksOf) {
  cluster_.nodes[1].used[ResourceId("cpu")] = Quantity(90);
  EXPECT_THAT(judged(), Contains("n2 is above its limit of capacity in the end, and no violation says so"));
  cluster_.nodes[1].replicas_max = 1;
  EXPECT_THAT(judged(), Contains("n2 is above its limit of count in the end, and no violation says so"));
}
TEST_F(JudgeTest, Stats) {
  plan_.stats.moves = 1;
  EXPECT_THAT(judged(), Contains("stats count 1 moves of 2"));
  // In the end n2 has 16, n3 16, n4 58, n6 8 of 310 in all: the mean is 98/310, the most loaded n6 with 8/10.
  plan_.stats.balance[ResourceId("cpu")] = {.max_over_mean = 0.8 / (98.0 / 310), .floor = 1};
  plan_.stats.moves = 2;
  EXPECT_THAT(judged(), IsEmpty());
  plan_.stats.balance[ResourceId("cpu")].floor = 3;
  EXPECT_THAT(judged(), Contains(HasSubstr("is below its floor")));
}

}  // namespace
}  // namespace evenkeel::place
