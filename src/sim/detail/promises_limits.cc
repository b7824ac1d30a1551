// How much at once, how soon, and where: patience, calm, limits, spread.

#include <algorithm>

#include "evenkeel/sim/detail/promises.h"

namespace evenkeel::sim::detail {
namespace {

// A node that is gone keeps its place for its delay, unless fewer than min_active are left. Clocks run 1 % fast at most.
void patience(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "patience";
  const Evidence& seen = change.seen;
  if (seen.config.empty() || !seen.steady()) return;
  const bool respecified = change.specs.changed_lately(seen.now) || seen.config.changed_lately(seen.now);
  if (change.after.placement == change.before.placement || !change.before.has_data || change.is_deleted() || respecified) return;
  const auto there = static_cast<std::uint32_t>(std::ranges::count_if(change.before.holders, [&](const Holder& holder) {
    return counts(holder) && holder.arrived && !holder.leaving && !seen.is_lost(holder) && seen.surely_there(holder.node);
  }));
  if (there < change.spec().min_active || change.before.placement.size() > change.spec().workload.replicas) return;
  for (const NodeId& node : change.before.placement) {
    const Holder* holder = find_holder(change.before, node);
    const NodeEvidence* known = seen.node(node);
    const bool placed = std::ranges::find(change.after.placement, node) != change.after.placement.end();
    if (placed || known == nullptr || known->joined || holder == nullptr || !holder->arrived || seen.is_lost(*holder)) continue;
    const bool asked = known->permit || known->order.any(seen.now, [&](const NodeDocument& order) {
      const bool busy = order.operation != Operation::none && order.operation != Operation::no_leaders;
      return busy || order.taints || order.labels || order.capacity ||
             std::ranges::find(order.disabled, change.shard) != order.disabled.end();
    });
    if (asked) continue;
    // What failed there for good is replaced, whether its node is there or not, and whether or not it has stepped back since.
    const Said* said = seen.said(change.shard, node, holder->incarnation);
    if (said != nullptr && said->failed_last && (said->failed_since || seen.now < *said->failed_last + shunned + grace)) continue;
    findings.held(name);
    const ControlSettings& settings = seen.config.latest().settings.control;
    const std::optional<Duration> own = known->order.empty() ? std::nullopt : known->order.latest().rebalance_delay;
    const Duration delay = own.value_or(change.spec().workload.control.rebalance_delay.value_or(settings.rebalance_delay));
    const Duration gone = seen.now - known->gone_since;
    if (gone < delay - delay / 50)
      findings.broken(name, "{} is placed anew {} after {} went, which is waited for {}", change.name(), format(gone), node,
                      format(delay));
  }
}

// While too many are gone, or somebody has asked for it, nothing is placed, moved or dropped.
void calm(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "calm";
  const Evidence& seen = change.seen;
  if (seen.config.empty() || change.is_deleted() || !seen.steady() || seen.config.changed_lately(seen.now)) return;
  const bool disaster = seen.too_many_gone && *seen.too_many_gone + grace < seen.now;
  const bool asked = seen.config.latest().maintenance && !seen.config.latest().maintenance->timeout;
  if (!disaster && !asked) return;
  findings.held(name);
  for (const Holder* holder : change.added()) {
    if (change.is_adopted(*holder)) continue;  // it is there already
    findings.broken(name, "{} comes to {} in maintenance: {} are gone", change.name(), holder->node, seen.offline());
  }
  for (const Holder* holder : change.dropped())
    findings.broken(name, "{} is dropped on {} in maintenance: {} are gone", change.name(), holder->node, seen.offline());
}

struct Copies {
  std::uint32_t all = 0, node = 0, zone = 0, workload = 0;
};

std::string zone_of(const Evidence& seen, const NodeId& node) {
  const NodeEvidence* known = seen.node(node);
  return known != nullptr && known->live ? known->live->zone : "";
}

// Copies under way of one kind, beside and with that one.
Copies count(const ShardChange& change, const Holder& newcomer) {
  Copies copies;
  const bool balance = newcomer.reason == Reason::balance;
  const auto add = [&](const ShardId& shard, const ShardRecord& record) {
    for (const Holder& holder : record.holders) {
      if (!counts(holder) || holder.arrived || (holder.reason == Reason::balance) != balance) continue;
      if (const Recent<Spec>* specs = change.seen.workload(shard.workload);
          specs != nullptr && holder.told == specs->latest().model->initial())
        continue;  // it waits for its turn to open
      if (!change.seen.surely_there(holder.node) || change.seen.is_lost(holder)) continue;
      const Said* said = change.seen.said(shard, holder.node, holder.incarnation);
      const bool done = said != nullptr && said->latest.version >= holder.version && said->latest.state == holder.told;
      if (done) continue;  // that it has come is being written
      ++copies.all;
      copies.node += holder.node == newcomer.node ? 1 : 0;
      copies.workload += shard.workload == change.shard.workload ? 1 : 0;
      copies.zone += zone_of(change.seen, holder.node) == zone_of(change.seen, newcomer.node) ? 1 : 0;
    }
  };
  for (const ShardId& shard : change.seen.copying) {
    if (shard != change.shard) add(shard, change.seen.shards.at(shard).record);
  }
  add(change.shard, change.after);
  return copies;
}

bool is_full(const Throttle& limit, std::uint32_t copies) { return limit.copies > 0 && copies > limit.copies; }

void limits(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "limits";
  const Evidence& seen = change.seen;
  for (const Holder* holder : change.added()) {
    if (seen.config.empty() || !change.before.has_data || !change.after.has_data || !counts(*holder) || holder->arrived) continue;
    findings.held(name);
    const Copies copies = count(change, *holder);
    const bool balance = holder->reason == Reason::balance;
    const bool within = seen.config.any(seen.now, [&](const ConfigDocument& config) {
      const ControlSettings& s = config.settings.control;
      return balance ? !is_full(s.balance, copies.all) && !is_full(s.balance_per_node, copies.node) &&
                           !is_full(s.balance_per_zone, copies.zone) && !is_full(s.balance_per_workload, copies.workload)
                     : !is_full(s.recovery, copies.all) && !is_full(s.recovery_per_node, copies.node) &&
                           !is_full(s.recovery_per_zone, copies.zone) && !is_full(s.recovery_per_workload, copies.workload);
    });
    if (!within)
      findings.broken(name, "{} comes to {} as copy {} of all, {} of the node, {} of the zone, {} of the workload{}",
                      change.name(), holder->node, copies.all, copies.node, copies.zone, copies.workload,
                      balance ? ", to balance" : "");
    const auto used = static_cast<std::uint32_t>(std::ranges::count_if(change.after.holders, [&](const Holder& other) {
      const Said* said = seen.said(change.shard, other.node, other.incarnation);
      const bool placed = std::ranges::find(change.after.placement, other.node) != change.after.placement.end();
      return counts(other) && (said == nullptr || !said->failed_since) && (placed || seen.surely_there(other.node)) &&
             !seen.is_lost(other);
    }));
    const bool few = seen.config.any(seen.now, [&](const ConfigDocument& config) {
      return change.specs.any(seen.now, [&](const Spec& spec) {
        const bool everywhere = std::ranges::any_of(
            spec.model->states(), [](const State& state) { return state.count.kind == StateCount::Kind::nodes; });
        const std::size_t replicas = everywhere ? change.after.placement.size() : spec.workload.replicas;
        return used <= replicas + config.settings.control.extra_replicas;
      });
    });
    if (!few)
      findings.broken(name, "{} comes to {} as replica {} of {}", change.name(), holder->node, used,
                      change.spec().workload.replicas);
  }
}

// What a node has, and has been told to open, without having done so.
bool is_opening(const Evidence& seen, const ShardId& shard, const Holder& holder, const StateId& initial) {
  const NodeEvidence* known = seen.node(holder.node);
  const bool there = known != nullptr && known->joined && known->incarnation == holder.incarnation && !seen.is_lost(holder);
  if (!there || !counts(holder) || holder.told == initial || !(holder.arrived || holder.reason == Reason::first)) return false;
  const Said* said = seen.said(shard, holder.node, holder.incarnation);
  return said == nullptr || (said->latest.state == initial && !said->failed_since);
}

// Who opens from now on, beside those that are to lead.
std::vector<const Holder*> openers(const ShardChange& change, const StateId& initial) {
  std::vector<const Holder*> found;
  for (const Holder& holder : change.after.holders) {
    const Holder* old = find_holder(change.before, holder.node);
    const bool waited = old != nullptr && (old->incarnation != holder.incarnation || old->told == initial);
    const bool begins = old == nullptr ? holder.reason == Reason::first && !change.before.has_data : waited;
    if (!begins || change.is_adopted(holder) || (change.spec().lead && holder.told == *change.spec().lead)) continue;
    if (is_opening(change.seen, change.shard, holder, initial)) found.push_back(&holder);
  }
  return found;
}

Copies count_openings(const ShardChange& change, const Holder& opener) {
  Copies openings;
  const auto add = [&](const ShardId& shard, const ShardRecord& record) {
    const Recent<Spec>* specs = change.seen.workload(shard.workload);
    for (const Holder& holder : record.holders) {
      if (specs == nullptr || !is_opening(change.seen, shard, holder, specs->latest().model->initial())) continue;
      ++openings.all;
      openings.node += holder.node == opener.node ? 1 : 0;
      openings.workload += shard.workload == change.shard.workload ? 1 : 0;
      openings.zone += zone_of(change.seen, holder.node) == zone_of(change.seen, opener.node) ? 1 : 0;
    }
  };
  for (const auto& [shard, known] : change.seen.shards) {
    if (shard != change.shard) add(shard, known.record);
  }
  add(change.shard, change.after);
  return openings;
}

// Only so many open at once; whoever is to lead waits for nobody.
void openings(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "openings";
  const Evidence& seen = change.seen;
  const auto is_limited = [](const ConfigDocument& config) {
    const ControlSettings& s = config.settings.control;
    return s.openings.copies + s.openings_per_node.copies + s.openings_per_zone.copies + s.openings_per_workload.copies > 0;
  };
  if (seen.config.empty() || !is_limited(seen.config.latest()) || change.is_deleted()) return;
  const StateId& initial = change.spec().model->initial();
  for (const Holder* holder : openers(change, initial)) {
    findings.held(name);
    const Copies count = count_openings(change, *holder);
    const bool within = seen.config.any(seen.now, [&](const ConfigDocument& config) {
      const ControlSettings& s = config.settings.control;
      return !is_full(s.openings, count.all) && !is_full(s.openings_per_node, count.node) &&
             !is_full(s.openings_per_zone, count.zone) && !is_full(s.openings_per_workload, count.workload);
    });
    if (!within)
      findings.broken(name, "{} opens on {} as number {} of all, {} of the node, {} of the zone, {} of the workload",
                      change.name(), holder->node, count.all, count.node, count.zone, count.workload);
  }
}

// The part of a zone path down to a level; the whole path where the level is not named.
std::string domain_of(const Settings& settings, const std::string& zone, const std::string& level) {
  const auto at = std::ranges::find(settings.levels, level) - settings.levels.begin();
  std::size_t end = 0;
  for (std::ptrdiff_t i = 0; i <= at && end != std::string::npos; ++i) end = zone.find('/', i == 0 ? 0 : end + 1);
  return zone.substr(0, end);
}

// Where spread is hard nobody comes to a zone that another replica has, but one that it takes the place of.
void spread(const ShardChange& change, Findings& findings) {
  constexpr std::string_view name = "spread";
  const Evidence& seen = change.seen;
  if (seen.config.empty() || change.specs.changed_lately(seen.now) || seen.config.changed_lately(seen.now)) return;
  const Settings& settings = seen.config.latest().settings;
  const Spread rule = change.spec().workload.spread.value_or(settings.spread);
  if (!rule.hard || change.spec().model->states().front().count.kind == StateCount::Kind::nodes) return;
  for (const Holder* holder : change.added()) {
    const std::string domain = domain_of(settings, zone_of(seen, holder->node), rule.level);
    if (domain.empty() || !counts(*holder) || change.is_adopted(*holder)) continue;  // who is adopted is where it is
    findings.held(name);
    for (const Holder& other : change.after.holders) {
      const bool placed = std::ranges::find(change.after.placement, other.node) != change.after.placement.end();
      if (other.node == holder->node || !counts(other) || !placed) continue;
      if (domain_of(settings, zone_of(seen, other.node), rule.level) == domain)
        findings.broken(name, "{} comes to {} beside {}, both in {}", change.name(), holder->node, other.node, domain);
    }
  }
}

constexpr Promise limits_table[] = {
    {"patience", patience}, {"calm", calm}, {"limits", limits}, {"openings", openings}, {"spread", spread},
};

}  // namespace

std::span<const Promise> promises_of_limits() { return limits_table; }

}  // namespace evenkeel::sim::detail
