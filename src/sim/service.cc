#include "evenkeel/sim/service.h"

#include <fmt/format.h>

#include <algorithm>

#include "evenkeel/sim/detail/service_work.h"

namespace evenkeel::sim {
namespace {

constexpr Duration hang_look = 1s;
// Who steps down waits so often and so long for its peers to have what it has, so that one of them can take over at once.
constexpr std::uint32_t flushes_max = 10;
constexpr Duration flush_pause = 100ms;

}  // namespace

std::optional<StateId> lead_state(const StateModel& model) {
  const auto found = std::ranges::find(model.states(), StateCount{StateCount::Kind::number, 1}, &State::count);
  return found != model.states().end() ? std::optional(found->name) : std::nullopt;
}

Service::Work::Work(Services& services, Service& self, ServiceOptions options)
    : services_(services), self_(self), options_(std::move(options)) {
  services_.processes_[options_.node].push_back(&self_);
}

Service::Work::~Work() {
  for (auto& [shard, replica] : replicas_) {
    if (replica.leading && !replica.leading->over) services_.ledger_.stopped(shard, replica.leading->epoch, self_);
  }
  loop().cancel(timer_);
  auto& processes = services_.processes_.at(options_.node);
  std::erase(processes, &self_);
  if (Service*& known = services_.known_[options_.node]; known == &self_) known = nullptr;
}

WorkloadFacts Service::Work::facts(const ShardId& shard) const {
  static const StateModel& usual = *find_built_in("leader-follower");
  auto known = services_.lookups_.facts ? services_.lookups_.facts(shard.workload) : std::nullopt;
  WorkloadFacts facts = known.value_or(WorkloadFacts{});
  if (facts.model == nullptr) facts.model = &usual;
  return facts;
}

bool Service::Work::has_data(const WorkloadFacts& facts, const StateId& state) const {
  const auto rank = facts.model->rank(state);
  return rank && facts.model->states()[*rank].data;
}

bool Service::Work::leads(const WorkloadFacts& facts, const StateId& state) const { return lead_state(*facts.model) == state; }

// error and dropped are worse than all.
bool Service::Work::is_better(const WorkloadFacts& facts, const StateId& one, const StateId& other) const {
  const std::size_t worst = facts.model->states().size();
  return facts.model->rank(one).value_or(worst) < facts.model->rank(other).value_or(worst);
}

Disk::Replica* Service::Work::on_disk(const ShardId& shard) const {
  const auto found = options_.disk->replicas.find(shard);
  return found == options_.disk->replicas.end() ? nullptr : &found->second;
}

// Where nobody leads there are no epochs: what is on the disk is data.
bool Service::Work::holds_data(const WorkloadFacts& facts, const ShardId& shard) const {
  const Disk::Replica* replica = on_disk(shard);
  return replica != nullptr && (replica->last > Epoch(0) || !lead_state(*facts.model));
}

Epoch Service::Work::refuses(const ShardId& shard) const {
  const Disk::Replica* disk = on_disk(shard);
  const auto found = replicas_.find(shard);
  return std::max(disk == nullptr ? Epoch() : disk->refuses, found == replicas_.end() ? Epoch() : found->second.refuses);
}

void Service::Work::refuse_below(const ShardId& shard, Epoch epoch) {
  Replica& replica = replicas_[shard];
  replica.refuses = std::max(replica.refuses, epoch);
  if (Disk::Replica* disk = on_disk(shard)) disk->refuses = std::max(disk->refuses, replica.refuses);
  if (replica.leading && replica.leading->epoch < epoch) end_leading(shard, *replica.leading);
}

Duration Service::Work::draw(Duration time) {
  const std::int64_t drawn = options_.rng.between(time.count() / 2, time.count() + time.count() / 2);
  return Duration(drawn * static_cast<std::int64_t>(options_.knobs->slow));
}

Duration Service::Work::time_of(const node::Transition& transition) const {
  const ServiceTimes& times = services_.times_;
  const WorkloadFacts known = facts(transition.shard);
  if (leads(known, transition.to)) return times.lead;
  if (transition.from == transition.to) return {};
  if (leads(known, transition.from)) return times.step_down;
  if (!is_better(known, transition.to, transition.from)) return times.close;
  const bool copies = wants_copy(transition) && !holds_data(known, transition.shard) && transition.reason != Reason::first;
  return copies ? times.copy : times.open;
}

// Who has no data needs a copy; who has some follows a newer leader.
bool Service::Work::wants_copy(const node::Transition& transition) const {
  const WorkloadFacts known = facts(transition.shard);
  if (!transition.copy_from || *transition.copy_from == options_.node) return false;
  if (!has_data(known, transition.to) || leads(known, transition.to)) return false;
  if (transition.from != transition.to && !is_better(known, transition.to, transition.from)) return false;
  if (!holds_data(known, transition.shard)) return true;
  return lead_state(*known.model).has_value() && on_disk(transition.shard)->last < transition.version.epoch;
}

bool Service::Work::fails(const ShardId& shard) {
  const bool drawn = options_.knobs->fail_percent > 0 && options_.rng.chance(options_.knobs->fail_percent, 100);
  return drawn || options_.knobs->failing.contains(shard);
}

void Service::Work::later_on(Duration delay, std::move_only_function<void()> call) {
  loop().post_after(delay, [alive = std::weak_ptr(alive_), call = std::move(call)]() mutable {
    if (!alive.expired()) call();
  });
}

Service::Work::Run* Service::Work::running(const ShardId& shard, std::uint64_t id) {
  const auto found = replicas_.find(shard);
  if (found == replicas_.end() || !found->second.run || found->second.run->id != id) return nullptr;
  return found->second.run.get();
}

void Service::Work::transition(node::Transition transition, std::stop_token stop, Done answer) {
  const ShardId shard = transition.shard;
  Replica& replica = replicas_[shard];
  ensure(!replica.run, "transitions of one shard come one after the other");
  replica.state = transition.from;
  const std::uint64_t id = ++runs_;
  replica.run = std::make_unique<Run>(id, std::move(transition), std::move(answer));
  const node::Transition& runs = replica.run->transition;
  if (replica.leading && runs.to != runs.from) end_leading(shard, *replica.leading);
  if (lead_state(*facts(shard).model)) refuse_below(shard, runs.version.epoch);
  // It asks while it does other things: the answer comes later, never inside.
  replica.run->on_stop.emplace(std::move(stop), [this, shard, id, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    later_on({}, [this, shard, id] { this->answer(shard, id, fail(Code::cancelled, "stopped")); });
  });
  proceed(shard, id);
}

void Service::Work::proceed(const ShardId& shard, std::uint64_t id) {
  const Run* run = running(shard, id);
  if (run == nullptr) return;
  if (options_.knobs->hanging.contains(shard)) return later_on(hang_look, [this, shard, id] { proceed(shard, id); });
  later_on(draw(time_of(run->transition)), [this, shard, id] { carry_out(shard, id); });
}

void Service::Work::carry_out(const ShardId& shard, std::uint64_t id) {
  Run* run = running(shard, id);
  if (run == nullptr) return;
  const node::Transition& runs = run->transition;
  if (options_.knobs->hanging.contains(shard)) return proceed(shard, id);
  if (fails(shard)) return answer(shard, id, fail(Code::unavailable, "{} to {} of {} fails", runs.from, runs.to, format(shard)));
  const bool splits = runs.parent && !options_.knobs->copies_nothing;
  if (splits && !holds_data(facts(shard), shard)) return copy_parent(shard, id);
  if (wants_copy(runs)) return ask_copy(shard, id);
  if (replicas_.at(shard).leading && runs.from != runs.to) return flush(shard, id);
  finish(shard, id);
}

// What this node has of the shard that it is split off of.
void Service::Work::copy_parent(const ShardId& shard, std::uint64_t id) {
  const Run* run = running(shard, id);
  const ShardId parent{shard.workload, *run->transition.parent};
  const Disk::Replica* from = on_disk(parent);
  if (from == nullptr) return answer(shard, id, fail(Code::unavailable, "there is nothing of {} to copy", format(parent)));
  const Disk::Replica copy{.log = from->log, .told = {}, .last = from->last, .refuses = refuses(shard)};
  options_.disk->replicas.insert_or_assign(shard, copy);
  finish(shard, id);
}

void Service::Work::flush(const ShardId& shard, std::uint64_t id) {
  Run* run = running(shard, id);
  if (run == nullptr) return;
  Leading& leading = *replicas_.at(shard).leading;
  if (run->tries++ >= flushes_max || !is_behind(shard, leading)) return finish(shard, id);
  push(shard, leading);
  later_on(flush_pause, [this, shard, id] { flush(shard, id); });
}

void Service::Work::finish(const ShardId& shard, std::uint64_t id) {
  const Run* run = running(shard, id);
  if (run == nullptr) return;
  Replica& replica = replicas_.at(shard);
  if (leads(facts(shard), run->transition.to)) return answer(shard, id, begin_to_lead(run->transition, replica));
  come_to(run->transition, replica);
  answer(shard, id, {});
}

void Service::Work::come_to(const node::Transition& transition, Replica& replica) {
  const WorkloadFacts known = facts(transition.shard);
  if (replica.leading) {
    resends_.erase({replica.leading->resend_at, transition.shard});
    replica.leading.reset();
  }
  replica.state = transition.to;
  changed_.insert(transition.shard);
  if (!has_data(known, transition.to)) {  // dropped too
    options_.disk->replicas.erase(transition.shard);
    return;
  }
  const bool opens = transition.to == transition.from || is_better(known, transition.to, transition.from);
  if (opens) options_.disk->replicas.try_emplace(transition.shard);
  Disk::Replica* disk = on_disk(transition.shard);
  if (disk == nullptr) return;
  disk->told = std::max(disk->told, transition.version);
  disk->refuses = std::max(disk->refuses, replica.refuses);
}

Result<> Service::Work::begin_to_lead(const node::Transition& transition, Replica& replica) {
  const ShardId& shard = transition.shard;
  const Epoch epoch = transition.version.epoch;
  if (refuses(shard) > epoch) return fail(Code::refused, "{} refuses epochs below {}", format(shard), refuses(shard));
  const WorkloadFacts known = facts(shard);
  Disk::Replica& disk = options_.disk->replicas[shard];
  disk.told = std::max(disk.told, transition.version);
  disk.last = disk.refuses = epoch;
  changed_.insert(shard);
  replica.state = transition.to;
  const bool is_same = replica.leading && replica.leading->epoch == epoch && !replica.leading->over;
  if (!is_same) {
    if (replica.leading) {
      end_leading(shard, *replica.leading);
      resends_.erase({replica.leading->resend_at, shard});
    }
    replica.leading = std::make_unique<Leading>(Leading{.epoch = epoch});
  }
  Leading& leading = *replica.leading;
  // Who has not counted all along begins anew: it may have come back with another disk.
  std::erase_if(leading.copies, [&](const auto& copy) {
    const auto counted = [&](const std::vector<Peer>& peers) {
      const auto at = std::ranges::find(peers, copy.first, &Peer::node);
      return at != peers.end() && counts(known, *at);
    };
    return !counted(leading.peers) || !counted(transition.peers);
  });
  leading.peers = transition.peers;
  leading.shards = transition.shards;
  if (!is_same) services_.ledger_.began(shard, epoch, options_.node, self_, disk.log, {known.acks, known.fencing});
  services_.ledger_.is_one_of(shard, transition.shards);
  acknowledge(shard, leading);
  leading.resend = {};
  push(shard, leading);
  return {};
}

void Service::Work::answer(const ShardId& shard, std::uint64_t id, Result<> result) {
  if (running(shard, id) == nullptr) return;
  const auto found = replicas_.find(shard);
  const std::unique_ptr<Run> run = std::move(found->second.run);
  if (result && run->transition.to.str() == state_dropped) replicas_.erase(found);
  run->answer(std::move(result));  // which may begin the next one
}

void Service::Work::end_leading(const ShardId& shard, Leading& leading) {
  if (std::exchange(leading.over, true)) return;
  changed_.insert(shard);
  services_.ledger_.stopped(shard, leading.epoch, self_);
  while (!leading.waiting.empty()) {
    reply(std::move(leading.waiting.front()), WriteAnswer::unknown);
    leading.waiting.pop_front();
  }
}

Sealed Service::Work::seal(const ShardId& shard, Epoch epoch) {
  refuse_below(shard, epoch);
  const Disk::Replica* disk = on_disk(shard);
  return {.against = epoch, .last = disk == nullptr ? Epoch() : disk->last, .progress = disk == nullptr ? 0 : disk->log.length()};
}

node::Status Service::Work::report(const ShardId& shard) const {
  const Disk::Replica* disk = on_disk(shard);
  const auto found = replicas_.find(shard);
  if (disk == nullptr && found == replicas_.end()) return {};
  node::Status status;
  if (disk != nullptr) {
    status.last = disk->last;
    status.progress = disk->log.length();
    // What a follower has of its leader's log is all that it knows of.
    if (found != replicas_.end() && disk->last > Epoch(0)) status.lag = 0;
  }
  const bool leads = found != replicas_.end() && found->second.leading && !found->second.leading->over;
  if (services_.lookups_.load) status.load = services_.lookups_.load(shard, leads);
  return status;
}

void Service::Work::measure(const WorkloadId& workload) {
  // Any order: the set sorts.
  for (const auto& [shard, replica] : replicas_) {
    if (shard.workload == workload) changed_.insert(shard);
  }
}

void Services::measure(const WorkloadId& workload) {
  for (const auto& [node, processes] : processes_) {
    for (Service* process : processes) process->work_->measure(workload);
  }
}

std::vector<ShardId> Service::Work::changed() {
  std::vector<ShardId> all(changed_.begin(), changed_.end());
  changed_.clear();
  return all;
}

std::vector<node::Held> Service::Work::inventory() const {
  std::vector<node::Held> held;
  held.reserve(options_.disk->replicas.size());
  for (const auto& [shard, replica] : options_.disk->replicas)
    held.push_back({.shard = shard,
                    .version = replica.told,
                    .last = replica.last,
                    .progress = replica.log.length(),
                    .refuses = replica.refuses});
  std::ranges::sort(held, {}, &node::Held::shard);
  return held;
}

bool Service::Work::acts(const ShardId& shard, Epoch epoch) const {
  const auto found = replicas_.find(shard);
  if (found == replicas_.end() || !found->second.leading) return false;
  const Leading& leading = *found->second.leading;
  return leading.epoch == epoch && !leading.over && may_lead && may_lead(shard, epoch);
}

StateId Service::Work::state(const ShardId& shard) const {
  const auto found = replicas_.find(shard);
  const bool is_open = found != replicas_.end() && !found->second.state.empty();
  return is_open ? found->second.state : facts(shard).model->initial();
}

const WriteLog& Service::Work::log(const ShardId& shard) const {
  static const WriteLog none;
  const Disk::Replica* disk = on_disk(shard);
  return disk == nullptr ? none : disk->log;
}

Service::Service(Services& services, ServiceOptions options)
    : work_(std::make_unique<Work>(services, *this, std::move(options))) {}
Service::~Service() = default;

void Service::set_may_lead(std::function<bool(const ShardId&, Epoch)> may_lead) { work_->may_lead = std::move(may_lead); }
void Service::set_refused(std::function<void(const ShardId&, Epoch)> refused) { work_->tell_refused = std::move(refused); }
void Service::set_current(std::function<bool()> current) { work_->current = std::move(current); }

void Service::transition(node::Transition transition, node::Turn, std::stop_token stop,
                         std::move_only_function<void(Result<>)> answer) {
  work_->transition(std::move(transition), std::move(stop), std::move(answer));
}

void Service::seal(ShardId shard, Epoch epoch, std::move_only_function<void(Result<Sealed>)> answer) {
  work_->loop().post([sealed = work_->seal(shard, epoch), alive = work_->address().alive, answer = std::move(answer)]() mutable {
    if (!alive.expired()) answer(sealed);
  });
}

node::Status Service::report(const ShardId& shard) { return work_->report(shard); }
std::optional<std::vector<ShardId>> Service::changed() { return work_->changed(); }
std::vector<node::Held> Service::inventory() { return work_->inventory(); }
bool Service::acts(const ShardId& shard, Epoch epoch) const { return work_->acts(shard, epoch); }
const NodeId& Service::node() const { return work_->node(); }
StateId Service::state(const ShardId& shard) const { return work_->state(shard); }
const WriteLog& Service::log(const ShardId& shard) const { return work_->log(shard); }
Address Service::address() const { return work_->address(); }

}  // namespace evenkeel::sim
