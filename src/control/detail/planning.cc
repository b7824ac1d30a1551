#include "evenkeel/control/detail/planning.h"

#include <algorithm>
#include <unordered_map>

namespace evenkeel::control::detail {
namespace {

bool is_everywhere(const WorkloadInfo& workload) {
  return workload.usable && std::ranges::any_of(workload.spec.model->states(),
                                                [](const State& state) { return state.count.kind == StateCount::Kind::nodes; });
}

const std::vector<NodeId>& placement_of(const Unit& unit, std::uint32_t slot) {
  return unit.wanted[slot] ? *unit.wanted[slot] : unit.records[slot].placement;
}

class ProblemMaker {
 public:
  ProblemMaker(const World& world, const ClusterId& name, Instant now) : world_(world), now_(now) { cluster_.name = name; }

  Cluster make() {
    cluster_.settings = world_.config.settings;
    cluster_.state_models = world_.config.state_models;
    for (const NodeInfo& node : world_.nodes) add_node(node);
    for (const WorkloadInfo& workload : world_.workloads) add_workload(workload);
    return std::move(cluster_);
  }

 private:
  void add_node(const NodeInfo& info) {
    const auto gone = gone_for(info, now_);
    if (info.facts.removed || (!info.live && info.units.empty())) return;
    Node node{.name = info.name};
    if (info.live) {
      node.zone = info.live->zone;
      node.cores = info.live->cores;
      node.capacity = info.live->capacity;
      node.used = info.live->used;
      node.power = info.live->power;
      node.labels = info.live->labels;
      node.taints = info.live->taints;
    }
    node.capacity = info.order.capacity.value_or(node.capacity);
    node.power = info.order.power.value_or(node.power);
    node.labels = info.order.labels.value_or(node.labels);
    node.taints = info.order.taints.value_or(node.taints);
    const bool lost = gone && (*gone >= delay_of(world_, info) || info.permit_over);
    switch (info.order.operation) {
      case Operation::drain:
      case Operation::swap:
        node.status = NodeStatus::draining;
        break;
      case Operation::cordon:
        node.status = NodeStatus::cordoned;
        break;
      case Operation::no_leaders:
        node.status = NodeStatus::no_leaders;
        break;
      case Operation::none:
      case Operation::forget:
      case Operation::remove:
        break;
    }
    if (gone) node.status = lost ? NodeStatus::down : NodeStatus::cordoned;
    if (!gone && info.live && info.live->leaving && node.status == NodeStatus::up) node.status = NodeStatus::cordoned;
    index_.emplace(info.name, NodeIndex(static_cast<std::uint32_t>(cluster_.nodes.size())));
    for (const ShardId& shard : info.order.disabled)
      cluster_.barred.push_back({shard.workload, shard.shard, index_.at(info.name)});
    cluster_.nodes.push_back(std::move(node));
  }

  void add_workload(const WorkloadInfo& info) {
    if (!info.usable || info.spec.deleted || is_everywhere(info)) return;
    Workload workload = info.document->spec;
    workload.name = info.name;
    workload.pinned = {};
    for (const auto& [shard, names] : info.document->pinned) {
      workload.pinned.shards.push_back(shard);
      for (const NodeId& name : names) {
        if (const auto found = index_.find(name); found != index_.end()) workload.pinned.nodes.add(found->second);
      }
      workload.pinned.nodes.end_row();
    }
    // Rows up to the first shard that was never placed.
    const auto buckets = static_cast<std::uint32_t>(info.units.size());
    Placement placement;
    for (std::uint32_t s = 0; s < workload.shards; ++s) {
      const Unit& unit = world_.units[info.units[bucket_of({info.name, ShardIndex(s)}, buckets).value()]];
      const auto slot = unit.slot(ShardIndex(s));
      if (!slot || placement_of(unit, *slot).empty()) break;
      add_row(info, unit, *slot, placement);
    }
    if (!placement.empty()) cluster_.placement.emplace(info.name, std::move(placement));
    cluster_.workloads.push_back(std::move(workload));
  }

  // Where its replicas are, and which of them move. A replica that is added counts for one that goes, if there is one.
  void add_row(const WorkloadInfo& info, const Unit& unit, std::uint32_t slot, Placement& placement) {
    const ShardRecord& record = unit.records[slot];
    const auto& wanted = placement_of(unit, slot);
    std::vector<NodeIndex> goers;
    for (const Holder& holder : record.holders) {
      if (holder.told.str() == state_dropped || std::ranges::find(wanted, holder.node) != wanted.end()) continue;
      if (const auto found = index_.find(holder.node); found != index_.end()) goers.push_back(found->second);
    }
    std::uint32_t spare = spare_of(info, unit, slot);
    std::size_t next_goer = 0;
    for (const NodeId& name : wanted) {
      const auto found = index_.find(name);
      if (found == index_.end()) continue;
      const auto holder = std::ranges::find(record.holders, name, &Holder::node);
      const bool there = !record.has_data || (holder != record.holders.end() && holder->arrived);
      const NodeFacts& facts = world_.find_node(name)->facts;
      if (there && spare > 0 && !facts.joined) {
        --spare;  // another one takes its place at once
        continue;
      }
      if (there && !facts.joined) cluster_.recent.push_back({info.name, record.shard, found->second});  // it is waited for
      if (there || unit.wanted[slot]) {
        placement.add(found->second);
      } else if (next_goer < goers.size()) {
        placement.add(goers[next_goer]);
        cluster_.moving.push_back({info.name, record.shard, goers[next_goer++], found->second});
      } else {
        cluster_.moving.push_back({info.name, record.shard, std::nullopt, found->second});
      }
    }
    placement.end_row();
    add_barred(info, unit, slot);
  }

  // How many of the nodes that are waited for must be replaced at once, so that min_active serve.
  std::uint32_t spare_of(const WorkloadInfo& info, const Unit& unit, std::uint32_t slot) const {
    const ShardRecord& record = unit.records[slot];
    if (!record.has_data) return 0;
    std::uint32_t there = 0;
    for (const Holder& holder : record.holders) {
      const NodeFacts* facts = world_.facts(unit, slot, holder.node).node;
      const bool counts = holder.told.str() != state_dropped && !holder.leaving && facts != nullptr && facts->joined &&
                          facts->data == holder.data;
      there += counts ? 1 : 0;
    }
    return there < info.spec.min_active ? info.spec.min_active - there : 0;
  }

  void add_barred(const WorkloadInfo& info, const Unit& unit, std::uint32_t slot) {
    for (const HeldReport& held : unit.reports[slot]) {
      const NodeInfo& node = world_.nodes[held.node];
      const auto found = index_.find(node.name);
      if (!held.report.gave_up || held.incarnation != node.facts.incarnation || found == index_.end()) continue;
      cluster_.barred.push_back({info.name, unit.shards[slot], found->second});
    }
  }

  const World& world_;
  const Instant now_;
  Cluster cluster_;
  std::unordered_map<NodeId, NodeIndex> index_;
};

}  // namespace

std::optional<Duration> gone_for(const NodeInfo& node, Instant now) {
  if (!node.gone_since) return std::nullopt;
  return node.gone_before + (now - *node.gone_since);
}

Duration delay_of(const World& world, const NodeInfo& node) {
  if (world.broken == Broken::no_delay || node.order.operation == Operation::forget) return {};
  return node.order.rebalance_delay.value_or(world.config.settings.control.rebalance_delay);
}

Cluster problem_of(const World& world, const ClusterId& name, Instant now) { return ProblemMaker(world, name, now).make(); }

std::vector<Trouble> leave_out_what_is_wrong(Cluster& problem) {
  std::vector<Trouble> troubles;
  while (true) {
    const std::vector<Problem> problems = check(problem, 1);
    if (problems.empty()) return troubles;
    const Problem& first = problems.front();
    Trouble trouble{std::nullopt, fmt::format("{}: {}", fmt::join(first.path, "."), first.message)};
    std::size_t index = problem.workloads.size();
    if (first.path.size() >= 2 && first.path[0] == "workloads") index = std::strtoul(first.path[1].c_str(), nullptr, 10);
    if (index >= problem.workloads.size()) {
      troubles.push_back(std::move(trouble));
      problem.workloads.clear();
      return troubles;
    }
    const WorkloadId name = problem.workloads[index].name;
    trouble.workload = name;
    troubles.push_back(std::move(trouble));
    problem.workloads.erase(problem.workloads.begin() + static_cast<std::ptrdiff_t>(index));
    problem.placement.erase(name);
    std::erase_if(problem.moving, [&](const Moving& moving) { return moving.workload == name; });
    std::erase_if(problem.barred, [&](const Barred& barred) { return barred.workload == name; });
  }
}

namespace {

bool want(World& world, std::uint32_t u, std::uint32_t slot, std::vector<NodeId> nodes) {
  Unit& unit = world.units[u];
  if (placement_of(unit, slot) == nodes) return false;
  // What is being written may have another one: then this one stays wanted.
  if (unit.status == Unit::Status::idle && unit.records[slot].placement == nodes) {
    unit.wanted[slot].reset();
  } else {
    unit.wanted[slot] = std::move(nodes);
  }
  world.index(u, slot);
  world.touch(u, slot);
  return true;
}

}  // namespace

std::size_t take_plan(World& world, const Cluster& problem, const place::Plan& plan) {
  std::size_t changed = 0;
  for (const auto& [name, rows] : plan.placement) {
    const WorkloadInfo* info = world.find_workload(name);
    if (info == nullptr || !info->usable || info->spec.deleted) continue;
    const std::vector<std::uint32_t> units = info->units;
    for (std::uint32_t s = 0; s < rows.size(); ++s) {
      const std::uint32_t u = units[bucket_of({name, ShardIndex(s)}, static_cast<std::uint32_t>(units.size())).value()];
      const auto slot = world.units[u].slot(ShardIndex(s));
      if (!slot) continue;
      std::vector<NodeId> nodes;
      for (const NodeIndex node : rows[s]) nodes.push_back(problem.nodes[node.value()].name);
      changed += want(world, u, *slot, std::move(nodes)) ? 1 : 0;
    }
  }
  return changed;
}

void place_everywhere(World& world) {
  std::vector<NodeId> all;
  for (const NodeInfo& node : world.nodes) {
    const bool out = node.facts.removed || node.order.operation == Operation::drain;
    if (!out && (node.facts.joined || node.facts.expected_back) && node.live) all.push_back(node.name);
  }
  std::ranges::sort(all);
  for (const WorkloadInfo& info : world.workloads) {
    if (!is_everywhere(info) || info.spec.deleted) continue;
    for (const std::uint32_t u : std::vector(info.units)) {
      for (std::uint32_t slot = 0; slot < world.units[u].shards.size(); ++slot) want(world, u, slot, all);
    }
  }
}

}  // namespace evenkeel::control::detail
