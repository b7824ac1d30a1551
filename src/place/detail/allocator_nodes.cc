#include "evenkeel/place/detail/allocator_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "evenkeel/place/detail/above.h"
#include "evenkeel/place/detail/methods_usage.h"

namespace evenkeel::place::detail {

std::optional<NodeIndex> AllocatorNodes::find(const NodeId& name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

NodeIndex AllocatorNodes::add(Node node) {
  const NodeIndex index(static_cast<std::uint32_t>(nodes_.size()));
  by_name_.emplace(node.name, index);
  nodes_.emplace_back();
  put(index, std::move(node));
  follow();
  return index;
}

void AllocatorNodes::add_all(const std::vector<Node>& nodes) {
  nodes_.resize(nodes.size());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    by_name_.emplace(nodes[i].name, NodeIndex(i));
    put(NodeIndex(i), nodes[i]);
  }
  follow();
}

void AllocatorNodes::change(NodeIndex index, Node node) {
  put(index, std::move(node));
  follow();
}

void AllocatorNodes::put(NodeIndex index, Node node) {
  NodeState& state = nodes_[index.value()];
  for (const auto& [resource, amount] : node.capacity) know_resource(resource);
  for (const auto& [resource, amount] : node.used) know_resource(resource);
  state.cores.resize(std::max(1u, node.cores));
  state.node = std::move(node);
}

void AllocatorNodes::remove(NodeIndex index) {
  by_name_.erase(nodes_[index.value()].node.name);
  nodes_[index.value()].there = false;
  follow();
}

void AllocatorNodes::know_resource(const ResourceId& resource) {
  if (numbers_.emplace(resource, static_cast<std::uint32_t>(resources_.size())).second) resources_.push_back(resource);
}

void AllocatorNodes::follow() {
  std::vector<Quantity> sum(resources_.size());
  std::vector<std::int64_t> named(resources_.size());
  for (const auto& [name, index] : by_name_) {
    for (const auto& [resource, amount] : nodes_[index.value()].node.capacity) {
      sum[numbers_.at(resource)] += amount;
      ++named[numbers_.at(resource)];
    }
  }
  for (NodeState& state : nodes_) {
    state.load.resize(resources_.size());
    state.unmanaged.assign(resources_.size(), Quantity());
    state.capacity.assign(resources_.size(), std::nullopt);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      if (named[i] > 0) state.capacity[i] = Quantity::from_nano(sum[i].nano() / named[i]);
    }
    for (const auto& [resource, amount] : state.node.capacity) state.capacity[numbers_.at(resource)] = amount;
    for (const auto& [resource, amount] : state.node.used) state.unmanaged[numbers_.at(resource)] = amount;
    state.slots = slots_of(settings_, state.node);
  }
}

Load AllocatorNodes::numbered(const Amounts& amounts) {
  const std::size_t known = resources_.size();
  Load load;
  for (const auto& [resource, amount] : amounts) {
    if (amount == Quantity()) continue;
    know_resource(resource);
    load.emplace_back(numbers_.at(resource), amount);
  }
  if (resources_.size() > known) follow();
  return load;
}

void AllocatorNodes::add_replica(NodeIndex index, Core core, const Load& load, bool system, int times) {
  NodeState& state = nodes_[index.value()];
  for (const auto& [resource, amount] : load) state.load[resource] += amount * times;
  const auto change = static_cast<std::uint32_t>(times);  // minus one wraps to the right sum
  state.cores[core.value()].all += change;
  state.replicas += static_cast<std::uint64_t>(std::int64_t{times});
  if (system) return;
  state.cores[core.value()].counted += change;
  state.counted += static_cast<std::uint64_t>(std::int64_t{times});
}

void AllocatorNodes::add_leader(NodeIndex index, const Load& leader_load, int times) {
  NodeState& state = nodes_[index.value()];
  for (const auto& [resource, amount] : leader_load) state.load[resource] += amount * times;
  state.leaders += static_cast<std::uint64_t>(std::int64_t{times});
}

bool AllocatorNodes::has_room(NodeIndex index, std::uint32_t resource, Quantity more) const {
  const NodeState& state = nodes_[index.value()];
  if (!state.capacity[resource]) return true;
  return !above_limit(settings_, state.node, state.unmanaged[resource] + state.load[resource] + more, *state.capacity[resource]);
}

bool AllocatorNodes::fits(NodeIndex index, const Load& load, bool system) const {
  const NodeState& state = nodes_[index.value()];
  if (!system && state.slots && state.counted >= *state.slots) return false;
  return std::ranges::all_of(load, [&](const auto& part) { return has_room(index, part.first, part.second); });
}

bool AllocatorNodes::fits_on_top(NodeIndex index, const Load& load, const Load& more) const {
  return std::ranges::all_of(more, [&](const auto& part) {
    const auto under = std::ranges::find(load, part.first, &Load::value_type::first);
    return has_room(index, part.first, under != load.end() ? part.second + under->second : part.second);
  });
}

std::string AllocatorNodes::why_not(NodeIndex index, const Load& load, bool system) const {
  const NodeState& state = nodes_[index.value()];
  if (!system && state.slots && state.counted >= *state.slots)
    return fmt::format("{} of {} replicas", state.counted, *state.slots);
  for (const auto& [resource, amount] : load) {
    if (has_room(index, resource, amount)) continue;
    return why_above(resources_[resource].str(), {state.unmanaged[resource] + state.load[resource], amount},
                     *state.capacity[resource], state.node.hard_limit.value_or(settings_.hard_limit));
  }
  return "";
}

std::uint64_t AllocatorNodes::slots_left(NodeIndex index, bool system, std::uint64_t most) const {
  const NodeState& state = nodes_[index.value()];
  if (system || !state.slots) return most;
  return std::min(most, *state.slots - std::min(*state.slots, state.counted));
}

std::uint64_t AllocatorNodes::room(NodeIndex index, const Load& load, bool system, std::uint64_t most) const {
  const NodeState& state = nodes_[index.value()];
  std::uint64_t room = slots_left(index, system, most);
  for (const auto& [resource, amount] : load) {
    if (!state.capacity[resource]) continue;
    const Int128 limit =
        state.capacity[resource]->nano() * state.node.hard_limit.value_or(settings_.hard_limit).millionths() / 1'000'000;
    const Int128 left = limit - (state.unmanaged[resource] + state.load[resource]).nano();
    room = left <= 0 ? 0 : static_cast<std::uint64_t>(std::min(Int128{room}, left / amount.nano()));
  }
  return room;
}

// Core 0 waits while it is ahead with its reserve; a full core is out. Where only core 0 is left it is taken.
Core AllocatorNodes::choose_core(NodeIndex index, bool system, std::span<const std::uint32_t> own) const {
  const auto& cores = nodes_[index.value()].cores;
  if (cores.size() == 1) return Core(0);
  const std::uint32_t per_core = settings_.replicas_per_core;
  std::uint32_t least = cores[1].all;
  for (std::size_t i = 2; i < cores.size(); ++i) least = std::min(least, cores[i].all);
  const bool zero_waits = std::uint64_t{cores[0].all} + settings_.core0_reserve > least;
  std::optional<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>> best;
  for (std::uint16_t i = zero_waits ? 1 : 0; i < cores.size(); ++i) {
    if (!system && per_core > 0 && cores[i].counted >= per_core) continue;
    const std::tuple candidate(i < own.size() ? own[i] : 0, cores[i].all, i);
    if (!best || candidate < *best) best = candidate;
  }
  return best ? Core(std::get<2>(*best)) : Core(0);
}

}  // namespace evenkeel::place::detail
