#pragma once
// Evidence: all that was written to the store, as far as promises need it: the latest documents, and of what nodes have said the part that only grows, so
// that it can be asked whether there ever was a proof.
//
// A controller acts on what it has read, which is a little older than what is there when its write is committed. What only grows (a session that is
// over, a version that was reported) is held against it exactly; what may come and go (who serves, who is there) with `grace`.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/model/documents.h"
#include "evenkeel/model/state_model.h"
#include "evenkeel/store/session.h"

namespace evenkeel::sim::detail {

constexpr Duration grace = 15s;
constexpr Duration shunned = 10min;  // where a replica failed for good, for so long

// What one incarnation of a node has said about one shard.
struct Said {
  DataId data;
  ReplicaReport latest;
  Duration at = {};                  // of the latest
  std::map<StateId, Version> in;     // the highest version at which it said to be in a state
  std::map<StateId, Duration> left;  // when it said so last, of states that it is not in now
  std::optional<Sealed> sealed;      // the highest
  Duration sealed_at = {};
  std::optional<Duration> failed_since;
  std::optional<Duration> failed_last;  // when it said so last, whatever it says now
};

struct InView {
  Incarnation incarnation;
  Duration left = {};
};

struct ShardEvidence {
  ShardRecord record;
  ShardView view;
  std::map<Epoch, NodeId> grants;  // since the store was put back last
  std::map<NodeId, std::map<Incarnation, Said>> said;
  std::map<NodeId, InView> left_view;  // holders that were in it
  std::optional<OrderDocument> order;  // the latest
  std::optional<Duration> order_gone;  // since when it is not there any more
};

// What a workload's spec means for its shards.
struct Spec {
  std::shared_ptr<const StateModel> model;
  Workload workload;
  std::uint32_t min_active = 1;
  std::optional<StateId> lead;
  bool seals = false;
  bool deleted = false;
};

// A document, and those that were there a moment ago.
template <class T>
class Recent {
 public:
  void put(T value, Duration now) {
    forget(now);
    values_.emplace_back(now, std::move(value));
  }
  bool empty() const { return values_.empty(); }
  const T& latest() const { return values_.back().second; }
  // All that somebody may still go by.
  template <class Holds>
  bool any(Duration now, const Holds& holds) const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const bool old = i + 1 < values_.size() && values_[i + 1].first + grace < now;
      if (!old && holds(values_[i].second)) return true;
    }
    return false;
  }
  bool changed_lately(Duration now) const { return !values_.empty() && values_.back().first + grace >= now; }

 private:
  void forget(Duration now) {
    while (values_.size() > 1 && values_[1].first + grace < now) values_.erase(values_.begin());
  }
  std::vector<std::pair<Duration, T>> values_;
};

struct ReportEvidence {
  Incarnation incarnation;
  std::vector<ShardIndex> shards;
};

struct NodeEvidence {
  std::optional<LiveDocument> live;  // the latest; that it goes says nothing
  std::string last_zone;             // of one that was gone when the store was put back: where it was
  std::optional<store::Beat> beat;
  std::optional<Incarnation> incarnation;  // of the beat
  std::optional<Incarnation> inventoried;  // all that it held when it came was written, of this incarnation
  Duration beatless_since = {};
  std::map<Incarnation, Duration> over;  // since when
  std::map<Incarnation, DataId> disks;   // an incarnation has one for ever
  Recent<DataId> disk;
  Recent<NodeDocument> order;
  std::optional<PermitDocument> permit;
  Duration permit_at = {};
  std::optional<Incarnation> doubted;  // of a session that the store showed when it was put back: nobody is to believe it
  std::map<std::pair<WorkloadId, Bucket>, ReportEvidence> reports;
  std::map<Incarnation, std::uint32_t> report_documents;  // how many of these are of each
  std::map<std::pair<WorkloadId, Bucket>, Target> targets;
  std::set<ShardId> holds;                        // by the records
  std::map<ShardId, DataId> on_disk;              // it said to have data of it, and never that it had dropped it
  std::set<std::pair<ShardId, DataId>> told_off;  // it was told to drop it
  bool joined = false;
  Duration joined_since = {};
  Duration gone_since = {};
};

struct Evidence {
  std::map<NodeId, NodeEvidence> nodes;
  std::map<WorkloadId, Recent<Spec>> workloads;
  std::map<ShardId, ShardEvidence> shards;
  std::map<std::pair<WorkloadId, Bucket>, std::set<ShardIndex>> buckets;
  Recent<ConfigDocument> config;
  std::set<ShardId> copying;  // records with somebody who has not come yet
  ControllerEpoch controller;
  store::Revision controller_revision;
  std::map<std::string, store::Revision> revisions;  // of records
  Duration now = {};
  Duration steady_since = {};             // nothing has stood still since
  bool put_back = false;                  // ever
  std::optional<Duration> too_many_gone;  // since when
  std::optional<Duration> frozen_since;

  bool steady() const { return steady_since + grace <= now; }
  const NodeEvidence* node(const NodeId& name) const;
  const Recent<Spec>* workload(const WorkloadId& name) const;
  // The session is provably over.
  bool is_over(const NodeId& name, Incarnation incarnation) const;
  const Said* said(const ShardId& shard, const NodeId& node, Incarnation incarnation) const;
  // The disk that was told is known to be gone: the node has another one, or was removed.
  bool is_lost(const Holder& holder) const;
  // It said to serve, and was there, a moment ago or now.
  bool served_lately(const ShardId& shard, const NodeId& node) const;
  // It is there, and has been for so long that everybody knows.
  bool surely_there(const NodeId& name) const;
  std::uint32_t offline() const;

  // Each takes in one document.
  void take_live(const NodeId& name, LiveDocument live);
  void take_beat(const NodeId& name, std::optional<store::Entry> entry);
  void take_report(const Key& key, std::optional<Report> report);
  void take_workload(const WorkloadId& name, const WorkloadDocument& document);
  void take_config(ConfigDocument document);
  void take_order(const ShardId& shard, std::optional<OrderDocument> order);
  void take_record(const ShardId& shard, ShardRecord record);
  void take_view(const ShardId& shard, ShardView view);
  // After something that it depends on.
  void look_at(const NodeId& name);
  void look_at_calm();

 private:
  bool is_joined(NodeEvidence& node) const;
};

bool counts(const Holder& holder);
const Holder* find_holder(const ShardRecord& record, const NodeId& node);
// Who counts towards seals.
bool is_voter(const ShardRecord& record, const Holder& holder);

}  // namespace evenkeel::sim::detail
