#pragma once
// Seen: what the store says about the shards, kept up to date with every commit: which of them are settled, and how calm it all was.
//
// Cost: a commit costs the documents in it.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evenkeel/model/documents.h"
#include "evenkeel/sim/simulation.h"
#include "evenkeel/store/store.h"

namespace evenkeel::sim {

struct ShardSeen {
  ShardRecord record;
  ShardView view;
  bool settled = false;
  bool was_led = false;
  std::optional<Epoch> silent;  // the leader of that epoch does not run, whatever the view says
  std::optional<Duration> leaderless_since;
  std::map<NodeId, Duration> dropped;  // when it was dropped there
};

struct WorkloadSeen {
  WorkloadId name;
  WorkloadDocument document;
  std::optional<StateId> lead;
  std::vector<ShardSeen> shards;
  std::vector<std::vector<std::uint32_t>> buckets;  // shards of each

  bool wants(std::uint32_t shard) const { return !document.deleted && shard < document.spec.shards; }
};

class Seen {
 public:
  explicit Seen(const Keys& keys) : keys_(keys) {}

  void take(const store::Txn& txn, const store::Committed& done, Duration now);
  // Everything anew: the store is not what it was.
  void take(const store::Listing& listing, Duration now);
  // A node's processes are gone or stand still; or they go on as if nothing had been.
  void set_silent(const NodeId& node, bool silent, Duration now);

  const std::map<WorkloadId, WorkloadSeen>& workloads() const { return workloads_; }
  const ShardSeen* find(const ShardId& shard) const;
  const StateModel* model(const WorkloadSeen& workload) const;  // null: there is none
  // The latest that a node said of itself, also if it is gone.
  std::optional<LiveDocument> last_live(const NodeId& node) const;
  bool settled() const { return unsettled_ == 0; }
  std::vector<std::string> why_unsettled(std::size_t most) const;
  Calm calm(Duration now) const;
  std::uint64_t commits() const { return commits_; }

 private:
  void take(const std::string& key, const std::string* value, Duration now);
  void take_workload(const Key& key, const std::string* value, Duration now);
  void take_config(const std::string* value, Duration now);
  void take_records(const Key& key, const std::string* value, Duration now);
  void take_view(const Key& key, const std::string* value, Duration now);
  void take_record(WorkloadSeen& workload, ShardSeen& shard, ShardRecord record, Duration now);
  void lay_out(WorkloadSeen& workload, Duration now);
  void judge(WorkloadSeen& workload, std::uint32_t shard, Duration now);
  void judge_all(WorkloadSeen& workload, Duration now);
  std::string why_unsettled(const WorkloadSeen& workload, std::uint32_t shard) const;
  void set_there(const NodeId& node, bool there, Duration now);
  void judge_leader(WorkloadSeen& workload, std::uint32_t shard, Duration now);
  void end_leaderless(ShardSeen& shard, Duration now);

  const Keys& keys_;
  std::vector<StateModel> models_;
  std::map<WorkloadId, WorkloadSeen> workloads_;
  std::map<NodeId, LiveDocument> lives_;
  std::set<NodeId> there_;                        // those whose document is there now
  std::map<NodeId, std::set<ShardId>> dropping_;  // what may still have to be dropped by a node
  std::uint64_t unsettled_ = 0;
  std::optional<Duration> unsettled_since_;
  std::uint64_t commits_ = 0;
  Calm calm_;
};

}  // namespace evenkeel::sim
