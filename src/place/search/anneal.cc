#include "evenkeel/place/search/detail/anneal.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "evenkeel/place/search/detail/draw.h"

namespace evenkeel::place {

namespace {

// By manner. Hot and cold are parts of what the median of worsening shifts costs. The price is in temperatures; with it replicas come loose
// at lower ones, and what is left to be won in the end is the cost of moves, which is small.
struct Parts {
  double hot, cold, away_price;
};
constexpr Parts parts_of(Manner manner) { return manner == Manner::bold ? Parts{20, 1e-3, 0} : Parts{6, 1e-4, 8}; }
constexpr double never = 40;  // temperatures: what costs more has no chance worth a draw

}  // namespace

void Anneal::measure(const State& state, ChangeDraw& draw, std::uint64_t looks) {
  Trial trial(state);
  std::vector<double> worse;
  for (std::uint64_t i = 0; i < looks; ++i) {
    if (!draw.shift(trial) || !state.has_room(trial)) continue;
    const double delta = state.delta(trial).tiers[Cost::level];
    if (delta > 0) worse.push_back(delta);
  }
  if (worse.empty()) return;
  const auto middle = worse.begin() + static_cast<std::ptrdiff_t>(worse.size() / 2);
  std::ranges::nth_element(worse, middle);
  typical_ = *middle;
}

void Anneal::set(double progress) {
  const Parts parts = parts_of(manner_);
  temperature_ = progress < 1 ? typical_ * parts.hot * std::pow(parts.cold / parts.hot, progress) : 0;
}

double Anneal::allowance(Rng& rng) const { return temperature_ > 0 ? -temperature_ * std::log(1 - rng.unit()) : 0; }

double Anneal::away_price() const { return parts_of(manner_).away_price * temperature_; }

bool Anneal::takes(const Cost& delta, int away, Rng& rng) const {
  const Cost priced = delta + Cost::of(Cost::level, away * away_price());
  const double worse = priced.tiers[Cost::level];
  const bool chance = worse > 0 && worse < never * temperature_;
  return place::takes(priced, chance ? allowance(rng) : 0);
}

}  // namespace evenkeel::place
