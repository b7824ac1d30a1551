#pragma once
// World: what the controller has seen, indexed so that one change finds the shards that it concerns.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evenkeel/control/detail/loads.h"
#include "evenkeel/control/detail/shard.h"
#include "evenkeel/control/machine.h"

namespace evenkeel::control::detail {

struct NodeInfo {
  NodeId name;
  std::optional<LiveDocument> live;       // of the session that its beat tells of, if that one's has been seen
  std::optional<LiveDocument> next_live;  // of a session whose beat has not been seen: it comes, or is of the past
  bool remembered = false;                // what it said of itself is kept, for when it is gone
  std::optional<BeatSeen> beat;
  NodeDocument order;
  std::optional<PermitDocument> permit;
  std::map<Incarnation, std::uint32_t> report_documents;  // how many of each incarnation
  Incarnation inventoried;                                // all that it held when it came has been seen, of this incarnation
  std::map<std::uint32_t, std::uint32_t> units;           // in which records, placements or a report name it, and how many
  NodeFacts facts;
  std::string trouble;  // why it is not taken for what it or its operator wants; empty: it is

  std::optional<Instant> beatless_since;  // it has no beat, and once had something
  Duration gone_before = {};              // waited for it already, before `gone_since`
  std::optional<Instant> gone_since;
  std::optional<Duration> waited_out;  // the longest delay that is over, and placement knows
  std::string last_zone;
  Duration permit_before = {};
  std::optional<Instant> permit_since;  // the permit was given
  bool was_on_permit = false;           // when it was looked at last
  bool granting = false;                // one is being given, and is as good as given
  bool permit_over = false;             // its time is over: it counts as lost from then on

  Duration pulse_every = {};  // 0: it does not pulse to this controller
  Incarnation pulse_incarnation;
  Instant pulsed;
  std::uint64_t pulse_count = 0;
  bool pulse_broken = false;
  bool suspected = false;               // it is missed; whether that counts is another question
  std::optional<Instant> steady_since;  // it was suspect until then
  Incarnation twin;                     // another process of its name that was told of

  std::vector<NodeLoad> loads;  // by column
  bool was_off = false;         // at the last look, by its loads

  // What it contributes to the counts of those that are gone.
  bool counted = false;
  bool counted_gone = false;
  std::string counted_zone;
  Instant wake = Instant::max();  // when it is looked at next
};

// It has been given its permit, and the time of that is not over.
bool is_on_permit(const NodeInfo& node);

struct HeldReport {
  std::uint32_t node = 0;
  Incarnation incarnation;
  ReplicaReport report;
  bool lent = false;  // by the document of another bucket
};

// What a commit that is under way changes.
struct Written {
  std::vector<ShardRecord> records;  // sorted
  std::vector<ShardView> views;
  std::uint64_t spec = 0;
  bool erases = false;
};

// What a pulse said; of another incarnation it says nothing.
struct PulsedProgress {
  Incarnation incarnation;
  Progress progress;
  friend bool operator==(const PulsedProgress&, const PulsedProgress&) = default;
};

// One bucket.
struct Unit {
  enum class Status : std::uint8_t { idle, writing, unread };
  std::uint32_t workload = 0;
  Bucket bucket;
  Status status = Status::idle;
  std::vector<ShardIndex> shards;  // sorted; the vectors below are parallel to it
  std::vector<ShardRecord> records;
  std::vector<ShardView> views;
  std::vector<ShardTimers> timers;
  std::vector<std::optional<std::vector<NodeId>>> wanted;  // a placement that is not written yet
  std::vector<std::vector<HeldReport>> reports;            // by node
  std::map<std::uint32_t, PulsedProgress> progress;        // node * shards + slot
  std::vector<ShardLoad> loads;
  std::map<ShardIndex, OrderDocument> orders;
  std::map<ShardIndex, OrderDocument> orders_done;  // with what is being written
  struct Failure {
    Instant since;
    Incarnation of;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Failure> gave_up;  // slot and node: it failed there for good
  std::vector<std::uint32_t> in_error;                                 // replicas of each slot, as counted in `errors`
  std::map<std::uint32_t, Report> report_heads;                        // by node, with those replicas only that are no shard's
  std::vector<std::vector<std::uint32_t>> named_in;  // by slot: nodes that its record or its wanted placement names
  std::set<std::uint32_t> stale_targets;             // nodes whose document says something old about the workload
  std::uint64_t spec = 0;                            // that the targets are written by, as far as is known
  std::uint64_t respecified = 0;                     // that `stale_targets` is about
  std::set<std::uint32_t> dirty;                     // slots
  std::optional<Written> pending;
  std::set<std::uint32_t> put_off;  // slots whose change can wait until the bucket is written again
  Instant rests_until;              // for these

  std::optional<std::uint32_t> slot(ShardIndex shard) const;
  // What of a slot is being written; null: nothing.
  std::pair<const ShardRecord*, const ShardView*> written(std::uint32_t slot) const;
};

struct WorkloadInfo {
  WorkloadId name;
  std::optional<WorkloadDocument> document;
  Spec spec;  // only if there is a document and its model exists
  bool usable = false;
  std::string trouble;       // why not, or what of its document is not followed
  std::uint32_t shards = 0;  // never fewer than there are records of
  Epoch highest;             // that a deleted one of this name has left behind
  std::string refusal;       // of the last plan
  std::map<ShardIndex, std::string> refusals;
  std::uint64_t hash = 0;            // of what targets say about it
  std::vector<std::uint32_t> units;  // by bucket
  std::uint32_t split_shards = 0;    // while it is split: so many, from the first, are known to be
  std::size_t last_held = 0;         // a deleted one: the bucket in which somebody held something when that was last looked at
};

constexpr Duration failed_for = 10min;  // a shard does not come again so soon to where it failed for good

class World {
 public:
  std::uint32_t node(const NodeId& name);  // made if there is none
  const NodeInfo* find_node(const NodeId& name) const;
  std::uint32_t workload(const WorkloadId& name);
  const WorkloadInfo* find_workload(const WorkloadId& name) const;
  // Any order: the map sorts.
  std::map<NodeId, std::uint32_t> nodes_by_name() const { return {node_index_.begin(), node_index_.end()}; }  // O(nodes)
  const std::map<WorkloadId, std::uint32_t>& workloads_by_name() const { return workload_index_; }
  Unit* find_unit(const WorkloadId& workload, Bucket bucket);

  // Each takes one document in, and marks what it concerns.
  void take_config(ConfigDocument document);
  void take_live(std::uint32_t node, std::optional<LiveDocument> document);
  void take_beat(std::uint32_t node, std::optional<BeatSeen> document, Instant now);
  void take_report(std::uint32_t node, const Key& key, std::optional<Report> document, Instant now);
  void take_records(const Key& key, std::optional<RecordBucket> document);
  void take_view(const Key& key, std::optional<ViewBucket> document);
  void take_workload(std::uint32_t workload, std::optional<WorkloadDocument> document);
  void take_order(const Key& key, std::optional<OrderDocument> document);

  // What follows from a node's documents; true if it means something else for its shards now.
  bool refresh(std::uint32_t node, Instant now);
  void touch_node(std::uint32_t node);
  void touch(std::uint32_t unit, std::uint32_t slot);
  void touch_unit(std::uint32_t unit);
  void touch_all();
  // While a workload is split: the unit and slot of a shard's other half, that it comes from or that comes from it.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> half_of(const Unit& unit, std::uint32_t slot) const;
  // It is to be split off, and has no life of its own yet.
  bool is_unborn(const Unit& unit, std::uint32_t slot) const;
  void touch_half(std::uint32_t unit, std::uint32_t slot);
  // The shard failed there for good, then.
  void bar(std::uint32_t unit, std::uint32_t slot, std::uint32_t node, Instant since, Incarnation of);
  // Placements that are not written yet are given up.
  void want_nothing();
  // After the records or wanted placements of a slot have changed.
  void index(std::uint32_t unit, std::uint32_t slot);

  HolderFacts facts(const Unit& unit, std::uint32_t slot, const NodeId& node) const;
  Epoch highest(const Unit& unit, std::uint32_t slot) const;
  std::vector<Orphan> orphans(const Unit& unit, std::uint32_t slot) const;
  // Nodes hold a shard that the workload does not have, and might have had.
  bool has_stray(std::uint32_t workload, ShardIndex shard) const;
  // What nodes hold of workloads that nobody knows.
  std::vector<std::tuple<ShardId, NodeId, Epoch>> strays() const;
  Epoch led(const Unit& unit, std::uint32_t slot) const;

  ConfigDocument config;
  std::vector<NodeInfo> nodes;
  std::vector<WorkloadInfo> workloads;
  std::vector<Unit> units;
  std::set<std::uint32_t> dirty_units;
  std::set<std::uint32_t> urgent_units;  // of these, where leadership may have to change
  std::multiset<Instant> bars_end;       // when shards may come again to where they failed for good
  std::set<std::uint32_t> barring;       // units with shards that may not come to some node
  std::set<std::uint32_t> nodes_touched;
  std::set<std::uint32_t> relaid;   // units whose slots or records are others than before
  std::set<std::uint32_t> deleted;  // workloads of which there may be something left
  std::uint32_t errors = 0;         // replicas in error
  bool distrusts_itself = false;    // suspicion does not count
  bool plan_due = false;            // something that placement depends on has changed
  Broken broken = Broken::nothing;

  std::vector<ResourceId> columns;                                  // resources that were measured
  std::set<std::pair<std::uint32_t, std::uint32_t>> loads_touched;  // units and slots whose load is to be measured anew

 private:
  void lay_out(std::uint32_t workload);
  void lay_out(std::uint32_t unit, std::vector<ShardIndex> shards);
  void forget_units(std::uint32_t workload);
  void take_early(std::uint32_t workload);
  void set_report(std::uint32_t unit, std::uint32_t slot, std::uint32_t node, Incarnation incarnation,
                  const ReplicaReport* replica, Instant now, bool lent = false);
  void lend(std::uint32_t workload, std::uint32_t node, const Report& head, bool counts, Instant now);
  const HeldReport* held_by(std::uint32_t unit, std::uint32_t slot, std::uint32_t node) const {
    const auto found = std::ranges::find(units[unit].reports[slot], node, &HeldReport::node);
    return found == units[unit].reports[slot].end() ? nullptr : &*found;
  }
  // Its unit, and the slot there; nothing: no shard of that number.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> place_of(std::uint32_t workload, ShardIndex shard) const {
    const WorkloadInfo& info = workloads[workload];
    if (info.units.empty()) return std::nullopt;
    const std::uint32_t unit = info.units[bucket_of({info.name, shard}, static_cast<std::uint32_t>(info.units.size())).value()];
    const auto slot = units[unit].slot(shard);
    return slot ? std::optional(std::pair(unit, *slot)) : std::nullopt;
  }
  bool is_joined(NodeInfo& node, std::string& trouble);
  void name_in(std::uint32_t node, std::uint32_t unit, bool more);
  void grow(std::uint32_t workload, std::uint32_t shards);
  Spec spec_of(const WorkloadInfo& workload, std::string& trouble) const;
  void respecify(std::uint32_t workload);

  std::unordered_map<NodeId, std::uint32_t> node_index_;
  std::map<WorkloadId, std::uint32_t> workload_index_;
  // Documents of workloads whose own has not been seen: buckets and reports wait for it here.
  std::map<std::pair<std::uint32_t, Bucket>, RecordBucket> early_records_;
  std::map<std::pair<std::uint32_t, Bucket>, ViewBucket> early_views_;
  std::map<std::tuple<std::uint32_t, Bucket, std::uint32_t>, Report> early_reports_;
  std::map<std::pair<std::uint32_t, ShardIndex>, OrderDocument> early_orders_;
};

}  // namespace evenkeel::control::detail
