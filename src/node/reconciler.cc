#include "evenkeel/node/reconciler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <set>
#include <utility>

#include "evenkeel/base/overloaded.h"
#include "evenkeel/node/detail/replica.h"
#include "evenkeel/node/detail/report_book.h"

namespace evenkeel::node {
namespace {

constexpr Duration pause_first = 1s;
constexpr Duration pause_max = 1min;
constexpr int out_pause_parts = 10;  // of a ttl: who must get out of a bounded state is not kept waiting for longer

Duration pause_after(std::uint32_t tries) {
  Duration pause = pause_first;
  for (std::uint32_t i = 1; i < tries && pause < pause_max; ++i) pause *= 2;
  return std::min(pause, pause_max);
}

}  // namespace

class Reconciler::Work {
 public:
  using Item = detail::Replica;

  Work(ReconcilerOptions options, std::vector<Held> inventory)
      : options_(std::move(options)), book_(options_.name, options_.data, options_.broken) {
    for (Held& held : inventory) {
      Item item{.shard = held.shard, .known = held.version, .data_epoch = held.last, .progress = held.progress};
      if (held.refuses > held.version.epoch) item.sealed = Sealed{held.refuses, held.last, held.progress};
      items_.emplace(std::move(held.shard), std::move(item));
    }
  }

  Output step(Input input, Instant now) {
    now_ = now;
    effects_.clear();
    std::visit([this](auto&& in) { on(std::forward<decltype(in)>(in)); }, std::move(input));
    look_at_due();
    Output out;
    out.effects = std::exchange(effects_, {});
    if (standing_.joined) out.reports = book_.take(items_, [this](const Item& item) { forget(item); });
    out.wake = due_.empty() ? Instant::max() : due_.begin()->first;
    return out;
  }

  const std::map<ShardId, Item>& items() const { return items_; }
  const detail::Standing& standing() const { return standing_; }
  bool settled() const { return unsettled_ == 0; }

 private:
  void on(const Joined& joined) {
    standing_.joined = true;
    book_.begin(joined.incarnation);
    std::erase_if(items_, [&](const auto& each) {
      const Item& item = each.second;
      if (detail::is_nothing(item)) forget(item);
      return detail::is_nothing(item);
    });
    for (auto& [shard, item] : items_) {
      item.told = item.named = false;
      const auto buckets = joined.buckets.find(shard.workload);
      if (buckets != joined.buckets.end() && std::has_single_bit(buckets->second))
        item.bucket = bucket_of(shard, buckets->second);
      book_.put(item);
    }
    advance_all();
  }

  void on(const SessionLost&) {
    if (options_.broken == Broken::lead_without_session) return;
    standing_.joined = false;
    advance_all();
  }

  void on(const Leaving&) {
    standing_.leaving = true;
    advance_all();
  }

  void on(const Tick&) {}

  // First all entries are read, so that whoever leads no more knows it before anything else is done.
  void on(const TargetRead& read) {
    const Target& target = read.target;
    if (!standing_.joined || standing_.leaving || target.node != options_.name || !book_.read(target)) return;
    for (const ShardIndex shard : book_.shards(target.workload, target.bucket)) items_.at({target.workload, shard}).named = false;
    const auto terms = detail::terms_of(target);
    for (const ReplicaTarget& entry : target.replicas) {
      const ShardId shard{target.workload, entry.shard};
      Item& item = items_.try_emplace(shard, Item{.shard = shard}).first->second;
      book_.move(item, target.bucket);
      detail::take_up(item, entry, terms);
      update_lead(item);
    }
    for (const ReplicaTarget& entry : target.replicas) advance(items_.at({target.workload, entry.shard}));
    if (options_.broken == Broken::drop_what_is_unsaid) drop_unsaid(target, terms);
  }

  // Only for tests.
  void drop_unsaid(const Target& target, const std::shared_ptr<const detail::Terms>& terms) {
    for (const ShardIndex shard : book_.shards(target.workload, target.bucket)) {
      Item& item = items_.at({target.workload, shard});
      if (item.named) continue;
      detail::take_up(item, {.shard = shard, .state = StateId(std::string(state_dropped)), .version = item.known}, terms);
      item.named = false;
      advance(item);
    }
  }

  void on(const TargetGone& gone) {
    for (const ShardIndex shard : book_.shards(gone.workload, gone.bucket)) items_.at({gone.workload, shard}).named = false;
    book_.touch(gone.workload, gone.bucket);
  }

  void on(const Begun& begun) {
    const auto found = items_.find(begun.shard);
    if (found == items_.end() || !found->second.run) return;
    Transition& runs = found->second.run->transition;
    if (runs.within > Duration{}) runs.deadline = std::min(runs.deadline, later(now_, runs.within));
    advance(found->second);
  }

  void on(const Transitioned& answer) {
    const auto found = items_.find(answer.shard);
    if (found == items_.end() || !found->second.run || found->second.run->id != answer.run) return;
    Item& item = found->second;
    const detail::Run run = *std::exchange(item.run, std::nullopt);
    item.data_epoch = answer.last;
    item.progress = answer.progress;
    if (answer.result) {
      on_done(item, run.transition);
    } else if (!run.superseded) {
      on_failed(item, run, answer.result.error());
    }
    advance(item);
    if (run.turn == Turn::slow) {
      --slow_;
      start_waiting();
    }
  }

  void on(const SealDone& answer) {
    const auto found = items_.find(answer.shard);
    if (found == items_.end() || found->second.seal_asked != answer.epoch) return;
    Item& item = found->second;
    item.seal_asked.reset();
    if (answer.result) {
      item.seal_error.clear();
      item.sealed = *answer.result;
      item.sealed->against = std::max(item.sealed->against, answer.epoch);
      if (item.told && item.entry->version.epoch >= answer.epoch) item.sealed.reset();  // too late to be of use
    } else if (item.seal_wanted == answer.epoch) {
      item.seal_error = answer.result.error().message;
      item.seal_at = later(now_, pause_after(++item.seal_tries));
    }
    advance(item);
  }

  void on(const Refused& refused) {
    const auto found = items_.find(refused.shard);
    if (found == items_.end() || found->second.refused >= refused.by) return;
    found->second.refused = refused.by;
    advance(found->second);
  }

  static void on_done(Item& item, const Transition& done) {
    item.state = done.to;
    item.last = done;
    item.carried = done.version;
    detail::come_again(item);
    if (item.gave_up) return;  // it has only stepped down
    item.error.clear();
    item.tries = 0;
    item.retry_at = Instant::min();
  }

  void on_failed(Item& item, const detail::Run& run, const Error& error) {
    const bool out = detail::leaves_bounded(item, run.transition);
    item.error = error.message;
    if (run.overdue) item.error = fmt::format("not done in time, and stopped: {}", error.message);
    ++item.tries;
    Duration pause = pause_after(item.tries);
    if (out) pause = std::min(pause, options_.session_ttl / out_pause_parts);
    if (options_.broken != Broken::try_again_at_once) item.retry_at = later(now_, pause);
    if (out || run.transition.final.str() == state_dropped ||
        item.tries < (options_.broken == Broken::give_up_at_once ? 1 : options_.tries))
      return;
    item.gave_up = true;
    item.retry_at = Instant::min();
  }

  void advance_all() {
    for (auto& [shard, item] : items_) update_lead(item);
    for (auto& [shard, item] : items_) advance(item);
  }

  void look_at_due() {
    while (!due_.empty() && due_.begin()->first <= now_) {
      const ShardId shard = due_.begin()->second;
      advance(items_.at(shard));  // which gives it another moment, or none
    }
  }

  // Does what can be done for one replica now.
  void advance(Item& item) {
    update_lead(item);
    watch_the_way_out(item);
    const bool sealing = ask_seal(item);
    if (item.run) {
      stop_if_useless(item);
    } else if (!sealing) {
      move_on(item);
    }
    update_lead(item);
    detail::update_known(item, standing_);
    book_.touch(item.shard.workload, item.bucket);
    set_due(item);
    const bool unsettled = is_unsettled(item);
    unsettled_ += (unsettled ? 1 : 0) - (item.unsettled ? 1 : 0);
    item.unsettled = unsettled;
  }

  bool is_unsettled(const Item& item) const {
    return item.run || item.waiting || detail::seal_is_open(item) || !item.error.empty() ||
           detail::next_state(item, standing_).has_value();
  }

  void update_lead(Item& item) {
    const Epoch epoch = detail::leads_at(item, standing_);
    const bool holds_on = options_.broken == Broken::lead_until_done && detail::is_bounded(item, item.state);
    if (item.lead == epoch && (epoch == Epoch() || item.fencing == item.terms->fencing)) return;
    if (holds_on && epoch == Epoch()) return;
    item.lead = epoch;
    item.fencing = item.terms->fencing;
    effects_.push_back(Lead{item.shard, epoch, item.fencing});
  }

  void watch_the_way_out(Item& item) {
    if (!detail::must_get_out(item, standing_)) {
      item.out_by = Instant::max();
      item.stuck = false;
      return;
    }
    if (item.out_by == Instant::max()) item.out_by = later(now_, options_.session_ttl / 2);
    if (now_ < item.out_by || item.stuck) return;
    item.stuck = true;
    const StateId& in = detail::is_bounded(item, item.state) ? item.state : item.run->transition.to;
    effects_.push_back(Stuck{item.shard, fmt::format("{} did not leave the state {} within {}", format(item.shard), in,
                                                     format(options_.session_ttl / 2))});
  }

  // Whether the handler is busy with a seal.
  bool ask_seal(Item& item) {
    if (item.seal_asked) return true;
    if (standing_.leaving || !item.told || !detail::seal_is_open(item) || now_ < item.seal_at) return false;
    if (item.run && detail::changes_bounded(item, item.run->transition)) return false;
    item.seal_asked = item.seal_wanted;
    if (options_.broken == Broken::refuse_nothing) return seal_by_word(item);
    effects_.push_back(AskSeal{item.shard, *item.seal_asked});
    return true;
  }

  // Only for tests.
  static bool seal_by_word(Item& item) {
    item.sealed = Sealed{*std::exchange(item.seal_asked, std::nullopt), item.data_epoch, item.progress};
    return false;
  }

  void stop_if_useless(Item& item) {
    detail::Run& run = *item.run;
    if (run.stopping || detail::leaves_bounded(item, run.transition)) return;
    run.superseded = detail::is_outdated(item, standing_);
    run.overdue = !run.superseded && now_ >= run.transition.deadline;
    if (!run.superseded && !run.overdue) return;
    run.stopping = true;
    effects_.push_back(Stop{item.shard, run.id});
  }

  void move_on(Item& item) {
    const auto to = detail::next_state(item, standing_);
    const StateId end = detail::goal(item, standing_);
    if (!to && end != item.state && !item.gave_up) {
      item.error = fmt::format("there is no way from {} to {}", item.state, end);
      item.gave_up = true;
    }
    if (!to || now_ < item.retry_at) return;
    const bool out = *to != item.state && detail::is_bounded(item, item.state);
    if (item.gave_up && !out && !standing_.leaving) return;
    // A shard that is split off is copied from what is here, and somebody stands still for it. Where there is no data anywhere nothing is opened, and
    // the others copy from who leads first: if that waited behind copies, those of two nodes could wait for each other.
    const bool begins = detail::is_bounded(item, end) && item.entry->reason == Reason::first && !item.entry->copy_from;
    const bool soon = *to == item.state || item.entry->parent.has_value() || begins;
    const Turn turn = out || detail::is_bounded(item, *to) ? Turn::first : soon ? Turn::soon : Turn::slow;
    if (turn != Turn::slow || slow_ < options_.transitions_at_once) return start(item, *to, end, turn);
    if (std::exchange(item.waiting, true)) return;
    waiting_.push_back(item.shard);
  }

  void start(Item& item, const StateId& to, const StateId& end, Turn turn) {
    const bool told = !standing_.leaving && item.told && standing_.joined && end == item.entry->state;
    Transition transition{.shard = item.shard,
                          .from = item.state,
                          .to = to,
                          .final = end,
                          .version = item.entry->version,
                          .reason = told                ? item.entry->reason
                                    : standing_.leaving ? Reason::operator_asked
                                                        : Reason::failover,
                          .held_before = item.entry->held_before,
                          .peers = item.entry->peers,
                          .copy_from = item.entry->copy_from,
                          .parent = item.entry->parent,
                          .shards = item.entry->shards,
                          .metadata = item.terms->metadata,
                          .within = item.terms->deadline,
                          .deadline = Instant::max()};
    if (transition.within > Duration{} && !options_.queues) transition.deadline = later(now_, transition.within);
    if (detail::leaves_bounded(item, transition) && now_ < item.out_by)
      transition.deadline = std::min(transition.deadline, item.out_by);
    if (turn == Turn::slow) ++slow_;
    item.run = detail::Run{.id = ++runs_, .transition = transition, .turn = turn};
    update_lead(item);
    effects_.push_back(Start{std::move(transition), runs_, turn});
  }

  void start_waiting() {
    while (slow_ < options_.transitions_at_once && !waiting_.empty()) {
      const auto found = items_.find(waiting_.front());
      waiting_.pop_front();
      if (found == items_.end()) continue;
      found->second.waiting = false;
      advance(found->second);
    }
  }

  void set_due(Item& item) {
    Instant due = Instant::max();
    const auto at = [&](Instant when) { due = std::min(due, when); };
    if (item.run && !item.run->stopping && !detail::leaves_bounded(item, item.run->transition)) at(item.run->transition.deadline);
    if (!item.run && item.retry_at > now_) at(item.retry_at);
    if (!item.stuck) at(item.out_by);
    if (!item.seal_asked && detail::seal_is_open(item) && item.seal_at > now_) at(item.seal_at);
    if (due == item.due) return;
    if (item.due != Instant::max()) due_.erase({item.due, item.shard});
    item.due = due;
    if (due != Instant::max()) due_.emplace(due, item.shard);
  }

  // Before it goes.
  void forget(const Item& item) {
    if (item.due != Instant::max()) due_.erase({item.due, item.shard});
    if (item.unsettled) --unsettled_;
  }

  ReconcilerOptions options_;
  detail::Standing standing_;
  detail::ReportBook book_;
  std::map<ShardId, Item> items_;
  std::set<std::pair<Instant, ShardId>> due_;
  std::deque<ShardId> waiting_;  // for a slow transition to end; each at most once
  std::uint32_t slow_ = 0;       // that run
  std::uint64_t runs_ = 0;
  int unsettled_ = 0;
  Instant now_;
  std::vector<Effect> effects_;
};

Reconciler::Reconciler(ReconcilerOptions options, std::vector<Held> inventory)
    : work_(std::make_unique<Work>(std::move(options), std::move(inventory))) {}
Reconciler::~Reconciler() = default;

Output Reconciler::step(Input input, Instant now) { return work_->step(std::move(input), now); }

std::vector<Reconciler::Replica> Reconciler::replicas() const {
  std::vector<Replica> out;
  out.reserve(work_->items().size());
  for (const auto& [shard, item] : work_->items()) {
    const ReplicaReport report = detail::report_of(item);
    out.push_back({.shard = shard,
                   .state = report.state,
                   .target = item.entry ? detail::goal(item, work_->standing()) : report.state,
                   .version = report.version,
                   .running = item.run.has_value(),
                   .error = report.error});
  }
  return out;
}

std::vector<ShardId> Reconciler::shards() const {
  std::vector<ShardId> out;
  out.reserve(work_->items().size());
  for (const auto& [shard, item] : work_->items()) out.push_back(shard);
  return out;
}

bool Reconciler::holds(const ShardId& shard) const { return work_->items().contains(shard); }

bool Reconciler::may_lead(const ShardId& shard, Epoch epoch) const {
  const auto found = work_->items().find(shard);
  return found != work_->items().end() && epoch != Epoch() && found->second.lead == epoch;
}

bool Reconciler::settled() const { return work_->settled(); }

}  // namespace evenkeel::node
