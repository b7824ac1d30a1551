#include "evenkeel/place/detail/methods_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "evenkeel/place/detail/above.h"
#include "evenkeel/place/detail/node_rules.h"
#include "evenkeel/place/methods.h"

namespace evenkeel::place::detail {
namespace {

int bits_of(UInt128 value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return 128 - (high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(value)));
}

// Shifted right until the largest has at most so many bits. What is not zero stays so: a small node gets little, not nothing.
void scale(std::vector<UInt128>& values, int bits) {
  UInt128 most = 0;
  for (const UInt128 value : values) most = std::max(most, value);
  const int shift = std::max(0, bits_of(most) - bits);
  for (UInt128& value : values) value = value == 0 ? 0 : std::max(UInt128{1}, value >> shift);
}

Quantity mean_of(Quantity sum, std::int64_t count) { return Quantity::from_nano(sum.nano() / count); }

}  // namespace

std::optional<std::uint64_t> slots_of(const Settings& settings, const Node& node) {
  std::optional<std::uint64_t> slots;
  if (node.cores > 0 && settings.replicas_per_core > 0) {
    const std::uint64_t all = std::uint64_t{node.cores} * settings.replicas_per_core;
    slots = all - std::min<std::uint64_t>(all, settings.core0_reserve);
  }
  if (node.replicas_max > 0) slots = std::min<std::uint64_t>(slots.value_or(node.replicas_max), node.replicas_max);
  return slots;
}

// Ratios are below 2^30 millionths and sums of amounts below 2^96 billionths: the products fit.
bool above_limit(const Settings& settings, const Node& node, Quantity amount, Quantity capacity) {
  const Ratio limit = node.hard_limit.value_or(settings.hard_limit);
  return amount.nano() * 1'000'000 > capacity.nano() * limit.millionths();
}

MethodUsage::MethodUsage(const Cluster& cluster) : cluster_(cluster), counted_(cluster.nodes.size()) {
  std::map<ResourceId, std::int64_t> named;
  std::int64_t cores = 0, with_cores = 0;
  for (const Node& node : cluster.nodes) {
    for (const auto& [resource, amount] : node.capacity) {
      mean_[resource] += amount;
      ++named[resource];
    }
    cores += node.cores;
    with_cores += node.cores > 0 ? 1 : 0;
  }
  for (auto& [resource, sum] : mean_) sum = mean_of(sum, named[resource]);
  if (with_cores > 0) mean_cores_ = mean_of(Quantity(cores), with_cores);
}

std::optional<Quantity> MethodUsage::capacity(NodeIndex node, const ResourceId& resource) const {
  const Amounts& own = cluster_.nodes[node.value()].capacity;
  if (const auto found = own.find(resource); found != own.end()) return found->second;
  if (const auto found = mean_.find(resource); found != mean_.end()) return found->second;
  return std::nullopt;
}

// Loads of single shards count by their sum: it is their proportion that matters.
std::optional<ResourceId> MethodUsage::dominant(const Workload& workload) const {
  Amounts total;
  const auto others =
      static_cast<std::int64_t>(workload.shards - std::min<std::size_t>(workload.shards, workload.shard_loads.shards.size()));
  for (const auto& [resource, amount] : workload.load) total[resource] += amount * others;
  for (std::size_t i = 0; i < workload.shard_loads.values.size(); ++i)
    total[workload.shard_loads.resources[i % workload.shard_loads.resources.size()]] += workload.shard_loads.values[i];
  if (std::ranges::all_of(total, [](const auto& one) { return one.second == Quantity(); })) total = workload.leader_load;
  std::optional<ResourceId> most;
  double share_of_most = 0;
  for (const auto& [resource, amount] : total) {
    const auto mean = mean_.find(resource);
    if (mean == mean_.end() || mean->second == Quantity()) continue;
    const double share = amount.to_double() / mean->second.to_double();
    if (share <= share_of_most) continue;
    share_of_most = share;
    most = resource;
  }
  return most;
}

std::vector<std::uint64_t> MethodUsage::weights(const Workload& workload) const {
  constexpr int bits_max = std::countr_zero(DrawNode::weight_max);
  const auto resource = dominant(workload);
  std::vector<UInt128> sizes, powers;
  for (std::uint32_t i = 0; i < cluster_.nodes.size(); ++i) {
    const Node& node = cluster_.nodes[i];
    const Quantity cores = node.cores > 0 ? Quantity(node.cores) : mean_cores_;
    sizes.push_back(static_cast<UInt128>((resource ? *capacity(NodeIndex(i), *resource) : cores).nano()));
    powers.push_back(static_cast<UInt128>(node.power.nano()));
  }
  scale(sizes, 60);
  scale(powers, 60);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] *= powers[i];
  scale(sizes, bits_max);
  std::vector<std::uint64_t> weights;
  for (const UInt128 size : sizes) weights.push_back(static_cast<std::uint64_t>(size));
  return weights;
}

void MethodUsage::add(const Workload& workload, const Placement& rows) {
  const auto add_one = [&](const ResourceId& resource, NodeIndex node, Quantity amount) {
    auto& sums = load_[resource];
    sums.resize(cluster_.nodes.size());
    sums[node.value()] += amount;
  };
  for (std::uint32_t shard = 0; shard < rows.size(); ++shard) {
    const auto own = workload.shard_loads.find(ShardIndex(shard));
    for (std::size_t replica = 0; replica < rows[shard].size(); ++replica) {
      const NodeIndex node = rows[shard][replica];
      if (!workload.system) ++counted_[node.value()];
      if (own) {
        for (std::size_t i = 0; i < own->size(); ++i) add_one(workload.shard_loads.resources[i], node, (*own)[i]);
      } else {
        for (const auto& [resource, amount] : workload.load) add_one(resource, node, amount);
      }
      if (replica > 0) continue;
      for (const auto& [resource, amount] : workload.leader_load) add_one(resource, node, amount);
    }
  }
}

std::string MethodUsage::why_full(NodeIndex index, const Workload& workload) const {
  const Node& node = cluster_.nodes[index.value()];
  for (const auto& [resource, sums] : load_) {
    const bool loads = workload.load.contains(resource) || workload.leader_load.contains(resource) ||
                       std::ranges::find(workload.shard_loads.resources, resource) != workload.shard_loads.resources.end();
    const auto size = capacity(index, resource);
    if (!loads || !size) continue;
    const auto unmanaged = node.used.find(resource);
    const Quantity amount = sums[index.value()] + (unmanaged != node.used.end() ? unmanaged->second : Quantity());
    if (above_limit(cluster_.settings, node, amount, *size))
      return why_above(resource.str(), {amount}, *size, node.hard_limit.value_or(cluster_.settings.hard_limit));
  }
  return "";
}

std::string MethodUsage::why_too_many(NodeIndex index) const {
  const auto slots = slots_of(cluster_.settings, cluster_.nodes[index.value()]);
  const std::uint64_t count = counted_[index.value()];
  return slots && count > *slots ? fmt::format("{} replicas > {}", count, *slots) : "";
}

std::map<ResourceId, Balance> MethodUsage::balance() const {
  std::map<ResourceId, Balance> all;
  for (const auto& [resource, sums] : load_) {
    std::vector<std::pair<double, double>> parts;  // load and share
    double load = 0, share = 0;
    for (std::uint32_t i = 0; i < cluster_.nodes.size(); ++i) {
      const Node& node = cluster_.nodes[i];
      const double size = capacity(NodeIndex(i), resource).value_or(Quantity(1)).to_double() * node.power.to_double();
      if (!takes(node.status) || size <= 0) continue;
      parts.emplace_back(sums[i].to_double(), size);
    }
    std::ranges::sort(parts);  // a sum of doubles depends on its order, and the order of nodes must not matter
    for (const auto& [amount, size] : parts) load += amount, share += size;
    if (load <= 0) continue;
    const double mean = load / share;
    double most = 0, squares = 0;
    for (const auto& [amount, size] : parts) {
      most = std::max(most, amount / size / mean);
      squares += (amount / size / mean - 1) * (amount / size / mean - 1);
    }
    all[resource] = {
        .max_over_mean = most, .floor = 1, .stddev_over_mean = std::sqrt(squares / static_cast<double>(parts.size()))};
  }
  return all;
}

}  // namespace evenkeel::place::detail
