#pragma once
// A broker's config as a value: queues with weights and limits, task types with the queue each goes to, the node's total limit.
//
//   Config config = default_config();
//   config.queues[0].weight = 50;
//   if (auto right = check(config); !right) return right.error();      // task 'x' uses unknown queue 'y'
//   config = merge(std::move(config), patch);                          // a patch changes only what it names
//
// Resources have names. `cpu` and `memory` always exist, in this order; every other name that any limit mentions is one more, in
// order of appearance (`resources_of`). A resource that a limit does not name is unlimited there, and so is one of 2^64 - 1.
// Text forms, among them those of YDB, are in config_file.h.

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evenkeel/base/result.h"

namespace evenkeel::broker {

// The broker counts time in whole microseconds from its own start, unsigned: 584 000 years.
using Micros = std::chrono::duration<std::uint64_t, std::micro>;

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::size_t resources_max = 64;

// Amounts by resource name, in the order in which they were written, each name once.
using Amounts = std::vector<std::pair<std::string, std::uint64_t>>;

struct QueueSpec {
  std::string name;
  std::uint64_t weight = 0;  // 0 counts as 1
  Amounts limit;
  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

struct TypeSpec {
  std::string name;
  std::string queue;
  Micros default_duration{0};
  friend bool operator==(const TypeSpec&, const TypeSpec&) = default;
};

struct Config {
  std::vector<QueueSpec> queues;
  std::vector<TypeSpec> types;
  Amounts limit;  // of the node
  friend bool operator==(const Config&, const Config&) = default;
};

// What a merge changes: a queue or type of a known name gets what is given, an unknown one is added (with defaults for what is not
// given), and of a limit only the resources that are named.
struct ConfigPatch {
  struct Queue {
    std::string name;
    std::optional<std::uint64_t> weight;
    Amounts limit;
    friend bool operator==(const Queue&, const Queue&) = default;
  };
  struct Type {
    std::string name;
    std::optional<std::string> queue;
    std::optional<Micros> default_duration;
    friend bool operator==(const Type&, const Type&) = default;
  };
  std::vector<Queue> queues;
  std::vector<Type> types;
  Amounts limit;
  friend bool operator==(const ConfigPatch&, const ConfigPatch&) = default;
};

// What a broker starts with if told nothing: YDB's queues for compaction, transactions and background work on 10 cpu and 16 GiB.
Config default_config();

// `cpu`, `memory`, then what the queues' limits and the total limit name beside them, in that order.
std::vector<std::string> resources_of(const Config& config);

// The amount of a resource, or nothing.
std::optional<std::uint64_t> find_amount(const Amounts& amounts, std::string_view resource);

// Code::refused with the first of: a type's queue that does not exist, no queue `queue_default`, no type `unknown`, a name given
// twice, an empty name, a queue named `total`, more than 64 resources, a resource with the name of a field beside it in traces,
// or with another spelling of one that YDB knows.
Result<void> check(const Config& config);

Config merge(Config config, const ConfigPatch& patch);

}  // namespace evenkeel::broker
