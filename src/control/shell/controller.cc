#include "evenkeel/control/shell/controller.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "evenkeel/base/overloaded.h"
#include "evenkeel/control/shell/detail/batch.h"
#include "evenkeel/control/shell/detail/sessions.h"
#include "evenkeel/control/shell/detail/standing.h"
#include "evenkeel/control/shell/documents.h"
#include "evenkeel/locks/election.h"
#include "evenkeel/place/place.h"
#include "evenkeel/store/session.h"

namespace evenkeel::control {
namespace {

// Epochs that were given and lost with the store before this controller has seen them are fewer.
constexpr std::uint64_t epochs_unseen = 1000;
constexpr Duration said_again = 1min;  // that the store does not answer

}  // namespace

Planner plan_at_once() {
  return [](Cluster problem, std::move_only_function<void(place::Plan)> answer) { answer(place::plan(problem)); };
}

// Kept alive by what it waits for, as long as the Controller is there.
class Controller::Work : public std::enable_shared_from_this<Work> {
 public:
  Work(store::Store& store, ControllerOptions options)
      : store_(store),
        loop_(store.loop()),
        options_(std::move(options)),
        keys_(options_.cluster),
        names_(options_.names),
        standing_(fmt::format("{}controllers/{}", keys_.root(), options_.name)),
        sessions_(store_, keys_, [this](const Error& error) { log("beat", error); }),
        machine_(std::in_place, machine_options()) {}

  void start() {
    follow();
    stand();
  }
  void stop() {
    gone_ = true;
    loop_.cancel(timer_);
    loop_.cancel(pause_);
    loop_.cancel(reading_);
    loop_.cancel(following_);
    sessions_.look_away();
    election_.reset();
    locks_.reset();
    session_.reset();
    watching_.reset();
  }

  bool active() const { return active_ && election_ && election_->leading(); }
  bool in_touch() const { return seen_ && !unwatched_ && session_ && session_->valid(); }
  ControllerAddress active_one() const {
    if (active()) return address();
    return election_ ? parse_controller_address(election_->view().leader) : ControllerAddress{};
  }
  std::optional<Error> trouble() const {
    if (!session_) return standing_.trouble_with_name();
    if (const auto unread = trouble_with_documents())
      return Error{Code::invalid, unread->message};  // to be told from a store that refuses
    if (unwatched_) return Error{Code::denied, unwatched_->in("the watch").message};
    const auto standing = election_ ? election_->view().trouble : std::nullopt;
    return standing && standing->code != Code::refused ? standing : std::nullopt;  // refused: with the session, which is lost
  }
  ControllerEpoch epoch() const { return epoch_; }
  const Machine& machine() const { return *machine_; }
  void on_event(std::function<void(const Event&)> handler) { on_event_ = std::move(handler); }
  void feed(Input input);
  void resign(store::Answer<void> answer);

 private:
  MachineOptions machine_options() const {
    MachineOptions options = options_.machine;
    options.cluster = options_.cluster;
    options.gather = options_.gather;
    options.epochs_above = epochs_above_;
    options.lost = lost_;
    return options;
  }
  void log(std::string_view what, const Error& error) const {
    if (options_.log != nullptr) options_.log->warn(what, {{"error", error.message}});
  }
  // What is tried again each time is said now and then.
  void complain(std::string_view what, const Error& error) {
    if (loop_.now() < quiet_until_) return;
    log(what, error);
    quiet_until_ = later(loop_.now(), said_again);
  }
  void raise(const Error& error) {
    if (on_event_) on_event_({Event::Kind::error, std::nullopt, std::nullopt, error.message});
  }
  ControllerAddress address() const { return {options_.name, options_.http, options_.pulse}; }
  // Calls back only while the Controller is there.
  template <class Call>
  auto guarded(Call call) {
    return [weak = weak_from_this(), call = std::move(call)](auto&&... values) mutable {
      if (const auto work = weak.lock(); work && !work->gone_) call(std::forward<decltype(values)>(values)...);
    };
  }

  std::function<bool()> while_there() {
    return [weak = weak_from_this()] {
      const auto work = weak.lock();
      return work && !work->gone_;
    };
  }

  // The same, and only if the store was not put back since: then it is an answer to another question.
  template <class Call>
  auto in_this_life(Call call) {
    return guarded([this, life = life_, call = std::move(call)](auto&&... values) mutable {
      if (life == life_) call(std::forward<decltype(values)>(values)...);
    });
  }

  // 1. The office.

  void stand() {
    store::SessionOptions options{.key = standing_.beat(), .ttl = options_.session_ttl, .meta = options_.name};
    if (names_) options.identity = store::Identity(fmt::format("{:016x}{:016x}", names_->next(), names_->next()));
    store::Session::open(store_, options, options_.session_ttl * 4,
                         guarded([this](Result<std::unique_ptr<store::Session>> session) { take_session(std::move(session)); }));
  }

  void take_session(Result<std::unique_ptr<store::Session>> session) {
    if (!session) {
      complain("session", session.error());
      standing_.not_opened(session.error());
      return stand_again();
    }
    quiet_until_ = {};
    aside_ = false;
    session_ = std::move(*session);
    standing_.opened(session_->identity());
    if (resigned_) return session_->end([](const Result<store::Revision>&) {});  // it was asked for before
    session_->on_event([this](store::Session::Event event) {
      if (event != store::Session::Event::lost) return;
      depose();
      stand_again();
    });
    locks_ = std::make_unique<locks::Locks>(store_, session_.get(), names_ ? std::optional(Rng(names_->next())) : std::nullopt);
    election_ =
        std::make_unique<locks::Election>(store_, *locks_, keys_.controller(), locks::ElectionOptions{.meta = format(address())});
    election_->on_change([this](const locks::Election::View& view) {
      if (view.trouble && view.trouble->code == Code::invalid && view.trouble != std::exchange(told_, view.trouble)) {
        log("election", *view.trouble);
        raise(*view.trouble);
      }
      if (!view.leading) return depose();
      if (!leads_) begin_office(*view.guard);
    });
    reconsider();
  }

  // A document without which nothing can be decided, and which was not read before.
  std::optional<Error> trouble_with_documents() const {
    if (standing_.trouble_with_epoch()) return standing_.trouble_with_epoch();
    const auto config = unreadable_.find(keys_.config());
    return configured_ || config == unreadable_.end() ? std::nullopt : std::optional(config->second);
  }

  // Who cannot read what the office needs leaves it to others, who may be newer, and stands again when that can be read.
  void reconsider() {
    loop_.post(guarded([this] {
      const bool unfit = trouble_with_documents().has_value();
      if (!election_ || resigned_ || std::exchange(aside_, unfit) == unfit) return;
      if (!unfit) return election_->stand();
      log("the office is left to others", *trouble_with_documents());
      election_->resign([](const Result<>&) {});
    }));
  }

  void judge_epoch(const std::optional<store::Entry>& entry, store::Revision seen) {
    if (!standing_.judge_epoch(entry, seen)) return;
    if (standing_.trouble_with_epoch()) raise(*standing_.trouble_with_epoch());
    reconsider();
  }

  // Not at once: whoever is told of a loss is inside of what is lost.
  void stand_again() {
    loop_.cancel(pause_);
    if (resigned_) return;
    pause_ = loop_.post_after(options_.session_ttl / 3, [this] {
      election_.reset();
      locks_.reset();
      session_.reset();
      stand();
    });
  }

  void depose() {
    leads_ = false;
    leave_office();
  }
  void leave_office() {
    guard_.reset();
    sessions_.look_away();
    if (!std::exchange(active_, false)) return;
    feed(Deposed{});
    step();
  }

  void begin_office(store::Compare election) {
    take_unread();
    leads_ = true;
    office_ = election;
    store_.get(keys_.controller_epoch(), guarded([this, election](Result<store::Read> read) {
                 if (!leads_) return;
                 if (!read) return try_office_again(election);
                 raise_epoch(election, *read);
               }));
  }

  void try_office_again(const store::Compare& election) {
    loop_.cancel(pause_);
    pause_ = loop_.post_after(options_.session_ttl / 10, [this, election] {
      if (leads_) begin_office(election);
    });
  }

  void raise_epoch(const store::Compare& election, const store::Read& read) {
    take_unread();
    ControllerEpoch before = std::max({highest_controller_, epoch_, epoch_shown_.value_or(ControllerEpoch())});
    store::Txn txn;
    txn.compare(election);
    if (read.entry) {
      const auto stored = parse_controller_epoch(read.entry->value, read.entry->key);
      if (!stored) {  // whatever it says, none is given twice
        judge_epoch(read.entry, read.entry->modified);
        return standing_.trouble_with_epoch() ? reconsider() : try_office_again(election);
      }
      before = std::max(before, *stored);
      txn.compare(store::unchanged(*read.entry));
    } else {
      txn.compare(store::absent(keys_.controller_epoch()));
    }
    const ControllerEpoch next = before.next();
    txn.put(keys_.controller_epoch(), format_controller_epoch(next));
    store_.txn(std::move(txn), guarded([this, election, next](Result<store::Committed> done) {
                 if (!leads_) return;
                 if (!done || !done->succeeded) return try_office_again(election);
                 epoch_ = next;
                 guard_ = store::unchanged(keys_.controller_epoch(), done->revision);
                 act_when_known();
                 expect_to_know();
               }));
  }

  // Whether all that was written before the election has been seen. Revisions alone do not say: where the store was emptied and the watch has not found out yet, they
  // are those of before. The epoch that was raised is none of those.
  bool knows_all() const { return guard_ && seen_ && *seen_ >= guard_->modified && epoch_shown_ == epoch_; }
  // A watch that has gone on from where an emptied store has not come yet may never say so.
  void expect_to_know() {
    if (active_ || unwatched_) return;
    loop_.cancel(following_);
    following_ = loop_.post_after(options_.session_ttl, [this] {
      if (!guard_ || !seen_ || knows_all()) return;
      log("watch", {Code::conflict, "it does not show that this controller was elected; watching anew"});
      follow();
    });
  }
  // The first step is taken then.
  void act_when_known() {
    const bool known = knows_all();
    if (!leads_ || active_ || !guard_ || (!known && options_.machine.broken != Broken::first_step_too_early)) return;
    settle_writes();
    take_unread();
    if (trouble_with_documents()) return reconsider();  // a freeze, or maintenance, that it cannot read is not overlooked
    active_ = true;
    sessions_.watch();
    feed(Elected{epoch_});
    step();
  }

  // No write of an earlier office comes through any more, and those that did have been seen: what was held back for the sake of their answers is so. Where
  // nothing was seen the machine rests until it is told once more how things are.
  void settle_writes() {
    ++life_;
    const auto unsure = std::exchange(writing_, {});
    auto held = std::exchange(held_back_, {});
    for (const auto& [workload, bucket] : unsure) {
      const std::string shards = keys_.shards(workload, bucket);
      const auto seen = held.find(shards);
      const auto known = revisions_.find(shards);
      const store::Change* change = seen == held.end() ? nullptr : &seen->second.first;
      const store::Revision revision = change != nullptr && change->entry ? change->entry->modified : store::Revision();
      if (change != nullptr && (!change->entry || known == revisions_.end() || revision > known->second)) continue;
      writing_.emplace(workload, bucket);
      read_again(workload, bucket);
    }
    for (auto& [key, change] : held) take(std::move(change.first), change.second);
  }

  // 2. What is seen.

  void follow() {
    loop_.cancel(following_);
    watching_ = store_.watch(keys_.root(), std::nullopt, [this](Result<store::Changes> changes) {
      if (changes) return take(std::move(*changes));
      log("watch", changes.error());
      unwatched_ = changes.error();
      following_ = loop_.post_after(options_.session_ttl, [this] { follow(); });
    });
  }

  void take(store::Changes changes) {
    const bool put_back = changes.fresh && seen_ && changes.revision < *seen_;
    if (put_back) begin_anew(changes);
    if (changes.fresh) {
      std::set<std::string> gone{keys_.controller_epoch(), standing_.beat()};
      for (const auto& [key, revision] : revisions_) gone.insert(key);
      put_in_order(changes, keys_, gone);
      for (const std::string& key : gone) take({key, std::nullopt}, changes.revision);
    }
    for (store::Change& change : changes.changes) take(std::move(change), changes.revision);
    seen_ = changes.revision;
    unwatched_.reset();
    const bool overtaken =
        guard_ && epoch_shown_ && *epoch_shown_ > epoch_;  // by hand, or by a version that is elected elsewhere
    if (overtaken) leave_office();
    if ((put_back || overtaken) && leads_) begin_office(*office_);
    act_when_known();
  }

  // A standby does not read each version of what changes quickly, nor while others are in haste.
  void take_later(const Key& key, store::Change change) {
    if (unread_.empty()) {
      loop_.cancel(reading_);
      reading_ = loop_.post_after(options_.follow, guarded([this] { take_unread(); }));
    }
    const std::string name = change.key;
    unread_.insert_or_assign(name, std::pair(key, std::move(change)));
  }
  void take_unread() {
    for (const auto& [name, known] : std::exchange(unread_, {})) deliver(known.first, known.second);
  }

  // The store was put back to an older state.
  void begin_anew(const store::Changes& changes) {
    log("watch", {Code::conflict, fmt::format("the store went back from revision {} to {}", *seen_, changes.revision)});
    leave_office();
    take_unread();
    step();
    epochs_above_ = Epoch(machine_->highest_epoch().value() + epochs_unseen);
    lost_ = machine_->with_data();
    machine_.emplace(machine_options());
    ++life_;
    revisions_.clear();
    writing_.clear();
    alone_.clear();
    held_back_.clear();
    unread_.clear();
    unreadable_.clear();
    standing_.forget_revisions();
    sessions_.doubt(changes, options_.session_ttl / 3, while_there());
  }

  static bool is_own(Key::Kind kind) { return kind == Key::Kind::shards || kind == Key::Kind::view; }

  void take(store::Change change, store::Revision seen) {
    const std::optional<Key> key = keys_.parse(change.key);
    if (change.key == standing_.beat()) return standing_.see_beat(std::move(change.entry));
    if (key && key->kind == Key::Kind::controller_epoch) {
      const auto shown = change.entry ? parse_controller_epoch(change.entry->value, change.key) : fail(Code::not_found, "");
      epoch_shown_ = shown ? std::optional(*shown) : std::nullopt;
      return judge_epoch(change.entry, change.entry ? change.entry->modified : seen);
    }
    if (!key || key->kind == Key::Kind::target) return;
    const store::Revision revision = change.entry ? change.entry->modified : seen;
    const auto known = revisions_.find(change.key);
    if (known != revisions_.end() && revision <= known->second) return;
    if (is_own(key->kind) && writing_.contains({key->workload, key->bucket})) {
      const std::string name = change.key;
      held_back_.insert_or_assign(name, std::pair(std::move(change), seen));  // our own, or decided when the answer has come
      return;
    }
    if (change.entry) {
      revisions_[change.key] = revision;
    } else {
      revisions_.erase(change.key);
    }
    // What a workload has depends on which came first, its document or its records.
    if (!active_ && key->kind == Key::Kind::workload) take_unread();
    if (active_ || !seen_ || key->kind == Key::Kind::workload) return deliver(*key, change);
    take_later(*key, std::move(change));
  }

  void deliver(const Key& key, const store::Change& change) {
    unread_.erase(change.key);
    if (key.kind == Key::Kind::config) reconsider();
    if (!change.entry) {
      unreadable_.erase(change.key);
      if (key.kind == Key::Kind::beat) sessions_.gone(key.node);
      return feed(Saw{key, std::nullopt});
    }
    Result<Document> document = parse_document(key, *change.entry);
    unreadable_.erase(change.key);
    if (!document) {  // what was known before stays; one bad document never stops the others
      unreadable_.emplace(change.key, document.error());
      log("document", document.error());
      return raise(document.error());
    }
    configured_ = configured_ || key.kind == Key::Kind::config;
    // Of a session that is not believed it is known where it was, not that it is.
    if (auto* live = std::get_if<LiveDocument>(&*document); live != nullptr && sessions_.doubts(live->incarnation))
      live->incarnation = {};
    if (const auto* report = std::get_if<Report>(&*document))
      highest_controller_ = std::max(highest_controller_, report->obeyed.controller);
    if (const auto* beat = std::get_if<BeatSeen>(&*document); beat != nullptr && !sessions_.is_news(key.node, *beat)) return;
    feed(Saw{key, std::move(*document)});
  }

  // 3. What is decided, and written.

  void step() {
    if (inputs_.empty()) return;
    const Instant begun = loop_.now();
    Output out = machine_->step(std::exchange(inputs_, {}), begun);
    if (options_.on_step) options_.on_step(loop_.now() - begun);
    perform(std::move(out));
  }

  void perform(Output out) {
    for (Event& event : out.events) {
      if (on_event_) on_event_(event);
    }
    write(out.commits);
    for (const Put& put : out.puts) write(put);
    if (out.plan) {
      options_.planner(std::move(*out.plan), guarded([this, office = epoch_](place::Plan plan) {
                         loop_.post(guarded([this, office, plan = std::move(plan)]() mutable {
                           if (office == epoch_) feed(Planned{std::move(plan)});
                         }));
                       }));
    }
    wake_at(out.wake);
  }

  // A timer that is set for an earlier moment stays: a Tick too many changes nothing.
  void wake_at(Instant due) {
    if (armed_ <= due) return;
    loop_.cancel(timer_);
    armed_ = due;
    timer_ = loop_.post_at(due, [this] {
      armed_ = Instant::max();
      feed(Tick{});
    });
  }

  // Of every write: this is still the one that acts.
  std::optional<store::Compare> guard() const {
    return options_.machine.broken == Broken::unguarded_writes ? std::nullopt : guard_;
  }

  store::Compare as_known(const std::string& key) const {
    const auto known = revisions_.find(key);
    return known == revisions_.end() ? store::absent(key) : store::unchanged(key, known->second);
  }

  // Somebody newer wrote it, as far as one can tell who cannot read it.
  bool is_newer(const std::string& key) const {
    return unreadable_.contains(key) && options_.machine.broken != Broken::write_over_newer;
  }

  // Together, as many as a txn takes. What is urgent comes first, and does not wait for the rest.
  void write(const std::vector<Commit>& commits) {
    if (!guard_) return;
    detail::Batch batch(guard());
    bool urgent = false;
    for (const Commit& commit : commits) {
      auto part = part_of(commit);
      if (!part) continue;
      if (!batch.takes(*part) || urgent != commit.urgent) send(std::exchange(batch, detail::Batch(guard())));
      urgent = commit.urgent;
      batch.add(*std::move(part));
    }
    send(std::move(batch));
  }

  // What a commit writes, and what it must find; nothing: it is not to be written.
  std::optional<detail::Batch::Part> part_of(const Commit& commit) {
    const WorkloadId& workload = commit.records.workload;
    const Bucket bucket = commit.records.bucket;
    const std::string shards = keys_.shards(workload, bucket);
    if (is_newer(shards)) {  // the truth is not written over; the bucket rests until it can be read
      loop_.post(guarded([this, workload, bucket] { feed(Answered{workload, bucket, Answered::Outcome::unknown}); }));
      return std::nullopt;
    }
    store::Txn txn;
    txn.compare(as_known(shards));
    put_documents(txn, keys_, commit);
    for (const ShardIndex shard : commit.orders) {
      const std::string order = keys_.order({workload, shard});
      if (unreadable_.contains(order)) continue;  // another has come, which somebody newer wrote
      txn.compare(as_known(order)).erase(order);  // not another one that has come since
    }
    writing_.insert({workload, bucket});
    return detail::Batch::Part{{workload, bucket, commit.erases}, std::move(txn), alone_.contains({workload, bucket})};
  }

  void send(detail::Batch batch) {
    if (batch.empty()) return;
    store_.txn(batch.take_txn(),
               in_this_life([this, of = batch.of(), office = epoch_, begun = loop_.now()](const Result<store::Committed>& done) {
                 measure(begun, done);
                 for (const detail::Batch::Bucketed& one : of) {
                   if (office != epoch_) read_again(one.workload, one.bucket);  // of another office than this
                   if (office == epoch_) answered(one, done);
                 }
               }));
  }

  void measure(Instant begun, const Result<store::Committed>& done) const {
    if (!options_.on_commit) return;
    using Outcome = Answered::Outcome;
    options_.on_commit(loop_.now() - begun, !done ? Outcome::unknown : done->succeeded ? Outcome::done : Outcome::moved);
  }

  void answered(const detail::Batch::Bucketed& one, const Result<store::Committed>& done) {
    const auto& [workload, bucket, erases] = one;
    if (done && done->succeeded && active_) {
      alone_.erase({workload, bucket});
      for (const std::string& key : {keys_.shards(workload, bucket), keys_.view(workload, bucket)}) {
        if (erases) {
          revisions_.erase(key);
        } else {
          revisions_[key] = done->revision;
        }
      }
      writing_.erase({workload, bucket});
      feed(Answered{workload, bucket, Answered::Outcome::done});
      return take_held_back(workload, bucket);
    }
    alone_.emplace(workload, bucket);
    feed(Answered{workload, bucket, done ? Answered::Outcome::moved : Answered::Outcome::unknown});
    read_again(workload, bucket);
  }

  // What became of a write: its documents are read, until that works.
  void read_again(const WorkloadId& workload, Bucket bucket) {
    store_.get(keys_.view(workload, bucket), in_this_life([this, workload, bucket](Result<store::Read> view) {
                 store_.get(keys_.shards(workload, bucket),
                            in_this_life([this, workload, bucket, view = std::move(view)](Result<store::Read> shards) {
                              if (!view || !shards) return read_later(workload, bucket);
                              // The write came through in between: this view is older than these records, and must not be written over the newer one.
                              if (shards->entry && shards->entry->modified > view->revision) return read_again(workload, bucket);
                              writing_.erase({workload, bucket});
                              auto later_view = held_back_.extract(keys_.view(workload, bucket));
                              auto later_shards = held_back_.extract(keys_.shards(workload, bucket));
                              take_read(keys_.view(workload, bucket), *view);
                              take_read(keys_.shards(workload, bucket), *shards);
                              take_if_later(later_view, view->revision);
                              take_if_later(later_shards, shards->revision);
                            }));
               }));
  }

  // What was held back is older than what was read since, or not.
  void take_if_later(std::map<std::string, std::pair<store::Change, store::Revision>>::node_type& held, store::Revision read) {
    if (!held) return;
    auto& [change, seen] = held.mapped();
    if ((change.entry ? change.entry->modified : seen) > read) take(std::move(change), seen);
  }

  void read_later(const WorkloadId& workload, Bucket bucket) {
    loop_.post_after(options_.session_ttl / 10, in_this_life([this, workload, bucket] { read_again(workload, bucket); }));
  }

  // Fed even if it is what is known: the bucket rests until then.
  void take_read(const std::string& key, const store::Read& read) {
    if (read.entry) {
      revisions_[key] = read.entry->modified;
    } else {
      revisions_.erase(key);
    }
    deliver(*keys_.parse(key), {key, read.entry});
  }

  void take_held_back(const WorkloadId& workload, Bucket bucket) {
    for (const std::string& key : {keys_.shards(workload, bucket), keys_.view(workload, bucket)}) {
      if (auto held = held_back_.extract(key)) take(std::move(held.mapped().first), held.mapped().second);
    }
  }

  // Small documents. Operators and nodes write most of them too, so that one is written only as it was seen; the machine puts it again until it
  // is seen to be there.
  void write(const Put& put) {
    if (!guard_) return;
    store::Txn txn;
    if (const auto guarding = guard()) txn.compare(*guarding);
    const std::string key = key_of(keys_, put.key);
    if (is_newer(key)) return;
    if (put.key.kind != Key::Kind::waits) txn.compare(as_known(key));
    std::visit(Overloaded{[&](const Erased&) { txn.erase(key); }, [&](const auto& document) { txn.put(key, format(document)); }},
               put.document);
    store_.txn(std::move(txn), [](const Result<store::Committed>&) {});
  }

  store::Store& store_;
  Loop& loop_;
  const ControllerOptions options_;
  const Keys keys_;
  std::optional<Rng> names_;
  std::function<void(const Event&)> on_event_;
  bool gone_ = false;
  bool resigned_ = false;
  Instant quiet_until_;  // nothing is complained of before

  detail::Standing standing_;
  std::unique_ptr<store::Session> session_;
  std::unique_ptr<locks::Locks> locks_;
  std::unique_ptr<locks::Election> election_;
  std::optional<Error> told_;  // of the election
  bool aside_ = false;         // it does not stand, since it could not act
  bool leads_ = false;         // elected
  std::optional<store::Compare> office_;
  bool active_ = false;  // and acting
  ControllerEpoch epoch_;
  ControllerEpoch highest_controller_;  // that any report has named
  std::optional<store::Compare> guard_;

  std::unique_ptr<store::Watching> watching_;
  std::optional<store::Revision> seen_;
  std::optional<Error> unwatched_;  // the watch has ended, until it has begun anew
  Timer following_;
  std::optional<ControllerEpoch> epoch_shown_;                  // the controllers' epoch, by the watch
  std::uint32_t life_ = 0;                                      // of the store, as far as this one has seen it go back
  std::unordered_map<std::string, store::Revision> revisions_;  // of documents as the machine knows them
  std::set<std::pair<WorkloadId, Bucket>> writing_;
  std::set<std::pair<WorkloadId, Bucket>>
      alone_;  // not written the last time: whatever was wrong, the next time no others fail with it
  std::map<std::string, std::pair<store::Change, store::Revision>> held_back_;
  std::map<std::string, std::pair<Key, store::Change>> unread_;  // seen, and not looked at yet: only by a standby
  Timer reading_;
  std::vector<Input> inputs_;                // for the next step
  bool configured_ = false;                  // the configuration has been read once
  std::map<std::string, Error> unreadable_;  // documents that are there and cannot be read
  detail::Sessions sessions_;
  Epoch epochs_above_;
  std::map<WorkloadId, std::uint32_t> lost_;  // what had data then
  Timer timer_;
  Instant armed_ = Instant::max();  // when it is due
  Timer pause_;
  std::optional<Machine> machine_;
};

// Decided on when the loop has handed over what else is there, so that what comes together is written together.
void Controller::Work::feed(Input input) {
  inputs_.push_back(std::move(input));
  if (inputs_.size() == 1) loop_.post(guarded([this] { step(); }));
}

void Controller::Work::resign(store::Answer<void> answer) {
  resigned_ = true;
  loop_.cancel(pause_);
  if (!election_) return loop_.post([answer = std::move(answer)]() mutable { answer({}); }), void();
  depose();
  election_->resign(guarded([this, answer = std::move(answer)](Result<> left) mutable {
    if (!session_) return answer(std::move(left));
    session_->end([answer = std::move(answer), left = std::move(left)](const Result<store::Revision>& ended) mutable {
      if (left && !ended) return answer(fail(ended.error()));
      answer(std::move(left));
    });
  }));
}

Controller::Controller(store::Store& store, ControllerOptions options)
    : work_(std::make_shared<Work>(store, std::move(options))) {
  work_->start();
}
Controller::~Controller() { work_->stop(); }
bool Controller::active() const { return work_->active(); }
bool Controller::in_touch() const { return work_->in_touch(); }
ControllerAddress Controller::active_one() const { return work_->active_one(); }
std::optional<Error> Controller::trouble() const { return work_->trouble(); }
ControllerEpoch Controller::epoch() const { return work_->epoch(); }
const Machine& Controller::machine() const { return work_->machine(); }
void Controller::on_event(std::function<void(const Event&)> handler) { work_->on_event(std::move(handler)); }
void Controller::pulse(const Pulse& pulse, Duration every) { work_->feed(Pulsed{pulse, every}); }
void Controller::pulse_broken(const NodeId& node) { work_->feed(PulseBroken{node}); }
void Controller::resign(store::Answer<void> answer) { work_->resign(std::move(answer)); }

}  // namespace evenkeel::control
