#pragma once
// Random valid documents, for properties: every field is used now and then. The same seed gives the same document.

#include <string>
#include <vector>

#include "evenkeel/model/documents.h"
#include "tests/model/any_cluster.h"

namespace evenkeel {

class AnyDocuments : private AnyCluster {
 public:
  explicit AnyDocuments(std::uint64_t seed) : AnyCluster(seed) {}

  ConfigDocument config() {
    ConfigDocument out;
    make_settings(out.settings);
    if (rng_.chance(1, 2)) out.state_models.push_back(own_model());
    if (rng_.chance(1, 2)) out.freeze = Freeze{rng_.chance(1, 2), text(), maybe(&AnyDocuments::wait)};
    if (rng_.chance(1, 2)) out.maintenance = Maintenance{text(), maybe(&AnyDocuments::wait)};
    out.compact = rng_.chance(1, 2);
    return out;
  }
  NodeDocument node() {
    NodeDocument out;
    out.operation = static_cast<Operation>(rng_.below(7));
    out.swap_with = maybe(&AnyDocuments::node_id);
    out.reason = text();
    out.data = maybe(&AnyDocuments::data_id);
    out.since = maybe(&AnyDocuments::incarnation);
    out.rebalance_delay = maybe(&AnyDocuments::wait);
    out.capacity = maybe(&AnyDocuments::any_amounts);
    if (rng_.chance(1, 2)) out.power = quantity() + Quantity(1);
    out.labels = maybe(&AnyDocuments::any_labels);
    out.taints = maybe(&AnyDocuments::taints);
    for (const char* workload : {"t1", "t2"}) {
      for (std::uint32_t shard = 0; shard < 3; ++shard) {
        if (rng_.chance(1, 4)) out.disabled.push_back({WorkloadId(workload), ShardIndex(shard * 50)});
      }
    }
    return out;
  }
  // Of the workload t1.
  WorkloadDocument workload() {
    const Cluster cluster = make();
    WorkloadDocument out;
    out.spec = make_workload(cluster, 1);
    if (cluster.settings.levels.size() > 2) out.spec.spread.reset();
    for (std::size_t i = 0; i < out.spec.pinned.shards.size(); ++i) {
      auto& nodes = out.pinned[out.spec.pinned.shards[i]];
      for (const NodeIndex index : out.spec.pinned.nodes[i]) nodes.push_back(cluster.nodes[index.value()].name);
    }
    out.spec.pinned = {};
    out.buckets = 1u << rng_.below(20);
    out.deleted = rng_.chance(1, 4);
    out.highest = Epoch(number());
    if (out.spec.shards > 0 && out.spec.shards % 2 == 0 && rng_.chance(1, 2)) out.split_from = out.spec.shards / 2;
    return out;
  }
  OrderDocument order() { return {maybe(&AnyDocuments::node_id), rng_.chance(1, 2), node_ids(), node_ids(), node_ids()}; }
  // Of the node n1.
  LiveDocument live() {
    LiveDocument out{.node = NodeId("n1"), .incarnation = incarnation(), .data = data_id()};
    out.address = rng_.chance(1, 2) ? "10.0.0.1:9090" : text();
    out.version = text();
    out.reads = small(5);
    if (rng_.chance(1, 2)) out.zone = "dc1/r" + std::to_string(small(3));
    out.labels = labels();
    out.taints = taints();
    out.cores = small(64);
    out.capacity = amounts();
    out.used = amounts();
    if (rng_.chance(1, 2)) out.power = quantity() + Quantity(1);
    if (rng_.chance(1, 2)) out.state_models = {StateModelId("leader-follower"), StateModelId("own")};
    out.inventory = small(4);
    out.leaving = rng_.chance(1, 2);
    return out;
  }
  PermitDocument permit() {
    return {incarnation(), static_cast<PermitDocument::Stage>(rng_.below(4)), rng_.chance(1, 2), maybe(&AnyDocuments::wait),
            text()};
  }
  WaitsDocument waits() {
    WaitsDocument out;
    for (const NodeId& node : node_ids()) out.gone[node] = wait();
    for (const NodeId& node : node_ids()) out.permits[node] = wait();
    out.maintenance = maybe(&AnyDocuments::wait);
    out.entered = rng_.chance(1, 2);
    out.freeze = maybe(&AnyDocuments::wait);
    out.measured = rng_.chance(1, 2);
    for (const NodeId& node : node_ids()) out.steady[node] = wait();
    for (const ShardIndex shard : shards()) {
      const ShardId id{WorkloadId("t1"), shard};
      if (rng_.chance(1, 2)) out.bans.push_back({id, node_id(), wait()});
      if (rng_.chance(1, 2)) out.given_up.push_back({id, wait()});
      if (rng_.chance(1, 2)) out.timed_out.push_back({id, wait()});
    }
    if (rng_.chance(1, 2)) out.epochs_above = Epoch(rng_.below(1 << 20));
    if (rng_.chance(1, 2)) out.lost[WorkloadId("t1")] = small(1000);
    return out;
  }
  // Of the workload t1, and its bucket 3.
  RecordBucket records() {
    RecordBucket out{.workload = WorkloadId("t1"), .bucket = Bucket(3), .spec = small(1000), .shards = {}};
    for (const ShardIndex shard : shards()) out.shards.push_back(record(shard));
    return out;
  }
  ViewBucket view() {
    ViewBucket out{.workload = WorkloadId("t1"), .bucket = Bucket(3), .shards_in_all = small(1000)};
    out.key_map = rng_.chance(1, 2) ? KeyMap::hash : KeyMap::range;
    out.hash_version = small(3);
    if (rng_.chance(1, 2)) out.split_from = small(500);
    if (rng_.chance(1, 2)) out.idle.push_back(state());
    for (const ShardIndex shard : shards())
      out.shards.push_back({shard, version(), maybe(&AnyDocuments::node_id), maybe(&AnyDocuments::node_id), peers()});
    return out;
  }
  // Of the node n1 too.
  Target target() {
    Target out{.node = NodeId("n1"), .workload = WorkloadId("t1"), .bucket = Bucket(3), .incarnation = incarnation()};
    out.number = {ControllerEpoch(number()), number()};
    out.model = rng_.chance(1, 2) ? built_in_models()[rng_.below(built_in_models().size())].spec() : own_model().spec();
    if (rng_.chance(1, 2)) out.fencing = Fencing::epoch;
    out.deadline = wait();
    out.metadata = text();
    for (const ShardIndex shard : shards()) {
      out.replicas.push_back({shard, state(), version(), reason(), maybe(&AnyDocuments::epoch), peers(),
                              maybe(&AnyDocuments::node_id), maybe(&AnyDocuments::epoch), maybe(&AnyDocuments::shard_index),
                              rng_.chance(1, 2) ? small(1000) : 0});
    }
    return out;
  }
  Report report() {
    Report out{.node = NodeId("n1"), .workload = WorkloadId("t1"), .bucket = Bucket(3), .incarnation = incarnation()};
    out.data = data_id();
    out.obeyed = {ControllerEpoch(number()), number()};
    for (const ShardIndex shard : shards()) {
      ReplicaReport& replica = out.replicas.emplace_back(ReplicaReport{shard, state(), version()});
      if (rng_.chance(1, 2)) replica.progress = number();
      if (rng_.chance(1, 2)) replica.last = epoch();
      if (rng_.chance(1, 2)) replica.sealed = Sealed{epoch(), epoch(), number()};
      if (rng_.chance(1, 2)) replica.error = text();
      if (rng_.chance(1, 2)) replica.tries = small(6);
      replica.gave_up = rng_.chance(1, 4);
    }
    return out;
  }
  ControllerEpoch controller_epoch() { return ControllerEpoch(number()); }
  Pulse pulse() {
    Pulse out{.node = node_id(), .incarnation = incarnation(), .count = number(), .replicas = {}};
    for (auto i = rng_.below(5); i > 0; --i) {
      ReplicaPulse& replica = out.replicas.emplace_back();
      replica.shard = {WorkloadId("t1"), ShardIndex(small(100))};
      replica.progress = number();
      replica.last = epoch();
      if (rng_.chance(1, 2)) replica.lag = number();
      replica.load = amounts();
    }
    return out;
  }

  ShardRecord record(ShardIndex shard) {
    ShardRecord out{
        .shard = shard, .version = version(), .told = version(), .has_data = rng_.chance(1, 2), .rebuilt = rng_.chance(1, 4)};
    out.seal = maybe(&AnyDocuments::epoch);
    if (rng_.chance(1, 4)) out.hand_over = HandOver{node_id(), node_id()};
    if (rng_.chance(1, 4)) out.split = Split{maybe(&AnyDocuments::node_id), version(), node_ids()};
    if (rng_.chance(1, 4)) out.shards = small(1000);
    if (rng_.chance(1, 4)) out.born = version();
    out.placement = node_ids();
    for (const NodeId& node : node_ids()) out.holders.push_back(holder(node));
    return out;
  }

 private:
  template <class T>
  std::optional<T> maybe(T (AnyDocuments::*make_one)()) {
    return rng_.chance(1, 2) ? std::optional((this->*make_one)()) : std::nullopt;
  }
  Duration wait() { return duration(); }
  Amounts any_amounts() { return amounts(); }
  Labels any_labels() { return labels(); }
  std::vector<Taint> taints() {
    if (rng_.chance(1, 2)) return {};
    return {{"dedicated", "db", Taint::Effect::refuse}, {"app.io/slow", "", Taint::Effect::avoid}};
  }
  NodeId node_id() { return NodeId(fmt::format("n{}.eu-west:9090", rng_.below(100))); }
  std::vector<NodeId> node_ids() {
    std::vector<NodeId> out;
    for (auto i = rng_.below(4); i > 0; --i) out.push_back(node_id());
    return out;
  }
  DataId data_id() { return DataId(fmt::format("{:016x}", rng_.next())); }
  Incarnation incarnation() { return Incarnation(number()); }
  Epoch epoch() { return Epoch(number()); }
  ShardIndex shard_index() { return ShardIndex(small(1000)); }
  Version version() { return {epoch(), Change(number())}; }
  Reason reason() { return static_cast<Reason>(rng_.below(7)); }
  StateId state() {
    static constexpr const char* states[] = {"leader", "follower", "offline", "error", "dropped"};
    return StateId(states[rng_.below(std::size(states))]);
  }
  std::vector<Peer> peers() {
    std::vector<Peer> out;
    for (const NodeId& node : node_ids()) out.push_back({node, state()});
    return out;
  }
  // Some, rising.
  std::vector<ShardIndex> shards() {
    std::vector<ShardIndex> out;
    for (std::uint32_t shard = small(40); shard < 200 && out.size() < 8; shard += 1 + small(40)) out.emplace_back(shard);
    return out;
  }
  Holder holder(const NodeId& node) {
    Holder out{.node = node};
    if (rng_.chance(3, 4)) out.data = data_id();
    if (rng_.chance(3, 4)) out.incarnation = incarnation();
    out.told = state();
    if (rng_.chance(1, 4)) out.may_be = StateId("leader");
    out.version = version();
    out.reason = reason();
    out.held_before = maybe(&AnyDocuments::epoch);
    out.copy_from = maybe(&AnyDocuments::node_id);
    out.arrived = rng_.chance(1, 2);
    out.leaving = rng_.chance(1, 8);
    return out;
  }
};

}  // namespace evenkeel
