#include "evenkeel/base/clock.h"

#include <time.h>

#include "evenkeel/base/result.h"

namespace evenkeel {

Instant BootClock::now() const {
  timespec time{};
  ensure(clock_gettime(CLOCK_BOOTTIME, &time) == 0, "the system has a boot-time clock");
  return Instant(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

WallTime wall_now() { return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()); }

}  // namespace evenkeel
