// Who comes and goes: make before break, voters, linger, nothing from absence, permits.

#include <algorithm>

#include "evenkeel/sim/detail/promises.h"

namespace evenkeel::sim::detail {

std::vector<const Holder*> ShardChange::added() const {
  std::vector<const Holder*> found;
  for (const Holder& holder : after.holders) {
    const Holder* old = find_holder(before, holder.node);
    if (old == nullptr || old->data != holder.data || (!counts(*old) && counts(holder))) found.push_back(&holder);
  }
  return found;
}

std::vector<const Holder*> ShardChange::told_off() const {
  std::vector<const Holder*> found;
  for (const Holder& holder : after.holders) {
    const Holder* old = find_holder(before, holder.node);
    if (old != nullptr && holder.leaving && !old->leaving) found.push_back(&holder);
  }
  return found;
}

std::vector<const Holder*> ShardChange::dropped() const {
  std::vector<const Holder*> found;
  for (const Holder& holder : after.holders) {
    const Holder* old = find_holder(before, holder.node);
    if (!counts(holder) && (old == nullptr || counts(*old))) found.push_back(&holder);
  }
  return found;
}

std::string describe(const ShardRecord& record) {
  std::string text = fmt::format("epoch {} change {}", record.version.epoch, record.version.change);
  if (record.seal) text += fmt::format(", seal {}", *record.seal);
  if (record.split) text += fmt::format(", being split for {}", fmt::join(record.split->ready, " "));
  if (record.shards > 0) text += fmt::format(", one of {}", record.shards);
  if (record.born) text += ", copied";
  if (record.hand_over) text += fmt::format(", from {} to {}", record.hand_over->from, record.hand_over->to);
  for (const Holder& holder : record.holders) {
    text += fmt::format(", {} {}", holder.node, holder.told);
    if (!holder.may_be.empty() && holder.may_be != holder.told) text += fmt::format(" (may be {})", holder.may_be);
    if (!holder.arrived) text += " (arriving)";
    if (holder.leaving) text += " (leaving)";
  }
  return text + fmt::format("; placed on {}", fmt::join(record.placement, " "));
}

namespace {

bool is_excused(const ShardChange& change, const Holder& holder) {
  const Holder* old = find_holder(change.before, holder.node);
  const bool unseen = change.view_before.version == Version{};  // clients never knew of the shard: its split is called off
  return change.is_deleted() || change.seen.is_lost(holder) || unseen || (old != nullptr && !old->arrived);
}

// Whoever goes is not missed: the others serve, as many as there should be; or all that should be there do, and min_active hold without it.
void make_before_break(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "make before break";
  std::vector<const Holder*> going = change.told_off();
  for (const Holder* holder : change.dropped()) going.push_back(holder);
  for (const Holder* holder : going) {
    if (is_excused(change, *holder) || !change.seen.steady()) continue;
    findings.held(name);
    const auto serves = [&](const Holder& other) {
      return other.node != holder->node && counts(other) && !other.leaving && change.seen.served_lately(change.shard, other.node);
    };
    const auto others = static_cast<std::uint32_t>(std::ranges::count_if(change.after.holders, serves));
    const bool settled = std::ranges::all_of(change.after.placement, [&](const NodeId& node) {
      const Holder* placed = find_holder(change.after, node);
      return placed != nullptr && serves(*placed);
    });
    const bool unmissed = change.specs.any(change.seen.now, [&](const Spec& spec) {
      return others >= spec.workload.replicas || (settled && others >= spec.min_active);
    });
    if (!unmissed)
      findings.broken(name, "{} goes from {} while {} others serve it, of {} ({} must){}", change.name(), holder->node, others,
                      change.spec().workload.replicas, change.spec().min_active, settled ? "" : ", and its place is not taken");
  }
}

// Members do not change under an open seal; a leaver counts until the leader knows.
void voters(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "voters";
  std::vector<const Holder*> added = change.added();
  const std::vector<const Holder*> off = change.told_off(), dropped = change.dropped();
  std::erase_if(added, [&](const Holder* holder) { return change.is_adopted(*holder); });  // they were voters before
  if (added.empty() && off.empty() && dropped.empty()) return;
  if (change.is_deleted() || !change.before.has_data || !change.after.has_data || !change.spec().lead) return;
  findings.held(name);
  const bool sealed = change.after.seal || (change.before.seal && change.granted() != nullptr);
  if (sealed) findings.broken(name, "replicas of {} come or go under an open seal", change.name());
  if (change.granted() != nullptr) return;
  for (const Holder* holder : dropped) {
    const Holder* old = find_holder(change.before, holder->node);
    if (old == nullptr || !old->leaving) {
      findings.broken(name, "{} is dropped on {} before its peers are told", change.name(), holder->node);
      continue;
    }
    const auto leader = std::ranges::find(change.before.holders, *change.spec().lead, &Holder::told);
    const bool is_led =
        std::ranges::find(change.after.holders, *change.spec().lead, &Holder::may_be) != change.after.holders.end();
    if (!change.spec().seals && !is_led) continue;  // nobody leads, and nobody has anything
    const Said* said =
        leader == change.before.holders.end() ? nullptr : change.seen.said(change.shard, leader->node, leader->incarnation);
    const auto led = said == nullptr ? decltype(said->in.begin()){} : said->in.find(*change.spec().lead);
    if (said == nullptr || led == said->in.end() || led->second < old->version)
      findings.broken(name, "{} is dropped on {} before its leader knows", change.name(), holder->node);
  }
}

// Whoever served until it left the view goes on for a while, so that clients have time to notice.
void linger(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "linger";
  for (const Holder* holder : change.dropped()) {
    const Said* said = change.seen.said(change.shard, holder->node, holder->incarnation);
    const NodeEvidence* node = change.seen.node(holder->node);
    if (said == nullptr || node == nullptr || !node->joined || node->incarnation != holder->incarnation) continue;
    if (!change.spec().model->serves(said->latest.state)) continue;
    const bool shown = change.view_before.leader == holder->node ||
                       std::ranges::find(change.view_before.others, holder->node, &Peer::node) != change.view_before.others.end();
    const auto left = change.known.left_view.find(holder->node);
    const bool known = left != change.known.left_view.end() && left->second.incarnation == holder->incarnation;
    if (!shown && !known) continue;
    if (known && std::ranges::any_of(said->left, [&](const auto& was) { return was.second >= left->second.left; })) continue;
    findings.held(name);
    const Duration since = shown ? Duration{} : change.seen.now - left->second.left;
    const bool enough = change.specs.any(change.seen.now, [&](const Spec& spec) {
      return since >= spec.workload.control.linger - spec.workload.control.linger / 50;
    });
    if (!enough)
      findings.broken(name, "{} is dropped on {} {} after it has left the view", change.name(), holder->node, format(since));
  }
}

// A controller that stood still may read only now that the node was there with another disk for a while.
bool may_seem_lost(const Evidence& seen, const Holder& holder) {
  const NodeEvidence* known = seen.node(holder.node);
  return !seen.steady() && known != nullptr &&
         std::ranges::any_of(known->disks, [&](const auto& disk) { return disk.second != holder.data; });
}

// A holder is forgotten only when it has said that it has dropped what it had, or its disk is gone.
void nothing_from_absence(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "nothing from absence";
  for (const Holder& was : change.before.holders) {
    const Holder* now = find_holder(change.after, was.node);
    if (now != nullptr && now->data == was.data) continue;
    findings.held(name);
    if (change.seen.is_lost(was) || may_seem_lost(change.seen, was)) continue;
    const Said* said = change.seen.said(change.shard, was.node, was.incarnation);
    const bool done = !counts(was) && said != nullptr && said->in.contains(StateId(std::string(state_dropped)));
    if (!done) findings.broken(name, "{} forgets its replica on {}", change.name(), was.node);
  }
}

// Before a shard is split, as many as acknowledge a write have a copy of its other half, made in this split; and clients see that one only afterwards.
void splits(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "splits";
  const std::uint32_t half = change.after.shards / 2, shard = change.shard.shard.value();
  const auto record_of = [&](std::uint32_t index) {
    const auto found = change.seen.shards.find({change.shard.workload, ShardIndex(index)});
    return found == change.seen.shards.end() ? ShardRecord{} : found->second.record;
  };
  if (change.after.shards != change.before.shards && shard < half && change.before.split) {
    findings.held(name);
    const ShardRecord other = record_of(shard + half);
    std::uint32_t copies = 0;
    for (const Holder& holder : other.holders) {
      if (counts(holder) && !holder.arrived)
        findings.broken(name, "{} is split before {} has its copy", change.name(), holder.node);
      copies += counts(holder) ? 1 : 0;
    }
    if (other.born != change.before.split->at)
      findings.broken(name, "{} is split, and its other half is not of this split", change.name());
    if (!change.specs.any(change.seen.now, [&](const Spec& spec) { return copies >= std::max(spec.workload.control.acks, 1u); }))
      findings.broken(name, "{} is split with {} copies of its other half", change.name(), copies);
  }
  const bool shown = change.view_before.version == Version{} && change.view_after.version != Version{};
  if (shown && half > 0 && shard >= half) {
    findings.held(name);
    if (record_of(shard - half).shards != change.after.shards)
      findings.broken(name, "clients see {} before the other one is split", change.name());
  }
}

constexpr Promise members_table[] = {
    {"splits", splits}, {"make before break", make_before_break},       {"voters", voters},
    {"linger", linger}, {"nothing from absence", nothing_from_absence},
};

}  // namespace

std::span<const Promise> promises_of_members() { return members_table; }

// A node may go when every shard that it holds can do without it and all others that may, and nothing points at it.
void check_permit(const Evidence& seen, const NodeId& node, const std::optional<PermitDocument>& before,
                  const PermitDocument& after, Findings& findings) {
  using Stage = PermitDocument::Stage;
  constexpr std::string_view name = "permits";
  const NodeEvidence* known = seen.node(node);
  if (known == nullptr || (before && before->stage == after.stage && before->incarnation == after.incarnation)) return;
  const auto may_go = [&](const NodeId& other) {
    const NodeEvidence* at = seen.node(other);
    return other == node ||
           (at != nullptr && at->permit && (at->permit->stage == Stage::granted || at->permit->stage == Stage::go));
  };
  if (after.stage != Stage::granted && after.stage != Stage::go) return;
  findings.held(name);
  for (const ShardId& shard : known->holds) {
    const ShardEvidence& of = seen.shards.at(shard);
    const Recent<Spec>* specs = seen.workload(shard.workload);
    const Holder* holder = find_holder(of.record, node);
    if (specs == nullptr || holder == nullptr || specs->latest().deleted) continue;
    const auto& others = of.view.others;
    const bool shown = of.view.leader == node || std::ranges::find(others, node, &Peer::node) != others.end();
    if (after.stage == Stage::go && !after.allow_outage && (shown || !holder->may_be.empty()))
      findings.broken(name, "{} may stop, and {} still points at it", node, format(shard));
    const auto serving = static_cast<std::uint32_t>(std::ranges::count_if(of.record.holders, [&](const Holder& other) {
      return !may_go(other.node) && counts(other) && !other.leaving && seen.served_lately(shard, other.node);
    }));
    const bool stays = counts(*holder) && !holder->leaving;  // else nothing is taken away by its stop
    const bool enough = !stays || specs->any(seen.now, [&](const Spec& spec) { return serving >= spec.min_active; });
    if (after.stage == Stage::granted && !after.allow_outage && !enough && seen.steady())
      findings.broken(name, "{} may go, and {} others serve {}", node, serving, format(shard));
  }
}

}  // namespace evenkeel::sim::detail
