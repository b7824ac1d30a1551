#pragma once
// FakeCluster: a whole cluster in one thread on virtual time, for a service's own tests. Link Evenkeel::testing.
//
//   Pages one, two, three;                                          // the service's ShardHandler
//   FakeCluster cluster({.settings = {.control = {.rebalance_delay = 1min}}});
//   cluster.add_node(NodeId("n1"), one, {.zone = "z1"});
//   cluster.add_node(NodeId("n2"), two, {.zone = "z2"});
//   cluster.add_node(NodeId("n3"), three, {.zone = "z3"});
//   cluster.create({.name = WorkloadId("t"), .shards = 4, .replicas = 3});
//   ASSERT_TRUE(cluster.run_until_settled(1min)) << cluster.why_not_settled();
//   cluster.kill(NodeId("n1"));
//   ASSERT_TRUE(cluster.run_until_settled(1min)) << cluster.why_not_settled();
//   cluster.route().pick(WorkloadId("t"), "user-17", route::Role::leader);
//
// Controllers, the node library and the router are the real ones, over the memory store; nothing is mocked but time and the network. A day passes in
// moments, and the same calls give the same run. The service's handlers are called on the one thread: a transition runs when it is started, to its
// end, and its answer comes `transition` later. So a handler must not wait for anything that another node does; it is never called twice at once.
//
// A node here is a process: add_node starts it, kill ends it without a word, start begins it anew with what its handler's inventory() says. The Node
// that they return is what Node::join gives: pass it to the service, which asks it may_lead(). It stays valid after a kill, and says no then.
//
// One thread. The handlers outlive the cluster, or their node's kill. Time passes only in run_… and, by a few milliseconds, where documents are written;
// none of these may be called by a handler.
// Cost: an idle node costs its beats; a simulated minute of ten nodes takes some milliseconds.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/control/control.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/node/node.h"
#include "evenkeel/route/shell/router.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::sim {

struct FakeOptions {
  ClusterId cluster{"fake"};
  Settings settings;
  std::vector<StateModel> state_models;  // beside the built-in ones
  std::uint64_t seed = 0;
  std::uint32_t controllers = 1;  // one acts, the others stand by
  Duration network = 1ms;         // one way, at most
  Duration transition = 1ms;      // from a transition's start to its answer
  bool pulses = true;  // progress and loads between reports; and that a process died is noticed before its session is over
};

enum class Disk : std::uint8_t { same, empty };

struct Led {
  NodeId node;
  Epoch epoch;
  friend bool operator==(const Led&, const Led&) = default;
};

class FakeCluster {
 public:
  explicit FakeCluster(FakeOptions options = {});
  ~FakeCluster();
  FakeCluster(const FakeCluster&) = delete;
  FakeCluster& operator=(const FakeCluster&) = delete;

  // Nodes. Of the options, store, data, threads and broker are not used; cluster and name are filled in; an address is made up where none is given, and
  // a session_ttl that is not set is that of the settings. A node that cannot step down in time is gone, as its process would be (on_stuck).
  node::Node& add_node(const NodeId& name, node::ShardHandler& handler, node::NodeOptions options = {});
  // Its process is gone at once; its session ends in its time.
  void kill(const NodeId& name);
  // After a kill or a leave. With an empty disk it holds nothing, whatever its inventory says, and the cluster knows it for another one.
  node::Node& start(const NodeId& name, node::ShardHandler& handler, Disk disk = Disk::same);
  // Permit, leaders away, replicas offline, goodbye; then the process is over. An error says what was not finished.
  Result<> leave(const NodeId& name, Duration timeout);
  // Nothing passes between it and the store, nor its pulses, until it is healed.
  void cut_off(const NodeId& name);
  void heal(const NodeId& name);
  bool running(const NodeId& name) const;
  // The process that runs under the name, or ran last.
  node::Node& node(const NodeId& name);

  // What operators write; each returns when it is written. An error says what is wrong with it.
  Result<> create(Workload workload);
  Result<> erase(const WorkloadId& workload);  // its replicas are dropped
  Result<> configure(const ConfigDocument& config);
  Result<> operate(const NodeId& node, const NodeDocument& document);  // drain, cordon, swap, …
  Result<> order(const ShardId& shard, const OrderDocument& order);    // lead there, reset, …
  // The controller that acts dies, and begins anew; another one takes over, if there is one.
  void restart_controller();

  Instant now() const;
  void run_for(Duration time);
  // Runs until it holds, looking after every event, at most so long. False: it did not.
  bool run_until(const std::function<bool()>& good, Duration most);
  // Until the cluster has been settled for a second.
  bool run_until_settled(Duration most);

  // Every node that runs has joined and done what it was told; every shard is placed, is on all nodes of its placement that run and on no others that
  // do, served there, and led, by the preferred one if that runs. What a node holds that does not run counts as in its place while it is waited for.
  bool settled() const { return why_not_settled().empty(); }
  std::string why_not_settled() const;  // the first reason

  // Whether that node's process may lead, now: what it is told itself.
  bool may_lead(const NodeId& node, const ShardId& shard, Epoch epoch) const;
  // Who leads, as routers know it, if it may at that epoch.
  std::optional<Led> leader(const ShardId& shard) const;
  // In which state a replica is, by its node; nothing: it has none there, or does not run.
  std::optional<StateId> state(const NodeId& node, const ShardId& shard) const;

  const route::Router& route() const;
  void on_event(std::function<void(const control::Event&)> handler);  // what the controller says that happens
  const control::Machine* controller() const;                         // of the one that acts; null: none does
  VirtualLoop& loop();
  store::World& store();  // for faults, and to look into

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace evenkeel::sim
