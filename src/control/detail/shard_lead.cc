// Leadership: old leader out, by proof; those who hold data sealed; then the best of them leads, at a higher epoch than anybody has named.

#include "evenkeel/control/detail/shard_step.h"

namespace evenkeel::control::detail {
Epoch ShardStep::next_epoch() const {
  const Epoch named = broken(Broken::forget_named_epochs) ? Epoch(0) : in_.highest;
  return std::max({next_.version.epoch, named, next_.seal.value_or(Epoch(0))}).next();
}

void ShardStep::grant(Holder& to, Epoch epoch, Reason reason) {
  next_.version.epoch = broken(Broken::reuse_epoch) ? std::max(was_.version.epoch, Epoch(1)) : epoch;
  next_.seal.reset();
  next_.hand_over.reset();
  next_.split.reset();
  next_.has_data = true;
  next_.rebuilt = in_.lost;  // until enough have what it has
  timers_.sealing.reset();
  timers_.handing.reset();
  for (Holder& holder : next_.holders) {
    if (!counts(holder)) continue;
    if (holder.node == to.node) {
      holder.told = *spec_.lead;
      holder.may_be = *spec_.lead;
      holder.arrived = true;  // from now on it has what there is
      holder.leaving = false;
      holder.copy_from.reset();
    } else {
      if (!is_held_back(holder)) holder.told = spec_.rest;
      holder.copy_from = to.node;
    }
    if (holder.arrived) holder.reason = reason;  // another one comes for the reason for which it was added
    holder.version = {};
  }
}

// Whether it can take over in a planned way: it is well, and near enough to what the leader has.
bool ShardStep::may_follow_up(const Holder& holder) const {
  const NodeFacts* node = facts(holder).node;
  return counts(holder) && !holder.leaving && holder.arrived && is_in(holder, spec_.rest) && node->may_lead && node->steady &&
         !node->suspect && !node->stopping;
}

// The first of the placement that can lead.
Holder* ShardStep::preferred() const {
  auto& holders = const_cast<std::vector<Holder>&>(next_.holders);
  for (const NodeId& node : next_.placement) {
    const auto found = std::ranges::find(holders, node, &Holder::node);
    if (found == holders.end()) continue;
    const NodeFacts* known = facts(*found).node;
    const bool leads = found->may_be == *spec_.lead && known != nullptr && known->may_lead && !known->stopping;
    if (leads || may_follow_up(*found)) return &*found;
  }
  return nullptr;
}

// Whom an operator has asked to lead is the preferred one from now on, or it would be handed back at once.
void ShardStep::prefer(const NodeId& node) {
  const auto at = std::ranges::find(next_.placement, node);
  if (at != next_.placement.end()) std::rotate(next_.placement.begin(), at, std::next(at));
}

void ShardStep::begin_hand_over(Holder& from, Holder& to, Reason reason) {
  next_.hand_over = HandOver{from.node, to.node};
  timers_.handing = in_.now;
  tell(from, spec_.rest, reason);
}

// Leadership moves once: if the first of the placement is on its way, or waited for, whoever leads well leads until it has come.
bool ShardStep::waits_for_preferred(const Holder& leader, const Holder& wanted) const {
  const NodeFacts* leads = facts(leader).node;
  if (!leads->may_lead || leads->stopping || leads->suspect || wanted.node == next_.placement.front()) return false;
  const NodeFacts* first = in_.facts(next_.placement.front()).node;
  const auto holder = std::ranges::find(next_.holders, next_.placement.front(), &Holder::node);
  const bool failed = holder != next_.holders.end() && is_failed(*holder);
  if (first == nullptr || failed) return false;
  return first->expected_back || (first->joined && first->may_lead && !first->suspect && !first->stopping);
}

// As many as acknowledge a write have all that the leader had when it said that it leads: whoever is sealed next, one of these is among them.
bool ShardStep::is_level(const Holder& leader) const {
  const ReplicaReport* report = heard(leader);
  const auto has_all = [&](const Holder& holder) {
    return counts(holder) && holder.arrived && is_present(holder) &&
           facts(holder).progress >= Progress{report->last, report->progress};
  };
  return static_cast<std::uint32_t>(std::ranges::count_if(next_.holders, has_all)) >= spec_.control.acks;
}

// Where epochs fence, nobody waits for the end of its session.
void ShardStep::seal_if_suspect(const Holder& leader) {
  const NodeFacts* node = facts(leader).node;
  const bool suspect = node != nullptr && node->suspect;
  if (!suspect) timers_.suspect.reset();
  if (!suspect || spec_.control.fencing != Fencing::epoch || next_.seal || timers_.suspect == next_.version.epoch) return;
  next_.seal = next_epoch();
  next_.hand_over.reset();
  timers_.sealing = in_.now;
}

// Somebody leads, and has not been told otherwise.
void ShardStep::lead_on(Holder& leader) {
  seal_if_suspect(leader);
  if (next_.seal) return seal_and_lead();
  if (!is_in(leader, *spec_.lead)) {
    if (is_failed(leader)) tell(leader, spec_.rest, Reason::failover);
    return;
  }
  if (accepts_loss()) loss_accepted_ = true;  // there is nothing to accept
  if (next_.rebuilt && is_level(leader)) next_.rebuilt = false;
  hand_over(leader);
  if (!next_.hand_over) split(leader);
}

// To whom the operator asks for, or to the preferred one.
void ShardStep::hand_over(Holder& leader) {
  const HolderFacts known = facts(leader);
  const std::optional<NodeId> ordered = ordered_leader();
  Holder* wanted = ordered ? find(*ordered) : nullptr;
  if (wanted == &leader) {
    lead_done_ = true;
    prefer(leader.node);
  }
  if (ordered && wanted == nullptr) {
    say("{} was to lead, and does not hold it", *ordered);
    lead_done_ = true;
  }
  const bool asked = wanted != nullptr && wanted != &leader && may_follow_up(*wanted);
  if (!asked) wanted = preferred();
  if (wanted == nullptr || wanted == &leader) return;
  if (!asked && waits_for_preferred(leader, *wanted)) return;
  const bool must = !known.node->may_lead || known.node->stopping || !is_placed(leader.node) || asked;
  if (!must && !in_.may_move) return;
  if (const auto& failed = must ? timers_.timed_out : timers_.given_up; failed && in_.now < *failed + hand_over_pause) {
    say("{} is to lead, and is tried again later", wanted->node);
    return wake_at(*failed + hand_over_pause);
  }
  const Progress ahead = known.progress, behind = facts(*wanted).progress;
  const bool follows = ahead.last == behind.last;
  const std::uint64_t lag = ahead.progress > behind.progress ? ahead.progress - behind.progress : 0;
  if (spec_.seals && (!follows || lag > spec_.control.lag_max) && !broken(Broken::ignore_lag)) {
    if (follows) {
      say("{} is to lead, and is {} behind {}", wanted->node, lag, leader.node);
    } else {
      say("{} is to lead, and does not follow {} yet", wanted->node, leader.node);
    }
    return;
  }
  begin_hand_over(leader, *wanted, asked ? Reason::operator_asked : must ? Reason::move : Reason::balance);
}

// The old one has stepped down: as soon as the new one has all that it had, it leads. If that takes too long the old one leads on.
void ShardStep::follow_hand_over() {
  Holder* from = find(next_.hand_over->from);
  Holder* to = find(next_.hand_over->to);
  if (!timers_.handing) timers_.handing = in_.now;
  const ReplicaReport* last = from == nullptr ? nullptr : heard(*from);
  // It is lost, and with it what it had more than others: as after any loss. Or the store was put back to when it began, and others have led since.
  if (last == nullptr || (in_.past && !broken(Broken::go_on_from_the_past))) {
    next_.hand_over.reset();
    return spec_.seals ? seal_and_lead() : lead_first();
  }
  const bool well = to != nullptr && may_follow_up(*to);
  const bool has_all = well && (!spec_.seals || facts(*to).progress >= Progress{last->last, last->progress} ||
                                broken(Broken::lead_before_caught_up));
  if (has_all) {
    if (ordered_leader() == to->node) {
      lead_done_ = true;
      prefer(to->node);
    }
    return grant(*to, next_epoch(), from->reason);
  }
  const Instant end = *timers_.handing + spec_.control.hand_over;
  if (well && (in_.now < end || broken(Broken::never_give_back))) {
    say("{} is to lead, and waits for what {} had", to->node, from->node);
    return wake_at(end);
  }
  timers_.given_up = in_.now;
  if (well) timers_.timed_out = in_.now;
  grant(*from, next_epoch(), from->reason);
}

bool ShardStep::is_sealed(const Holder& holder) const {
  if (!is_present(holder)) return false;
  const ReplicaReport* report = facts(holder).report;
  return report != nullptr && report->sealed && report->sealed->against >= *next_.seal;
}

// So many that no write that was acknowledged by `acks` copies is unknown to all of them.
std::size_t ShardStep::seals_needed() const {
  if (accepts_loss() || broken(Broken::too_few_seals)) return 1;
  const auto voters =
      static_cast<std::size_t>(std::ranges::count_if(next_.holders, [&](const Holder& holder) { return is_voter(holder); }));
  // There were as many as there should be, whoever of them is known; and also who was still on its way may have come since.
  if (in_.lost) {
    const auto held =
        static_cast<std::size_t>(std::ranges::count_if(next_.holders, [&](const Holder& holder) { return counts(holder); }));
    return std::min(held, seals_of(std::max<std::size_t>(voters, spec_.replicas), spec_.control.acks));
  }
  return seals_of(voters, spec_.control.acks);
}

// acks 0: all that are there are asked. Those that are gone are waited for a moment if they are more, as when a cluster starts: for one that has
// just died a wait would only keep the shard without a leader.
bool ShardStep::seal_is_patient() const {
  if (spec_.control.acks > 0 || accepts_loss() || broken(Broken::no_seal_wait)) return true;
  const Instant end = *timers_.sealing + spec_.control.seal_wait;
  if (in_.now >= end) return true;
  std::size_t sealed = 0, gone = 0;
  for (const Holder& holder : next_.holders) {
    const NodeFacts* node = facts(holder).node;
    if (!counts(holder) || !holder.arrived || node == nullptr || is_lost_disk(holder)) continue;
    if (is_sealed(holder)) {
      ++sealed;
    } else if (node->joined) {
      return false;
    } else if (node->expected_back) {
      ++gone;
    }
  }
  return sealed >= gone;
}

// Every disk that held it is gone. If somebody says so be it, it begins anew, and its epochs go on.
bool ShardStep::begins_anew() {
  const bool all_lost =
      std::ranges::all_of(next_.holders, [&](const Holder& holder) { return !counts(holder) || is_lost_disk(holder); });
  if (!all_lost) return false;
  if (!accepts_loss()) {
    say("every disk that held it is gone: `shard lead --accept-loss` begins it anew");
    return false;
  }
  next_.holders.clear();
  next_.has_data = false;
  next_.seal.reset();
  loss_accepted_ = true;
  return true;
}

// One that is still on its way has not all that there was before it: its seal says nothing about that.
ShardStep::Seals ShardStep::count_seals() {
  Seals seals;
  for (Holder& holder : next_.holders) {
    if (!counts(holder) || (!is_voter(holder) && !accepts_loss())) continue;
    const bool skips = broken(Broken::skip_seal) && is_present(holder) && facts(holder).report != nullptr;
    if (!is_sealed(holder) && !skips) {
      // A disk that is gone holds nothing.
      if (!is_lost_disk(holder) || spec_.control.acks > 0) seals.awaited.push_back(holder.node.str());
      continue;
    }
    // Who cannot lead does not count: what only it and a lost one have would be lost. A former leader that is suspect may, if nobody has as much.
    if (is_failed(holder) && spec_.control.acks > 0 && !accepts_loss()) {
      seals.awaited.push_back(holder.node.str());
      continue;
    }
    ++seals.sealed;
    const auto& report = *facts(holder).report;
    const bool has_data =
        (report.sealed && report.sealed->last > Epoch(0)) || skips || broken(Broken::empty_may_lead) || accepts_loss();
    if (has_data && !is_failed(holder)) seals.able.push_back(&holder);
  }
  return seals;
}

// Who has the most; among equals, who should lead.
Holder& ShardStep::best_of(const std::vector<Holder*>& able) const {
  const auto place_of = [&](const Holder& holder) {
    return std::ranges::find(next_.placement, holder.node) - next_.placement.begin();
  };
  const auto rank = [&](const Holder* holder) {
    const auto& seal = facts(*holder).report->sealed;
    const NodeFacts* node = facts(*holder).node;
    if (broken(Broken::any_may_lead)) return std::tuple(Epoch(0), std::uint64_t{0}, true, true, -place_of(*holder));
    return std::tuple(seal ? seal->last : Epoch(0), seal ? seal->progress : 0,
                      node->may_lead && !node->stopping && !node->suspect, node->steady, -place_of(*holder));
  };
  return **std::ranges::max_element(able, {}, rank);
}

// A suspect that still reaches the store is sealed like everybody, and may be a write ahead that nobody was promised. If enough others are sealed,
// one of them knows all that was, and the suspect is not needed; who of them is well and still to be sealed is waited for a moment. False: so it is.
// Where the record may be of an older history, nobody knows who they are that it was acknowledged to: then who has the most is all that is left.
bool ShardStep::leaves_out_suspects(Seals& seals) {
  const auto is_suspect = [&](const Holder& holder) { return facts(holder).node != nullptr && facts(holder).node->suspect; };
  if (spec_.control.acks == 0 || in_.lost || accepts_loss() || !is_suspect(best_of(seals.able))) return true;
  std::size_t well = 0;
  std::vector<std::string> awaited;
  for (const Holder& holder : next_.holders) {
    if (!counts(holder) || !is_voter(holder) || is_failed(holder) || is_suspect(holder)) continue;
    if (is_sealed(holder)) {
      ++well;
    } else if (is_present(holder)) {
      awaited.push_back(holder.node.str());
    }
  }
  constexpr Duration moment = 1s;
  const Instant end = *timers_.sealing + moment;
  if (well >= seals_needed()) {
    const auto able = std::ranges::count_if(seals.able, [&](const Holder* holder) { return !is_suspect(*holder); });
    if (able > 0) std::erase_if(seals.able, [&](const Holder* holder) { return is_suspect(*holder); });
  } else if (!awaited.empty() && in_.now < end) {
    wake_at(end);
    say("nobody leads: {} has the most and is suspect, waits a moment for {}", best_of(seals.able).node,
        fmt::join(awaited, ", "));
    return false;
  }
  return true;
}

// The store was put back to an older state, and somebody whom the record does not know, or not as one that has come, has more.
bool ShardStep::is_behind_orphans(const Holder& best) {
  if (!in_.lost || accepts_loss() || broken(Broken::begin_over_loss)) return false;
  const auto& seal = facts(best).report->sealed;
  const Progress has = seal ? Progress{seal->last, seal->progress} : Progress{};
  std::vector<std::string> ahead;
  for (const Orphan& orphan : in_.orphans) {
    if (Progress{orphan.report->last, orphan.report->progress} > has && !orphan.facts->removed)
      ahead.push_back(orphan.node.str());
  }
  for (const Holder& holder : next_.holders) {
    if (counts(holder) && !is_voter(holder) && facts(holder).progress > has) ahead.push_back(holder.node.str());
  }
  if (ahead.empty()) return false;
  say("nobody leads: {} have more than those that the record knows: `cluster adopt`, or accept the loss", fmt::join(ahead, ", "));
  return true;
}

void ShardStep::seal_and_lead() {
  if (begins_anew()) return;
  // Nobody is told an epoch that is only sealed, unless it was granted in a history that the store has lost: then it is not free.
  if (next_.seal && in_.led >= *next_.seal && !broken(Broken::forget_named_epochs)) next_.seal.reset();
  if (!next_.seal) {
    next_.seal = next_epoch();
    timers_.sealing = in_.now;
  }
  if (!timers_.sealing) timers_.sealing = in_.now;
  Seals seals = count_seals();
  if (seals.sealed < seals_needed() || !seal_is_patient()) {
    const Instant end = *timers_.sealing + spec_.control.seal_wait;
    if (spec_.control.acks == 0 && in_.now < end) wake_at(end);
    say("nobody leads: {} of {} sealed, waits for {}", seals.sealed, std::max(seals_needed(), std::size_t{1}),
        fmt::join(seals.awaited, ", "));
    return;
  }
  // If so many that every acknowledged write is known to one of them know of none, there is none: somebody was told to lead, and never did.
  // What the records of a store that was put back do not know is no proof.
  const bool knows_all = (seals.awaited.empty() || spec_.control.acks > 0) && (!in_.lost || broken(Broken::begin_over_loss));
  if (seals.able.empty() && knows_all) {
    for (Holder& holder : next_.holders) {
      if (is_voter(holder) && is_sealed(holder) && !is_failed(holder)) seals.able.push_back(&holder);
    }
  }
  if (seals.able.empty()) return say("nobody leads: nobody that is there has held its data");
  if (!leaves_out_suspects(seals)) return;
  Holder& best = best_of(seals.able);
  if (is_behind_orphans(best)) return;
  if (broken(Broken::throttle_leaders) && !in_.take_slot(best.node, Slot::recovery)) return;
  // Enough are sealed against whoever led before: it can acknowledge nothing more, and is told to step down with everybody else.
  for (Holder& holder : next_.holders) {
    if (holder.may_be == *spec_.lead) holder.may_be = {};
  }
  if (accepts_loss()) loss_accepted_ = true;
  if (facts(best).node->suspect) timers_.suspect = *next_.seal;
  grant(best, *next_.seal, Reason::failover);
}

// It has never had any data, or what it has is nowhere but in memory: the first of the placement that is there leads; if none of those holds it yet,
// another one that does, for without a leader nobody comes.
void ShardStep::lead_first() {
  const auto may = [&](const Holder& holder) {
    const NodeFacts* known = facts(holder).node;
    return counts(holder) && is_present(holder) && !is_failed(holder) && known->may_lead && !known->suspect && !known->stopping;
  };
  for (const bool steady : {true, false}) {
    for (const NodeId& node : next_.placement) {
      Holder* holder = find(node);
      if (holder == nullptr || !may(*holder) || facts(*holder).node->steady != steady) continue;
      return grant(*holder, next_epoch(), Reason::first);
    }
  }
  for (Holder& holder : next_.holders) {
    if (may(holder) && !holder.leaving) return grant(holder, next_epoch(), Reason::failover);
  }
  say("nobody leads: none of its nodes is there");
}

// Bounded states that are not leadership: who is to go leaves them first, and whoever has room is sent there, in the order of the placement.
void ShardStep::fill_bounded() {
  for (const State& state : spec_.model->states()) {
    if (state.count.kind != StateCount::Kind::number || (spec_.lead && state.name == *spec_.lead)) continue;
    std::uint32_t taken = 0;
    for (Holder& holder : next_.holders) {
      taken += holder.may_be == state.name ? 1 : 0;
      if (holder.told != state.name || !is_present(holder)) continue;
      const NodeFacts* node = facts(holder).node;
      if (!node->may_lead || node->stopping || !is_placed(holder.node)) tell(holder, spec_.rest, Reason::move);
    }
    for (const NodeId& node : next_.placement) {
      if (taken >= state.count.number) break;
      Holder* holder = find(node);
      if (holder == nullptr || !holder->may_be.str().empty() || !counts(*holder) || !is_in(*holder, spec_.rest)) continue;
      if (!facts(*holder).node->may_lead) continue;
      tell(*holder, state.name, Reason::balance);
      holder->may_be = state.name;
      ++taken;
    }
  }
}

// A deleted one is led by nobody.
void ShardStep::step_down() {
  next_.seal.reset();
  next_.hand_over.reset();
  next_.split.reset();
  for (Holder& holder : next_.holders) {
    if (counts(holder) && !holder.may_be.str().empty() && holder.told == holder.may_be)
      tell(holder, spec_.rest, Reason::operator_asked);
  }
}

void ShardStep::lead() {
  if (broken(Broken::leaders_wait) && !in_.may_move) return;
  if (spec_.deleted) return in_.may_move ? step_down() : void();
  fill_bounded();
  if (!spec_.lead) return split_unled();
  Holder* leads = leader();
  if (leads != nullptr && leads->told == *spec_.lead) return lead_on(*leads);
  if (leads != nullptr) {
    seal_if_suspect(*leads);
    if (next_.seal) return seal_and_lead();
    return say("waits for {} to step down", leads->node);
  }
  if (waits_for_half()) return;
  if (next_.hand_over) return follow_hand_over();
  if (next_.split) return follow_split();
  if (next_.holders.empty()) {
    if (next_.has_data && spec_.seals) begins_anew();
    return;
  }
  if (!spec_.seals)
    next_.seal.reset();  // there is nothing to lose, and under a seal nobody would come in place of those who are gone
  if (!next_.has_data || !spec_.seals) return lead_first();
  seal_and_lead();
}

}  // namespace evenkeel::control::detail
