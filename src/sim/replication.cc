// What the processes of the simulated service say to each other: clients' writes, the leader's log to its peers, copies.

#include <fmt/format.h>

#include <algorithm>

#include "evenkeel/sim/detail/service_work.h"

namespace evenkeel::sim {
namespace {

constexpr std::size_t waiting_max = 1000;  // writes of one shard that are not acknowledged; more are refused
constexpr Duration resend_first = 250ms;   // doubling to:
constexpr Duration resend_max = 8s;
// Who needs a copy asks for 10 s; who has data of its own for 2 s, and then goes on with what it has: the leader sends it the rest.
constexpr Duration ask_pause = 500ms;
constexpr std::uint32_t asks_for_first = 20;
constexpr std::uint32_t asks_for_more = 4;

}  // namespace

Services::Services(Network& network, Ledger& ledger, ServiceTimes times, ServiceLookups lookups)
    : network_(network), ledger_(ledger), times_(times), lookups_(std::move(lookups)) {}

// The name leads to whoever joined under it last, also when its session is lost: a twin has another address.
Service* Services::at(const NodeId& node) {
  const auto found = processes_.find(node);
  if (found == processes_.end() || found->second.empty()) return nullptr;
  const auto& processes = found->second;
  const auto current = std::ranges::find_if(processes, [](const Service* one) { return one->work_->is_current(); });
  Service*& known = known_[node];
  if (current != processes.end()) known = *current;
  return known != nullptr ? known : processes.back();
}

void Services::write(const std::string& client, const NodeId& node, const ShardId& shard, ShardIndex key,
                     std::move_only_function<void(WriteAnswer)> answer) {
  Service* service = at(node);
  if (service == nullptr)
    return network_.send(client, {.host = client, .always = true},
                         [answer = std::move(answer)]() mutable { answer(WriteAnswer::refused); });
  network_.send(client, service->address(),
                [work = service->work_.get(), client, shard, key, answer = std::move(answer)]() mutable {
                  work->take_write(client, shard, key, std::move(answer));
                });
}

// Clients' writes.

void Service::Work::reply(Write write, WriteAnswer answer) {
  services_.network_.send(options_.node.str(), {.host = std::move(write.client), .always = true},
                          [reply = std::move(write.reply), answer]() mutable { reply(answer); });
}

void Service::Work::take_write(const std::string& client, const ShardId& shard, ShardIndex key, Reply reply) {
  Write write{.client = client, .reply = std::move(reply)};
  const auto found = replicas_.find(shard);
  Leading* leading = found == replicas_.end() ? nullptr : found->second.leading.get();
  const bool is_own = leading == nullptr || leading->shards == 0 || key.value() % leading->shards == shard.shard.value();
  if (leading == nullptr || !is_own || !acts(shard, leading->epoch) || leading->waiting.size() >= waiting_max)
    return this->reply(std::move(write), WriteAnswer::refused);
  Disk::Replica& disk = options_.disk->replicas.at(shard);
  services_.ledger_.accepted(shard, leading->epoch, options_.node, self_);
  services_.ledger_.keyed(shard, key);
  disk.log.append(leading->epoch);
  changed_.insert(shard);
  write.position = disk.log.length();
  leading->waiting.push_back(std::move(write));
  acknowledge(shard, *leading);
  leading->resend = {};
  push(shard, *leading);
}

// By position, and only as long as it may lead: a leader that may not any more leaves its clients without an answer until it knows why.
void Service::Work::acknowledge(const ShardId& shard, Leading& leading) {
  const std::uint32_t acks = facts(shard).acks;
  while (!leading.waiting.empty()) {
    const std::uint64_t position = leading.waiting.front().position;
    std::uint32_t copies = 1;
    for (const auto& [node, copy] : leading.copies) copies += copy.length >= position ? 1 : 0;
    if (copies < acks || !acts(shard, leading.epoch)) return;
    services_.ledger_.acknowledged(shard, on_disk(shard)->log, position, leading.epoch, options_.node);
    reply(std::move(leading.waiting.front()), WriteAnswer::acknowledged);
    leading.waiting.pop_front();
  }
}

// The leader's log to its peers.

bool Service::Work::counts(const WorkloadFacts& facts, const Peer& peer) const {
  return facts.model->serves(peer.state) && has_data(facts, peer.state);
}

bool Service::Work::is_behind(const ShardId& shard, const Leading& leading) const {
  const WorkloadFacts known = facts(shard);
  const std::uint64_t length = log(shard).length();
  return std::ranges::any_of(leading.peers, [&](const Peer& peer) {
    const auto copy = leading.copies.find(peer.node);
    return counts(known, peer) && (copy == leading.copies.end() || copy->second.length < length);
  });
}

// To all of them: those that are still on their way take it as soon as they are there.
void Service::Work::push(const ShardId& shard, Leading& leading) {
  const auto log = std::make_shared<const WriteLog>(this->log(shard));
  for (const Peer& peer : leading.peers) send_log(shard, leading.epoch, peer.node, log);
  set_resend(shard, leading);
}

void Service::Work::send_log(const ShardId& shard, Epoch epoch, const NodeId& to, const Log& log) {
  const Service* peer = services_.at(to);
  if (peer == nullptr) return;
  services_.network_.send(
      options_.node.str(), peer->address(),
      [work = peer->work_.get(), shard, epoch, from = options_.node, log] { work->on_log(shard, epoch, from, *log); });
}

// Of one epoch the longer log is the later one, whichever comes first. Of a newer one it is all that counts.
bool Service::Work::take(const ShardId& shard, Epoch epoch, const WriteLog& log) {
  Disk::Replica& disk = *on_disk(shard);
  if (epoch < refuses(shard) || epoch < disk.last) return false;
  if (epoch == disk.last && disk.log.starts_with(log)) return true;
  if (epoch == disk.last && !log.starts_with(disk.log)) return false;  // two have led at one epoch; the ledger says so
  disk.log = log;
  disk.last = epoch;
  changed_.insert(shard);
  refuse_below(shard, epoch);
  return true;
}

void Service::Work::on_log(const ShardId& shard, Epoch epoch, const NodeId& leader, const WriteLog& log) {
  const auto found = replicas_.find(shard);
  if (found == replicas_.end() || on_disk(shard) == nullptr) return;
  const WorkloadFacts known = facts(shard);
  Replica& replica = found->second;
  const bool refused = epoch < refuses(shard);
  if (!refused && leads(known, replica.state)) {
    // Somebody leads at a newer epoch. It follows when it is told to.
    if (replica.leading && replica.leading->epoch < epoch) end_leading(shard, *replica.leading);
    return;
  }
  if (!refused && !counts(known, {leader, replica.state})) return;
  const bool taken = !refused && take(shard, epoch, log);
  const Service* to = services_.at(leader);
  if (to == nullptr) return;
  const Disk::Replica& disk = *on_disk(shard);
  const Epoch newer = taken ? Epoch() : std::max(refuses(shard), disk.last);
  const Taken answer{options_.node, options_.disk->id, epoch, disk.log.length(), newer};
  services_.network_.send(options_.node.str(), to->address(),
                          [work = to->work_.get(), shard, answer] { work->on_taken(shard, answer); });
}

void Service::Work::on_taken(const ShardId& shard, const Taken& taken) {
  const auto found = replicas_.find(shard);
  if (found == replicas_.end() || !found->second.leading || found->second.leading->epoch != taken.epoch) return;
  Leading& leading = *found->second.leading;
  if (taken.refused > Epoch(0)) {
    // At its epoch it will never lead again, whatever it is told.
    refuse_below(shard, std::max(taken.refused, taken.epoch));
    end_leading(shard, leading);
    if (tell_refused) tell_refused(shard, taken.refused);
    return;
  }
  const WorkloadFacts known = facts(shard);
  const auto peer = std::ranges::find(leading.peers, taken.node, &Peer::node);
  if (peer == leading.peers.end() || !counts(known, *peer)) return;
  Copy& copy = leading.copies[taken.node];
  if (copy.data != taken.data) copy = {.data = taken.data};
  copy.length = std::max(copy.length, taken.length);
  acknowledge(shard, leading);
  if (!is_behind(shard, leading)) set_resend(shard, leading);
}

// One that lacks something is sent it again after a pause, each longer than the one before.
void Service::Work::set_resend(const ShardId& shard, Leading& leading) {
  resends_.erase({std::exchange(leading.resend_at, Instant::max()), shard});
  if (is_behind(shard, leading)) {
    leading.resend = leading.resend == Duration{} ? resend_first : std::min(leading.resend * 2, resend_max);
    leading.resend_at = later(loop().now(), leading.resend);
    resends_.emplace(leading.resend_at, shard);
  }
  arm();
}

void Service::Work::arm() {
  const Instant due = resends_.empty() ? Instant::max() : resends_.begin()->first;
  if (due >= armed_) return;  // what is armed comes first, and arms again
  loop().cancel(timer_);
  armed_ = due;
  timer_ = loop().post_at(due, [this] { resend(); });
}

void Service::Work::resend() {
  armed_ = Instant::max();
  while (!resends_.empty() && resends_.begin()->first <= loop().now()) {
    const ShardId shard = resends_.begin()->second;
    resends_.erase(resends_.begin());
    Leading& leading = *replicas_.at(shard).leading;
    leading.resend_at = Instant::max();
    push(shard, leading);
  }
  arm();
}

// Copies.

Service::Work::Source Service::Work::source_of(const ShardId& shard) const {
  const auto found = replicas_.find(shard);
  const Disk::Replica* disk = on_disk(shard);
  const WorkloadFacts known = facts(shard);
  if (found == replicas_.end() || disk == nullptr || !counts(known, {options_.node, found->second.state})) return {};
  const Leading* leading = found->second.leading.get();
  return {.has = true,
          .last = disk->last,
          .leads = leading != nullptr && !leading->over && leading->epoch == disk->last,
          .log = std::make_shared<const WriteLog>(disk->log)};
}

void Service::Work::ask_copy(const ShardId& shard, std::uint64_t id) {
  Run* run = running(shard, id);
  if (run == nullptr) return;
  ++run->tries;
  const std::uint32_t asked = ++run->asked;
  const NodeId from = *run->transition.copy_from;
  later_on(ask_pause, [this, shard, id, asked] {
    const Run* now = running(shard, id);
    if (now != nullptr && now->asked == asked) ask_again(shard, id, "it does not answer");
  });
  const Service* source = services_.at(from);
  if (source == nullptr) return;
  services_.network_.send(
      options_.node.str(), source->address(), [this, shard, id, asked, back = address(), there = source->work_.get()] {
        there->services_.network_.send(there->node().str(), back, [this, shard, id, asked, answer = there->source_of(shard)] {
          on_source(shard, id, asked, answer);
        });
      });
}

void Service::Work::ask_again(const ShardId& shard, std::uint64_t id, std::string_view why) {
  const Run* run = running(shard, id);
  if (run == nullptr) return;
  const node::Transition& runs = run->transition;
  const bool must = runs.from != runs.to && !holds_data(facts(shard), shard);
  if (run->tries < (must ? asks_for_first : asks_for_more)) return ask_copy(shard, id);
  if (!must) return finish(shard, id);
  answer(shard, id, fail(Code::unavailable, "cannot copy {} from {}: {}", format(shard), *runs.copy_from, why));
}

void Service::Work::on_source(const ShardId& shard, std::uint64_t id, std::uint32_t asked, const Source& source) {
  Run* run = running(shard, id);
  if (run == nullptr) return;
  const WorkloadFacts known = facts(shard);
  const bool new_enough = source.has && source.last >= refuses(shard) && (source.last > Epoch(0) || !lead_state(*known.model));
  if (!new_enough) {
    if (run->asked != asked) return;  // it was asked again meanwhile
    ++run->asked;                     // it is answered
    const std::string_view why = source.has ? "it does not follow the leader yet" : "it does not serve it";
    return later_on(ask_pause, [this, shard, id, why] { ask_again(shard, id, why); });
  }
  const bool is_new = options_.disk->replicas.try_emplace(shard).second;
  Disk::Replica& disk = *on_disk(shard);
  if (is_new) disk.refuses = refuses(shard);
  // A leader's log is taken whole; that of somebody who only follows, if it goes further than what is here.
  const bool further = std::pair(source.last, source.log->length()) > std::pair(disk.last, disk.log.length());
  if (source.leads || further) take(shard, source.last, *source.log);
  finish(shard, id);
}

}  // namespace evenkeel::sim
