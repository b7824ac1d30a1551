// Members: who comes and who goes. New ones come first, and old ones go when they are not missed.
//
// Who has come counts as a voter from when the record says so, before the leader can know, and until the leader is known to count without it and
// others have what it had: so a seal that reaches voters - acks + 1 of them has reached one that knows of every write that was acknowledged,
// whatever list the leader went by.

#include "evenkeel/control/detail/shard_step.h"

namespace evenkeel::control::detail {

// Nobody leads it, nor may still believe that, and those at rest hold nothing: whoever comes or goes, nothing is lost.
bool ShardStep::is_unled_and_empty() const {
  return spec_.lead && !spec_.seals &&
         std::ranges::none_of(next_.holders, [&](const Holder& holder) { return holder.may_be == *spec_.lead; });
}

// Not under an open seal, nor while nobody leads a shard that has data.
bool ShardStep::may_change_members() const {
  if (broken(Broken::change_under_seal) || spec_.deleted) return true;
  if (next_.seal || next_.hand_over || next_.split) return false;
  if (!spec_.lead || !next_.has_data || is_unled_and_empty()) return true;
  return std::ranges::any_of(next_.holders, [&](const Holder& holder) {
    // Not one that is told just now, whatever it reported before.
    const bool told = holder.told == *spec_.lead && holder.version != Version{};
    return told && is_in(holder, *spec_.lead);
  });
}

// Everybody of the placement is there and serves.
bool ShardStep::is_settled() const {
  return std::ranges::all_of(next_.placement, [&](const NodeId& node) {
    const auto found = std::ranges::find(next_.holders, node, &Holder::node);
    return found != next_.holders.end() && !found->leaving && serves(*found);
  });
}

std::uint32_t ShardStep::serving_without(const Holder& holder) const {
  // Who may stop at any moment does not count.
  return static_cast<std::uint32_t>(std::ranges::count_if(next_.holders, [&](const Holder& other) {
    return other.node != holder.node && !other.leaving && serves(other) && !facts(other).node->stopping;
  }));
}

// Those in error and those on lost nodes that should not hold it use none.
bool ShardStep::uses_slot(const Holder& holder) const {
  return counts(holder) && !is_failed(holder) && (is_placed(holder.node) || is_present(holder));
}

// It has no data yet, so that they may all come at once. Where openings are limited it begins when one of them may open, in a shard that is to be led
// the first: if another one opened before it, leadership would move. The others are there from then on, should that one fail, and open in their turn.
void ShardStep::add_first() {
  const bool in_turn = in_.limits_openings && has_closed_state();
  bool begun = std::ranges::any_of(next_.holders, [&](const Holder& holder) { return counts(holder); });
  for (const NodeId& node : next_.placement) {
    const NodeFacts* known = in_.facts(node).node;
    if (find(node) != nullptr || known == nullptr || !known->joined) continue;
    if (in_turn && !begun && !in_.take_slot(node, Slot::opening)) {
      say("{} waits for its turn to open", node);
      if (spec_.lead) return;
      continue;
    }
    next_.holders.push_back({.node = node,
                             .data = known->data,
                             .incarnation = known->incarnation,
                             .told = in_turn && begun ? spec_.model->initial() : spec_.rest,
                             .reason = Reason::first});
    begun = true;
  }
}

void ShardStep::add() {
  const auto serving =
      static_cast<std::uint32_t>(std::ranges::count_if(next_.holders, [&](const Holder& holder) { return serves(holder); }));
  const Slot slot = serving < replicas() ? Slot::recovery : Slot::balance;
  auto used =
      static_cast<std::size_t>(std::ranges::count_if(next_.holders, [&](const Holder& holder) { return uses_slot(holder); }));
  for (const NodeId& node : next_.placement) {
    const HolderFacts known = in_.facts(node);
    if (find(node) != nullptr || known.node == nullptr || !known.node->joined || known.node->stopping) continue;
    if (used >= replicas() + spec_.extra && !broken(Broken::too_many_extra)) {
      std::vector<std::string> held;
      for (const Holder& holder : next_.holders) {
        if (uses_slot(holder)) held.push_back(holder.node.str());
      }
      return say("{} waits: it has {} replicas already, on {}", node, used, fmt::join(held, ", "));
    }
    if (!in_.take_slot(node, slot)) {
      say("{} waits for its turn to copy", node);
      continue;
    }
    Holder holder{.node = node,
                  .data = known.node->data,
                  .incarnation = known.node->incarnation,
                  .told = spec_.rest,
                  .reason = slot == Slot::recovery ? Reason::move : Reason::balance};
    if (known.report != nullptr) holder.held_before = known.report->version.epoch;
    for (const Holder& other : next_.holders) {
      if (spec_.lead ? other.told == *spec_.lead : serves(other)) holder.copy_from = other.node;
    }
    next_.holders.push_back(std::move(holder));
    ++used;
  }
}

// Whether the shard can do without it.
bool ShardStep::is_unmissed(const Holder& holder) const {
  if (is_lost_disk(holder) || spec_.deleted || broken(Broken::break_before_make)) return true;
  if (!holder.arrived && (!is_present(holder) || !is_placed(holder.node))) return true;  // it came to nothing
  const std::uint32_t others = serving_without(holder);
  return others >= replicas() || (is_settled() && (others >= spec_.min_active || broken(Broken::ignore_min_active)));
}

// One at a time is told off, so that the others go on without it; and is taken back if it is wanted again.
void ShardStep::leave() {
  for (Holder& holder : next_.holders) {
    if (!counts(holder) || !holder.leaving) continue;
    const bool wanted = is_placed(holder.node) && !is_lost_disk(holder);
    if (!wanted && is_unmissed(holder)) return;
    holder.leaving = false;
    timers_.leaving.reset();
  }
  for (Holder& holder : next_.holders) {
    if (!counts(holder) || !holder.may_be.str().empty() || (is_placed(holder.node) && !is_lost_disk(holder))) continue;
    if (!is_unmissed(holder)) {
      say("{} stays until the others serve", holder.node);
      continue;
    }
    holder.leaving = true;
    holder.version = {};
    timers_.leaving.reset();
    return;
  }
}

// Whether the leader counts without it, and so many others have all that was acknowledged with its help that a seal without it is as good as one
// with it.
bool ShardStep::is_done_without(const Holder& leaver) {
  if (!spec_.lead || !next_.has_data || spec_.deleted || is_unled_and_empty() || broken(Broken::forget_voters_at_once))
    return true;
  const auto leads = std::ranges::find(next_.holders, *spec_.lead, &Holder::told);
  const ReplicaReport* report = leads == next_.holders.end() ? nullptr : heard(*leads);
  if (report == nullptr || report->state != *spec_.lead || report->version < leaver.version) {
    say("{} stays until the leader knows that it goes", leaver.node);
    return false;
  }
  if (!spec_.seals || spec_.control.acks == 0 || !leaver.arrived) return true;
  std::size_t voters = 0;
  std::vector<std::string> behind;
  for (const Holder& other : next_.holders) {
    if (other.node == leaver.node || !is_voter(other)) continue;
    ++voters;
    if (is_lost_disk(other)) continue;  // it will never seal anything
    if (!is_present(other) || facts(other).progress < Progress{report->last, report->progress})
      behind.push_back(other.node.str());
  }
  // As many as a seal may miss may be behind.
  if (behind.size() < seals_of(voters, spec_.control.acks)) return true;
  say("{} stays until {} have all that {} has", leaver.node, fmt::join(behind, ", "), leads->node);
  return false;
}

// Who was told off is dropped when it is not needed for anything, and clients have had time to notice.
void ShardStep::drop() {
  for (Holder& holder : next_.holders) {
    if (!counts(holder) || !holder.leaving || holder.version == Version{}) continue;
    // It has left the view with the record that is committed now, not when that was decided; and it serves on, also while it has not read that.
    if (!timers_.leaving) timers_.leaving = in_.now;
    const ReplicaReport* report = is_present(holder) ? facts(holder).report : nullptr;
    const bool lingers = report != nullptr && spec_.model->serves(report->state) && !broken(Broken::no_linger);
    const Instant end = *timers_.leaving + (lingers ? spec_.control.linger : Duration{});
    if (!is_done_without(holder)) continue;
    if (in_.now < end) {
      wake_at(end);
    } else {
      tell(holder, StateId(std::string(state_dropped)), Reason::move);
      timers_.leaving.reset();
    }
  }
}

void ShardStep::forget_dropped() {
  std::erase_if(next_.holders, [&](const Holder& holder) {
    if (counts(holder)) return false;
    if (broken(Broken::forget_dropped_at_once)) return true;
    const NodeFacts* node = facts(holder).node;
    if (node != nullptr && node->removed) return true;
    if (is_lost_disk(holder)) return true;  // its data went with the disk
    if (!is_present(holder)) say("{} is to drop it, and is not there", holder.node);
    return is_in(holder, StateId(std::string(state_dropped)));
  });
}

// What nobody knew of becomes a replica, as it is.
Holder ShardStep::holder_of(const Orphan& orphan, const StateId& told) const {
  return {.node = orphan.node,
          .data = orphan.facts->data,
          .incarnation = orphan.facts->incarnation,
          .told = told,
          .reason = Reason::operator_asked,
          .held_before = orphan.report->version.epoch};
}

// A shard without a record is made again from what nodes hold. It goes on above every epoch that anybody has named, and the best of those
// that are adopted leads, by a seal.
void ShardStep::rebuild(const std::vector<const Orphan*>& found) {
  const auto is_bounded = [&](const StateId& state) {
    const auto rank = spec_.model->rank(state);
    return rank && spec_.model->states()[*rank].count.kind == StateCount::Kind::number;
  };
  for (const Orphan& orphan : in_.orphans) {
    if (std::ranges::find(found, &orphan) != found.end() || !orphan.present || !is_bounded(orphan.report->state)) continue;
    say("{} acts in it, and is not among those to be adopted", orphan.node);
    adopt_waits_ = true;
    return;
  }
  // Where epochs fence, whoever leads has been sealed against all who led before it: one that says so of an older epoch was followed, and does not know it.
  Epoch fenced;
  for (const Orphan* orphan : found) {
    if (spec_.seals && spec_.control.fencing == Fencing::epoch && orphan->report->state == *spec_.lead)
      fenced = std::max(fenced, orphan->report->version.epoch);
  }
  next_.version.epoch = std::max(in_.highest, next_.version.epoch).next();
  next_.has_data = next_.rebuilt = true;
  if (is_unborn_) next_.shards = spec_.shards;
  next_.placement.clear();
  for (const Orphan* orphan : found) {
    Holder holder = holder_of(*orphan, spec_.rest);
    holder.arrived = true;
    const bool was_followed = orphan->report->state == spec_.lead && orphan->report->version.epoch < fenced;
    if (is_bounded(orphan->report->state) && !was_followed) holder.may_be = orphan->report->state;
    next_.placement.push_back(holder.node);
    next_.holders.push_back(std::move(holder));
  }
}

// Nothing of it is written down. Of one that is to be split off there is nothing, whatever nodes hold, as long as the record of the other one is believed.
bool ShardStep::is_unknown() const {
  if (next_.has_data) return false;
  if (!is_unborn_) return next_.version.epoch == Epoch(0);
  if (in_.half.record->has_data && !in_.lost && !in_.half.lost) return false;
  return std::ranges::none_of(next_.holders, [&](const Holder& holder) { return counts(holder); });
}

void ShardStep::adopt() {
  if (in_.order == nullptr || in_.order->adopt.empty()) return;
  std::vector<const Orphan*> found;
  for (const NodeId& node : in_.order->adopt) {
    const auto orphan = std::ranges::find(in_.orphans, node, &Orphan::node);
    if (orphan == in_.orphans.end()) continue;
    if (orphan->present && !orphan->facts->stopping) {
      found.push_back(&*orphan);
    } else {
      say("{} is to be adopted, and {}", node, orphan->present ? "has leave to be gone" : "is not there");
      adopt_waits_ = true;
    }
  }
  if (found.empty() || adopt_waits_) return;
  if (is_unknown()) {
    // What they have was acknowledged only if so many of them have it that it is known to one of these.
    const std::size_t needed = spec_.seals ? seals_of(spec_.replicas, spec_.control.acks) : 1;
    if (found.size() >= needed || accepts_loss() || broken(Broken::too_few_seals)) return rebuild(found);
    say("{} of {} that are needed can be adopted: the others are waited for, unless the loss is accepted", found.size(), needed);
    adopt_waits_ = true;
    return;
  }
  // It has its records, and so its own idea of what is in it: an orphan comes like any new replica, when those may come, if one is missing. Only where
  // those records are of the past and nobody leads, it is one of those that have come.
  for (const Orphan* orphan : found) {
    if (in_.lost && spec_.seals && next_.seal && orphan->report->last > Epoch(0)) {
      next_.holders.push_back(holder_of(*orphan, spec_.rest));
      next_.holders.back().arrived = true;
      if (!is_placed(orphan->node)) next_.placement.push_back(orphan->node);
      continue;
    }
    if (is_unborn_) {
      say("{} is not adopted: what it holds was copied in a split that came to nothing", orphan->node);
      continue;
    }
    if (is_placed(orphan->node)) continue;
    if (next_.placement.size() < spec_.replicas) {
      next_.placement.push_back(orphan->node);
    } else {
      say("{} is not adopted: the shard has its replicas", orphan->node);
    }
  }
}

void ShardStep::drop_orphans() {
  if (in_.order == nullptr && !broken(Broken::drop_on_absence)) return;
  const StateId dropped{std::string(state_dropped)};
  for (const Orphan& orphan : in_.orphans) {
    if (broken(Broken::drop_on_absence) && orphan.present) next_.holders.push_back(holder_of(orphan, dropped));
  }
  if (in_.order == nullptr) return;
  for (const NodeId& node : in_.order->drop) {
    const auto orphan = std::ranges::find(in_.orphans, node, &Orphan::node);
    if (orphan == in_.orphans.end() || find(node) != nullptr) continue;
    if (orphan->present) {
      next_.holders.push_back(holder_of(*orphan, dropped));
    } else {
      say("{} is to drop what it holds, and is not there", node);
      drop_waits_ = true;
    }
  }
}

// Nobody has a record of it, but somebody holds data: it does not begin anew behind that one's back.
bool ShardStep::waits_for_adoption() {
  if (next_.has_data || next_.version.epoch > Epoch(0) || broken(Broken::begin_over_orphans)) return false;
  std::vector<std::string> held;
  for (const Orphan& orphan : in_.orphans) {
    const bool dropped = find(orphan.node) != nullptr;  // it is being dropped
    if (!dropped && matters(orphan, in_.begins_above)) held.push_back(orphan.node.str());
  }
  const bool lost = in_.lost && spec_.seals && next_.holders.empty() && !broken(Broken::begin_over_loss);
  if (held.empty() && lost && !accepts_loss()) {
    say("the store has lost its record: `cluster adopt` when those that hold it are back, or `shard lead --accept-loss` begins "
        "it anew");
    return true;
  }
  if (held.empty()) return false;
  say("{} hold it, and no record knows: `cluster adopt` or drop it there", fmt::join(held, ", "));
  return true;
}

void ShardStep::change_members() {
  forget_dropped();
  // All that there was goes by order: should the workload be wanted again, it begins anew.
  if (spec_.deleted && std::ranges::none_of(next_.holders, [&](const Holder& holder) { return counts(holder); }))
    next_.has_data = false;
  drop_orphans();
  adopt();
  if (!may_change_members()) return;
  if (!in_.may_move) return;
  if (spec_.deleted) {
    next_.placement.clear();
  } else if (waits_for_adoption()) {
    return;
  } else if (!next_.has_data || next_.holders.empty()) {
    next_.has_data = false;  // whatever there was, nobody holds it
    add_first();
    if (in_.lost && accepts_loss() && !next_.holders.empty()) loss_accepted_ = true;
  } else {
    add();
  }
  leave();
  drop();
}

}  // namespace evenkeel::control::detail
