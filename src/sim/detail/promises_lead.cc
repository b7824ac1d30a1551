// Leadership: epochs, one leader, seals, hand-over, what the view says.

#include <algorithm>

#include "evenkeel/sim/detail/promises.h"

namespace evenkeel::sim::detail {

const Holder* ShardChange::granted() const {
  if (!spec().lead) return nullptr;
  for (const Holder& holder : after.holders) {
    if (holder.told != *spec().lead) continue;
    const Holder* old = find_holder(before, holder.node);
    const bool led = old != nullptr && old->told == *spec().lead && old->incarnation == holder.incarnation;
    if (!led || after.version.epoch != before.version.epoch) return &holder;
  }
  return nullptr;
}

bool ShardChange::accepts_loss() const {
  if (!known.order || !known.order->accept_loss) return false;
  return !known.order_gone || *known.order_gone + grace >= seen.now;
}

bool ShardChange::is_adopted(const Holder& holder) const {
  return known.order && std::ranges::find(known.order->adopt, holder.node) != known.order->adopt.end();
}

bool ShardChange::is_deleted() const {
  return specs.any(seen.now, [&](const Spec& one) { return one.deleted || shard.shard.value() >= one.workload.shards; });
}

namespace {

// The seal of that disk, by whatever incarnation it was said.
const Said* sealed_of(const ShardChange& change, const Holder& holder) {
  const auto by = change.known.said.find(holder.node);
  if (by == change.known.said.end()) return nullptr;
  const Said* best = nullptr;
  for (const auto& [incarnation, said] : by->second) {
    if (said.data != holder.data || !said.sealed) continue;
    if (best == nullptr || best->sealed->against < said.sealed->against) best = &said;
  }
  return best;
}

bool is_sealed(const ShardChange& change, const Holder& holder, Epoch epoch) {
  const Said* said = sealed_of(change, holder);
  return said != nullptr && said->sealed->against >= epoch;
}

// So many of the voters that no write with `acks` copies is unknown to all of them.
bool has_enough_seals(const ShardChange& change, Epoch epoch, std::string* why = nullptr) {
  std::uint32_t voters = 0, sealed = 0;
  for (const Holder& holder : change.before.holders) {
    if (!is_voter(change.before, holder)) continue;
    ++voters;
    sealed += is_sealed(change, holder, epoch) ? 1 : 0;
  }
  std::uint32_t least = 0;
  const bool enough = change.specs.any(change.seen.now, [&](const Spec& spec) {
    const std::uint32_t acks = spec.workload.control.acks;
    least = acks > 0 && voters >= acks ? voters - acks + 1 : 1;
    return sealed >= least;
  });
  if (why != nullptr) *why = fmt::format("{} of {} voters are sealed, and {} must be", sealed, voters, least);
  return enough;
}

// Every grant raises the epoch, above all that anybody has named; no epoch is given twice; nothing goes back.
void epochs(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "epochs";
  findings.held(name);
  if (change.after.version < change.before.version)
    findings.broken(name, "{} goes back from ({}, {}) to ({}, {})", change.name(), change.before.version.epoch,
                    change.before.version.change, change.after.version.epoch, change.after.version.change);
  if (change.view_after.version < change.view_before.version)
    findings.broken(name, "the view of {} goes back to epoch {}", change.name(), change.view_after.version.epoch);
  const bool differs = change.after != change.before || change.view_after != change.view_before;
  if (differs && change.after.version == change.before.version)
    findings.broken(name, "{} changes, and its version does not", change.name());
  const Holder* leader = change.granted();
  if (leader == nullptr) return;
  const Epoch epoch = change.after.version.epoch;
  if (epoch <= change.before.version.epoch)
    findings.broken(name, "{} is led by {} from now on, and its epoch is not raised", change.name(), leader->node);
  if (!change.known.grants.empty() && change.known.grants.rbegin()->first >= epoch)
    findings.broken(name, "{} gives epoch {} to {}, and gave {} to {} before", change.name(), epoch, leader->node,
                    change.known.grants.rbegin()->first, change.known.grants.rbegin()->second);
  for (const auto& [node, by] : change.known.said) {
    for (const auto& [incarnation, said] : by) {
      const Epoch named = std::max({said.latest.version.epoch, said.latest.last, said.sealed ? said.sealed->last : Epoch(0)});
      const NodeEvidence* known = change.seen.node(node);
      const bool there = known != nullptr && known->incarnation == incarnation;  // what is not in the store cannot be read
      if (there && named >= epoch && said.at + grace < change.seen.now)
        findings.broken(name, "{} gives epoch {} to {}, and {} has named {}", change.name(), epoch, leader->node, node, named);
    }
  }
}

// Why somebody who was told to be in a bounded state is not in it any more; nothing: there is no proof.
bool is_out(const ShardChange& change, const Holder& was) {
  if (change.seen.is_over(was.node, was.incarnation)) return true;
  const Said* said = change.seen.said(change.shard, was.node, was.incarnation);
  if (said != nullptr && was.told != was.may_be) {
    for (const auto& [state, version] : said->in) {
      if (state != was.may_be && version >= was.version) return true;
    }
  }
  const bool by_seals = change.before.seal && change.after.version.epoch >= *change.before.seal &&
                        change.spec().lead == was.may_be && has_enough_seals(change, *change.before.seal);
  return (by_seals || change.accepts_loss()) &&
         change.specs.any(change.seen.now, [](const Spec& spec) { return spec.workload.control.fencing == Fencing::epoch; });
}

void one_leader(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "one leader";
  for (const State& state : change.spec().model->states()) {
    if (state.count.kind != StateCount::Kind::number) continue;
    std::vector<NodeId> in;
    for (const Holder& holder : change.after.holders) {
      if (holder.may_be == state.name) in.push_back(holder.node);
      if (holder.told == state.name && holder.may_be != state.name)
        findings.broken(name, "{} tells {} to be {}, and does not count it", change.name(), holder.node, state.name);
    }
    findings.held(name);
    if (in.size() > state.count.number)
      findings.broken(name, "{} may have {} in the state {}", change.name(), fmt::join(in, " and "), state.name);
  }
  for (const Holder& was : change.before.holders) {
    if (was.may_be.empty()) continue;
    const Holder* now = find_holder(change.after, was.node);
    const bool still = now != nullptr && now->may_be == was.may_be && now->incarnation == was.incarnation;
    if (!still && !is_out(change, was))
      findings.broken(name, "{} takes {} for out of the state {}, which nothing proves", change.name(), was.node, was.may_be);
  }
}

// The granted one is as good as any other that was sealed and is there.
void best_leads(const ShardChange& change, const Holder& leader, Findings& findings) {
  constexpr std::string_view name = "seal, then lead";
  const Epoch epoch = *change.before.seal;
  const Said* own = sealed_of(change, leader);
  if (own == nullptr || own->sealed->against < epoch)
    return findings.broken(name, "{} is led by {}, which is not sealed", change.name(), leader.node);
  const bool acks = change.specs.any(change.seen.now, [](const Spec& spec) { return spec.workload.control.acks > 0; });
  for (const Holder& holder : change.before.holders) {
    if (!is_voter(change.before, holder) || holder.node == leader.node) continue;
    if (!is_sealed(change, holder, epoch)) {
      if (own->sealed->last == Epoch(0) && !acks && !change.seen.is_lost(holder))
        findings.broken(name, "{} is led by {}, which never had its data, before {} is asked", change.name(), leader.node,
                        holder.node);
      continue;
    }
    const Said& other = *sealed_of(change, holder);
    const bool known = other.sealed_at + grace < change.seen.now && change.seen.surely_there(holder.node) && change.seen.steady();
    const bool excused = other.failed_since || holder.data != other.data;
    if (!known || excused) continue;
    if (std::pair(other.sealed->last, other.sealed->progress) > std::pair(own->sealed->last, own->sealed->progress))
      findings.broken(name, "{} is led by {}, and {} has more", change.name(), leader.node, holder.node);
  }
}

void seal_then_lead(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "seal, then lead";
  const Holder* leader = change.granted();
  if (leader == nullptr || !change.spec().seals || !change.before.has_data || change.accepts_loss()) return;
  findings.held(name);
  if (!change.before.seal) {
    const auto& handed = change.before.hand_over;
    if (change.before.split && change.before.split->from == leader->node) return;  // it had stepped down for it
    if (!handed || (handed->to != leader->node && handed->from != leader->node))
      findings.broken(name, "{} is led by {}, without a seal or a hand-over", change.name(), leader->node);
    return;
  }
  std::string why;
  if (!has_enough_seals(change, *change.before.seal, &why)) return findings.broken(name, "{}: {}", change.name(), why);
  best_leads(change, *leader, findings);
}

// An incarnation has one disk; who has come has said so itself; the view shows what was reported.
void as_reported(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "as reported";
  findings.held(name);
  for (const Holder& holder : change.after.holders) {
    const NodeEvidence* node = change.seen.node(holder.node);
    const auto disk = node == nullptr ? decltype(node->disks.begin()){} : node->disks.find(holder.incarnation);
    if (node != nullptr && disk != node->disks.end() && disk->second != holder.data)
      findings.broken(name, "{} counts the disk of {} for another one", change.name(), holder.node);
    const Holder* old = find_holder(change.before, holder.node);
    if (!holder.arrived || (old != nullptr && old->arrived) || holder.told == change.spec().lead) continue;
    if (old == nullptr && change.is_adopted(holder)) continue;  // it has data, by its own word and an operator's
    const Said* said = change.seen.said(change.shard, holder.node, holder.incarnation);
    const Version told = old == nullptr || old->incarnation != holder.incarnation ? holder.version : old->version;
    const bool came = said != nullptr && std::ranges::any_of(said->in, [&](const auto& in) {
                        return change.spec().model->serves(in.first) && in.second >= told;
                      });
    if (!came) findings.broken(name, "{} has come to {}, which it has not said", change.name(), holder.node);
  }
  if (!change.view_after.leader || change.view_after == change.view_before) return;
  const Holder* shown = find_holder(change.after, *change.view_after.leader);
  const Said* said = shown == nullptr ? nullptr : change.seen.said(change.shard, shown->node, shown->incarnation);
  const auto led = said == nullptr ? decltype(said->in.begin()){} : said->in.find(*change.spec().lead);
  if (said == nullptr || led == said->in.end() || led->second.epoch < change.after.version.epoch)
    findings.broken(name, "the view shows {} as led by {}, which it has not said", change.name(), *change.view_after.leader);
}

// While everything is frozen nobody is told to lead, unless fail-over goes on.
void frozen(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "freeze";
  const Evidence& seen = change.seen;
  if (!seen.frozen_since || *seen.frozen_since + grace > seen.now || seen.config.changed_lately(seen.now) || !seen.steady())
    return;
  const Freeze& freeze = *seen.config.latest().freeze;
  if (freeze.timeout && *seen.frozen_since + *freeze.timeout - *freeze.timeout / 50 <= seen.now) return;
  findings.held(name);
  if (!freeze.keep_leaders && change.granted() != nullptr)
    findings.broken(name, "{} is led by {} from now on", change.name(), change.granted()->node);
  if (!change.is_deleted() && (!change.added().empty() || !change.dropped().empty()))
    findings.broken(name, "replicas of {} come or go", change.name());
}

constexpr Promise lead_table[] = {
    {"epochs", epochs},           {"one leader", one_leader}, {"seal, then lead", seal_then_lead},
    {"as reported", as_reported}, {"freeze", frozen},
};

}  // namespace

std::span<const Promise> promises_of_leading() { return lead_table; }

}  // namespace evenkeel::sim::detail
