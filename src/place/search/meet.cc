#include "evenkeel/place/search/detail/meet.h"

#include <utility>

namespace evenkeel::place {

namespace {

// Points of the cooling. Before the middle costs are still what chance makes of them, and at the last there is nothing left to be done from there.
constexpr int points = 10, first_point = 5;

}  // namespace

Meeting arrangement(const State& state) {
  Meeting now;
  for (std::uint32_t r = 0; r < state.problem().replicas(); ++r) now.at.push_back(state.at(r));
  for (std::uint32_t g = 0; g < state.problem().groups() && !state.problem().group_lead.empty(); ++g)
    now.leader.push_back(state.leader(g));
  return now;
}

// Plain shifts: on the way rules may be broken, at the end they hold as they did there.
void arrange(State& state, const Meeting& like, Best& best) {
  Trial trial(state);
  for (std::uint32_t r = 0; r < like.at.size(); ++r) {
    if (state.at(r) == like.at[r]) continue;
    best.touch(trial.shift(r, like.at[r]));
    state.apply(trial);
  }
  for (std::uint32_t g = 0; g < like.leader.size(); ++g) {
    if (state.leader(g) == like.leader[g]) continue;
    best.touch(trial.lead(g, like.leader[g]));
    state.apply(trial);
  }
}

Manner Meet::agree(Manner own, const Cost& reached) {
  together_ = hand_over_({.manner = own, .cost = reached}).manner == Manner::bold;
  return together_ ? Manner::bold : own;
}

bool Meet::exchange(State& state, const Cost& cost, double progress, Best& best) {
  const int point = static_cast<int>(progress * points);
  if (!together_ || point <= met_ || point < first_point || point >= points) return false;
  met_ = point;
  Meeting mine = arrangement(state);
  mine.manner = Manner::bold;
  mine.cost = cost;
  arrange(state, hand_over_(std::move(mine)), best);
  return true;
}

}  // namespace evenkeel::place
