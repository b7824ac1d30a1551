#pragma once
// What the daemon's HTTP says, as JSON: values in, text out. docs/serve.md shows each.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/control/machine.h"
#include "evenkeel/model/controller_address.h"

namespace evenkeel::serve {

// Who answers: in front of each answer.
struct Answerer {
  ClusterId cluster;
  bool active = false;
  bool in_touch = false;         // with the store; if not, what follows may be old
  ControllerAddress controller;  // the active one; an empty name: none is known
  ControllerAddress self;
};

struct NumberedEvent {
  std::uint64_t number = 0;  // from 1, of this daemon
  WallTime time;
  control::Event event;
};

// Part of a workload's shards.
struct Page {
  WorkloadId workload;
  std::optional<std::uint32_t> next;  // where the next page begins
};

std::string format_cluster(const Answerer& who, const control::Overview& overview);
std::string format_nodes(const Answerer& who, const std::vector<control::NodeState>& nodes);
std::string format_workloads(const Answerer& who, const std::vector<control::WorkloadState>& workloads);
std::string format_shards(const Answerer& who, const Page& page, const std::vector<control::ShardState>& shards);
std::string format_shard(const Answerer& who, const WorkloadId& workload, const control::ShardState& shard);
std::string format_view(const Answerer& who, const Page& page, const std::vector<ShardView>& shards);
// `last`: the number of the latest event, whether it is among them or not.
std::string format_events(const Answerer& who, std::uint64_t last, const std::vector<NumberedEvent>& events);

}  // namespace evenkeel::serve
