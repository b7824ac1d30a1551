#pragma once
// What a change adds to each node that it touches, for goals that look at nodes one by one.
//
//   each_node(state, trial, [&](std::uint32_t node, auto more) { … more(d) … });
//
// Shifts and swaps are nearly all that a search ever asks about: theirs is read off the loads, and nothing is added up. O(nodes touched)
// calls.

#include <cstdint>

#include "evenkeel/place/engine.h"

namespace evenkeel::place::detail {

template <class Each>
void each_node(const State& state, const Trial& trial, const Each& each) {
  if (trial.plain()) {
    const Problem& problem = state.problem();
    const auto steps = trial.steps();
    const auto load = [&](const Trial::Step& step) { return problem.load(problem.replica_load[step.replica]).data(); };
    const Amount* one = load(steps[0]);
    if (steps.size() == 1) {
      if (steps[0].from != none) each(steps[0].from, [=](std::size_t d) { return -one[d]; });
      if (steps[0].to != none) each(steps[0].to, [=](std::size_t d) { return one[d]; });
    } else {
      const Amount* other = load(steps[1]);
      each(steps[0].from, [=](std::size_t d) { return other[d] - one[d]; });
      each(steps[0].to, [=](std::size_t d) { return one[d] - other[d]; });
    }
    return;
  }
  for (std::size_t i = 0; i < trial.touched(); ++i) {
    const Trial::Touched touched = trial.touched(i);
    each(touched.node, [change = touched.usage.data()](std::size_t d) { return change[d]; });
  }
}

}  // namespace evenkeel::place::detail
