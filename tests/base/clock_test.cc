#include "evenkeel/base/clock.h"

#include <gtest/gtest.h>
#include <time.h>

namespace evenkeel {
namespace {

Instant read_boot_time() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return Instant(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

TEST(BootClock, ReadsBootTimeAndNeverGoesBack) {
  const BootClock clock;
  const Instant before = read_boot_time();
  Instant last = clock.now();
  EXPECT_LE(before, last);
  for (int i = 0; i < 1'000; ++i) {
    const Instant next = clock.now();
    ASSERT_LE(last, next);
    last = next;
  }
  EXPECT_LE(last, read_boot_time());
}

TEST(WallClock, IsTheCalendarsInWholeMicroseconds) {
  // After this line was written, and before the century ends: a clock on another axis or in another unit would show.
  EXPECT_GT(wall_now(), WallTime(std::chrono::sys_days(std::chrono::year(2020) / 1 / 1)));
  EXPECT_LT(wall_now(), WallTime(std::chrono::sys_days(std::chrono::year(2100) / 1 / 1)));
}

}  // namespace
}  // namespace evenkeel
