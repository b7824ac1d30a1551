#pragma once
// Small problems that the parts of the general search are tried on.

#include <utility>
#include <vector>

#include "evenkeel/place/engine.h"
#include "evenkeel/place/search/detail/pick.h"
#include "evenkeel/place/search/detail/reach.h"

namespace evenkeel::place {

// Single replicas of these loads on these nodes, all nodes alike: whole above `soft` costs one a unit.
inline Problem plain_problem(std::uint32_t nodes, Amount limit, Amount soft,
                             const std::vector<std::pair<Amount, std::uint32_t>>& replicas) {
  Problem problem;
  problem.dimensions = {{.name = "load", .held = true, .soft_weight = 1, .soft_tier = Cost::level}};
  problem.nodes = nodes;
  problem.limit.assign(nodes, limit), problem.soft.assign(nodes, soft), problem.base.assign(nodes, 0);
  problem.capacity = problem.limit;
  problem.able = {std::vector<std::uint8_t>(nodes, 1)};
  problem.families = {{.name = "f"}};
  for (std::uint32_t r = 0; r < replicas.size(); ++r) {
    problem.group_family.push_back(0);
    problem.group_first.push_back(r + 1);
    problem.replica_group.push_back(r);
    problem.replica_load.push_back(r);
    problem.loads.push_back(replicas[r].first);
    problem.origin.push_back(replicas[r].second);
  }
  return problem;
}

// A hundred replicas that are all alike, dealt to the nodes in turn.
inline Problem hundred(std::uint32_t nodes) {
  std::vector<std::pair<Amount, std::uint32_t>> replicas;
  for (std::uint32_t i = 0; i < 100; ++i) replicas.emplace_back(1, i % nodes);
  return plain_problem(nodes, 100, 100, replicas);
}

inline Pick pick_of(const State& state) { return Pick(state, {}); }
inline Reach reach_of(const State& state) { return Reach(state, pick_of(state).movable()); }

// The first two replicas change places.
inline void exchange(State& state) {
  Trial trial(state);
  state.apply(trial.swap(0, 1));
}

}  // namespace evenkeel::place
