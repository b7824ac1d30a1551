#pragma once
// What controller, nodes and routers tell each other, as values: records, targets, reports and the view.
//
//   record   the truth about one shard: its epoch, who holds it, and what each was told
//   target   what one node must make true now; a level, not a message: delivered twice, late or skipped it does no harm
//   report   what is true on one node now
//   view     who serves each shard, what clients route by
//
// A workload's shards are in buckets of about 32, by a hash of their number; the bucket is the unit of writing. One record document per
// bucket, and beside it, derived from it and written in the same txn, its view document and one target document for each node that holds
// something of it. Each node answers a target document by a report document of the same bucket.
//
// Everything about a shard carries its `Version`, (epoch, change): it never goes back, and whoever reads a lower one than it knows
// ignores it. A target document has a number too, and the report repeats the one that it has read: within one incarnation a node reads
// no lower one than before.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/model/cluster.h"
#include "evenkeel/model/ids.h"

namespace evenkeel {

struct Version {
  Epoch epoch;
  Change change;
  friend auto operator<=>(const Version&, const Version&) = default;
};

// Why a replica is told to change, so that its handler never has to guess.
enum class Reason : std::uint8_t { first, restart, move, failover, balance, operator_asked, split };
// As handlers and people see it: first, restart, move, failover, balance, operator, split.
std::string_view name(Reason reason);

struct TargetNumber {
  ControllerEpoch controller;
  std::uint64_t count = 0;
  friend auto operator<=>(const TargetNumber&, const TargetNumber&) = default;
};

struct Peer {
  NodeId node;
  StateId state;
  friend bool operator==(const Peer&, const Peer&) = default;
};

// 1. The truth.

// One replica, as the record knows it.
struct Holder {
  NodeId node;
  DataId data;              // of the disk that was told; another one holds nothing
  Incarnation incarnation;  // whom it was told
  StateId told;             // state to be in
  StateId may_be;           // a bounded state that it was told before and is not proved to have left; empty: none
  Version version;          // of what it was told last; a report of this version or a later one has taken it up
  Reason reason = Reason::first;
  std::optional<Epoch> held_before;  // its data held the shard when it was told, at that epoch
  std::optional<NodeId> copy_from;
  bool arrived = false;  // it has served since it was added
  bool leaving = false;  // its peers are told that it does not count any more
  friend bool operator==(const Holder&, const Holder&) = default;
};

// Leadership on its way from one that is well to another.
struct HandOver {
  NodeId from;
  NodeId to;
  friend bool operator==(const HandOver&, const HandOver&) = default;
};

// A shard stands still so that another one, which takes half of its keys, is copied from it.
struct Split {
  std::optional<NodeId> from;  // who led it, and leads on afterwards; none where nobody leads
  Version at;                  // of the change that began it: no two have the same
  std::vector<NodeId> ready;   // who has all that there is, and is to copy it on its own disk; none: that is still waited for
  friend bool operator==(const Split&, const Split&) = default;
};

struct ShardRecord {
  ShardIndex shard;
  Version version;            // of its latest change, the view's included
  Version told;               // of the latest change of what its holders are told
  bool has_data = false;      // somebody has led or served it, so that a replica without data may not lead it
  bool rebuilt = false;       // from what nodes hold, and not led since: there may be more of them than it knows
  std::optional<Epoch> seal;  // every holder is told to refuse what is older; nobody leads until enough have
  std::optional<HandOver> hand_over;
  std::optional<Split> split;
  std::uint32_t shards = 0;       // since it was split: its keys are those that are its own among so many shards; 0: it never was
  std::optional<Version> born;    // by that split of the shard it is copied from; until that one has taken it for its other half
  std::vector<NodeId> placement;  // where it should be, the preferred leader first
  std::vector<Holder> holders;    // in order of coming
  friend bool operator==(const ShardRecord&, const ShardRecord&) = default;
};

struct RecordBucket {
  WorkloadId workload;
  Bucket bucket;
  std::uint64_t spec = 0;           // a hash of what targets say about the workload, as they were written last
  std::vector<ShardRecord> shards;  // by shard
  friend bool operator==(const RecordBucket&, const RecordBucket&) = default;
};

// 2. What nodes are told, and say.

// One replica's part of a target.
struct ReplicaTarget {
  ShardIndex shard;
  StateId state;  // to be in; `dropped` is the only order to delete data
  Version version;
  Reason reason = Reason::first;
  std::optional<Epoch> held_before;  // this node's data held the shard before, at that epoch
  std::vector<Peer> peers;           // with their states as of this version; leaving ones are not among them
  std::optional<NodeId> copy_from;
  std::optional<Epoch> seal;              // refuse everything older than this epoch from now on
  std::optional<ShardIndex> parent = {};  // it is split off: its data is a copy of what this node has of that shard
  std::uint32_t shards = 0;               // as in the record: keys that are another one's among so many are refused
  friend bool operator==(const ReplicaTarget&, const ReplicaTarget&) = default;
};

struct Target {
  NodeId node;
  WorkloadId workload;
  Bucket bucket;
  Incarnation incarnation;  // whom it is for: a node obeys only its own
  TargetNumber number;
  StateModelSpec model;  // of the workload, whole, so that a node needs to read nothing else
  Fencing fencing = Fencing::session;
  Duration deadline = {};               // of each transition, from when its handler is called
  std::string metadata;                 // the workload's own
  std::vector<ReplicaTarget> replicas;  // by shard
  friend bool operator==(const Target&, const Target&) = default;
};

// How far a replica's data goes, as of its seal.
struct Sealed {
  Epoch against;  // older epochs are refused
  Epoch last;     // of the newest data it has
  std::uint64_t progress = 0;
  friend bool operator==(const Sealed&, const Sealed&) = default;
};

struct ReplicaReport {
  ShardIndex shard;
  StateId state;
  // Of the entry that it has taken up: a bounded state which that one does not give is left, and everything else is done or under way. At
  // a join: the latest that its data knows.
  Version version;
  // How far its data goes when this was written; running progress goes with the pulse. Of two replicas the one with the later `last` has what
  // counts; progress is compared only where that is equal.
  Epoch last;  // of the leader whose data it has taken last, or of its own leading
  std::uint64_t progress = 0;
  std::optional<Sealed> sealed;
  std::string error;        // the handler's own words; empty: none
  std::uint32_t tries = 0;  // failed ones of the transition that it is about
  bool gave_up = false;     // it is not tried again
  friend bool operator==(const ReplicaReport&, const ReplicaReport&) = default;
};

struct Report {
  NodeId node;
  WorkloadId workload;
  Bucket bucket;
  Incarnation incarnation;
  DataId data;
  TargetNumber obeyed;  // the document that it has read; what each of its entries has come to is said by the entries
  std::vector<ReplicaReport> replicas;  // by shard
  friend bool operator==(const Report&, const Report&) = default;
};

// What a node says over its pulse about a replica; it never goes through the store.
struct ReplicaPulse {
  ShardId shard;
  Epoch last;
  std::uint64_t progress = 0;
  std::optional<std::uint64_t> lag;
  Amounts load;
  friend bool operator==(const ReplicaPulse&, const ReplicaPulse&) = default;
};
struct Pulse {
  NodeId node;
  Incarnation incarnation;
  std::uint64_t count = 0;             // a pulse that comes late is not taken for a new one
  std::vector<ReplicaPulse> replicas;  // those that changed
  friend bool operator==(const Pulse&, const Pulse&) = default;
};

// 3. What clients route by.

struct ShardView {
  ShardIndex shard;
  Version version;
  std::optional<NodeId> leader;  // as reported at that epoch
  std::optional<NodeId> next;    // as told, not yet reported
  std::vector<Peer> others;      // that are in a state with a count, as reported
  friend bool operator==(const ShardView&, const ShardView&) = default;
};

struct ViewBucket {
  WorkloadId workload;
  Bucket bucket;
  std::uint32_t shards_in_all = 0;  // of the workload
  KeyMap key_map = KeyMap::hash;
  std::uint32_t hash_version = 1;
  std::uint32_t split_from =
      0;  // so many shards become twice as many: one that is not here yet is part of the one so many before it
  std::vector<StateId> idle;      // states with a count that hold no data (a standby): who is in one is not asked
  std::vector<ShardView> shards;  // by shard
  friend bool operator==(const ViewBucket&, const ViewBucket&) = default;
};

}  // namespace evenkeel
