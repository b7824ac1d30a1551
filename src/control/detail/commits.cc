// From touched shards to commits: one bucket at a time, all its documents together.

#include <algorithm>
#include <utility>

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
  if (const auto column = std::ranges::find(world_.columns, disk); column != world_.columns.end()) {
    const auto* level = unit.loads[*unit.slot(shard)].find(static_cast<detail::Column>(column - world_.columns.begin()));
    if (level != nullptr && level->is_believed) return level->believed;
  }
  if (const auto own = spec.shard_loads.find(shard)) {
    const auto at = std::ranges::find(spec.shard_loads.resources, disk);
    if (at != spec.shard_loads.resources.end()) return (*own)[static_cast<std::size_t>(at - spec.shard_loads.resources.begin())];
  }
  const auto found = spec.load.find(disk);
  return found == spec.load.end() ? Quantity(0) : found->second;
}

// It has what there is to have on its node, and has been told to open it: it does so until it says otherwise.
bool Machine::Work::is_opening(const Unit& unit, std::uint32_t slot, const Holder& holder, std::uint32_t n) const {
  const bool comes_with_data = holder.arrived || holder.reason == Reason::first;
  const StateId& initial = world_.workloads[unit.workload].spec.model->initial();
  if (!comes_with_data || holder.told == initial || holder.incarnation != world_.nodes[n].facts.incarnation) return false;
  const auto held = std::ranges::find(unit.reports[slot], n, &detail::HeldReport::node);
  if (held == unit.reports[slot].end() || held->incarnation != holder.incarnation) return true;
  return held->report.state == initial && !held->report.gave_up;
}

// A shard that is split counts as one copy, where it is led; all its replicas copy at once, each on its own disk. Null: it is not.
const detail::NodeInfo* Machine::Work::splits_on(const ShardRecord& record) const {
  if (!record.split || (!record.split->from && record.split->ready.empty())) return nullptr;
  const detail::NodeInfo* node = world_.find_node(record.split->from ? *record.split->from : record.split->ready.front());
  return node != nullptr && node->facts.joined ? node : nullptr;
}

// Replicas that are on their way to nodes that are there, and those that open. What is being written ends none of them before it is written.
void Machine::Work::count_copies(std::uint32_t u, std::uint32_t slot, const ShardRecord& record) {
  const Unit& unit = world_.units[u];
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  const bool limits_openings = workload.usable && detail::limits_openings(world_.config.settings.control);
  const auto is_closed = [&](const Holder& holder) {  // it waits for its turn
    return workload.usable && holder.told == workload.spec.model->initial() && holder.told != workload.spec.rest;
  };
  std::vector<detail::Copy> copies;
  const auto add_one = [&](detail::Slot kind, const detail::NodeInfo& node, ShardIndex shard) {
    const auto n = static_cast<std::uint32_t>(&node - world_.nodes.data());
    const bool known = std::ranges::any_of(copies, [&](const detail::Copy& copy) {
      return copy.node == n && (copy.slot == detail::Slot::opening) == (kind == detail::Slot::opening);
    });
    if (!known) copies.push_back({kind, n, unit.workload, node.live->zone, bytes_of(unit, shard)});
  };
  const auto add = [&](const ShardRecord& from) {
    if (const detail::NodeInfo* node = splits_on(from); node != nullptr) add_one(detail::Slot::balance, *node, from.shard);
    for (const Holder& holder : from.holders) {
      const bool copied = from.has_data && !holder.arrived && !is_closed(holder);
      if ((!copied && !limits_openings) || holder.told.str() == state_dropped) continue;
      const detail::NodeInfo* node = world_.find_node(holder.node);
      if (node == nullptr || !node->facts.joined || node->facts.data != holder.data) continue;
      if (copied) add_one(holder.reason == Reason::balance ? detail::Slot::balance : detail::Slot::recovery, *node, from.shard);
      if (limits_openings && is_opening(unit, slot, holder, static_cast<std::uint32_t>(node - world_.nodes.data())))
        add_one(detail::Slot::opening, *node, from.shard);
    }
  };
  add(record);
  if (record != unit.records[slot]) add(unit.records[slot]);
  throttles_.set({u, slot}, std::move(copies));
}

// All of a bucket, as it will be when what is being written is. Until it is known whether it was, what was begun by it counts.
void Machine::Work::count_copies(std::uint32_t u) {
  const Unit& unit = world_.units[u];
  if (unit.status == Unit::Status::unread) return;
  for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
    const ShardRecord* written = unit.written(slot).first;
    count_copies(u, slot, written != nullptr ? *written : unit.records[slot]);
  }
}

// Replicas in error: where there are too many of them, nothing is moved for balance.
void Machine::Work::count_errors(std::uint32_t u, std::uint32_t slot) {
  Unit& unit = world_.units[u];
  std::uint32_t errors = 0;
  for (const detail::HeldReport& held : unit.reports[slot]) {
    const bool failed = held.report.gave_up || held.report.state.str() == state_error;
    const auto holder = std::ranges::find(unit.records[slot].holders, world_.nodes[held.node].name, &Holder::node);
    errors += failed && holder != unit.records[slot].holders.end() && holder->incarnation == held.incarnation ? 1 : 0;
  }
  if (errors == unit.in_error[slot]) return;
  world_.errors += errors - std::exchange(unit.in_error[slot], errors);
  if (too_many_errors() == stops_balance_) return;
  stops_balance_ = !stops_balance_;
  if (!stops_balance_) throttles_.look_again();
  say(Event::Kind::plan, std::nullopt, std::nullopt,
      stops_balance_ ? fmt::format("balance stops: {} replicas are in error", world_.errors) : "balance goes on");
}

bool Machine::Work::too_many_errors() const {
  std::uint64_t replicas = 0;
  for (const WorkloadInfo& workload : world_.workloads) {
    if (workload.usable && !workload.spec.deleted) replicas += std::uint64_t{workload.shards} * workload.spec.replicas;
  }
  const auto most = static_cast<std::uint64_t>(world_.config.settings.control.errors_max.millionths());
  return std::uint64_t{world_.errors} * 1'000'000 > replicas * most;
}

// The other half of a pair, while the workload is split.
detail::Half Machine::Work::half_of(const Unit& unit, std::uint32_t slot) const {
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  const auto at = world_.half_of(unit, slot);
  // A store that was put back may not know that it was split.
  const bool unknown = !at && workload.spec.split_from == 0 && is_lost(workload.name, unit.records[slot]);
  if (unknown) return {.orphaned = world_.has_stray(unit.workload, ShardIndex(unit.shards[slot].value() + workload.spec.shards))};
  if (!at) return {};
  const Unit& other = world_.units[at->first];
  const auto orphans = world_.orphans(other, at->second);
  const auto matters = [&](const detail::Orphan& orphan) { return detail::matters(orphan, workload.document->highest); };
  return {.record = &other.records[at->second],
          .facts = [this, &other, half = at->second](const NodeId& node) { return world_.facts(other, half, node); },
          .orphaned = std::ranges::any_of(orphans, matters),
          .lost = is_lost(workload.name, other.records[at->second])};
}

// `only_asks`: nothing is taken for it.
ShardOutput Machine::Work::decide(std::uint32_t u, std::uint32_t slot, Instant& later, bool only_asks) {
  Unit& unit = world_.units[u];
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  const auto order = unit.orders.find(unit.shards[slot]);
  const bool freezes_leaders = frozen() && !world_.config.freeze->keep_leaders;
  const detail::ShardInput input{.spec = workload.spec,
                                 .record = unit.records[slot],
                                 .view = unit.views[slot],
                                 .placement = unit.wanted[slot] && may_move() ? &*unit.wanted[slot] : nullptr,
                                 .facts = [&](const NodeId& node) { return world_.facts(unit, slot, node); },
                                 .highest = std::max(world_.highest(unit, slot), epochs_above()),
                                 .led = world_.led(unit, slot),
                                 .begins_above = workload.document->highest,
                                 .orphans = world_.orphans(unit, slot),
                                 .half = half_of(unit, slot),
                                 .lost = is_lost(workload.name, unit.records[slot]),
                                 .past = is_past(workload.name, unit.records[slot]),
                                 .may_move = may_move(),
                                 .may_change_leaders = !freezes_leaders,
                                 .order = order != unit.orders.end() ? &order->second : nullptr,
                                 .limits_openings = detail::limits_openings(world_.config.settings.control),
                                 .take_slot =
                                     [&](const NodeId& to, detail::Slot kind) {
                                       const detail::NodeInfo* node = world_.find_node(to);
                                       const detail::Copy copy{kind, static_cast<std::uint32_t>(node - world_.nodes.data()),
                                                               unit.workload, node->live ? node->live->zone : "",
                                                               bytes_of(unit, unit.shards[slot])};
                                       const ControlSettings& settings = world_.config.settings.control;
                                       if (only_asks) return throttles_.has_room(settings, copy, now_, stops_balance_);
                                       return throttles_.may_begin(settings, {u, slot}, copy, now_, stops_balance_, later);
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
    if (options_.broken == Broken::split_unsaid) target.replicas.back().shards = 0;
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

void Machine::Work::tell_of_split(const Unit& unit, std::uint32_t slot, const ShardRecord& before, const ShardRecord& after) {
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  const ShardId shard{workload.name, after.shard};
  const auto tell = [&](std::string text) { say(Event::Kind::workload, shard, std::nullopt, std::move(text)); };
  if (after.split && !before.split) tell(after.split->from ? "stands still, to be split" : "is being split");
  if (!before.split || after.split) return;
  if (after.shards != before.shards) {
    tell(fmt::format("is split: half of its keys are {}/{}'s", workload.name, after.shard.value() + workload.spec.split_from));
  } else {
    tell(fmt::format("is not split: {}", unit.timers[slot].unsplit_why));
  }
}

// Documents that say something old about the workload are written again.
void Machine::Work::draft_stale_targets(Unit& unit, Draft& draft) {
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  if (unit.respecified != workload.hash) {
    for (const ShardRecord& record : unit.records) {
      for (const Holder& holder : record.holders) unit.stale_targets.insert(world_.node(holder.node));
    }
    unit.respecified = workload.hash;
  }
  while (!unit.stale_targets.empty() && draft.affected.size() < targets_max)
    draft.affected.insert(unit.stale_targets.extract(unit.stale_targets.begin()).value());
  draft.respecified = !draft.affected.empty();
}

namespace {

// Whether nobody misses it for a moment: no replica is to do anything else than before, and clients find the leader where it was; or there is no data
// yet, or nobody has led but the first one. Where openings are limited, who was let open does not wait: others wait for that one.
bool can_wait(const ShardRecord& before, const ShardView& shown, const ShardOutput& output, bool limits_openings) {
  if (output.forgets_order || before.split || output.record.split || before.born || output.record.born) return false;
  if (!before.has_data && !limits_openings) return true;
  const ShardRecord& after = output.record;
  const auto same = [](const Holder& one, const Holder& other) {
    return one.node == other.node && one.incarnation == other.incarnation && one.told == other.told &&
           one.leaving == other.leaving;
  };
  if (after.version.epoch != before.version.epoch || after.seal != before.seal || after.hand_over != before.hand_over ||
      !std::ranges::equal(before.holders, after.holders, same))
    return false;
  const bool first = before.version.epoch == Epoch(1) && !before.seal;
  return first || (output.view.leader == shown.leader && output.view.next == shown.next);
}

}  // namespace

bool Machine::Work::put_off(std::uint32_t u, std::uint32_t slot, const ShardOutput& output) {
  Unit& unit = world_.units[u];
  const bool limits_openings = detail::limits_openings(world_.config.settings.control);
  if (now_ >= unit.rests_until || !can_wait(unit.records[slot], unit.views[slot], output, limits_openings)) return false;
  unit.put_off.insert(slot);
  rests_.emplace(unit.rests_until, u);
  return true;
}

void Machine::Work::draft_shard(std::uint32_t u, std::uint32_t slot, Draft& draft) {
  Unit& unit = world_.units[u];
  unit.put_off.erase(slot);
  Instant later = Instant::max();
  const bool recovery_waits = throttles_.recovery_waits();
  throttles_.forget({u, slot});
  ShardOutput output = decide(u, slot, later, false);
  if (recovery_waits && !throttles_.recovery_waits()) throttles_.look_again();
  if (unit.timers[slot].given_up || unit.timers[slot].timed_out) pausing_.emplace(u, unit.shards[slot]);
  const Instant wake = std::min(output.wake, later);
  if (wake > now_ && wake < Instant::max()) wakes_.emplace(wake, std::pair(u, slot));
  count_errors(u, slot);
  const ShardRecord& before = unit.records[slot];
  const bool same = output.record == before && output.view == unit.views[slot];
  if (!same && put_off(u, slot, output)) return count_copies(u, slot, before);
  count_copies(u, slot, output.record);
  if (output.forgets_order) {
    draft.commit.orders.push_back(unit.shards[slot]);
    const OrderDocument& order = unit.orders.at(unit.shards[slot]);
    unit.orders_done.insert_or_assign(unit.shards[slot], order);
    for (const NodeId& node : order.reset) {
      if (unit.gave_up.erase({slot, world_.node(node)}) > 0) world_.plan_due = true;
    }
  }
  if (same) return;
  if (output.record.told != before.told) {
    for (const Holder& holder : output.record.holders) draft.affected.insert(world_.node(holder.node));
    for (const Holder& holder : before.holders) draft.affected.insert(world_.node(holder.node));
    const bool leads = output.record.version.epoch != before.version.epoch || output.record.seal;
    draft.commit.urgent = draft.commit.urgent || leads;
  }
  tell_of(unit, before, output.record);
  tell_of_split(unit, slot, before, output.record);
  draft.changed.emplace(slot, std::move(output));
}

// All documents of the bucket, as they are from now on.
void Machine::Work::finish(std::uint32_t u, Draft& draft) {
  Unit& unit = world_.units[u];
  Commit& commit = draft.commit;
  if (unit.stale_targets.empty()) commit.records.spec = world_.workloads[unit.workload].hash;
  commit.records.shards.reserve(unit.shards.size());
  commit.view.shards.reserve(unit.shards.size());
  for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
    const auto found = draft.changed.find(slot);
    const ShardRecord& record = found == draft.changed.end() ? unit.records[slot] : found->second.record;
    const ShardView& view = found == draft.changed.end() ? unit.views[slot] : found->second.view;
    if (record.version != Version{}) commit.records.shards.push_back(record);
    if (view.version != Version{}) commit.view.shards.push_back(view);
  }
  std::vector<std::uint32_t> nodes(draft.affected.begin(), draft.affected.end());
  std::ranges::sort(nodes, {}, [&](std::uint32_t n) -> const NodeId& { return world_.nodes[n].name; });
  for (const std::uint32_t node : nodes) {
    Target target = target_of(unit, commit.records, node);
    if (target.replicas.empty()) {
      commit.untargeted.push_back(target.node);
    } else if (!world_.nodes[node].facts.over) {  // else nobody reads it: who comes back is another incarnation
      commit.targets.push_back(std::move(target));
    }
  }
  if (commit.urgent) led_ = now_;
  unit.status = Unit::Status::writing;
  unit.rests_until = now_ + options_.gather;
  detail::Written written{.spec = commit.records.spec};
  for (auto& [slot, output] : draft.changed) {
    if (output.record.version != Version{}) written.records.push_back(std::move(output.record));
    if (output.view.version != Version{}) written.views.push_back(std::move(output.view));
  }
  unit.pending = std::move(written);
  out_.commits.push_back(std::move(commit));
  ++under_way_;
}

// Decides the bucket's touched shards, and makes one commit of what changed. False: nothing did.
bool Machine::Work::work_on(std::uint32_t u) {
  Unit& unit = world_.units[u];
  const WorkloadInfo& workload = world_.workloads[unit.workload];
  if (!workload.usable) {
    unit.dirty.clear();
    return false;
  }
  unit.orders_done.clear();
  Draft draft;
  draft.commit.records = {.workload = workload.name, .bucket = unit.bucket, .spec = unit.spec};
  draft.commit.view = {.workload = workload.name,
                       .bucket = unit.bucket,
                       .shards_in_all = workload.shards,
                       .key_map = workload.spec.control.key_map,
                       .split_from = workload.spec.split_from,
                       .idle = workload.spec.model->idle()};
  draft_stale_targets(unit, draft);
  while (!unit.dirty.empty() && draft.affected.size() < targets_max)
    draft_shard(u, unit.dirty.extract(unit.dirty.begin()).value(), draft);
  if (!draft.changed.empty()) {  // then with all that was put off
    unit.rests_until = {};
    while (!unit.put_off.empty() && draft.affected.size() < targets_max)
      draft_shard(u, unit.put_off.extract(unit.put_off.begin()).value(), draft);
  }
  if (draft.changed.empty() && draft.commit.orders.empty() && !draft.respecified) return false;
  finish(u, draft);
  return true;
}

// A workload whose last shard is split is not being split any more. What was found to be split is not looked at again.
void Machine::Work::look_at_splits() {
  for (WorkloadInfo& workload : world_.workloads) {
    const std::uint32_t from = workload.spec.split_from;
    if (!workload.usable || workload.spec.deleted || from == 0) continue;
    const auto is_split = [&](std::uint32_t shard) {
      const auto at = find({workload.name, ShardIndex(shard)});
      return at && world_.units[at->first].records[at->second].shards == workload.spec.shards;
    };
    while (workload.split_shards < from && is_split(workload.split_shards)) ++workload.split_shards;
    if (workload.split_shards < from) continue;
    WorkloadDocument document = *workload.document;
    document.split_from = 0;
    if (put_until_seen({.kind = Key::Kind::workload, .workload = workload.name}, std::move(document)))
      say(Event::Kind::workload, std::nullopt, std::nullopt,
          fmt::format("{} is split: it has {} shards", workload.name, workload.spec.shards));
  }
}

void Machine::Work::look_at_deleted() {
  for (const std::uint32_t w : std::set(world_.deleted)) bury(w);
}

// A deleted workload that nobody holds any more: first its highest epoch is written down, then its documents go.
void Machine::Work::bury(std::uint32_t w) {
  WorkloadInfo& workload = world_.workloads[w];
  if (!workload.document->deleted) {
    world_.deleted.erase(w);
    return;
  }
  const auto is_held = [](const ShardRecord& record) { return !record.holders.empty(); };
  if (workload.last_held < workload.units.size() &&
      std::ranges::any_of(world_.units[workload.units[workload.last_held]].records, is_held))
    return;
  Epoch highest = workload.document->highest;
  bool left = false;
  for (std::size_t b = 0; b < workload.units.size(); ++b) {
    const Unit& unit = world_.units[workload.units[b]];
    if (unit.status != Unit::Status::idle) return;
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      if (is_held(unit.records[slot])) {
        workload.last_held = b;
        return;
      }
      left = left || unit.records[slot].version != Version{} || unit.views[slot].version != Version{};
      highest = std::max({highest, unit.records[slot].version.epoch, world_.highest(unit, slot)});
    }
  }
  if (!left) {
    world_.deleted.erase(w);
    return;
  }
  if (highest > workload.document->highest && options_.broken != Broken::forget_deleted_epochs) {
    WorkloadDocument document = *workload.document;
    document.highest = highest;
    put_until_seen({.kind = Key::Kind::workload, .workload = workload.name}, std::move(document));
    return;
  }
  for (const std::uint32_t u : workload.units) {
    Unit& unit = world_.units[u];
    Commit commit{.erases = true};
    commit.records = {.workload = workload.name, .bucket = unit.bucket};
    commit.view = {.workload = workload.name, .bucket = unit.bucket};
    for (const auto& [shard, order] : unit.orders) commit.orders.push_back(shard);
    unit.orders_done = unit.orders;
    unit.status = Unit::Status::writing;
    unit.pending = detail::Written{.erases = true};
    out_.commits.push_back(std::move(commit));
    ++under_way_;
  }
  say(Event::Kind::workload, std::nullopt, std::nullopt,
      fmt::format("{} is gone; its epochs went up to {}", workload.name, highest));
}

}  // namespace evenkeel::control
