#pragma once
// What controller, nodes and routers tell each other, as values: targets, reports and the view.
//
//   target   what one node must make true now; a level, not a message: delivered twice, late or skipped it does no harm
//   report   what is true on one node now
//   view     who serves each shard, what clients route by
//
// Everything about a shard carries its `Version`, (epoch, change): it never goes back, and whoever reads a lower one than it knows
// ignores it. Targets are numbered per node, and a report repeats the number that it has obeyed.

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
enum class Reason : std::uint8_t { first, restart, move, failover, balance, operator_asked };
// As handlers and people see it: first, restart, move, failover, balance, operator.
std::string_view name(Reason reason);

struct Peer {
  NodeId node;
  StateId state;
  friend bool operator==(const Peer&, const Peer&) = default;
};

// One replica's part of a target.
struct ReplicaTarget {
  ShardId shard;
  StateId state;  // to be in; `dropped` is the only order to delete data
  Version version;
  Reason reason = Reason::first;
  std::optional<Epoch> held_before;  // this node's data held the shard before, at that epoch
  std::vector<Peer> peers;           // with their states as of this version
  std::optional<NodeId> copy_from;
  std::string metadata;              // the workload's own
  std::optional<Duration> deadline;  // from when the target is read
  std::optional<Epoch> seal;         // refuse everything older than this epoch from now on
  friend bool operator==(const ReplicaTarget&, const ReplicaTarget&) = default;
};

struct TargetNumber {
  ControllerEpoch controller;
  std::uint64_t count = 0;
  friend auto operator<=>(const TargetNumber&, const TargetNumber&) = default;
};

struct Target {
  NodeId node;
  Incarnation incarnation;  // whom it is for: a node obeys only its own
  TargetNumber number;
  std::vector<ReplicaTarget> replicas;
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
  ShardId shard;
  StateId state;
  Version version;
  std::uint64_t progress = 0;
  std::optional<Sealed> sealed;
  std::string error;  // the handler's own words; empty: none
  Amounts load;
  std::optional<std::uint64_t> lag;
  friend bool operator==(const ReplicaReport&, const ReplicaReport&) = default;
};

struct Report {
  NodeId node;
  Incarnation incarnation;
  DataId data;
  TargetNumber obeyed;
  std::vector<ReplicaReport> replicas;
  friend bool operator==(const Report&, const Report&) = default;
};

struct ShardView {
  ShardId shard;
  Version version;
  std::optional<NodeId> leader;  // as reported at that epoch
  std::optional<NodeId> next;    // as told, not yet reported
  std::vector<Peer> others;
  friend bool operator==(const ShardView&, const ShardView&) = default;
};

}  // namespace evenkeel
