#include "evenkeel/node/participant.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "evenkeel/node/detail/participant_work.h"
#include "evenkeel/node/detail/take_over.h"

namespace evenkeel::node {
namespace {

constexpr Duration error_pause = 500ms;     // after an error that waiting may mend
constexpr Duration complaint_every = 1min;  // of one kind: what is tried again is not said again each time
constexpr Duration word_after = 500ms;      // without a session, before it is looked why; as long again for the answer
constexpr int upkeep_parts = 6;  // of a ttl: how often the session's deadline is looked at. It moves every third of one
constexpr std::uint32_t pulses_whole = 10;  // every so many pulses say everything, if nobody knows whether the others were heard

ReconcilerOptions reconciler_options(const ParticipantOptions& options, const AsyncHandler& handler) {
  return {.name = options.node.name,
          .data = options.data,
          .session_ttl = options.node.session_ttl,
          .transitions_at_once = options.node.transitions_at_once,
          .tries = options.node.tries,
          .queues = handler.queues(),
          .broken = options.broken};
}

// 52 bits, so that it is a whole number for every reader of JSON.
Incarnation new_incarnation(Rng& rng) { return Incarnation((rng.next() >> 12) | 1); }

}  // namespace

Participant::Work::Work(store::Store& store, AsyncHandler& handler, ParticipantOptions options)
    : store_(store),
      loop_(store.loop()),
      handler_(handler),
      options_(std::move(options)),
      keys_(options_.node.cluster),
      reconciler_(reconciler_options(options_, handler), handler.inventory()) {}

void Participant::Work::close() {
  closed_ = true;
  deadline_ = Instant::min().time_since_epoch().count();
  leads_.clear();
  if (writer_) writer_->close();
  watching_.reset();
  session_.reset();
  for (Timer timer : {wake_, upkeep_, pulse_, retry_, live_retry_, leave_, permit_, word_}) loop_.cancel(timer);
  for (auto& [run, stop] : runs_) stop.request_stop();
}

void Participant::Work::end() {
  close();
  if (auto left = std::exchange(left_, std::nullopt))
    loop_.post([answer = *std::move(left)]() mutable { answer(fail(Code::cancelled, "the node ends")); });
}

bool Participant::Work::may_lead(const ShardId& shard, Epoch epoch) const {
  const detail::LeadTable::Lead lead = leads_.find(shard);
  return lead.epoch == epoch && epoch != Epoch() &&
         (lead.fencing == Fencing::epoch || is_current() || options_.broken == Broken::lead_without_session);
}

void Participant::Work::set_timer(Timer& timer, Instant due, void (Work::*then)()) {
  loop_.cancel(timer);
  timer = {};
  if (due != Instant::max()) timer = loop_.post_at(due, guarded([then](Work& self) { (self.*then)(); }));
}

void Participant::Work::log(Level level, std::string_view message, std::string_view what) const {
  if (options_.node.log != nullptr) options_.node.log->write(level, message, {{"node", options_.node.name}, {"what", what}});
}

void Participant::Work::complain(std::string_view message, const Error& error) {
  Instant& quiet_until = complaints_.try_emplace(message, Instant::min()).first->second;
  if (loop_.now() < quiet_until) return;
  quiet_until = later(loop_.now(), complaint_every);
  log(Level::warn, message, error.message);
}

// ------------------------------------------------------------------------------------------------------------- joining

void Participant::Work::start() {
  handler_.on_begun(guarded([](Work& self, const ShardId& shard) { self.feed(Begun{shard}); }));
  begin_to_wait();
  if (!options_.owns_data) return open_session();
  detail::take_over(store_, keys_.beat(options_.node.name), options_.data, guarded([](Work& self) { self.open_session(); }));
}

// Somebody of the same name may be alive, or not yet known to be dead: this waits for its end, and again. Each time long enough to see one that
// is dead out, and not longer: an identity whose first beat may have been written, unknown to it, and ended by others, must not be tried for ever.
void Participant::Work::open_session() {
  if (stage_ != Stage::staying) return;
  next_ = new_incarnation(options_.rng);
  begin_to_wait();
  const Duration ttl = options_.node.session_ttl;
  store::Session::open(store_,
                       {.key = keys_.beat(options_.node.name),
                        .ttl = ttl,
                        .meta = detail::beat_meta(options_.node.address, options_.data),
                        .identity = store::Identity(format(next_))},
                       ttl * 3 / 2, guarded([](Work& self, Result<std::unique_ptr<store::Session>> session) {
                         self.on_session(std::move(session));
                       }));
}

// Who waits for a session learns soon for what, and then now and then.
void Participant::Work::begin_to_wait() {
  if (!options_.tells_waits || std::exchange(waits_, true)) return;
  set_timer(word_, later(loop_.now(), word_after), &Work::look_why_alone);
}

void Participant::Work::look_why_alone() {
  if (!waits_ || stage_ != Stage::staying) return;
  store_answered_ = false;
  store_.get(keys_.beat(options_.node.name), guarded([](Work& self, const Result<store::Read>& read) {
               self.store_answered_ = self.store_answered_ || read.has_value();
             }));
  set_timer(word_, later(loop_.now(), word_after), &Work::say_why_alone);
}

void Participant::Work::say_why_alone() {
  if (!waits_ || stage_ != Stage::staying) return;
  store_answered_ ? log(Level::info, "waits for the end of another session of this name", why_alone_)
                  : log(Level::warn, "the store does not answer; waiting for it", why_alone_);
  set_timer(word_, later(loop_.now(), complaint_every), &Work::look_why_alone);
}

void Participant::Work::on_session(Result<std::unique_ptr<store::Session>> session) {
  if (stage_ != Stage::staying) return;
  if (!session) {
    why_alone_ = session.error().message;
    const bool may_pass = session.error().code == Code::unavailable || session.error().code == Code::conflict;
    if (!options_.tells_waits) log(Level::warn, "no session yet", why_alone_);
    if (options_.tells_waits && !may_pass) complain("no session yet", session.error());
    return set_timer(retry_, later(loop_.now(), error_pause), &Work::open_session);
  }
  session_ = *std::move(session);
  waits_ = false;
  why_alone_.clear();
  loop_.cancel(word_);
  ++generation_;
  session_->on_event(guarded_now([](Work& self, store::Session::Event event) {
    if (event == store::Session::Event::lost) self.lose();
  }));
  upkeeps_ = 0;
  keep_up();
  read_inventory();
}

// The session's deadline is copied where any thread can read it: a copy may be too early, never too late.
void Participant::Work::keep_up() {
  if (!session_) return;
  deadline_.store(session_->deadline().time_since_epoch().count(), std::memory_order_release);
  if (++upkeeps_ % upkeep_parts == 0) check_live();
  set_timer(upkeep_, later(loop_.now(), options_.node.session_ttl / upkeep_parts), &Work::keep_up);
}

void Participant::Work::read_inventory() {
  if (!session_) return;
  store_.list(keys_.report_prefix(options_.node.name), guarded_now([](Work& self, Result<store::Listing> there) {
                if (!there) {
                  self.complain("reports of before cannot be read yet", there.error());
                  return self.set_timer(self.retry_, later(self.loop_.now(), error_pause), &Work::read_inventory);
                }
                self.reports_before_ = *std::move(there);
                std::set<WorkloadId> workloads;
                for (const auto& replica : self.reconciler_.replicas()) workloads.insert(replica.shard.workload);
                self.buckets_.clear();
                self.untold_.clear();
                self.read_buckets(std::move(workloads));
              }));
}

// One after the other: a node has few workloads.
void Participant::Work::read_buckets(std::set<WorkloadId> workloads) {
  if (workloads.empty()) return join();
  const WorkloadId workload = workloads.extract(workloads.begin()).value();
  const std::string key = keys_.workload(workload);
  store_.get(key, guarded_now([workload, key, left = std::move(workloads)](Work& self, Result<store::Read> read) mutable {
               if (!read) {
                 self.complain("a workload cannot be read yet", read.error());
                 return self.set_timer(self.retry_, later(self.loop_.now(), error_pause), &Work::read_inventory);
               }
               if (read->entry) {
                 const auto document = parse_workload(read->entry->value, workload, key);
                 if (document) self.buckets_[workload] = document->buckets;
                 if (document && !document->deleted) self.wait_to_be_told(*document);
                 if (!document) self.log(Level::error, "a workload cannot be read", document.error().message);
               }
               self.read_buckets(std::move(left));
             }));
}

void Participant::Work::wait_to_be_told(const WorkloadDocument& workload) {
  if (!std::has_single_bit(workload.buckets)) return;
  for (const ShardId& shard : reconciler_.shards()) {
    if (shard.workload == workload.spec.name) untold_.emplace(shard.workload, bucket_of(shard, workload.buckets));
  }
}

// All that is held is written before anybody is told that this node is there.
void Participant::Work::join() {
  if (stage_ != Stage::staying) return;
  writer_ = std::make_shared<detail::ReportWriter>(
      store_, keys_.report_prefix(options_.node.name), detail::ReportWriter::Gather{options_.gather, 25 * options_.gather},
      detail::ReportWriter::Hooks{.may_write = [this] { return session_ && session_->valid(); },
                                  .on_idle =
                                      [this] {
                                        if (!live_written_) write_live();
                                        if (stage_ == Stage::closing) look_at_leaving();
                                      },
                                  .with_fewer = [this](std::size_t left) -> std::vector<store::Write> {
                                    if (!live_written_ || left >= live_.inventory) return {};
                                    live_.inventory = static_cast<std::uint32_t>(left);
                                    live_text_ = format(live_);
                                    return {{store::Write::Kind::put_ephemeral, keys_.live(options_.node.name), live_text_},
                                            {store::Write::Kind::put, keys_.member(options_.node.name), live_text_}};
                                  },
                                  .on_trouble = [this](const Error& error) { complain("reports cannot be written yet", error); },
                                  .more_to_come = [this] { return urgent_ > 0; }});
  writer_->begin(*reports_before_);
  reports_before_.reset();
  told_reconciler_ = true;
  feed(Joined{next_, buckets_});
  const NodeOptions& node = options_.node;
  live_ = {.node = node.name,
           .incarnation = next_,
           .data = options_.data,
           .address = node.address,
           .version = options_.version,
           .zone = node.zone,
           .labels = node.labels,
           .taints = node.taints,
           .cores = node.cores,
           .capacity = node.capacity,
           .used = node.used,
           .power = node.power,
           .state_models = node.state_models,
           .inventory = static_cast<std::uint32_t>(writer_->wanted())};
  live_text_ = format(live_);
}

// A drop of before may end while this is under way: it counts what will be there, and is written again if that has become less.
void Participant::Work::write_live() {
  if (!session_ || stage_ == Stage::stepping_down || stage_ == Stage::gone || std::exchange(live_writing_, true)) return;
  live_.inventory = std::min(live_.inventory, static_cast<std::uint32_t>(writer_->wanted()));
  const std::string text = live_text_ = format(live_);
  store::Txn txn;
  txn.put_ephemeral(keys_.live(options_.node.name), text).put(keys_.member(options_.node.name), text);
  store_.txn(std::move(txn), guarded_now([text](Work& self, const Result<store::Committed>& done) {
               self.live_writing_ = false;
               // Written twice it is the same, so what became of it need not be read first.
               if (!done) {
                 self.complain("the node's name cannot be written yet", done.error());
                 return self.set_timer(self.live_retry_, later(self.loop_.now(), error_pause), &Work::write_live);
               }
               self.live_written_ = true;
               self.live_.inventory = std::min(self.live_.inventory, static_cast<std::uint32_t>(self.writer_->wanted()));
               if (format(self.live_) != text) self.write_live();
               if (!self.watching_) self.watch_targets();
             }));
}

// It goes with its writer's lease, which is no session: then it is written again.
void Participant::Work::check_live() {
  if (!live_written_ || stage_ == Stage::stepping_down || stage_ == Stage::gone) return;
  store_.get(keys_.live(options_.node.name), guarded_now([](Work& self, const Result<store::Read>& read) {
               if (read && (!read->entry || read->entry->value != self.live_text_)) self.write_live();
             }));
}

void Participant::Work::watch_targets() {
  joined_ = true;
  incarnation_.store(next_.value(), std::memory_order_release);
  log(Level::info, "joined", format(next_));
  targets_.clear();
  seen_ = {};
  pulsed_.clear();
  follow_targets();
  if (options_.send_pulse) pulse();
}

void Participant::Work::follow_targets() {
  if (!session_) return;
  watching_ = store_.watch(keys_.target_prefix(options_.node.name), std::nullopt,
                           guarded_now([](Work& self, const Result<store::Changes>& seen) { self.on_targets(seen); }));
}

// Nothing of this session counts any more; a new one is another incarnation.
void Participant::Work::lose() {
  if (!session_ || stage_ == Stage::stepping_down || stage_ == Stage::gone) return;
  deadline_.store(Instant::min().time_since_epoch().count(), std::memory_order_release);
  incarnation_.store(0, std::memory_order_release);
  if (writer_) writer_->close();
  watching_.reset();
  loop_.cancel(retry_);
  loop_.cancel(live_retry_);
  joined_ = live_written_ = live_writing_ = targets_seen_ = false;
  ++generation_;
  std::shared_ptr<store::Session> ended = std::move(session_);
  loop_.post([ended] {});  // it may be the caller
  if (std::exchange(told_reconciler_, false)) {
    log(Level::warn, "the session is lost", ended->identity().str());
    inbox_.push_front(SessionLost());
    if (!stepping_) feed(Tick());
  }
  if (stage_ == Stage::staying) open_session();
}

// The store was put back to an older state, and with it what this node had reported: all of it is told again, as another incarnation, and nobody believes
// what is there of this one.
void Participant::Work::join_anew() {
  log(Level::warn, "the store has lost what it had", session_->identity().str());
  deadline_.store(Instant::min().time_since_epoch().count(), std::memory_order_seq_cst);  // before others can read of the end
  session_->end([](const Result<store::Revision>&) {});
}

// ------------------------------------------------------------------------------------------------------------- inputs and effects

void Participant::Work::on_targets(const Result<store::Changes>& seen) {
  if (!seen) {  // waiting does not help, says the store; an operator may
    log(Level::error, "targets cannot be watched", seen.error().message);
    return set_timer(retry_, later(loop_.now(), error_pause), &Work::follow_targets);
  }
  if (seen->fresh && seen->revision < seen_) return join_anew();
  seen_ = seen->revision;
  if (seen->fresh) {
    std::set<std::string> gone = targets_;
    for (const store::Change& change : seen->changes) gone.erase(change.key);
    for (const std::string& key : gone) on_target({key, std::nullopt});
  }
  for (const store::Change& change : seen->changes) on_target(change);
  targets_seen_ = true;
}

void Participant::Work::on_target(const store::Change& change) {
  const auto key = keys_.parse(change.key);
  if (!key || key->kind != Key::Kind::target || !session_) return;
  if (!change.entry) {
    targets_.erase(change.key);
    return feed(TargetGone{key->workload, key->bucket});
  }
  targets_.insert(change.key);
  auto target = parse_target(change.entry->value, *key, change.key);
  if (!target) return log(Level::error, "a target cannot be read", target.error().message);
  if (target->incarnation == next_) untold_.erase({key->workload, key->bucket});
  feed(TargetRead{*std::move(target)});
}

// Handlers and store may answer inside the call that asks them: what comes meanwhile waits.
void Participant::Work::feed(Input input) {
  inbox_.push_back(std::move(input));
  if (std::exchange(stepping_, true)) return;
  while (!inbox_.empty() && !closed_) {
    if (session_ && !session_->valid()) lose();  // it is over, even if nobody has said so yet
    Input next = std::move(inbox_.front());
    inbox_.pop_front();
    step(std::move(next));
  }
  stepping_ = false;
  if (urgent_ == 0 && writer_) writer_->hurry();
  if (stage_ != Stage::staying && !closed_) look_at_leaving();
}

void Participant::Work::step(Input input) {
  Output output = reconciler_.step(std::move(input), loop_.now());
  for (const Effect& effect : output.effects) {
    if (closed_) return;  // a handler may have ended all this
    std::visit([this](const auto& each) { perform(each); }, effect);
  }
  for (Report& report : output.reports) write(std::move(report));
  loop_.cancel(wake_);
  wake_ = {};
  if (output.wake != Instant::max()) wake_ = loop_.post_at(output.wake, guarded([](Work& self) { self.feed(Tick()); }));
}

void Participant::Work::perform(const Start& start) {
  const std::stop_source& stop = runs_[start.run];
  const bool is_urgent = start.turn != Turn::slow;
  urgent_ += is_urgent ? 1 : 0;
  handler_.transition(start.transition, start.turn, stop.get_token(),
                      guarded([shard = start.transition.shard, run = start.run, is_urgent](Work& self, Result<> result) {
                        if (self.runs_.erase(run) == 0) return;  // answered twice
                        self.urgent_ -= is_urgent ? 1 : 0;
                        const Status status = self.handler_.report(shard);
                        self.feed(Transitioned{shard, run, std::move(result), status.last, status.progress});
                      }));
}

void Participant::Work::perform(const Stop& stop) {
  if (const auto found = runs_.find(stop.run); found != runs_.end()) found->second.request_stop();
}

void Participant::Work::perform(const AskSeal& ask) {
  ++urgent_;
  handler_.seal(ask.shard, ask.epoch, guarded([ask](Work& self, Result<Sealed> result) {
                  --self.urgent_;
                  self.feed(SealDone{ask.shard, ask.epoch, std::move(result)});
                }));
}

void Participant::Work::perform(const Stuck& stuck) {
  log(Level::error, "stuck", stuck.what);
  if (options_.on_stuck) options_.on_stuck(stuck);
}

void Participant::Work::write(Report report) {
  std::string key = keys_.report(report.node, report.workload, report.bucket);
  if (report.replicas.empty()) {
    untold_.erase({report.workload, report.bucket});  // there is nothing left to be told of
    return writer_->erase(key);
  }
  writer_->put(std::move(key), std::move(report));
}

// Until the session is lost; one that was only late with its beats goes on pulsing when it is in time again.
void Participant::Work::pulse() {
  if (!joined_ || !options_.send_pulse) return;
  pulse_now();
  const Duration every = options_.pulse > Duration{} ? options_.pulse : options_.node.session_ttl / 3;
  set_timer(pulse_, later(loop_.now(), every), &Work::pulse);
}

void Participant::Work::pulse_now() {
  if (!joined() || !options_.send_pulse) return;
  Pulse pulse{.node = options_.node.name, .incarnation = next_, .count = ++pulses_};
  const bool whole = options_.pulse_all ? options_.pulse_all() : pulses_ % pulses_whole == 1;
  const auto changed = handler_.changed();
  if (whole) pulsed_.clear();
  for (const ShardId& shard : changed && !whole ? *changed : reconciler_.shards()) {
    if (!reconciler_.holds(shard)) {
      pulsed_.erase(shard);
      continue;
    }
    Status status = handler_.report(shard);
    const auto [known, is_new] = pulsed_.try_emplace(shard, status);
    if (!is_new && known->second == status) continue;
    known->second = status;
    pulse.replicas.push_back({shard, status.last, status.progress, status.lag, std::move(status.load)});
  }
  options_.send_pulse(pulse);
}

// -------------------------------------------------------------------------------------------------------------

Participant::Participant(store::Store& store, AsyncHandler& handler, ParticipantOptions options)
    : work_(std::make_shared<Work>(store, handler, std::move(options))) {
  work_->start();
}
Participant::~Participant() { work_->close(); }
void Participant::close() { work_->end(); }

bool Participant::may_lead(const ShardId& shard, Epoch epoch) const { return work_->may_lead(shard, epoch); }
bool Participant::is_current() const { return work_->is_current(); }
Incarnation Participant::incarnation() const { return work_->incarnation(); }
bool Participant::joined() const { return work_->joined(); }
bool Participant::settled() const { return work_->settled(); }
bool Participant::ready() const { return work_->ready(); }
std::size_t Participant::untold() const { return work_->untold(); }
std::vector<Reconciler::Replica> Participant::replicas() const { return work_->replicas(); }
void Participant::refused(const ShardId& shard, Epoch by) { work_->refused(shard, by); }
void Participant::pulse_now() { work_->pulse_now(); }
void Participant::leave(Duration timeout, store::Answer<void> answer) { work_->leave(timeout, std::move(answer)); }

}  // namespace evenkeel::node
