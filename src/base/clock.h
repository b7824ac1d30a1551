#pragma once
// Clock: the one door through which time enters. Only shells own one; the core is handed an `Instant now`.
//
// `BootClock` reads CLOCK_BOOTTIME: it goes on while the host is suspended, so a process that slept through its lease sees the
// deadline as passed. The virtual clock of tests and of the simulator is a VirtualLoop (virtual_loop.h).
// Any thread may call now().

#include "evenkeel/base/time.h"

namespace evenkeel {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
};

class BootClock final : public Clock {
 public:
  Instant now() const override;
};

// The wall clock, for log lines and for what people read. Never for a deadline.
WallTime wall_now();

}  // namespace evenkeel
