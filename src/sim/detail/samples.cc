// How it is at one moment, for plots.

#include "evenkeel/sim/detail/work.h"

namespace evenkeel::sim {
namespace {

NodeSample::State state_of(const NodeHost& host) {
  const NodeProcess* process = host.main ? host.main.get() : host.twins.empty() ? nullptr : host.twins.front().get();
  if (process == nullptr) return NodeSample::State::gone;
  return process->loop->stands_still() ? NodeSample::State::still : NodeSample::State::up;
}

}  // namespace

Sample Simulation::Work::sample() const {
  Sample out{.at = elapsed()};
  std::map<NodeId, NodeSample*> by_name;
  out.nodes.reserve(hosts_.size());
  for (const auto& [name, host] : hosts_)
    by_name[name] = &out.nodes.emplace_back(NodeSample{.node = name, .state = state_of(host)});
  const auto count = [&](const NodeId& node, std::uint32_t NodeSample::*what) {
    if (const auto found = by_name.find(node); found != by_name.end()) ++(found->second->*what);
  };
  for (const auto& [name, workload] : seen_.workloads()) {
    for (std::uint32_t s = 0; s < workload.shards.size(); ++s) {
      const ShardSeen& shard = workload.shards[s];
      for (const Holder& holder : shard.record.holders) count(holder.node, &NodeSample::replicas);
      if (shard.view.leader) count(*shard.view.leader, &NodeSample::leaders);
      if (workload.lead && workload.wants(s) && (!shard.view.leader || shard.leaderless_since)) ++out.unled;
    }
  }
  return out;
}

Sample Simulation::sample() const { return work_->sample(); }

}  // namespace evenkeel::sim
