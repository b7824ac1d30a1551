// What an allocator tells about itself, and the changes of its nodes.

#include <fmt/format.h>

#include <algorithm>

#include "evenkeel/base/text.h"
#include "evenkeel/place/detail/allocator_state.h"

namespace evenkeel::place::detail {
namespace {

constexpr std::uint32_t no_index = ~0u;

// Pins by the numbers that nodes have without those that were removed.
Pins renumbered(const Pins& pins, const std::vector<std::uint32_t>& numbers) {
  Pins next;
  for (std::size_t i = 0; i < pins.shards.size(); ++i) {
    std::vector<NodeIndex> row;
    for (const NodeIndex node : pins.nodes[i]) {
      if (numbers[node.value()] != no_index) row.emplace_back(numbers[node.value()]);
    }
    if (row.empty()) continue;
    next.shards.push_back(pins.shards[i]);
    next.nodes.push_back(row);
  }
  return next;
}

// What the node says of itself must be whole; the rest of the cluster is not looked at.
Result<> check_node(const Settings& settings, const Node& node) {
  const Cluster alone{.name = ClusterId("node"), .settings = settings, .nodes = {node}};
  for (const evenkeel::Problem& problem : check(alone, 1))
    return fail(Code::invalid, "{}: {}", fmt::join(problem.path, "."), problem.message);
  return {};
}

}  // namespace

Result<NodeIndex> AllocatorState::add_node(Node node) {
  if (auto right = check_node(nodes_.settings(), node); !right) return fail(std::move(right.error()));
  if (nodes_.find(node.name)) return fail(Code::conflict, "a node {} is there already", quote(node.name.str()));
  if (nodes_.size() >= nodes_max) return fail(Code::too_large, "more than {} nodes", nodes_max);
  forget_views();
  return nodes_.add(std::move(node));
}

Result<> AllocatorState::remove_node(const NodeId& node) {
  const auto index = nodes_.find(node);
  if (!index) return fail(Code::not_found, "there is no node {}", quote(node.str()));
  if (nodes_[*index].replicas > 0)
    return fail(Code::conflict, "{} holds {} replicas: reallocate or release them first", node, nodes_[*index].replicas);
  nodes_.remove(*index);
  forget_views();
  return {};
}

Result<> AllocatorState::change_node(Node node) {
  if (auto right = check_node(nodes_.settings(), node); !right) return right;
  const auto index = nodes_.find(node.name);
  if (!index) return fail(Code::not_found, "there is no node {}", quote(node.name.str()));
  const NodeState& state = nodes_[*index];
  if (state.replicas > 0 && std::max(1u, node.cores) < state.cores.size())
    return fail(Code::conflict, "{} holds replicas on {} cores: it cannot have fewer", node.name, state.cores.size());
  nodes_.change(*index, std::move(node));
  forget_views();
  return {};
}

std::vector<Spot> AllocatorState::row(const ShardId& shard) const {
  const auto found = held_.find(shard.workload);
  if (found == held_.end() || shard.shard.value() >= found->second.rows.size()) return {};
  const auto row = found->second.rows[shard.shard.value()];
  return {row.begin(), row.end()};
}

std::vector<ShardId> AllocatorState::shards_on(const NodeId& node) const {
  std::vector<ShardId> found;
  const auto index = nodes_.find(node);
  if (!index) return found;
  for (const auto& [workload, held] : held_) {
    for (std::uint32_t shard = 0; shard < held.rows.size(); ++shard) {
      if (std::ranges::find(held.rows[shard], *index, &Spot::node) != held.rows[shard].end())
        found.push_back({workload, ShardIndex(shard)});
    }
  }
  return found;
}

Cluster AllocatorState::observe() const {
  Cluster cluster{.name = name_, .settings = nodes_.settings(), .state_models = state_models_};
  std::vector<std::uint32_t> numbers(nodes_.size(), no_index);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[NodeIndex(i)].there) continue;
    numbers[i] = static_cast<std::uint32_t>(cluster.nodes.size());
    cluster.nodes.push_back(nodes_[NodeIndex(i)].node);
  }
  const auto number = [&](NodeIndex node) { return NodeIndex(numbers[node.value()]); };
  for (const auto& [name, workload] : unplaced_) cluster.workloads.push_back(workload);
  for (const auto& [name, held] : held_) {
    cluster.workloads.push_back(held.spec);
    Placement& rows = cluster.placement[name];
    Cores& cores = cluster.cores[name];
    for (std::size_t shard = 0; shard < held.rows.size(); ++shard) {
      for (const Spot& spot : held.rows[shard]) {
        rows.add(number(spot.node));
        cores.add(spot.core);
      }
      rows.end_row();
      cores.end_row();
    }
  }
  std::ranges::sort(cluster.workloads, {}, [&](const Workload& workload) { return arrivals_.at(workload.name); });
  for (Workload& workload : cluster.workloads) {
    workload.pinned = renumbered(workload.pinned, numbers);
    const auto unknown = [&](const WorkloadId& id) { return !held_.contains(id) && !unplaced_.contains(id); };
    std::erase_if(workload.apart_from, unknown);
    std::erase_if(workload.close_to, unknown);
  }
  for (const auto& [id, pending] : pending_) {
    if (pending.kind != Pending::Kind::move) continue;
    for (std::size_t i = 0; i < std::max(pending.coming.size(), pending.leaving.size()); ++i) {
      Moving moving{.workload = pending.workload, .shard = pending.first};
      if (i < pending.leaving.size()) moving.from = number(pending.leaving[i].node);
      if (i < pending.coming.size()) moving.to = number(pending.coming[i].node);
      cluster.moving.push_back(std::move(moving));
    }
  }
  for (const Recent& recent : recent_) {
    const auto held = held_.find(recent.workload);
    if (held == held_.end() || recent.shard.value() >= held->second.spec.shards || numbers[recent.node.value()] == no_index)
      continue;
    cluster.recent.push_back({recent.workload, recent.shard, number(recent.node)});
  }
  return cluster;
}

}  // namespace evenkeel::place::detail
