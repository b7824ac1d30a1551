// Cores: the one with fewest replicas of the workload, then fewest of all, then the lowest number. Core 0 counts with its reserve.

#include <algorithm>
#include <map>

#include "evenkeel/place/detail/stages.h"

namespace evenkeel::place::detail {
namespace {

class Chooser {
 public:
  explicit Chooser(const Cluster& cluster) : cluster_(cluster) {
    std::size_t cores = 0;
    for (const Node& node : cluster.nodes) {
      first_.push_back(cores);
      cores += std::max<std::uint32_t>(1, node.cores);
    }
    total_.resize(cores);
  }

  std::map<WorkloadId, Cores> run(const std::map<WorkloadId, Placement>& placement) {
    keep(placement);
    std::map<WorkloadId, Cores> chosen;
    for (const auto& [workload, rows] : placement) chosen.emplace(workload, choose(workload, rows));
    return chosen;
  }

 private:
  // The core that the replica has now, if it is known and stays where it is.
  std::optional<Core> kept(const WorkloadId& workload, std::size_t shard, NodeIndex node) const {
    const auto placed = cluster_.placement.find(workload);
    const auto cores = cluster_.cores.find(workload);
    if (placed == cluster_.placement.end() || cores == cluster_.cores.end()) return std::nullopt;
    if (shard >= placed->second.size() || shard >= cores->second.size()) return std::nullopt;
    const auto row = placed->second[shard];
    const auto found = std::ranges::find(row, node);
    const auto at = static_cast<std::size_t>(found - row.begin());
    return found == row.end() || at >= cores->second[shard].size() ? std::nullopt : std::optional(cores->second[shard][at]);
  }

  // All that stay count before anybody chooses.
  void keep(const std::map<WorkloadId, Placement>& placement) {
    for (const auto& [workload, rows] : placement) {
      for (std::size_t shard = 0; shard < rows.size(); ++shard) {
        for (const NodeIndex node : rows[shard]) {
          if (const auto core = kept(workload, shard, node)) ++total_[first_[node.value()] + core->value()];
        }
      }
    }
  }

  Cores choose(const WorkloadId& workload, const Placement& rows) {
    own_.assign(total_.size(), 0);
    for (std::size_t shard = 0; shard < rows.size(); ++shard) {
      for (const NodeIndex node : rows[shard]) {
        if (const auto core = kept(workload, shard, node)) ++own_[first_[node.value()] + core->value()];
      }
    }
    Cores cores;
    for (std::size_t shard = 0; shard < rows.size(); ++shard) {
      for (const NodeIndex node : rows[shard]) {
        const auto known = kept(workload, shard, node);
        cores.add(known ? *known : least(node));
      }
      cores.end_row();
    }
    return cores;
  }

  Core least(NodeIndex node) {
    const std::size_t first = first_[node.value()], count = std::max<std::uint32_t>(1, cluster_.nodes[node.value()].cores);
    std::size_t best = count;
    for (std::size_t core = count; core-- > 0;) {
      if (core == 0 && count > 1 && reserved(first, count)) continue;
      const auto key = [&](std::size_t c) { return std::tuple(own_[first + c], total_[first + c], c); };
      if (best == count || key(core) < key(best)) best = core;
    }
    ++own_[first + best];
    ++total_[first + best];
    return Core(static_cast<std::uint16_t>(best));
  }

  // Core 0 is not for choosing while its replicas and the reserve outnumber those of the least loaded other one.
  bool reserved(std::size_t first, std::size_t count) const {
    const auto others = std::span(total_).subspan(first + 1, count - 1);
    return total_[first] + cluster_.settings.core0_reserve > *std::ranges::min_element(others);
  }

  const Cluster& cluster_;
  std::vector<std::size_t> first_;    // by node: where its cores begin
  std::vector<std::uint32_t> total_;  // replicas on each core
  std::vector<std::uint32_t> own_;    // of the workload at hand
};

}  // namespace

std::map<WorkloadId, Cores> choose_cores(const Cluster& cluster, const std::map<WorkloadId, Placement>& placement) {
  return Chooser(cluster).run(placement);
}

}  // namespace evenkeel::place::detail
