#pragma once
// Time: instants, durations, and durations as people write them.
//
// An `Instant` is a point on the boot-time axis of one host (or of the simulator): it never goes back, runs on through suspend,
// and means nothing on another host. There is deliberately no `now()` here: the core is handed an instant, and only the shell
// owns a Clock (clock.h). Wall-clock time is for logs alone and has another type, so the two cannot be mixed up.
//
//   Instant deadline = now + 10s - 200ms;                  // std::chrono literals and arithmetic
//   parse_duration("1h30m") -> 1h30m; format(90min) -> "1h30m"
//
// Text form: one or more `<number><unit>` without spaces, units d h m s ms us ns in falling order, each at most once; the last
// number may have a fraction if it comes out whole in nanoseconds ("1.5s"). "0" needs no unit. `format` writes the canonical form
// without fractions ("1s500ms"); parse(format(d)) == d for every duration, the most negative one included.

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "evenkeel/base/result.h"

namespace evenkeel {

using namespace std::chrono_literals;

using Duration = std::chrono::duration<std::int64_t, std::nano>;

// The axis of Instant. It has no now(): a Clock has.
struct BootTime {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<BootTime>;
  static constexpr bool is_steady = true;
};
using Instant = BootTime::time_point;

// A moment of the calendar, for logs and for what people read; never compared with another host's, never used for a deadline.
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

// `from + by`, held at the ends of the axis: "after Duration::max()" means never, not an overflow.
constexpr Instant later(Instant from, Duration by) {
  Duration::rep sum = 0;
  if (__builtin_add_overflow(from.time_since_epoch().count(), by.count(), &sum))
    return by.count() < 0 ? Instant::min() : Instant::max();
  return Instant(Duration(sum));
}

Result<Duration> parse_duration(std::string_view text);
std::string format(Duration duration);

// The instant as its distance from the axis' zero: "12s500ms". Simulated runs start at zero, so there it reads as elapsed time.
std::string format(Instant instant);

// ISO 8601 in UTC with microseconds: "2026-11-15T08:49:55.000123Z".
std::string format(WallTime time);

}  // namespace evenkeel
