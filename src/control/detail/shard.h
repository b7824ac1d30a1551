#pragma once
// One shard's step: what is known about it in, its next record out. Pure, and the only place where records change.
//
// The rules are applied in the order of `decide`, each to what the one before has left: proofs (who has provably left a bounded state),
// returns (who is back under a new incarnation), leadership, members, states. What a rule waits for it says in `why`. A record that
// comes out equal to the one that went in is not written.
//
// Safety needs nothing but the record and proofs. Everything else that comes in (placement, loads, suspicion, what may move now) only
// says what is wanted, and may be old or wrong without harm.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/control/broken.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/model/state_model.h"

namespace evenkeel::control::detail {

// What a workload's spec means for its shards.
struct Spec {
  WorkloadId name;
  const StateModel* model = nullptr;
  WorkloadControl control;
  std::uint32_t replicas = 1;
  std::uint32_t min_active = 1;
  std::uint32_t extra = 1;
  std::optional<StateId> lead;  // the state that one replica may be in
  StateId rest;                 // what the others are in: the best state that is not bounded
  bool everywhere = false;      // one for each node
  bool seals = false;           // leadership is about data: those at rest have some
  bool deleted = false;
  std::uint32_t shards = 0;      // of the workload
  std::uint32_t split_from = 0;  // so many are being split into these; 0: none
};

// What is known about a node.
struct NodeFacts {
  bool joined = false;      // it has a session that is not over, and all of its inventory is known
  Incarnation incarnation;  // of its latest session
  bool over = false;        // that session is provably over
  bool unknown = true;  // which session is its latest is not known: then `over` says that all are, by the time that has passed
  DataId data;
  bool suspect = false;        // it has not been heard of for a while
  bool may_lead = true;        // no operation or permit forbids it
  bool steady = true;          // it has not been suspect for a while
  bool stopping = false;       // it may stop at any moment now: it has been given its permit
  bool expected_back = false;  // gone, and waited for
  bool removed = false;        // by an operator: its data does not come back
  bool knows_splits = true;    // its software is new enough
  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

// How far a replica's data goes.
struct Progress {
  Epoch last;
  std::uint64_t progress = 0;
  friend auto operator<=>(const Progress&, const Progress&) = default;
};

// One node's part: what it has reported of this shard.
struct HolderFacts {
  const NodeFacts* node = nullptr;        // null: nothing is known of it
  const ReplicaReport* report = nullptr;  // of its present incarnation; null: none
  Progress progress;                      // the latest, by report or pulse
};

// What a node holds although no record says so.
struct Orphan {
  NodeId node;
  const NodeFacts* facts = nullptr;
  const ReplicaReport* report = nullptr;
  bool present = false;  // the report is of the node's present incarnation, and the node has joined
};

// Whether it is of this workload, not of an earlier one of the name, whose epochs went up to `begins_above`; and of a disk that may come back.
bool matters(const Orphan& orphan, Epoch begins_above);

// Moments that the controller remembers. Those of hand-overs that came to nothing are saved with the waits; the others a successor begins anew, which
// only makes it more patient.
constexpr Duration hand_over_pause = 30s;  // after one that failed
struct ShardTimers {
  std::optional<Instant> sealing;    // since when the present seal is open
  std::optional<Instant> handing;    // since when the present hand-over is under way
  std::optional<Instant> leaving;    // since when the present leaver is out of the view
  std::optional<Instant> given_up;   // a hand-over that failed is not tried again at once
  std::optional<Instant> timed_out;  // nor one that took too long, whoever has asked for it
  std::optional<Instant> unsplit;    // when a split came to nothing
  std::string unsplit_why;
  std::uint32_t splits_failed = 0;  // in a row: the pause before the next one doubles with each. A successor begins anew
  std::optional<Epoch> suspect;     // granted to one that is suspect, as nobody else had as much: it is not sealed for that again
  friend bool operator==(const ShardTimers&, const ShardTimers&) = default;
};

// What is throttled: copies, and openings, where there is nothing to copy.
enum class Slot : std::uint8_t { recovery, balance, opening };

// While a workload is split: the other half of a pair. Of one that is split off that is the shard it comes from, and the other way round.
struct Half {
  const ShardRecord* record = nullptr;              // as it was written last; null: there is no such pair
  std::function<HolderFacts(const NodeId&)> facts;  // of its replicas
  bool orphaned = false;                            // some node holds it, and no record knows
  bool lost = false;                                // as in ShardInput
};

struct ShardInput {
  const Spec& spec;
  const ShardRecord& record;
  const ShardView& view;                           // as it was written last
  const std::vector<NodeId>* placement = nullptr;  // another one than the record's; null: the same
  std::function<HolderFacts(const NodeId&)> facts;
  Epoch highest;       // that any report or seal of any node has named
  Epoch led;           // the highest that any node was told, or has data of
  Epoch begins_above;  // what an earlier workload of this name has reached: what is held of that is nobody's
  std::vector<Orphan> orphans;
  Half half;
  bool lost = false;               // it had data before the store lost what it had said, and was not led since
  bool past = false;               // and its record is of before that
  bool may_move = true;            // no maintenance, no freeze
  bool may_change_leaders = true;  // no freeze, or one that keeps leaders going
  const OrderDocument* order = nullptr;
  bool limits_openings = false;  // else nobody asks for one
  // Asks for a copy to that node, or an opening there; false: not now, and the shard is asked again when there may be room.
  std::function<bool(const NodeId& to, Slot slot)> take_slot;
  Instant now;
  Broken broken = Broken::nothing;
};

// What is waited for, or cannot be done: said to people.
struct Why {
  std::string what;  // "nobody leads: waits for a seal of n2 or n3"
  friend bool operator==(const Why&, const Why&) = default;
};

struct ShardOutput {
  ShardRecord record;
  ShardView view;  // to be written beside it
  std::vector<Why> why;
  bool forgets_order = false;     // the order is carried out
  Instant wake = Instant::max();  // look again then, even if nothing has happened
};

ShardOutput decide(const ShardInput& input, ShardTimers& timers);

// Of a workload that is being split: it is to be split off, and that has not been done. It has no life of its own yet. `parent` is the record of the shard
// it comes from.
bool is_unborn(const Spec& spec, const ShardRecord& record, const ShardRecord& parent);
// It is to be split, or is being split.
bool is_unsplit(const Spec& spec, const ShardRecord& record);

// The part of a node's target that follows from a record.
ReplicaTarget target_of(const Spec& spec, const ShardRecord& record, const Holder& holder);

}  // namespace evenkeel::control::detail
