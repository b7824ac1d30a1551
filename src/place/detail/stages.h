#pragma once
// What is done about a board, one idea a file, in this order. Each stage leaves every hard rule that holds holding.

#include "evenkeel/place/detail/board.h"
#include "evenkeel/place/explain.h"

namespace evenkeel::place::detail {

// A live replica leads where the leader's node is down.
void fail_over(Board& board);
// Replicas too many are dropped, the worst placed first.
void shrink(Board& board);
// Replicas leave nodes that are down, draining or no longer able, or that they are barred from; pinned ones come to where they are pinned.
void repair(Board& board);
// Shards with too few replicas get more.
void grow(Board& board);
// Where those go that must move anyway is searched over once more, where that left somebody beyond the tolerance.
void refine_movers(Board& board);
// New workloads and new shards, in file order, each request wholly or not at all; those of the workloads before `end`.
void allocate(Board& board, std::uint32_t end = none);
// What was placed for the first time is levelled together: requests that came one after the other could not.
void level_fresh(Board& board);
// The same once more by the general search, where that left it uneven.
void refine_fresh(Board& board);
// Nodes above a hard limit give some away.
void keep_limits(Board& board);
// Shards that could be spread better are.
void spread_out(Board& board);
// Load is levelled, from the node that stands out most.
void balance(Board& board);
// Leadership leaves nodes that may not lead, and is levelled.
void level_leaders(Board& board);

// Moves of several rounds as one each, in as few steps as are safe.
void order(Board& board);

// Cores for the placement of a plan, by workload: replicas that stay keep theirs.
std::map<WorkloadId, Cores> choose_cores(const Cluster& cluster, const std::map<WorkloadId, Placement>& placement);

// Which of the cluster's workloads has the shard; nothing if there is no such shard.
std::optional<std::uint32_t> workload_of(const Cluster& cluster, const ShardId& shard);
// What a board says of one shard: a planned one, or, of a new shard that was refused, one on which its request is the next.
Explanation explain(const Board& board, const Plan& plan, const ShardId& shard, std::uint32_t workload);

// Why a replica that must leave its node moves.
MoveReason reason_of(Standing standing);

// Why nothing can take a replica: the bound that binds, and node by node.
Refusal refusal_of(const Board& board, std::uint32_t replica);
// Why this node cannot take it, in words; empty if it can.
std::string why_not(const Board& board, std::uint32_t replica, std::uint32_t node);
// Why it cannot take one more replica of the workload with this load: status, label, taint or limit; empty if it can.
std::string why_not_new(const Board& board, std::uint32_t workload, std::span<const Amount> load, std::uint32_t node);

}  // namespace evenkeel::place::detail
