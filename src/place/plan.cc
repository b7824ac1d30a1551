#include "evenkeel/place/plan.h"

#include <algorithm>
#include <array>

namespace evenkeel::place {
namespace {

template <std::size_t N, class Enum>
std::string_view word(const std::array<std::string_view, N>& words, Enum value) {
  return words.at(static_cast<std::size_t>(value));
}

bool row_holds(std::span<const NodeIndex> row, NodeIndex node) { return std::ranges::find(row, node) != row.end(); }

// Cores for the plan's rows where the plan chose none. A replica that stays keeps its core. For one that comes the table must name some
// core, so it is the one of its node with fewest replicas of this workload, then the lowest; core 0 counts its reserve.
class CoresKept {
 public:
  CoresKept(const Cluster& cluster, const Placement& before, const Cores& cores, const Placement& after)
      : cluster_(cluster), before_(before), cores_(cores), after_(after) {}

  Cores table() {
    each_replica([&](std::size_t, NodeIndex node, std::optional<Core> core) {
      if (core) ++taken(node, *core);
    });
    Cores out;
    out.reserve(after_.size(), after_.cells());
    std::size_t row = 0;
    each_replica([&](std::size_t shard, NodeIndex node, std::optional<Core> core) {
      for (; row < shard; ++row) out.end_row();
      out.add(core ? *core : choose(node));
    });
    for (; row < after_.size(); ++row) out.end_row();
    return out;
  }

 private:
  template <class Visit>
  void each_replica(const Visit& visit) const {
    for (std::size_t shard = 0; shard < after_.size(); ++shard) {
      for (const NodeIndex node : after_[shard]) visit(shard, node, core_before(shard, node));
    }
  }
  std::optional<Core> core_before(std::size_t shard, NodeIndex node) const {
    if (shard >= cores_.size() || shard >= before_.size()) return std::nullopt;
    const auto row = before_[shard];
    const auto found = std::ranges::find(row, node);
    return found == row.end() ? std::nullopt : std::optional(cores_[shard][static_cast<std::size_t>(found - row.begin())]);
  }
  std::uint32_t& taken(NodeIndex node, Core core) {
    auto& counts = taken_[node];
    if (counts.empty()) {
      counts.resize(std::max(1u, cluster_.nodes[node.value()].cores));
      counts[0] = cluster_.settings.core0_reserve;
    }
    return counts.at(core.value());
  }
  Core choose(NodeIndex node) {
    taken(node, Core(0));
    auto& counts = taken_[node];
    const auto least = std::ranges::min_element(counts);
    ++*least;
    return Core(static_cast<Core::rep>(least - counts.begin()));
  }

  const Cluster& cluster_;
  const Placement& before_;
  const Cores& cores_;
  const Placement& after_;
  std::map<NodeIndex, std::vector<std::uint32_t>> taken_;  // by node and core: replicas of this workload
};

std::map<WorkloadId, Cores> cores_after(const Cluster& cluster, const Plan& plan) {
  std::map<WorkloadId, Cores> out = plan.cores;
  for (const auto& [workload, cores] : cluster.cores) {
    const auto after = plan.placement.find(workload);
    const auto before = cluster.placement.find(workload);
    if (after == plan.placement.end() || before == cluster.placement.end() || out.contains(workload)) continue;
    out.emplace(workload, CoresKept(cluster, before->second, cores, after->second).table());
  }
  return out;
}

bool still_there(const Plan& plan, const Recent& recent) {
  const auto rows = plan.placement.find(recent.workload);
  return rows != plan.placement.end() && recent.shard.value() < rows->second.size() &&
         row_holds(rows->second[recent.shard.value()], recent.node);
}

}  // namespace

std::string_view name(MoveReason reason) {
  static constexpr std::array<std::string_view, 9> words = {"repair",  "drain", "limit", "rules", "spread",
                                                            "balance", "room",  "grow",  "shrink"};
  return word(words, reason);
}

std::string_view name(Rule rule) {
  static constexpr std::array<std::string_view, 13> words = {"spread",   "down",       "draining", "able",     "barred",
                                                             "capacity", "count",      "quorum",   "replicas", "pinned",
                                                             "leaders",  "apart_from", "moving"};
  return word(words, rule);
}

std::string_view name(RefusalReason reason) {
  static constexpr std::array<std::string_view, 7> words = {"nodes", "labels",   "barred",   "spread",
                                                            "count", "capacity", "too-large"};
  return word(words, reason);
}

bool Plan::met() const {
  return refused.empty() && std::ranges::none_of(violations, [](const Violation& violation) { return violation.hard; });
}

Cluster apply(const Cluster& cluster, const Plan& plan) {
  Cluster next{.name = cluster.name,
               .settings = cluster.settings,
               .state_models = cluster.state_models,
               .nodes = cluster.nodes,
               .workloads = cluster.workloads,
               .placement = plan.placement,
               .cores = cores_after(cluster, plan),
               .barred = cluster.barred};
  std::ranges::copy_if(cluster.recent, std::back_inserter(next.recent),
                       [&](const Recent& recent) { return still_there(plan, recent); });
  return next;
}

}  // namespace evenkeel::place
