#pragma once
// A toy cluster around the machine: documents in a map, nodes that obey at once when they look, and a hand that decides who looks when. Nothing here
// waits, so that thousands of random orders of events are tried in seconds; the simulator has the real shells.
//
// What nodes hold is a log of numbered writes. A leader's write counts as acknowledged once `acks` copies have it, and must never be lost.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/control/control.h"

namespace evenkeel::control::test {

struct ToyReplica {
  StateId state{"offline"};
  Version version;
  std::optional<Sealed> sealed;
  Epoch refuses;  // what is older than this
  Epoch last;     // of the newest data
  std::vector<std::uint64_t> log;
  bool fails = false;  // its next transition fails for good
};

struct ToyNode {
  NodeId name;
  DataId data;
  Incarnation incarnation;
  bool up = false;       // the process is there
  bool session = false;  // and trusts its session
  std::string zone;
  std::map<ShardId, ToyReplica> replicas;
  std::map<std::pair<WorkloadId, Bucket>, TargetNumber> read;
  std::map<ShardId, std::vector<Peer>> peers;  // as it has read them
};

class Toy {
 public:
  Toy(std::uint64_t seed, Broken broken);

  // The operator.
  void configure(ConfigDocument config);
  void create(Workload workload);
  void add_node(const std::string& name, const std::string& zone);

  // Faults.
  void crash(ToyNode& node);         // the process is gone; its session is not yet over
  void lose_session(ToyNode& node);  // it cannot renew, and knows: it steps down by itself
  void end_session(ToyNode& node);   // proved to be over; only after one of the two above
  void join(ToyNode& node, bool new_disk);

  // One random thing happens: a document is seen, a node looks, an answer comes, time passes, a write is made.
  void act();
  // Whatever is under way comes to its end, in random order, without further faults. False: it does not settle.
  bool settle();

  // The operator gives up what was lost with disks: shards that nobody leads are led by whoever can.
  void accept_losses();

  // What is broken, in words; empty: nothing.
  std::string violation() const { return violation_; }
  // What is not as it should be after settle(): nobody leads, replicas are missing, wrong ones are there.
  std::string unsettled() const;
  std::string show() const;

  std::vector<ToyNode> nodes;
  Rng rng;
  Machine machine;
  Instant now;
  ControllerEpoch epoch;

  // The controller is replaced by a new one that reads everything; what it had under way is done or not.
  void replace_controller();
  // From now on a second machine goes along, which knows only what is in the store at this moment. Both take office anew, so that neither has an
  // advantage in what it remembers; whatever they do differently is a violation.
  void compare_with_fresh();

 private:
  using Where = std::tuple<Key::Kind, NodeId, WorkloadId, Bucket, ShardIndex>;
  static Where where(const Key& key) { return {key.kind, key.node, key.workload, key.bucket, key.shard}; }
  void put(const Key& key, std::optional<Document> document);
  void see(const Key& key);
  void feed(Input input);
  void look(ToyNode& node);
  void obey(ToyNode& node, const Target& target);
  void obey(ToyNode& node, const Target& target, const ReplicaTarget& entry);
  void report(ToyNode& node, const WorkloadId& workload, Bucket bucket);
  void apply(const Commit& commit);
  void answer(std::size_t commit);
  void write_something();
  std::string logs_of(const ShardId& shard) const;
  void copy(ToyNode& node, const ShardId& shard);
  bool bootstrap(ToyNode& node, const ShardId& shard);
  void check();
  bool acts_as_leader(const ToyNode& node, const ToyReplica& replica) const {
    return node.up && node.session && replica.state.str() == "leader";
  }
  std::uint32_t buckets(const WorkloadId& workload) const;

  std::map<Where, std::pair<Key, Document>> store_;
  std::map<Where, std::uint64_t> changed_;  // what the machine has not seen yet
  std::map<std::tuple<NodeId, WorkloadId, Bucket>, Target> targets_;
  std::vector<Commit> commits_;
  std::vector<Cluster> plans_;
  std::unique_ptr<Machine> fresh_;
  Instant wake_ = Instant::max();
  Broken broken_;
  std::string violation_;
  std::map<WorkloadId, WorkloadDocument> workloads_;
  std::map<ShardId, std::set<std::uint64_t>> acknowledged_;
  std::map<ShardId, std::map<Epoch, NodeId>> led_;  // who has led at which epoch
  std::uint64_t next_write_ = 0;
  std::uint64_t next_incarnation_ = 1;
  std::vector<std::string> history_;
};

}  // namespace evenkeel::control::test
