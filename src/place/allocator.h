#pragma once
// Allocator: places workloads one by one, for a service that creates them while it runs.
//
// `plan` looks at a whole cluster and takes its time; an allocator keeps the nodes' state between requests and answers each in
// O(log nodes) per replica. It never moves what is there, unless asked to with reallocate().
//
//   Allocator allocator(cluster);                                                   // a cluster that passed check()
//   auto reserved = allocator.allocate({.name = WorkloadId("t1"), .shards = 12, .replicas = 3, .load = {{disk, gibibyte}}});
//   if (!reserved) return log(reserved.error().detail);                             // nothing happened
//   for (std::size_t shard = 0; shard < reserved->rows().size(); ++shard)
//     for (const Spot& spot : reserved->rows()[shard]) create_replica(shard, allocator.node(spot.node).name, spot.core);
//   reserved->commit();                                                             // or let it go: then it never was
//
// A request is met whole or not at all, and a reservation that is not committed undoes itself: the state is then equal, bit by bit, to
// what it was. While it lives what it reserved is taken, so further requests see it.
//
// Which node: able (status, labels, taints), within its limits, one replica of a shard each, in fresh domains of the spread level while
// there are any (hard: only there). Nodes to avoid come last. Else the one that the request has used least for its share, then the one least full in what
// the request loads (the largest part of any resource; without load, replicas for its slots), in steps of about one such replica; ties
// end with a hash of seed, workload and shard. So a request is as level over the nodes as shares allow, what remains uneven goes to
// where there is most room, and every pair of nodes shares about equally many shards. On equal nodes alike loads stay within one
// replica of each other. Where replicas are alike (one load, no leader_load) a request is refused only if it is impossible.
//
// Which core: the one with the fewest replicas of this workload, then the fewest of all, then the lowest number; core 0 not while its
// replicas and core0_reserve outnumber those of the least loaded other core. No core holds more than replicas_per_core.
//
// Limits: a node's slots are replicas_per_core · cores - core0_reserve, and replicas_max; workloads that are `system` neither count nor
// are refused by them. In no resource does a node go above its hard limit, `used` included; one that names no capacity in a resource
// counts as the mean of those that do. power, soft limits, apart_from and close_to: power shapes shares; the others are plan's.
//
// Same cluster, seed and calls: the same rows, whatever the order of nodes. One owner, no locking; the reservations belong to the
// owner's thread too. Cost: O(nodes) to build and after a change of nodes, once per kind of request; else O(replicas · log nodes) for
// each replica, and O(cores) for its core. Nodes that are least full and yet have no room are passed over, each at log nodes.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "evenkeel/base/result.h"
#include "evenkeel/model/cluster.h"
#include "evenkeel/place/plan.h"

namespace evenkeel::place {

namespace detail {
class AllocatorState;
struct Reserved;
}  // namespace detail

// Where one replica is. A node's number is its place in the cluster that the allocator was built from; nodes added later count on, and
// no number is given twice.
struct Spot {
  NodeIndex node;
  Core core;
  friend auto operator<=>(const Spot&, const Spot&) = default;
};

// Why there is no reservation. Nothing changed.
struct NotAllocated {
  // refused: it does not fit. too_large: more than 2^27 replicas. conflict: a workload of that name is there, or was released meanwhile.
  // not_found: no such workload, shard or replica. invalid: the request contradicts itself.
  Code code = Code::refused;
  RefusalReason reason = RefusalReason::nodes;          // of refused and too_large
  std::string detail;                                   // the bound that binds: "needs 3 nodes with a free slot; 2 have one"
  bool proved = true;                                   // no placement exists; false: none was found
  std::vector<std::pair<NodeId, std::string>> nodes{};  // why not there, in order of name: "disk 96%+1% > 95%"
  friend bool operator==(const NotAllocated&, const NotAllocated&) = default;
};

// What a request reserved. Move-only; undoes itself unless committed. One that outlives its allocator does nothing.
class Reservation {
 public:
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();

  // One row for each shard of the request, in order, the leader first. Of a reallocation: one row, the shard's next.
  const Rows<Spot>& rows() const { return rows_; }
  ShardIndex first_shard() const { return first_; }  // which shard the first row is of
  const WorkloadId& workload() const { return workload_; }

  // Makes it lasting. Of a reallocation this is the end of the move: what left is free from here on. An error (conflict) only if the
  // workload was released since; then there is nothing to commit.
  Result<> commit();
  // Undoes it now instead of at the end of its life.
  void cancel();

 private:
  friend class Allocator;
  Reservation(std::weak_ptr<detail::AllocatorState> state, std::uint64_t number, WorkloadId workload, ShardIndex first,
              Rows<Spot> rows);

  std::weak_ptr<detail::AllocatorState> state_;
  std::uint64_t number_ = 0;  // 0: committed, cancelled or moved away
  WorkloadId workload_;
  ShardIndex first_;
  Rows<Spot> rows_;
};

using Allocated = tl::expected<Reservation, NotAllocated>;

// What a node holds, reservations included.
struct NodeUsage {
  NodeId name;
  Amounts load;                // of its replicas; what Evenkeel does not manage is not in it; none that is zero
  std::uint64_t replicas = 0;  // all
  std::uint64_t counted = 0;   // without those of system workloads
  std::uint64_t leaders = 0;
  std::vector<std::uint32_t> cores;  // replicas by core
  friend bool operator==(const NodeUsage&, const NodeUsage&) = default;
};

struct AllocatorOptions {
  std::uint64_t seed = 0;
  std::uint32_t reasons_max = 8;  // nodes named per refusal
};

class Allocator {
 public:
  // Takes over the cluster's nodes, workloads and placement; of workloads that are not in the placement nothing is known. Replicas
  // without a core get one. Moves in flight count at both ends, and wait in take_moving().
  explicit Allocator(const Cluster& cluster, AllocatorOptions options = {});
  ~Allocator();
  Allocator(Allocator&&) noexcept;
  Allocator& operator=(Allocator&&) noexcept;

  // A new workload. Pins are for plans, and invalid here.
  Allocated allocate(Workload request);
  // More shards for one that is there: the numbers after its present ones.
  Allocated grow(const WorkloadId& workload, std::uint32_t shards);
  // Other homes for a shard's replicas on `leaving` (those that drain, are lost, or are too full); the others stay. Both ends count until
  // the commit: keep the reservation while the move runs. If the leader leaves, a replica that stays leads, where one may.
  Allocated reallocate(const ShardId& shard, std::span<const NodeId> leaving);
  // The moves that were in flight in the cluster, each as the reservation that it would be had it begun here. Once.
  std::vector<Reservation> take_moving();

  // Gives back everything of a workload, or of one shard, whose row is empty then. Its reservations end too. not_found if it is not there.
  Result<> release(const WorkloadId& workload);
  Result<> release(const ShardId& shard);

  // A node of that name must not be there (conflict), or be there (not_found). One that holds something is not removed (conflict).
  Result<NodeIndex> add_node(Node node);
  Result<> remove_node(const NodeId& node);
  // Draining, down, labels, limits, capacity…: everything but its name. What is there stays, whether it still fits or not. Cores
  // cannot become fewer while it holds something (conflict).
  Result<> change_node(Node node);

  const Node& node(NodeIndex index) const;
  std::vector<Spot> row(const ShardId& shard) const;         // the leader first; empty if it is not there
  std::vector<ShardId> shards_on(const NodeId& node) const;  // O(replicas); committed ones, in order
  std::vector<NodeUsage> usage() const;                      // in order of name
  // The cluster as it is with everything that was committed: what the allocator was built from, and what plan() takes.
  Cluster observe() const;

 private:
  Allocated reservation(const WorkloadId& workload, tl::expected<detail::Reserved, NotAllocated> answer) const;

  std::shared_ptr<detail::AllocatorState> state_;
};

}  // namespace evenkeel::place
