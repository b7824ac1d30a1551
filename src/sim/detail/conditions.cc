// What stories expect: whether it holds, and if not, why.

#include <algorithm>
#include <utility>

#include "evenkeel/sim/detail/work.h"

namespace evenkeel::sim {
namespace {

using ConditionKind = Condition::Kind;

constexpr std::size_t named_max = 3;

std::string list_of(const std::vector<NodeId>& nodes) {
  return nodes.empty() ? "no node" : fmt::format("{}", fmt::join(nodes, " "));
}

bool holds_it(const ShardRecord& record, const NodeId& node) {
  const auto holder = std::ranges::find(record.holders, node, &Holder::node);
  return holder != record.holders.end() && holder->told.str() != state_dropped;
}

}  // namespace

std::string Simulation::Work::explain(const Condition& condition) const {
  const std::string why = why_not(condition);
  if (!condition.negated) return why;
  return why.empty() ? "it is so" : "";
}

// Often asked while much is not settled: nobody wants to know why.
bool Simulation::Work::holds(const Condition& condition) const {
  if (condition.kind == ConditionKind::settled && !seen_.settled()) return condition.negated;
  return why_not(condition).empty() != condition.negated;
}

// Empty: it holds.
std::string Simulation::Work::why_not(const Condition& condition) const {
  switch (condition.kind) {
    case ConditionKind::settled:
      return why_not_settled();
    case ConditionKind::all_led:
      return why_not_all_led();
    case ConditionKind::led_by:
    case ConditionKind::unled:
    case ConditionKind::on:
    case ConditionKind::serves:
    case ConditionKind::says:
      return why_not_shard(condition);
    case ConditionKind::holds_nothing:
    case ConditionKind::holds:
    case ConditionKind::leads:
      return why_not_count(condition);
    case ConditionKind::up:
    case ConditionKind::gone:
    case ConditionKind::suspect:
    case ConditionKind::stopped:
      return why_not_node(condition);
    case ConditionKind::in_maintenance:
    case ConditionKind::event:
    case ConditionKind::moves_at_most:
    case ConditionKind::copies_at_most:
    case ConditionKind::orphans:
    case ConditionKind::active:
      return why_not_cluster(condition);
  }
  return "no such condition";
}

std::string Simulation::Work::why_not_settled() const {
  const control::Machine* machine = active();
  if (machine == nullptr) return "no controller is active";
  if (!begun_) return "its workloads are not made yet";
  if (!seen_.settled()) {
    std::vector<std::string> why = seen_.why_unsettled(named_max);
    const auto shard = parse_shard_id(why.front().substr(0, why.front().find(' ')));
    const auto state = shard ? machine->explain(*shard) : std::nullopt;
    if (state && !state->why.empty()) why.front() += fmt::format(" ({})", fmt::join(state->why, "; "));
    return fmt::format("{}", fmt::join(why, ", "));
  }
  if (!operator_->idle()) return "the operator's documents are not written yet";
  if (!machine->at_rest()) return "the controller has something to do";
  return checkers_ ? checkers_->unrest().value_or("") : "";
}

// Whom clients are told of, if it really leads.
std::optional<NodeId> Simulation::Work::leader_of(const ShardId& shard) const {
  const ShardSeen* seen = seen_.find(shard);
  if (seen == nullptr || !seen->view.leader || ledger_.leader(shard) != seen->view.leader) return std::nullopt;
  return seen->view.leader;
}

std::string Simulation::Work::why_not_all_led() const {
  std::vector<std::string> without;
  std::size_t more = 0;
  for (const auto& [name, workload] : seen_.workloads()) {
    for (std::uint32_t s = 0; s < workload.shards.size(); ++s) {
      if (!workload.lead || !workload.wants(s) || leader_of({name, ShardIndex(s)})) continue;
      // One that is not split off yet is nobody's to lead.
      const std::uint32_t from = workload.document.split_from;
      if (from > 0 && s >= from && workload.shards[s].view.version == Version{}) continue;
      if (without.size() < named_max)
        without.push_back(fmt::format("{}/{}", name, s));
      else
        ++more;
    }
  }
  if (without.empty()) return "";
  return fmt::format("{}{} {} no leader", fmt::join(without, ", "), more > 0 ? fmt::format(" and {} more", more) : "",
                     without.size() + more == 1 ? "has" : "have");
}

std::string Simulation::Work::why_not_shard(const Condition& condition) const {
  const Words& words = condition.words;
  const ShardSeen* shard = seen_.find(words.shard);
  if (shard == nullptr) return fmt::format("there is no shard {}", format(words.shard));
  const auto leader = leader_of(words.shard);
  switch (condition.kind) {
    case ConditionKind::led_by:
      if (leader == words.node) return "";
      return leader ? fmt::format("{} is led by {}", format(words.shard), *leader)
                    : fmt::format("nobody leads {}", format(words.shard));
    case ConditionKind::unled:
      return leader ? fmt::format("{} is led by {}", format(words.shard), *leader) : "";
    case ConditionKind::serves: {
      const std::size_t serving = shard->view.others.size() + (leader ? 1 : 0);
      return serving >= words.number ? "" : fmt::format("{} serve {}", serving, format(words.shard));
    }
    case ConditionKind::says: {
      const control::Machine* machine = active();
      if (machine == nullptr) return "no controller is active";
      const auto state = machine->explain(words.shard);
      const std::string why = state ? fmt::format("{}", fmt::join(state->why, "; ")) : "";
      return why.find(words.text) != why.npos ? "" : fmt::format("{} says \"{}\"", format(words.shard), why);
    }
    default:
      break;
  }
  std::vector<NodeId> nodes;
  for (const Holder& holder : shard->record.holders) {
    if (holder.told.str() != state_dropped) nodes.push_back(holder.node);
  }
  std::vector<NodeId> wanted = words.nodes;
  std::ranges::sort(nodes);
  std::ranges::sort(wanted);
  return nodes == wanted ? "" : fmt::format("{} is on {}", format(words.shard), list_of(nodes));
}

std::string Simulation::Work::why_not_count(const Condition& condition) const {
  const NodeId& node = condition.words.node;
  std::uint64_t held = 0, led = 0;
  for (const auto& [name, workload] : seen_.workloads()) {
    for (const ShardSeen& shard : workload.shards) {
      held += holds_it(shard.record, node) ? 1 : 0;
      led += shard.view.leader == node ? 1 : 0;
    }
  }
  if (condition.kind == ConditionKind::leads)
    return led == condition.words.number ? "" : fmt::format("{} leads {} shards", node, led);
  const std::uint64_t wanted = condition.kind == ConditionKind::holds_nothing ? 0 : condition.words.number;
  return held == wanted ? "" : fmt::format("{} holds {} shards", node, held);
}

std::string Simulation::Work::why_not_node(const Condition& condition) const {
  const NodeId& node = condition.words.node;
  if (condition.kind == ConditionKind::stopped) {
    const auto found = hosts_.find(node);
    return found != hosts_.end() && found->second.left ? "" : fmt::format("{} has not stopped", node);
  }
  const ControllerHost* host = active_host();
  if (host == nullptr) return "no controller is active";
  const auto nodes = host->process->controller->machine().nodes(host->process->loop->now());
  const auto found = std::ranges::find(nodes, node, &control::NodeState::node);
  if (found == nodes.end()) return condition.kind == ConditionKind::gone ? "" : fmt::format("{} was never seen", node);
  const bool yes = condition.kind == ConditionKind::up     ? found->joined && !found->suspect
                   : condition.kind == ConditionKind::gone ? !found->joined
                                                           : found->suspect;
  if (yes) return "";
  return fmt::format("{} is {}", node, !found->joined ? "gone" : found->suspect ? "suspect" : "up");
}

std::string Simulation::Work::why_not_cluster(const Condition& condition) const {
  const Words& words = condition.words;
  if (condition.kind == ConditionKind::moves_at_most) {
    const std::uint64_t moves = seen_.calm(elapsed()).moves;
    return moves <= words.number ? "" : fmt::format("there were {} moves", moves);
  }
  if (condition.kind == ConditionKind::event) {
    const bool said = std::ranges::any_of(timeline_, [&](const Moment& moment) {
      return moment.who != "story" && moment.what.find(words.text) != moment.what.npos;
    });
    return said ? "" : "no event says so";
  }
  const ControllerHost* host = active_host();
  if (condition.kind == ConditionKind::active) {
    const std::string name = fmt::format("controller {}", words.number);
    if (host == nullptr) return "no controller is active";
    return host->name == name ? "" : fmt::format("{} is", host->name);
  }
  if (host == nullptr) return "no controller is active";
  const control::Overview overview = host->process->controller->machine().overview();
  switch (condition.kind) {
    case ConditionKind::in_maintenance:
      return overview.maintenance ? "" : "it is not";
    case ConditionKind::copies_at_most:
      return overview.copies <= words.number ? "" : fmt::format("there are {} copies", overview.copies);
    default:
      return overview.orphans.size() == words.number ? "" : fmt::format("there are {} orphans", overview.orphans.size());
  }
}

}  // namespace evenkeel::sim
