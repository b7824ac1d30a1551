#include "evenkeel/control/machine.h"

#include <algorithm>

#include "evenkeel/control/detail/work.h"

namespace evenkeel::control {

using detail::Unit;

Machine::Machine(MachineOptions options) : work_(std::make_unique<Work>(std::move(options))) {}
Machine::~Machine() = default;
Output Machine::step(Input input, Instant now) { return work_->step(std::move(input), now); }
bool Machine::at_rest() const { return work_->at_rest(); }
Overview Machine::overview() const { return work_->overview(); }
std::vector<NodeState> Machine::nodes(Instant now) const { return work_->nodes(now); }
std::optional<ShardState> Machine::explain(const ShardId& shard) const { return work_->explain(shard); }

void Machine::Work::say(Event::Kind kind, std::optional<ShardId> shard, std::optional<NodeId> node, std::string text) {
  if (active_) out_.events.push_back({kind, std::move(shard), std::move(node), std::move(text)});
}

Output Machine::Work::step(Input input, Instant now) {
  now_ = std::max(now_, now);
  out_ = {};
  std::visit([&](auto&& what) { take(std::move(what)); }, std::move(input));
  for (const std::uint32_t node : std::exchange(nodes_touched_, {})) {
    if (world_.refresh(node, now_)) {
      world_.touch_node(node);
      world_.plan_due = true;
      nodes_due_ = true;
    }
  }
  if (active_) round();
  return std::move(out_);
}

// 1. Inputs.

void Machine::Work::take(Saw saw) {
  const auto as = [&]<class T>(std::type_identity<T>) -> std::optional<T> {
    if (!saw.document) return std::nullopt;
    ensure(std::holds_alternative<T>(*saw.document), "a document of the kind that its key says");
    return std::get<T>(std::move(*saw.document));
  };
  const auto node = [&] {
    const std::uint32_t n = world_.node(saw.key.node);
    nodes_touched_.insert(n);
    return n;
  };
  switch (saw.key.kind) {
    case Key::Kind::config:
      if (auto document = as(std::type_identity<ConfigDocument>())) world_.take_config(std::move(*document));
      nodes_due_ = true;
      break;
    case Key::Kind::node:
      world_.nodes[node()].order = as(std::type_identity<NodeDocument>()).value_or(NodeDocument{});
      world_.plan_due = true;
      break;
    case Key::Kind::workload:
      world_.take_workload(world_.workload(saw.key.workload), as(std::type_identity<WorkloadDocument>()));
      break;
    case Key::Kind::live:
      world_.take_live(node(), as(std::type_identity<LiveDocument>()));
      break;
    case Key::Kind::beat:
      world_.take_beat(node(), as(std::type_identity<BeatSeen>()), now_);
      break;
    case Key::Kind::report:
      world_.take_report(node(), saw.key, as(std::type_identity<Report>()));
      break;
    case Key::Kind::shards:
      if (Unit* unit = world_.find_unit(saw.key.workload, saw.key.bucket);
          unit != nullptr && unit->status == Unit::Status::unread)
        throttles_.forget_waiting();
      world_.take_records(saw.key, as(std::type_identity<RecordBucket>()));
      break;
    case Key::Kind::view:
      world_.take_view(saw.key, as(std::type_identity<ViewBucket>()));
      break;
    case Key::Kind::permit:
      world_.nodes[node()].permit = as(std::type_identity<PermitDocument>());
      nodes_due_ = true;
      break;
    case Key::Kind::order:
      world_.take_order(saw.key, as(std::type_identity<OrderDocument>()));
      break;
    case Key::Kind::waits:
      if (!active_) waits_ = as(std::type_identity<WaitsDocument>()).value_or(WaitsDocument{});
      break;
    case Key::Kind::target:
    case Key::Kind::controller:
    case Key::Kind::controller_epoch:
      break;
  }
}

void Machine::Work::take(Elected elected) {
  active_ = true;
  epoch_ = elected.epoch;
  count_ = 0;
  under_way_ = 0;
  planning_ = false;
  plan_since_.reset();
  saved_ = now_;
  for (std::uint32_t n = 0; n < world_.nodes.size(); ++n) {
    detail::NodeInfo& node = world_.nodes[n];
    world_.refresh(n, now_);
    // What was waited before counts; since when it is gone on this clock is now.
    if (node.gone_since) {
      const auto waited = waits_.gone.find(node.name);
      node.gone_before = waited == waits_.gone.end() ? Duration{} : waited->second;
      node.gone_since = now_;
    }
    const auto permitted = waits_.permits.find(node.name);
    node.permit_before = permitted == waits_.permits.end() ? Duration{} : permitted->second;
    // Nobody who has a record is without a session unless that is proved.
    if (!node.beat && !node.beatless_since) node.beatless_since = now_;
  }
  if (waits_.entered) maintenance_ = "it was in maintenance before this controller";
  maintenance_since_ = now_;
  for (std::uint32_t u = 0; u < world_.units.size(); ++u) {
    for (std::uint32_t slot = 0; slot < world_.units[u].shards.size(); ++slot)
      count_copies(u, slot, world_.units[u].records[slot]);
  }
  world_.touch_all();
  world_.plan_due = true;
  nodes_due_ = true;
}

void Machine::Work::take(Deposed) {
  active_ = false;
  for (Unit& unit : world_.units) {
    if (unit.status == Unit::Status::writing) unit.status = Unit::Status::unread;
    unit.pending.reset();
  }
}

void Machine::Work::take(Answered answered) {
  Unit* unit = world_.find_unit(answered.workload, answered.bucket);
  if (!active_ || unit == nullptr || under_way_ == 0) return;
  --under_way_;
  const auto u = static_cast<std::uint32_t>(unit - world_.units.data());
  if (!unit->dirty.empty()) world_.dirty_units.insert(u);
  if (answered.outcome == Answered::Outcome::unknown) {
    unit->status = Unit::Status::unread;
    unit->pending.reset();
    return;
  }
  if (answered.outcome == Answered::Outcome::moved || !unit->pending) {
    if (unit->status == Unit::Status::writing) unit->status = Unit::Status::unread;
    unit->pending.reset();
    return;
  }
  nodes_due_ = nodes_due_ || permits_wait_;
  const Commit commit = *std::exchange(unit->pending, std::nullopt);
  unit->status = Unit::Status::idle;
  unit->spec = commit.records.spec;
  for (const ShardIndex shard : commit.orders) unit->orders.erase(shard);
  const auto take_in = [&](const ShardRecord& record) {
    const auto slot = unit->slot(record.shard);
    if (slot && unit->wanted[*slot]) world_.touch(u, *slot);
    if (!slot || unit->records[*slot] == record) return;
    const auto settled = [](const ShardRecord& one) { return std::ranges::count_if(one.holders, &Holder::arrived); };
    if (plan_again_ && settled(unit->records[*slot]) != settled(record)) world_.plan_due = true;
    unit->records[*slot] = record;
    if (unit->wanted[*slot] == record.placement) unit->wanted[*slot].reset();
    world_.index(u, *slot);
    world_.touch(u, *slot);
  };
  for (const ShardRecord& record : commit.records.shards) take_in(record);
  for (const ShardView& view : commit.view.shards) {
    if (const auto slot = unit->slot(view.shard)) unit->views[*slot] = view;
  }
}

void Machine::Work::take(Planned planned) {
  if (!planning_ || !problem_) return;
  planning_ = false;
  const Cluster problem = *std::exchange(problem_, std::nullopt);
  if (!active_ || !may_move()) return;
  const std::size_t changed = detail::take_plan(world_, problem, planned.plan);
  plan_again_ = planned.plan.stats.cut_short || !planned.plan.refused.empty() || !planned.plan.violations.empty() ||
                !problem.moving.empty();
  if (changed > 0) say(Event::Kind::plan, std::nullopt, std::nullopt, fmt::format("places {} shards anew", changed));
  for (const place::Refusal& refusal : planned.plan.refused) {
    const std::optional<ShardId> shard = refusal.shard ? std::optional(ShardId{refusal.workload, *refusal.shard}) : std::nullopt;
    say(Event::Kind::plan, shard, std::nullopt, fmt::format("{}: no place: {}", refusal.workload, refusal.detail));
  }
}

void Machine::Work::take(Tick) {}

// 2. The round.

void Machine::Work::ask_for_plan() {
  if (!world_.plan_due || planning_ || !may_move()) return;
  if (!plan_since_) plan_since_ = now_;
  // A problem is made of all shards, which takes as long as the fail-over of hundreds of them: leadership goes first.
  const Instant quiet = std::max(*plan_since_, led_) + options_.plan_pause;
  const Instant due = std::min(quiet, *plan_since_ + options_.plan_patience);
  if (now_ < due) return wake_at(due);
  plan_since_.reset();
  world_.plan_due = false;
  detail::place_everywhere(world_);
  problem_ = detail::problem_of(world_, options_.cluster, now_);
  for (const detail::Trouble& trouble : detail::leave_out_what_is_wrong(*problem_))
    say(Event::Kind::error, std::nullopt, std::nullopt, fmt::format("cannot be planned: {}", trouble.what));
  if (problem_->workloads.empty()) return problem_.reset();
  planning_ = true;
  out_.plan = *problem_;
}

// Nodes are looked at when one of them means something else than before, or something that was waited for is due.
void Machine::Work::look_around() {
  if (!nodes_due_ && now_ < nodes_wake_) return wake_at(nodes_wake_);
  nodes_due_ = false;
  const Instant others = std::exchange(out_.wake, Instant::max());
  look_at_nodes();
  look_at_pulses();
  look_at_maintenance();
  look_at_permits();
  save_waits();
  nodes_wake_ = out_.wake;
  wake_at(others);
}

void Machine::Work::round() {
  look_around();
  for (const auto& [unit, slot] : throttles_.take_waiting()) world_.touch(unit, slot);
  while (!wakes_.empty() && wakes_.begin()->first <= now_) {
    const auto [unit, slot] = wakes_.begin()->second;
    wakes_.erase(wakes_.begin());
    if (slot < world_.units[unit].shards.size()) world_.touch(unit, slot);
  }
  ask_for_plan();
  for (auto at = world_.dirty_units.begin(); at != world_.dirty_units.end() && under_way_ < options_.commits_max;) {
    const std::uint32_t unit = *at;
    if (world_.units[unit].status != Unit::Status::idle) {
      at = world_.dirty_units.erase(at);  // it is touched again when its answer has come
      continue;
    }
    work_on(unit);
    at = world_.units[unit].dirty.empty() || world_.units[unit].status != Unit::Status::idle ? world_.dirty_units.erase(at)
                                                                                             : std::next(at);
  }
  std::ranges::stable_sort(out_.commits, std::greater<>(), &Commit::urgent);
  if (!wakes_.empty()) wake_at(wakes_.begin()->first);
}

// 3. What people ask.

Overview Machine::Work::overview() const {
  Overview overview{.active = active_,
                    .epoch = epoch_,
                    .maintenance = maintenance_,
                    .offline = count_offline(),
                    .copies = throttles_.under_way()};
  if (world_.config.maintenance) overview.maintenance = world_.config.maintenance->reason;
  for (const Unit& unit : world_.units) {
    const detail::WorkloadInfo& workload = world_.workloads[unit.workload];
    if (!workload.usable) continue;
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      const ShardView& view = unit.views[slot];
      const std::size_t serving = view.others.size() + (view.leader ? 1 : 0);
      overview.leaderless += workload.spec.lead && !view.leader ? 1 : 0;
      overview.below_min_active += serving < workload.spec.min_active ? 1 : 0;
      for (const detail::HeldReport& held : unit.reports[slot]) {
        const bool known = std::ranges::find(unit.records[slot].holders, world_.nodes[held.node].name, &Holder::node) !=
                           unit.records[slot].holders.end();
        const bool dropped = held.report.state.str() == state_dropped;
        if (!known && !dropped && overview.orphans.size() < 100) overview.orphans.push_back({workload.name, unit.shards[slot]});
      }
    }
  }
  return overview;
}

std::vector<NodeState> Machine::Work::nodes(Instant now) const {
  std::map<NodeId, NodeState> states;
  for (const detail::NodeInfo& node : world_.nodes) {
    states[node.name] = {.node = node.name,
                         .joined = node.facts.joined,
                         .suspect = node.facts.suspect,
                         .gone = detail::gone_for(node, now),
                         .operation = node.order.operation};
  }
  for (const Unit& unit : world_.units) {
    const detail::WorkloadInfo& workload = world_.workloads[unit.workload];
    for (const ShardRecord& record : unit.records) {
      for (const Holder& holder : record.holders) {
        if (holder.told.str() == state_dropped) continue;
        NodeState& state = states[holder.node];
        ++state.replicas;
        state.leaders += workload.spec.lead && holder.told == *workload.spec.lead ? 1 : 0;
      }
    }
  }
  std::vector<NodeState> list;
  for (auto& [name, state] : states) list.push_back(std::move(state));
  return list;
}

std::optional<ShardState> Machine::Work::explain(const ShardId& shard) {
  const detail::WorkloadInfo* workload = world_.find_workload(shard.workload);
  if (workload == nullptr || workload->units.empty()) return std::nullopt;
  const std::uint32_t u = workload->units[bucket_of(shard, static_cast<std::uint32_t>(workload->units.size())).value()];
  const Unit& unit = world_.units[u];
  const auto slot = unit.slot(shard.shard);
  if (!slot) return std::nullopt;
  ShardState state{unit.records[*slot], unit.views[*slot], {}};
  if (!workload->usable) {
    state.why.push_back(workload->trouble);
    return state;
  }
  const detail::ShardTimers timers = unit.timers[*slot];
  const std::vector<detail::Copy> copies = throttles_.of({u, *slot});
  Instant later = Instant::max();
  for (detail::Why& why : decide(u, *slot, later).why) state.why.push_back(std::move(why.what));
  world_.units[u].timers[*slot] = timers;
  throttles_.set({u, *slot}, copies);
  return state;
}

}  // namespace evenkeel::control
