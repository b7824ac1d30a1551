// A plan as text, the cluster that it leads to, and explanations as text. The plans are written by hand: what the planner decides is
// tested elsewhere.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

#include "evenkeel/model/cluster_file.h"
#include "evenkeel/place/explain.h"
#include "evenkeel/place/plan.h"

namespace evenkeel::place {
namespace {

NodeIndex node(std::uint32_t index) { return NodeIndex(index); }

Placement rows(const std::vector<std::vector<std::uint32_t>>& cells) {
  Placement out;
  for (const auto& row : cells) {
    for (const std::uint32_t cell : row) out.add(NodeIndex(cell));
    out.end_row();
  }
  return out;
}
Cores cores(const std::vector<std::vector<std::uint16_t>>& cells) {
  Cores out;
  for (const auto& row : cells) {
    for (const std::uint16_t cell : row) out.add(Core(cell));
    out.end_row();
  }
  return out;
}

// n1…n4, t1 placed on the first three, t2 new.
Cluster cluster() {
  auto out = parse_cluster(R"(
nodes: [{name: "n[1-4]", zone: "z[1-2]", cores: 4}]
workloads: [{name: t1, shards: 2, replicas: 2}, {name: t2, shards: 1}]
placement: {t1: [[n1, n2], [n2, n3]]}
)",
                           "test.yaml", Syntax::yaml);
  EXPECT_TRUE(out.has_value()) << out.error().format();
  return *out;
}

const WorkloadId w1("t1"), w2("t2");

Plan full_plan() {
  Plan plan;
  plan.placement[w1] = rows({{3, 1}, {1, 2}});
  plan.cores[w1] = cores({{3, 0}, {1, 2}});
  plan.moves = {{w1, ShardIndex(0), node(0), node(3), MoveReason::drain, 1},
                {w1, ShardIndex(1), std::nullopt, node(0), MoveReason::grow, 2},
                {w1, ShardIndex(1), node(0), std::nullopt, MoveReason::shrink, 3}};
  plan.leaders = {{w1, ShardIndex(0), node(0), node(3)}};
  plan.cancelled = {{w1, ShardIndex(1), node(1), node(3), "destination down"}};
  plan.refused = {
      {w2, std::nullopt, std::nullopt, RefusalReason::too_large, "needs \"all\"", false, {{node(0), "disk 96%+1% > 95%"}}},
      {w1, ShardIndex(1), node(2), RefusalReason::nodes, "needs 1", true, {}}};
  plan.violations = {{w1, ShardIndex(1), Rule::apart_from, false, "2 replicas", ""},
                     {w2, std::nullopt, Rule::draining, true, "on n1", "moves_max"}};
  plan.stats = {.seconds = 0.41, .evaluated_moves = 120000, .moves = 3, .moves_floor = 1, .cut_short = true};
  plan.stats.balance[ResourceId("cpu")] = {1.00312345678, 1, 1e-9, 1.5};
  plan.stats.balance[ResourceId("disk")] = {std::numeric_limits<double>::infinity(), 12345678, 0.25, std::nullopt};
  return plan;
}

TEST(PlanText, EveryFieldOfEveryEntryInOneOrder) {
  EXPECT_EQ(format_plan(cluster(), full_plan(), Syntax::json, true), R"({
  "placement": {
    "t1": [
      ["n4", "n2"],
      ["n2", "n3"]
    ]
  },
  "cores": {
    "t1": [
      [3, 0],
      [1, 2]
    ]
  },
  "moves": [
    {"workload": "t1", "shard": 0, "from": "n1", "to": "n4", "reason": "drain", "step": 1},
    {"workload": "t1", "shard": 1, "from": null, "to": "n1", "reason": "grow", "step": 2},
    {"workload": "t1", "shard": 1, "from": "n1", "to": null, "reason": "shrink", "step": 3}
  ],
  "leaders": [
    {"workload": "t1", "shard": 0, "from": "n1", "to": "n4"}
  ],
  "cancelled": [
    {"workload": "t1", "shard": 1, "from": "n2", "to": "n4", "reason": "destination down"}
  ],
  "refused": [
    {"workload": "t2", "shard": null, "node": null, "reason": "too-large", "detail": "needs \"all\"", "proved": false, "nodes": {"n1": "disk 96%+1% > 95%"}},
    {"workload": "t1", "shard": 1, "node": "n3", "reason": "nodes", "detail": "needs 1", "proved": true, "nodes": {}}
  ],
  "violations": [
    {"workload": "t1", "shard": 1, "rule": "apart_from", "hard": false, "detail": "2 replicas", "reason": null},
    {"workload": "t2", "shard": null, "rule": "draining", "hard": true, "detail": "on n1", "reason": "moves_max"}
  ],
  "stats": {
    "seconds": 0.41,
    "evaluated_moves": 120000,
    "moves": 3,
    "moves_floor": 1,
    "cut_short": true,
    "balance": {
      "cpu": {"max_over_mean": 1.003123, "floor": 1, "stddev_over_mean": 0, "max_over_mean_without_giants": 1.5},
      "disk": {"max_over_mean": null, "floor": 12345678, "stddev_over_mean": 0.25, "max_over_mean_without_giants": null}
    }
  }
}
)");
}

TEST(PlanText, AnEmptyPlanHasAllKeys) {
  EXPECT_EQ(format_plan(cluster(), Plan(), Syntax::yaml), R"(placement: {}
moves: []
leaders: []
cancelled: []
refused: []
violations: []
stats:
  seconds: 0
  evaluated_moves: 0
  moves: 0
  moves_floor: 0
  cut_short: false
  balance: {}
)");
}

// The same tree from both syntaxes, node by node.
std::string flat(Value value) {
  std::string out;
  for (const Value item : value.items()) out += flat(item) + ",";
  for (const auto [key, item] : value.pairs()) out += fmt::format("{}={};", key.text(), flat(item));
  if (value.kind() == Value::Kind::null) return "null";
  return value.is_scalar() ? std::string(value.text()) : "(" + out + ")";
}

TEST(PlanText, BothSyntaxesSayTheSame) {
  const auto json = Document::parse(format_plan(cluster(), full_plan(), Syntax::json, true), "json", Syntax::json);
  const auto yaml = Document::parse(format_plan(cluster(), full_plan(), Syntax::yaml, true), "yaml", Syntax::yaml);
  ASSERT_TRUE(json && yaml);
  EXPECT_TRUE(json->problems().empty() && yaml->problems().empty());
  EXPECT_EQ(flat(json->root()), flat(yaml->root()));
}

TEST(PlanText, NamesAreThoseOfTheFormat) {
  std::string names;
  for (int i = 0; i <= static_cast<int>(MoveReason::shrink); ++i) names += fmt::format("{} ", name(static_cast<MoveReason>(i)));
  EXPECT_EQ(names, "repair drain limit rules spread balance room grow shrink ");
  names.clear();
  for (int i = 0; i <= static_cast<int>(Rule::moving); ++i) names += fmt::format("{} ", name(static_cast<Rule>(i)));
  EXPECT_EQ(names, "spread down draining able barred capacity count quorum replicas pinned leaders apart_from moving ");
  names.clear();
  for (int i = 0; i <= static_cast<int>(RefusalReason::too_large); ++i)
    names += fmt::format("{} ", name(static_cast<RefusalReason>(i)));
  EXPECT_EQ(names, "nodes labels barred spread count capacity too-large ");
}

TEST(PlanText, OnlyRefusalsAndHardRulesAreUnmet) {
  Plan plan;
  EXPECT_TRUE(plan.met());
  plan.violations = {{w1, ShardIndex(0), Rule::spread, false, "", ""}};
  EXPECT_TRUE(plan.met());
  plan.violations.push_back({w1, ShardIndex(0), Rule::down, true, "", ""});
  EXPECT_FALSE(plan.met());
  plan.violations.clear();
  plan.refused = {{.workload = w2}};
  EXPECT_FALSE(plan.met());
}

TEST(Apply, MovesInFlightAreDoneAndCancelledOnesGone) {
  Cluster before = cluster();
  before.moving = {{w1, ShardIndex(0), node(0), node(3)}, {w1, ShardIndex(1), node(1), node(3)}};
  ASSERT_TRUE(check(before).empty());
  const Cluster after = apply(before, full_plan());
  EXPECT_TRUE(after.moving.empty());
  EXPECT_EQ(after.placement.at(w1), rows({{3, 1}, {1, 2}}));
  EXPECT_EQ(after.workloads, before.workloads);
  EXPECT_EQ(after.nodes, before.nodes);
  EXPECT_EQ(after.settings, before.settings);
  EXPECT_TRUE(check(after).empty());
}

TEST(Apply, ARefusedWorkloadStaysNewAndAPlacedOneIsNotAnyMore) {
  const Cluster before = cluster();
  Plan plan = full_plan();
  EXPECT_FALSE(apply(before, plan).placement.contains(w2));
  plan.placement[w2] = rows({{0}});
  EXPECT_EQ(apply(before, plan).placement.at(w2), rows({{0}}));
}

TEST(Apply, RecentIsKeptWhereTheReplicaStillIs) {
  Cluster before = cluster();
  before.recent = {
      {w1, ShardIndex(0), node(0)}, {w1, ShardIndex(0), node(1)}, {w1, ShardIndex(1), node(3)}, {w2, ShardIndex(0), node(0)}};
  EXPECT_EQ(apply(before, full_plan()).recent, (std::vector<Recent>{{w1, ShardIndex(0), node(1)}}));
}

TEST(Apply, ThePlansCoresGoFirst) {
  Cluster before = cluster();
  before.cores[w1] = cores({{1, 1}, {1, 1}});
  EXPECT_EQ(apply(before, full_plan()).cores.at(w1), cores({{3, 0}, {1, 2}}));
}

TEST(Apply, WithoutThemAReplicaThatStaysKeepsItsCoreAndOneThatComesGetsTheEmptiest) {
  Cluster before = cluster();
  before.cores[w1] = cores({{1, 2}, {3, 1}});
  Plan plan;
  plan.placement[w1] = rows({{1, 0}, {3, 1}});  // leaders changed in both; n4 came
  const Cluster after = apply(before, plan);
  EXPECT_EQ(after.cores.at(w1), cores({{2, 1}, {1, 3}}));  // core 0 counts its reserve of two
  EXPECT_TRUE(check(after).empty());
  EXPECT_TRUE(apply(cluster(), plan).cores.empty());
}

// Whatever a plan does, the next problem is one that can be written and read.
RC_GTEST_PROP(Apply, TheNextProblemIsAProblem, ()) {
  const auto row = [](std::uint32_t nodes) {
    std::vector<std::uint32_t> order(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) order[i] = i;
    for (std::uint32_t i = 0; i < nodes; ++i) std::swap(order[i], order[*rc::gen::inRange(i, nodes)]);
    order.resize(*rc::gen::inRange(0u, std::min(nodes, 3u) + 1));
    return order;
  };
  Cluster before{.name = ClusterId("c")};
  const auto nodes = *rc::gen::inRange(1u, 6u);
  for (std::uint32_t i = 0; i < nodes; ++i)
    before.nodes.push_back({.name = NodeId(fmt::format("n{}", i)), .cores = *rc::gen::inRange(0u, 3u)});
  const auto shards = *rc::gen::inRange(1u, 5u);
  before.workloads.push_back({.name = w1, .shards = shards, .replicas = 2});
  std::vector<std::vector<std::uint32_t>> from, to;
  for (std::uint32_t i = 0; i < shards; ++i) from.push_back(row(nodes)), to.push_back(row(nodes));
  before.placement[w1] = rows(from);
  std::vector<std::vector<std::uint16_t>> on;
  for (const auto& one : from) {
    on.emplace_back();
    for (const std::uint32_t at : one)
      on.back().push_back(static_cast<std::uint16_t>(*rc::gen::inRange(0u, std::max(1u, before.nodes[at].cores))));
  }
  before.cores[w1] = cores(on);
  RC_ASSERT(check(before).empty());
  Plan plan;
  plan.placement[w1] = rows(to);
  const Cluster after = apply(before, plan);
  RC_ASSERT(check(after).empty());
  const auto again = parse_cluster(format_cluster(after, Syntax::yaml), "next.yaml");
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == after);
}

Explanation explanation() {
  using Kind = NodeVerdict::Kind;
  return {.shard = {w1, ShardIndex(9)},
          .before = {node(0), node(1)},
          .after = {node(3), node(1)},
          .summary = {"moves from n1 to n4: drain"},
          .nodes = {{node(0), Kind::leaves, "it drains"},
                    {node(1), Kind::holds, ""},
                    {node(2), Kind::cannot, "disk 96%+1% > 95%"},
                    {node(3), Kind::leads, ""}}};
}

TEST(ExplanationText, ForPeopleThoseThatHoldItComeFirst) {
  EXPECT_EQ(format_explanation(cluster(), explanation()), R"(t1/9: n1 n2 -> n4 n2
  moves from n1 to n4: drain

n4  leads
n2  holds
n1  leaves  it drains
n3  cannot  disk 96%+1% > 95%
)");
  EXPECT_EQ(format_explanation(cluster(), {.shard = {w1, ShardIndex(0)}}), "t1/0: nowhere\n");
}

TEST(ExplanationText, ForProgramsInTheOrderOfNames) {
  EXPECT_EQ(format_explanation(cluster(), explanation(), Syntax::yaml), R"(workload: t1
shard: 9
before: [n1, n2]
after: [n4, n2]
summary:
  - "moves from n1 to n4: drain"
nodes:
  - {node: n1, verdict: leaves, reason: "it drains"}
  - {node: n2, verdict: holds, reason: null}
  - {node: n3, verdict: cannot, reason: "disk 96%+1% > 95%"}
  - {node: n4, verdict: leads, reason: null}
)");
}

TEST(ExplanationText, NamesOfVerdicts) {
  std::string names;
  for (int i = 0; i <= static_cast<int>(NodeVerdict::Kind::cannot); ++i)
    names += fmt::format("{} ", name(static_cast<NodeVerdict::Kind>(i)));
  EXPECT_EQ(names, "leads holds leaves could cannot ");
}

}  // namespace
}  // namespace evenkeel::place
