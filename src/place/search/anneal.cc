#include "evenkeel/place/search/detail/anneal.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "evenkeel/place/detail/methods_cost.h"
#include "evenkeel/place/search/detail/draw.h"

namespace evenkeel::place {

namespace {

// By manner. Hot and cold are parts of what the median of worsening shifts costs; in the fine manner, of what a node is uneven by. The price
// is in temperatures; with it replicas come loose at lower ones, and what is left to be won in the end is the cost of moves, which is small.
struct Parts {
  double hot, cold, away_price;
};
constexpr Parts parts_of(Manner manner) {
  switch (manner) {
    case Manner::bold:
      return {20, 1e-3, 0};
    case Manner::thrifty:
      return {6, 1e-4, 8};
    case Manner::fine:
      break;
  }
  return {1, 1e-2, 0};
}
// The last part of the cooling is for what moves cost, where that is less than what is cold otherwise: it goes on to a part of what a typical
// move costs. By then all else is in its place; before, the price of a move is lost in the heat.
constexpr double homing_cold = 0.05;
constexpr double never = 40;  // temperatures: what costs more has no chance worth a draw

// base to the power of an exponent from 0 to 1. By roots and products, which are the same on every machine to the last bit; libraries' powers are not.
double power(double base, double exponent) {
  constexpr int digits = 40;
  double result = 1;
  for (int i = 0; i < digits; ++i) {
    base = std::sqrt(base);
    exponent *= 2;
    if (exponent < 1) continue;
    result *= base;
    exponent -= 1;
  }
  return result;
}

// What levels cost above the least there could be, by node and dimension. Where changes are taken by a temperature, each has about as much
// of that as the temperature is: so it begins as uneven as it is, and not more so.
double excess_each(const State& state) {
  const Problem& problem = state.problem();
  double excess = 0, cells = 0;
  for (std::size_t d = 0; d < problem.width(); ++d) {
    if (problem.dimensions[d].level_weight <= 0) continue;
    double usage = 0, share = 0, squares = 0;
    for (std::uint32_t node = 0; node < problem.nodes; ++node) {
      const double part = problem.share[node * problem.width() + d];
      const auto used = static_cast<double>(state.usage(node)[d]);
      if (part <= 0) continue;
      usage += used, share += part, squares += used * used / part, cells += 1;
    }
    if (share > 0) excess += problem.dimensions[d].level_weight * (squares - usage * usage / share);
  }
  return cells > 0 ? excess / cells : 0;
}

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// What it costs to be away, in the middle of so many shifts; 0: nothing.
double cost_of_moves(const State& state, ChangeDraw& draw, std::uint64_t looks) {
  const auto moves = std::ranges::find(state.terms(), "moves", [](const auto& term) { return term->name(); });
  if (moves == state.terms().end()) return 0;
  Trial trial(state);
  std::vector<double> costs;
  for (std::uint64_t i = 0; i < looks; ++i) {
    Cost cost;
    if (draw.shift(trial)) (*moves)->add_delta(state, trial, cost);
    if (cost.tiers[Cost::level] > 0) costs.push_back(cost.tiers[Cost::level]);
  }
  return median(costs);
}

}  // namespace

void Anneal::measure(const State& state, ChangeDraw& draw, std::uint64_t looks) {
  if (manner_ == Manner::fine) {
    typical_ = excess_each(state);
    return;
  }
  Trial trial(state);
  std::vector<double> worse;
  for (std::uint64_t i = 0; i < looks; ++i) {
    if (!draw.shift(trial) || !state.has_room(trial)) continue;
    const double delta = state.delta(trial).tiers[Cost::level];
    if (delta > 0) worse.push_back(delta);
  }
  typical_ = median(worse);
  move_ = cost_of_moves(state, draw, looks);
  beyond_ = draw.reach().beyond();
}

void Anneal::set(double progress) {
  const Parts parts = parts_of(manner_);
  const double hot = typical_ * parts.hot, cold = typical_ * parts.cold, homing = homing_cold * move_;
  const double first = homing > 0 && homing < cold ? 1 - homing_part * (1 - beyond_) : 1;
  homing_ = first < 1 && progress >= first;
  if (progress >= 1 || hot <= 0) {
    temperature_ = 0;
  } else if (progress < first) {
    temperature_ = hot * power(cold / hot, progress / first);
  } else {
    temperature_ = cold * power(homing / cold, (progress - first) / (1 - first));
  }
}

double Anneal::allowance(Rng& rng) const {
  constexpr double one = static_cast<double>(std::uint64_t{1} << detail::cost_bits);
  return temperature_ > 0 ? temperature_ * (static_cast<double>(detail::cost(rng.next())) / one) : 0;
}

double Anneal::away_price() const { return parts_of(manner_).away_price * temperature_; }

bool Anneal::takes(const Cost& delta, int away, Rng& rng) const {
  const Cost priced = delta + Cost::of(Cost::level, away * away_price());
  const double worse = priced.tiers[Cost::level];
  const bool chance = worse > 0 && worse < never * temperature_;
  return place::takes(priced, chance ? allowance(rng) : 0);
}

}  // namespace evenkeel::place
