#pragma once
// What a daemon measures about its controller, and that as Prometheus reads it. Values; the daemon fills them on its loop.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/control/machine.h"

namespace evenkeel::serve {

// How often something took how long: a count for each bound, and one for what took longer.
class Histogram {
 public:
  static constexpr std::array bounds = {Duration(100us), Duration(300us), Duration(1ms),   Duration(3ms),
                                        Duration(10ms),  Duration(30ms),  Duration(100ms), Duration(300ms),
                                        Duration(1s),    Duration(3s),    Duration(10s),   Duration(30s)};
  void add(Duration took);
  const std::array<std::uint64_t, bounds.size() + 1>& counts() const { return counts_; }
  Duration sum() const { return sum_; }

 private:
  std::array<std::uint64_t, bounds.size() + 1> counts_ = {};
  Duration sum_ = {};
};

// Counted since the daemon started.
struct Counted {
  Histogram steps;    // of the machine
  Histogram commits;  // until the store had answered
  Histogram plans;
  std::uint64_t committed = 0, moved = 0, unknown = 0;  // what became of commits
  std::uint64_t pulses = 0;
  std::map<control::Event::Kind, std::uint64_t> events;
};

// The daemon's own store, where it has one.
struct StoreMeasured {
  std::uint64_t revision = 0, bytes = 0, bytes_max = 0, keys = 0, watchers = 0, leases = 0;
  bool full = false;                                               // writes are refused: no space
  std::uint64_t reads = 0, writes = 0, renewals = 0, watches = 0;  // asked since it was opened
};

// As it is now.
struct Measured {
  bool active = false;
  bool in_touch = false;
  std::uint64_t epoch = 0;
  control::Overview overview;
  std::vector<control::NodeState> nodes;
  std::vector<control::WorkloadState> workloads;
  std::size_t pulse_connections = 0;
  Counted counted;
  std::optional<StoreMeasured> store;
};

std::string_view name(control::Event::Kind kind);
std::string format_metrics(const Measured& measured);

}  // namespace evenkeel::serve
