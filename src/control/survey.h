#pragma once
// How a cluster stands, from its documents alone: what people ask who have no controller at hand.
//
//   for (const NodeSurvey& node : survey_nodes(seen)) …     // who is there, what it holds, what operators ask of it
//   explain(seen, shard)                                     // what a controller that read this now would wait for
//
// Nothing is remembered between two looks, so moments are missing: since when a node is gone is as the controller has saved it.
// Pure; values. Cost: linear in what was read.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/control/operate.h"

namespace evenkeel::control {

struct NodeSurvey {
  enum class State : std::uint8_t {
    there,
    joining,  // it has a session, and has not said who it is
    leaving,
    gone,     // its session is over
    removed,  // and its disk does not come back
    never,    // operators speak of it, and it has never been there
  };
  NodeId node;
  State state = State::never;
  std::optional<Duration> gone;  // for how long, as the controller has saved it
  std::string zone;
  std::string address;
  std::string version;
  Operation operation = Operation::none;
  std::optional<NodeId> swap_with;
  std::string reason;
  std::optional<PermitDocument::Stage> permit;
  std::uint32_t replicas = 0;  // that it is told to have
  std::uint32_t leaders = 0;   // that the view shows as such: reported at that epoch, so that one which fails to lead is none
  std::uint32_t errors = 0;    // replicas of which it reports an error, whether it tries again or has given up
  friend bool operator==(const NodeSurvey&, const NodeSurvey&) = default;
};
std::string_view name(NodeSurvey::State state);
std::vector<NodeSurvey> survey_nodes(const Snapshot& seen);  // by name

struct WorkloadSurvey {
  WorkloadId workload;
  bool deleted = false;  // its replicas are being dropped
  std::uint32_t shards = 0;
  std::uint32_t replicas = 0;  // of each
  std::uint32_t min_active = 0;
  bool leads = false;     // its shards have leaders
  std::uint32_t led = 0;  // shards with a leader, of a model that has one
  std::uint32_t below_min_active = 0;
  std::uint32_t incomplete = 0;  // fewer serve than there should be
  std::uint32_t errors = 0;      // replicas that have failed
  std::uint32_t split_from = 0;  // so many are being split; 0: none
  std::uint32_t unborn = 0;      // of its shards, those that are not split off yet: nobody misses them
  friend bool operator==(const WorkloadSurvey&, const WorkloadSurvey&) = default;
};
std::vector<WorkloadSurvey> survey_workloads(const Snapshot& seen);  // by name; deleted ones while something of them is left

// A replica in the record, in a report, or in both.
struct ReplicaSurvey {
  NodeId node;
  const Holder* told = nullptr;         // null: no record knows it
  const ReplicaReport* says = nullptr;  // null: nothing
  bool there = false;                   // and the report is of its present join
  friend bool operator==(const ReplicaSurvey&, const ReplicaSurvey&) = default;
};
// In the record's order, then orphans by name. Pointers into the snapshot.
std::vector<ReplicaSurvey> survey_replicas(const Snapshot& seen, const ShardId& shard);
// What it waits for, and what is in its way. Makes a plan if fewer serve than should.
std::vector<std::string> explain(const Snapshot& seen, const ShardId& shard);

}  // namespace evenkeel::control
