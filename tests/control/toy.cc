#include "tests/control/toy.h"

#include <algorithm>
#include <cstdlib>

#include "evenkeel/model/cluster_file.h"
#include "evenkeel/place/place.h"

namespace evenkeel::control::test {

Toy::Toy(std::uint64_t seed, Broken broken)
    : rng(seed), machine({.cluster = ClusterId("toy"), .broken = broken}), broken_(broken) {
  epoch = ControllerEpoch(1);
  feed(Elected{epoch});
}

void Toy::put(const Key& key, std::optional<Document> document) {
  if (document) {
    store_.insert_or_assign(where(key), std::pair(key, std::move(*document)));
  } else {
    store_.erase(where(key));
  }
  changed_[where(key)] = 1;
}

void Toy::see(const Key& key) {
  changed_.erase(where(key));
  const auto found = store_.find(where(key));
  feed(Saw{key, found == store_.end() ? std::nullopt : std::optional(found->second.second)});
}

namespace {

// What a machine wants done, as text. The count of a target's number is not part of it.
std::vector<std::string> told(const Output& out) {
  std::vector<std::string> lines;
  for (const Commit& commit : out.commits) {
    std::string text = format(commit.records) + format(commit.view);
    for (Target target : commit.targets) {
      target.number.count = 0;
      text += "\n" + target.node.str() + format(target);
    }
    lines.push_back(std::move(text));
  }
  for (const Put& put : out.puts) {
    if (const auto* waits = std::get_if<WaitsDocument>(&put.document)) lines.push_back(format(*waits));
  }
  std::ranges::sort(lines);
  return lines;
}

}  // namespace

void Toy::feed(Input input) {
  const Input same = input;
  Output out = machine.step(std::move(input), now);
  if (fresh_) {
    const Output other = fresh_->step(same, now);
    if (told(out) != told(other) && violation_.empty())
      violation_ = fmt::format("a fresh machine does otherwise:\n{}\n--- fresh\n{}", fmt::join(told(out), "\n"),
                               fmt::join(told(other), "\n"));
    if (out.plan != other.plan && violation_.empty()) violation_ = "a fresh machine plans otherwise";
  }
  for (const Event& event : out.events) {
    history_.push_back(fmt::format("{} {} {}: {}", format(now), event.shard ? format(*event.shard) : "",
                                   event.node ? event.node->str() : "", event.text));
  }
  for (Commit& commit : out.commits) commits_.push_back(std::move(commit));
  for (const Put& one : out.puts) {
    if (const auto* permit = std::get_if<PermitDocument>(&one.document)) put(one.key, *permit);
    if (const auto* waits = std::get_if<WaitsDocument>(&one.document)) put(one.key, *waits);
  }
  if (out.plan) plans_.push_back(std::move(*out.plan));
  wake_ = out.wake;
}

void Toy::configure(ConfigDocument config) { put({.kind = Key::Kind::config}, config); }

void Toy::create(Workload workload) {
  WorkloadDocument document{.spec = workload, .buckets = buckets_for(workload.shards)};
  workloads_[workload.name] = document;
  put({.kind = Key::Kind::workload, .workload = workload.name}, document);
}

std::uint32_t Toy::buckets(const WorkloadId& workload) const { return workloads_.at(workload).buckets; }

void Toy::add_node(const std::string& name, const std::string& zone) {
  nodes.push_back({.name = NodeId(name), .data = DataId("d-" + name), .zone = zone});
  join(nodes.back(), false);
}

void Toy::crash(ToyNode& node) {
  history_.push_back(fmt::format("{} {} crashes", format(now), node.name));
  node.up = false;
}

void Toy::lose_session(ToyNode& node) {
  history_.push_back(fmt::format("{} {} loses its session", format(now), node.name));
  node.session = false;
  for (auto& [shard, replica] : node.replicas) {
    if (replica.state.str() == "leader") replica.state = StateId("follower");
  }
}

void Toy::end_session(ToyNode& node) {
  history_.push_back(fmt::format("{} the session of {} is over", format(now), node.name));
  node.session = false;
  put({.kind = Key::Kind::beat, .node = node.name}, BeatSeen{node.incarnation, 10s, true});
}

void Toy::join(ToyNode& node, bool new_disk) {
  if (new_disk) {
    node.replicas.clear();
    node.data = DataId(fmt::format("d-{}-{}", node.name, next_incarnation_));
  }
  node.incarnation = Incarnation(next_incarnation_++);
  history_.push_back(
      fmt::format("{} {} joins as {}{}", format(now), node.name, node.incarnation, new_disk ? " with a new disk" : ""));
  node.up = node.session = true;
  node.read.clear();
  put({.kind = Key::Kind::beat, .node = node.name}, BeatSeen{node.incarnation, 10s, false});
  for (auto& [shard, replica] : node.replicas) {
    replica.state = StateId("offline");
    replica.sealed.reset();
  }
  std::set<std::pair<WorkloadId, Bucket>> held;
  for (const auto& [shard, replica] : node.replicas) held.emplace(shard.workload, bucket_of(shard, buckets(shard.workload)));
  for (const auto& [workload, bucket] : held) report(node, workload, bucket);
  put({.kind = Key::Kind::live, .node = node.name}, LiveDocument{.node = node.name,
                                                                 .incarnation = node.incarnation,
                                                                 .data = node.data,
                                                                 .address = node.name.str(),
                                                                 .zone = node.zone,
                                                                 .inventory = static_cast<std::uint32_t>(held.size())});
}

void Toy::report(ToyNode& node, const WorkloadId& workload, Bucket bucket) {
  Report report{.node = node.name, .workload = workload, .bucket = bucket, .incarnation = node.incarnation, .data = node.data};
  if (const auto read = node.read.find({workload, bucket}); read != node.read.end()) report.obeyed = read->second;
  for (const auto& [shard, replica] : node.replicas) {
    if (shard.workload != workload || bucket_of(shard, buckets(workload)) != bucket) continue;
    report.replicas.push_back({.shard = shard.shard,
                               .state = replica.state,
                               .version = replica.version,
                               .last = replica.last,
                               .progress = replica.log.size(),
                               .sealed = replica.sealed,
                               .error = replica.fails ? "it fails" : "",
                               .gave_up = replica.fails});
  }
  put({.kind = Key::Kind::report, .node = node.name, .workload = workload, .bucket = bucket}, report);
}

std::string Toy::logs_of(const ShardId& shard) const {
  std::string text;
  for (const ToyNode& node : nodes) {
    const auto held = node.replicas.find(shard);
    if (held == node.replicas.end()) continue;
    const ToyReplica& replica = held->second;
    text += fmt::format("\n  {} {} at {}.{}, last {}, refuses {}, has {}", node.name, replica.state, replica.version.epoch,
                        replica.version.change, replica.last, replica.refuses, fmt::join(replica.log, " "));
  }
  return text;
}

void Toy::obey(ToyNode& node, const Target& target, const ReplicaTarget& entry) {
  const ShardId shard{target.workload, entry.shard};
  if (entry.state.str() == state_dropped && !node.replicas.contains(shard)) node.replicas[shard].state = StateId("dropped");
  ToyReplica& replica = node.replicas[shard];
  if (entry.version < replica.version) return;
  replica.version = entry.version;
  node.peers[shard] = entry.peers;
  if (entry.seal) {
    replica.refuses = std::max(replica.refuses, *entry.seal);
    if (!replica.sealed || replica.sealed->against < *entry.seal)
      replica.sealed = Sealed{*entry.seal, replica.last, replica.log.size()};
  }
  if (replica.fails && entry.state.str() != state_dropped) return;
  if (entry.state.str() == state_dropped) {
    replica.log.clear();
    replica.last = {};
    replica.sealed.reset();
  }
  // One that has nothing yet follows once it has all that the leader has.
  if (entry.state.str() == "follower" && replica.last == Epoch(0) && entry.copy_from && !bootstrap(node, shard)) return;
  if (entry.state.str() == "leader") {
    replica.last = std::max(replica.last, entry.version.epoch);
    replica.refuses = std::max(replica.refuses, entry.version.epoch);
    const auto [at, is_new] = led_[shard].try_emplace(entry.version.epoch, node.name);
    if (!is_new && at->second != node.name)
      violation_ = fmt::format("{} and {} lead {} at epoch {}", at->second, node.name, format(shard), entry.version.epoch);
    for (const std::uint64_t write : acknowledged_[shard]) {
      if (std::ranges::find(replica.log, write) == replica.log.end() && violation_.empty())
        violation_ = fmt::format("{} leads {} at epoch {} without write {}{}", node.name, format(shard), entry.version.epoch,
                                 write, logs_of(shard));
    }
  }
  replica.state = entry.state;
}

void Toy::obey(ToyNode& node, const Target& target) {
  if (target.incarnation != node.incarnation && broken_ != Broken::ignore_incarnations) return;
  TargetNumber& read = node.read[{target.workload, target.bucket}];
  if (target.number < read) return;
  read = target.number;
  for (const ReplicaTarget& entry : target.replicas) obey(node, target, entry);
  // What was dropped is forgotten when nobody asks for it any more.
  std::erase_if(node.replicas, [&](const auto& held) {
    const bool here = held.first.workload == target.workload && bucket_of(held.first, buckets(target.workload)) == target.bucket;
    const bool asked = std::ranges::find(target.replicas, held.first.shard, &ReplicaTarget::shard) != target.replicas.end();
    return here && held.second.state.str() == state_dropped && !asked;
  });
  report(node, target.workload, target.bucket);
}

// A node looks at one of its targets.
void Toy::look(ToyNode& node) {
  if (!node.up || !node.session) return;
  std::vector<const Target*> mine;
  for (const auto& [at, target] : targets_) {
    const auto read = node.read.find({target.workload, target.bucket});
    const bool is_new = read == node.read.end() || read->second < target.number ||
                        std::ranges::any_of(target.replicas, [&](const ReplicaTarget& entry) {
                          const auto held = node.replicas.find({target.workload, entry.shard});
                          return held != node.replicas.end() && held->second.state != entry.state && !held->second.fails;
                        });
    if (std::get<0>(at) == node.name && target.incarnation == node.incarnation && is_new) mine.push_back(&target);
  }
  if (!mine.empty()) obey(node, *mine[rng.below(mine.size())]);
}

bool Toy::bootstrap(ToyNode& node, const ShardId& shard) {
  ToyReplica& replica = node.replicas[shard];
  replica.state = StateId("follower");
  copy(node, shard);
  if (replica.last == Epoch(0)) replica.state = StateId("offline");
  return replica.last > Epoch(0);
}

// A follower that follows a leader of an epoch that it does not refuse gets all that it has.
void Toy::copy(ToyNode& node, const ShardId& shard) {
  ToyReplica& replica = node.replicas[shard];
  if (!node.up || replica.state.str() != "follower") return;
  for (const ToyNode& other : nodes) {
    const auto held = other.replicas.find(shard);
    if (&other == &node || held == other.replicas.end() || !acts_as_leader(other, held->second)) continue;
    if (held->second.version.epoch < replica.refuses || held->second.version.epoch < replica.last) continue;
    replica.log = held->second.log;
    replica.last = held->second.version.epoch;
  }
}

// A leader writes, to itself and to as many as `acks` says; acknowledged if they all take it.
void Toy::write_something() {
  std::vector<std::pair<ToyNode*, ShardId>> leaders;
  for (ToyNode& node : nodes) {
    for (auto& [shard, replica] : node.replicas) {
      if (acts_as_leader(node, replica)) leaders.emplace_back(&node, shard);
    }
  }
  if (leaders.empty()) return;
  const auto [leader, shard] = leaders[rng.below(leaders.size())];
  ToyReplica& own = leader->replicas[shard];
  if (own.refuses > own.version.epoch) return;  // sealed against itself
  const std::uint32_t acks = workloads_.at(shard.workload).spec.control.acks;
  const std::uint64_t write = ++next_write_;
  own.log.push_back(write);
  std::uint32_t copies = 1;
  const std::vector<Peer>& peers = leader->peers[shard];
  for (ToyNode& node : nodes) {
    const auto at = std::ranges::find(peers, node.name, &Peer::node);
    const bool peer = at != peers.end() && at->state.str() == "follower";
    if (!peer || !node.up || !node.replicas.contains(shard) || rng.chance(1, 3)) continue;
    ToyReplica& replica = node.replicas[shard];
    if (replica.state.str() != "follower" || replica.refuses > own.version.epoch || replica.last > own.version.epoch) continue;
    copy(node, shard);
    copies += replica.log == own.log ? 1 : 0;
  }
  if (acks > 0 && copies >= acks) acknowledged_[shard].insert(write);
  if (leader->session) report(*leader, shard.workload, bucket_of(shard, buckets(shard.workload)));
}

void Toy::apply(const Commit& commit) {
  const Key shards{.kind = Key::Kind::shards, .workload = commit.records.workload, .bucket = commit.records.bucket};
  Key view = shards;
  view.kind = Key::Kind::view;
  store_.insert_or_assign(where(shards), std::pair(shards, Document(commit.records)));
  store_.insert_or_assign(where(view), std::pair(view, Document(commit.view)));
  for (const Target& target : commit.targets) targets_[{target.node, target.workload, target.bucket}] = target;
  for (const NodeId& node : commit.untargeted) targets_.erase({node, commit.records.workload, commit.records.bucket});
  for (const ShardIndex shard : commit.orders)
    store_.erase(where({.kind = Key::Kind::order, .workload = commit.records.workload, .shard = shard}));
}

void Toy::answer(std::size_t at) {
  const Commit commit = commits_[at];
  commits_.erase(commits_.begin() + static_cast<std::ptrdiff_t>(at));
  const WorkloadId workload = commit.records.workload;
  const Bucket bucket = commit.records.bucket;
  if (rng.chance(9, 10)) {
    apply(commit);
    return feed(Answered{workload, bucket, Answered::Outcome::done});
  }
  if (rng.chance(1, 2)) apply(commit);
  feed(Answered{workload, bucket, Answered::Outcome::unknown});
  see({.kind = Key::Kind::view, .workload = workload, .bucket = bucket});
  see({.kind = Key::Kind::shards, .workload = workload, .bucket = bucket});
}

void Toy::compare_with_fresh() {
  while (!commits_.empty()) answer(0);
  while (!changed_.empty()) {
    const auto [kind, node, workload, bucket, shard] = changed_.begin()->first;
    see({kind, node, workload, bucket, shard});
    while (!commits_.empty()) answer(0);
  }
  feed(Deposed{});
  plans_.clear();
  auto fresh = std::make_unique<Machine>(MachineOptions{.cluster = ClusterId("toy"), .broken = broken_});
  std::vector<Key> keys;
  for (const auto& [at, entry] : store_) keys.push_back(entry.first);
  rng.shuffle(std::span(keys));
  for (const Key& key : keys) fresh->step(Saw{key, store_.at(where(key)).second}, now);
  fresh_ = std::move(fresh);
  epoch = epoch.next();
  feed(Elected{epoch});
}

void Toy::replace_controller() {
  fresh_.reset();
  history_.push_back(fmt::format("{} another controller", format(now)));
  for (const Commit& commit : commits_) {
    if (rng.chance(1, 2)) apply(commit);
  }
  commits_.clear();
  plans_.clear();
  epoch = epoch.next();
  std::destroy_at(&machine);
  std::construct_at(&machine, MachineOptions{.cluster = ClusterId("toy"), .broken = broken_});
  std::vector<Key> keys;
  for (const auto& [at, entry] : store_) keys.push_back(entry.first);
  rng.shuffle(std::span(keys));
  for (const Key& key : keys) see(key);
  changed_.clear();
  feed(Elected{epoch});
}

// Two never act as leaders at once, unless epochs keep them apart.
void Toy::check() {
  std::map<ShardId, const ToyNode*> leaders;
  for (const ToyNode& node : nodes) {
    for (const auto& [shard, replica] : node.replicas) {
      if (!acts_as_leader(node, replica)) continue;
      const auto [at, alone] = leaders.try_emplace(shard, &node);
      const bool fenced = workloads_.at(shard.workload).spec.control.fencing == Fencing::epoch;
      if (!alone && !fenced && violation_.empty())
        violation_ = fmt::format("{} and {} act as leaders of {}", at->second->name, node.name, format(shard));
    }
  }
}

void Toy::act() {
  switch (rng.below(8)) {
    case 0:
    case 1:
      if (!changed_.empty()) {
        auto at = changed_.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(rng.below(changed_.size())));
        const auto [kind, node, workload, bucket, shard] = at->first;
        see({kind, node, workload, bucket, shard});
      }
      break;
    case 2:
    case 3:
      if (!nodes.empty()) look(nodes[rng.below(nodes.size())]);
      break;
    case 4:
      if (!commits_.empty()) answer(rng.below(commits_.size()));
      break;
    case 5:
      if (!plans_.empty()) {
        const Cluster problem = plans_.front();
        plans_.erase(plans_.begin());
        const place::Plan plan = place::plan(problem);
        if (std::getenv("EVENKEEL_SEED") != nullptr)
          history_.push_back(format_cluster(problem, Syntax::yaml) + place::format_plan(problem, plan, Syntax::yaml));
        feed(Planned{plan});
      } else {
        now += Duration(rng.below(500) * 1'000'000);
        feed(Tick{});
      }
      break;
    case 6:
      write_something();
      break;
    case 7: {
      ToyNode& node = nodes[rng.below(nodes.size())];
      if (!node.replicas.empty()) {
        auto at = node.replicas.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(rng.below(node.replicas.size())));
        copy(node, at->first);
        if (node.up && node.session) report(node, at->first.workload, bucket_of(at->first, buckets(at->first.workload)));
      }
      break;
    }
  }
  check();
}

bool Toy::settle() {
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 400 && violation_.empty(); ++i) act();
    if (!violation_.empty()) return true;
    if (wake_ < Instant::max() && wake_ > now) now = wake_;
    feed(Tick{});
    if (round > 5 && unsettled().empty()) return true;
  }
  return false;
}

void Toy::accept_losses() {
  for (const auto& [name, document] : workloads_) {
    for (std::uint32_t s = 0; s < document.spec.shards; ++s) {
      const ShardId shard{name, ShardIndex(s)};
      const auto state = machine.explain(shard);
      if (!state || state->view.leader) continue;
      history_.push_back(fmt::format("{} losses of {} are accepted", format(now), format(shard)));
      acknowledged_[shard].clear();
      put({.kind = Key::Kind::order, .workload = name, .shard = shard.shard}, OrderDocument{.accept_loss = true});
    }
  }
}

std::string Toy::unsettled() const {
  for (const auto& [name, document] : workloads_) {
    for (std::uint32_t s = 0; s < document.spec.shards; ++s) {
      const ShardId shard{name, ShardIndex(s)};
      const auto state = machine.explain(shard);
      if (!state) return fmt::format("{} is not known", format(shard));
      const auto why = [&](std::string_view what) {
        return fmt::format("{}: {} ({})", format(shard), what, fmt::join(state->why, "; "));
      };
      if (state->record.placement.size() < document.spec.replicas) return why("is not placed");
      if (state->record.holders.size() != document.spec.replicas) return why("has too many or too few holders");
      if (!state->view.leader) return why("nobody leads");
      if (*state->view.leader != state->record.placement.front()) return why("another one leads than should");
      if (state->view.others.size() + 1 != document.spec.replicas) return why("not all serve");
    }
  }
  return {};
}

std::string Toy::show() const {
  std::string text;
  const std::size_t first = history_.size() > 60 ? history_.size() - 60 : 0;
  for (std::size_t i = first; i < history_.size(); ++i) text += history_[i] + "\n";
  for (const auto& [name, document] : workloads_) {
    for (std::uint32_t s = 0; s < document.spec.shards; ++s) {
      const auto state = machine.explain({name, ShardIndex(s)});
      if (!state) continue;
      text += fmt::format("{}/{} epoch {} change {} placement {}", name, s, state->record.version.epoch,
                          state->record.version.change, fmt::join(state->record.placement, " "));
      if (state->record.seal) text += fmt::format(" seal {}", *state->record.seal);
      for (const Holder& holder : state->record.holders)
        text += fmt::format(" [{} {} {}{}{}]", holder.node, holder.told, holder.may_be, holder.arrived ? "" : " arriving",
                            holder.leaving ? " leaving" : "");
      text += fmt::format(" why: {}{}\n", fmt::join(state->why, "; "), logs_of({name, ShardIndex(s)}));
    }
  }
  return text;
}

}  // namespace evenkeel::control::test
