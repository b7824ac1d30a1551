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
  std::uint32_t pulses_missed = 3;  // after so many a node is suspect
  Duration plan_pause =
      50ms;  // a plan is asked for so long after something has changed, so that what changes together is planned together
  Duration plan_patience = 2s;  // and so long after leadership has changed, but no later than this
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
};
// A small document of the controller's own, guarded by its epoch alone.
struct Put {
  Key key;
  std::variant<WaitsDocument, PermitDocument, WorkloadDocument> document;
};
// For people: what happened and why.
struct Event {
  enum class Kind : std::uint8_t { node, leader, seal, replica, maintenance, plan, permit, error };
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
  std::uint32_t replicas = 0;
  std::uint32_t leaders = 0;
};
struct ShardState {
  ShardRecord record;
  ShardView view;
  std::vector<std::string> why;  // what it waits for
};
struct Overview {
  bool active = false;
  ControllerEpoch epoch;
  std::optional<std::string> maintenance;  // why
  std::uint32_t offline = 0;
  std::uint32_t copies = 0;      // under way
  std::uint32_t leaderless = 0;  // shards that should have a leader and have none
  std::uint32_t below_min_active = 0;
  std::vector<ShardId> orphans;  // held by some node and known to no record; at most 100
};

class Machine {
 public:
  explicit Machine(MachineOptions options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Output step(Input input, Instant now);

  // Nothing is being written or planned, and nothing waits for its turn. O(1).
  bool at_rest() const;
  Overview overview() const;
  std::vector<NodeState> nodes(Instant now) const;  // by name
  std::optional<ShardState> explain(const ShardId& shard) const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace evenkeel::control
