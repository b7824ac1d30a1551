#include "evenkeel/control/survey.h"

#include <algorithm>

#include "evenkeel/control/detail/operating.h"
#include "evenkeel/place/place.h"

namespace evenkeel::control {
namespace {

const StateModel* model_of(const Snapshot& seen, const Workload& workload) {
  if (seen.config) {
    for (const StateModel& model : seen.config->state_models) {
      if (model.name() == workload.state_model) return &model;
    }
  }
  return find_built_in(workload.state_model.str());
}

// The state of which a shard has one; nothing if its model has none.
std::optional<StateId> leading_state(const Snapshot& seen, const WorkloadId& workload) {
  const auto found = seen.workloads.find(workload);
  if (found == seen.workloads.end()) return std::nullopt;
  const StateModel* model = model_of(seen, found->second.spec);
  return model == nullptr ? std::nullopt : model->bounded();
}

bool has_failed(const ReplicaReport& report) { return report.gave_up || report.state.str() == state_error; }
// Also one that is still tried: its people ask why it is not where it was told to be.
bool is_in_error(const ReplicaReport& report) { return has_failed(report) || !report.error.empty(); }

NodeSurvey::State state_of(const Snapshot& seen, const NodeId& node, Operation operation) {
  using State = NodeSurvey::State;
  const auto beat = seen.beats.find(node);
  if (is_there(seen, node)) return seen.said(node)->leaving ? State::leaving : State::there;
  if (beat != seen.beats.end() && !beat->second.ended) return State::joining;
  if (operation == Operation::remove && seen.nodes.at(node).data) return State::removed;
  return beat == seen.beats.end() && seen.said(node) == nullptr ? State::never : State::gone;
}

void count_replicas(const Snapshot& seen, std::map<NodeId, NodeSurvey>& nodes) {
  for (const auto& [key, bucket] : seen.records) {
    for (const ShardRecord& record : bucket.shards) {
      for (const Holder& holder : record.holders) {
        if (holder.told.str() == state_dropped) continue;
        NodeSurvey& node = nodes[holder.node];
        ++node.replicas;
        if (node.state == NodeSurvey::State::never) node.state = NodeSurvey::State::gone;
      }
    }
  }
  for (const auto& [key, bucket] : seen.views) {
    for (const ShardView& view : bucket.shards) {
      if (const auto node = view.leader ? nodes.find(*view.leader) : nodes.end(); node != nodes.end()) ++node->second.leaders;
    }
  }
  for (const Report& report : seen.reports) {
    const auto node = nodes.find(report.node);
    if (node != nodes.end())
      node->second.errors += static_cast<std::uint32_t>(std::ranges::count_if(report.replicas, is_in_error));
  }
}

}  // namespace

std::string_view name(NodeSurvey::State state) {
  switch (state) {
    case NodeSurvey::State::there:
      return "there";
    case NodeSurvey::State::joining:
      return "joining";
    case NodeSurvey::State::leaving:
      return "leaving";
    case NodeSurvey::State::gone:
      return "gone";
    case NodeSurvey::State::removed:
      return "removed";
    case NodeSurvey::State::never:
      break;
  }
  return "never";
}

std::vector<NodeSurvey> survey_nodes(const Snapshot& seen) {
  std::map<NodeId, NodeSurvey> nodes;
  for (const NodeId& name : known_nodes(seen)) {
    NodeSurvey& node = nodes[name];
    node.node = name;
    node.operation = operation_of(seen, name);
    node.state = state_of(seen, name, node.operation);
    if (const LiveDocument* said = seen.said(name)) {
      node.zone = said->zone;
      node.address = said->address;
      node.version = said->version;
    }
    if (const auto document = seen.nodes.find(name); document != seen.nodes.end() && node.operation != Operation::none) {
      node.swap_with = document->second.swap_with;
      node.reason = document->second.reason;
    }
    if (const auto permit = seen.permits.find(name); permit != seen.permits.end()) node.permit = permit->second.stage;
    if (seen.waits && node.state == NodeSurvey::State::gone) node.gone = detail::find_optional(seen.waits->gone, name);
  }
  count_replicas(seen, nodes);
  std::vector<NodeSurvey> list;
  for (auto& [name, node] : nodes) list.push_back(std::move(node));
  return list;
}

std::vector<WorkloadSurvey> survey_workloads(const Snapshot& seen) {
  std::map<WorkloadId, WorkloadSurvey> found;
  for (const auto& [name, document] : seen.workloads) {
    const bool left = std::ranges::any_of(seen.records, [&](const auto& bucket) { return bucket.first.first == name; });
    if (document.deleted && !left) continue;
    const Workload& spec = document.spec;
    const std::uint32_t usual = spec.replicas > 1 ? spec.replicas - 1 : 1;
    WorkloadSurvey& one = found[name];
    one = {.workload = name,
           .deleted = document.deleted,
           .shards = spec.shards,
           .replicas = spec.replicas,
           .min_active = spec.control.min_active.value_or(usual),
           .leads = leading_state(seen, name).has_value(),
           .split_from = document.split_from,
           .unborn = document.split_from};
    one.below_min_active = one.incomplete = one.shards;  // until they are seen to serve
  }
  for (const auto& [key, bucket] : seen.views) {
    const auto at = found.find(key.first);
    if (at == found.end()) continue;
    WorkloadSurvey& one = at->second;
    for (const ShardView& view : bucket.shards) {
      if (view.shard.value() >= one.shards) continue;
      if (one.split_from > 0 && view.shard.value() >= one.split_from) --one.unborn;
      const std::size_t serving = view.others.size() + (view.leader ? 1 : 0);
      one.led += view.leader ? 1 : 0;
      one.below_min_active -= serving >= one.min_active ? 1 : 0;
      one.incomplete -= serving >= one.replicas ? 1 : 0;
    }
  }
  for (auto& [name, one] : found) {
    one.below_min_active -= one.unborn;
    one.incomplete -= one.unborn;
  }
  for (const Report& report : seen.reports) {
    const auto at = found.find(report.workload);
    if (at != found.end()) at->second.errors += static_cast<std::uint32_t>(std::ranges::count_if(report.replicas, has_failed));
  }
  std::vector<WorkloadSurvey> list;
  for (auto& [name, one] : found) list.push_back(std::move(one));
  return list;
}

std::vector<ReplicaSurvey> survey_replicas(const Snapshot& seen, const ShardId& shard) {
  std::vector<ReplicaSurvey> found;
  if (const ShardRecord* record = seen.record(shard)) {
    for (const Holder& holder : record->holders) found.push_back({.node = holder.node, .told = &holder});
  }
  std::vector<ReplicaSurvey> orphans;
  for (const Report& report : seen.reports) {
    if (report.workload != shard.workload) continue;
    const auto says = std::ranges::find(report.replicas, shard.shard, &ReplicaReport::shard);
    if (says == report.replicas.end()) continue;
    const auto beat = seen.beats.find(report.node);
    const bool present = beat != seen.beats.end() && !beat->second.ended && beat->second.incarnation == report.incarnation;
    const auto known = std::ranges::find(found, report.node, &ReplicaSurvey::node);
    if (known == found.end()) {
      orphans.push_back({.node = report.node, .told = nullptr, .says = &*says, .there = present});
    } else {
      known->says = &*says;
      known->there = present;
    }
  }
  std::ranges::sort(orphans, {}, &ReplicaSurvey::node);
  found.insert(found.end(), orphans.begin(), orphans.end());
  return found;
}

std::vector<std::string> explain(const Snapshot& seen, const ShardId& shard) {
  MachineOptions options{.cluster = seen.cluster};
  options.plan_pause = options.plan_patience = {};  // it is asked for at once
  Machine machine(options);
  const Output out = detail::feed(machine, seen, Instant{});
  const ShardView* view = seen.view(shard);
  const auto workload = seen.workloads.find(shard.workload);
  const std::size_t serving = view == nullptr ? 0 : view->others.size() + (view->leader ? 1 : 0);
  if (out.plan && workload != seen.workloads.end() && serving < workload->second.spec.replicas)
    machine.step(Planned{place::plan(*out.plan)}, Instant{});
  const auto state = machine.explain(shard);
  return state ? state->why : std::vector<std::string>{};
}

}  // namespace evenkeel::control
