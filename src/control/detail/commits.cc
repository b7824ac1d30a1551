// From touched shards to commits: one bucket at a time, all its documents together.

#include <algorithm>

#include "evenkeel/control/detail/work.h"

namespace evenkeel::control {

using detail::ShardOutput;
using detail::Unit;
using detail::WorkloadInfo;

namespace {

constexpr std::size_t targets_max = 100;  // documents of one commit: with the others they stay below what a txn takes

}  // namespace

Quantity Machine::Work::bytes_of(const Unit& unit, ShardIndex shard) const {
  const Workload& spec = world_.workloads[unit.workload].document->spec;
  const ResourceId disk("disk");
  if (const auto own = spec.shard_loads.find(shard)) {
    const auto at = std::ranges::find(spec.shard_loads.resources, disk);
    if (at != spec.shard_loads.resources.end()) return (*own)[static_cast<std::size_t>(at - spec.shard_loads.resources.begin())];
  }
  const auto found = spec.load.find(disk);
  return found == spec.load.end() ? Quantity(0) : found->second;
}

// Replicas that are on their way to nodes that are there.
void Machine::Work::count_copies(std::uint32_t u, std::uint32_t slot, const ShardRecord& record) {
  const Unit& unit = world_.units[u];
  std::vector<detail::Copy> copies;
  for (const Holder& holder : record.holders) {
    if (!record.has_data || holder.arrived || holder.told.str() == state_dropped) continue;
    const detail::NodeInfo* node = world_.find_node(holder.node);
    if (node == nullptr || !node->facts.joined || node->facts.data != holder.data) continue;
    copies.push_back({holder.reason == Reason::balance ? detail::Slot::balance : detail::Slot::recovery,
                      static_cast<std::uint32_t>(node - world_.nodes.data()), unit.workload, node->live->zone,
                      bytes_of(unit, record.shard)});
  }
  throttles_.set({u, slot}, std::move(copies));
}

ShardOutput Machine::Work::decide(std::uint32_t u, std::uint32_t slot, Instant& later) {
  Unit& unit = world_.units[u];
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  const auto order = unit.orders.find(unit.shards[slot]);
  detail::Spec spec = workload.spec;
  if (unit.shards[slot].value() >= workload.document->spec.shards) spec.deleted = true;
  const bool freezes_leaders = frozen() && !world_.config.freeze->keep_leaders;
  const detail::ShardInput input{.spec = spec,
                                 .record = unit.records[slot],
                                 .view = unit.views[slot],
                                 .placement = unit.wanted[slot] ? &*unit.wanted[slot] : nullptr,
                                 .facts = [&](const NodeId& node) { return world_.facts(unit, slot, node); },
                                 .highest = world_.highest(unit, slot),
                                 .may_move = may_move(),
                                 .may_change_leaders = !freezes_leaders,
                                 .accept_loss = order != unit.orders.end() && order->second.accept_loss,
                                 .lead = order != unit.orders.end() ? order->second.lead : std::nullopt,
                                 .take_slot =
                                     [&](const NodeId& to, detail::Slot kind) {
                                       const detail::NodeInfo* node = world_.find_node(to);
                                       const detail::Copy copy{kind, static_cast<std::uint32_t>(node - world_.nodes.data()),
                                                               unit.workload, node->live ? node->live->zone : "",
                                                               bytes_of(unit, unit.shards[slot])};
                                       return throttles_.may_begin(world_.config.settings.control, {u, slot}, copy, now_, later);
                                     },
                                 .now = now_,
                                 .broken = options_.broken};
  return detail::decide(input, unit.timers[slot]);
}

Target Machine::Work::target_of(const Unit& unit, const RecordBucket& records, std::uint32_t n) {
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  const detail::NodeInfo& node = world_.nodes[n];
  Target target{.node = node.name,
                .workload = workload.name,
                .bucket = unit.bucket,
                .incarnation = node.facts.incarnation,
                .number = {epoch_, ++count_},
                .model = workload.spec.model->spec(),
                .fencing = workload.spec.control.fencing,
                .deadline = workload.spec.control.transition,
                .metadata = workload.spec.control.metadata};
  for (const ShardRecord& record : records.shards) {
    const auto holder = std::ranges::find(record.holders, node.name, &Holder::node);
    // What an earlier incarnation was told is not for this one.
    if (holder == record.holders.end() || holder->incarnation != target.incarnation) continue;
    target.replicas.push_back(detail::target_of(workload.spec, record, *holder));
  }
  return target;
}

// For people: who leads, who comes, who goes.
void Machine::Work::tell_of(const Unit& unit, const ShardRecord& before, const ShardRecord& after) {
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  const ShardId shard{workload.name, after.shard};
  if (after.version.epoch > before.version.epoch) {
    for (const Holder& holder : after.holders) {
      if (workload.spec.lead && holder.told == *workload.spec.lead)
        say(Event::Kind::leader, shard, holder.node,
            fmt::format("leads at epoch {} ({})", after.version.epoch, name(holder.reason)));
    }
  }
  if (after.seal && after.seal != before.seal)
    say(Event::Kind::seal, shard, std::nullopt, fmt::format("seals epoch {}", *after.seal));
  for (const Holder& holder : after.holders) {
    const auto old = std::ranges::find(before.holders, holder.node, &Holder::node);
    if (old == before.holders.end()) {
      say(Event::Kind::replica, shard, holder.node, fmt::format("is added ({})", name(holder.reason)));
    } else if (holder.told != old->told && holder.told.str() == state_dropped) {
      say(Event::Kind::replica, shard, holder.node, "is dropped");
    }
  }
}

// Decides the bucket's touched shards, and makes one commit of what changed. False: nothing did.
bool Machine::Work::work_on(std::uint32_t u) {
  Unit& unit = world_.units[u];
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  if (!workload.usable) {
    unit.dirty.clear();
    return false;
  }
  Commit commit;
  commit.records = {.workload = workload.name, .bucket = unit.bucket, .spec = unit.spec};
  commit.view = {.workload = workload.name,
                 .bucket = unit.bucket,
                 .shards_in_all = workload.document->spec.shards,
                 .key_map = workload.spec.control.key_map};
  std::set<std::uint32_t> affected;
  std::map<std::uint32_t, ShardOutput> changed;
  if (unit.respecified != workload.hash) {
    for (const ShardRecord& record : unit.records) {
      for (const Holder& holder : record.holders) unit.stale_targets.insert(world_.node(holder.node));
    }
    unit.respecified = workload.hash;
  }
  while (!unit.stale_targets.empty() && affected.size() < targets_max)
    affected.insert(unit.stale_targets.extract(unit.stale_targets.begin()).value());
  const bool respecified = !affected.empty();
  while (!unit.dirty.empty() && affected.size() < targets_max) {
    const std::uint32_t slot = unit.dirty.extract(unit.dirty.begin()).value();
    Instant later = Instant::max();
    ShardOutput output = decide(u, slot, later);
    const Instant wake = std::min(output.wake, later);
    if (wake < Instant::max()) wakes_.emplace(wake, std::pair(u, slot));
    if (output.forgets_order) commit.orders.push_back(unit.shards[slot]);
    if (output.record == unit.records[slot] && output.view == unit.views[slot]) continue;
    count_copies(u, slot, output.record);
    if (output.record.told != unit.records[slot].told) {
      for (const Holder& holder : output.record.holders) affected.insert(world_.node(holder.node));
      for (const Holder& holder : unit.records[slot].holders) affected.insert(world_.node(holder.node));
      const bool leads = output.record.version.epoch != unit.records[slot].version.epoch || output.record.seal;
      commit.urgent = commit.urgent || leads;
    }
    tell_of(unit, unit.records[slot], output.record);
    changed.emplace(slot, std::move(output));
  }
  if (changed.empty() && commit.orders.empty() && !respecified) return false;
  if (unit.stale_targets.empty()) commit.records.spec = workload.hash;
  for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
    const auto found = changed.find(slot);
    const ShardRecord& record = found == changed.end() ? unit.records[slot] : found->second.record;
    const ShardView& view = found == changed.end() ? unit.views[slot] : found->second.view;
    if (record.version != Version{}) commit.records.shards.push_back(record);
    if (view.version != Version{}) commit.view.shards.push_back(view);
  }
  for (const std::uint32_t node : affected) {
    Target target = target_of(unit, commit.records, node);
    if (target.replicas.empty()) {
      commit.untargeted.push_back(target.node);
    } else {
      commit.targets.push_back(std::move(target));
    }
  }
  if (commit.urgent) led_ = now_;
  unit.status = Unit::Status::writing;
  unit.pending = commit;
  out_.commits.push_back(std::move(commit));
  ++under_way_;
  return true;
}

}  // namespace evenkeel::control
