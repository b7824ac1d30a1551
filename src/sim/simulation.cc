#include "evenkeel/sim/simulation.h"

#include <algorithm>
#include <utility>

#include "evenkeel/base/hash.h"
#include "evenkeel/sim/detail/work.h"
#include "evenkeel/sim/edit.h"

namespace evenkeel::sim {
namespace {

constexpr Duration store_is_slow = 100ms;  // then nobody is expected to have noticed anything
constexpr Duration promises_every = 10ms;  // how often it is asked whether something holds
constexpr Duration nodes_within = 5s;      // are expected to join at first
constexpr Duration revision_every = 1s;    // how exactly the store's past is known
constexpr std::size_t revisions_max = 3600;
constexpr std::uint64_t callbacks_at_once_max = 10'000'000;  // more in one moment is no work, but a loop without an end

// What comes after the level of a log's line.
std::string message_of(std::string_view line) {
  const auto at = line.find("Z ");
  const auto message = at == line.npos ? line.npos : line.find_first_not_of(' ', line.find(' ', at + 2));
  return std::string(message == line.npos ? line : line.substr(message));
}

}  // namespace

// 1. The beginning.

Simulation::Work::Work(SimOptions options) : options_(std::move(options)), keys_(options_.cluster.name), seen_(keys_) {
  options_.store.seed = options_.seed;
  spec_ = spec_of(options_.cluster);
  world_.emplace(loop_, options_.store);
  if (options_.check) checkers_.emplace(options_.cluster.name, [this] { return elapsed(); });
  world_->on_commit(
      [this](const std::string& client, const store::Txn& txn, const store::Committed& done) { on_commit(client, txn, done); });
  node_log_ = Log::to([this](Level, std::string_view line) { take_log(line); }, {}, [] { return WallTime{}; });
  network_.emplace(loop_, Rng(options_.seed).split("network"), options_.network_max);
  services_.emplace(*network_, ledger_, options_.times,
                    ServiceLookups{[this](const WorkloadId& workload) { return facts(workload); },
                                   [this](const ShardId& shard, bool leads) { return load_of(shard, leads); }});
  operator_.emplace(world_->connect("operator"));
  write_first_documents();
  for (std::uint32_t i = 1; i <= options_.controllers; ++i) {
    const std::string name = fmt::format("controller {}", i);
    network_->join_group(name, "controllers");
    controllers_.push_back({.name = name, .clock = draw_clock(name), .starts = 0, .process = nullptr});
  }
  for (ControllerHost& host : controllers_) start_controller(host);
  for (const Node& node : options_.cluster.nodes) start(add_host(node));
  clients_.emplace(loop_, *services_,
                   ClientLookups{.pick = [this](Rng& rng) { return pick_shard(rng); },
                                 .leader = [this](const ShardId& shard) -> std::optional<NodeId> {
                                   const ShardSeen* seen = seen_.find(shard);
                                   return seen != nullptr ? seen->view.leader : std::nullopt;
                                 },
                                 .home = [this](const ShardId& key, Rng& rng) { return home_of(key, rng); }},
                   Rng(options_.seed).split("clients"));
  clients_->set_rate(options_.writes_per_second);
  note_revision();
  make_workloads();
}

// Processes first: what they leave behind is of the world and the loop.
Simulation::Work::~Work() {
  clients_.reset();
  hosts_.clear();
  controllers_.clear();
  operator_.reset();
}

void Simulation::Work::write_first_documents() {
  const Cluster& cluster = options_.cluster;
  ConfigDocument config{.settings = cluster.settings, .state_models = cluster.state_models};
  operator_->edit(keys_.config(), [text = format(config)](const auto&) { return std::optional(text); });
  for (const Node& node : cluster.nodes) {
    NodeDocument document;
    if (node.status == NodeStatus::draining) document.operation = Operation::drain;
    if (node.status == NodeStatus::cordoned) document.operation = Operation::cordon;
    if (node.status == NodeStatus::no_leaders || !node.leaders) document.operation = Operation::no_leaders;
    if (document == NodeDocument{}) continue;
    operator_->edit(keys_.node(node.name), [text = format(document)](const auto&) { return std::optional(text); });
  }
}

// When all nodes have joined, so that the first placement knows of all of them; or soon, if some do not.
void Simulation::Work::make_workloads() {
  const bool all = std::ranges::all_of(spec_.nodes, [&](const Node& node) { return seen_.last_live(node.name).has_value(); });
  if (!all && elapsed() < nodes_within) return void(loop_.post_after(promises_every, [this] { make_workloads(); }));
  for (const Workload& workload : spec_.workloads) write_workload(workload);
  begun_ = true;
}

std::optional<WorkloadFacts> Simulation::Work::facts(const WorkloadId& workload) const {
  const auto found = seen_.workloads().find(workload);
  if (found == seen_.workloads().end()) return std::nullopt;
  const Workload& spec = found->second.document.spec;
  return WorkloadFacts{seen_.model(found->second), spec.control.acks, spec.control.fencing};
}

std::optional<ShardId> Simulation::Work::pick_shard(Rng& rng) const {
  std::uint64_t all = 0;
  for (const auto& [name, workload] : seen_.workloads()) {
    if (workload.lead && !workload.document.deleted) all += workload.document.spec.shards;
  }
  if (all == 0) return std::nullopt;
  std::uint64_t drawn = rng.below(all);
  for (const auto& [name, workload] : seen_.workloads()) {
    if (!workload.lead || workload.document.deleted) continue;
    if (drawn < workload.document.spec.shards) return ShardId{name, ShardIndex(static_cast<std::uint32_t>(drawn))};
    drawn -= workload.document.spec.shards;
  }
  return std::nullopt;
}

// As a router sends it that knows the view, or, now and then, an old one.
ShardId Simulation::Work::home_of(const ShardId& key, Rng& rng) const {
  constexpr std::uint64_t old_one_in = 8;
  const auto found = seen_.workloads().find(key.workload);
  const std::uint32_t from = found == seen_.workloads().end() ? 0 : found->second.document.split_from;
  if (from == 0 || key.shard.value() < from) return key;
  const ShardSeen* seen = seen_.find(key);
  const bool known = seen != nullptr && seen->view.version != Version{} && !rng.chance(1, old_one_in);
  return known ? key : ShardId{key.workload, ShardIndex(key.shard.value() - from)};
}

// 2. Time.

void Simulation::Work::run_until(Instant until) {
  while (!violation() && !loop_.idle() && loop_.next_due() <= until) {
    if (loop_.now() != moment_) moment_ = loop_.now(), ran_now_ = 0;
    if (++ran_now_ > callbacks_at_once_max) return note_standstill();
    loop_.step();
  }
  if (!violation()) loop_.run_until(until);
}

// Somebody does something again and again without any time passing: it would never end.
void Simulation::Work::note_standstill() {
  std::pair<std::uint64_t, std::string> most{0, "nobody in particular"};
  for (auto& [name, host] : hosts_) {
    for (const NodeProcess* process : processes(host)) most = std::max(most, std::pair(process->loop->ran_now(), name.str()));
  }
  for (const ControllerHost& host : controllers_) {
    if (host.process) most = std::max(most, std::pair(host.process->loop->ran_now(), host.name));
  }
  violation_ = fmt::format("time stands still at {}: {} callbacks have run in this moment, {} of them of {}", format(elapsed()),
                           ran_now_, most.first, most.second);
}

bool Simulation::Work::run_until_holds(const Condition& condition, Duration most) {
  const Instant end = later(loop_.now(), most);
  while (!holds(condition)) {
    if (violation() || loop_.now() >= end) return false;
    run_until(std::min(end, loop_.now() + promises_every));
  }
  return true;
}

std::optional<std::string> Simulation::Work::violation() const {
  if (violation_) return violation_;
  if (checkers_ && checkers_->violation()) return checkers_->violation();
  return options_.check ? ledger_.violation() : std::nullopt;
}

void Simulation::Work::on_commit(const std::string& client, const store::Txn& txn, const store::Committed& done) {
  digest_ = mix64(digest_, hash64(client));
  for (const store::Write& write : done.succeeded ? txn.then : txn.otherwise)
    digest_ = mix64(digest_, mix64(hash64(write.key), hash64(write.value)));
  seen_.take(txn, done, elapsed());
  if (!checkers_) return;
  if (options_.store.lost_requests > 0 || options_.store.delay_max > store_is_slow) checkers_->disturbed();
  checkers_->saw(client, txn, done);
}

// Since when the store is at which revision, for whoever makes it lose its latest ones.
void Simulation::Work::note_revision() {
  revisions_.push_back({elapsed(), world_->revision()});
  if (revisions_.size() > revisions_max) revisions_.pop_front();
  loop_.post_after(revision_every, [this] { note_revision(); });
}

// 3. The timeline.

void Simulation::Work::say(std::string who, std::string what) {
  digest_ = mix64(digest_, mix64(hash64(who), hash64(what)));
  timeline_.push_back({elapsed(), std::move(who), std::move(what)});
  if (on_moment_) on_moment_(timeline_.back());
}

// "joined node=n1 what=…": the node is who says it.
void Simulation::Work::take_log(std::string_view line) {
  std::string text = message_of(line);
  std::string who = "node";
  if (const auto at = text.find(" node="); at != text.npos) {
    const auto end = text.find(' ', at + 1);
    who = text.substr(at + 6, end == text.npos ? text.npos : end - at - 6);
    text.erase(at, end == text.npos ? text.npos : end - at);
  }
  say(std::move(who), std::move(text));
}

Calm Simulation::Work::calm() const {
  Calm calm = seen_.calm(elapsed());
  calm.writes = clients_->counts().acknowledged;
  calm.refused = clients_->counts().refused;
  return calm;
}

const ControllerHost* Simulation::Work::active_host() const {
  const ControllerHost* best = nullptr;
  for (const ControllerHost& host : controllers_) {
    if (!host.process || !host.process->controller->active()) continue;
    if (best == nullptr || host.process->controller->epoch() > best->process->controller->epoch()) best = &host;
  }
  return best;
}

const control::Machine* Simulation::Work::active() const {
  const ControllerHost* host = active_host();
  return host == nullptr ? nullptr : &host->process->controller->machine();
}

// 4. The class.

Simulation::Simulation(SimOptions options) : work_(std::make_unique<Work>(std::move(options))) {}
Simulation::~Simulation() = default;
Duration Simulation::elapsed() const { return work_->elapsed(); }
void Simulation::run_for(Duration time) { work_->run_until(later(work_->loop_.now(), time)); }
void Simulation::run_until(Duration since_start) { work_->run_until(later(Instant{}, since_start)); }
bool Simulation::run_until_holds(const Condition& condition, Duration most) { return work_->run_until_holds(condition, most); }
Result<> Simulation::perform(const Action& action) { return work_->perform(action); }
bool Simulation::holds(const Condition& condition) const { return work_->holds(condition); }
std::string Simulation::why_not(const Condition& condition) const { return work_->explain(condition); }
std::optional<std::string> Simulation::violation() const { return work_->violation(); }
const std::vector<Moment>& Simulation::timeline() const { return work_->timeline_; }
void Simulation::on_moment(std::function<void(const Moment&)> handler) { work_->on_moment_ = std::move(handler); }
Calm Simulation::calm() const { return work_->calm(); }
std::uint64_t Simulation::digest() const { return work_->digest_; }
VirtualLoop& Simulation::loop() { return work_->loop_; }
store::World& Simulation::store() { return *work_->world_; }
const Keys& Simulation::keys() const { return work_->keys_; }
const control::Machine* Simulation::active() const { return work_->active(); }

std::vector<ShardRecord> Simulation::records(const WorkloadId& workload) const {
  std::vector<ShardRecord> all;
  const auto found = work_->seen_.workloads().find(workload);
  if (found == work_->seen_.workloads().end()) return all;
  for (const ShardSeen& shard : found->second.shards) all.push_back(shard.record);
  return all;
}

std::vector<ShardView> Simulation::view(const WorkloadId& workload) const {
  std::vector<ShardView> all;
  const auto found = work_->seen_.workloads().find(workload);
  if (found == work_->seen_.workloads().end()) return all;
  for (const ShardSeen& shard : found->second.shards) all.push_back(shard.view);
  return all;
}

}  // namespace evenkeel::sim
