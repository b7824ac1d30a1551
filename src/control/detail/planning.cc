#include "evenkeel/control/detail/planning.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace evenkeel::control::detail {
namespace {

bool carries(const LiveDocument& live, const StateModelId& model) {
  return live.state_models.empty() || std::ranges::find(live.state_models, model) != live.state_models.end();
}

// What a node's replicas of it cannot do without: nobody may stop there before it is elsewhere.
bool never_lets_go(const Spec& spec) { return spec.replicas <= spec.min_active; }

// The part of a node's zone that replicas are spread over; empty: it has none.
std::string domain_of(const World& world, const NodeId& name, const std::string& level) {
  const NodeInfo* node = world.find_node(name);
  if (node == nullptr || !node->live) return "";
  const std::string& zone = node->live->zone;
  const auto& levels = world.config.settings.levels;
  const auto at = std::ranges::find(levels, level) - levels.begin();
  std::size_t end = 0;
  for (std::ptrdiff_t i = 0; i <= at && end != std::string::npos; ++i) end = zone.find('/', i == 0 ? 0 : end + 1);
  return zone.substr(0, end);
}

// This workload has waited long enough, others may still wait for the node.
bool is_waited_out(const World& world, const NodeInfo& node, const WorkloadInfo& workload, Instant now) {
  const auto gone = gone_for(node, now);
  return gone && !is_on_permit(node) && *gone >= delay_of(world, node, workload);
}

// How many of the nodes that are waited for must be replaced at once, so that min_active serve.
std::uint32_t spare_of(const World& world, const WorkloadInfo& info, const Unit& unit, std::uint32_t slot) {
  const ShardRecord& record = unit.records[slot];
  if (!record.has_data || world.broken == Broken::wait_below_min_active) return 0;
  std::uint32_t there = 0;
  for (const Holder& holder : record.holders) {
    const NodeFacts* facts = world.facts(unit, slot, holder.node).node;
    const bool counts =
        holder.told.str() != state_dropped && !holder.leaving && facts != nullptr && facts->joined && facts->data == holder.data;
    there += counts ? 1 : 0;
  }
  return there < info.spec.min_active ? info.spec.min_active - there : 0;
}

// It failed there for good, not long ago.
bool is_banned(const World& world, const Unit& unit, std::uint32_t slot, std::uint32_t node, Instant now) {
  const auto found = unit.gave_up.find({slot, node});
  return found != unit.gave_up.end() && now < found->second.since + failed_for && world.broken != Broken::never_replace;
}

class ProblemMaker {
 public:
  ProblemMaker(const World& world, const ClusterId& name, bool levels, Instant now) : world_(world), levels_(levels), now_(now) {
    cluster_.name = name;
  }

  Cluster make() {
    cluster_.settings = world_.config.settings;
    cluster_.state_models = world_.config.state_models;
    if (!levels_) {  // nobody is far enough from its fair share, nor too full as long as it may be
      cluster_.settings.tolerance = Ratio::percent(100'000);
      cluster_.settings.soft_limit = cluster_.settings.hard_limit;
    }
    for (const auto& [name, workload] : world_.workloads_by_name()) {
      const WorkloadInfo& info = world_.workloads[workload];
      if (info.usable && !info.spec.deleted) models_.insert(info.spec.model->name());
    }
    for (const auto& [name, node] : world_.nodes_by_name()) add_node(world_.nodes[node]);
    for (const auto& [name, workload] : world_.workloads_by_name()) add_workload(world_.workloads[workload]);
    std::erase_if(cluster_.barred, [&](const Barred& barred) {  // of what is not planned
      const auto of = std::ranges::find(cluster_.workloads, barred.workload, &Workload::name);
      return of == cluster_.workloads.end() || barred.shard.value() >= of->shards;
    });
    const auto where = [](const Barred& barred) { return std::tie(barred.workload, barred.shard, barred.node); };
    std::ranges::sort(cluster_.barred, {}, where);
    const auto twice = std::ranges::unique(cluster_.barred);
    cluster_.barred.erase(twice.begin(), twice.end());
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
    if (info.live) add_models(*info.live, node);
    const bool lost = gone && !is_on_permit(info) && *gone >= delays_of(world_, info).back();
    node.status = status_of(info);
    if (gone) node.status = lost ? NodeStatus::down : NodeStatus::cordoned;
    if (!gone && info.live && info.live->leaving && node.status == NodeStatus::up) node.status = NodeStatus::cordoned;
    index_.emplace(info.name, NodeIndex(static_cast<std::uint32_t>(cluster_.nodes.size())));
    for (const ShardId& shard : info.order.disabled) {
      if (world_.broken != Broken::ignore_disabled)
        cluster_.barred.push_back({shard.workload, shard.shard, index_.at(info.name)});
    }
    cluster_.nodes.push_back(std::move(node));
  }

  NodeStatus status_of(const NodeInfo& info) const {
    switch (info.order.operation) {
      case Operation::drain:
        return NodeStatus::draining;
      case Operation::swap:  // it goes when there is somebody to take its place
        return swaps_with(world_, info) != nullptr ? NodeStatus::draining : NodeStatus::cordoned;
      case Operation::cordon:
        return world_.broken == Broken::ignore_cordon ? NodeStatus::up : NodeStatus::cordoned;
      case Operation::no_leaders:
        return world_.broken == Broken::ignore_no_leaders ? NodeStatus::up : NodeStatus::no_leaders;
      case Operation::none:
      case Operation::forget:
      case Operation::remove:
        break;
    }
    return NodeStatus::up;
  }

  // A node that names the state models that it can carry gets no others: as a label that workloads ask for.
  static std::string label_of(const StateModelId& model) { return fmt::format("state-model/{}", model); }
  void add_models(const LiveDocument& live, Node& node) {
    for (const StateModelId& model : models_) {
      if (carries(live, model)) {
        node.labels[label_of(model)] = "yes";
      } else {
        not_everywhere_.insert(model);
      }
    }
  }

  void add_workload(const WorkloadInfo& info) {
    if (!info.usable || info.spec.deleted || is_everywhere(info)) return;
    Workload workload = info.document->spec;
    workload.name = info.name;
    workload.shards = info.shards;
    if (not_everywhere_.contains(info.spec.model->name())) workload.require[label_of(info.spec.model->name())] = "yes";
    workload.pinned = {};
    for (const auto& [shard, names] : info.document->pinned) {
      workload.pinned.shards.push_back(shard);
      for (const NodeId& name : names) {
        if (const auto found = index_.find(name); found != index_.end()) workload.pinned.nodes.add(found->second);
      }
      workload.pinned.nodes.end_row();
    }
    add_loads(info, workload);
    add_rows(info);
    cluster_.workloads.push_back(std::move(workload));
  }

  void add_loads(const WorkloadInfo& info, Workload& workload) const {
    if (world_.columns.empty()) return;
    std::vector<const ShardLoad*> loads(info.shards);
    for (const std::uint32_t u : info.units) {
      const Unit& unit = world_.units[u];
      for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) loads[unit.shards[slot].value()] = &unit.loads[slot];
    }
    workload.shard_loads = believed_loads(info.document->spec, world_.columns, loads);
  }

  // Up to the last shard that was ever placed.
  void add_rows(const WorkloadInfo& info) {
    const auto buckets = static_cast<std::uint32_t>(info.units.size());
    Placement placement;
    std::uint32_t unplaced = 0;
    for (std::uint32_t s = 0; s < info.shards; ++s) {
      const Unit& unit = world_.units[info.units[bucket_of({info.name, ShardIndex(s)}, buckets).value()]];
      const auto slot = unit.slot(ShardIndex(s));
      const bool unborn = slot && world_.is_unborn(unit, *slot);
      if (!slot || (placement_of(unit, *slot).empty() && !unborn)) {
        ++unplaced;
        continue;
      }
      for (; unplaced > 0; --unplaced) placement.end_row();
      unborn ? add_unborn(unit, *slot, placement) : add_row(info, unit, *slot, placement);
    }
    if (!placement.empty()) cluster_.placement.emplace(info.name, std::move(placement));
  }

  // One that is to be split off will be where the other one is.
  void add_unborn(const Unit& unit, std::uint32_t slot, Placement& placement) const {
    const auto parent = world_.half_of(unit, slot);
    for (const NodeId& name : placement_of(world_.units[parent->first], parent->second)) {
      if (const auto found = index_.find(name); found != index_.end()) placement.add(found->second);
    }
    placement.end_row();
  }

  // Where its replicas are, and which of them move. A replica that is added counts for one that goes, if there is one.
  void add_row(const WorkloadInfo& info, const Unit& unit, std::uint32_t slot, Placement& placement) {
    const ShardRecord& record = unit.records[slot];
    const auto& wanted = placement_of(unit, slot);
    std::vector<NodeId> goers;
    for (const Holder& holder : record.holders) {
      if (holder.told.str() == state_dropped || std::ranges::find(wanted, holder.node) != wanted.end()) continue;
      if (index_.contains(holder.node)) goers.push_back(holder.node);
    }
    std::uint32_t spare = spare_of(world_, info, unit, slot);
    std::vector<NodeId> row, comers;
    for (const NodeId& name : wanted) {
      const auto found = index_.find(name);
      if (found == index_.end()) continue;
      const auto holder = std::ranges::find(record.holders, name, &Holder::node);
      const bool there = !record.has_data || (holder != record.holders.end() && holder->arrived);
      const NodeInfo& node = *world_.find_node(name);
      const NodeFacts& facts = node.facts;
      if (there && !facts.joined && (spare > 0 || is_waited_out(world_, node, info, now_))) {
        spare -= spare > 0 ? 1 : 0;  // another one takes its place at once
        continue;
      }
      if (there && !facts.joined) cluster_.recent.push_back({info.name, record.shard, found->second});  // it is waited for
      row.push_back(name);
      if (!there && !unit.wanted[slot]) comers.push_back(name);
    }
    const auto stead = pair(info, goers, comers);
    for (const NodeId& name : row) {
      const auto comer = std::ranges::find(comers, name);
      if (comer == comers.end()) {
        placement.add(index_.at(name));
        continue;
      }
      const auto& from = stead[static_cast<std::size_t>(comer - comers.begin())];
      const auto leaves = from ? std::optional(index_.at(*from)) : std::nullopt;
      if (leaves) placement.add(*leaves);
      cluster_.moving.push_back({info.name, record.shard, leaves, index_.at(name)});
    }
    placement.end_row();
    add_barred(info, unit, slot);
  }

  // Who comes in whose stead: in its own domain if there is one, for should a move be called off the others must still be spread as they should.
  std::vector<std::optional<NodeId>> pair(const WorkloadInfo& info, std::vector<NodeId> goers,
                                          const std::vector<NodeId>& comers) const {
    const std::string level = info.document->spec.spread.value_or(world_.config.settings.spread).level;
    std::vector<std::optional<NodeId>> stead(comers.size());
    for (const bool same : {true, false}) {
      for (std::size_t i = 0; i < comers.size(); ++i) {
        const auto goer = std::ranges::find_if(goers, [&](const NodeId& one) {
          return !same || domain_of(world_, one, level) == domain_of(world_, comers[i], level);
        });
        if (stead[i] || goer == goers.end()) continue;
        stead[i] = *goer;
        goers.erase(goer);
      }
    }
    return stead;
  }

  void add_barred(const WorkloadInfo& info, const Unit& unit, std::uint32_t slot) {
    const auto bar = [&](const NodeId& name) {
      if (const auto found = index_.find(name); found != index_.end())
        cluster_.barred.push_back({info.name, unit.shards[slot], found->second});
    };
    for (auto at = unit.gave_up.lower_bound({slot, 0}); at != unit.gave_up.end() && at->first.first == slot; ++at) {
      if (is_banned(world_, unit, slot, at->first.second, now_)) bar(world_.nodes[at->first.second].name);
    }
    if (!never_lets_go(info.spec)) return;
    const auto relieve = [&](const NodeId& name) {
      if (const NodeInfo* node = world_.find_node(name); node != nullptr && asks_relief(*node)) bar(name);
    };
    for (const NodeId& name : placement_of(unit, slot)) relieve(name);
    for (const Holder& holder : unit.records[slot].holders) relieve(holder.node);
  }

  const World& world_;
  const bool levels_;
  const Instant now_;
  Cluster cluster_;
  std::unordered_map<NodeId, NodeIndex> index_;
  std::set<StateModelId> models_;          // of all workloads
  std::set<StateModelId> not_everywhere_;  // that some node cannot carry
};

}  // namespace

bool is_everywhere(const WorkloadInfo& workload) { return workload.usable && workload.spec.everywhere; }

const std::vector<NodeId>& placement_of(const Unit& unit, std::uint32_t slot) {
  return unit.wanted[slot] ? *unit.wanted[slot] : unit.records[slot].placement;
}

std::optional<Duration> gone_for(const NodeInfo& node, Instant now) {
  if (!node.gone_since) return std::nullopt;
  return node.gone_before + (now - *node.gone_since);
}

namespace {

Duration delay_of(const World& world, const NodeInfo& node, const std::optional<Duration>& of_workload) {
  const bool forgotten =
      node.order.operation == Operation::forget && (!node.order.since || *node.order.since == node.facts.incarnation);
  if (world.broken == Broken::no_delay || forgotten) return {};
  return node.order.rebalance_delay.value_or(of_workload.value_or(world.config.settings.control.rebalance_delay));
}

}  // namespace

Duration delay_of(const World& world, const NodeInfo& node, const WorkloadInfo& workload) {
  return delay_of(world, node, workload.document ? workload.document->spec.control.rebalance_delay : std::nullopt);
}

std::vector<Duration> delays_of(const World& world, const NodeInfo& node) {
  std::vector<Duration> delays;
  for (const auto& [u, named] : node.units) {
    const Duration delay = delay_of(world, node, world.workloads[world.units[u].workload]);
    if (std::ranges::find(delays, delay) == delays.end()) delays.push_back(delay);
  }
  if (delays.empty()) delays.push_back(delay_of(world, node, std::nullopt));
  std::ranges::sort(delays);
  return delays;
}

const NodeInfo* swaps_with(const World& world, const NodeInfo& node) {
  if (node.order.operation != Operation::swap || !node.order.swap_with) return nullptr;
  const NodeInfo* other = world.find_node(*node.order.swap_with);
  return other != nullptr && other->facts.joined ? other : nullptr;
}

bool asks_relief(const NodeInfo& node) {
  return node.permit && node.permit->stage != PermitDocument::Stage::refused && !node.permit->allow_outage && !node.permit_over &&
         node.permit->incarnation == node.facts.incarnation;
}

Cluster problem_of(const World& world, const ClusterId& name, bool levels, Instant now) {
  return ProblemMaker(world, name, levels, now).make();
}

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
    std::erase_if(problem.recent, [&](const Recent& recent) { return recent.workload == name; });
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

namespace {

// Whether one takes the other's place without two of the shard's replicas in one domain, where that must not be.
bool may_take_place(const World& world, const Unit& unit, const std::vector<NodeId>& nodes, const NodeId& from,
                    const NodeId& to) {
  const WorkloadInfo& workload = world.workloads[unit.workload];
  const Spread spread = workload.document ? workload.document->spec.spread.value_or(world.config.settings.spread) : Spread{};
  if (!spread.hard) return true;
  if (const NodeInfo* node = world.find_node(to); node == nullptr || !node->live) return false;  // where it is, is not known
  const std::string domain = domain_of(world, to, spread.level);
  if (domain.empty()) return true;
  return std::ranges::none_of(
      nodes, [&](const NodeId& other) { return other != from && domain_of(world, other, spread.level) == domain; });
}

}  // namespace

// What cannot be there is drained from the old one like anything else.
void swap_places(World& world) {
  for (std::uint32_t n = 0; n < world.nodes.size(); ++n) {
    const NodeInfo* other = swaps_with(world, world.nodes[n]);
    if (other == nullptr) continue;
    const NodeId from = world.nodes[n].name, to = other->name;
    for (const auto& [u, named] : std::map(world.nodes[n].units)) {
      for (std::uint32_t slot = 0; slot < world.units[u].shards.size(); ++slot) {
        std::vector<NodeId> nodes = placement_of(world.units[u], slot);
        const auto at = std::ranges::find(nodes, from);
        if (at == nodes.end() || std::ranges::find(nodes, to) != nodes.end()) continue;
        if (!may_take_place(world, world.units[u], nodes, from, to)) continue;
        *at = to;
        want(world, u, slot, std::move(nodes));
      }
    }
  }
}

namespace {

// Where there was no place for another replica, a node that is waited for keeps its own: it counts as still holding it. Not beside one that has come
// to its domain in its stead.
void keep_waited_for(const World& world, const Cluster& problem, const Unit& unit, const std::vector<NodeId>& before,
                     std::uint32_t replicas, std::vector<NodeId>& nodes) {
  if (nodes.size() >= replicas) return;
  const auto is_waited_for = [&](const NodeId& name) {
    if (world.find_node(name)->facts.joined) return false;
    const auto known = std::ranges::find(problem.nodes, name, &Node::name);
    return known != problem.nodes.end() && known->status == NodeStatus::cordoned;
  };
  const std::vector<NodeId> planned = nodes;
  std::vector<NodeId> kept;
  std::size_t room = replicas - nodes.size();
  for (const NodeId& name : before) {
    if (std::erase(nodes, name) > 0) {
      kept.push_back(name);
    } else if (room > 0 && is_waited_for(name) && may_take_place(world, unit, planned, name, name)) {
      kept.push_back(name);
      --room;
    }
  }
  kept.insert(kept.end(), nodes.begin(), nodes.end());
  nodes = std::move(kept);
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
      if (!slot || world.is_unborn(world.units[u], *slot)) continue;
      std::vector<NodeId> nodes;
      for (const NodeIndex node : rows[s]) nodes.push_back(problem.nodes[node.value()].name);
      keep_waited_for(world, problem, world.units[u], placement_of(world.units[u], *slot), info->spec.replicas, nodes);
      changed += want(world, u, *slot, std::move(nodes)) ? 1 : 0;
    }
  }
  return changed;
}

namespace {

// May have a replica of what is everywhere, if it carries its state model.
bool has_everything(const NodeInfo& node) {
  const bool out = node.facts.removed || node.order.operation == Operation::drain;
  return !out && (node.facts.joined || node.facts.expected_back) && node.live;
}

}  // namespace

void place_everywhere(World& world) {
  std::vector<const NodeInfo*> able;
  for (const NodeInfo& node : world.nodes) {
    if (has_everything(node)) able.push_back(&node);
  }
  std::ranges::sort(able, {}, &NodeInfo::name);
  for (const WorkloadInfo& info : world.workloads) {
    if (!is_everywhere(info) || info.spec.deleted) continue;
    std::vector<NodeId> all;
    for (const NodeInfo* node : able) {
      if (carries(*node->live, info.spec.model->name())) all.push_back(node->name);
    }
    for (const std::uint32_t u : std::vector(info.units)) {
      for (std::uint32_t slot = 0; slot < world.units[u].shards.size(); ++slot) want(world, u, slot, all);
    }
  }
}

namespace {

// The operator, its own failures or a permit want the shard elsewhere.
bool is_to_leave(const World& world, const Unit& unit, std::uint32_t slot, const NodeInfo& node, Instant now) {
  const WorkloadInfo& workload = world.workloads[unit.workload];
  const ShardId shard{workload.name, unit.shards[slot]};
  const bool drained = node.order.operation == Operation::drain || swaps_with(world, node) != nullptr;
  const bool disabled = std::ranges::find(node.order.disabled, shard) != node.order.disabled.end();
  return drained || disabled || is_banned(world, unit, slot, static_cast<std::uint32_t>(&node - world.nodes.data()), now) ||
         (never_lets_go(workload.spec) && asks_relief(node));
}

std::uint32_t count_missing(const World& world, const WorkloadInfo& workload, const std::vector<NodeId>& placement) {
  if (!is_everywhere(workload)) {
    const auto placed = static_cast<std::uint32_t>(placement.size());
    return placed < workload.spec.replicas ? workload.spec.replicas - placed : 0;
  }
  return static_cast<std::uint32_t>(std::ranges::count_if(world.nodes, [&](const NodeInfo& node) {
    return has_everything(node) && carries(*node.live, workload.spec.model->name()) &&
           std::ranges::find(placement, node.name) == placement.end();
  }));
}

}  // namespace

Wishes wishes_of(const World& world, const Unit& unit, std::uint32_t slot, Instant now) {
  const WorkloadInfo& workload = world.workloads[unit.workload];
  const ShardRecord& record = unit.records[slot];
  const auto& placement = placement_of(unit, slot);
  Wishes wishes;
  if (world.is_unborn(unit, slot)) return wishes;
  for (const Holder& holder : record.holders) {
    const bool placed = std::ranges::find(placement, holder.node) != placement.end();
    if (holder.told.str() != state_dropped && (!placed || workload.spec.deleted)) wishes.dropped.push_back(holder.node);
  }
  if (workload.spec.deleted) return wishes;
  wishes.placed = count_missing(world, workload, placement);
  std::uint32_t spare = spare_of(world, workload, unit, slot);
  for (const NodeId& name : placement) {
    const NodeInfo* node = world.find_node(name);
    const auto holder = std::ranges::find(record.holders, name, &Holder::node);
    const bool held = holder != record.holders.end() && holder->told.str() != state_dropped;
    if (node == nullptr) continue;
    if (!held) {
      wishes.placed += node->facts.joined ? 1 : 0;  // it is to come there
    } else if (node->facts.joined) {
      if (is_to_leave(world, unit, slot, *node, now)) wishes.moved.push_back(name);
    } else if (holder->arrived && (spare > 0 || is_waited_out(world, *node, workload, now))) {
      spare -= spare > 0 ? 1 : 0;
      ++wishes.placed;  // in its stead
    }
  }
  // One that comes and one that goes are a move.
  while (wishes.placed > 0 && !wishes.dropped.empty()) {
    wishes.moved.push_back(wishes.dropped.back());
    wishes.dropped.pop_back();
    --wishes.placed;
  }
  return wishes;
}

}  // namespace evenkeel::control::detail
