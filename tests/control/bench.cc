#include "tests/control/bench.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "evenkeel/place/place.h"

namespace evenkeel::control::test {

Workload workload_of(std::uint32_t shards, std::uint32_t replicas) {
  Workload workload{.name = WorkloadId("t"), .shards = shards, .replicas = replicas};
  workload.control.linger = 1s;
  return workload;
}

Bench::Bench(bool restarts, Broken broken)
    : planner([](const Cluster& cluster) { return place::plan(cluster); }), restarts_(restarts), broken_(broken) {
  config.settings.control.rebalance_delay = 60s;
  config.settings.control.max_offline = 2;
  take_over();
}

void Bench::take_over() {
  pending_.clear();
  plans_.clear();
  puts_.clear();
  options.broken = broken_;
  machine = std::make_unique<Machine>(options);
  for (const auto& [at, entry] : store) machine->step(Saw{entry.first, entry.second}, now);
  epoch_ = epoch_.next();
  restarting_ = true;
  feed(Elected{epoch_});
  restarting_ = false;
}

void Bench::put_back(const Contents& contents) {
  options.epochs_above = Epoch(machine->highest_epoch().value() + 1000);
  options.lost = machine->with_data();
  store = contents.documents;
  targets = contents.told;
  for (auto& [name, node] : nodes_) node.up = false;
  take_over();
  for (auto& [name, node] : nodes_) join(name.str());
}

void Bench::feed(Input input) {
  const bool moves_on = !std::holds_alternative<Tick>(input) && !std::holds_alternative<Planned>(input);
  Output out = machine->step(std::move(input), now);
  for (const Event& event : out.events)
    events.push_back(
        fmt::format("{} {} {}", event.shard ? format(*event.shard) : "", event.node ? event.node->str() : "", event.text));
  for (Commit& commit : out.commits) {
    commits.push_back(commit);
    pending_.push_back(std::move(commit));
  }
  for (Put& one : out.puts) puts_.push_back(std::move(one));
  if (out.plan) {
    problems.push_back(*out.plan);
    plans_.push_back(std::move(*out.plan));
  }
  wake_ = out.wake;
  if (!restarts_ || restarting_ || !moves_on) return;
  for (const Commit& commit : std::exchange(pending_, {})) apply(commit);
  const std::vector<Put> puts = puts_;
  take_over();
  puts_.insert(puts_.begin(), puts.begin(), puts.end());
}

void Bench::put(const Key& key, std::optional<Document> document) {
  if (document) {
    store.insert_or_assign(where(key), std::pair(key, *document));
  } else {
    store.erase(where(key));
  }
  feed(Saw{key, std::move(document)});
  settle();
}

void Bench::apply(const Commit& commit) {
  Key key{.kind = Key::Kind::shards, .workload = commit.records.workload, .bucket = commit.records.bucket};
  store.insert_or_assign(where(key), std::pair(key, Document(commit.records)));
  if (commit.erases) store.erase(where(key));
  key.kind = Key::Kind::view;
  store.insert_or_assign(where(key), std::pair(key, Document(commit.view)));
  if (commit.erases) store.erase(where(key));
  for (const Target& target : commit.targets) targets[{target.node, target.workload, target.bucket}] = target;
  for (const NodeId& gone : commit.untargeted) targets.erase({gone, commit.records.workload, commit.records.bucket});
  for (const ShardIndex shard : commit.orders)
    store.erase(where({.kind = Key::Kind::order, .workload = commit.records.workload, .shard = shard}));
}

void Bench::settle() {
  for (int rounds = 0; rounds < 5000; ++rounds) {
    if (!pending_.empty()) {
      const Commit commit = pending_.front();
      pending_.erase(pending_.begin());
      apply(commit);
      feed(Answered{commit.records.workload, commit.records.bucket, Answered::Outcome::done});
    } else if (!puts_.empty()) {
      const Put one = puts_.front();
      puts_.erase(puts_.begin());
      std::optional<Document> document;
      std::visit(
          [&]<class T>(const T& value) {
            if constexpr (!std::is_same_v<T, Erased>) document = value;
          },
          one.document);
      if (document) {
        store.insert_or_assign(where(one.key), std::pair(one.key, *document));
      } else {
        store.erase(where(one.key));
      }
      feed(Saw{one.key, std::move(document)});
    } else if (!plans_.empty()) {
      const Cluster problem = plans_.front();
      plans_.erase(plans_.begin());
      feed(Planned{planner(problem)});
    } else if (!obey()) {
      return;
    }
  }
  stuck_ = true;
  ADD_FAILURE() << "it does not settle";
}

void Bench::run(Duration time) {
  const Instant end = now + time;
  int late = 0;
  settle();
  while (wake_ <= end && !stuck_) {
    now = std::max(now, wake_);
    wake_ = Instant::max();
    feed(Tick{});
    settle();
    if (wake_ <= now && ++late > 1000) stuck_ = true;
  }
  EXPECT_FALSE(stuck_) << "it wants to be woken again and again";
  now = std::max(now, end);
}

// One target that is new to its node is obeyed.
bool Bench::obey() {
  for (const auto& [at, target] : targets) {
    BenchNode& node = nodes_.at(target.node);
    if (node.up && node.obeys && target.incarnation == node.incarnation && obey(node, Target(target))) return true;
  }
  for (auto& [name, node] : nodes_) {  // what was dropped is forgotten when nobody names it any more
    for (const auto& [shard, held] : node.held) {
      const auto buckets = buckets_.find(shard.workload);
      if (!node.up || held.state.str() != state_dropped || buckets == buckets_.end()) continue;
      const ShardId dropped = shard;
      const Bucket bucket = bucket_of(dropped, buckets->second);
      if (targets.contains({name, dropped.workload, bucket})) continue;
      node.held.erase(dropped);
      report(node, dropped.workload, bucket);
      return true;
    }
  }
  return false;
}

bool Bench::obey(BenchNode& node, const Target& target) {
  const auto before = node.held;
  for (const ReplicaTarget& entry : target.replicas) {
    const ShardId shard{target.workload, entry.shard};
    ReplicaReport& held = node.held[shard];
    held.shard = entry.shard;
    if (held.state.str().empty()) held.state = StateId("offline");
    const bool is_new = !node.told.contains(shard) || held.version < entry.version;
    if (!is_new && entry.version < held.version) continue;
    node.told.insert(shard);
    held.version = entry.version;
    if (entry.seal && (!held.sealed || held.sealed->against < *entry.seal))
      held.sealed = Sealed{*entry.seal, held.last, held.progress};
    if (is_new) held.gave_up = false, held.error.clear();
    if (held.gave_up) continue;
    if (node.fails.contains(shard) && entry.state != held.state && entry.state.str() != state_dropped) {
      held.gave_up = true;
      held.error = "it fails";
      continue;
    }
    held.state = entry.state;
    const auto parent = entry.parent ? node.held.find({target.workload, *entry.parent}) : node.held.end();
    if (entry.state.str() == state_dropped || (entry.parent && node.copies_nothing)) {
      held.last = {};
      held.progress = 0;
    } else if (parent != node.held.end()) {
      held.last = parent->second.last;
      held.progress = parent->second.progress;
    } else {
      held.last = std::max(held.last, entry.version.epoch);
    }
  }
  std::erase_if(node.held, [&](const auto& one) {
    const bool here =
        one.first.workload == target.workload && bucket_of(one.first, buckets_.at(target.workload)) == target.bucket;
    return here && one.second.state.str() == state_dropped &&
           std::ranges::find(target.replicas, one.first.shard, &ReplicaTarget::shard) == target.replicas.end();
  });
  if (node.held == before) return false;
  report(node, target.workload, target.bucket);
  return true;
}

void Bench::report(BenchNode& node, const WorkloadId& workload, Bucket bucket) {
  Report report{.node = node.name, .workload = workload, .bucket = bucket, .incarnation = node.incarnation, .data = node.data};
  const auto buckets = buckets_.find(workload);
  for (const auto& [shard, held] : node.held) {
    if (shard.workload == workload && bucket_of(shard, buckets == buckets_.end() ? 1 : buckets->second) == bucket)
      report.replicas.push_back(held);
  }
  const Key key{.kind = Key::Kind::report, .node = node.name, .workload = workload, .bucket = bucket};
  store.insert_or_assign(where(key), std::pair(key, Document(report)));
  feed(Saw{key, report});
}

void Bench::create(Workload workload, bool deleted, Epoch highest) {
  const WorkloadDocument document{
      .spec = workload, .buckets = buckets_for(workload.shards), .deleted = deleted, .highest = highest};
  buckets_[workload.name] = document.buckets;
  put({.kind = Key::Kind::workload, .workload = workload.name}, document);
}

void Bench::join(const std::string& name, const std::string& zone, const std::function<void(LiveDocument&)>& change) {
  BenchNode& node = nodes_[NodeId(name)];
  node.name = NodeId(name);
  if (node.data.str().empty()) node.data = DataId("d-" + name);
  if (!zone.empty()) node.zone = zone;
  node.incarnation = Incarnation(next_incarnation_++);
  node.up = true;
  node.told.clear();
  std::set<std::pair<WorkloadId, Bucket>> documents;
  for (auto& [shard, held] : node.held) {
    held.state = StateId("offline");
    held.sealed.reset();
    const auto buckets = buckets_.find(shard.workload);
    documents.emplace(shard.workload, bucket_of(shard, buckets == buckets_.end() ? 1 : buckets->second));
  }
  for (const auto& [workload, bucket] : documents) report(node, workload, bucket);
  LiveDocument live{.node = node.name,
                    .incarnation = node.incarnation,
                    .data = node.data,
                    .zone = node.zone,
                    .inventory = static_cast<std::uint32_t>(documents.size())};
  if (change) change(live);
  node.data = live.data;
  put({.kind = Key::Kind::live, .node = node.name}, live);
  put({.kind = Key::Kind::member, .node = node.name}, live);
  put({.kind = Key::Kind::beat, .node = node.name}, BeatSeen{node.incarnation, 10s, false});
}

void Bench::end(const std::string& name) {
  node(name).up = false;
  put({.kind = Key::Kind::live, .node = NodeId(name)}, std::nullopt);
  put({.kind = Key::Kind::beat, .node = NodeId(name)}, BeatSeen{node(name).incarnation, 10s, true});
}

void Bench::restart(const std::string& name) {
  end(name);
  join(name);
}

void Bench::order(const std::string& name, NodeDocument document) {
  put({.kind = Key::Kind::node, .node = NodeId(name)}, std::move(document));
}

void Bench::order(const ShardId& shard, OrderDocument document) {
  put({.kind = Key::Kind::order, .workload = shard.workload, .shard = shard.shard}, std::move(document));
}

void Bench::ask_permit(const std::string& name, bool allow_outage) {
  put({.kind = Key::Kind::permit, .node = NodeId(name)},
      PermitDocument{.incarnation = node(name).incarnation, .allow_outage = allow_outage});
}

void Bench::pulse(const std::string& name, Duration every) {
  BenchNode& one = node(name);
  feed(Pulsed{{.node = one.name, .incarnation = one.incarnation, .count = ++one.pulses}, every});
  settle();
}

BenchNode& Bench::node(const std::string& name) { return nodes_.at(NodeId(name)); }

ShardState Bench::shard(std::uint32_t index, std::string_view workload) const {
  return machine->explain({WorkloadId(std::string(workload)), ShardIndex(index)}).value_or(ShardState{});
}

std::string Bench::holders(std::uint32_t index) const {
  std::vector<std::string> names;
  const ShardState state = shard(index);
  for (const Holder& holder : state.record.holders)
    names.push_back(holder.node.str() + (state.view.leader == holder.node ? "*" : ""));
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string Bench::why(std::uint32_t index) const { return fmt::format("{}", fmt::join(shard(index).why, "; ")); }

bool Bench::said(std::string_view text) const {
  return std::ranges::any_of(events, [&](const std::string& event) { return event.find(text) != std::string::npos; });
}

std::optional<PermitDocument> Bench::permit(const std::string& name) const {
  return stored<PermitDocument>({.kind = Key::Kind::permit, .node = NodeId(name)});
}

std::string Bench::trouble(const std::string& name) const {
  for (const NodeState& state : machine->nodes(now)) {
    if (state.node == NodeId(name)) return state.trouble;
  }
  return {};
}

Snapshot snapshot_of(const Bench& bench) {
  Snapshot seen{.cluster = ClusterId("bench")};
  for (const auto& [where, entry] : bench.store) seen.take(entry.first, entry.second);
  return seen;
}

}  // namespace evenkeel::control::test
