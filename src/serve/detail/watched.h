#pragma once
// What the daemon's HTTP asks about: a controller, its events, and what is counted. All of it is the loop's.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/control/shell/controller.h"
#include "evenkeel/serve/api.h"
#include "evenkeel/serve/metrics.h"
#include "evenkeel/serve/pulse_server.h"

namespace evenkeel::serve::detail {

struct Watched {
  ClusterId cluster;
  ControllerAddress self;
  Loop* loop = nullptr;
  const control::Controller* controller = nullptr;  // null: not yet, or not any more
  const PulseServer* pulses = nullptr;
  std::deque<NumberedEvent> events;
  std::uint64_t last_event = 0;
  Counted counted;
  std::function<StoreMeasured()> own_store;  // empty: the store is another one's

  // What it waits for, in words that a sentence begins with, and what to do, in a sentence. Nothing: it is ready.
  struct Waiting {
    std::string what, advice;
  };
  std::optional<Waiting> why_not_ready() const;
  Answerer answerer() const { return {cluster, controller->active(), controller->in_touch(), controller->active_one(), self}; }
};

}  // namespace evenkeel::serve::detail
