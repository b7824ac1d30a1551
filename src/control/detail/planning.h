#pragma once
// Planning: the problem that is handed to `place`, and what becomes of its plan.

#include "evenkeel/control/detail/world.h"

namespace evenkeel::control::detail {

// The cluster as placement should see it: who is gone and waited for still holds what it has; a shard that has fallen under min_active is
// short of as many as it needs; moves under way are moving. `levels` false: load is not known well enough to be levelled.
Cluster problem_of(const World& world, const ClusterId& name, bool levels, Instant now);
// What placement could not read is left out, so that one bad workload never stops the others; a trouble that is no single workload's empties the
// problem. Returns what was wrong.
struct Trouble {
  std::optional<WorkloadId> workload;
  std::string what;
};
std::vector<Trouble> leave_out_what_is_wrong(Cluster& problem);
// Placements that differ from what is wanted now become what is wanted. Returns how many shards that are.
std::size_t take_plan(World& world, const Cluster& problem, const place::Plan& plan);
// What is to become of a shard's replicas when something may move, as far as that is known without a plan. O(replicas).
struct Wishes {
  std::uint32_t placed = 0;     // that are missing, or are to be made anew elsewhere
  std::vector<NodeId> moved;    // from there
  std::vector<NodeId> dropped;  // there
};
Wishes wishes_of(const World& world, const Unit& unit, std::uint32_t slot, Instant now);
// Who is swapped for another one is replaced by it in every placement, without a plan.
void swap_places(World& world);
// Workloads that are on every node need no plan.
void place_everywhere(World& world);

// Where a shard should be, also if that is not written yet.
const std::vector<NodeId>& placement_of(const Unit& unit, std::uint32_t slot);
// Its model says that every node has a replica.
bool is_everywhere(const WorkloadInfo& workload);

// Who takes its place, if it is to be swapped and that one is there; else null.
const NodeInfo* swaps_with(const World& world, const NodeInfo& node);
// It wants to stop, or has stopped with leave: what it alone may hold is to be elsewhere.
bool asks_relief(const NodeInfo& node);
// How long a node has been gone; nothing if it is there.
std::optional<Duration> gone_for(const NodeInfo& node, Instant now);
// How long it is waited for before its replicas of that workload are placed elsewhere.
Duration delay_of(const World& world, const NodeInfo& node, const WorkloadInfo& workload);
// Those of all workloads that it holds, ascending; of a node that holds nothing the cluster's. O(buckets that name it).
std::vector<Duration> delays_of(const World& world, const NodeInfo& node);

}  // namespace evenkeel::control::detail
