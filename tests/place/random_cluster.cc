#include "tests/place/random_cluster.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "evenkeel/base/result.h"
#include "tests/place/judge.h"

namespace evenkeel::place {
namespace {

template <class T>
const T& any_of(Rng& rng, const std::vector<T>& values) {
  return values[rng.below(values.size())];
}

class Maker {
 public:
  Maker(Rng& rng, const Shape& shape) : rng_(rng), shape_(shape), troubled_(!shape.calm) {}

  Cluster make() {
    cluster_.name = ClusterId("random");
    make_settings();
    make_nodes();
    const std::uint64_t workloads = 1 + rng_.below(shape_.workloads_max);
    for (std::uint64_t w = 0; w < workloads; ++w) cluster_.workloads.push_back(make_workload(w));
    if (troubled_) relate();
    make_capacities();
    make_counts();
    if (shape_.placed) place();
    if (troubled_) {
      trouble_nodes();
      make_moving();
      make_recent();
      make_barred();
    }
    const auto problems = check(cluster_);
    ensure(problems.empty(), problems.empty() ? "" : problems.front().message.c_str());
    return std::move(cluster_);
  }

 private:
  bool sometimes(std::uint64_t times, std::uint64_t of) { return rng_.chance(times, of); }
  Quantity amount(std::int64_t low, std::int64_t high) {
    const std::int64_t tenths = rng_.between(low * 10, high * 10);
    return Quantity::from_nano(Int128{sometimes(1, 2) ? tenths - tenths % 10 : tenths} * (Quantity::billion / 10));
  }

  void make_settings() {
    Settings& settings = cluster_.settings;
    settings.tolerance = any_of<Ratio>(rng_, {Ratio::percent(0), Ratio::percent(5), Ratio::percent(5), Ratio::percent(20)});
    settings.moves_max = any_of<std::uint32_t>(rng_, {0, 0, 50, 50, 50, 3, 1});
    if (shape_.calm) settings.moves_max = 0;
    if (troubled_ && sometimes(1, 6)) settings.moves_per_node_max = static_cast<std::uint32_t>(1 + rng_.below(3));
    if (sometimes(1, 4)) settings.soft_limit = settings.hard_limit = Ratio::percent(100);
    settings.spread = {.level = sometimes(1, 4) ? "rack" : "zone", .hard = sometimes(1, 8)};
    resources_ =
        any_of<std::vector<std::string>>(rng_, {{}, {"cpu"}, {"cpu"}, {"disk"}, {"cpu", "disk"}, {"cpu", "disk", "memory"}});
  }

  void make_nodes() {
    const std::uint64_t nodes = 1 + std::max(rng_.below(shape_.nodes_max), rng_.below(shape_.nodes_max));
    const std::uint64_t zones = any_of<std::uint64_t>(rng_, {0, 1, 2, 3, 3, 5});
    const bool racks = sometimes(1, 3);
    const bool cores = sometimes(1, 2);
    for (std::uint64_t i = 0; i < nodes; ++i) {
      Node node{.name = NodeId(fmt::format("n{}", i + 1))};
      if (zones > 0 && !(troubled_ && sometimes(1, 12)))
        node.zone = fmt::format("z{}", 1 + (sometimes(1, 4) ? rng_.below(zones) : i % zones));
      if (racks && !node.zone.empty() && !sometimes(1, 8)) node.zone += fmt::format("/r{}", 1 + rng_.below(3));
      if (cores && !sometimes(1, 8)) node.cores = static_cast<std::uint32_t>(1 + rng_.below(4));
      if (sometimes(1, 10)) node.power = amount(1, 2);
      if (node.power <= Quantity()) node.power = Quantity(1);
      if (troubled_ && sometimes(1, 2)) node.labels["disk"] = sometimes(2, 3) ? "ssd" : "hdd";
      cluster_.nodes.push_back(std::move(node));
    }
    rng_.shuffle(std::span(cluster_.nodes));  // names in another order than places
  }

  Workload make_workload(std::uint64_t number) {
    Workload workload{.name = WorkloadId(fmt::format("t{}", number + 1))};
    workload.shards = static_cast<std::uint32_t>(1 + rng_.below(shape_.shards_max));
    const std::uint64_t most =
        std::min<std::uint64_t>(4, sometimes(1, 6) ? cluster_.nodes.size() + 1 : (cluster_.nodes.size() + 1) / 2);
    workload.replicas = static_cast<std::uint32_t>(1 + rng_.below(most));
    for (const std::string& resource : resources_) {
      if (sometimes(5, 6)) workload.load[ResourceId(resource)] = amount(0, 6);
      if (sometimes(1, 4)) workload.leader_load[ResourceId(resource)] = amount(0, 4);
    }
    if (!resources_.empty() && sometimes(1, 3)) make_shard_loads(workload);
    if (sometimes(1, 3)) workload.spread = Spread{.level = sometimes(1, 3) ? "rack" : "zone", .hard = sometimes(1, 4)};
    if (sometimes(1, 8)) workload.move_cost = amount(0, 9);
    if (!troubled_) return workload;
    if (sometimes(1, 6)) workload.require["disk"] = "ssd";
    if (sometimes(1, 3))
      workload.tolerate.push_back(
          {.key = "dedicated", .value = sometimes(1, 2) ? std::optional<std::string>("db") : std::nullopt});
    workload.system = sometimes(1, 10);
    return workload;
  }
  void make_shard_loads(Workload& workload) {
    ShardLoads& loads = workload.shard_loads;
    for (const std::string& resource : resources_) loads.resources.emplace_back(resource);
    std::ranges::sort(loads.resources);
    for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
      if (!sometimes(1, 4)) continue;
      loads.shards.emplace_back(shard);
      for (std::size_t i = 0; i < loads.resources.size(); ++i) loads.values.push_back(amount(1, sometimes(1, 5) ? 20 : 6));
    }
    if (loads.shards.empty()) loads = {};
  }
  void relate() {
    if (cluster_.workloads.size() < 2 || !sometimes(1, 4)) return;
    auto& list = sometimes(3, 4) ? cluster_.workloads[0].apart_from : cluster_.workloads[0].close_to;
    list.push_back(cluster_.workloads[1].name);
  }

  // So that all of it, were it placed, would fill the nodes to a drawn degree.
  void make_capacities() {
    const std::int64_t percent = any_of<std::int64_t>(rng_, {20, 40, 50, 60, 70, 88});
    const bool alike = sometimes(1, 2);
    for (const std::string& resource : resources_) {
      if (sometimes(1, 8)) continue;  // nobody names it
      const ResourceId id(resource);
      Quantity total;
      for (const Workload& workload : cluster_.workloads) {
        for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
          for (std::uint32_t i = 0; i < workload.replicas; ++i) total += naive::load(workload, shard, i == 0)[id];
        }
      }
      const auto nodes = static_cast<std::int64_t>(cluster_.nodes.size());
      const Int128 mean = total.nano() * 100 / percent / nodes;
      for (Node& node : cluster_.nodes) {
        if (troubled_ && sometimes(1, 12)) continue;
        const std::int64_t halves = alike ? 2 : any_of<std::int64_t>(rng_, {1, 2, 2, 2, 4});
        node.capacity[id] = Quantity::from_nano((mean * halves / 2 + 1) / 1'000'000 * 1'000'000 + 1'000'000);
        if (sometimes(1, 8)) node.used[id] = Quantity::from_nano(mean / 10 / 1'000'000 * 1'000'000);
      }
    }
  }

  // The same by number.
  void make_counts() {
    std::uint64_t replicas = 0, cores = 1;
    for (const Workload& workload : cluster_.workloads) replicas += std::uint64_t{workload.shards} * workload.replicas;
    for (const Node& node : cluster_.nodes) cores += node.cores;
    if (sometimes(1, 3)) {
      cluster_.settings.core0_reserve = static_cast<std::uint32_t>(rng_.below(3));
      cluster_.settings.replicas_per_core = static_cast<std::uint32_t>(2 + replicas * (10 + rng_.below(20)) / 10 / cores);
      if (sometimes(1, 8)) cluster_.settings.replicas_per_core = 0;
    }
    for (Node& node : cluster_.nodes) {
      if (!troubled_ || !sometimes(1, 8)) continue;
      node.replicas_max = static_cast<std::uint32_t>(1 + replicas * (5 + rng_.below(20)) / 10 / cluster_.nodes.size());
    }
  }

  void place() {
    naive::Held held(cluster_);
    for (const Workload& workload : cluster_.workloads) {
      if (!sometimes(2, 3)) continue;
      Placement& rows = cluster_.placement[workload.name];
      const std::uint32_t shards =
          sometimes(1, 6) ? static_cast<std::uint32_t>(rng_.below(workload.shards + 1)) : workload.shards;
      for (std::uint32_t shard = 0; shard < shards; ++shard) {
        for (const std::uint32_t node : make_row(held, workload, shard)) rows.add(NodeIndex(node));
        rows.end_row();
      }
    }
  }
  std::vector<std::uint32_t> make_row(naive::Held& held, const Workload& workload, std::uint32_t shard) {
    std::uint64_t size = workload.replicas;
    if (troubled_ && sometimes(1, 12)) size += rng_.below(2) == 0 ? 1 : -1;
    size = std::clamp<std::uint64_t>(size, 1, cluster_.nodes.size());
    std::vector<std::uint32_t> row;
    const bool anywhere = sometimes(1, 8);
    while (row.size() < size) {
      const std::uint32_t node = pick(held, workload, shard, row, anywhere);
      held.add(node, workload, shard, row.empty());
      row.push_back(node);
    }
    return row;
  }
  // The node with the fewest replicas that obeys the rules, or any.
  std::uint32_t pick(const naive::Held& held, const Workload& workload, std::uint32_t shard,
                     const std::vector<std::uint32_t>& row, bool anywhere) {
    std::vector<std::uint32_t> order(cluster_.nodes.size());
    std::iota(order.begin(), order.end(), 0u);
    rng_.shuffle(std::span(order));
    const auto penalty = [&](std::uint32_t node) {
      std::uint64_t score = anywhere ? 0 : held.count(node);
      if (std::ranges::find(row, node) != row.end()) score += 1'000'000;
      if (anywhere) return score;
      if (!naive::suits(cluster_.nodes[node], workload)) score += 100'000;
      for (const std::uint32_t other : row) {
        if (naive::domain(cluster_, workload, other) == naive::domain(cluster_, workload, node)) score += 10'000;
      }
      naive::Held with = held;
      with.add(node, workload, shard, row.empty());
      return score + (with.fits(node, true) && with.count_fits(node) ? 0 : 1000);
    };
    return *std::ranges::min_element(order, {}, penalty);
  }

  void trouble_nodes() {
    const bool much = sometimes(1, 10);
    const bool none = !much && sometimes(1, 4);
    for (Node& node : cluster_.nodes) {
      if (none) break;
      if (!sometimes(1, much ? 2 : 8)) continue;
      node.status = any_of<NodeStatus>(rng_, {NodeStatus::down, NodeStatus::down, NodeStatus::draining, NodeStatus::draining,
                                              NodeStatus::cordoned, NodeStatus::no_leaders});
    }
    for (Node& node : cluster_.nodes) {
      if (sometimes(1, 20)) node.leaders = false;
      if (sometimes(1, 16))
        node.taints.push_back({.key = "dedicated",
                               .value = sometimes(2, 3) ? "db" : "web",
                               .effect = sometimes(2, 3) ? Taint::Effect::refuse : Taint::Effect::avoid});
      if (sometimes(1, 24)) node.hard_limit = node.soft_limit = Ratio::percent(60);
    }
    for (Workload& workload : cluster_.workloads) {
      if (sometimes(1, 8)) make_pins(workload);
    }
  }
  void make_pins(Workload& workload) {
    const auto placed = cluster_.placement.find(workload.name);
    for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
      if (!sometimes(1, 5)) continue;
      std::uint32_t node = static_cast<std::uint32_t>(rng_.below(cluster_.nodes.size()));
      if (placed != cluster_.placement.end() && shard < placed->second.size() && !placed->second[shard].empty() &&
          sometimes(4, 5))
        node = any_of(rng_, std::vector(placed->second[shard].begin(), placed->second[shard].end())).value();
      workload.pinned.shards.emplace_back(shard);
      workload.pinned.nodes.push_back(std::vector{NodeIndex(node)});
    }
  }

  void make_moving() {
    if (!sometimes(1, 3)) return;
    for (const auto& [workload, rows] : cluster_.placement) {
      for (std::uint32_t shard = 0; shard < rows.size(); ++shard) {
        if (!sometimes(1, 10)) continue;
        const auto row = rows[shard];
        const NodeIndex from = row[rng_.below(row.size())];
        const NodeIndex to(static_cast<std::uint32_t>(rng_.below(cluster_.nodes.size())));
        if (std::ranges::find(row, to) != row.end()) continue;
        cluster_.moving.push_back({.workload = workload, .shard = ShardIndex(shard), .from = from, .to = to});
      }
    }
  }
  void make_recent() {
    if (!sometimes(1, 3)) return;
    for (const auto& [workload, rows] : cluster_.placement) {
      for (std::uint32_t shard = 0; shard < rows.size(); ++shard) {
        if (!sometimes(1, 6)) continue;
        cluster_.recent.push_back(
            {.workload = workload, .shard = ShardIndex(shard), .node = rows[shard][rng_.below(rows[shard].size())]});
      }
    }
  }

  // Nodes that shards are on as often as others; new shards too.
  void make_barred() {
    if (!sometimes(1, 3)) return;
    const bool many = sometimes(1, 4);
    for (const Workload& workload : cluster_.workloads) {
      const auto placed = cluster_.placement.find(workload.name);
      for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
        if (!sometimes(1, many ? 2 : 8)) continue;
        std::set<NodeIndex> nodes;
        for (std::uint64_t i = 0; i <= rng_.below(many ? 4 : 2); ++i)
          nodes.emplace(static_cast<std::uint32_t>(rng_.below(cluster_.nodes.size())));
        if (placed != cluster_.placement.end() && shard < placed->second.size() && sometimes(1, 2))
          nodes.insert(placed->second[shard][rng_.below(placed->second[shard].size())]);
        for (const NodeIndex node : nodes) cluster_.barred.push_back({workload.name, ShardIndex(shard), node});
      }
    }
  }

  Rng& rng_;
  const Shape& shape_;
  bool troubled_;
  std::vector<std::string> resources_;
  Cluster cluster_;
};

}  // namespace

Cluster random_cluster(Rng& rng, const Shape& shape) { return Maker(rng, shape).make(); }

PlanOptions random_options(Rng& rng) {
  PlanOptions options{.seed = rng.below(4), .budget = 20'000};
  if (rng.chance(1, 10)) options.only = any_of<Only>(rng, {Only::allocate, Only::repair, Only::balance});
  options.force = rng.chance(1, 12);
  options.all = rng.chance(1, 4);
  options.cores = rng.chance(1, 4);
  return options;
}

Cluster shuffle_nodes(const Cluster& cluster, Rng& rng) {
  std::vector<std::uint32_t> order(cluster.nodes.size());  // order[new] = old
  std::iota(order.begin(), order.end(), 0u);
  rng.shuffle(std::span(order));
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const auto mapped = [&](NodeIndex node) { return NodeIndex(place[node.value()]); };
  const auto map_rows = [&](const Rows<NodeIndex>& rows) {
    Rows<NodeIndex> result;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const NodeIndex node : rows[i]) result.add(mapped(node));
      result.end_row();
    }
    return result;
  };
  Cluster other = cluster;
  for (std::uint32_t i = 0; i < order.size(); ++i) other.nodes[i] = cluster.nodes[order[i]];
  for (auto& [workload, rows] : other.placement) rows = map_rows(rows);
  for (Workload& workload : other.workloads) workload.pinned.nodes = map_rows(workload.pinned.nodes);
  for (Moving& moving : other.moving) {
    if (moving.from) moving.from = mapped(*moving.from);
    if (moving.to) moving.to = mapped(*moving.to);
  }
  for (Recent& recent : other.recent) recent.node = mapped(recent.node);
  for (Barred& barred : other.barred) barred.node = mapped(barred.node);
  return other;
}

}  // namespace evenkeel::place
