#include "evenkeel/place/search/detail/anneal.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "evenkeel/place/search/detail/draw.h"

namespace evenkeel::place {

namespace {

// Of what the median of worsening changes costs. Tried from 0.004 to 10 and from 1e-5 to 1e-2: tight instances want it hotter, large ones in
// little time cooler, and the coldest matters less.
constexpr double hot_part = 4, cold_part = 1e-3;

}  // namespace

void Anneal::measure(State& state, Rng& rng, std::uint64_t looks) {
  ChangeDraw draw(state, rng);
  Trial trial(state);
  std::vector<double> worse;
  for (std::uint64_t i = 0; i < looks; ++i) {
    if (!draw.next(trial) || !state.allowed(trial)) continue;
    const double delta = state.delta(trial).tiers[Cost::level];
    if (delta > 0) worse.push_back(delta);
  }
  if (worse.empty()) return;
  const auto middle = worse.begin() + static_cast<std::ptrdiff_t>(worse.size() / 2);
  std::ranges::nth_element(worse, middle);
  hot_ = *middle * hot_part;
  cold_ = *middle * cold_part;
}

void Anneal::set(double progress) { temperature_ = hot_ > 0 && progress < 1 ? hot_ * std::pow(cold_ / hot_, progress) : 0; }

bool Anneal::takes(const Cost& delta, Rng& rng) const {
  for (std::size_t tier = 0; tier < Cost::level; ++tier)
    if (delta.tiers[tier] != 0) return delta.tiers[tier] < 0;
  const double worse = delta.tiers[Cost::level];
  if (worse == 0) return !(Cost{} < delta);
  if (worse < 0) return true;
  return temperature_ > 0 && worse < 40 * temperature_ && rng.unit() < std::exp(-worse / temperature_);
}

}  // namespace evenkeel::place
