#pragma once
// A queue's consumption as a function of time, and until when an order between two such functions is sure to hold.
//
// Between two changes of what a queue holds, `real` is a line and `planned` is constant, so the key max(real, planned) is constant
// until real overtakes planned. Nobody needs to touch a queue because time passes: it is evaluated where it is looked at, and an
// order that was found once is kept with the time until which it holds.

#include <cstdint>
#include <limits>
#include <utility>

#include "evenkeel/broker/detail/values.h"

namespace evenkeel::broker::detail {

using QueueIndex = std::uint32_t;  // dense, by rank: of two queues with equal keys the smaller index comes first
inline constexpr QueueIndex no_queue = ~QueueIndex{0};
inline constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

struct Line {
  UInt128 real = 0;  // at `since`
  UInt128 rate = 0;  // per microsecond from then on
  UInt128 planned = 0;
  std::uint64_t since = 0;  // microseconds
  std::uint64_t plan_before =
      0;  // before this moment real is surely not above planned, so that planned is the key; see note_plan

  UInt128 real_at(std::uint64_t now) const { return add(real, multiply(rate, now - since)); }
  UInt128 key_at(std::uint64_t now) const { return now < plan_before ? planned : std::max(real_at(now), planned); }
  void settle(std::uint64_t now) {
    real = real_at(now);
    since = now;
  }
  // To be called at `since`, after every change.
  void note_plan();
};

// Near enough: the two halves are exact to 2^-53 each, and so is their sum. The library's conversion of 128 bits is a slow call.
inline double approximate(UInt128 value) {
  return static_cast<double>(static_cast<std::uint64_t>(value >> 64)) * 0x1p64 +
         static_cast<double>(static_cast<std::uint64_t>(value));
}

// The last microsecond from `now` on at which a value that is `gap` below another and gains `speed` on it is still strictly below,
// or, with a gap of 0, is not yet above: never too late, at most a little early. The factor covers all rounding here.
inline std::uint64_t holds_until(std::uint64_t now, UInt128 gap, UInt128 speed) {
  constexpr double safe = 1.0 - 0x1p-48;
  if (speed == 0) return never;
  const double steps = approximate(gap) / approximate(speed) * safe;
  if (steps >= 0x1p64) return never - 1;
  const auto whole = static_cast<std::uint64_t>(steps);
  return whole >= never - now ? never - 1 : now + whole;
}

// The first moment at which to look again at what holds until then.
inline std::uint64_t after(std::uint64_t until) { return until == never ? never : until + 1; }

inline void Line::note_plan() { plan_before = real <= planned ? after(holds_until(since, planned - real, rate)) : 0; }

// Who of two queues is first, and the first moment at which that must be looked at again.
struct Duel {
  QueueIndex winner;
  std::uint64_t expires;
};

// By the least real. Which of two equals wins does not matter: only the value is used.
struct ByReal {
  static Duel duel(const Line* lines, QueueIndex a, QueueIndex b, std::uint64_t now) {
    UInt128 low = lines[a].real_at(now), high = lines[b].real_at(now);
    if (high < low) {
      std::swap(low, high);
      std::swap(a, b);
    }
    const UInt128 speed = subtract(lines[a].rate, lines[b].rate);
    return {a, after(holds_until(now, high - low, speed))};
  }
};

// By the least key, then by rank.
struct ByKey {
  static bool before(const Line* lines, QueueIndex a, QueueIndex b, std::uint64_t now) {
    const UInt128 key_a = lines[a].key_at(now), key_b = lines[b].key_at(now);
    return key_a != key_b ? key_a < key_b : a < b;
  }

  static Duel duel(const Line* lines, QueueIndex a, QueueIndex b, std::uint64_t now) {
    const UInt128 key_a = lines[a].key_at(now), key_b = lines[b].key_at(now);
    const bool b_wins = bool(key_b < key_a) | (bool(key_a == key_b) & bool(b < a));  // who wins is a toss, so no branch
    const QueueIndex winner = b_wins ? b : a;
    // Keys never fall, so as long as the first one's is its plan, it stays the first.
    if (lines[winner].plan_before > now) return {winner, lines[winner].plan_before};
    return {winner, after(first_stays(lines, winner, b_wins ? a : b, b_wins ? key_a : key_b, now))};
  }

 private:
  // `a` is first now. Its plan stays below b's key, so it falls behind only when its real is above b's plan and above b's real.
  static std::uint64_t first_stays(const Line* lines, QueueIndex a, QueueIndex b, UInt128 key_b, std::uint64_t now) {
    const UInt128 rate_a = lines[a].rate, rate_b = lines[b].rate;
    const UInt128 real_a = lines[a].real_at(now), real_b = lines[b].real_at(now);
    if (rate_a == 0) return never;
    // Both held at the largest value tie, whatever their lines say.
    const bool may_hit_ceiling = (rate_a >> 60) != 0 || (real_a >> 124) != 0;
    const std::uint64_t ceiling = may_hit_ceiling ? holds_until(now, value_max - real_a, rate_a) : never;
    std::uint64_t above_real = now;
    if (real_a <= real_b) {
      if (rate_a > rate_b) {
        above_real = holds_until(now, real_b - real_a, rate_a - rate_b);
      } else if (real_a < real_b || rate_a < rate_b || a < b) {
        return ceiling;  // never above
      }
    }
    return std::min(ceiling, std::max(above_real, holds_until(now, key_b - real_a, rate_a)));
  }
};

}  // namespace evenkeel::broker::detail
