// A service of one class, and its test in a cluster of three.
#include <cstdio>
#include <map>
#include <string>

#include <evenkeel/sim/testing/fake_cluster.h>

using namespace evenkeel;

// Who may greet: one at a time for each shard.
class Greeter final : public node::ShardHandler {
 public:
  Result<> transition(const node::Transition& transition, std::stop_token) override {
    held_[transition.shard] = transition.version;
    return {};
  }
  Sealed seal(const ShardId& shard, Epoch epoch) override { return {epoch, held_[shard].epoch, 0}; }
  node::Status report(const ShardId& shard) override { return {.last = held_[shard].epoch}; }

  std::string greet(const ShardId& shard) {
    return node->may_lead(shard, held_[shard].epoch) ? "hello from " + format(shard) : "ask somebody else";
  }
  node::Node* node = nullptr;

 private:
  std::map<ShardId, Version> held_;
};

int main() {
  std::map<NodeId, Greeter> greeters;
  sim::FakeCluster cluster({.seed = 3});
  for (const char* name : {"n1", "n2", "n3"}) {
    Greeter& greeter = greeters[NodeId(name)];
    greeter.node = &cluster.add_node(NodeId(name), greeter, {.zone = std::string("z-") + name});
  }
  const ShardId shard{WorkloadId("t"), ShardIndex(0)};
  const auto created = cluster.create({.name = shard.workload, .shards = 1, .replicas = 3});
  for (int round = 0; round < 2; ++round) {
    if (!created || !cluster.run_until_settled(1min)) {
      std::printf("not settled: %s\n", cluster.why_not_settled().c_str());
      return 1;
    }
    const auto to = cluster.route().pick(shard.workload, "anything", route::Role::leader);
    int greetings = 0;
    for (auto& [name, greeter] : greeters) greetings += greeter.greet(shard).starts_with("hello") ? 1 : 0;
    if (!to || greetings != 1 || !greeters[to->node].greet(shard).starts_with("hello")) return 1;
    if (round == 0) cluster.kill(to->node);
  }
}
