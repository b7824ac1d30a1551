#include "evenkeel/sim/detail/seen.h"

#include <algorithm>
#include <set>
#include <utility>

namespace evenkeel::sim {
namespace {

constexpr Duration thrash_within = 10min;

bool is_dropped(const Holder& holder) { return holder.told.str() == state_dropped; }

bool shows(const ShardView& view, const NodeId& node) {
  return view.leader == node || std::ranges::find(view.others, node, &Peer::node) != view.others.end();
}

}  // namespace

// 1. Documents.

void Seen::take(const store::Txn& txn, const store::Committed& done, Duration now) {
  ++commits_;
  for (const store::Write& write : done.succeeded ? txn.then : txn.otherwise) {
    switch (write.kind) {
      case store::Write::Kind::put:
      case store::Write::Kind::put_ephemeral:
        calm_.bytes_written += write.key.size() + write.value.size();
        take(write.key, &write.value, now);
        break;
      case store::Write::Kind::erase:
        take(write.key, nullptr, now);
        break;
      case store::Write::Kind::erase_below:  // nobody erases records, views or workloads so
        break;
    }
  }
}

void Seen::take(const store::Listing& listing, Duration now) {
  ++commits_;
  std::set<std::string> there;
  for (const store::Entry& entry : listing.entries) there.insert(entry.key);
  if (!there.contains(keys_.config())) take_config(nullptr, now);
  for (const NodeId& node : std::set(there_)) set_there(node, there.contains(keys_.live(node)), now);
  for (auto& [name, workload] : workloads_) {
    const auto buckets = static_cast<std::uint32_t>(workload.buckets.size());
    for (std::uint32_t b = 0; b < buckets; ++b) {
      const Key key{.workload = name, .bucket = Bucket(b)};
      if (!there.contains(keys_.shards(name, Bucket(b)))) take_records(key, nullptr, now);
      if (!there.contains(keys_.view(name, Bucket(b)))) take_view(key, nullptr, now);
    }
  }
  std::vector<WorkloadId> gone;
  for (const auto& [name, workload] : workloads_) {
    if (!there.contains(keys_.workload(name))) gone.push_back(name);
  }
  for (const WorkloadId& name : gone) take_workload({.workload = name}, nullptr, now);
  // Workloads first: the others are laid out by them.
  for (const bool first : {true, false}) {
    for (const store::Entry& entry : listing.entries) {
      const auto key = keys_.parse(entry.key);
      const bool is_first = key && (key->kind == Key::Kind::workload || key->kind == Key::Kind::config);
      if (is_first == first) take(entry.key, &entry.value, now);
    }
  }
}

void Seen::take(const std::string& text, const std::string* value, Duration now) {
  const auto key = keys_.parse(text);
  if (!key) return;
  switch (key->kind) {
    case Key::Kind::config:
      return take_config(value, now);
    case Key::Kind::workload:
      return take_workload(*key, value, now);
    case Key::Kind::shards:
      return take_records(*key, value, now);
    case Key::Kind::view:
      return take_view(*key, value, now);
    case Key::Kind::live:
      if (value != nullptr) {
        if (auto live = parse_live(*value, key->node, text)) lives_.insert_or_assign(key->node, std::move(*live));
      }
      return set_there(key->node, value != nullptr, now);
    default:
      return;
  }
}

void Seen::take_config(const std::string* value, Duration now) {
  models_.clear();
  if (value != nullptr) {
    if (auto config = parse_config(*value, "config")) models_ = std::move(config->state_models);
  }
  for (auto& [name, workload] : workloads_) judge_all(workload, now);
}

void Seen::take_workload(const Key& key, const std::string* value, Duration now) {
  if (value == nullptr) {
    if (const auto found = workloads_.find(key.workload); found != workloads_.end()) {
      for (ShardSeen& shard : found->second.shards) {
        end_leaderless(shard, now);
        unsettled_ -= shard.settled ? 0 : 1;
      }
      workloads_.erase(found);
    }
    return;
  }
  auto document = parse_workload(*value, key.workload, key.workload.str());
  if (!document) return;
  WorkloadSeen& workload = workloads_[key.workload];
  workload.name = key.workload;
  workload.document = std::move(*document);
  lay_out(workload, now);
}

void Seen::lay_out(WorkloadSeen& workload, Duration now) {
  const auto& spec = workload.document.spec;
  while (workload.shards.size() < spec.shards) {
    const ShardIndex shard(static_cast<std::uint32_t>(workload.shards.size()));
    workload.shards.push_back({.record = {.shard = shard}, .view = {.shard = shard}});
    ++unsettled_;
  }
  workload.buckets.assign(workload.document.buckets, {});
  for (std::uint32_t s = 0; s < workload.shards.size(); ++s)
    workload.buckets[bucket_of({workload.name, ShardIndex(s)}, workload.document.buckets).value()].push_back(s);
  judge_all(workload, now);
}

void Seen::take_records(const Key& key, const std::string* value, Duration now) {
  const auto found = workloads_.find(key.workload);
  if (found == workloads_.end() || key.bucket.value() >= found->second.buckets.size()) return;
  WorkloadSeen& workload = found->second;
  RecordBucket bucket;
  if (value != nullptr) {
    if (auto parsed = parse_records(*value, key.workload, key.bucket, "shards")) bucket = std::move(*parsed);
  }
  for (const std::uint32_t s : workload.buckets[key.bucket.value()]) {
    const auto record = std::ranges::lower_bound(bucket.shards, ShardIndex(s), {}, &ShardRecord::shard);
    const bool there = record != bucket.shards.end() && record->shard == ShardIndex(s);
    take_record(workload, workload.shards[s], there ? std::move(*record) : ShardRecord{.shard = ShardIndex(s)}, now);
    judge(workload, s, now);
  }
}

// A holder is new: a move, unless it is one of the first, or of those that are split off where they are.
void Seen::take_record(WorkloadSeen& workload, ShardSeen& shard, ShardRecord record, Duration now) {
  if (shard.record == record) return;
  const auto holds = [](const ShardRecord& one, const NodeId& node) {
    const auto holder = std::ranges::find(one.holders, node, &Holder::node);
    return holder != one.holders.end() && !is_dropped(*holder);
  };
  for (const Holder& holder : record.holders) {
    if (is_dropped(holder) || holds(shard.record, holder.node) || holder.reason == Reason::first ||
        holder.reason == Reason::split)
      continue;
    ++calm_.moves;
    const auto dropped = shard.dropped.find(holder.node);
    if (dropped != shard.dropped.end() && now - dropped->second < thrash_within) ++calm_.thrash;
  }
  for (const Holder& holder : shard.record.holders) {
    if (!is_dropped(holder) && !holds(record, holder.node) && workload.wants(record.shard.value()))
      shard.dropped[holder.node] = now;
  }
  shard.record = std::move(record);
  for (const Holder& holder : shard.record.holders) {
    if (is_dropped(holder)) dropping_[holder.node].insert({workload.name, shard.record.shard});
  }
}

void Seen::set_there(const NodeId& node, bool there, Duration now) {
  const bool changed = there ? there_.insert(node).second : there_.erase(node) > 0;
  const auto found = dropping_.find(node);
  if (!changed || found == dropping_.end()) return;
  for (const ShardId& shard : found->second) {
    const auto workload = workloads_.find(shard.workload);
    if (workload != workloads_.end() && shard.shard.value() < workload->second.shards.size())
      judge(workload->second, shard.shard.value(), now);
  }
}

void Seen::take_view(const Key& key, const std::string* value, Duration now) {
  const auto found = workloads_.find(key.workload);
  if (found == workloads_.end() || key.bucket.value() >= found->second.buckets.size()) return;
  WorkloadSeen& workload = found->second;
  ViewBucket bucket;
  if (value != nullptr) {
    if (auto parsed = parse_view(*value, key.workload, key.bucket, "view")) bucket = std::move(*parsed);
  }
  for (const std::uint32_t s : workload.buckets[key.bucket.value()]) {
    const auto view = std::ranges::lower_bound(bucket.shards, ShardIndex(s), {}, &ShardView::shard);
    const bool there = view != bucket.shards.end() && view->shard == ShardIndex(s);
    ShardSeen& shard = workload.shards[s];
    ShardView next = there ? std::move(*view) : ShardView{.shard = ShardIndex(s)};
    if (shard.was_led && next.leader && next.leader != shard.view.leader) ++calm_.leader_changes;
    shard.was_led = shard.was_led || next.leader;
    shard.view = std::move(next);
    judge(workload, s, now);
  }
}

// 2. What follows.

void Seen::end_leaderless(ShardSeen& shard, Duration now) {
  if (!shard.leaderless_since) return;
  const Duration time = now - *std::exchange(shard.leaderless_since, std::nullopt);
  calm_.leaderless += time;
  calm_.leaderless_longest = std::max(calm_.leaderless_longest, time);
}

// What is to be dropped by a node that is gone stays to be dropped: nobody waits for that.
std::string Seen::why_unsettled(const WorkloadSeen& workload, std::uint32_t s) const {
  const ShardSeen& shard = workload.shards[s];
  const ShardRecord& record = shard.record;
  const auto is_past = [&](const Holder& holder) { return is_dropped(holder) && !there_.contains(holder.node); };
  if (!workload.wants(s)) return std::ranges::all_of(record.holders, is_past) ? "" : "is not dropped everywhere";
  if (record.placement.empty()) return "is not placed";
  if (workload.document.split_from > 0) return record.split ? "is being split" : "is of a workload that is being split";
  if (record.seal) return "is sealed";
  if (record.hand_over) return fmt::format("is handed over from {} to {}", record.hand_over->from, record.hand_over->to);
  for (const Holder& holder : record.holders) {
    if (is_past(holder)) continue;
    if (is_dropped(holder)) return fmt::format("is being dropped by {}", holder.node);
    if (std::ranges::find(record.placement, holder.node) == record.placement.end())
      return fmt::format("is still on {}", holder.node);
  }
  for (const NodeId& node : record.placement) {
    const auto holder = std::ranges::find(record.holders, node, &Holder::node);
    if (holder == record.holders.end()) return fmt::format("is not yet on {}", node);
    if (!holder->arrived) return fmt::format("has not arrived on {}", node);
    if (!shows(shard.view, node)) return fmt::format("is not served by {}", node);
  }
  if (workload.lead && !shard.view.leader) return "has no leader";
  return "";
}

void Seen::judge(WorkloadSeen& workload, std::uint32_t s, Duration now) {
  ShardSeen& shard = workload.shards[s];
  const bool settled = why_unsettled(workload, s).empty();
  if (settled != shard.settled) {
    unsettled_ += settled ? -1 : 1;
    shard.settled = settled;
  }
  if (unsettled_ == 0 && unsettled_since_) calm_.unsettled += now - *std::exchange(unsettled_since_, std::nullopt);
  if (unsettled_ > 0 && !unsettled_since_) unsettled_since_ = now;
  judge_leader(workload, s, now);
}

void Seen::judge_leader(WorkloadSeen& workload, std::uint32_t s, Duration now) {
  ShardSeen& shard = workload.shards[s];
  const bool led = shard.view.leader && shard.silent != shard.view.version.epoch;
  const bool leaderless = workload.lead && workload.wants(s) && shard.was_led && !led;
  if (leaderless && !shard.leaderless_since) shard.leaderless_since = now;
  if (!leaderless) end_leaderless(shard, now);
}

void Seen::set_silent(const NodeId& node, bool silent, Duration now) {
  for (auto& [name, workload] : workloads_) {
    for (std::uint32_t s = 0; s < workload.shards.size(); ++s) {
      ShardSeen& shard = workload.shards[s];
      if (shard.view.leader != node) continue;
      shard.silent = silent ? std::optional(shard.view.version.epoch) : std::nullopt;
      judge_leader(workload, s, now);
    }
  }
}

void Seen::judge_all(WorkloadSeen& workload, Duration now) {
  const StateModel* states = model(workload);
  workload.lead = states != nullptr ? states->bounded() : std::nullopt;
  for (std::uint32_t s = 0; s < workload.shards.size(); ++s) judge(workload, s, now);
}

// 3. Answers.

const ShardSeen* Seen::find(const ShardId& shard) const {
  const auto found = workloads_.find(shard.workload);
  if (found == workloads_.end() || shard.shard.value() >= found->second.shards.size()) return nullptr;
  return &found->second.shards[shard.shard.value()];
}

const StateModel* Seen::model(const WorkloadSeen& workload) const {
  const auto own = std::ranges::find(models_, workload.document.spec.state_model, &StateModel::name);
  return own != models_.end() ? &*own : find_built_in(workload.document.spec.state_model.str());
}

std::optional<LiveDocument> Seen::last_live(const NodeId& node) const {
  const auto found = lives_.find(node);
  return found == lives_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> Seen::why_unsettled(std::size_t most) const {
  std::vector<std::string> out;
  for (const auto& [name, workload] : workloads_) {
    for (std::uint32_t s = 0; s < workload.shards.size() && out.size() < most; ++s) {
      if (!workload.shards[s].settled) out.push_back(fmt::format("{}/{} {}", name, s, why_unsettled(workload, s)));
    }
  }
  if (unsettled_ > out.size()) out.push_back(fmt::format("and {} more", unsettled_ - out.size()));
  return out;
}

Calm Seen::calm(Duration now) const {
  Calm calm = calm_;
  if (unsettled_since_) calm.unsettled += now - *unsettled_since_;
  for (const auto& [name, workload] : workloads_) {
    for (const ShardSeen& shard : workload.shards) {
      if (!shard.leaderless_since) continue;
      calm.leaderless += now - *shard.leaderless_since;
      calm.leaderless_longest = std::max(calm.leaderless_longest, now - *shard.leaderless_since);
    }
  }
  return calm;
}

}  // namespace evenkeel::sim
