#include "evenkeel/control/rollout.h"

#include <algorithm>
#include <set>
#include <span>

#include "evenkeel/base/rng.h"
#include "evenkeel/control/detail/operating.h"

namespace evenkeel::control {

using NodeStage = RolloutNode::Stage;
using Order = RolloutOptions::Order;

std::string_view name(NodeStage stage) {
  switch (stage) {
    case NodeStage::waiting:
      return "waiting";
    case NodeStage::asked:
      return "asked";
    case NodeStage::away:
      return "away";
    case NodeStage::done:
      break;
  }
  return "done";
}

namespace {

bool is_below(std::string_view zone, std::string_view top) {
  return top.empty() || (zone.starts_with(top) && (zone.size() == top.size() || zone[top.size()] == '/'));
}

// Of "dc1/r1" the zone, which racks and whatever is below are parts of.
std::string_view top_of(std::string_view zone) { return zone.substr(0, zone.find('/')); }

std::optional<Incarnation> incarnation_of(const Snapshot& seen, const NodeId& node) {
  const auto beat = seen.beats.find(node);
  return beat == seen.beats.end() ? std::nullopt : std::optional(beat->second.incarnation);
}

// Of this very join.
const PermitDocument* permit_of(const Snapshot& seen, const RolloutNode& node) {
  const auto found = seen.permits.find(node.node);
  return found != seen.permits.end() && found->second.incarnation == node.incarnation ? &found->second : nullptr;
}

void put_in_order(std::vector<RolloutNode>& nodes, const RolloutOptions& options) {
  if (options.order == Order::zone_by_zone) std::ranges::stable_sort(nodes, {}, &RolloutNode::zone);
  if (options.order == Order::random) Rng(options.seed).split("rollout").shuffle(std::span(nodes));
}

}  // namespace

// 1. Who, and in which order.

Result<PlannedRollout> plan_rollout(const Snapshot& seen, RolloutOptions options) {
  if (auto still = standstill(seen)) return fail(Code::refused, "nobody may stop now: {}", *still);
  const bool named = !options.nodes.empty();
  std::vector<RolloutNode> nodes;
  std::vector<std::string> notes;
  std::set<NodeId> known;
  for (const NodeId& node : named ? options.nodes : known_nodes(seen)) {
    if (const auto good = check_node(seen, node); !good) return fail(good.error());
    const LiveDocument* said = seen.said(node);
    if (!known.insert(node).second) return fail(Code::invalid, "{} is named twice: name it once", node);
    if (said != nullptr && !is_below(said->zone, options.zone)) continue;
    if (!is_there(seen, node) || said->leaving) {
      if (named) return fail(Code::refused, "{} is not there: start it first, or leave it out", node);
      if (said != nullptr && operation_of(seen, node) != Operation::remove)
        notes.push_back(fmt::format("{} is not there, and is left out", node));
      continue;
    }
    nodes.push_back({.node = node, .zone = said->zone, .address = said->address, .incarnation = said->incarnation});
  }
  if (nodes.empty() && !options.zone.empty()) return fail(Code::not_found, "no node is in the zone {}", quote(options.zone));
  if (nodes.empty()) return fail(Code::refused, "no node is there: there is nothing to restart");
  put_in_order(nodes, options);
  return PlannedRollout{Rollout(std::move(nodes), std::move(options)), std::move(notes)};
}

// 2. What is to be done.

std::size_t Rollout::under_way() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      nodes_, [](const RolloutNode& node) { return node.stage == NodeStage::asked || node.stage == NodeStage::away; }));
}

std::vector<NodeId> Rollout::in(bool done) const {
  std::vector<NodeId> found;
  for (const RolloutNode& node : nodes_) {
    if ((node.stage == NodeStage::done) == done) found.push_back(node.node);
  }
  return found;
}

bool Rollout::asks_beside() const {
  const std::size_t busy = under_way();
  const auto next = std::ranges::find(nodes_, NodeStage::waiting, &RolloutNode::stage);
  if (busy == 0 || busy >= options_.at_once || next == nodes_.end()) return false;
  if (options_.order != Order::zone_by_zone) return true;
  return std::ranges::all_of(nodes_, [&](const RolloutNode& node) {
    return node.stage == NodeStage::waiting || node.stage == NodeStage::done || top_of(node.zone) == top_of(next->zone);
  });
}

void Rollout::stopped(const NodeId& node, Instant now) {
  const auto found = std::ranges::find(nodes_, node, &RolloutNode::node);
  ensure(found != nodes_.end() && found->stage == NodeStage::asked, "who is told to stop has asked for it");
  found->stage = NodeStage::away;
  found->since = now;
}

void Rollout::look_at_asked(const RolloutNode& node, const Snapshot& seen, Instant now, RolloutStep& step) const {
  const PermitDocument* permit = permit_of(seen, node);
  if (permit == nullptr) {
    const bool there = is_there(seen, node.node) && incarnation_of(seen, node.node) == node.incarnation;
    step.failed = there ? Error{Code::conflict, fmt::format("somebody has taken back the permit of {}", node.node)}
                        : Error{Code::conflict, fmt::format("{} went before it was told to stop", node.node)};
    return;
  }
  switch (permit->stage) {
    case PermitDocument::Stage::go:
      if (!step.stop) step.stop = node.node;
      return;
    case PermitDocument::Stage::refused:
      step.failed =
          Error{Code::refused, fmt::format("{} may not stop: {}; --allow-outage would let it", node.node, permit->reason)};
      return;
    case PermitDocument::Stage::asked:
      step.waits.push_back(permit->reason.empty() ? fmt::format("{} has asked to stop", node.node)
                                                  : fmt::format("{} may not stop yet: {}", node.node, permit->reason));
      break;
    case PermitDocument::Stage::granted:
      step.waits.push_back(fmt::format("{} hands over what it leads", node.node));
      break;
  }
  if (now - node.since >= options_.within)
    step.failed = Error{Code::unavailable, fmt::format("{} after {}", step.waits.back(), format(options_.within))};
}

void Rollout::look_at_away(RolloutNode& node, const Snapshot& seen, Instant now, RolloutStep& step) {
  const bool there = is_there(seen, node.node);
  const bool back = there && incarnation_of(seen, node.node) != node.incarnation;
  if (permit_of(seen, node) != nullptr) {
    step.waits.push_back(back ? fmt::format("{} is back, and not all its replicas serve yet", node.node)
                              : fmt::format("{} is not back yet", node.node));
    if (now - node.since >= options_.within)
      step.failed = Error{Code::unavailable, fmt::format("{} after {}", step.waits.back(), format(options_.within))};
  } else if (back) {
    node.stage = NodeStage::done;
    node.since = now;
    last_done_ = now;
  } else if (there) {
    step.failed =
        Error{Code::refused, fmt::format("{} goes on as it was: its command has not restarted it while it might", node.node)};
  } else {
    step.failed = Error{Code::unavailable, fmt::format("{} is not back in time, and counts as lost", node.node)};
  }
}

std::optional<Error> Rollout::why_not_ask(const RolloutNode& next, const Snapshot& seen) const {
  if (!is_there(seen, next.node))
    return Error{Code::refused, fmt::format("{} is gone: bring it back first, or leave it out", next.node)};
  const PermitDocument* permit = permit_of(seen, next);
  if (permit == nullptr || permit->stage == PermitDocument::Stage::refused || !options_.nodes.empty()) return std::nullopt;
  return Error{Code::refused,
               fmt::format("somebody else has asked to stop {}: wait until that is over, or name it with --node", next.node)};
}

// In order: nobody is asked before the one in front of it. `beside`: records were read, so that it is known who could stop beside others.
void Rollout::ask(const Snapshot& seen, Instant now, bool beside, RolloutStep& step) {
  if (last_done_ && now - *last_done_ < options_.pause) {
    if (under_way() == 0) step.waits.push_back(fmt::format("a pause of {}", format(options_.pause)));
    return;
  }
  const auto next = std::ranges::find(nodes_, NodeStage::waiting, &RolloutNode::stage);
  if (next == nodes_.end()) return;
  if (under_way() > 0 && !(beside && asks_beside() && stoppable(seen, {next->node}).all)) return;
  if (const LiveDocument* said = seen.said(next->node))
    next->incarnation = said->incarnation;  // it may have been restarted meanwhile: then it is once more
  step.failed = why_not_ask(*next, seen);
  if (step.failed) return;
  auto changes = ask_permit(seen, next->node, options_.permit);
  if (!changes) {
    step.failed = changes.error();
    return;
  }
  next->stage = NodeStage::asked;
  next->since = now;
  next->ours = !changes->writes.empty();
  asked_last_ = next->node;
  step.changes = *std::move(changes);
}

void Rollout::not_written() {
  if (!asked_last_) return;
  const auto asked = std::ranges::find(nodes_, *asked_last_, &RolloutNode::node);
  asked->stage = NodeStage::waiting;
  asked->ours = false;
  asked_last_.reset();
}

RolloutStep Rollout::step(const Snapshot& seen, Instant now) {
  RolloutStep step;
  const bool beside = asks_beside();  // so whoever read has read records too; what is found out below may change that
  asked_last_.reset();
  for (RolloutNode& node : nodes_) {
    if (node.stage == NodeStage::asked) look_at_asked(node, seen, now, step);
    if (node.stage == NodeStage::away) look_at_away(node, seen, now, step);
    if (step.failed) {
      step.stop.reset();
      return step;
    }
  }
  step.finished = in(false).empty();
  // Who may stop is not kept waiting, and what is read after its command has run knows more.
  if (!step.stop) ask(seen, now, beside, step);
  return step;
}

std::vector<NodeId> Rollout::unused() const {
  std::vector<NodeId> found;
  for (const RolloutNode& node : nodes_) {
    if (node.stage == NodeStage::asked && node.ours) found.push_back(node.node);
  }
  return found;
}

Changes Rollout::withdraw(const Snapshot& seen) const {
  Changes changes;
  for (const RolloutNode& node : nodes_) {
    const LiveDocument* said = seen.said(node.node);
    if (node.stage != NodeStage::asked || !node.ours || permit_of(seen, node) == nullptr || said == nullptr || said->leaving)
      continue;
    changes.writes.push_back({.key = {.kind = Key::Kind::permit, .node = node.node}, .text = ""});
  }
  return changes;
}

}  // namespace evenkeel::control
