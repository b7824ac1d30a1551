// Properties of the cluster file: every valid cluster survives being written and read, in both syntaxes, and text is canonical.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "evenkeel/base/rng.h"
#include "evenkeel/model/model.h"

namespace evenkeel {
namespace {

// A random valid cluster that uses every field now and then. Built by an Rng, so that rapidcheck's seed replays it.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(seed) {}

  Cluster make() {
    Cluster cluster;
    cluster.name = ClusterId("c" + std::to_string(rng_.below(10)));
    make_settings(cluster.settings);
    if (rng_.chance(1, 4)) cluster.state_models.push_back(own_model());
    make_nodes(cluster.nodes);
    const auto workloads = rng_.below(4);
    for (std::uint64_t i = 0; i < workloads; ++i) cluster.workloads.push_back(make_workload(cluster, i));
    for (const Workload& workload : cluster.workloads) make_placement(cluster, workload);
    return cluster;
  }

 private:
  Quantity quantity() {
    switch (rng_.below(4)) {
      case 0:
        return Quantity(static_cast<std::int64_t>(rng_.below(1000)));
      case 1:
        return Quantity(static_cast<std::int64_t>(rng_.below(64))) * (std::int64_t{1} << (10 * rng_.below(5)));
      case 2:
        return Quantity::from_nano(static_cast<Int128>(rng_.below(10'000'000'000)));
      default:
        return Quantity::from_nano(static_cast<Int128>(rng_.below(1'000'000)) * 1'000'000);
    }
  }
  Ratio ratio(std::int64_t low, std::int64_t high) { return Ratio::from_millionths(rng_.between(low * 10'000, high * 10'000)); }
  Amounts amounts() {
    Amounts out;
    for (const char* name : {"cpu", "disk", "memory"}) {
      if (rng_.chance(1, 2)) out[ResourceId(name)] = quantity();
    }
    return out;
  }
  Labels labels() {
    static constexpr const char* values[] = {"ssd",      "",    "two words", "true", "1e3", "é ü \"quoted\" \\",
                                             "a: b # c", "- x", "null"};
    Labels out;
    for (const char* key : {"disk", "app.io/kind", "rack-row", "null", "on", "7", "007", "1e3"}) {
      if (rng_.chance(1, 4)) out[key] = values[rng_.below(std::size(values))];
    }
    return out;
  }
  void make_settings(Settings& out) {
    if (rng_.chance(1, 2)) return;
    out.replicas_per_core = static_cast<std::uint32_t>(rng_.below(9000));
    out.moves_max = static_cast<std::uint32_t>(rng_.below(100));
    out.soft_limit = ratio(10, 50);
    out.hard_limit = ratio(60, 120);
    out.tolerance = ratio(0, 10);
    if (rng_.chance(1, 2)) out.levels = {"region", "zone"};
    out.spread = {.level = out.levels.back(), .hard = rng_.chance(1, 2)};
  }
  static StateModel own_model() {
    return *StateModel::make({.name = StateModelId("own"),
                              .states = {{StateId("on"), {StateCount::Kind::number, 2}}, {StateId("off"), {}, false}},
                              .initial = StateId("off"),
                              .transitions = {{StateId("off"), StateId("on")}, {StateId("on"), StateId("off")}}});
  }
  // Runs of like nodes, so that folding has something to do, broken now and then.
  void make_nodes(std::vector<Node>& nodes) {
    const auto runs = rng_.below(5);
    for (std::uint64_t run = 0; run < runs; ++run) {
      Node node = make_node();
      const auto count = 1 + rng_.below(30), first = rng_.below(12), zones = 1 + rng_.below(4), racks = 1 + rng_.below(3);
      const bool padded = rng_.chance(1, 3), zoned = rng_.chance(3, 4), deep = rng_.chance(1, 2);
      for (std::uint64_t i = 0; i < count; ++i) {
        node.name = NodeId(fmt::format("r{}-{:0{}}", run, first + i, padded ? 2 : 0));
        if (zoned) node.zone = fmt::format("z{}", rng_.chance(1, 40) ? 77 : 1 + i % zones);
        if (zoned && deep) node.zone += fmt::format("/r{}", 1 + i / zones % racks);
        if (rng_.chance(1, 30)) node.cores = static_cast<std::uint32_t>(1 + rng_.below(8));
        nodes.push_back(node);
      }
    }
  }
  Node make_node() {
    Node node;
    node.cores = static_cast<std::uint32_t>(rng_.below(3) * 8);
    node.capacity = amounts();
    if (rng_.chance(1, 4)) node.used = amounts();
    if (rng_.chance(1, 4)) node.power = quantity() + Quantity(1);
    node.labels = labels();
    if (rng_.chance(1, 4)) node.taints = {{"dedicated", "db", Taint::Effect::refuse}, {"slow", "", Taint::Effect::avoid}};
    if (rng_.chance(1, 4)) node.status = static_cast<NodeStatus>(rng_.below(5));
    if (rng_.chance(1, 8)) node.soft_limit = ratio(1, 9);
    if (rng_.chance(1, 8)) node.hard_limit = ratio(121, 200);
    node.leaders = !rng_.chance(1, 8);
    return node;
  }
  std::vector<NodeIndex> some_nodes(const Cluster& cluster, std::uint64_t most) {
    std::vector<NodeIndex> all;
    for (std::uint32_t i = 0; i < cluster.nodes.size(); ++i) all.emplace_back(i);
    rng_.shuffle(std::span(all));
    all.resize(std::min<std::size_t>(all.size(), rng_.below(most + 1)));
    return all;
  }
  Workload make_workload(const Cluster& cluster, std::uint64_t number) {
    Workload out{.name = WorkloadId("t" + std::to_string(number)), .shards = static_cast<std::uint32_t>(rng_.below(20))};
    out.replicas = static_cast<std::uint32_t>(1 + rng_.below(4));
    if (rng_.chance(1, 4)) out.state_model = StateModelId("bootstrap");
    if (!cluster.state_models.empty()) out.state_model = StateModelId("own");
    out.load = amounts();
    out.leader_load = amounts();
    make_shard_loads(out);
    if (rng_.chance(1, 4)) out.move_cost = quantity();
    out.require = labels();
    if (rng_.chance(1, 4)) out.tolerate = {{"dedicated", "db"}, {"slow", std::nullopt}, {"odd", ""}};
    if (rng_.chance(1, 4)) out.spread = Spread{.level = cluster.settings.levels.front(), .hard = rng_.chance(1, 2)};
    if (number > 0 && rng_.chance(1, 3)) (rng_.chance(1, 2) ? out.apart_from : out.close_to).emplace_back("t0");
    for (std::uint32_t shard = 0; shard < out.shards; ++shard) {
      if (!rng_.chance(1, 6)) continue;
      out.pinned.shards.emplace_back(shard);
      out.pinned.nodes.push_back(some_nodes(cluster, out.replicas));
    }
    out.system = rng_.chance(1, 8);
    return out;
  }
  void make_shard_loads(Workload& workload) {
    ShardLoads loads{.resources = {ResourceId("cpu"), ResourceId("disk")}, .shards = {}, .values = {}};
    bool used[2] = {false, false};
    for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
      if (!rng_.chance(1, 5)) continue;
      loads.shards.emplace_back(shard);
      for (bool& column : used) {
        loads.values.push_back(quantity());
        column |= loads.values.back() != Quantity();
      }
    }
    if (used[0] && used[1]) workload.shard_loads = loads;
  }
  void make_placement(Cluster& cluster, const Workload& workload) {
    if (rng_.chance(1, 3)) return;
    Placement& rows = cluster.placement[workload.name];
    Cores cores;
    for (std::uint32_t shard = 0; shard < workload.shards && !rng_.chance(1, 20); ++shard) {
      const auto row = some_nodes(cluster, 5);
      rows.push_back(row);
      for (const NodeIndex node : row)
        cores.add(Core(static_cast<std::uint16_t>(rng_.below(std::max(1u, cluster.nodes[node.value()].cores)))));
      cores.end_row();
      if (!row.empty() && row.size() < cluster.nodes.size() && rng_.chance(1, 5)) add_move(cluster, workload, shard, row);
    }
    if (rng_.chance(1, 2)) cluster.cores[workload.name] = cores;
  }
  void add_move(Cluster& cluster, const Workload& workload, std::uint32_t shard, const std::vector<NodeIndex>& row) {
    Moving move{.workload = workload.name, .shard = ShardIndex(shard), .from = row[0], .to = {}};
    for (std::uint32_t to = 0; to < cluster.nodes.size(); ++to) {
      if (std::ranges::find(row, NodeIndex(to)) == row.end()) move.to = NodeIndex(to);
    }
    if (rng_.chance(1, 4))
      move.from.reset();
    else if (rng_.chance(1, 4))
      move.to.reset();
    cluster.moving.push_back(move);
    cluster.recent.push_back({workload.name, ShardIndex(shard), row[0]});
  }

  Rng rng_;
};

TEST(ClusterFile, EveryValidClusterSurvivesWritingAndReading) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Cluster cluster = Generator(seed).make();
    const auto problems = check(cluster);
    RC_ASSERT(problems.empty());
    for (const Syntax syntax : {Syntax::yaml, Syntax::json}) {
      const auto text = format_cluster(cluster, syntax);
      const auto read = parse_cluster(text, "c", syntax);
      if (!read) RC_FAIL(read.error().format() + "\n" + text);
      RC_ASSERT(*read == cluster);
      RC_ASSERT(format_cluster(*read, syntax) == text);
    }
  }));
}

// A text that lost a part is either still a whole cluster or refused with a place; nothing in between, and never a crash.
TEST(ClusterFile, DamagedTextIsRefusedWithPlaces) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    std::string text = format_cluster(Generator(seed).make(), rng.chance(1, 2) ? Syntax::yaml : Syntax::json);
    for (int i = 0; i < 3; ++i) {
      const auto at = rng.below(text.size());
      switch (rng.below(3)) {
        case 0:
          text.erase(at, rng.below(20));
          break;
        case 1:
          text.insert(at, 1, static_cast<char>(rng.below(256)));
          break;
        default:
          text[at] = "{}[],:\"'-\n 0"[rng.below(12)];
          break;
      }
      if (text.empty()) text = "x";
    }
    const auto read = parse_cluster(text, "c");
    if (read) {
      RC_ASSERT(check(*read).empty());
    } else {
      RC_ASSERT(!read.error().empty());
      for (const Diagnostic& problem : read.error().sorted())
        RC_ASSERT(problem.place.line > 0 || problem.message == "the file is empty");
    }
  }));
}

TEST(ClusterFile, FoldedRunsAreShort) {
  Cluster cluster;
  cluster.name = ClusterId("big");
  for (int i = 0; i < 5000; ++i)
    cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i)), .zone = fmt::format("z{}/r{}", i % 7, i / 7 % 40)});
  const auto text = format_cluster(cluster, Syntax::yaml);
  EXPECT_LT(text.size(), 200u) << text;
  EXPECT_EQ(*parse_cluster(text, "c"), cluster);
}

// Zones in blocks, or in no order at all, fold as far as a range can say them, in linear time.
TEST(ClusterFile, RunsEndWhereTheirPatternEnds) {
  Cluster cluster;
  cluster.name = ClusterId("blocks");
  for (int i = 1; i <= 30; ++i)
    cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i)), .zone = fmt::format("z{}", (i - 1) / 10)});
  EXPECT_THAT(format_cluster(cluster, Syntax::yaml),
              testing::AllOf(testing::HasSubstr("\"n[1-10]\", zone: z0"), testing::HasSubstr("\"n[11-20]\", zone: z1"),
                             testing::HasSubstr("\"n[21-30]\", zone: z2")));
  Rng rng(1);
  for (int i = 31; i <= 20'000; ++i)
    cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i)), .zone = fmt::format("z{}", rng.below(9))});
  EXPECT_EQ(*parse_cluster(format_cluster(cluster, Syntax::json), "c.json"), cluster);
}

// The big tables, at a size at which anything quadratic would be noticed. What they may cost in memory is held by tests/cli/limits.py.
TEST(ClusterFile, ManyShardsSurviveWritingAndReading) {
  Cluster cluster;
  cluster.name = ClusterId("big");
  for (int i = 0; i < 1000; ++i) cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i))});
  Workload workload{.name = WorkloadId("t"), .shards = 200'000, .replicas = 3};
  workload.shard_loads.resources = {ResourceId("cpu")};
  Placement& rows = cluster.placement[workload.name];
  for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
    for (const std::uint32_t step : {0u, 7u, 400u}) rows.add(NodeIndex((shard * 31 + step) % 1000));
    rows.end_row();
    workload.shard_loads.shards.emplace_back(shard);
    workload.shard_loads.values.push_back(Quantity::from_nano(1 + shard % 1000));
  }
  cluster.workloads.push_back(std::move(workload));
  for (const Syntax syntax : {Syntax::yaml, Syntax::json}) {
    const auto read = parse_cluster(format_cluster(cluster, syntax), "big", syntax);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, cluster);
  }
}

}  // namespace
}  // namespace evenkeel
