#include "evenkeel/sim/checkers.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "evenkeel/sim/detail/promises.h"

namespace evenkeel::sim {

using detail::NodeEvidence;
using detail::Said;
using detail::ShardEvidence;
using store::Write;

class Checkers::Work {
 public:
  Work(const ClusterId& cluster, std::function<Duration()> now) : keys_(cluster), now_(std::move(now)) {}

  void saw(const store::Txn& txn, const store::Committed& done);
  void put_back(const store::Listing& contents);
  void disturbed() { seen_.steady_since = now_(); }
  std::optional<std::string> unrest();
  const detail::Findings& findings() const { return findings_; }

 private:
  struct Put {
    Key key;
    std::string path;
    const std::string* text = nullptr;  // the txn's; null: it is erased
  };
  std::vector<Put> puts_of(const std::vector<Write>& writes);
  void check_guard(const store::Txn& txn, const std::vector<Put>& puts);
  void check_refused(const store::Txn& txn);
  void take(const Put& put, store::Revision revision);
  void take_permit(const Put& put);
  void take_live(const Put& put);
  void take_report(const Put& put);
  void check_kept(const Key& key, const std::optional<Report>& report);
  void take_bucket(const Put& records, const std::vector<Put>& puts);
  bool take_shard(const ShardId& shard, ShardRecord after, ShardView view);
  void take_targets(const std::vector<Put>& puts);
  std::optional<std::string> unrest_of(const ShardId& id, const ShardEvidence& shard) const;
  void check_target(const Target& target, const Target* before);
  void check_told(const ShardId& shard, Bucket bucket);
  template <class T>
  std::optional<T> read(Result<T> result) {
    if (result) return std::move(*result);
    findings_.broken("documents", "{}", result.error().message);
    return std::nullopt;
  }

  const Keys keys_;
  const std::function<Duration()> now_;
  detail::Evidence seen_;
  detail::Findings findings_;
  bool detailed_ = false;                   // the violation says what the record was
  std::unordered_set<std::string> paths_;   // of everything that is there
  std::map<ShardId, Bucket> told_changed_;  // in this txn, and where
  std::uint64_t changes_ = 1;               // of what rest depends on
  std::uint64_t looked_at_ = 0;             // up to which `unrest_` is about
  std::optional<std::string> unrest_;
};

// ------------------------------------------------------------------------------------------------------------- txns

std::vector<Checkers::Work::Put> Checkers::Work::puts_of(const std::vector<Write>& writes) {
  std::vector<Put> puts;
  const auto add = [&](const std::string& path, const std::string* text) {
    if (text != nullptr) {
      paths_.insert(path);
    } else {
      paths_.erase(path);
    }
    if (const auto key = keys_.parse(path)) puts.push_back({*key, path, text});
  };
  for (const Write& write : writes) {
    if (write.kind == Write::Kind::put || write.kind == Write::Kind::put_ephemeral) add(write.key, &write.value);
    if (write.kind == Write::Kind::erase) add(write.key, nullptr);
    if (write.kind != Write::Kind::erase_below) continue;
    std::vector<std::string> below;
    for (const std::string& path : paths_) {
      if (path.starts_with(write.key)) below.push_back(path);
    }
    std::ranges::sort(below);
    for (const std::string& path : below) add(path, nullptr);
  }
  return puts;
}

namespace {

bool is_controllers(Key::Kind kind) {
  return kind == Key::Kind::shards || kind == Key::Kind::view || kind == Key::Kind::target || kind == Key::Kind::waits;
}

}  // namespace

// Whatever a controller decides is written by the one that was elected last, over the record that it has read.
void Checkers::Work::check_guard(const store::Txn& txn, const std::vector<Put>& puts) {
  constexpr std::string_view name = "one controller";
  if (std::ranges::none_of(puts, [](const Put& put) { return is_controllers(put.key.kind); })) return;
  findings_.held(name);
  const auto compares = [&](const std::string& path) { return std::ranges::find(txn.compares, path, &store::Compare::key); };
  const auto guard = compares(keys_.controller_epoch());
  if (guard == txn.compares.end() || guard->kind != store::Compare::Kind::unchanged)
    return findings_.broken(name, "{} is written without a look at the controller's epoch", puts.front().path);
  for (const Put& put : puts) {
    if (put.key.kind == Key::Kind::shards && compares(put.path) == txn.compares.end())
      findings_.broken(name, "{} is written over whatever is there", put.path);
  }
}

// A write that is refused although its writer is in office, for something that was there before it was elected: it had not read that.
void Checkers::Work::check_refused(const store::Txn& txn) {
  for (const store::Compare& compare : txn.compares) {
    const auto key = keys_.parse(compare.key);
    const auto known = seen_.revisions.find(compare.key);
    if (!key || key->kind != Key::Kind::shards || known == seen_.revisions.end()) continue;
    const auto guard = std::ranges::find(txn.compares, keys_.controller_epoch(), &store::Compare::key);
    if (guard == txn.compares.end() || guard->modified != seen_.controller_revision) continue;
    const bool is_known = compare.kind == store::Compare::Kind::unchanged && compare.modified == known->second;
    if (!is_known && known->second < seen_.controller_revision)
      findings_.broken("one controller", "controller {} writes {} before it has read what was there when it was elected",
                       seen_.controller, compare.key);
  }
}

void Checkers::Work::saw(const store::Txn& txn, const store::Committed& done) {
  if (findings_.violation()) return;
  seen_.now = now_();
  if (!done.succeeded) check_refused(txn);
  const std::vector<Put> puts = puts_of(done.succeeded ? txn.then : txn.otherwise);
  if (puts.empty()) return;
  check_guard(txn, puts);
  told_changed_.clear();
  for (const Put& put : puts) {
    if (!is_controllers(put.key.kind)) take(put, done.revision);
  }
  for (const Put& put : puts) {
    if (put.key.kind != Key::Kind::shards) continue;
    take_bucket(put, puts);
    seen_.revisions[put.path] = done.revision;
  }
  take_targets(puts);
}

void Checkers::Work::take(const Put& put, store::Revision revision) {
  const Key& key = put.key;
  switch (key.kind) {
    case Key::Kind::config:
      if (!put.text) break;
      if (auto config = read(parse_config(*put.text, put.path))) seen_.take_config(std::move(*config));
      break;
    case Key::Kind::node: {
      auto order = put.text ? read(parse_node(*put.text, put.path)) : std::optional(NodeDocument{});
      if (order) seen_.nodes[key.node].order.put(std::move(*order), seen_.now);
      seen_.look_at_calm();
      break;
    }
    case Key::Kind::workload:
      if (!put.text) break;
      if (const auto document = read(parse_workload(*put.text, key.workload, put.path)))
        seen_.take_workload(key.workload, *document);
      break;
    case Key::Kind::live:
      take_live(put);
      break;
    case Key::Kind::beat:
      seen_.take_beat(key.node, put.text ? std::optional(store::Entry{put.path, *put.text, revision, revision}) : std::nullopt);
      break;
    case Key::Kind::report:
      take_report(put);
      break;
    case Key::Kind::permit:
      take_permit(put);
      break;
    case Key::Kind::order: {
      auto order = put.text ? read(parse_order(*put.text, put.path)) : std::nullopt;
      seen_.take_order({key.workload, key.shard}, std::move(order));
      break;
    }
    case Key::Kind::controller_epoch:
      if (!put.text) break;
      if (const auto epoch = read(parse_controller_epoch(*put.text, put.path))) {
        findings_.expect(*epoch > seen_.controller || seen_.put_back, "one controller", "a controller's epoch is given twice");
        seen_.controller = *epoch;
        seen_.controller_revision = revision;
      }
      break;
    case Key::Kind::member:
    case Key::Kind::shards:
    case Key::Kind::target:
    case Key::Kind::view:
    case Key::Kind::waits:
      break;
  }
}

void Checkers::Work::take_permit(const Put& put) {
  NodeEvidence& node = seen_.nodes[put.key.node];
  auto permit = put.text ? read(parse_permit(*put.text, put.path)) : std::nullopt;
  if (permit) detail::check_permit(seen_, put.key.node, node.permit, *permit, findings_);
  node.permit = std::move(permit);
  node.permit_at = seen_.now;
  seen_.look_at_calm();
}

// ------------------------------------------------------------------------------------------------------------- what nodes say

// When a node has said all that it holds, everything is there that its disk had and that it was not told to drop.
void Checkers::Work::take_live(const Put& put) {
  if (!put.text) return;
  const auto live = read(parse_live(*put.text, put.key.node, put.path));
  if (!live) return;
  NodeEvidence& node = seen_.nodes[put.key.node];
  const bool is_new = !node.live || node.live->incarnation != live->incarnation;
  seen_.take_live(put.key.node, *live);
  if (!is_new) return;
  for (const auto& [shard, data] : node.on_disk) {
    if (data != live->data || node.told_off.contains({shard, data})) continue;
    findings_.held("nothing from absence");
    if (seen_.said(shard, put.key.node, live->incarnation) == nullptr)
      findings_.broken("nothing from absence", "{} comes back without {}, which it was never told to drop", put.key.node,
                       format(shard));
  }
}

// What a node has, it has until it is told otherwise.
void Checkers::Work::check_kept(const Key& key, const std::optional<Report>& report) {
  NodeEvidence& node = seen_.nodes[key.node];
  const auto old = node.reports.find({key.workload, key.bucket});
  if (old == node.reports.end() || !node.live || old->second.incarnation != node.live->incarnation) return;
  if (node.incarnation != old->second.incarnation) return;  // a new one writes everything anew
  if (report && report->incarnation != old->second.incarnation) return;
  for (const ShardIndex index : old->second.shards) {
    const ShardId shard{key.workload, index};
    const Said* said = seen_.said(shard, key.node, old->second.incarnation);
    if (said == nullptr || said->latest.state.str() == state_dropped || said->latest.last == Epoch(0)) continue;
    bool kept = false;
    if (report) {
      const auto found = std::ranges::find(report->replicas, index, &ReplicaReport::shard);
      kept = found != report->replicas.end() && found->state.str() != state_dropped;
    }
    if (kept) continue;
    findings_.held("nothing from absence");
    node.on_disk.erase(shard);
    if (!node.told_off.contains({shard, said->data}))
      findings_.broken("nothing from absence", "{} has dropped {}, which it was never told", key.node, format(shard));
  }
}

void Checkers::Work::take_report(const Put& put) {
  auto report = put.text ? read(parse_report(*put.text, put.key, put.path)) : std::nullopt;
  check_kept(put.key, report);
  if (report) {
    NodeEvidence& node = seen_.nodes[put.key.node];
    for (const ReplicaReport& replica : report->replicas) {
      const ShardId shard{put.key.workload, replica.shard};
      const auto* specs = seen_.workload(shard.workload);
      const bool stays = specs != nullptr && specs->latest().seals;  // a leader without data leaves nothing
      if (stays && replica.last > Epoch(0) && replica.state.str() != state_dropped) node.on_disk[shard] = report->data;
      const auto known = seen_.shards.find(shard);
      const Version told = known == seen_.shards.end() ? Version{} : known->second.record.version;
      if (!seen_.put_back && replica.version > told && told != Version{})
        findings_.broken("numbers", "{} has taken up ({}, {}) of {}, which was never told", put.key.node, replica.version.epoch,
                         replica.version.change, format(shard));
    }
  }
  ++changes_;
  seen_.take_report(put.key, std::move(report));
}

// ------------------------------------------------------------------------------------------------------------- what controllers decide

void Checkers::Work::take_bucket(const Put& records, const std::vector<Put>& puts) {
  const Key& key = records.key;
  const auto at = std::ranges::find_if(puts, [&](const Put& put) {
    return put.key.kind == Key::Kind::view && put.key.workload == key.workload && put.key.bucket == key.bucket;
  });
  if (at == puts.end() || (at->text == nullptr) != (records.text == nullptr))
    return findings_.broken("documents", "{} is written without its view", records.path);
  RecordBucket bucket;
  ViewBucket view;
  if (records.text) {
    auto parsed = read(parse_records(*records.text, key.workload, key.bucket, records.path));
    auto shown = read(parse_view(*at->text, key.workload, key.bucket, at->path));
    if (!parsed || !shown) return;
    bucket = std::move(*parsed);
    view = std::move(*shown);
  }
  std::set<ShardIndex>& shards = seen_.buckets[{key.workload, key.bucket}];
  std::map<ShardIndex, std::pair<ShardRecord, ShardView>> after;
  for (const ShardIndex shard : shards) after[shard] = {{.shard = shard}, {.shard = shard}};
  for (ShardRecord& record : bucket.shards) after[record.shard].first = std::move(record);
  for (ShardView& one : view.shards) after[one.shard].second = std::move(one);
  shards.clear();
  for (auto& [shard, documents] : after) {
    if (documents.first.version != Version{}) shards.insert(shard);
    documents.second.shard = shard;
    if (take_shard({key.workload, shard}, std::move(documents.first), std::move(documents.second)))
      told_changed_.emplace(ShardId{key.workload, shard}, key.bucket);
  }
}

// Whether its nodes are told something else than before.
bool Checkers::Work::take_shard(const ShardId& shard, ShardRecord after, ShardView view) {
  ShardEvidence& known = seen_.shards[shard];
  known.record.shard = known.view.shard = shard.shard;
  if (known.record == after && known.view == view) return false;
  const auto* specs = seen_.workload(shard.workload);
  const bool is_end = after.version == Version{} && known.record.holders.empty();
  if (specs != nullptr && !is_end) {
    const detail::ShardChange change{seen_, shard, known, known.record, after, known.view, view, *specs};
    for (const auto& table : {detail::promises_of_leading(), detail::promises_of_members(), detail::promises_of_limits()}) {
      for (const detail::Promise& promise : table) promise.check(change, findings_);
    }
    if (findings_.violation() && !std::exchange(detailed_, true))
      findings_.add_detail(fmt::format(" [{}] -> [{}]", detail::describe(known.record), detail::describe(after)));
    if (const Holder* leader = change.granted()) known.grants[after.version.epoch] = leader->node;
  }
  ++changes_;
  const bool told = after.told != known.record.told;
  seen_.take_record(shard, std::move(after));
  seen_.take_view(shard, std::move(view));
  return told;
}

void Checkers::Work::check_target(const Target& target, const Target* before) {
  constexpr std::string_view name = "targets";
  findings_.held(name);
  if (target.number.controller != seen_.controller)
    findings_.broken(name, "{} is told by controller {}, and {} is elected", target.node, target.number.controller,
                     seen_.controller);
  if (before != nullptr && before->incarnation == target.incarnation && before->number >= target.number && !seen_.put_back)
    findings_.broken(name, "{} is told something of a lower number than before", target.node);
  for (const ReplicaTarget& entry : target.replicas) {
    const ShardId shard{target.workload, entry.shard};
    const ShardRecord& record = seen_.shards[shard].record;
    const Holder* holder = detail::find_holder(record, target.node);
    if (holder == nullptr || holder->incarnation != target.incarnation || holder->told != entry.state ||
        record.told != entry.version || record.seal != entry.seal)
      findings_.broken(name, "{} is told {} of {}, and its record says something else", target.node, entry.state, format(shard));
  }
}

// Who is there is told what changed with the record that says so.
void Checkers::Work::check_told(const ShardId& shard, Bucket bucket) {
  const ShardRecord& record = seen_.shards[shard].record;
  for (const Holder& holder : record.holders) {
    const NodeEvidence* node = seen_.node(holder.node);
    if (node == nullptr || node->incarnation != holder.incarnation || !seen_.surely_there(holder.node)) continue;
    const auto found = node->targets.find({shard.workload, bucket});
    const bool told =
        found != node->targets.end() && std::ranges::any_of(found->second.replicas, [&](const ReplicaTarget& entry) {
          return entry.shard == shard.shard && entry.version == record.told;
        });
    if (!told) findings_.broken("targets", "{} is not told of the change of {}", holder.node, format(shard));
  }
}

void Checkers::Work::take_targets(const std::vector<Put>& puts) {
  for (const Put& put : puts) {
    if (put.key.kind != Key::Kind::target) continue;
    NodeEvidence& node = seen_.nodes[put.key.node];
    const auto at = std::pair(put.key.workload, put.key.bucket);
    const auto old = node.targets.find(at);
    auto target = put.text ? read(parse_target(*put.text, put.key, put.path)) : std::nullopt;
    if (!target) {
      node.targets.erase(at);
      continue;
    }
    check_target(*target, old == node.targets.end() ? nullptr : &old->second);
    const auto disk = node.disks.find(target->incarnation);
    for (const ReplicaTarget& entry : target->replicas) {
      if (entry.state.str() == state_dropped && disk != node.disks.end())
        node.told_off.insert({{put.key.workload, entry.shard}, disk->second});
    }
    node.targets.insert_or_assign(at, std::move(*target));
  }
  for (const auto& [shard, bucket] : told_changed_) check_told(shard, bucket);
}

// ------------------------------------------------------------------------------------------------------------- the store goes back

void Checkers::Work::put_back(const store::Listing& contents) {
  ++changes_;
  detail::Evidence before = std::exchange(seen_, {});
  seen_.now = now_();
  seen_.steady_since = seen_.now;
  seen_.put_back = true;
  for (auto& [name, node] : before.nodes) {
    NodeEvidence& next = seen_.nodes[name];
    next.over = std::move(node.over);
    next.disks = std::move(node.disks);
    next.disk = std::move(node.disk);
    next.on_disk = std::move(node.on_disk);
    next.told_off = std::move(node.told_off);
    // Who was gone is waited for as long as the documents that are left say; how long that was then is not known here.
    next.gone_since = node.joined ? seen_.now : node.gone_since;
    next.beatless_since = seen_.now;
  }
  for (auto& [id, shard] : before.shards) seen_.shards[id].said = std::move(shard.said);
  paths_.clear();
  for (const store::Entry& entry : contents.entries) {
    paths_.insert(entry.key);
    const auto key = keys_.parse(entry.key);
    if (!key) continue;
    const Put put{*key, entry.key, &entry.value};
    if (key->kind == Key::Kind::shards) {
      seen_.revisions[entry.key] = entry.modified;
      const auto records = read(parse_records(entry.value, key->workload, key->bucket, entry.key));
      if (!records) continue;
      for (const ShardRecord& record : records->shards) {
        seen_.buckets[{key->workload, key->bucket}].insert(record.shard);
        seen_.take_record({key->workload, record.shard}, record);
      }
    } else if (key->kind == Key::Kind::view) {
      const auto view = read(parse_view(entry.value, key->workload, key->bucket, entry.key));
      if (!view) continue;
      for (const ShardView& shard : view->shards) seen_.take_view({key->workload, shard.shard}, shard);
    } else if (key->kind == Key::Kind::target) {
      if (auto target = read(parse_target(entry.value, *key, entry.key)))
        seen_.nodes[key->node].targets.insert_or_assign({key->workload, key->bucket}, std::move(*target));
    } else if (key->kind == Key::Kind::live) {
      if (auto live = read(parse_live(entry.value, key->node, entry.key))) {
        seen_.nodes[key->node].doubted = live->incarnation;
        seen_.take_live(key->node, std::move(*live));
      }
    } else if (key->kind == Key::Kind::member) {
      if (const auto member = read(parse_live(entry.value, key->node, entry.key)))
        seen_.nodes[key->node].last_zone = member->zone;
    } else if (key->kind == Key::Kind::permit) {
      seen_.nodes[key->node].permit = read(parse_permit(entry.value, entry.key));
    } else if (key->kind == Key::Kind::report) {
      seen_.take_report(*key, read(parse_report(entry.value, *key, entry.key)));
    } else {
      take(put, entry.modified);
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- the end

std::optional<std::string> Checkers::Work::unrest_of(const ShardId& id, const ShardEvidence& shard) const {
  const ShardRecord& record = shard.record;
  const auto* specs = seen_.workload(id.workload);
  if (specs == nullptr || record.version == Version{}) return std::nullopt;
  const detail::Spec& spec = specs->latest();
  if (record.seal) return fmt::format("{} has an open seal", format(id));
  if (record.hand_over) return fmt::format("{} is being handed over", format(id));
  if (record.split) return fmt::format("{} is being split", format(id));
  for (const Holder& holder : record.holders) {
    const NodeEvidence* node = seen_.node(holder.node);
    if (!detail::counts(holder) && (node == nullptr || !node->joined)) continue;  // nobody waits for that
    if (holder.leaving || !detail::counts(holder)) return fmt::format("{} is leaving {}", format(id), holder.node);
    if (!holder.arrived) return fmt::format("{} has not come to {}", format(id), holder.node);
    const Said* said = seen_.said(id, holder.node, holder.incarnation);
    if (said == nullptr || said->latest.version < holder.version || said->latest.state != holder.told)
      return fmt::format("{} is told {} of {}, and does not say so", holder.node, holder.told, format(id));
  }
  if (spec.lead && !spec.deleted && !shard.view.leader) return fmt::format("nobody leads {}", format(id));
  return std::nullopt;
}

std::optional<std::string> Checkers::Work::unrest() {
  if (looked_at_ == changes_) return unrest_;
  looked_at_ = changes_;
  unrest_.reset();
  for (auto shard = seen_.shards.begin(); shard != seen_.shards.end() && !unrest_; ++shard)
    unrest_ = unrest_of(shard->first, shard->second);
  return unrest_;
}

Checkers::Checkers(const ClusterId& cluster, std::function<Duration()> now)
    : work_(std::make_unique<Work>(cluster, std::move(now))) {}
Checkers::~Checkers() = default;

void Checkers::saw(const std::string&, const store::Txn& txn, const store::Committed& done) { work_->saw(txn, done); }
void Checkers::store_was_put_back(const store::Listing& contents) { work_->put_back(contents); }
void Checkers::disturbed() { work_->disturbed(); }
const std::optional<std::string>& Checkers::violation() const { return work_->findings().violation(); }
std::optional<std::string> Checkers::unrest() const { return work_->unrest(); }
const std::map<std::string_view, std::uint64_t>& Checkers::counts() const { return work_->findings().counts(); }

}  // namespace evenkeel::sim
