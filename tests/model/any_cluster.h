#pragma once
// Random valid clusters, for properties.

#include <algorithm>
#include <string>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/model/model.h"

namespace evenkeel {

// A random valid cluster that uses every field now and then. Built by an Rng, so that rapidcheck's seed replays it.
class AnyCluster {
 public:
  explicit AnyCluster(std::uint64_t seed) : rng_(seed) {}

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

 protected:
  std::uint32_t small(std::uint64_t below) { return static_cast<std::uint32_t>(rng_.below(below)); }
  // Of every order of magnitude.
  std::uint64_t number() { return rng_.next() >> rng_.below(64); }
  Duration duration(Duration least = Duration::zero()) {
    return least + Duration(static_cast<Duration::rep>(rng_.below(std::uint64_t{1} << rng_.below(50))));
  }
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
    make_control(out.control);
  }
  void make_control(ControlSettings& out) {
    out.session_ttl = Duration(rng_.between(Duration(1s).count(), Duration(1h).count()));
    out.controller_ttl = Duration(rng_.between(Duration(300ms).count(), Duration(1h).count()));
    for (Duration* const wait : {&out.rebalance_delay, &out.permit, &out.steady}) {
      if (rng_.chance(1, 2)) *wait = duration(1ns);
    }
    if (rng_.chance(1, 2)) out.max_offline = 10 + small(10);
    if (rng_.chance(1, 2)) out.resume_offline = small(11);
    out.extra_replicas = 1 + small(3);
    for (Throttle* const limit :
         {&out.recovery, &out.balance, &out.recovery_per_node, &out.balance_per_node, &out.recovery_per_zone,
          &out.balance_per_zone, &out.recovery_per_workload, &out.balance_per_workload, &out.openings, &out.openings_per_node,
          &out.openings_per_zone, &out.openings_per_workload}) {
      if (rng_.chance(1, 3)) limit->copies = small(1000);
      if (rng_.chance(1, 3)) limit->bytes_per_second = quantity();
    }
    out.errors_max = ratio(0, 100);
    out.loads_margin = ratio(0, 100);
    out.loads_pause = Duration(rng_.between(Duration(1s).count(), Duration(24h).count()));
  }
  void make_control(WorkloadControl& out, std::uint32_t replicas) {
    if (rng_.chance(1, 3)) return;
    if (rng_.chance(1, 2)) out.min_active = small(replicas + 1);
    if (rng_.chance(1, 2)) out.rebalance_delay = duration();
    if (rng_.chance(1, 2)) out.acks = small(replicas + 1);
    if (out.acks >= 2 && rng_.chance(1, 2)) out.fencing = Fencing::epoch;
    if (rng_.chance(1, 2)) out.lag_max = number();
    for (Duration* const wait : {&out.seal_wait, &out.hand_over, &out.linger}) {
      if (rng_.chance(1, 2)) *wait = duration();
    }
    if (rng_.chance(1, 2)) out.transition = duration(1ns);
    if (rng_.chance(1, 2)) out.key_map = KeyMap::range;
    if (rng_.chance(1, 2)) out.metadata = text();
  }
  // Whatever people and programs write into a field that is theirs.
  std::string text() {
    static constexpr const char* texts[] = {
        "disk is full", "a \"quoted\" \\ word", "größer als\t2 GiB\n", "{\"a\": [1, null]}", "\x01 and \x7f", "𝄞 ✓ é", "7", ""};
    std::string out;
    for (auto i = rng_.below(4); i > 0; --i) out += texts[rng_.below(std::size(texts))];
    return out;
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
    make_control(out.control, out.replicas);
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
    if (rng_.chance(1, 2)) cluster.barred.push_back({workload.name, ShardIndex(shard), row[0]});
  }

  Rng rng_;
};

}  // namespace evenkeel
