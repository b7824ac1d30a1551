#include "evenkeel/control/machine.h"

#include <algorithm>

#include "evenkeel/control/detail/work.h"

namespace evenkeel::control {

using detail::Unit;

Machine::Machine(MachineOptions options) : work_(std::make_unique<Work>(std::move(options))) {}
Machine::~Machine() = default;
Output Machine::step(Input input, Instant now) {
  std::vector<Input> inputs;
  inputs.push_back(std::move(input));
  return work_->step(std::move(inputs), now);
}
Output Machine::step(std::vector<Input> inputs, Instant now) { return work_->step(std::move(inputs), now); }
bool Machine::at_rest() const { return work_->at_rest(); }
Epoch Machine::highest_epoch() const { return work_->highest_epoch(); }
std::map<WorkloadId, std::uint32_t> Machine::with_data() const { return work_->with_data(); }
Overview Machine::overview() const { return work_->overview(); }
std::vector<NodeState> Machine::nodes(Instant now) const { return work_->nodes(now); }
std::vector<WorkloadState> Machine::workloads() const { return work_->workloads(); }
std::optional<ShardView> Machine::view(const ShardId& shard) const { return work_->view(shard); }
bool Machine::knows(const NodeId& node, Incarnation incarnation) const { return work_->knows(node, incarnation); }
bool Machine::knows(const WorkloadId& workload) const { return work_->knows(workload); }
std::optional<ShardState> Machine::explain(const ShardId& shard) const { return work_->explain(shard); }
Stoppable Machine::stoppable(const std::vector<NodeId>& nodes) const { return work_->stoppable(nodes); }

void Machine::Work::say(Event::Kind kind, std::optional<ShardId> shard, std::optional<NodeId> node, std::string text) {
  if (active_) out_.events.push_back({kind, std::move(shard), std::move(node), std::move(text)});
}

Output Machine::Work::step(std::vector<Input> inputs, Instant now) {
  now_ = std::max(now_, now);
  out_ = {};
  for (Input& input : inputs) std::visit([&](auto&& what) { take(std::move(what)); }, std::move(input));
  for (const std::uint32_t unit : std::exchange(world_.relaid, {})) {
    if (active_) count_copies(unit);  // before anything is decided by it
  }
  if (active_) {
    round();
  } else {
    for (const std::uint32_t node : std::exchange(world_.nodes_touched, {})) world_.refresh(node, now_);
  }
  return std::move(out_);
}

// 1. Inputs.

// Long because it has a case for each kind of document.
void Machine::Work::take(Saw saw) {
  const auto as = [&]<class T>(std::type_identity<T>) -> std::optional<T> {
    if (!saw.document) return std::nullopt;
    ensure(std::holds_alternative<T>(*saw.document), "a document of the kind that its key says");
    return std::get<T>(std::move(*saw.document));
  };
  const auto node = [&] {
    const std::uint32_t n = world_.node(saw.key.node);
    world_.nodes_touched.insert(n);
    return n;
  };
  puts_.erase({saw.key.kind, saw.key.node, saw.key.workload});
  switch (saw.key.kind) {
    case Key::Kind::config:
      if (auto document = as(std::type_identity<ConfigDocument>())) take(std::move(*document));
      break;
    case Key::Kind::node:
      world_.nodes[node()].order = as(std::type_identity<NodeDocument>()).value_or(NodeDocument{});
      world_.plan_due = true;
      break;
    case Key::Kind::workload: {
      auto document = as(std::type_identity<WorkloadDocument>());
      if (document && document->deleted) lost_.erase(saw.key.workload);  // nobody asks for it any more
      world_.take_workload(world_.workload(saw.key.workload), std::move(document));
      break;
    }
    case Key::Kind::live:
      world_.take_live(node(), as(std::type_identity<LiveDocument>()));
      break;
    case Key::Kind::member: {
      const std::uint32_t n = node();
      world_.nodes[n].remembered = saw.document.has_value();
      world_.take_live(n, as(std::type_identity<LiveDocument>()));
      break;
    }
    case Key::Kind::beat:
      world_.take_beat(node(), as(std::type_identity<BeatSeen>()), now_);
      break;
    case Key::Kind::report:
      world_.take_report(node(), saw.key, as(std::type_identity<Report>()), now_);
      break;
    case Key::Kind::shards:
      world_.take_records(saw.key, as(std::type_identity<RecordBucket>()));
      permits_due_ = permits_;  // some may have waited for it
      break;
    case Key::Kind::view:
      world_.take_view(saw.key, as(std::type_identity<ViewBucket>()));
      break;
    case Key::Kind::permit:
      take(node(), as(std::type_identity<PermitDocument>()));
      break;
    case Key::Kind::order:
      world_.take_order(saw.key, as(std::type_identity<OrderDocument>()));
      break;
    case Key::Kind::waits:
      waits_ = as(std::type_identity<WaitsDocument>()).value_or(WaitsDocument{});
      learn_of_losses();
      break;
    case Key::Kind::target:
    case Key::Kind::controller_epoch:
      break;
  }
}

// What others have written down of a loss, beside what this controller knows of it.
void Machine::Work::learn_of_losses() {
  for (const auto& [workload, shards] : waits_.lost) {
    const detail::WorkloadInfo* known = world_.find_workload(workload);
    if (known == nullptr || !known->document || !known->document->deleted) lost_[workload] = std::max(lost_[workload], shards);
  }
}

void Machine::Work::take(ConfigDocument config) {
  // Another freeze than before begins anew, whatever became of that one.
  if (active_ && config.freeze != world_.config.freeze) freeze_ = {};
  if (active_ && config.maintenance != world_.config.maintenance) manual_ = {};
  counts_changed_ = true;
  const bool limited = detail::limits_openings(world_.config.settings.control);
  world_.take_config(std::move(config));
  if (detail::limits_openings(world_.config.settings.control) == limited) return;
  for (std::uint32_t u = 0; u < world_.units.size(); ++u) count_copies(u);  // openings are counted only where they are limited
}

void Machine::Work::take(std::uint32_t n, std::optional<PermitDocument> permit) {
  detail::NodeInfo& node = world_.nodes[n];
  const bool same = permit && node.permit && permit->incarnation == node.permit->incarnation;
  node.permit = std::move(permit);
  node.granting = false;
  if (!same) {
    node.permit_since.reset();
    node.permit_before = {};
    node.permit_over = false;
  }
  if (node.permit) {
    permits_.insert(n);
    permits_due_.insert(n);
  } else {
    permits_.erase(n);
  }
  world_.plan_due = true;
}

// What only this office knew: the next one begins as any successor does, with what the documents say.
void Machine::Work::forget_office() {
  count_ = 0;
  under_way_ = 0;
  planning_ = false;
  problem_.reset();
  plan_since_.reset();
  plan_again_ = false;
  wakes_.clear();
  node_wakes_.clear();
  rests_.clear();
  puts_.clear();
  led_ = {};
  maintenance_.reset();
  maintenance_before_ = {};
  manual_ = freeze_ = {};
  pulsing_.clear();
  suspects_.clear();
  waiting_.clear();
  unsteady_.clear();
  pausing_.clear();
  turned_suspect_.clear();
  world_.bars_end.clear();
  world_.barring.clear();
  world_.distrusts_itself = false;
  stops_balance_ = false;
  throttles_ = detail::Throttles(options_.broken);
  forget_loads();
  for (detail::NodeInfo& node : world_.nodes) {
    node.pulse_every = {};
    node.pulse_broken = node.suspected = node.permit_over = node.was_on_permit = node.granting = node.facts.stopping = false;
    node.waited_out.reset();
    node.steady_since.reset();
    node.permit_since.reset();
    node.wake = Instant::max();
  }
  for (Unit& unit : world_.units) {
    unit.progress.clear();
    unit.gave_up.clear();
    std::ranges::fill(unit.timers, detail::ShardTimers{});
    if (unit.status == Unit::Status::writing) unit.status = Unit::Status::unread;
    unit.pending.reset();
    unit.put_off.clear();
    unit.rests_until = {};
  }
  world_.want_nothing();
}

void Machine::Work::take(Elected elected) {
  forget_office();
  if (options_.broken == Broken::forget_waits) waits_ = {};
  active_ = true;
  epoch_ = elected.epoch;
  saved_ = now_;
  saved_waits_ = waits_;
  for (std::uint32_t n = 0; n < world_.nodes.size(); ++n) {
    detail::NodeInfo& node = world_.nodes[n];
    // Nobody who has a record is without a session unless that is proved.
    node.beatless_since.reset();
    if (!node.beat) node.beatless_since = now_;
    const auto permitted = waits_.permits.find(node.name);
    node.permit_before = permitted == waits_.permits.end() ? Duration{} : permitted->second;
    if (node.permit) permits_.insert(n);
    if (const auto steady = waits_.steady.find(node.name); steady != waits_.steady.end()) {
      node.steady_since = now_ - std::clamp(steady->second, Duration{}, world_.config.settings.control.steady);
      unsteady_.insert(n);
    }
    world_.refresh(n, now_);
    // What was waited before counts; since when it is gone on this clock is now.
    if (node.gone_since) {
      const auto waited = waits_.gone.find(node.name);
      node.gone_before = waited == waits_.gone.end() ? Duration{} : waited->second;
      node.gone_since = now_;
    }
    world_.nodes_touched.insert(n);
  }
  permits_due_ = permits_;
  manual_.before = freeze_.before = {};
  freeze_.over = options_.broken == Broken::forget_freeze;
  if (world_.config.maintenance) manual_.before = waits_.maintenance.value_or(Duration{});
  if (waits_.entered) {
    maintenance_ = "it was in maintenance before this controller";
    if (!world_.config.maintenance) maintenance_before_ = waits_.maintenance.value_or(Duration{});
  }
  freeze_.before = waits_.freeze.value_or(Duration{});
  loads_awaited_ = waits_.measured && options_.broken != Broken::level_unmeasured;
  const ControlSettings& settings = world_.config.settings.control;
  if (loads_awaited_) loads_look_ = now_ + std::max(settings.loads_pause, settings.session_ttl);
  maintenance_since_ = now_;
  counts_changed_ = true;
  take_up_shard_waits();
  for (std::uint32_t u = 0; u < world_.units.size(); ++u) {
    const Unit& unit = world_.units[u];
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      count_copies(u, slot, unit.records[slot]);
      for (const detail::HeldReport& held : unit.reports[slot]) {
        if (held.report.gave_up && !unit.gave_up.contains({slot, held.node}))
          world_.bar(u, slot, held.node, now_, held.incarnation);
      }
    }
  }
  world_.touch_all();
  world_.plan_due = true;
}

void Machine::Work::take(Deposed) {
  active_ = false;
  forget_office();
}

void Machine::Work::take(Answered answered) {
  Unit* unit = world_.find_unit(answered.workload, answered.bucket);
  if (!active_ || unit == nullptr || under_way_ == 0) return;
  --under_way_;
  const auto u = static_cast<std::uint32_t>(unit - world_.units.data());
  if (!unit->dirty.empty()) world_.dirty_units.insert(u);
  if (answered.outcome != Answered::Outcome::done || !unit->pending) {
    if (answered.outcome == Answered::Outcome::unknown || unit->status == Unit::Status::writing)
      unit->status = options_.broken == Broken::go_on_unread ? Unit::Status::idle : Unit::Status::unread;
    unit->pending.reset();
    return;
  }
  for (const std::uint32_t n : permits_) {
    if (world_.nodes[n].units.contains(u)) permits_due_.insert(n);
  }
  take_in(u, *std::exchange(unit->pending, std::nullopt));
}

// What was written is what is.
void Machine::Work::take_in(std::uint32_t u, detail::Written written) {
  Unit& unit = world_.units[u];
  unit.status = Unit::Status::idle;
  unit.spec = written.spec;
  // One that has come since is still to be done.
  for (const auto& [shard, done] : std::exchange(unit.orders_done, {})) {
    const auto order = unit.orders.find(shard);
    if (order != unit.orders.end() && order->second == done) unit.orders.erase(order);
  }
  if (written.erases) {
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      unit.records[slot] = {.shard = unit.shards[slot]};
      unit.views[slot] = {.shard = unit.shards[slot]};
      unit.loads[slot] = {};
      unit.wanted[slot].reset();
      world_.index(u, slot);
    }
    unit.spec = unit.respecified = 0;
    return;
  }
  for (ShardView& view : written.views) {
    const auto slot = unit.slot(view.shard);
    if (!slot) continue;
    if (unit.views[*slot].leader != view.leader && !unit.loads[*slot].said.empty()) world_.loads_touched.emplace(u, *slot);
    unit.views[*slot] = std::move(view);
  }
  const auto settled = [](const ShardRecord& one) { return std::ranges::count_if(one.holders, &Holder::arrived); };
  for (ShardRecord& record : written.records) {
    const auto slot = unit.slot(record.shard);
    if (!slot || unit.records[*slot] == record) continue;
    if (plan_again_ && settled(unit.records[*slot]) != settled(record)) world_.plan_due = true;
    unit.records[*slot] = std::move(record);
    count_copies(u, *slot, unit.records[*slot]);
    world_.index(u, *slot);
    world_.touch(u, *slot);
    world_.touch_half(u, *slot);
  }
  // A placement that is written is not wanted any more; one that is not is looked at again.
  for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
    if (!unit.wanted[slot] || unit.records[slot].version == Version{}) continue;
    world_.touch(u, slot);
    if (unit.wanted[slot] != unit.records[slot].placement) continue;
    unit.wanted[slot].reset();
    world_.index(u, slot);
  }
}

bool Machine::Work::put_until_seen(const Key& key, PutDocument document) {
  const KeyOf of{key.kind, key.node, key.workload};
  const auto found = puts_.find(of);
  const bool again = found != puts_.end() && found->second.first == document;
  if (again && now_ < found->second.second + options_.put_again) {
    wake_at(found->second.second + options_.put_again);
    return false;
  }
  puts_.insert_or_assign(of, std::pair(document, now_));
  out_.puts.push_back({key, std::move(document)});
  wake_at(now_ + options_.put_again);
  return !again;
}

void Machine::Work::take(Planned planned) {
  if (!planning_ || !problem_) return;
  planning_ = false;
  const Cluster problem = *std::exchange(problem_, std::nullopt);
  if (!active_) return;
  note_refusals(planned.plan);
  if (!may_move() || plan_outdated_) {
    world_.plan_due = true;  // once it may
    return;
  }
  const std::size_t changed = detail::take_plan(world_, problem, planned.plan);
  plan_again_ = planned.plan.stats.cut_short || !planned.plan.refused.empty() || !planned.plan.violations.empty() ||
                !problem.moving.empty();
  if (!world_.columns.empty()) {  // by the new placement
    count_loads();
    watch_loads();
  }
  if (changed > 0)
    say(Event::Kind::plan, std::nullopt, std::nullopt,
        fmt::format("places {} shards anew{}", changed, planning_for_loads_ ? ": loads have changed" : ""));
}

// What the latest plan found no place for, until the next one.
void Machine::Work::note_refusals(const place::Plan& plan) {
  for (detail::WorkloadInfo& workload : world_.workloads) {
    workload.refusal.clear();
    workload.refusals.clear();
  }
  for (const place::Refusal& refusal : plan.refused) {
    detail::WorkloadInfo& workload = world_.workloads[world_.workload(refusal.workload)];
    const std::optional<ShardId> shard = refusal.shard ? std::optional(ShardId{refusal.workload, *refusal.shard}) : std::nullopt;
    (shard ? workload.refusals[shard->shard] : workload.refusal) = fmt::format("no place: {}", refusal.detail);
    say(Event::Kind::plan, shard, std::nullopt, fmt::format("{}: no place: {}", refusal.workload, refusal.detail));
  }
  permits_due_ = permits_;  // some may wait for a place
}

void Machine::Work::take(Tick) {}

// 2. The round.

// Not at once: what leads is decided before what moves, and what changes together is planned together.
void Machine::Work::ask_for_plan() {
  if (!world_.plan_due || planning_ || !may_move()) return;
  if (!plan_since_) plan_since_ = now_;
  // A problem is made of all shards, which takes as long as the fail-over of hundreds of them: leadership goes first.
  const Instant quiet = std::max(*plan_since_ + options_.plan_pause, led_ + options_.plan_rest);
  const Instant due = std::min(quiet, *plan_since_ + options_.plan_patience);
  if (now_ < due) return wake_at(due);
  plan_since_.reset();
  world_.plan_due = false;
  detail::swap_places(world_);
  detail::place_everywhere(world_);
  planning_for_loads_ = std::exchange(loads_changed_, false);
  problem_ = detail::problem_of(world_, options_.cluster, !loads_awaited_, now_);
  for (const detail::Trouble& trouble : detail::leave_out_what_is_wrong(*problem_))
    say(Event::Kind::error, std::nullopt, std::nullopt, fmt::format("cannot be planned: {}", trouble.what));
  if (problem_->workloads.empty()) return problem_.reset();
  planning_ = true;
  plan_outdated_ = false;
  out_.plan = *problem_;
}

void Machine::Work::work_on(std::set<std::uint32_t>& dirty) {
  for (auto at = dirty.begin(); at != dirty.end() && under_way_ < options_.commits_max;) {
    const std::uint32_t u = *at;
    const Unit& unit = world_.units[u];
    if (unit.status == Unit::Status::idle && !unit.dirty.empty()) work_on(u);
    // It is touched again when its answer has come.
    at = unit.dirty.empty() || unit.status != Unit::Status::idle ? dirty.erase(at) : std::next(at);
  }
}

// Leadership first.
void Machine::Work::work_on_dirty() {
  work_on(world_.urgent_units);
  work_on(world_.dirty_units);
}

void Machine::Work::round() {
  look_around();
  for (const auto& where : throttles_.take_waiting(world_.config.settings.control, now_)) {
    if (where.second < world_.units[where.first].shards.size()) {
      world_.touch(where.first, where.second);
    } else {
      throttles_.forget(where);
    }
  }
  while (!rests_.empty() && rests_.begin()->first <= now_) {
    const std::uint32_t u = rests_.extract(rests_.begin()).value().second;
    for (const std::uint32_t slot : std::exchange(world_.units[u].put_off, {})) {
      if (slot < world_.units[u].shards.size()) world_.touch(u, slot);
    }
  }
  while (!wakes_.empty() && wakes_.begin()->first <= now_) {
    const auto [unit, slot] = wakes_.begin()->second;
    wakes_.erase(wakes_.begin());
    if (slot < world_.units[unit].shards.size()) world_.touch(unit, slot);
  }
  while (!world_.bars_end.empty() && *world_.bars_end.begin() <= now_) {
    world_.bars_end.erase(world_.bars_end.begin());
    world_.plan_due = true;
  }
  if (!world_.bars_end.empty()) wake_at(*world_.bars_end.begin());
  ask_for_plan();
  work_on_dirty();
  look_at_deleted();
  look_at_splits();
  std::ranges::stable_sort(out_.commits, std::greater<>(), &Commit::urgent);
  if (!wakes_.empty()) wake_at(wakes_.begin()->first);
  if (!rests_.empty()) wake_at(rests_.begin()->first);
  if (throttles_.looks_again()) wake_at(now_);
}

Epoch Machine::Work::highest_epoch() const {
  Epoch highest = epochs_above();
  for (const Unit& unit : world_.units) {
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      const ShardRecord& record = unit.records[slot];
      highest = std::max({highest, record.version.epoch, record.seal.value_or(Epoch(0)), world_.highest(unit, slot)});
    }
  }
  return highest;
}

std::map<WorkloadId, std::uint32_t> Machine::Work::with_data() const {
  std::map<WorkloadId, std::uint32_t> found = lost_;
  for (const Unit& unit : world_.units) {
    const detail::WorkloadInfo& workload = world_.workloads[unit.workload];
    if (!workload.document || workload.document->deleted) continue;
    for (const ShardRecord& record : unit.records) {
      if (record.has_data) found[workload.name] = std::max(found[workload.name], record.shard.value() + 1);
    }
  }
  return found;
}

}  // namespace evenkeel::control
