#pragma once
// Ledger: what the simulated services did, and whether they were ever allowed to: the checker of what a service may rely on.
//
// Services tell it when they begin and end to lead, accept and acknowledge a write; it says at once what must never be:
//   - two nodes lead a shard at one epoch
//   - a write is acknowledged at an older epoch than another node has begun to lead at
//   - whoever begins to lead lacks an acknowledged write (acks of 2 or more; not where the loss was forgiven)
//   - a shard that is split off begins to lead without a write that the other one had acknowledged by then, or that one takes a key which is not its own any more
//   - fencing: session: two nodes act as leaders of a shard at the same moment
// It sees all hosts at once, as nobody in the cluster can. With `fencing: epoch` an old leader may still hear that enough have a write when another leads
// already: that is right if the other one began with that write.
// One thread.
// Cost: O(1) and a look-up of the shard for each call, O(runs of the log) where a node begins to lead.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/model/cluster.h"
#include "evenkeel/sim/shard_map.h"
#include "evenkeel/sim/write_log.h"

namespace evenkeel::sim {

// A process that may lead shards: asked whether it would take a write right now.
class Acting {
 public:
  virtual ~Acting() = default;
  virtual bool acts(const ShardId& shard, Epoch epoch) const = 0;
};

class Ledger {
 public:
  struct Promise {  // of the shard's workload
    std::uint32_t acks = 0;
    Fencing fencing = Fencing::session;
  };
  void began(const ShardId& shard, Epoch epoch, const NodeId& node, const Acting& who, const WriteLog& log, Promise promise);
  void accepted(const ShardId& shard, Epoch epoch, const NodeId& node, const Acting& who);
  // Whoever leads it knows that its keys are its own among so many shards; 0: it was never split.
  void is_one_of(const ShardId& shard, std::uint32_t shards);
  // A write that was accepted is of a key whose shard, when all are split, is this one.
  void keyed(const ShardId& shard, ShardIndex key);
  // All up to this position: an acknowledged write vouches for those before it.
  void acknowledged(const ShardId& shard, const WriteLog& log, std::uint64_t position, Epoch epoch, const NodeId& node);
  // `who` is not asked about it any more.
  void stopped(const ShardId& shard, Epoch epoch, const Acting& who);

  // What was acknowledged so far may be lost: an operator accepted it, or more disks are gone than acks can make up for. The next leader's log is what
  // counts from then on.
  void forgive(const ShardId& shard);
  void forgive_all();
  // The shards of a workload that was deleted are forgotten, but for their epochs.
  void forget(const WorkloadId& workload);

  // The first that was found: "acknowledged write lost: t/3 epoch 4 position 17: n2 leads at 5 with 16".
  const std::optional<std::string>& violation() const { return violation_; }

  std::uint64_t writes_accepted() const { return accepted_; }
  std::uint64_t writes_acknowledged() const { return acknowledged_; }
  std::uint64_t grants() const { return grants_; }  // times that somebody began to lead
  // Who leads it now, by its own word; nothing: nobody. Of several the one with the highest epoch.
  std::optional<NodeId> leader(const ShardId& shard) const;
  const WriteLog& acknowledged_log(const ShardId& shard) const;

 private:
  struct Leader {
    Epoch epoch;
    NodeId node;
    const Acting* who = nullptr;
  };
  struct Shard {
    Promise promise;
    std::vector<std::pair<Epoch, NodeId>> led;  // who has begun to lead: the last few, in order of epochs
    WriteLog start;                             // with which the highest of them began
    std::vector<Leader> leaders;                // that have begun and not stopped
    WriteLog acknowledged;
    bool forgiven = false;
    bool begun = false;        // somebody has led it, in this life of its workload
    std::uint32_t shards = 0;  // as its leaders know
  };
  void say(std::string what);
  void check_alone(const ShardId& shard, const Shard& state, Epoch epoch, const NodeId& node, const Acting& who);
  void check_log(const ShardId& shard, Shard& state, Epoch epoch, const NodeId& node, const WriteLog& log);

  ShardMap<Shard> shards_;
  std::optional<std::string> violation_;
  std::uint64_t accepted_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t grants_ = 0;
};

}  // namespace evenkeel::sim
