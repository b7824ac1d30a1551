#pragma once
// Machine: the controller's core, a step machine fed with what was seen, and with the time.
//
//   Machine machine({.cluster = ClusterId("pages")});
//   machine.step(Saw{key, document}, now);            // as a standby: it only takes notice
//   machine.step(Elected{ControllerEpoch(7)}, now);   // from now on it decides
//   Output out = machine.step(Saw{…}, now);
//   for (const Commit& commit : out.commits) …        // one txn each; the outcome comes back as Answered
//   if (out.plan) machine.step(Planned{place::plan(*out.plan)}, now);
//
// A bucket of shards is the unit of writing: its record, its view and its targets change together, by one txn at a time, and while that is under
// way the bucket rests. Buckets do not wait for each other. A txn of unknown outcome leaves its bucket at rest until its record is seen again.
//
// One input touches only the shards that it concerns. Fed with the same documents in any order that keeps each document's own, a machine ends at the
// same records; a new one fed with the whole snapshot goes on where the old one was.
// Pure; one thread. Cost: O(replicas) a shard touched; a plan (place) is asked for, never made here.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/control/broken.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/place/plan.h"

namespace evenkeel::control {

struct MachineOptions {
  ClusterId cluster;
  std::uint32_t commits_max = 64;   // txns under way at once; those that change leadership come first
  Duration waits_saved = 10s;       // how often waits are written down
  Duration put_again = 1s;          // a small document that was put and is not seen is put again
  std::uint32_t pulses_missed = 3;  // after so many a node is suspect
  // Grants are above this: what the store said before it was put back to an older state may be in force somewhere.
  Epoch epochs_above;
  // So many shards of these workloads had data then: one without a record does not begin anew before somebody says so.
  std::map<WorkloadId, std::uint32_t> lost;
  Duration plan_pause =
      50ms;  // a plan is asked for so long after something has changed, so that what changes together is planned together
  Duration plan_rest =
      200ms;  // and so long after leadership has changed: one fail-over is several rounds, each of which nodes have to answer
  Duration plan_patience = 2s;  // but no later than this
  // A bucket that was written so short ago is not written again for what can wait: who has come, and all about shards that never had a leader. A
  // thousand shards that come at once are then written a few times and not a hundred thousand times. 0: nothing waits.
  Duration gather = {};
  Broken broken = Broken::nothing;
};

// Inputs.

struct BeatSeen {
  Incarnation incarnation;
  Duration ttl = 10s;
  bool ended = false;
  friend bool operator==(const BeatSeen&, const BeatSeen&) = default;
};
using Document = std::variant<ConfigDocument, NodeDocument, WorkloadDocument, LiveDocument, BeatSeen, Report, RecordBucket,
                              ViewBucket, WaitsDocument, PermitDocument, OrderDocument>;
struct Saw {
  Key key;
  std::optional<Document> document;  // nothing: it is gone
};
struct Elected {
  ControllerEpoch epoch;
};
struct Deposed {};
struct Answered {
  enum class Outcome : std::uint8_t {
    done,
    moved,    // the record is not the one that was read: it is seen anew before this
    unknown,  // it is read again; until that is seen the bucket rests
  };
  WorkloadId workload;
  Bucket bucket;
  Outcome outcome = Outcome::done;
};
struct Planned {
  place::Plan plan;
};
struct Pulsed {
  Pulse pulse;
  Duration every = {};  // how often the node pulses
};
struct PulseBroken {  // its connection broke
  NodeId node;
};
struct Tick {};
using Input = std::variant<Saw, Elected, Deposed, Answered, Planned, Pulsed, PulseBroken, Tick>;

// Effects.

struct Commit {
  RecordBucket records;
  ViewBucket view;
  std::vector<Target> targets;     // documents that change, whole
  std::vector<NodeId> untargeted;  // nodes whose target document of this bucket goes
  std::vector<ShardIndex> orders;  // that are carried out by it, and go
  bool urgent = false;
  bool erases = false;  // of a deleted workload: records and view go
};
// A small document. All but waits, which are the controller's own, are written only if they are still as they were seen; what is not seen to be
// done is put again.
struct Erased {
  friend bool operator==(const Erased&, const Erased&) = default;
};
struct Put {
  Key key;
  std::variant<WaitsDocument, PermitDocument, WorkloadDocument, NodeDocument, Erased> document;
};
// For people: what happened and why.
struct Event {
  enum class Kind : std::uint8_t { node, leader, seal, replica, maintenance, plan, permit, error, workload };
  Kind kind = Kind::node;
  std::optional<ShardId> shard;
  std::optional<NodeId> node;
  std::string text;
};

struct Output {
  std::vector<Commit> commits;
  std::vector<Put> puts;
  std::vector<Event> events;
  std::optional<Cluster> plan;  // to be planned; the answer is Planned. Only one is asked for at a time
  Instant wake = Instant::max();
};

// What people ask.
struct NodeState {
  NodeId node;
  bool joined = false;
  bool suspect = false;
  std::optional<Duration> gone;  // for how long
  Operation operation = Operation::none;
  std::string trouble;         // why it is not taken for what it, or its operator, wants
  std::uint32_t replicas = 0;  // that it is told to have
  std::uint32_t leaders = 0;   // that the view shows as such
};
struct WorkloadState {
  WorkloadId workload;
  std::string state_model;
  std::uint32_t shards = 0;
  std::uint32_t replicas = 0;  // of a shard
  bool deleted = false;        // its replicas are being dropped
  std::string trouble;         // what of its document is not followed, and why
  std::uint32_t leaderless = 0;
  std::uint32_t below_min_active = 0;
};
struct ShardState {
  ShardRecord record;
  ShardView view;
  std::vector<std::string> why;  // what it waits for
};
// Held by a node, and known to no record.
struct OrphanState {
  ShardId shard;
  NodeId node;
  Epoch epoch;  // that it has named
  friend bool operator==(const OrphanState&, const OrphanState&) = default;
};
// Whether nodes could stop now, all of them together.
struct Stoppable {
  struct Node {
    NodeId node;
    std::vector<std::string> why_not;  // in the words of permits; the first ten, and how many more there are. Empty: it could
  };
  bool all = true;
  std::vector<Node> nodes;  // by name, each once
};
// Shards with a replica that would be placed, moved or dropped if the cluster were not in maintenance or frozen: as far as that is known without a plan,
// which is not made then. What it would move to level the load is not counted.
struct HeldBack {
  std::uint32_t placed = 0;
  std::uint32_t moved = 0;
  std::uint32_t dropped = 0;
  friend bool operator==(const HeldBack&, const HeldBack&) = default;
};
struct Overview {
  bool active = false;
  ControllerEpoch epoch;
  std::optional<std::string> maintenance;   // why
  std::optional<Duration> maintenance_for;  // how long it is in it
  std::optional<std::string> freeze;        // why
  std::optional<HeldBack> held_back;        // by these
  std::uint32_t offline = 0;
  std::uint32_t copies = 0;      // under way
  std::uint32_t openings = 0;    // under way; counted only where they are limited
  std::uint32_t leaderless = 0;  // shards that should have a leader and have none
  std::uint32_t below_min_active = 0;
  std::uint32_t errors = 0;          // replicas that have failed
  std::vector<OrphanState> orphans;  // by shard and node; at most 1000
};

class Machine {
 public:
  explicit Machine(MachineOptions options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Output step(Input input, Instant now);
  // Several that came together: what they ask for is decided once.
  Output step(std::vector<Input> inputs, Instant now);

  // Nothing is being written or planned, and nothing waits for its turn. O(1).
  bool at_rest() const;
  // Of all that it has seen. O(shards).
  Epoch highest_epoch() const;
  // Up to which shard each workload has data, of those that have some. O(shards).
  std::map<WorkloadId, std::uint32_t> with_data() const;
  Overview overview() const;
  std::vector<NodeState> nodes(Instant now) const;  // by name
  std::vector<WorkloadState> workloads() const;     // by name. O(shards)
  std::optional<ShardState> explain(const ShardId& shard) const;
  // Beside those that have a permit. Nothing is given or promised: who wants to stop asks for one. O(shards of these nodes).
  Stoppable stoppable(const std::vector<NodeId>& nodes) const;
  std::optional<ShardView> view(const ShardId& shard) const;
  // Whether that process is the one that counts under its name: what it pulses is taken.
  bool knows(const NodeId& node, Incarnation incarnation) const;
  bool knows(const WorkloadId& workload) const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace evenkeel::control
