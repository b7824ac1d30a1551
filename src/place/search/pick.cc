#include "evenkeel/place/search/detail/pick.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace evenkeel::place {

namespace {

constexpr int looks_each = 8;  // shifts of each replica
// In temperatures, what shifts of a large one change. Beyond that nothing is taken that is worse, whatever is drawn.
constexpr double large_from = 8, large_to = 1000;
constexpr double preference_hot = 512;             // in 1024, at the start
constexpr double preference_away = 512;            // in 1024, at the end,
constexpr std::uint64_t preference_homing = 1000;  // and where only moves are left to be saved
constexpr std::uint64_t draws_a_round = 1024;      // about: from one temperature to the next

}  // namespace

Pick::Pick(const State& state, std::span<const std::uint8_t> movable) : stays_(state.problem().frozen) {
  const std::uint32_t replicas = state.problem().replicas();
  stays_.resize(replicas);
  for (std::uint32_t r = 0; r < replicas; ++r) {
    if (state.at(r) == none || (!movable.empty() && movable[r] == 0)) stays_[r] = 1;
    if (stays_[r] == 0) movable_.push_back(r);
  }
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
  rank_.assign(state.problem().replicas(), 0);
  for (const auto& [scale, replica] : scales) {
    rank_[replica] = static_cast<std::uint32_t>(by_scale_.size());
    scale_.push_back(scale);
    by_scale_.push_back(replica);
  }
}

// Every power of two is as likely a distance as another.
std::uint32_t Pick::like(std::uint32_t replica, Rng& rng) const {
  if (by_scale_.empty()) return any(rng);
  const std::uint64_t word = rng.next();
  const auto digits = static_cast<std::uint64_t>(std::bit_width(by_scale_.size()));
  const std::uint64_t reach = std::uint64_t{1} << ((word >> 32) % digits);
  const std::uint64_t far = 1 + (word & (reach - 1)), rank = rank_[replica];
  const std::uint64_t other = (word >> 63) == 0 ? rank + far : rank - far;  // below nothing is far above all
  return other < by_scale_.size() ? by_scale_[other] : any(rng);
}

void Pick::set(const State& state, double temperature, double progress, bool homing) {
  const auto first = std::ranges::lower_bound(scale_, temperature * large_from);
  const auto last = std::ranges::upper_bound(scale_, temperature * large_to);
  first_large_ = static_cast<std::uint64_t>(first - scale_.begin());
  large_ = static_cast<std::uint64_t>(last - first);
  preference_ = static_cast<std::uint64_t>(preference_hot * std::max(0.0, 1 - progress));
  if (!prefers_away_) return;
  away_preference_ = homing ? preference_homing : static_cast<std::uint64_t>(preference_away * std::clamp(progress, 0.0, 1.0));
  if (rounds_left_ > 0) {
    --rounds_left_;
    return;
  }
  rounds_left_ = movable_.size() / draws_a_round;
  away_.clear();
  for (const std::uint32_t replica : movable_)
    if (state.at(replica) != state.home(replica)) away_.push_back(replica);
}

}  // namespace evenkeel::place
