#include "evenkeel/control/detail/shard.h"

#include <tuple>

#include "evenkeel/control/detail/shard_step.h"

namespace evenkeel::control::detail {

bool matters(const Orphan& orphan, Epoch begins_above) {
  return !orphan.facts->removed && std::max(orphan.report->version.epoch, orphan.report->last) > begins_above;
}

bool ShardStep::is_lost_disk(const Holder& holder) const {
  const NodeFacts* node = facts(holder).node;
  return node != nullptr && (node->removed || (node->joined && node->data != holder.data)) && !broken(Broken::ignore_data_id);
}

bool ShardStep::is_present(const Holder& holder) const {
  const NodeFacts* node = facts(holder).node;
  if (node == nullptr || !node->joined || is_lost_disk(holder)) return false;
  return node->incarnation == holder.incarnation || broken(Broken::ignore_incarnations);
}

const ReplicaReport* ShardStep::heard(const Holder& holder) const {
  if (!is_present(holder)) return nullptr;
  const ReplicaReport* report = facts(holder).report;
  if (report == nullptr || (report->version < holder.version && !broken(Broken::believe_old_reports))) return nullptr;
  return report;
}

bool ShardStep::is_in(const Holder& holder, const StateId& state) const {
  const ReplicaReport* report = heard(holder);
  return report != nullptr && report->state == state;
}

bool ShardStep::serves(const Holder& holder) const {
  const ReplicaReport* report = heard(holder);
  return report != nullptr && holder.told.str() != state_dropped && spec_.model->serves(report->state);
}

bool ShardStep::is_failed(const Holder& holder) const {
  const ReplicaReport* report = heard(holder);
  return report != nullptr && (report->gave_up || report->state.str() == state_error);
}

bool ShardStep::is_voter(const Holder& holder) const {
  if (!counts(holder)) return false;
  return holder.arrived ||
         std::ranges::none_of(next_.holders, [&](const Holder& other) { return counts(other) && other.arrived; });
}

Holder* ShardStep::find(const NodeId& node) {
  const auto found = std::ranges::find(next_.holders, node, &Holder::node);
  return found == next_.holders.end() ? nullptr : &*found;
}

Holder* ShardStep::leader() {
  if (!spec_.lead) return nullptr;
  const auto found = std::ranges::find(next_.holders, *spec_.lead, &Holder::may_be);
  return found == next_.holders.end() ? nullptr : &*found;
}

void ShardStep::tell(Holder& holder, const StateId& state, Reason reason) {
  if (holder.told == state) return;
  holder.told = state;
  holder.reason = reason;
  holder.version = {};  // finish() gives it the new one
}

// Who was told to leave a bounded state has left it once it says so, or once its session is over. Nothing else is proof.
void ShardStep::clear_proved() {
  for (Holder& holder : next_.holders) {
    if (holder.may_be.str().empty()) continue;
    const NodeFacts* node = facts(holder).node;
    const bool over = node != nullptr && (node->over || (!node->unknown && node->incarnation != holder.incarnation));
    const ReplicaReport* report = heard(holder);
    const bool left = holder.told != holder.may_be && report != nullptr && report->state != holder.may_be;
    if (over || left || broken(Broken::lead_without_proof)) {
      if (over && holder.told == holder.may_be) tell(holder, spec_.rest, Reason::failover);
      holder.may_be = {};
    }
  }
}

// Who is back under a new incarnation is told anew. What it holds is on its disk, if it is the same disk.
void ShardStep::take_back() {
  for (Holder& holder : next_.holders) {
    const HolderFacts known = facts(holder);
    if (known.node == nullptr || !known.node->joined || known.node->incarnation == holder.incarnation) continue;
    if (broken(Broken::ignore_incarnations)) continue;
    if (is_lost_disk(holder)) continue;  // members: it goes, and may come again as a new one
    holder.incarnation = known.node->incarnation;
    holder.version = {};
    // It has not said what it had when it stepped down; and where epochs fence it may lead on until it is sealed, whatever it says it has.
    if (next_.hand_over && next_.hand_over->from == holder.node && !broken(Broken::go_on_from_the_past)) next_.hand_over.reset();
    if (known.report != nullptr) holder.held_before = known.report->version.epoch;
    if (counts(holder)) {
      // What it has it opens when it is its turn, unless it is to lead: that is decided below.
      const bool opens = holder.arrived || holder.reason == Reason::first;
      holder.told = in_.limits_openings && opens && has_closed_state() ? spec_.model->initial() : spec_.rest;
      if (holder.arrived) holder.reason = Reason::restart;
    }
  }
}

// The store was put back to an older state, and nobody leads: who says that it has nothing, although it had come, was told to drop it in what is lost.
// It has to come anew.
void ShardStep::doubt_losses() {
  if (!in_.lost || !spec_.seals || broken(Broken::begin_over_loss)) return;
  for (Holder& holder : next_.holders) {
    if (holder.may_be == *spec_.lead) return;
  }
  for (Holder& holder : next_.holders) {
    const ReplicaReport* report = is_present(holder) ? facts(holder).report : nullptr;
    if (report != nullptr && report->sealed && std::max(report->sealed->last, report->last) == Epoch(0)) holder.arrived = false;
  }
}

// Who is held back opens when there is room, for the reason for which it is there. One that goes has nothing to open.
bool ShardStep::waits_to_open(Holder& holder) {
  if (!is_held_back(holder)) return false;
  if (!is_present(holder) || holder.leaving || spec_.deleted) return true;
  if (in_.limits_openings && !in_.take_slot(holder.node, Slot::opening)) {
    say("{} waits for its turn to open", holder.node);
    return true;
  }
  holder.told = spec_.rest;
  holder.version = {};
  return false;
}

// Everybody who counts and does not lead is at rest.
void ShardStep::set_states() {
  for (Holder& holder : next_.holders) {
    if (!counts(holder)) continue;
    const bool arrives =
        !holder.arrived && holder.version != Version{} && serves(holder);  // not by what it said before it was told
    if (arrives) holder.arrived = true;
    if (arrives && !spec_.lead) next_.has_data = true;  // where somebody leads, that begins with the first leader
    if (!spec_.lead || holder.may_be != *spec_.lead) {
      const bool bounded = std::ranges::any_of(spec_.model->states(), [&](const State& state) {
        return state.name == holder.told && state.count.kind == StateCount::Kind::number;
      });
      if (!bounded && !waits_to_open(holder)) tell(holder, spec_.rest, Reason::move);
    }
  }
}

void ShardStep::show() {
  view_.shard = next_.shard;
  for (const Holder& holder : next_.holders) {
    const ReplicaReport* obeyed = heard(holder);
    const bool leads = spec_.lead && holder.told == *spec_.lead;
    const bool is_leading =
        leads && obeyed != nullptr && obeyed->state == *spec_.lead && obeyed->version.epoch == next_.version.epoch;
    if (leads) (is_leading ? view_.leader : view_.next) = holder.node;
    // Who has come serves on while it takes up what it was told last.
    const ReplicaReport* report = holder.arrived && is_present(holder) ? facts(holder).report : obeyed;
    if (is_leading || report == nullptr || !counts(holder) || holder.leaving || facts(holder).node->stopping) continue;
    if (!spec_.model->serves(report->state)) continue;
    // Who has not stepped down yet, or is to lead again, is no leader of this epoch.
    const bool stale = spec_.lead && report->state == *spec_.lead;
    view_.others.push_back({holder.node, stale ? spec_.rest : report->state});
  }
}

// What changed gets the next change number, and whoever was told something new gets it with its entry.
void ShardStep::finish() {
  const auto is_new = [](const Holder& holder) { return holder.version == Version{}; };
  const auto peers_of = [](const ShardRecord& record) {
    std::vector<std::tuple<NodeId, StateId, bool, bool>> peers;
    for (const Holder& holder : record.holders) peers.emplace_back(holder.node, holder.told, holder.leaving, holder.arrived);
    return peers;
  };
  show();
  view_.version = in_.view.version;
  if (is_hidden_) view_ = in_.view;
  const bool told = std::ranges::any_of(next_.holders, is_new) || next_.seal != was_.seal ||
                    next_.version.epoch != was_.version.epoch || next_.shards != was_.shards || peers_of(next_) != peers_of(was_);
  if (!told && next_ == was_ && view_ == in_.view) return;
  next_.version.change = next_.version.epoch == was_.version.epoch ? was_.version.change.next() : Change(0);
  if (!is_hidden_) view_.version = next_.version;
  if (next_.split && next_.split->at == Version{}) next_.split->at = next_.version;
  if (!told) return;
  next_.told = next_.version;
  for (Holder& holder : next_.holders) {
    if (is_new(holder)) holder.version = next_.version;
  }
}

// An operator's order: what was given up is told anew, at a new version, and so tried again.
void ShardStep::reset_failed() {
  if (in_.order == nullptr) return;
  for (const NodeId& node : in_.order->reset) {
    Holder* holder = find(node);
    if (holder == nullptr || !is_failed(*holder)) continue;
    holder->version = {};
    holder->reason = Reason::operator_asked;
  }
}

bool ShardStep::is_order_done() const {
  if (in_.order == nullptr || adopt_waits_ || drop_waits_) return false;
  if (in_.order->lead && !lead_done_) return false;
  return !in_.order->accept_loss || loss_accepted_;
}

ShardOutput ShardStep::decide() {
  is_unborn_ = in_.half.record != nullptr && is_unborn(spec_, was_, *in_.half.record);
  is_hidden_ = is_unborn_ && !broken(Broken::show_half_copied);
  if (!in_.may_change_leaders) {  // frozen: nobody is told anything, and clients see what is
    say("frozen");
    finish();
    return {std::move(next_), std::move(view_), std::move(why_), false, wake_};
  }
  if (is_unborn_ && !spec_.deleted && !broken(Broken::begin_unsplit)) {
    be_split_off();
    finish();
    return {std::move(next_), std::move(view_), std::move(why_), is_order_done(), wake_};
  }
  if (in_.placement != nullptr) next_.placement = *in_.placement;
  take_for_half();
  clear_proved();
  take_back();
  doubt_losses();
  reset_failed();
  lead();
  change_members();
  set_states();
  finish();
  return {std::move(next_), std::move(view_), std::move(why_), is_order_done(), wake_};
}

ShardOutput decide(const ShardInput& input, ShardTimers& timers) {
  ShardStep step(input, timers);
  return step.decide();
}

// A peer that has not come yet is in no state that counts.
ReplicaTarget target_of(const Spec& spec, const ShardRecord& record, const Holder& holder) {
  ReplicaTarget target{.shard = record.shard,
                       .state = holder.told,
                       .version = record.told,
                       .reason = holder.reason,
                       .held_before = holder.held_before,
                       .copy_from = holder.copy_from,
                       .seal = record.seal};
  const bool is_copied = record.born && holder.reason == Reason::split && holder.told == spec.rest;
  if (is_copied && spec.split_from > 0 && record.shard.value() >= spec.split_from)
    target.parent = ShardIndex(record.shard.value() - spec.split_from);
  // If it says another number there are more since, without a split, and keys are elsewhere.
  if (record.shards == spec.shards || record.shards == spec.split_from) target.shards = record.shards;
  for (const Holder& peer : record.holders) {
    if (peer.node == holder.node || peer.told.str() == state_dropped || peer.leaving) continue;
    target.peers.push_back({peer.node, peer.arrived ? peer.told : spec.model->initial()});
  }
  return target;
}

}  // namespace evenkeel::control::detail
