#include "bench/greedy.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/base/result.h"

namespace evenkeel::bench {

namespace {

class Greedy {
 public:
  explicit Greedy(Cluster& cluster) : cluster_(cluster) {
    for (const auto& [resource, capacity] : cluster.nodes[0].capacity) resources_.push_back(resource);
    std::map<std::string, std::uint32_t> zones;
    for (const Node& node : cluster.nodes) {
      const auto [zone, made] = zones.try_emplace(node.zone.substr(0, node.zone.find('/')), zones.size());
      zone_.push_back(zone->second);
      for (const ResourceId& resource : resources_) capacity_.push_back(node.capacity.at(resource).to_double());
    }
    zones_ = zones.size();
    usage_.resize(capacity_.size());
    fullness_.resize(cluster.nodes.size());
  }

  void place(const Workload& workload) {
    find_able(workload);
    const std::vector<double> loads = loads_of(workload);
    std::vector<double> lead(resources_.size());
    for (std::size_t i = 0; i < resources_.size(); ++i)
      if (const auto load = workload.leader_load.find(resources_[i]); load != workload.leader_load.end())
        lead[i] = load->second.to_double();
    std::vector<NodeIndex> cells(workload.shards * workload.replicas);
    for (const std::uint32_t shard : by_falling_load(loads)) {
      for (std::uint32_t r = 0; r < workload.replicas; ++r) {
        const std::span<const NodeIndex> taken(cells.data() + shard * workload.replicas, r);
        const std::uint32_t node = choose(taken);
        add(node, loads.data() + shard * resources_.size());
        if (r == 0) add(node, lead.data());
        sink(zone_[node]);
        cells[shard * workload.replicas + r] = NodeIndex(node);
      }
    }
    Placement& rows = cluster_.placement[workload.name];
    for (std::uint32_t shard = 0; shard < workload.shards; ++shard)
      rows.push_back(std::span(cells).subspan(shard * workload.replicas, workload.replicas));
  }

 private:
  auto fuller() const {
    return [this](std::uint32_t a, std::uint32_t b) { return std::pair(fullness_[a], a) > std::pair(fullness_[b], b); };
  }

  // A heap for each zone, the least full node on top. Its key is kept up to date only for the top: no other node's changes.
  void find_able(const Workload& workload) {
    heaps_.assign(zones_, {});
    for (std::uint32_t node = 0; node < cluster_.nodes.size(); ++node) {
      const Labels& labels = cluster_.nodes[node].labels;
      const bool able = std::ranges::all_of(workload.require, [&](const auto& needed) {
        const auto label = labels.find(needed.first);
        return label != labels.end() && label->second == needed.second;
      });
      if (able) heaps_[zone_[node]].push_back(node);
    }
    for (auto& heap : heaps_) std::ranges::make_heap(heap, fuller());
  }
  // The top has grown: back to where it belongs.
  void sink(std::uint32_t zone) {
    auto& heap = heaps_[zone];
    std::ranges::pop_heap(heap, fuller());
    std::ranges::push_heap(heap, fuller());
  }

  // The least full top of a zone that the shard is not in; then of any zone, passing over its own nodes there.
  std::uint32_t choose(std::span<const NodeIndex> taken) const {
    std::uint32_t best = UINT32_MAX;
    for (const bool any_zone : {false, true}) {
      for (std::uint32_t zone = 0; zone < zones_; ++zone) {
        if (heaps_[zone].empty()) continue;
        const std::uint32_t top = heaps_[zone].front();
        const bool used = std::ranges::any_of(
            taken, [&](NodeIndex node) { return any_zone ? node.value() == top : zone_[node.value()] == zone; });
        if (!used && (best == UINT32_MAX || fullness_[top] < fullness_[best])) best = top;
      }
      if (best != UINT32_MAX) break;
    }
    ensure(best != UINT32_MAX, "instances have a zone for every replica");
    return best;
  }

  void add(std::uint32_t node, const double* load) {
    double most = 0;
    for (std::size_t i = 0; i < resources_.size(); ++i) {
      double& usage = usage_[node * resources_.size() + i];
      usage += load[i];
      most = std::max(most, usage / capacity_[node * resources_.size() + i]);
    }
    fullness_[node] = most;
  }

  std::vector<double> loads_of(const Workload& workload) const {
    std::vector<double> loads(workload.shards * resources_.size());
    for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
      const auto own = workload.shard_loads.find(ShardIndex(shard));
      for (std::size_t i = 0; i < resources_.size(); ++i) {
        double& load = loads[shard * resources_.size() + i];
        if (own)
          load = (*own)[i].to_double();
        else if (const auto all = workload.load.find(resources_[i]); all != workload.load.end())
          load = all->second.to_double();
      }
    }
    return loads;
  }

  std::vector<std::uint32_t> by_falling_load(const std::vector<double>& loads) const {
    std::vector<double> size(loads.size() / resources_.size());
    for (std::size_t i = 0; i < loads.size(); ++i)
      size[i / resources_.size()] = std::max(size[i / resources_.size()], loads[i] / capacity_[i % resources_.size()]);
    std::vector<std::uint32_t> order(size.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::uint32_t shard) { return size[shard]; });
    return order;
  }

  Cluster& cluster_;
  std::vector<ResourceId> resources_;
  std::size_t zones_ = 0;
  std::vector<std::uint32_t> zone_;       // by node
  std::vector<double> capacity_, usage_;  // nodes × resources
  std::vector<double> fullness_;
  std::vector<std::vector<std::uint32_t>> heaps_;  // by zone
};

}  // namespace

Cluster place_greedily(Cluster cluster) {
  Greedy greedy(cluster);
  for (const Workload& workload : cluster.workloads) greedy.place(workload);
  return cluster;
}

}  // namespace evenkeel::bench
