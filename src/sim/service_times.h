#pragma once
// How long the simulated service's transitions take, each drawn between half and one and a half of it.

#include "evenkeel/base/time.h"

namespace evenkeel::sim {

struct ServiceTimes {
  Duration open = 100ms;
  Duration copy = 2s;  // of one shard
  Duration lead = 20ms;
  Duration step_down = 20ms;
  Duration close = 50ms;
};

}  // namespace evenkeel::sim
