#include "evenkeel/place/search/detail/pick.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace evenkeel::place {

namespace {

constexpr int looks_each = 8;  // shifts of each replica
// In temperatures, what shifts of a large one change. Beyond that nothing is taken that is worse, whatever is drawn.
constexpr double large_from = 8, large_to = 1000;
constexpr double preference_hot = 512;  // in 1024, at the start

}  // namespace

Pick::Pick(const State& state) {
  const Problem& problem = state.problem();
  for (std::uint32_t r = 0; r < problem.replicas(); ++r)
    if (state.at(r) != none && (problem.frozen.empty() || problem.frozen[r] == 0)) movable_.push_back(r);
}

void Pick::measure(const State& state, const Reach& reach, Rng& rng) {
  Trial trial(state);
  std::vector<std::pair<double, std::uint32_t>> scales;
  scales.reserve(movable_.size());
  for (const std::uint32_t replica : movable_) {
    double sum = 0;
    int looked = 0;
    for (int i = 0; i < looks_each; ++i) {
      const std::uint32_t to = reach.any_node(replica, rng);
      if (to == none || to == state.at(replica)) continue;
      sum += std::abs(state.delta(trial.shift(replica, to)).tiers[Cost::level]);
      ++looked;
    }
    scales.emplace_back(looked > 0 ? sum / looked : 0, replica);
  }
  std::ranges::sort(scales);
  by_scale_.clear();
  scale_.clear();
  for (const auto& [scale, replica] : scales) {
    scale_.push_back(scale);
    by_scale_.push_back(replica);
  }
}

void Pick::set(double temperature, double progress) {
  const auto first = std::ranges::lower_bound(scale_, temperature * large_from);
  const auto last = std::ranges::upper_bound(scale_, temperature * large_to);
  first_large_ = static_cast<std::uint64_t>(first - scale_.begin());
  large_ = static_cast<std::uint64_t>(last - first);
  preference_ = static_cast<std::uint64_t>(preference_hot * std::max(0.0, 1 - progress));
}

}  // namespace evenkeel::place
