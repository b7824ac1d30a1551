#pragma once
// Floors: how level a dimension can be at all, whatever the search does; and how level it is.
//
//   Balance cpu = balance_of(state, 0);       // cpu.max_over_mean - cpu.floor is what a better search could gain at most
//
// A floor is a proof, not a guess: no placement of the same replicas that keeps the rules is below it. Compared are placements in which
// what is on nodes that take no part in the level (they drain, or are cordoned) stays there, and in which every group is in as many
// domains as now: soft spread outweighs levels, so a level that costs spread is none. Replicas without a home do not count.
//
// It is the largest of these, over the mean:
//   - the mean itself; the most that a node holds of what cannot move;
//   - a group's k-th largest replica on the node that takes it k-th best, since a node holds one of a group at most;
//   - the two smallest of the N+1 largest replicas, on the largest of N nodes;
//   - what must be outside any t nodes or domains, or inside the nodes of one class, over the shares of the nodes that are left.
//
// Pure. Cost: O(replicas + classes · nodes) for a dimension, a few nanoseconds a replica.

#include <cstdint>
#include <vector>

#include "evenkeel/place/engine.h"
#include "evenkeel/place/plan.h"

namespace evenkeel::place {

// The least that max over nodes of usage / share can be, over the mean; at least 1. 1 also where nothing is used.
double level_floor(const State& state, std::uint32_t dimension);

// The nodes, in order, that hold a replica larger than the mean node's usage, where they take part: nothing can make those level.
std::vector<std::uint32_t> nodes_with_giants(const State& state, std::uint32_t dimension);

// How level it is, over the nodes that take part; deviations are weighted by share.
Balance balance_of(const State& state, std::uint32_t dimension);

}  // namespace evenkeel::place
