#pragma once
// What an allocator remembers: its nodes, what is placed, what is reserved, and views of the nodes for the kinds of requests seen lately.
// Views follow from the rest: they are never part of an answer.

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evenkeel/place/allocator.h"
#include "evenkeel/place/detail/allocator_nodes.h"
#include "evenkeel/place/detail/allocator_view.h"

namespace evenkeel::place::detail {

// Rows of spots that change: flat, with room for the longest row in each.
class SpotTable {
 public:
  std::size_t size() const { return lengths_.size(); }
  std::span<const Spot> operator[](std::size_t row) const { return std::span(spots_).subspan(row * stride_, lengths_[row]); }
  void push_back(std::span<const Spot> row);
  void set(std::size_t row, std::span<const Spot> spots);

 private:
  void widen(std::size_t stride);
  std::size_t stride_ = 0;
  std::vector<Spot> spots_;
  std::vector<std::uint32_t> lengths_;
};

// How many replicas of one workload are on each core. Asked by node, never walked through.
class OwnCores {
 public:
  // By core; shorter than the node has cores where the rest holds none.
  std::span<const std::uint32_t> on(NodeIndex node) const;
  void add(Spot spot, int times);

 private:
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> cores_by_node_;
};

// A workload's loads by resource numbers.
struct Loads {
  Load load;                           // of a replica without a load of its own
  Load leader;                         // on top
  std::vector<std::uint32_t> columns;  // of shard_loads

  Load of(const Workload& workload, ShardIndex shard) const;
};

struct Held {
  Workload spec;
  Loads loads;
  SpotTable rows;
  std::optional<OwnCores> own;  // made when first asked for; reservations included
};

// What is reserved and not yet committed.
struct Pending {
  enum class Kind : std::uint8_t { allocate, grow, move };
  Kind kind = Kind::allocate;
  WorkloadId workload;
  ShardIndex first;  // of the rows, or the shard that moves
  Held made;         // allocate: the whole; grow: spec and loads, and the new rows
  // Of a move. Leadership that changes counts at both ends.
  std::vector<Spot> coming;
  std::vector<Spot> leaving;
  std::optional<NodeIndex> old_leader;  // only if it changes
  std::optional<NodeIndex> new_leader;
};

// The answer to a request that was met.
struct Reserved {
  std::uint64_t number = 0;
  ShardIndex first;
  Rows<Spot> rows;
};

class AllocatorState {
 public:
  AllocatorState(const Cluster& cluster, AllocatorOptions options);

  using Answer = tl::expected<Reserved, NotAllocated>;
  Answer allocate(Workload request);
  Answer grow(const WorkloadId& workload, std::uint32_t shards);
  Answer reallocate(const ShardId& shard, std::span<const NodeId> leaving);
  std::vector<std::uint64_t> take_moving() { return std::exchange(moving_, {}); }
  std::optional<Reserved> reserved(std::uint64_t number) const;  // nothing: it was released
  WorkloadId workload_of(std::uint64_t number) const { return pending_.at(number).workload; }

  Result<> commit(std::uint64_t number);
  void undo(std::uint64_t number);
  Result<> release(const WorkloadId& workload);
  Result<> release(const ShardId& shard);

  Result<NodeIndex> add_node(Node node);
  Result<> remove_node(const NodeId& node);
  Result<> change_node(Node node);

  const AllocatorNodes& nodes() const { return nodes_; }
  std::vector<Spot> row(const ShardId& shard) const;
  std::vector<ShardId> shards_on(const NodeId& node) const;
  Cluster observe() const;

 private:
  friend class Placing;
  static constexpr std::size_t views_max = 8;

  void take_over(const Cluster& cluster);
  void take_over_moving(const Moving& moving);
  Loads numbered(const Workload& workload);
  View& view_for(const Workload& workload, const Loads& loads);
  void forget_views() { views_.clear(); }
  void follow();  // views learn what changed on the nodes touched
  void add_replica(Spot spot, const Load& load, bool system, int times);
  void add_leader(NodeIndex node, const Load& leader_load, int times);
  void take_row(const Workload& spec, const Loads& loads, ShardIndex shard, std::span<const Spot> row, int times);
  OwnCores& own_cores(Held& held);
  Answer place(Pending pending, std::uint32_t shards, OwnCores& own);
  std::optional<NotAllocated> why_invalid(const Workload& request) const;
  std::vector<Spot> next_row(std::span<const Spot> row, const Pending& move) const;
  std::uint64_t add_pending(Pending pending);
  Pending take_pending(std::map<std::uint64_t, Pending>::iterator found);
  bool is_pending(const WorkloadId& workload, Pending::Kind kind, ShardIndex shard = {}) const;
  void end_pendings(const WorkloadId& workload, std::optional<ShardIndex> shard);
  void finish_move(const Pending& move);
  // One end of a move: what is there of the shard, and of its leadership, is there no longer.
  void end_side(Held& held, ShardIndex shard, std::span<const Spot> spots, std::optional<NodeIndex> leader);

  ClusterId name_;
  std::vector<StateModel> state_models_;
  std::vector<Recent> recent_;
  AllocatorOptions options_;
  AllocatorNodes nodes_;
  std::map<WorkloadId, Held> held_;
  std::map<WorkloadId, std::uint64_t> arrivals_;  // which came first, as the cluster lists them
  std::map<WorkloadId, Workload> unplaced_;       // named by the cluster, and not in its placement
  std::map<std::uint64_t, Pending> pending_;
  std::set<std::tuple<WorkloadId, Pending::Kind, ShardIndex, std::uint64_t>>
      pending_of_;                     // the same, to be found by what they are of
  std::uint64_t last_number_ = 0;      // of reservations and arrivals
  std::vector<std::uint64_t> moving_;  // pendings of the cluster's moves in flight
  std::list<View> views_;              // the latest used first
  std::vector<NodeIndex> touched_;
};

}  // namespace evenkeel::place::detail
