// What people ask: how it stands, and why.

#include <algorithm>

#include "evenkeel/control/detail/work.h"

namespace evenkeel::control {

using detail::Unit;
using detail::WorkloadInfo;

namespace {

constexpr std::size_t orphans_max = 1000;

}  // namespace

void Machine::Work::add_orphans(Overview& overview) const {
  for (const Unit& unit : world_.units) {
    if (world_.workloads[unit.workload].units.empty()) continue;
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      for (const detail::Orphan& orphan : world_.orphans(unit, slot))
        overview.orphans.push_back(
            {{world_.workloads[unit.workload].name, unit.shards[slot]}, orphan.node, orphan.report->version.epoch});
    }
  }
  for (auto& [shard, node, epoch] : world_.strays()) overview.orphans.push_back({shard, node, epoch});
  std::ranges::sort(overview.orphans, {}, [](const OrphanState& one) { return std::tie(one.shard, one.node); });
  if (overview.orphans.size() > orphans_max) overview.orphans.resize(orphans_max);
}

// Why nothing moves; empty: it does.
std::string Machine::Work::why_still() const {
  if (frozen()) return fmt::format("frozen: {}", world_.config.freeze->reason);
  if (by_hand()) return fmt::format("maintenance: {}", world_.config.maintenance->reason);
  return maintenance_ ? fmt::format("maintenance: {}", *maintenance_) : std::string();
}

HeldBack Machine::Work::count_held_back() const {
  HeldBack held;
  for (const Unit& unit : world_.units) {
    if (!world_.workloads[unit.workload].usable) continue;
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      const detail::Wishes wishes = detail::wishes_of(world_, unit, slot, now_);
      held.placed += wishes.placed > 0 ? 1 : 0;
      held.moved += wishes.moved.empty() ? 0 : 1;
      held.dropped += wishes.dropped.empty() ? 0 : 1;
    }
  }
  return held;
}

void Machine::Work::explain_held_back(const Unit& unit, std::uint32_t slot, std::vector<std::string>& why) const {
  if (may_move()) return;
  const std::string because = why_still();
  const detail::Wishes wishes = detail::wishes_of(world_, unit, slot, now_);
  if (wishes.placed > 0) why.push_back(fmt::format("{} more would be placed, held back by {}", wishes.placed, because));
  for (const NodeId& node : wishes.moved) why.push_back(fmt::format("would move from {}, held back by {}", node, because));
  for (const NodeId& node : wishes.dropped) why.push_back(fmt::format("would be dropped on {}, held back by {}", node, because));
}

Overview Machine::Work::overview() const {
  Overview overview{.active = active_,
                    .epoch = epoch_,
                    .maintenance = maintenance_,
                    .offline = count_offline(),
                    .copies = throttles_.copies(),
                    .openings = throttles_.openings(),
                    .errors = world_.errors};
  if (maintenance_ && maintenance_since_) overview.maintenance_for = maintenance_before_ + (now_ - *maintenance_since_);
  if (by_hand()) {
    overview.maintenance = world_.config.maintenance->reason;
    overview.maintenance_for = manual_.waited(now_);
  }
  if (frozen()) overview.freeze = world_.config.freeze->reason;
  if (active_ && !may_move()) overview.held_back = count_held_back();
  for (const Unit& unit : world_.units) count_missing(unit, overview.leaderless, overview.below_min_active);
  add_orphans(overview);
  return overview;
}

void Machine::Work::count_missing(const Unit& unit, std::uint32_t& leaderless, std::uint32_t& below_min_active) const {
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  if (!workload.usable || workload.spec.deleted) return;
  for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
    if (world_.is_unborn(unit, slot)) continue;  // another one serves its keys
    const ShardView& view = unit.views[slot];
    const std::size_t serving = view.others.size() + (view.leader ? 1 : 0);
    leaderless += workload.spec.lead && !view.leader ? 1 : 0;
    below_min_active += serving < workload.spec.min_active ? 1 : 0;
  }
}

// Of a deleted one only its highest epoch may be left.
bool Machine::Work::has_records(const WorkloadInfo& workload) const {
  return std::ranges::any_of(workload.units, [&](std::uint32_t unit) {
    return std::ranges::any_of(world_.units[unit].records, [](const ShardRecord& record) { return record.version != Version{}; });
  });
}

std::vector<WorkloadState> Machine::Work::workloads() const {
  std::vector<WorkloadState> list;
  for (const auto& [name, index] : world_.workloads_by_name()) {
    const WorkloadInfo& workload = world_.workloads[index];
    if (!workload.document || (workload.document->deleted && !has_records(workload))) continue;
    const Workload& spec = workload.document->spec;
    WorkloadState state{.workload = name,
                        .state_model = spec.state_model.str(),
                        .shards = workload.shards,
                        .replicas = spec.replicas,
                        .deleted = workload.document->deleted,
                        .trouble = workload.trouble};
    for (const std::uint32_t unit : workload.units) count_missing(world_.units[unit], state.leaderless, state.below_min_active);
    list.push_back(std::move(state));
  }
  return list;
}

std::vector<NodeState> Machine::Work::nodes(Instant now) const {
  std::map<NodeId, NodeState> states;
  for (const detail::NodeInfo& node : world_.nodes) {
    states[node.name] = {.node = node.name,
                         .joined = node.facts.joined,
                         .suspect = node.suspected,
                         .gone = detail::gone_for(node, now),
                         .operation = node.order.operation,
                         .trouble = node.trouble};
  }
  for (const Unit& unit : world_.units) {
    for (std::size_t slot = 0; slot < unit.records.size(); ++slot) {
      for (const Holder& holder : unit.records[slot].holders) {
        if (holder.told.str() == state_dropped) continue;
        NodeState& state = states[holder.node];
        ++state.replicas;
        state.leaders += unit.views[slot].leader == holder.node ? 1 : 0;
      }
    }
  }
  std::vector<NodeState> list;
  for (auto& [name, state] : states) list.push_back(std::move(state));
  return list;
}

// What nodes say of it that does not follow from what they were told. None of it counts.
void Machine::Work::explain_claims(const Unit& unit, std::uint32_t slot, std::vector<std::string>& why) const {
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  const ShardRecord& record = unit.records[slot];
  for (const detail::HeldReport& held : unit.reports[slot]) {
    const detail::NodeInfo& node = world_.nodes[held.node];
    const bool now = node.facts.joined && held.incarnation == node.facts.incarnation;
    if (!now || held.report.state.str() == state_dropped) continue;
    const auto holder = std::ranges::find(record.holders, node.name, &Holder::node);
    if (holder == record.holders.end()) {
      if (record.has_data) why.push_back(fmt::format("{} holds it, and no record knows", node.name));
      continue;
    }
    const StateId& state = held.report.state;
    const auto rank = workload.spec.model->rank(state);
    const bool bounded = rank && workload.spec.model->states()[*rank].count.kind == StateCount::Kind::number;
    if (bounded && holder->told != state && holder->may_be != state)
      why.push_back(fmt::format("{} says that it is {}, which it was not told", node.name, state));
    if (held.report.version.epoch > record.version.epoch)
      why.push_back(
          fmt::format("{} names epoch {}, which was not given: the next one is above it", node.name, held.report.version.epoch));
  }
}

// Why a shard has fewer replicas than it should, or not where it should.
void Machine::Work::explain_missing(const Unit& unit, std::uint32_t slot, std::vector<std::string>& why) const {
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  const ShardRecord& record = unit.records[slot];
  const ShardView& view = unit.views[slot];
  const auto& placement = unit.wanted[slot] ? *unit.wanted[slot] : record.placement;
  const std::size_t serving = view.others.size() + (view.leader ? 1 : 0);
  // Also of one that has all its replicas: it cannot leave a node that is drained.
  if (const auto refusal = workload.refusals.find(unit.shards[slot]); refusal != workload.refusals.end())
    why.push_back(refusal->second);
  if (!workload.refusal.empty()) why.push_back(workload.refusal);
  if (serving >= workload.spec.replicas && placement.size() >= workload.spec.replicas) return;
  for (const NodeId& name : placement) {
    const detail::NodeInfo* node = world_.find_node(name);
    const auto gone = node == nullptr ? std::nullopt : detail::gone_for(*node, now_);
    if (!gone) continue;
    const Duration delay = detail::delay_of(world_, *node, workload);
    if (detail::is_on_permit(*node)) {
      why.push_back(fmt::format("{} has leave to be gone", name));
    } else if (*gone < delay) {
      why.push_back(fmt::format("{} is gone for {} and waited for {}", name, format(*gone), format(delay)));
    } else {
      why.push_back(fmt::format("{} is gone", name));
    }
  }
  for (const detail::HeldReport& held : unit.reports[slot]) {
    if (!held.report.error.empty()) why.push_back(fmt::format("{}: {}", world_.nodes[held.node].name, held.report.error));
  }
  if (maintenance_) why.push_back(fmt::format("nothing moves: maintenance: {}", *maintenance_));
  if (by_hand()) why.push_back(fmt::format("nothing moves: maintenance: {}", world_.config.maintenance->reason));
  if (frozen()) why.push_back(fmt::format("nothing moves: frozen: {}", world_.config.freeze->reason));
  if (planning_ || world_.plan_due) why.push_back("a plan is being made");
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> Machine::Work::find(const ShardId& shard) const {
  const WorkloadInfo* workload = world_.find_workload(shard.workload);
  if (workload == nullptr || workload->units.empty()) return std::nullopt;
  const std::uint32_t u = workload->units[bucket_of(shard, static_cast<std::uint32_t>(workload->units.size())).value()];
  const auto slot = world_.units[u].slot(shard.shard);
  if (!slot) return std::nullopt;
  return std::pair(u, *slot);
}

std::optional<ShardView> Machine::Work::view(const ShardId& shard) const {
  const auto found = find(shard);
  if (!found) return std::nullopt;
  return world_.units[found->first].views[found->second];
}

bool Machine::Work::knows(const NodeId& name, Incarnation incarnation) const {
  const detail::NodeInfo* node = world_.find_node(name);
  return node != nullptr && node->facts.joined && node->facts.incarnation == incarnation;
}

bool Machine::Work::knows(const WorkloadId& name) const {
  const WorkloadInfo* workload = world_.find_workload(name);
  return workload != nullptr && workload->document;
}

std::optional<ShardState> Machine::Work::explain(const ShardId& shard) {
  const auto found = find(shard);
  if (!found) return std::nullopt;
  const auto [u, slot] = *found;
  const Unit& unit = world_.units[u];
  const WorkloadInfo* workload = &world_.workloads[unit.workload];
  ShardState state{unit.records[slot], unit.views[slot], {}};
  if (!workload->trouble.empty()) state.why.push_back(workload->trouble);
  if (!workload->usable) return state;
  const detail::ShardTimers timers = unit.timers[slot];
  Instant later = Instant::max();
  for (detail::Why& why : decide(u, slot, later, true).why) state.why.push_back(std::move(why.what));
  world_.units[u].timers[slot] = timers;
  explain_claims(unit, slot, state.why);
  if (!workload->spec.deleted && !world_.is_unborn(unit, slot)) explain_missing(unit, slot, state.why);
  explain_held_back(unit, slot, state.why);
  return state;
}

}  // namespace evenkeel::control
