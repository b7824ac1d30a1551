#include "evenkeel/control/detail/world.h"

#include <algorithm>
#include <utility>

#include "evenkeel/base/hash.h"

namespace evenkeel::control::detail {
namespace {

// What a session's end needs beside its ttl: a clock's rate may be off by 1 %.
constexpr Duration stands_still_for(Duration ttl) { return ttl + ttl / 50; }

bool is_permit_of(const NodeInfo& info, PermitDocument::Stage stage) {
  return info.permit && info.permit->stage == stage && info.permit->incarnation == info.facts.incarnation;
}

// Who is not waited for: by an order about this very session, or about whichever it is.
bool is_forgotten(const NodeInfo& info) {
  return info.order.operation == Operation::forget && (!info.order.since || *info.order.since == info.facts.incarnation);
}

bool is_record(const ShardRecord& record) { return record.version != Version{} || !record.holders.empty(); }

}  // namespace

bool is_on_permit(const NodeInfo& info) { return is_permit_of(info, PermitDocument::Stage::go) && !info.permit_over; }

std::optional<std::uint32_t> Unit::slot(ShardIndex shard) const {
  const auto found = std::ranges::lower_bound(shards, shard);
  if (found == shards.end() || *found != shard) return std::nullopt;
  return static_cast<std::uint32_t>(found - shards.begin());
}

std::pair<const ShardRecord*, const ShardView*> Unit::written(std::uint32_t slot) const {
  const auto find = [&](const auto& all) {
    const auto found = std::ranges::lower_bound(all, shards[slot], {}, [](const auto& one) { return one.shard; });
    return found != all.end() && found->shard == shards[slot] ? &*found : nullptr;
  };
  if (!pending) return {};
  return {find(pending->records), find(pending->views)};
}

std::uint32_t World::node(const NodeId& name) {
  const auto [at, made] = node_index_.try_emplace(name, static_cast<std::uint32_t>(nodes.size()));
  if (made) nodes.push_back({.name = name});
  return at->second;
}

const NodeInfo* World::find_node(const NodeId& name) const {
  const auto found = node_index_.find(name);
  return found == node_index_.end() ? nullptr : &nodes[found->second];
}

std::uint32_t World::workload(const WorkloadId& name) {
  const auto [at, made] = workload_index_.try_emplace(name, static_cast<std::uint32_t>(workloads.size()));
  if (made) workloads.push_back({.name = name});
  return at->second;
}

const WorkloadInfo* World::find_workload(const WorkloadId& name) const {
  const auto found = workload_index_.find(name);
  return found == workload_index_.end() ? nullptr : &workloads[found->second];
}

Unit* World::find_unit(const WorkloadId& workload, Bucket bucket) {
  const WorkloadInfo* info = find_workload(workload);
  if (info == nullptr || bucket.value() >= info->units.size()) return nullptr;
  return &units[info->units[bucket.value()]];
}

void World::touch(std::uint32_t unit, std::uint32_t slot) {
  units[unit].dirty.insert(slot);
  dirty_units.insert(unit);
  const ShardRecord& record = units[unit].records[slot];
  if (record.seal || record.hand_over || record.split || record.born) urgent_units.insert(unit);
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> World::half_of(const Unit& unit, std::uint32_t slot) const {
  const WorkloadInfo& info = workloads[unit.workload];
  const std::uint32_t from = info.spec.split_from, shard = unit.shards[slot].value();
  if (from == 0 || shard >= 2 * from) return std::nullopt;
  const ShardIndex half(shard < from ? shard + from : shard - from);
  const std::uint32_t u = info.units[bucket_of({info.name, half}, static_cast<std::uint32_t>(info.units.size())).value()];
  const auto at = units[u].slot(half);
  if (!at) return std::nullopt;
  return std::pair(u, *at);
}

bool World::is_unborn(const Unit& unit, std::uint32_t slot) const {
  const WorkloadInfo& info = workloads[unit.workload];
  if (info.spec.split_from == 0 || unit.shards[slot].value() < info.spec.split_from) return false;
  const auto parent = half_of(unit, slot);
  return parent && detail::is_unborn(info.spec, unit.records[slot], units[parent->first].records[parent->second]);
}

void World::touch_half(std::uint32_t u, std::uint32_t slot) {
  if (const auto half = half_of(units[u], slot)) touch(half->first, half->second);
}

void World::touch_unit(std::uint32_t unit) {
  for (std::uint32_t slot = 0; slot < units[unit].shards.size(); ++slot) touch(unit, slot);
}

void World::touch_all() {
  for (std::uint32_t unit = 0; unit < units.size(); ++unit) touch_unit(unit);
}

void World::touch_node(std::uint32_t node) {
  const NodeId& name = nodes[node].name;
  for (const auto& [u, named] : nodes[node].units) {
    const Unit& unit = units[u];
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      const ShardRecord& record = unit.records[slot];
      const auto& placement = unit.wanted[slot] ? *unit.wanted[slot] : record.placement;
      const bool concerned = std::ranges::find(record.holders, name, &Holder::node) != record.holders.end() ||
                             std::ranges::find(placement, name) != placement.end();
      if (!concerned) continue;
      touch(u, slot);
      urgent_units.insert(u);
    }
  }
}

void World::name_in(std::uint32_t n, std::uint32_t u, bool more) {
  auto& named = nodes[n].units;
  const bool was_empty = named.empty();
  if (more) {
    ++named[u];
  } else if (const auto at = named.find(u); at != named.end() && --at->second == 0) {
    named.erase(at);
  }
  if (was_empty != named.empty()) nodes_touched.insert(n);
}

void World::want_nothing() {
  for (std::uint32_t u = 0; u < units.size(); ++u) {
    for (std::uint32_t slot = 0; slot < units[u].wanted.size(); ++slot) {
      if (!units[u].wanted[slot]) continue;
      units[u].wanted[slot].reset();
      index(u, slot);
    }
  }
}

void World::index(std::uint32_t u, std::uint32_t slot) {
  std::vector<std::uint32_t> now;
  for (const Holder& holder : units[u].records[slot].holders) now.push_back(node(holder.node));
  for (const NodeId& name : units[u].wanted[slot] ? *units[u].wanted[slot] : units[u].records[slot].placement)
    now.push_back(node(name));
  std::ranges::sort(now);
  const auto twice = std::ranges::unique(now);
  now.erase(twice.begin(), twice.end());
  if (now == units[u].named_in[slot]) return;
  for (const std::uint32_t n : now) name_in(n, u, true);
  for (const std::uint32_t n : std::exchange(units[u].named_in[slot], std::move(now))) name_in(n, u, false);
}

void World::bar(std::uint32_t u, std::uint32_t slot, std::uint32_t n, Instant since, Incarnation of) {
  units[u].gave_up[{slot, n}] = {since, of};
  bars_end.insert(since + failed_for);
  barring.insert(u);
}

// 1. Documents.

void World::take_config(ConfigDocument document) {
  config = std::move(document);
  for (std::uint32_t w = 0; w < workloads.size(); ++w) respecify(w);
  for (std::uint32_t n = 0; n < nodes.size(); ++n) nodes_touched.insert(n);
  plan_due = true;
}

// It is ephemeral, and a hint: that it is gone says nothing. Of two sessions' documents the one that the beat tells of counts, in whatever
// order they are seen.
void World::take_live(std::uint32_t n, std::optional<LiveDocument> document) {
  NodeInfo& info = nodes[n];
  if (!document || info.live == document) return;
  const auto is_present = [&](const LiveDocument& one) { return info.beat && one.incarnation == info.beat->incarnation; };
  if (info.live && is_present(*info.live) && !is_present(*document)) {
    info.next_live = std::move(document);
    return;
  }
  info.next_live.reset();
  info.live = std::move(document);
  info.last_zone = info.live->zone.substr(0, info.live->zone.find('/'));
  plan_due = true;
}

void World::take_beat(std::uint32_t n, std::optional<BeatSeen> document, Instant now) {
  NodeInfo& info = nodes[n];
  info.beat = std::move(document);
  if (info.beat && info.next_live && info.next_live->incarnation == info.beat->incarnation)
    take_live(n, std::exchange(info.next_live, std::nullopt));
  if (info.beat) {
    info.beatless_since.reset();
  } else if (!info.beatless_since) {
    info.beatless_since = now;
  }
}

void World::take_report(std::uint32_t n, const Key& key, std::optional<Report> document, Instant now) {
  const std::uint32_t w = workload(key.workload);
  const auto early = std::tuple(w, key.bucket, n);
  Unit* unit = find_unit(key.workload, key.bucket);
  NodeInfo& info = nodes[n];
  const auto count = [&](const Report& report, bool more) {
    std::uint32_t& documents = info.report_documents[report.incarnation];
    documents += more ? 1 : -1;
    if (documents == 0) info.report_documents.erase(report.incarnation);
  };
  if (unit == nullptr) {
    if (const auto old = early_reports_.find(early); old != early_reports_.end()) {
      count(old->second, false);
      early_reports_.erase(old);
    }
    if (document) {
      count(*document, true);
      early_reports_.emplace(early, std::move(*document));
    }
    return;
  }
  const auto u = static_cast<std::uint32_t>(unit - units.data());
  if (const auto old = unit->report_heads.find(n); old != unit->report_heads.end()) {
    count(old->second, false);
    const Report before = std::move(old->second);
    unit->report_heads.erase(old);
    name_in(n, u, false);
    lend(w, n, before, false, now);
  }
  bool any_gone = false;
  for (std::uint32_t slot = 0; slot < unit->shards.size(); ++slot) {
    const ReplicaReport* replica = nullptr;
    if (document) {
      const auto found = std::ranges::lower_bound(document->replicas, unit->shards[slot], {}, &ReplicaReport::shard);
      if (found != document->replicas.end() && found->shard == unit->shards[slot]) replica = &*found;
    }
    const HeldReport* before = held_by(u, slot, n);
    if (replica == nullptr && (before == nullptr || before->lent)) continue;
    set_report(u, slot, n, document ? document->incarnation : Incarnation(), replica, now);
    any_gone |= replica == nullptr;
  }
  for (const std::uint32_t other : any_gone ? workloads[w].units : std::vector<std::uint32_t>()) {
    if (const auto head = units[other].report_heads.find(n); head != units[other].report_heads.end())
      lend(w, n, head->second, true, now);
  }
  if (!document) return;
  count(*document, true);
  name_in(n, u, true);
  std::erase_if(document->replicas, [&](const ReplicaReport& replica) { return unit->slot(replica.shard).has_value(); });
  lend(w, n, unit->report_heads.emplace(n, std::move(*document)).first->second, true, now);
}

// A node that does not know how many buckets a workload has, since it was not there when it looked, tells all that it holds of it in the first. That counts where it
// belongs, until the node has told of it there.
void World::lend(std::uint32_t w, std::uint32_t n, const Report& head, bool counts, Instant now) {
  for (const ReplicaReport& replica : head.replicas) {
    const auto at = place_of(w, replica.shard);
    const HeldReport* before = at ? held_by(at->first, at->second, n) : nullptr;
    if (!at || (before != nullptr && !before->lent)) continue;
    set_report(at->first, at->second, n, head.incarnation, counts ? &replica : nullptr, now, true);
  }
}

// What one node says of one shard from now on.
void World::set_report(std::uint32_t u, std::uint32_t slot, std::uint32_t n, Incarnation incarnation,
                       const ReplicaReport* replica, Instant now, bool lent) {
  auto& reports = units[u].reports[slot];
  const auto old = std::ranges::find(reports, n, &HeldReport::node);
  if (old == reports.end() && replica == nullptr) return;
  if (old != reports.end() && replica != nullptr && old->report == *replica && old->incarnation == incarnation &&
      old->lent == lent)
    return;
  touch(u, slot);
  touch_half(u, slot);
  if (replica != nullptr && replica->gave_up && (old == reports.end() || !old->report.gave_up)) {
    bar(u, slot, n, now, incarnation);
    plan_due = true;
  }
  // A restart has mended it.
  const WorkloadInfo& workload = workloads[units[u].workload];
  const auto failure = units[u].gave_up.find({slot, n});
  if (replica != nullptr && !replica->gave_up && failure != units[u].gave_up.end() && failure->second.of != incarnation &&
      workload.usable && workload.spec.model->serves(replica->state)) {
    units[u].gave_up.erase(failure);
    plan_due = true;
  }
  if (replica == nullptr) {
    units[u].progress.erase(n * static_cast<std::uint32_t>(units[u].shards.size()) + slot);
    if (std::erase_if(units[u].loads[slot].said, [&](const ShardLoad::Said& said) { return said.node == n; }) > 0)
      loads_touched.emplace(u, slot);
    reports.erase(old);
  } else if (old != reports.end()) {
    *old = {n, incarnation, *replica, lent};
  } else {
    reports.push_back({n, incarnation, *replica, lent});
  }
}

void World::take_records(const Key& key, std::optional<RecordBucket> document) {
  Unit* unit = find_unit(key.workload, key.bucket);
  if (unit == nullptr) {
    const auto early = std::pair(workload(key.workload), key.bucket);
    early_records_.erase(early);
    if (document) early_records_.emplace(early, std::move(*document));
    return;
  }
  const auto u = static_cast<std::uint32_t>(unit - units.data());
  if (document) {
    std::uint32_t shards = 0;
    for (const ShardRecord& record : document->shards) shards = std::max(shards, record.shard.value() + 1);
    grow(unit->workload, shards);
    unit = &units[u];
  }
  for (std::uint32_t slot = 0; slot < unit->shards.size(); ++slot) unit->records[slot] = {.shard = unit->shards[slot]};
  if (document) {
    unit->spec = document->spec;
    unit->respecified = document->spec;
    for (ShardRecord& record : document->shards) {
      if (const auto slot = unit->slot(record.shard)) unit->records[*slot] = std::move(record);
    }
  }
  unit->pending.reset();
  unit->status = Unit::Status::idle;
  plan_due = true;
  relaid.insert(u);
  for (std::uint32_t slot = 0; slot < unit->shards.size(); ++slot) {
    index(u, slot);
    touch_half(u, slot);
  }
  touch_unit(u);
  workloads[unit->workload].split_shards = 0;
}

void World::take_view(const Key& key, std::optional<ViewBucket> document) {
  Unit* unit = find_unit(key.workload, key.bucket);
  if (unit == nullptr) {
    const auto early = std::pair(workload(key.workload), key.bucket);
    early_views_.erase(early);
    if (document) early_views_.emplace(early, std::move(*document));
    return;
  }
  const auto u = static_cast<std::uint32_t>(unit - units.data());
  for (std::uint32_t slot = 0; slot < unit->shards.size(); ++slot) unit->views[slot] = {.shard = unit->shards[slot]};
  if (document) {
    for (ShardView& view : document->shards) {
      if (const auto slot = unit->slot(view.shard)) unit->views[*slot] = std::move(view);
    }
  }
  touch_unit(u);
}

void World::take_order(const Key& key, std::optional<OrderDocument> document) {
  const std::uint32_t w = workload(key.workload);
  const WorkloadInfo& info = workloads[w];
  if (info.units.empty()) {
    early_orders_.erase({w, key.shard});
    if (document) early_orders_.emplace(std::pair(w, key.shard), std::move(*document));
    return;
  }
  const ShardId shard{key.workload, key.shard};
  const std::uint32_t u = info.units[bucket_of(shard, static_cast<std::uint32_t>(info.units.size())).value()];
  units[u].orders.erase(key.shard);
  if (document) units[u].orders.emplace(key.shard, std::move(*document));
  if (const auto slot = units[u].slot(key.shard)) touch(u, *slot);
}

void World::take_workload(std::uint32_t w, std::optional<WorkloadDocument> document) {
  WorkloadInfo& info = workloads[w];
  plan_due = true;
  // A document that vanishes means nothing: a workload ends by one that says so.
  if (!document) return;
  info.highest = std::max(info.highest, document->highest);
  const bool known = std::ranges::any_of(info.units, [&](std::uint32_t u) {
    return units[u].status != Unit::Status::idle || std::ranges::any_of(units[u].records, is_record);
  });
  if (!known && info.units.size() != document->buckets) forget_units(w);
  if (!known) info.shards = 0;
  info.document = std::move(document);
  info.document->highest = info.highest;
  if (info.document->deleted) deleted.insert(w);
  info.split_shards = 0;
  info.shards = std::max(info.shards, info.document->spec.shards);
  lay_out(w);
  take_early(w);
  respecify(w);
}

// Of a workload that is deleted: another one of its name may have other buckets.
void World::forget_units(std::uint32_t w) {
  for (const std::uint32_t u : std::exchange(workloads[w].units, {})) {
    for (const auto& [n, head] : units[u].report_heads) {
      std::uint32_t& documents = nodes[n].report_documents[head.incarnation];
      if (--documents == 0) nodes[n].report_documents.erase(head.incarnation);
    }
    for (NodeInfo& node : nodes) node.units.erase(u);
    dirty_units.erase(u);
    units[u] = Unit{.workload = w};
  }
}

// More shards than there were: a document says so, or a record of one is seen.
void World::grow(std::uint32_t w, std::uint32_t shards) {
  if (shards <= workloads[w].shards) return;
  workloads[w].shards = shards;
  lay_out(w);
  respecify(w);
}

// The workload's shards in their buckets. A bucket keeps what is known of its shards, and never has fewer than before.
void World::lay_out(std::uint32_t w) {
  WorkloadInfo& info = workloads[w];
  if (info.units.empty()) {
    for (std::uint32_t b = 0; b < info.document->buckets; ++b) {
      info.units.push_back(static_cast<std::uint32_t>(units.size()));
      units.push_back({.workload = w, .bucket = Bucket(b)});
    }
  }
  std::vector<std::vector<ShardIndex>> shards(info.units.size());
  for (std::uint32_t s = 0; s < info.shards; ++s) {
    const Bucket bucket = bucket_of({info.name, ShardIndex(s)}, static_cast<std::uint32_t>(info.units.size()));
    shards[bucket.value()].push_back(ShardIndex(s));
  }
  for (std::uint32_t b = 0; b < info.units.size(); ++b) {
    if (shards[b] != units[info.units[b]].shards) lay_out(info.units[b], std::move(shards[b]));
  }
}

void World::lay_out(std::uint32_t u, std::vector<ShardIndex> shards) {
  Unit old = std::exchange(units[u], {});
  Unit& next = units[u];
  next.workload = old.workload;
  next.bucket = old.bucket;
  next.status = old.status;
  next.shards = std::move(shards);
  for (const ShardIndex shard : next.shards) {
    const auto at = old.slot(shard);
    const auto slot = static_cast<std::uint32_t>(next.records.size());
    next.records.push_back(at ? std::move(old.records[*at]) : ShardRecord{.shard = shard});
    next.views.push_back(at ? std::move(old.views[*at]) : ShardView{.shard = shard});
    next.timers.push_back(at ? old.timers[*at] : ShardTimers{});
    next.wanted.push_back(at ? std::move(old.wanted[*at]) : std::nullopt);
    next.reports.push_back(at ? std::move(old.reports[*at]) : std::vector<HeldReport>());
    next.loads.push_back(at ? std::move(old.loads[*at]) : ShardLoad{});
    next.in_error.push_back(at ? old.in_error[*at] : 0);
    next.named_in.push_back(at ? std::move(old.named_in[*at]) : std::vector<std::uint32_t>());
    for (auto& [n, head] : old.report_heads) {  // what was held of it before it was known
      const auto held = std::ranges::find(head.replicas, shard, &ReplicaReport::shard);
      if (at || held == head.replicas.end()) continue;
      next.reports[slot].push_back({n, head.incarnation, *held});
      head.replicas.erase(held);
    }
    for (const auto& [where, when] : old.gave_up) {
      if (at && where.first == *at) next.gave_up.emplace(std::pair(slot, where.second), when);
    }
  }
  // Some may be gone, if the workload is another one than before.
  for (std::uint32_t at = 0; at < old.shards.size(); ++at) {
    if (next.slot(old.shards[at])) continue;
    errors -= old.in_error[at];
    for (const std::uint32_t n : old.named_in[at]) name_in(n, u, false);
  }
  for (const auto& [key, progress] : old.progress) {
    const auto before = static_cast<std::uint32_t>(old.shards.size());
    if (const auto slot = next.slot(old.shards[key % before]))
      next.progress.emplace(key / before * static_cast<std::uint32_t>(next.shards.size()) + *slot, progress);
  }
  next.orders = std::move(old.orders);
  next.report_heads = std::move(old.report_heads);
  next.spec = old.spec;
  next.respecified = old.respecified;
  next.stale_targets = std::move(old.stale_targets);
  next.pending = std::move(old.pending);
  relaid.insert(u);
  touch_unit(u);
}

// What was seen before the workload's own document.
void World::take_early(std::uint32_t w) {
  const WorkloadId name = workloads[w].name;
  for (std::uint32_t b = 0; b < workloads[w].units.size(); ++b) {
    const auto at = std::pair(w, Bucket(b));
    const Key key{.kind = Key::Kind::shards, .workload = name, .bucket = Bucket(b)};
    if (auto early = early_records_.extract(at)) take_records(key, std::move(early.mapped()));
    if (auto early = early_views_.extract(at)) take_view(key, std::move(early.mapped()));
  }
  const auto first = early_reports_.lower_bound(std::tuple(w, Bucket(0), 0u));
  const auto last = early_reports_.lower_bound(std::tuple(w + 1, Bucket(0), 0u));
  std::vector<std::pair<std::tuple<std::uint32_t, Bucket, std::uint32_t>, Report>> reports(std::make_move_iterator(first),
                                                                                           std::make_move_iterator(last));
  early_reports_.erase(first, last);
  for (auto& [at, report] : reports) {
    const auto [of, bucket, n] = at;
    std::uint32_t& documents = nodes[n].report_documents[report.incarnation];  // counted again below
    if (--documents == 0) nodes[n].report_documents.erase(report.incarnation);
    take_report(n, {.kind = Key::Kind::report, .node = nodes[n].name, .workload = name, .bucket = bucket}, std::move(report),
                Instant());
  }
  for (auto at = early_orders_.lower_bound(std::pair(w, ShardIndex(0))); at != early_orders_.end() && at->first.first == w;) {
    take_order({.kind = Key::Kind::order, .workload = name, .shard = at->first.second}, std::move(at->second));
    at = early_orders_.erase(at);
  }
}

// 2. What follows.

Spec World::spec_of(const WorkloadInfo& info, std::string& trouble) const {
  const WorkloadDocument& document = *info.document;
  Spec spec{.name = info.name,
            .control = document.spec.control,
            .replicas = document.spec.replicas,
            .extra = config.settings.control.extra_replicas,
            .deleted = document.deleted,
            .shards = document.spec.shards,
            .split_from = document.split_from};
  const auto own = std::ranges::find(config.state_models, document.spec.state_model, &StateModel::name);
  spec.model = own != config.state_models.end() ? &*own : find_built_in(document.spec.state_model.str());
  if (spec.model == nullptr) {
    trouble = fmt::format("no state model \"{}\"", document.spec.state_model);
    return spec;
  }
  spec.min_active = document.spec.control.min_active.value_or(std::max(document.spec.replicas, 2u) - 1);
  const auto bounded = [](const State& state) { return state.count.kind == StateCount::Kind::number; };
  spec.rest = spec.model->initial();
  spec.everywhere =
      std::ranges::any_of(spec.model->states(), [](const State& state) { return state.count.kind == StateCount::Kind::nodes; });
  for (const State& state : spec.model->states()) {
    if (bounded(state) && state.count.number == 1 && !spec.lead) spec.lead = state.name;
    if (!bounded(state) && state.count.kind != StateCount::Kind::none) {
      spec.rest = state.name;
      spec.seals = spec.lead.has_value() && state.data;
      break;
    }
  }
  return spec;
}

void World::respecify(std::uint32_t w) {
  WorkloadInfo& info = workloads[w];
  if (!info.document) return;
  info.trouble.clear();
  info.spec = spec_of(info, info.trouble);
  info.usable = info.trouble.empty();
  if (!info.spec.deleted && info.shards > info.document->spec.shards)
    info.trouble =
        fmt::format("has {} shards and cannot have {}: they do not become fewer", info.shards, info.document->spec.shards);
  if (info.units.size() != info.document->buckets && info.trouble.empty())
    info.trouble = fmt::format("is in {} buckets and cannot be in {}", info.units.size(), info.document->buckets);
  const Workload& spec = info.document->spec;
  info.hash =
      ((std::uint64_t{1} << 52) - 1) & hash64(fmt::format("{} {} {} {}", spec.state_model, static_cast<int>(spec.control.fencing),
                                                          spec.control.transition.count(), spec.control.metadata));
  for (const std::uint32_t unit : info.units) touch_unit(unit);
}

// Its inventory is asked for once: a document that goes later, with the last replica in it, is seen before or after `live` says that there are fewer.
bool World::is_joined(NodeInfo& info, std::string& trouble) {
  if (!info.live || !info.beat || info.beat->ended || info.live->incarnation != info.beat->incarnation) return false;
  if (info.live->inventory > 0 && info.inventoried != info.beat->incarnation && broken != Broken::tell_before_inventory) {
    const auto seen = info.report_documents.find(info.beat->incarnation);
    if (seen == info.report_documents.end() || seen->second < info.live->inventory) return false;
  }
  info.inventoried = info.beat->incarnation;
  if (info.live->reads < format_written) {
    trouble =
        fmt::format("is not taken: it reads documents up to format {}, and {} is written", info.live->reads, format_written);
    return false;
  }
  if (info.order.operation == Operation::remove && info.order.data == info.live->data && broken != Broken::removed_come_back) {
    trouble = "is not taken: it was removed, and this disk does not come back";
    return false;
  }
  return true;
}

bool World::refresh(std::uint32_t n, Instant now) {
  NodeInfo& info = nodes[n];
  const NodeFacts before = info.facts;
  const bool was_on_permit = std::exchange(info.was_on_permit, false);
  NodeFacts& facts = info.facts;
  const bool stopping = facts.stopping;
  facts = {};
  facts.unknown = !info.beat;
  if (info.beat) {
    facts.incarnation = info.beat->incarnation;
    facts.over = info.beat->ended;
  } else if (info.beatless_since) {
    facts.over = now >= *info.beatless_since + stands_still_for(config.settings.control.session_ttl);
  }
  info.trouble.clear();
  facts.joined = is_joined(info, info.trouble);
  if (info.live) facts.data = info.live->data;
  facts.knows_splits = !info.live || info.live->reads >= format_split;
  // A tombstone is about one disk: a new one under the name is another machine.
  const bool another = info.beat && !info.beat->ended && info.live && info.order.data != info.live->data;
  facts.removed = info.order.operation == Operation::remove && (info.order.data ? !another : info.units.empty() && !facts.joined);
  const bool permitted = (info.granting && info.permit && info.permit->incarnation == facts.incarnation) ||
                         is_permit_of(info, PermitDocument::Stage::granted) || is_permit_of(info, PermitDocument::Stage::go);
  const bool forbidden = info.order.operation == Operation::drain ||
                         (info.order.operation == Operation::no_leaders && broken != Broken::ignore_no_leaders) || permitted ||
                         (info.live && info.live->leaving);
  facts.suspect = info.suspected && facts.joined && !distrusts_itself;
  facts.may_lead = facts.joined && !forbidden;
  facts.steady = !info.steady_since || broken == Broken::trust_at_once;
  facts.stopping = stopping && permitted;
  facts.expected_back = !facts.joined && !facts.removed && !is_forgotten(info);
  info.was_on_permit = is_on_permit(info);
  if (!facts.joined && !info.gone_since) info.gone_since = now;
  if (!facts.joined && was_on_permit && !info.was_on_permit) {  // it counts as lost from this moment
    info.gone_since = now;
    info.gone_before = {};
    plan_due = true;
  }
  if (facts.joined) {
    info.gone_since.reset();
    info.gone_before = {};
    info.waited_out.reset();
  }
  return before != facts;
}

HolderFacts World::facts(const Unit& unit, std::uint32_t slot, const NodeId& name) const {
  const NodeInfo* info = find_node(name);
  if (info == nullptr) return {};
  const auto n = static_cast<std::uint32_t>(info - nodes.data());
  HolderFacts facts{.node = &info->facts};
  const auto found = std::ranges::find(unit.reports[slot], n, &HeldReport::node);
  if (found == unit.reports[slot].end()) return facts;
  if (found->incarnation != info->facts.incarnation && broken != Broken::ignore_incarnations) return facts;
  facts.report = &found->report;
  facts.progress = {found->report.last, found->report.progress};
  const auto pulsed = unit.progress.find(n * static_cast<std::uint32_t>(unit.shards.size()) + slot);
  if (pulsed != unit.progress.end() && pulsed->second.incarnation == found->incarnation)
    facts.progress = std::max(facts.progress, pulsed->second.progress);
  return facts;
}

std::vector<Orphan> World::orphans(const Unit& unit, std::uint32_t slot) const {
  std::vector<Orphan> found;
  const auto& holders = unit.records[slot].holders;
  for (const HeldReport& held : unit.reports[slot]) {
    const NodeInfo& node = nodes[held.node];
    if (held.report.state.str() == state_dropped || std::ranges::find(holders, node.name, &Holder::node) != holders.end())
      continue;
    found.push_back({node.name, &node.facts, &held.report, node.facts.joined && held.incarnation == node.facts.incarnation});
  }
  std::ranges::sort(found, {}, &Orphan::node);
  return found;
}

std::vector<std::tuple<ShardId, NodeId, Epoch>> World::strays() const {
  std::vector<std::tuple<ShardId, NodeId, Epoch>> found;
  const auto add = [&](std::uint32_t w, std::uint32_t n, const Report& report) {
    for (const ReplicaReport& replica : report.replicas) {
      if (replica.state.str() != state_dropped && !place_of(w, replica.shard))
        found.emplace_back(ShardId{workloads[w].name, replica.shard}, nodes[n].name, replica.version.epoch);
    }
  };
  for (const auto& [at, report] : early_reports_) add(std::get<0>(at), std::get<2>(at), report);
  for (const Unit& unit : units) {
    for (const auto& [n, head] : unit.report_heads) add(unit.workload, n, head);
  }
  return found;
}

bool World::has_stray(std::uint32_t w, ShardIndex shard) const {
  const WorkloadInfo& info = workloads[w];
  if (info.document->spec.control.key_map != KeyMap::hash) return false;
  const Unit& unit = units[info.units[bucket_of({info.name, shard}, static_cast<std::uint32_t>(info.units.size())).value()]];
  return std::ranges::any_of(unit.report_heads, [&](const auto& head) {
    const auto found = std::ranges::find(head.second.replicas, shard, &ReplicaReport::shard);
    if (found == head.second.replicas.end() || found->state.str() == state_dropped) return false;
    return matters({nodes[head.first].name, &nodes[head.first].facts, &*found}, info.document->highest);
  });
}

Epoch World::led(const Unit& unit, std::uint32_t slot) const {
  Epoch highest;
  for (const HeldReport& held : unit.reports[slot]) highest = std::max({highest, held.report.version.epoch, held.report.last});
  return highest;
}

Epoch World::highest(const Unit& unit, std::uint32_t slot) const {
  Epoch highest = workloads[unit.workload].document ? workloads[unit.workload].document->highest : Epoch(0);
  for (const HeldReport& held : unit.reports[slot]) {
    highest = std::max(highest, held.report.version.epoch);
    if (held.report.sealed) highest = std::max({highest, held.report.sealed->against, held.report.sealed->last});
  }
  return highest;
}

}  // namespace evenkeel::control::detail
