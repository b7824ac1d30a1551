#pragma once
// The cluster as a value: nodes, workloads, the present placement and what is on the way. All of it compares with ==.
//
// This is the problem that `place` solves, what a cluster file says (cluster_file.h) and what the controller builds from its
// snapshot. The small parts are plain structs with visible defaults; the parts that grow with the number of shards (placements,
// cores, shard loads, pins) are flat tables: a million shards of three replicas take some 20 MB and a handful of allocations.
//
//   Cluster cluster{.name = ClusterId("pages")};
//   cluster.nodes.push_back({.name = NodeId("n1"), .zone = "dc1/r1"});
//   cluster.workloads.push_back({.name = WorkloadId("t1"), .shards = 1200, .replicas = 3});
//   for (const Problem& problem : check(cluster)) ...         // empty: the value is whole
//
// Invariants are those that check() tests; a parsed cluster has passed it. Nodes are meant by index inside the tables and by name
// outside; indexes are places in `nodes`.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/base/quantity.h"
#include "evenkeel/model/control_spec.h"
#include "evenkeel/model/ids.h"
#include "evenkeel/model/state_model.h"

namespace evenkeel {

// Bounds on what one cluster may name. Counts beyond them are wrong input, not refusals.
constexpr std::uint32_t nodes_max = 1u << 20;
constexpr std::uint32_t shards_max = std::numeric_limits<std::int32_t>::max();  // per workload
constexpr std::uint32_t replicas_max = shards_max;  // per shard; more than there are nodes is a refusal, not wrong input
constexpr std::uint32_t cores_max = std::numeric_limits<std::uint16_t>::max();

// How much of each resource; a resource that is not named is absent, which for a capacity differs from zero.
using Amounts = std::map<ResourceId, Quantity>;
using Labels = std::map<std::string, std::string>;

enum class NodeStatus : std::uint8_t { up, down, draining, cordoned, no_leaders };
// As in files: "no-leaders".
std::string_view name(NodeStatus status);

struct Taint {
  enum class Effect : std::uint8_t { refuse, avoid };
  std::string key;
  std::string value;
  Effect effect = Effect::refuse;
  friend bool operator==(const Taint&, const Taint&) = default;
};
std::string_view name(Taint::Effect effect);
struct Toleration {
  std::string key;
  std::optional<std::string> value;  // none: any
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// Replicas of a shard in different domains of this level.
struct Spread {
  std::string level = "zone";
  bool hard = false;
  friend bool operator==(const Spread&, const Spread&) = default;
};

struct Settings {
  std::uint32_t replicas_per_core = 7000;              // 0: no limit
  std::uint32_t core0_reserve = 2;                     // replicas that core 0 counts as holding already
  Ratio soft_limit = Ratio::percent(80);               // of a node's capacity: balancing moves stay below it
  Ratio hard_limit = Ratio::percent(95);               // new shards, repair and draining may go up to here; nothing goes above
  Ratio tolerance = Ratio::percent(5);                 // balancing starts only if a node is further than this from its fair share
  std::uint32_t moves_max = 50;                        // moves in flight and planned; 0: no limit
  std::uint32_t moves_per_node_max = 0;                // the same per node, in or out; 0: no limit
  std::vector<std::string> levels = {"zone", "rack"};  // names of the depths of zone paths
  Spread spread;
  ControlSettings control;
  friend bool operator==(const Settings&, const Settings&) = default;
};

struct Node {
  NodeId name;
  std::string zone;         // a path, outermost first: dc1/r1; empty: none
  std::uint32_t cores = 0;  // 0: not named
  Amounts capacity;
  Amounts used;       // load that Evenkeel does not manage
  Quantity power{1};  // multiplies its fair share, not its limits
  Labels labels;
  std::vector<Taint> taints;
  NodeStatus status = NodeStatus::up;
  std::uint32_t replicas_max = 0;   // 0: no limit
  std::optional<Ratio> soft_limit;  // over the cluster's
  std::optional<Ratio> hard_limit;
  bool leaders = true;
  friend bool operator==(const Node&, const Node&) = default;
};

// Rows of varying length in two flat arrays.
template <class T>
class Rows {
 public:
  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::size_t cells() const { return cells_.size(); }
  std::span<const T> operator[](std::size_t row) const {
    const std::size_t begin = row == 0 ? 0 : ends_[row - 1];
    return std::span(cells_).subspan(begin, ends_[row] - begin);
  }
  // A row is built cell by cell: add, add, end_row.
  void add(T cell) { cells_.push_back(cell); }
  void end_row() { ends_.push_back(static_cast<std::uint32_t>(cells_.size())); }
  void push_back(std::span<const T> row) {
    cells_.insert(cells_.end(), row.begin(), row.end());
    end_row();
  }
  void reserve(std::size_t rows, std::size_t cells) {
    ends_.reserve(rows);
    cells_.reserve(cells);
  }
  friend bool operator==(const Rows&, const Rows&) = default;

 private:
  std::vector<std::uint32_t> ends_;
  std::vector<T> cells_;
};

// Loads of single shards, in place of their workload's: sorted by shard, one column per resource, zero where not named.
struct ShardLoads {
  std::vector<ResourceId> resources;  // sorted; none without a value other than zero, so that equal loads are equal tables
  std::vector<ShardIndex> shards;     // sorted
  std::vector<Quantity> values;       // shards × resources

  bool empty() const { return shards.empty(); }
  // The loads of one shard in the order of `resources`; nothing if it has none of its own.
  std::optional<std::span<const Quantity>> find(ShardIndex shard) const;
  friend bool operator==(const ShardLoads&, const ShardLoads&) = default;
};

// Rows of nodes for some of the shards, sorted by shard.
struct Pins {
  std::vector<ShardIndex> shards;
  Rows<NodeIndex> nodes;  // parallel to shards

  std::span<const NodeIndex> find(ShardIndex shard) const;
  friend bool operator==(const Pins&, const Pins&) = default;
};

struct Workload {
  WorkloadId name;
  std::uint32_t shards = 0;
  std::uint32_t replicas = 1;
  StateModelId state_model{"leader-follower"};
  Amounts load;         // of each replica
  Amounts leader_load;  // what the first replica carries on top
  ShardLoads shard_loads;
  std::optional<Quantity> move_cost;  // none: its disk load, else 1
  Labels require;
  std::vector<Toleration> tolerate;
  std::optional<Spread> spread;  // over the cluster's setting
  std::vector<WorkloadId> apart_from;
  std::vector<WorkloadId> close_to;
  Pins pinned;
  bool system = false;  // not counted, nor refused, by the replica-count limit
  WorkloadControl control;
  friend bool operator==(const Workload&, const Workload&) = default;
};

// A move on its way. The placement holds `from` until it is done; `to` is only here. Without `from` a replica is being added, without
// `to` one is being removed.
struct Moving {
  WorkloadId workload;
  ShardIndex shard;
  std::optional<NodeIndex> from;
  std::optional<NodeIndex> to;
  friend bool operator==(const Moving&, const Moving&) = default;
};
// A replica that moved lately: balancing leaves it alone.
struct Recent {
  WorkloadId workload;
  ShardIndex shard;
  NodeIndex node;
  friend bool operator==(const Recent&, const Recent&) = default;
};

// A node that a shard may not come to, nor stay on: somebody disabled it there, or it failed there for good.
struct Barred {
  WorkloadId workload;
  ShardIndex shard;
  NodeIndex node;
  friend bool operator==(const Barred&, const Barred&) = default;
};

using Placement = Rows<NodeIndex>;  // by shard; the first of a row is the leader
using Cores = Rows<Core>;           // by shard, parallel to the placement

struct Cluster {
  ClusterId name;
  Settings settings;
  std::vector<StateModel> state_models;  // the user's own; the built-in ones are always there
  std::vector<Node> nodes;
  std::vector<Workload> workloads;
  std::map<WorkloadId, Placement> placement;  // a workload that is not here is new
  std::map<WorkloadId, Cores> cores;
  std::vector<Moving> moving;
  std::vector<Recent> recent;
  std::vector<Barred> barred;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

// The user's own model of that name, else the built-in one (Helix's names too), else null.
const StateModel* find_state_model(const Cluster& cluster, std::string_view name);

// What is wrong with a cluster, as the path of the value meant and a sentence. A path's parts are field names, map keys and list
// indexes, as in a cluster file in which every node is written out: {"workloads", "0", "pinned", "17"}.
struct Problem {
  std::vector<std::string> path;
  std::string message;
  std::string hint;
  bool at_key = false;  // the last part's own name is what is wrong, not its value
  friend bool operator==(const Problem&, const Problem&) = default;
};
// Everything that no field can tell alone: names used twice, references to what does not exist, tables that do not fit each other,
// limits that contradict each other. At most `most` problems are returned. O(size of the value · log).
std::vector<Problem> check(const Cluster& cluster, std::size_t most = 100);

}  // namespace evenkeel
