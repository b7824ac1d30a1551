#pragma once
// What each family has on each node, by its replicas' measures.

#include <vector>

#include "evenkeel/place/detail/grid.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place::detail {

inline std::uint32_t family_of(const Problem& problem, std::uint32_t replica) {
  return problem.group_family[problem.replica_group[replica]];
}

// What (amount + more)² / share is above amount² / share.
inline double square_change(Amount amount, Amount more, double share) {
  if (share <= 0) return 0;
  const auto m = static_cast<double>(more);
  return m * (2 * static_cast<double>(amount) + m) / share;
}

class FamilySums {
 public:
  Amount at(std::uint32_t family, std::uint32_t node) const { return sums_.at(family, node); }

  void reset(const State& state) {
    const Problem& problem = state.problem();
    sums_.reset(problem.families.size(), problem.nodes);
    grow(state, 0);
  }

  void grow(const State& state, std::uint32_t first_group) {
    const Problem& problem = state.problem();
    for (std::uint32_t r = problem.group_first[first_group]; r < problem.replicas(); ++r) {
      if (state.at(r) != none) sums_.add(family_of(problem, r), state.at(r), problem.measures[problem.replica_load[r]]);
    }
  }

  void apply(const Problem& problem, const Trial& trial) {
    for (const Trial::Step& step : trial.steps()) {
      const std::uint32_t family = family_of(problem, step.replica);
      const Amount measure = problem.measures[problem.replica_load[step.replica]];
      if (step.from != none) sums_.add(family, step.from, -measure);
      if (step.to != none) sums_.add(family, step.to, measure);
    }
  }

 private:
  Grid<Amount> sums_;
};

}  // namespace evenkeel::place::detail
