// What the judge knows of nodes, limits and loads.

#include <algorithm>
#include <set>

#include "tests/place/judge.h"

namespace evenkeel::place::naive {

namespace {

bool tolerated(const Taint& taint, const Workload& workload) {
  return std::ranges::any_of(workload.tolerate, [&](const Toleration& toleration) {
    return toleration.key == taint.key && (!toleration.value || *toleration.value == taint.value);
  });
}

}  // namespace

bool suits(const Node& node, const Workload& workload) {
  for (const auto& [key, value] : workload.require) {
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value) return false;
  }
  return std::ranges::all_of(
      node.taints, [&](const Taint& taint) { return taint.effect != Taint::Effect::refuse || tolerated(taint, workload); });
}

bool is_barred(const Cluster& cluster, const Workload& workload, std::uint32_t shard, std::uint32_t node) {
  return std::ranges::find(cluster.barred, Barred{workload.name, ShardIndex(shard), NodeIndex(node)}) != cluster.barred.end();
}

bool takes(const Node& node, const Workload& workload) {
  return (node.status == NodeStatus::up || node.status == NodeStatus::no_leaders) && suits(node, workload);
}

bool may_lead(const Node& node) {
  return node.leaders && node.status != NodeStatus::no_leaders && node.status != NodeStatus::down;
}

std::string domain(const Cluster& cluster, const Workload& workload, std::size_t node) {
  const Spread& spread = workload.spread ? *workload.spread : cluster.settings.spread;
  const std::string& zone = cluster.nodes[node].zone;
  if (zone.empty()) return "node " + cluster.nodes[node].name.str();
  const auto& levels = cluster.settings.levels;
  const auto depth = std::ranges::find(levels, spread.level) - levels.begin() + 1;
  std::size_t end = 0;
  for (std::ptrdiff_t part = 0; part < depth && end != std::string::npos; ++part) end = zone.find('/', part == 0 ? 0 : end + 1);
  return "zone " + zone.substr(0, end);
}

bool spread_is_hard(const Cluster& cluster, const Workload& workload) {
  return workload.spread ? workload.spread->hard : cluster.settings.spread.hard;
}

Amounts load(const Workload& workload, std::uint32_t shard, bool leads) {
  Amounts amounts = workload.load;
  if (const auto own = workload.shard_loads.find(ShardIndex(shard))) {
    amounts.clear();
    for (std::size_t i = 0; i < own->size(); ++i) amounts[workload.shard_loads.resources[i]] = (*own)[i];
  }
  if (leads) {
    for (const auto& [resource, amount] : workload.leader_load) amounts[resource] += amount;
  }
  return amounts;
}

std::optional<std::uint64_t> count_limit(const Cluster& cluster, const Node& node) {
  std::optional<std::uint64_t> limit;
  if (node.cores > 0 && cluster.settings.replicas_per_core > 0) {
    const std::uint64_t all = std::uint64_t{node.cores} * cluster.settings.replicas_per_core;
    limit = all - std::min<std::uint64_t>(all, cluster.settings.core0_reserve);
  }
  if (node.replicas_max > 0) limit = std::min<std::uint64_t>(limit.value_or(node.replicas_max), node.replicas_max);
  return limit;
}

Held::Held(const Cluster& cluster) : cluster_(&cluster), counts_(cluster.nodes.size()) {
  for (const Node& node : cluster.nodes) loads_.push_back(node.used);
}

void Held::add(std::size_t node, const Workload& workload, std::uint32_t shard, bool leads) {
  for (const auto& [resource, amount] : naive::load(workload, shard, leads)) loads_[node][resource] += amount;
  counts_[node] += workload.system ? 0 : 1;
}

void Held::remove(std::size_t node, const Workload& workload, std::uint32_t shard, bool leads) {
  for (const auto& [resource, amount] : naive::load(workload, shard, leads)) loads_[node][resource] -= amount;
  counts_[node] -= workload.system ? 0 : 1;
}

Quantity Held::load(std::size_t node, const ResourceId& resource) const {
  const auto found = loads_[node].find(resource);
  return found == loads_[node].end() ? Quantity() : found->second;
}

bool Held::count_fits(std::size_t node) const {
  const auto limit = count_limit(*cluster_, cluster_->nodes[node]);
  return !limit || counts_[node] <= *limit;
}

std::optional<Held::Capacity> Held::capacity(std::size_t node, const ResourceId& resource) const {
  const auto& own = cluster_->nodes[node].capacity;
  if (const auto named = own.find(resource); named != own.end()) return Capacity{.sum = named->second};
  Capacity mean{.over = 0};
  for (const Node& other : cluster_->nodes) {
    const auto named = other.capacity.find(resource);
    if (named == other.capacity.end()) continue;
    mean.sum += named->second;
    ++mean.over;
  }
  return mean.over > 0 ? std::optional(mean) : std::nullopt;
}

bool Held::fits(std::size_t node, const ResourceId& resource, bool soft) const {
  const auto size = capacity(node, resource);
  if (!size) return true;
  const Node& n = cluster_->nodes[node];
  const Ratio limit =
      soft ? n.soft_limit.value_or(cluster_->settings.soft_limit) : n.hard_limit.value_or(cluster_->settings.hard_limit);
  return load(node, resource).nano() * 1'000'000 * size->over <= size->sum.nano() * limit.millionths();
}

bool Held::fits(std::size_t node, bool soft) const {
  return std::ranges::all_of(loads_[node], [&](const auto& entry) { return fits(node, entry.first, soft); });
}

bool Held::fits_what_arrived(std::size_t node, const Held& arrived) const {
  const Held before(*cluster_);  // what is used by others
  return std::ranges::all_of(loads_[node], [&](const auto& entry) {
    return arrived.load(node, entry.first) == before.load(node, entry.first) || fits(node, entry.first, false);
  });
}

Held held(const Cluster& cluster, const std::map<WorkloadId, Placement>& placement) {
  Held all(cluster);
  for (const Workload& workload : cluster.workloads) {
    const auto rows = placement.find(workload.name);
    if (rows == placement.end()) continue;
    for (std::uint32_t shard = 0; shard < rows->second.size(); ++shard) {
      const auto row = rows->second[shard];
      for (std::size_t i = 0; i < row.size(); ++i) all.add(row[i].value(), workload, shard, i == 0);
    }
  }
  return all;
}

}  // namespace evenkeel::place::naive
