#include "evenkeel/sim/detail/host_loop.h"

#include <algorithm>

namespace evenkeel::sim {
namespace {

constexpr std::int64_t million = 1'000'000;

}  // namespace

Instant HostClock::at(Instant outside) const {
  const std::int64_t passed = outside.time_since_epoch().count();
  return Instant(offset + Duration(passed + passed / million * ppm + passed % million * ppm / million));
}

Instant HostClock::outside(Instant here) const {
  if (here <= at(Instant{})) return Instant{};
  if (here > at(Instant{}) + Duration(24h) * 365 * 100) return Instant::max();
  const std::int64_t shown = (here - Instant{} - offset).count();
  // The quotient is off by a few nanoseconds, since the clock's own division rounds.
  std::int64_t guess = shown / (million + ppm) * million + shown % (million + ppm) * million / (million + ppm);
  while (at(Instant(Duration(guess))) >= here) --guess;
  while (at(Instant(Duration(guess))) < here) ++guess;
  return Instant(Duration(guess));
}

// What a callback owns may cancel others as it goes, so all slots are in order by then.
HostLoop::~HostLoop() {
  std::vector<Callback> gone;
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (!slots_[slot].used) continue;
    outside_.cancel(slots_[slot].outside);
    gone.push_back(release(slot));
  }
}

Timer HostLoop::post_at(Instant due, Callback callback) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t at = free_.back();
  free_.pop_back();
  Slot& slot = slots_[at];
  slot.callback = std::move(callback);
  slot.used = true;
  ++slot.generation;
  slot.outside = outside_.post_at(std::max(clock_.outside(due), outside_.now()), [this, at] { fire(at); });
  return {at, slot.generation};
}

HostLoop::Callback HostLoop::release(std::uint32_t slot) {
  slots_[slot].used = false;
  free_.push_back(slot);
  return std::exchange(slots_[slot].callback, nullptr);
}

void HostLoop::fire(std::uint32_t slot) {
  if (stands_still()) {
    slots_[slot].outside = outside_.post_at(still_until_, [this, slot] { fire(slot); });
    return;
  }
  ran_ = ran_now() + 1;
  ran_at_ = outside_.now();
  release(slot)();
}

bool HostLoop::cancel(Timer timer) {
  if (timer.generation == 0 || timer.slot >= slots_.size()) return false;
  const Slot& slot = slots_[timer.slot];
  if (!slot.used || slot.generation != timer.generation) return false;
  outside_.cancel(slot.outside);
  const Callback gone = release(timer.slot);
  return true;
}

void HostLoop::stand_still(Duration time) { still_until_ = std::max(still_until_, later(outside_.now(), time)); }

}  // namespace evenkeel::sim
