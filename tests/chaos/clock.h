#pragma once
// The clock that all processes of this host share, and that goes on while one of them stands still: the witness's too.

#include <cstdint>
#include <ctime>

namespace evenkeel {

// Nanoseconds.
inline std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace evenkeel
