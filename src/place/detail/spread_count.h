#pragma once
// How many domains a group's replicas lie in, before and after a change. Small groups are looked through, large ones counted.

#include <cstdint>
#include <vector>

#include "evenkeel/place/detail/grid.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place::detail {

class SpreadCount {
 public:
  explicit SpreadCount(bool hard) : hard_(hard) {}

  void reset(const State& state);
  void apply(const State& state, const Trial& trial);
  // How many domains too few the group lies in.
  std::uint32_t short_of(const State& state, std::uint32_t group) const;
  std::uint32_t short_after(const State& state, const Trial& trial, std::uint32_t group) const;
  // Whether this family's spread is of this kind.
  bool minds(const Problem& problem, std::uint32_t group) const {
    const Family& family = problem.families[problem.group_family[group]];
    return family.partition != none && family.spread_hard == hard_ && family.spread_least > 1;
  }

 private:
  static constexpr std::uint32_t small = 8;

  static std::uint32_t domain_of(const Problem& problem, std::uint32_t group, std::uint32_t node);
  void arrive(const Problem& problem, std::uint32_t group, std::uint32_t node);
  void leave(const Problem& problem, std::uint32_t group, std::uint32_t node);

  bool hard_;
  std::vector<std::uint32_t> large_;     // by group: its row of counts, or none
  Grid<std::uint32_t> counts_;           // by domain
  std::vector<std::uint32_t> distinct_;  // by group, for large ones
  std::vector<std::uint32_t> placed_;
};

// Calls `each(group)` once for every group that the trial touches.
template <class F>
void for_groups(const Problem& problem, const Trial& trial, const F& each) {
  const auto steps = trial.steps();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint32_t group = problem.replica_group[steps[i].replica];
    bool seen = false;
    for (std::size_t j = 0; j < i; ++j) seen = seen || problem.replica_group[steps[j].replica] == group;
    if (!seen) each(group);
  }
}

}  // namespace evenkeel::place::detail
