#pragma once
// The plan: what to do about a cluster, and why, as a value.
//
// It speaks of nodes by their index in Cluster::nodes and of workloads by name; `format_plan` writes it as the JSON or YAML that
// docs/plan.md describes, `apply` makes the cluster that it leads to. Lists are in canonical order, so equal problems give equal bytes
// whatever the order of nodes in the file.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evenkeel/base/document.h"
#include "evenkeel/model/cluster.h"

namespace evenkeel::place {

enum class MoveReason : std::uint8_t { repair, drain, limit, rules, spread, balance, room, grow, shrink };
enum class Rule : std::uint8_t {
  spread,
  down,
  draining,
  able,    // labels and taints
  barred,  // the shard is barred from the node
  capacity,
  count,
  quorum,
  replicas,  // fewer than asked for
  pinned,
  leaders,
  apart_from,
  moving,  // it needs a move, and has one in flight
};
enum class RefusalReason : std::uint8_t { nodes, labels, barred, spread, count, capacity, too_large };

// As in plans: "too-large".
std::string_view name(MoveReason reason);
std::string_view name(Rule rule);
std::string_view name(RefusalReason reason);

// A replica goes from one node to another. Without `from` one is added to a shard that has some, without `to` one is dropped. Moves of
// one step may be done in any order and at once; a step begins when the one before it is done. Step 1 may be that of the moves in flight
// alone.
struct Move {
  WorkloadId workload;
  ShardIndex shard;
  std::optional<NodeIndex> from;
  std::optional<NodeIndex> to;
  MoveReason reason = MoveReason::balance;
  std::uint32_t step = 1;
  friend bool operator==(const Move&, const Move&) = default;
};

// Leadership passes from the node that leads now to another one that holds the shard once the moves are done. A leader's replica that
// moves takes its leadership along, which is not listed here.
struct LeaderChange {
  WorkloadId workload;
  ShardIndex shard;
  NodeIndex from;
  NodeIndex to;
  friend bool operator==(const LeaderChange&, const LeaderChange&) = default;
};

// A move in flight that shall not go on.
struct Cancelled {
  WorkloadId workload;
  ShardIndex shard;
  std::optional<NodeIndex> from;
  std::optional<NodeIndex> to;
  std::string reason;  // "destination down"
  friend bool operator==(const Cancelled&, const Cancelled&) = default;
};

// Something that was to be placed, repaired or drained and has no home.
struct Refusal {
  WorkloadId workload;
  std::optional<ShardIndex> shard;  // none: the whole request, which left no trace
  std::optional<NodeIndex> node;    // where the replica is that should leave; none if it is nowhere
  RefusalReason reason = RefusalReason::nodes;
  std::string detail;                                    // the bound that binds: "needs 3 nodes with 1 slot; 2 have one"
  bool proved = true;                                    // no placement exists; false: none was found
  std::vector<std::pair<NodeIndex, std::string>> nodes;  // why not there, in order of name; at most PlanOptions::reasons_max
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// A rule that the plan's placement breaks, also where nothing better exists; one per shard and rule.
struct Violation {
  WorkloadId workload;
  std::optional<ShardIndex> shard;  // none: the workload as a whole
  Rule rule = Rule::spread;
  bool hard = false;
  std::string detail;  // "2 replicas in dc1"
  std::string reason;  // "moves_max", "order" where that is all it waits for; else empty
  friend bool operator==(const Violation&, const Violation&) = default;
};

// How level one resource is over the nodes that take part in balance, relative to their fair shares.
struct Balance {
  double max_over_mean = 1;
  double floor = 1;  // no placement is below it
  double stddev_over_mean = 0;
  // Where some replica exceeds a mean node: without the nodes that hold such. None as well if those hold everything.
  std::optional<double> max_over_mean_without_giants;
  friend bool operator==(const Balance&, const Balance&) = default;
};

struct Stats {
  double seconds = 0;  // filled in by who has a clock
  std::uint64_t evaluated_moves = 0;
  std::uint64_t moves = 0;
  std::uint64_t moves_floor =
      0;                   // what the change forces: replicas on lost or draining nodes, the fair share of nodes that are empty
  bool cut_short = false;  // by moves_max, budget or time: a further run may go on
  std::map<ResourceId, Balance> balance;
  friend bool operator==(const Stats&, const Stats&) = default;
};

struct Plan {
  std::map<WorkloadId, Placement> placement;  // where everything ends
  std::map<WorkloadId, Cores> cores;          // if asked for
  std::vector<Move> moves;
  std::vector<LeaderChange> leaders;
  std::vector<Cancelled> cancelled;
  std::vector<Refusal> refused;
  std::vector<Violation> violations;
  Stats stats;

  // Nothing was refused and no hard rule is broken.
  bool met() const;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// The whole plan as text. With `cores` false the key is left out.
std::string format_plan(const Cluster& cluster, const Plan& plan, Syntax syntax, bool cores = false);

// The cluster once the plan is carried out: the next problem. Moves in flight that go on are done, cancelled ones gone; recent is kept
// for replicas that are still where it says, and what is barred stays barred.
Cluster apply(const Cluster& cluster, const Plan& plan);

}  // namespace evenkeel::place
