#pragma once
// A bench for the machine: documents in, commits out. Whatever it writes is done at once, nodes obey at once, plans are made at once; time moves
// only when a test says so. For rules that are told one by one; random orders are the toy's.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "evenkeel/control/control.h"
#include "evenkeel/control/operate.h"

namespace evenkeel::control::test {

// The first shard of the workload that most tests have.
inline const ShardId s0{WorkloadId("t"), ShardIndex(0)};

struct BenchNode {
  NodeId name;
  Incarnation incarnation;
  DataId data;
  std::string zone;
  bool up = false;
  bool obeys = true;
  std::map<ShardId, ReplicaReport> held;
  std::set<ShardId> told;       // in this incarnation
  std::set<ShardId> fails;      // whose transitions fail for good
  bool copies_nothing = false;  // of a shard that is split off
  std::uint64_t pulses = 0;
};

class Bench {
 public:
  explicit Bench(bool restarts = false,  // after every document another controller takes over
                 Broken broken = Broken::nothing);

  MachineOptions options{.cluster = ClusterId("bench")};  // of the next controller
  ConfigDocument config;
  void configure() { put({.kind = Key::Kind::config}, config); }
  void create(Workload workload, bool deleted = false, Epoch highest = {});
  void join(const std::string& name, const std::string& zone = "", const std::function<void(LiveDocument&)>& change = {});
  void end(const std::string& name);      // its session is over
  void restart(const std::string& name);  // joins again with what it holds
  void order(const std::string& name, NodeDocument document);
  void order(const ShardId& shard, OrderDocument document);
  void ask_permit(const std::string& name, bool allow_outage = false);
  void pulse(const std::string& name, Duration every = 1s);
  // Written, seen and acted on.
  void put(const Key& key, std::optional<Document> document);
  // Everything that is due within that time happens.
  void run(Duration time = {});
  void feed(Input input);
  // Another controller takes over with what is in the store.
  void take_over();

  BenchNode& node(const std::string& name);
  ShardState shard(std::uint32_t index = 0, std::string_view workload = "t") const;
  std::string holders(std::uint32_t index = 0) const;  // "n1 n2*", the leader with a star, in order of name
  std::string why(std::uint32_t index = 0) const;
  bool said(std::string_view text) const;
  std::optional<PermitDocument> permit(const std::string& name) const;
  std::string trouble(const std::string& name) const;
  template <class T>
  std::optional<T> stored(const Key& key) const {
    const auto found = store.find(where(key));
    return found == store.end() ? std::nullopt : std::optional(std::get<T>(found->second.second));
  }

  using Where = std::tuple<Key::Kind, NodeId, WorkloadId, Bucket, ShardIndex>;
  static Where where(const Key& key) { return {key.kind, key.node, key.workload, key.bucket, key.shard}; }
  std::map<Where, std::pair<Key, Document>> store;
  std::map<std::tuple<NodeId, WorkloadId, Bucket>, Target> targets;
  struct Contents {
    decltype(store) documents;
    decltype(targets) told;
  };
  // The store is put back to how it was; the controller has noticed, and so have the nodes, which join anew.
  Contents contents() const { return {store, targets}; }
  void put_back(const Contents& contents);
  std::vector<std::string> events;
  std::vector<Commit> commits;    // all so far
  std::vector<Cluster> problems;  // all that were asked for
  std::function<place::Plan(const Cluster&)> planner;
  Instant now;
  std::unique_ptr<Machine> machine;

 private:
  void settle();
  bool obey();
  bool obey(BenchNode& node, const Target& target);
  void report(BenchNode& node, const WorkloadId& workload, Bucket bucket);
  void apply(const Commit& commit);

  const bool restarts_;
  const Broken broken_;
  bool restarting_ = false;
  bool stuck_ = false;
  ControllerEpoch epoch_;
  std::map<NodeId, BenchNode> nodes_;
  std::map<WorkloadId, std::uint32_t> buckets_;
  std::vector<Commit> pending_;
  std::vector<Put> puts_;
  std::vector<Cluster> plans_;
  Instant wake_ = Instant::max();
  std::uint64_t next_incarnation_ = 1;
};

Workload workload_of(std::uint32_t shards, std::uint32_t replicas);

// What an operator would see of it.
Snapshot snapshot_of(const Bench& bench);

}  // namespace evenkeel::control::test
