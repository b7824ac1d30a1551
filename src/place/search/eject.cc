#include "evenkeel/place/search/detail/eject.h"

#include <algorithm>

namespace evenkeel::place {

namespace {

constexpr std::size_t ejected_most = Trial::steps_max - 1;
constexpr std::size_t leavers_tried = 8;  // per ejection, out of those on the node
constexpr std::size_t havens_tried = 12;  // nodes looked at for each that leaves
constexpr std::size_t havens_wanted = 3;  // of those, so many that would take it are compared

bool in(const Trial& trial, std::uint32_t replica) {
  return std::ranges::any_of(trial.steps(), [&](const Trial::Step& step) { return step.replica == replica; });
}

}  // namespace

Eject::Eject(State& state, Rng& rng) : state_(state), rng_(rng), probe_(state) {
  for (const auto& term : state.terms())
    if (term->name() != "limits") others_.push_back(term.get());
  soft_ = std::ranges::any_of(state.problem().dimensions, [](const Dimension& dimension) { return dimension.soft_weight > 0; });
}

// The dimension in which the node would be over its limit, or else its soft limit if that is asked too, by the largest part of it.
Eject::Overflow Eject::overflow(const Trial& trial, std::uint32_t node, bool soft) const {
  const Problem& problem = state_.problem();
  const std::size_t width = problem.width();
  const auto peak = state_.peak(node);
  Overflow worst;
  double worst_part = 0;
  for (std::size_t i = 0; i < trial.touched(); ++i) {
    const auto touched = trial.touched(i);
    if (touched.node != node) continue;
    for (std::size_t d = 0; d < width; ++d) {
      const Amount limit = problem.limit[node * width + d];
      const Amount over = peak[d] + touched.peak[d] - limit;
      const double part = static_cast<double>(over) / static_cast<double>(limit + 1);
      if (touched.peak[d] <= 0 || over <= 0 || part <= worst_part) continue;
      worst = {d, over};
      worst_part = part;
    }
    for (std::size_t d = 0; soft && worst.amount == 0 && d < width; ++d) {
      const Amount over = state_.usage(node)[d] + touched.usage[d] - problem.soft[node * width + d];
      if (problem.dimensions[d].soft_weight > 0 && touched.usage[d] > 0 && over > 0) worst = {d, over};
    }
  }
  return worst;
}

// The smallest of some that alone makes room, else the largest of them; one that would still hold its room here is of no use.
std::uint32_t Eject::leaver(const Trial& trial, std::uint32_t node, const Overflow& overflow) {
  const Problem& problem = state_.problem();
  const bool held = problem.dimensions[overflow.dimension].held;
  const auto there = state_.replicas_on(node);
  std::uint32_t best = none;
  Amount best_load = 0;
  for (std::size_t i = 0; i < leavers_tried && !there.empty(); ++i) {
    const std::uint32_t replica = there[rng_.below(there.size())];
    if ((!problem.frozen.empty() && problem.frozen[replica] != 0) || (held && state_.home(replica) == node) || in(trial, replica))
      continue;
    const Amount load = problem.load(problem.replica_load[replica])[overflow.dimension];
    const bool enough = load >= overflow.amount, best_enough = best_load >= overflow.amount;
    if (load > 0 &&
        (best == none || (enough && !best_enough) || (enough == best_enough && (enough ? load < best_load : load > best_load)))) {
      best = replica;
      best_load = load;
    }
  }
  return best;
}

// The best of a few nodes that would take it by itself; a node that the chain has touched is full, or about to be.
std::uint32_t Eject::haven(const Trial& trial, std::uint32_t replica) {
  std::uint32_t best = none;
  Cost best_cost;
  std::size_t found = 0;
  for (std::size_t i = 0; i < havens_tried && found < havens_wanted; ++i) {
    const std::uint32_t node = i == 0 ? state_.home(replica) : static_cast<std::uint32_t>(rng_.below(state_.problem().nodes));
    if (node == none || node == state_.at(replica)) continue;
    const bool touched = std::ranges::any_of(trial.steps(), [&](const Trial::Step& step) { return step.to == node; });
    ++probes_;
    if (touched || !state_.allowed(probe_.shift(replica, node))) continue;
    const Cost cost = state_.delta(probe_);
    ++found;
    if (best != none && !(cost < best_cost)) continue;
    best = node;
    best_cost = cost;
  }
  return best;
}

bool Eject::build(Trial& trial, std::uint32_t replica, std::uint32_t to) {
  trial.shift(replica, to);
  if (!std::ranges::all_of(others_, [&](const Term* rule) { return rule->allows(state_, trial); })) return false;
  const bool soft = soft_ && rng_.below(2) == 0;  // every second chain makes room below the soft limits too
  for (std::size_t ejected = 0; ejected < ejected_most; ++ejected) {
    const Overflow over = overflow(trial, to, soft);
    if (over.amount == 0) return true;
    const std::uint32_t out = leaver(trial, to, over);
    const std::uint32_t node = out == none ? none : haven(trial, out);
    if (node == none) break;
    trial.also(out, node);
  }
  return overflow(trial, to, false).amount == 0;
}

}  // namespace evenkeel::place
