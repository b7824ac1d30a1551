// One becomes two. The shards of a workload are doubled one by one: shard i keeps half of its keys, and i + n begins as a copy of it, on the same disks.
//
//   1. The leader of i steps down, as in a hand-over, and says how far it got; those that follow it get there too.
//   2. The record of i names those that have all that there is (`ready`). Until the split is over nobody leads i, and nobody comes or goes.
//   3. i + n gets a record with exactly these holders (`born`). Each copies what is on its own disk, and says so.
//   4. i is led again, at a new epoch. If all have their copy it is split (`shards`), and whoever holds it knows which keys are still its own. If one fails or is
//      lost, or if it takes too long, the split is called off: i is led as before, and it is tried again later.
//   5. i + n looks at i. If that is split, it is a shard like any other, with data and without a leader yet, and clients see it from then on. If the split
//      was called off, it drops what was copied.
//
// The two records are in different buckets and are never written together. Each step follows from what is written of both, so that it does not matter which
// controller takes it, or when: a split has a number of its own (`at`), what was copied in it is dropped only if the record of i says that this one is over,
// and counts only while it says that it is not; and nothing of i + n is served before the record of i says that it is split.
//
// Where nobody leads, nobody stops anybody's writes either: those that hold i copy it while they serve, and it is for the service to miss nothing.

#include "evenkeel/control/detail/shard_step.h"

namespace evenkeel::control::detail {
namespace {

constexpr std::uint32_t pauses_doubled_max = 5;  // 30 s become 16 min

}  // namespace

bool is_unborn(const Spec& spec, const ShardRecord& record, const ShardRecord& parent) {
  return spec.split_from > 0 && record.shard.value() >= spec.split_from && record.shard.value() < spec.shards &&
         parent.shards != spec.shards && !record.has_data;
}

bool is_unsplit(const Spec& spec, const ShardRecord& record) {
  return spec.split_from > 0 && record.shard.value() < spec.split_from && record.shards != spec.shards;
}

// 1. The one that is split off.

// Its parent is split: it is a shard like any other from now on. And a parent whose other half has a life of its own, by what nodes held when the store had
// lost its records, is split already.
void ShardStep::take_for_half() {
  if (next_.born) {
    next_.born.reset();
    next_.has_data = true;
  }
  const ShardRecord* half = in_.half.record;
  if (half == nullptr || spec_.deleted || !is_unsplit(spec_, next_) || !half->has_data || !next_.has_data) return;
  if (next_.split && !in_.lost) return;
  next_.shards = spec_.shards;
  next_.split.reset();
  next_.hand_over.reset();
  timers_.handing.reset();
  // Whoever leads takes keys that are not its own until it knows: it steps down, and the next one leads by a seal, at a new epoch.
  for (Holder& holder : next_.holders) {
    if (!counts(holder)) continue;
    if (spec_.lead && holder.told == *spec_.lead) tell(holder, spec_.rest, Reason::balance);
    holder.version = {};
  }
}

// The store was put back to an older state, and nodes hold what may be the other half of this one. If it is, half of the keys are not its own any more.
bool ShardStep::waits_for_half() {
  if (!in_.lost || accepts_loss() || broken(Broken::lead_over_half)) return false;
  const ShardRecord* half = in_.half.record;
  if (half == nullptr && in_.half.orphaned) {
    say("nobody leads: nodes hold {}/{}, which the workload lacks since the store was put back: `workload split` it again, then "
        "`cluster adopt`",
        spec_.name, next_.shard.value() + spec_.shards);
    return true;
  }
  if (half == nullptr || !is_unsplit(spec_, next_)) return false;
  const bool held = std::ranges::any_of(half->holders, [&](const Holder& holder) { return counts(holder); });
  if (!held && !in_.half.orphaned) return false;
  say("nobody leads: it may have been split in what the store has lost: `shard adopt` or `shard drop` {}/{} first", spec_.name,
      half->shard);
  return true;
}

void ShardStep::be_born() {
  const ShardRecord& parent = *in_.half.record;
  if (!parent.split || parent.split->ready.empty()) return say("is not split off yet");
  if (!in_.may_move && !broken(Broken::split_in_maintenance)) return say("is not split off while nothing moves");
  if (in_.half.lost) return say("is not split off yet");
  if (in_.lost) return say("the store has lost whether it was split off: `shard lead --accept-loss` says that it was not");
  for (const Orphan& orphan : in_.orphans) {
    if (matters(orphan, in_.begins_above) && find(orphan.node) == nullptr)
      return say("{} holds it, and no record knows: `cluster adopt` or drop it there", orphan.node);
  }
  std::vector<Holder> holders;
  for (const NodeId& node : parent.split->ready) {
    const NodeFacts* known = in_.facts(node).node;
    if (known == nullptr || !known->joined || find(node) != nullptr) return say("{} is to copy it, and cannot", node);
    holders.push_back(
        {.node = node, .data = known->data, .incarnation = known->incarnation, .told = spec_.rest, .reason = Reason::split});
  }
  next_.holders.insert(next_.holders.end(), holders.begin(), holders.end());
  next_.version.epoch = std::max({next_.version.epoch, parent.version.epoch, in_.highest});
  next_.born = parent.split->at;
  next_.shards = spec_.shards;
  next_.placement = parent.placement;
}

void ShardStep::call_off_copies() {
  if (!in_.may_move) return say("what was copied of it is not dropped while nothing moves");
  if (in_.lost)
    return say(
        "the store has lost whether it was split off: `shard adopt` keeps what was copied, `shard lead --accept-loss` "
        "drops it");
  for (Holder& holder : next_.holders) {
    if (counts(holder)) tell(holder, StateId(std::string(state_dropped)), Reason::split);
  }
  next_.born.reset();
}

// The store was put back to an older state, and whether it has had a life of its own since nobody knows. An operator says which of those that hold it are to be
// kept, or dropped, or that whatever there was may be lost: then it is not doubted any more.
void ShardStep::settle_copies() {
  if (in_.order == nullptr || next_.has_data) return;
  lead_done_ = loss_accepted_ = accepts_loss();  // once, and not when it is led
  if (!in_.lost) return;
  const StateId dropped{std::string(state_dropped)};
  std::vector<Holder*> kept;
  for (Holder& holder : next_.holders) {
    if (!counts(holder)) continue;
    if (std::ranges::find(in_.order->drop, holder.node) != in_.order->drop.end()) tell(holder, dropped, Reason::operator_asked);
    const bool keep = std::ranges::find(in_.order->adopt, holder.node) != in_.order->adopt.end();
    const ReplicaReport* report = keep && is_present(holder) ? facts(holder).report : nullptr;
    if (report != nullptr && (!spec_.seals || report->last > Epoch(0))) kept.push_back(&holder);
  }
  const std::size_t needed = spec_.seals ? seals_of(spec_.replicas, spec_.control.acks) : 1;
  if (!kept.empty() && kept.size() < needed && !accepts_loss()) {
    say("{} of {} that are needed can be adopted: the others are waited for, unless the loss is accepted", kept.size(), needed);
    adopt_waits_ = true;
  } else if (!kept.empty()) {
    for (Holder* holder : kept) holder->arrived = true;
    next_.has_data = next_.rebuilt = true;
  } else if (accepts_loss()) {
    for (Holder& holder : next_.holders) tell(holder, dropped, Reason::operator_asked);
  }
  if (next_.has_data || accepts_loss()) next_.version.epoch = next_epoch();
  if (next_.has_data || std::ranges::none_of(next_.holders, [&](const Holder& holder) { return counts(holder); }))
    next_.born.reset();
}

// It has all that the leader of the other one had when it stepped down. A service that does not know of splits opens an empty shard, and says that all is well.
bool ShardStep::has_copied(const Holder& holder) const {
  const auto& split = in_.half.record->split;
  if (!split) return false;
  if (broken(Broken::believe_empty_copies) || broken(Broken::split_before_caught_up)) return true;
  if (!spec_.seals || !split->from) return true;
  const HolderFacts from = in_.half.facts(*split->from);
  return from.report != nullptr && facts(holder).progress >= Progress{from.report->last, from.report->progress};
}

void ShardStep::be_split_off() {
  take_back();
  // What is there now may be more than a copy, which another one would overwrite.
  for (Holder& holder : next_.holders) {
    if (!in_.lost || !counts(holder) || holder.reason != Reason::split) continue;
    holder.reason = Reason::restart;
    holder.version = {};
  }
  reset_failed();
  forget_dropped();
  drop_orphans();
  adopt();
  settle_copies();
  if (next_.has_data) return;  // it was made again from what nodes hold
  const auto& split = in_.half.record->split;
  if (next_.born && (!split || split->at != *next_.born)) call_off_copies();
  if (!next_.born) be_born();
  for (Holder& holder : next_.holders) {
    if (!counts(holder) || holder.arrived || holder.version == Version{}) continue;
    holder.arrived = serves(holder) && has_copied(holder);
    if (!holder.arrived) say("{} copies it", holder.node);
  }
}

// 2. The one that is split.

// With fewer an acknowledged write would have fewer copies afterwards than before.
std::size_t ShardStep::halves_needed() const {
  if (broken(Broken::split_with_too_few)) return 1;
  const std::size_t active = std::min<std::size_t>(spec_.min_active, replicas());
  return std::max({std::size_t{1}, std::size_t{spec_.control.acks}, active});
}

// Who is to copy: those that are well, and have `all`; null: however far they are.
std::vector<NodeId> ShardStep::ready_for_split(const Progress* all) const {
  std::vector<NodeId> ready;
  for (const Holder& holder : next_.holders) {
    const NodeFacts* node = facts(holder).node;
    if (!counts(holder) || !holder.arrived || holder.leaving || !is_placed(holder.node) || is_failed(holder)) continue;
    const bool leads = spec_.lead && holder.told == *spec_.lead && is_in(holder, *spec_.lead);
    const bool rests = spec_.lead ? is_in(holder, spec_.rest) || leads : serves(holder);
    if (!rests || node->stopping || !node->knows_splits || (all != nullptr && facts(holder).progress < *all)) continue;
    // What it was told to drop of the other half it may still have.
    const auto& halves = in_.half.record->holders;
    if (std::ranges::find(halves, holder.node, &Holder::node) == halves.end()) ready.push_back(holder.node);
  }
  return ready;
}

// Whether a split may begin.
bool ShardStep::may_split() {
  if (in_.half.record == nullptr || spec_.deleted || !is_unsplit(spec_, next_) || next_.seal || in_.lost) return false;
  const ShardIndex half = in_.half.record->shard;
  if (!in_.may_move && !broken(Broken::split_in_maintenance)) return say("is not split while nothing moves"), false;
  if (in_.half.orphaned) return say("is not split while nodes hold {}/{} that no record knows", spec_.name, half), false;
  if (in_.half.lost)
    return say("is not split: the store has lost whether {}/{} was split off: `shard lead {}/{} --accept-loss` says that it was "
               "not",
               spec_.name, half, spec_.name, half),
           false;
  if (std::ranges::any_of(in_.half.record->holders, [&](const Holder& holder) { return counts(holder); }))
    return say("is split when what was copied before is dropped"), false;
  // It would not know which keys are not its own any more.
  for (const Holder& holder : next_.holders) {
    const NodeFacts* node = facts(holder).node;
    if (counts(holder) && node != nullptr && node->joined && !node->knows_splits)
      return say("is not split: the software of {} is too old for it", holder.node), false;
  }
  if (timers_.unsplit) {
    const std::uint32_t doubled = std::min(timers_.splits_failed, pauses_doubled_max + 1) - 1;
    const Instant again = *timers_.unsplit + hand_over_pause * (1 << doubled);
    if (in_.now < again) {
      say("was not split: {}; it is tried again later", timers_.unsplit_why);
      return wake_at(again), false;
    }
  }
  return true;
}

// The leader is well, and enough others are near: it stands still from now on.
void ShardStep::split(Holder& leader) {
  if (next_.split) return follow_split();  // only where it does not stand still
  const HolderFacts known = facts(leader);
  const bool well = known.node->may_lead && !known.node->stopping && !known.node->suspect && is_placed(leader.node);
  if (!well || !may_split()) return;
  std::vector<NodeId> near = ready_for_split(nullptr);
  std::erase_if(near, [&](const NodeId& node) {
    const Progress has = in_.facts(node).progress;
    const std::uint64_t lag = known.progress.progress > has.progress ? known.progress.progress - has.progress : 0;
    const bool far = spec_.control.lag_max > 0 && lag > spec_.control.lag_max;  // 0 would be never, while clients write
    return spec_.seals && (has.last != known.progress.last || far);
  });
  if (near.size() < halves_needed())
    return say("is to be split, and {} of {} that are needed are there and near enough", near.size(), halves_needed());
  if (!in_.take_slot(leader.node, Slot::balance)) return say("is split when it is the turn of {} to copy", leader.node);
  next_.split = Split{.from = leader.node, .at = {}, .ready = {}};
  timers_.handing = in_.now;
  if (!broken(Broken::split_without_pause)) tell(leader, spec_.rest, Reason::balance);
}

// All that are to have a copy say that they have it.
bool ShardStep::is_copied() const {
  const ShardRecord& half = *in_.half.record;
  if (half.born != next_.split->at) return false;
  std::size_t copies = 0;
  for (const Holder& holder : half.holders) {
    if (!counts(holder)) continue;
    if (!holder.arrived) return false;
    ++copies;
  }
  return copies >= next_.split->ready.size();
}

// Why it will come to nothing; empty: it may still be done.
std::string ShardStep::why_not_copied() const {
  const ShardRecord& half = *in_.half.record;
  if (half.born != next_.split->at) return in_.may_move ? "" : "nothing is to move";
  for (const Holder& holder : half.holders) {
    if (!counts(holder) || holder.arrived) continue;
    const HolderFacts known = in_.half.facts(holder.node);
    if (known.node == nullptr || !known.node->joined || known.node->data != holder.data)
      return fmt::format("{} is gone", holder.node);
    const bool heard = known.report != nullptr && known.report->version >= holder.version;
    if (heard && !known.report->error.empty()) return fmt::format("{}: {}", holder.node, known.report->error);
    const bool believes = broken(Broken::believe_empty_copies) || broken(Broken::split_before_caught_up);
    const bool serves = heard && spec_.model->serves(known.report->state) && !believes;
    const ReplicaReport* said = spec_.seals && next_.split->from ? in_.facts(*next_.split->from).report : nullptr;
    if (serves && said != nullptr && known.progress < Progress{said->last, said->progress})
      return fmt::format("{} says that it has its copy, and has less than there is", holder.node);
  }
  return "";
}

// Whoever led it leads on, if it may; unless the store was put back to when it stood still, and others have led since.
void ShardStep::end_split() {
  Holder* from = next_.split->from ? find(*next_.split->from) : nullptr;
  const NodeFacts* node = from == nullptr ? nullptr : facts(*from).node;
  const bool well = node != nullptr && heard(*from) != nullptr && node->may_lead && !node->stopping && !node->suspect;
  timers_.handing.reset();
  next_.split.reset();
  const bool past = in_.past && !broken(Broken::go_on_from_the_past);
  if (well && !past) return grant(*from, next_epoch(), Reason::balance);
  if (spec_.lead) return lead();
  for (Holder& holder : next_.holders) {
    if (counts(holder) && next_.shards != was_.shards) holder.version = {};
  }
}

void ShardStep::call_off_split(std::string_view why) {
  timers_.unsplit = in_.now;
  timers_.unsplit_why = why;
  ++timers_.splits_failed;
  end_split();
}

// It stands still, or is served by those who are not led: until all is copied, or it is called off.
void ShardStep::follow_split() {
  Split& split = *next_.split;
  if (!timers_.handing) timers_.handing = in_.now;
  const Holder* from = split.from ? find(*split.from) : nullptr;
  const ReplicaReport* last = from == nullptr ? nullptr : heard(*from);
  if (in_.half.record == nullptr || in_.lost) return call_off_split("it is not known how it stands");
  if (split.from && last == nullptr) return call_off_split(fmt::format("{} is gone", *split.from));
  const Instant end = *timers_.handing + spec_.control.hand_over;
  if (!split.ready.empty()) {
    if (is_copied()) {
      next_.shards = spec_.shards;
      timers_.unsplit.reset();
      timers_.splits_failed = 0;
      return end_split();
    }
    if (const std::string why = why_not_copied(); !why.empty()) return call_off_split(why);
    if (in_.now >= end) return call_off_split("it took too long to copy it");
    say("is being split: waits for copies on {}", fmt::join(split.ready, ", "));
    return wake_at(end);
  }
  const bool asks_all = spec_.seals && !broken(Broken::split_before_caught_up);
  const Progress all = last == nullptr ? Progress{} : Progress{last->last, last->progress};
  std::vector<NodeId> ready = ready_for_split(asks_all ? &all : nullptr);
  // Who is behind is waited for, but not to the end.
  const bool complete = ready.size() == ready_for_split(nullptr).size();
  const Instant half = *timers_.handing + spec_.control.hand_over / 2;
  if (ready.size() >= halves_needed() && (complete || in_.now >= half)) {
    split.ready = std::move(ready);
    return;
  }
  if (in_.now >= end) return call_off_split("too few have all that there is");
  say("is being split: {} have all that there is", ready.size());
  wake_at(in_.now < half ? half : end);
}

void ShardStep::split_unled() {
  if (next_.split) return follow_split();
  if (!may_split()) return;
  std::vector<NodeId> ready = ready_for_split(nullptr);
  if (ready.size() < halves_needed())
    return say("is to be split, and {} of {} that are needed are there", ready.size(), halves_needed());
  if (!in_.take_slot(ready.front(), Slot::balance)) return say("is split when it is the turn of {} to copy", ready.front());
  next_.split = Split{.from = {}, .at = {}, .ready = std::move(ready)};
  timers_.handing = in_.now;
}

}  // namespace evenkeel::control::detail
