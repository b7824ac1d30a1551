#pragma once
// What a scheduler shows of itself, as values: `Status` for people, pages and metrics; `State` to go on from exactly here elsewhere.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "evenkeel/base/id.h"
#include "evenkeel/base/quantity.h"
#include "evenkeel/broker/config.h"
#include "evenkeel/broker/histogram.h"

namespace evenkeel::broker {

using ClientId = Number<struct BrokerClientTag>;
using TaskId = Number<struct BrokerTaskTag, std::uint64_t>;

struct Counters {
  std::vector<UInt128> held;  // by resource; may exceed 64 bits after updates
  std::uint64_t finished = 0;
  std::uint64_t enqueued = 0;
  std::uint64_t infly = 0;
  friend bool operator==(const Counters&, const Counters&) = default;
};

struct TaskStatus {
  ClientId client{0};
  TaskId id{0};
  std::string name;
  std::string type;  // as submitted
  std::uint64_t priority = 0;
  std::vector<std::uint64_t> need;
  std::string cookie;
  Micros submitted{0};
  Micros since{0};             // running: its start; waiting: when it began to wait, this time
  Micros planned_duration{0};  // running: planned finish is `since` + this
  bool running = false;
  friend bool operator==(const TaskStatus&, const TaskStatus&) = default;
};

struct QueueStatus {
  std::string name;
  std::uint64_t weight = 0;
  std::vector<std::uint64_t> limit;  // by resource; `unlimited`
  Counters counters;
  UInt128 real = 0;  // as of now, over Status::denominator, in microseconds of the whole node
  UInt128 planned = 0;
  Histogram in_queue;
  std::vector<TaskStatus> waiting;  // the first ones, in their order
  friend bool operator==(const QueueStatus&, const QueueStatus&) = default;
};

struct TypeStatus {
  std::string name;
  std::string queue;
  Micros mean_duration{0};
  Counters counters;
  Histogram in_queue;
  Histogram execution;
  friend bool operator==(const TypeStatus&, const TypeStatus&) = default;
};

struct Status {
  Micros now{0};
  Config config;
  std::vector<std::string> resources;
  std::vector<std::uint64_t> limit;  // of the node, by resource
  UInt128 denominator = 1;
  std::uint64_t missing_types = 0;
  Counters total;
  std::vector<QueueStatus> queues;  // in the config's order
  std::vector<TypeStatus> types;
  std::vector<TaskStatus> running;  // those longest running, by start, then client and id
  friend bool operator==(const Status&, const Status&) = default;
};

// All that decides future grants, and the counters that never start anew.
struct State {
  struct Queue {
    std::string name;
    UInt128 real = 0;
    UInt128 planned = 0;
    friend bool operator==(const Queue&, const Queue&) = default;
  };
  static constexpr std::size_t window = 20;  // of finished runs
  struct Type {
    std::string name;
    std::array<std::uint64_t, window> durations{};  // microseconds
    std::uint32_t oldest = 0;                       // the one that the next finished run replaces
    friend bool operator==(const Type&, const Type&) = default;
  };
  Micros now{0};
  Config config;
  std::uint64_t next_task = 1;  // the counter behind id 0
  std::uint64_t missing_types = 0;
  std::uint64_t finished = 0;
  std::map<std::string, std::uint64_t> finished_by_queue;  // by name, also of those gone from the config
  std::map<std::string, std::uint64_t> finished_by_type;
  std::vector<ClientId> clients;  // connected
  std::vector<Queue> queues;
  std::vector<Type> types;
  std::vector<TaskStatus> tasks;  // in order of creation
  friend bool operator==(const State&, const State&) = default;
};

}  // namespace evenkeel::broker
