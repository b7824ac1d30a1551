#include "evenkeel/control/detail/world.h"

#include <algorithm>
#include <utility>

#include "evenkeel/base/hash.h"
#include "evenkeel/base/overloaded.h"

namespace evenkeel::control::detail {
namespace {

template <class T>
std::optional<T> as(const std::optional<Document>& document) {
  if (!document) return std::nullopt;
  return std::get<T>(*document);
}

// What a session's end needs beside its ttl: a clock's rate may be off by 1 %.
constexpr Duration stands_still_for(Duration ttl) { return ttl + ttl / 50; }

}  // namespace

std::optional<std::uint32_t> Unit::slot(ShardIndex shard) const {
  const auto found = std::ranges::lower_bound(shards, shard);
  if (found == shards.end() || *found != shard) return std::nullopt;
  return static_cast<std::uint32_t>(found - shards.begin());
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
}

void World::touch_unit(std::uint32_t unit) {
  for (std::uint32_t slot = 0; slot < units[unit].shards.size(); ++slot) touch(unit, slot);
}

void World::touch_all() {
  for (std::uint32_t unit = 0; unit < units.size(); ++unit) touch_unit(unit);
}

void World::touch_node(std::uint32_t node) {
  const NodeId& name = nodes[node].name;
  for (const std::uint32_t u : nodes[node].units) {
    const Unit& unit = units[u];
    for (std::uint32_t slot = 0; slot < unit.shards.size(); ++slot) {
      const ShardRecord& record = unit.records[slot];
      const auto& placement = unit.wanted[slot] ? *unit.wanted[slot] : record.placement;
      const bool named = std::ranges::find(record.holders, name, &Holder::node) != record.holders.end() ||
                         std::ranges::find(placement, name) != placement.end();
      if (named) touch(u, slot);
    }
  }
}

void World::index(std::uint32_t u, std::uint32_t slot) {
  const Unit& unit = units[u];
  const auto add = [&](const NodeId& name) { nodes[node(name)].units.insert(u); };
  for (const Holder& holder : unit.records[slot].holders) add(holder.node);
  for (const NodeId& name : unit.wanted[slot] ? *unit.wanted[slot] : unit.records[slot].placement) add(name);
}

// 1. Documents.

void World::take_config(ConfigDocument document) {
  config = std::move(document);
  for (std::uint32_t w = 0; w < workloads.size(); ++w) respecify(w);
  plan_due = true;
}

void World::take_live(std::uint32_t n, std::optional<LiveDocument> document) {
  // It is ephemeral, and a hint: that it is gone says nothing.
  if (!document) return;
  nodes[n].last_zone = document->zone.substr(0, document->zone.find('/'));
  nodes[n].live = std::move(document);
  plan_due = true;
}

void World::take_beat(std::uint32_t n, std::optional<BeatSeen> document, Instant now) {
  NodeInfo& info = nodes[n];
  info.beat = std::move(document);
  if (info.beat) {
    info.beatless_since.reset();
  } else if (!info.beatless_since) {
    info.beatless_since = now;
  }
}

void World::take_report(std::uint32_t n, const Key& key, std::optional<Report> document) {
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
    unit->report_heads.erase(old);
  }
  for (std::uint32_t slot = 0; slot < unit->shards.size(); ++slot) {
    auto& reports = unit->reports[slot];
    const auto old = std::ranges::find(reports, n, &HeldReport::node);
    const ReplicaReport* now = nullptr;
    if (document) {
      const auto found = std::ranges::lower_bound(document->replicas, unit->shards[slot], {}, &ReplicaReport::shard);
      if (found != document->replicas.end() && found->shard == unit->shards[slot]) now = &*found;
    }
    if (old == reports.end() && now == nullptr) continue;
    if (old != reports.end() && now != nullptr && old->report == *now && old->incarnation == document->incarnation) continue;
    touch(u, slot);
    if (now == nullptr) {
      reports.erase(old);
    } else if (old != reports.end()) {
      *old = {n, document->incarnation, *now};
    } else {
      reports.push_back({n, document->incarnation, *now});
    }
  }
  if (!document) return;
  count(*document, true);
  info.units.insert(u);
  document->replicas.clear();
  unit->report_heads.emplace(n, std::move(*document));
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
  for (std::uint32_t slot = 0; slot < unit->shards.size(); ++slot) index(u, slot);
  touch_unit(u);
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
  const WorkloadInfo* info = find_workload(key.workload);
  if (info == nullptr || info->units.empty()) return;
  const ShardId shard{key.workload, key.shard};
  const std::uint32_t u = info->units[bucket_of(shard, static_cast<std::uint32_t>(info->units.size())).value()];
  units[u].orders.erase(key.shard);
  if (document) units[u].orders.emplace(key.shard, std::move(*document));
  if (const auto slot = units[u].slot(key.shard)) touch(u, *slot);
}

void World::take_workload(std::uint32_t w, std::optional<WorkloadDocument> document) {
  WorkloadInfo& info = workloads[w];
  plan_due = true;
  // A document that vanishes means nothing: a workload ends by one that says so.
  if (!document) return;
  info.document = std::move(document);
  lay_out(w);
  respecify(w);
}

// The workload's shards in their buckets. A bucket keeps what is known of shards that it still has.
void World::lay_out(std::uint32_t w) {
  WorkloadInfo& info = workloads[w];
  const WorkloadDocument& document = *info.document;
  if (info.units.empty()) {
    for (std::uint32_t b = 0; b < document.buckets; ++b) {
      info.units.push_back(static_cast<std::uint32_t>(units.size()));
      units.push_back({.workload = w, .bucket = Bucket(b)});
    }
  }
  std::vector<std::vector<ShardIndex>> shards(info.units.size());
  for (std::uint32_t s = 0; s < document.spec.shards; ++s) {
    const Bucket bucket = bucket_of({info.name, ShardIndex(s)}, static_cast<std::uint32_t>(info.units.size()));
    shards[bucket.value()].push_back(ShardIndex(s));
  }
  for (std::uint32_t b = 0; b < info.units.size(); ++b) {
    Unit& unit = units[info.units[b]];
    // Shards beyond the number are kept while anybody holds them: they are dropped one by one.
    for (const ShardRecord& record : unit.records) {
      if (record.shard.value() >= document.spec.shards && !record.holders.empty()) shards[b].push_back(record.shard);
    }
    if (shards[b] == unit.shards) continue;
    Unit next{.workload = w, .bucket = unit.bucket, .status = unit.status, .shards = std::move(shards[b])};
    for (const ShardIndex shard : next.shards) {
      const auto old = unit.slot(shard);
      next.records.push_back(old ? std::move(unit.records[*old]) : ShardRecord{.shard = shard});
      next.views.push_back(old ? std::move(unit.views[*old]) : ShardView{.shard = shard});
      next.timers.push_back(old ? unit.timers[*old] : ShardTimers{});
      next.wanted.push_back(old ? std::move(unit.wanted[*old]) : std::nullopt);
      next.reports.push_back(old ? std::move(unit.reports[*old]) : std::vector<HeldReport>());
    }
    next.orders = std::move(unit.orders);
    next.report_heads = std::move(unit.report_heads);
    next.spec = unit.spec;
    next.respecified = unit.respecified;
    next.stale_targets = std::move(unit.stale_targets);
    next.pending = std::move(unit.pending);
    unit = std::move(next);
    touch_unit(info.units[b]);
  }
  for (std::uint32_t b = 0; b < info.units.size(); ++b) {
    const auto at = std::pair(w, Bucket(b));
    const Key key{.kind = Key::Kind::shards, .workload = info.name, .bucket = Bucket(b)};
    if (const auto early = early_records_.extract(at)) take_records(key, std::move(early.mapped()));
    if (const auto early = early_views_.extract(at)) take_view(key, std::move(early.mapped()));
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
    take_report(n, {.kind = Key::Kind::report, .node = nodes[n].name, .workload = info.name, .bucket = bucket},
                std::move(report));
  }
}

// 2. What follows.

Spec World::spec_of(const WorkloadInfo& info, std::string& trouble) const {
  const WorkloadDocument& document = *info.document;
  Spec spec{.name = info.name,
            .control = document.spec.control,
            .replicas = document.spec.replicas,
            .extra = config.settings.control.extra_replicas,
            .deleted = document.deleted};
  const auto own = std::ranges::find(config.state_models, document.spec.state_model, &StateModel::name);
  spec.model = own != config.state_models.end() ? &*own : find_built_in(document.spec.state_model.str());
  if (spec.model == nullptr) {
    trouble = fmt::format("no state model \"{}\"", document.spec.state_model);
    return spec;
  }
  spec.min_active = document.spec.control.min_active.value_or(std::max(document.spec.replicas, 2u) - 1);
  const auto bounded = [](const State& state) { return state.count.kind == StateCount::Kind::number; };
  spec.rest = spec.model->initial();
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
  const Workload& spec = info.document->spec;
  info.hash =
      ((std::uint64_t{1} << 52) - 1) & hash64(fmt::format("{} {} {} {}", spec.state_model, static_cast<int>(spec.control.fencing),
                                                          spec.control.transition.count(), spec.control.metadata));
  for (const std::uint32_t unit : info.units) touch_unit(unit);
}

bool World::refresh(std::uint32_t n, Instant now) {
  NodeInfo& info = nodes[n];
  NodeFacts facts;
  facts.unknown = !info.beat;
  if (info.beat) {
    facts.incarnation = info.beat->incarnation;
    facts.over = info.beat->ended;
  } else if (info.beatless_since) {
    facts.over = now >= *info.beatless_since + stands_still_for(config.settings.control.session_ttl);
  }
  facts.joined = info.live && info.beat && !info.beat->ended && info.live->incarnation == info.beat->incarnation;
  if (facts.joined && info.live->inventory > 0) {
    const auto seen = info.report_documents.find(facts.incarnation);
    facts.joined = seen != info.report_documents.end() && seen->second >= info.live->inventory;
  }
  if (info.live) facts.data = info.live->data;
  facts.removed =
      info.order.operation == Operation::remove && (!info.order.data || !facts.joined || *info.order.data == facts.data);
  const bool permitted =
      info.permit && (info.permit->stage == PermitDocument::Stage::granted || info.permit->stage == PermitDocument::Stage::go);
  const bool forbidden = info.order.operation == Operation::drain || info.order.operation == Operation::no_leaders ||
                         info.order.operation == Operation::swap || permitted || (info.live && info.live->leaving);
  facts.suspect = info.facts.suspect && facts.joined;
  facts.may_lead = facts.joined && !forbidden && !info.steady_since;
  facts.stopping = info.facts.stopping && permitted;
  facts.expected_back = !facts.joined && !facts.removed && info.order.operation != Operation::forget;
  if (!facts.joined && !info.gone_since) info.gone_since = now;
  if (facts.joined) {
    info.gone_since.reset();
    info.gone_before = {};
  }
  const NodeFacts before = std::exchange(info.facts, facts);
  const auto means = [](const NodeFacts& f) {
    return std::tuple(f.joined, f.incarnation, f.over, f.unknown, f.data, f.suspect, f.may_lead, f.stopping, f.expected_back,
                      f.removed);
  };
  return means(before) != means(facts);
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
  if (pulsed != unit.progress.end()) facts.progress = std::max(facts.progress, pulsed->second);
  return facts;
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
