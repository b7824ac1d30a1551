// Workloads, and what a cluster file says, as documents.

#include "evenkeel/control/detail/operating.h"

namespace evenkeel::control {

using detail::find_optional;

namespace {

Key key_of(const WorkloadId& workload) { return {.kind = Key::Kind::workload, .workload = workload}; }

bool has_records(const Snapshot& seen, const WorkloadId& workload) {
  return std::ranges::any_of(seen.records, [&](const auto& bucket) { return bucket.first.first == workload; });
}

// Pins by name, as documents have them.
WorkloadDocument document_of(const Cluster& file, const Workload& workload) {
  WorkloadDocument out{.spec = workload};
  for (std::size_t i = 0; i < workload.pinned.shards.size(); ++i) {
    auto& nodes = out.pinned[workload.pinned.shards[i]];
    for (const NodeIndex node : workload.pinned.nodes[i]) nodes.push_back(file.nodes[node.value()].name);
  }
  out.spec.pinned = {};
  return out;
}

Result<> may_become(const WorkloadDocument& before, const WorkloadDocument& after) {
  const WorkloadId& name = after.spec.name;
  if (after.spec.shards < before.spec.shards) {
    return fail(
        Code::refused,
        "{} has {} shards and cannot have {}: they do not become fewer. Create a workload of another name, move the data, "
        "and delete this one",
        name, before.spec.shards, after.spec.shards);
  }
  if (before.split_from > 0 && after.spec.shards != before.spec.shards) {
    return fail(Code::refused, "{} is being split into {} shards: it cannot have {} until that is done", name, before.spec.shards,
                after.spec.shards);
  }
  if (after.spec.state_model != before.spec.state_model) {
    return fail(Code::refused, "{} is a {} and cannot become a {} with replicas in its states: delete it and create it anew",
                name, before.spec.state_model, after.spec.state_model);
  }
  return {};
}

// Built in, or in the config as it will be.
bool has_model(const Snapshot& seen, const Cluster& file, const FileParts& parts, const StateModelId& name) {
  const auto is_in = [&](const std::vector<StateModel>& models) {
    return std::ranges::any_of(models, [&](const StateModel& model) { return model.name() == name; });
  };
  return find_built_in(name.str()) != nullptr || (seen.config && is_in(seen.config->state_models)) ||
         (!parts.only_new && is_in(file.state_models));
}

Result<> add_workload(const Snapshot& seen, const Cluster& file, const Workload& workload, const FileParts& parts, Changes& out) {
  const auto before = find_optional(seen.workloads, workload.name);
  WorkloadDocument after = document_of(file, workload);
  if (before && !before->deleted) {
    if (parts.only_new)
      return fail(Code::conflict, "there is a workload {} already; `evenkeel apply -f` changes it", quote(workload.name.str()));
    if (const auto good = may_become(*before, after); !good) return good;
    after.buckets = before->buckets;
    after.highest = before->highest;
    after.split_from = before->split_from;
    if (after.spec.shards > before->spec.shards && after.spec.control.key_map == KeyMap::hash) {
      out.notes.push_back(
          fmt::format("{}: with {} shards instead of {} keys belong to other shards: the service must move them. `evenkeel "
                      "workload split` doubles them with their data",
                      workload.name, after.spec.shards, before->spec.shards));
    }
  } else {
    if (before && has_records(seen, workload.name)) {
      return fail(Code::refused,
                  "{} is deleted and its replicas are still being dropped: try again when `evenkeel workload list` does "
                  "not show it any more",
                  workload.name);
    }
    after.buckets = buckets_for(after.spec.shards);
    if (before) after.highest = before->highest;
  }
  if (!has_model(seen, file, parts, workload.state_model)) {
    return fail(Code::refused, "{} is a {}, which the cluster has no state model for: `evenkeel apply -f` adds it", workload.name,
                workload.state_model);
  }
  if (before == after) return {};
  auto write = detail::write_of(key_of(workload.name), after);
  if (!write) return fail(write.error());
  out.writes.push_back(*std::move(write));
  return {};
}

Operation operation_of(NodeStatus status) {
  switch (status) {
    case NodeStatus::draining:
      return Operation::drain;
    case NodeStatus::cordoned:
      return Operation::cordon;
    case NodeStatus::no_leaders:
      return Operation::no_leaders;
    case NodeStatus::up:
    case NodeStatus::down:
      break;
  }
  return Operation::none;
}

// What the file says and the node itself does not; what is usual counts as not said.
Result<> add_node(const Snapshot& seen, const Node& node, Changes& out) {
  const auto before = find_optional(seen.nodes, node.name);
  const LiveDocument* said = seen.said(node.name);
  const LiveDocument own = said == nullptr ? LiveDocument{} : *said;
  NodeDocument after = before.value_or(NodeDocument{});
  const auto lay = [](auto& over, const auto& wanted, const auto& usual, const auto& of_node) {
    if (wanted != usual && (over || wanted != of_node)) over = wanted;
  };
  lay(after.capacity, node.capacity, Amounts{}, own.capacity);
  lay(after.power, node.power, Quantity(1), own.power);
  lay(after.labels, node.labels, Labels{}, own.labels);
  lay(after.taints, node.taints, std::vector<Taint>{}, own.taints);
  const Operation wanted = operation_of(node.status);
  const Operation now = control::operation_of(seen, node.name);
  if (wanted != Operation::none && wanted != now) {
    if (now != Operation::none) {
      return fail(Code::refused, "{} is {} in the file, and its operation is {}: `evenkeel node undo {}` first", node.name,
                  name(node.status), name(now), node.name);
    }
    after.operation = wanted;
    after.since.reset();
    after.reason.clear();
  }
  if (before.value_or(NodeDocument{}) == after) return {};
  auto write = detail::write_of({.kind = Key::Kind::node, .node = node.name}, after);
  if (!write) return fail(write.error());
  out.writes.push_back(*std::move(write));
  return {};
}

Result<> add_config(const Snapshot& seen, const Cluster& file, const FileParts& parts, Changes& out) {
  ConfigDocument after = seen.config.value_or(ConfigDocument{});
  if (parts.settings) after.settings = file.settings;
  for (const StateModel& model : file.state_models) {
    const auto own = std::ranges::find_if(after.state_models, [&](const StateModel& one) { return one.name() == model.name(); });
    if (own == after.state_models.end()) {
      after.state_models.push_back(model);
    } else if (own->spec() != model.spec()) {
      const auto user = std::ranges::find_if(
          seen.workloads, [&](const auto& one) { return one.second.spec.state_model == model.name() && !one.second.deleted; });
      if (user != seen.workloads.end()) {
        return fail(Code::refused, "the state model {} has replicas in its states, of {}: give the changed one another name",
                    model.name(), user->first);
      }
      *own = model;
    }
  }
  if (seen.config == after) return {};
  auto write = detail::write_of({.kind = Key::Kind::config}, after);
  if (!write) return fail(write.error());
  out.writes.push_back(*std::move(write));
  return {};
}

}  // namespace

Result<Changes> delete_workload(const Snapshot& seen, const WorkloadId& workload) {
  const auto found = seen.workloads.find(workload);
  if (found != seen.workloads.end() && found->second.deleted)
    return Changes{.writes = {}, .notes = {fmt::format("{} is deleted already", workload)}};
  const auto before = detail::find_workload(seen, workload);
  if (!before) return fail(before.error());
  WorkloadDocument after = **before;
  after.deleted = true;
  return detail::changed(key_of(workload), std::optional(**before), after, "");
}

Result<Changes> split_workload(const Snapshot& seen, const WorkloadId& workload) {
  const auto before = detail::find_workload(seen, workload);
  if (!before) return fail(before.error());
  const WorkloadDocument& now = **before;
  if (now.split_from > 0)
    return fail(Code::refused, "{} is being split from {} shards into {}: `evenkeel workload show {}` says how far it is",
                workload, now.split_from, now.spec.shards, workload);
  if (now.spec.control.key_map == KeyMap::range)
    return fail(Code::refused,
                "the keys of {} are in ranges, and with twice as many of them every shard but the first would be another one's: "
                "create a workload of another name, and move the data",
                workload);
  if (now.spec.shards > shards_max / 2 || now.spec.shards == 0)
    return fail(Code::refused, "{} has {} shards and cannot have twice as many", workload, now.spec.shards);
  std::size_t largest = 0;
  for (const auto& [key, bucket] : seen.records) {
    if (key.first == workload) largest = std::max(largest, format(bucket).size());
  }
  if (largest > document_bytes_max / 2)
    return fail(
        Code::too_large,
        "the shards of {} are in {} buckets of up to {} bytes, and a document has at most {}: with twice as many shards it "
        "would not fit. Create a workload of another name, which has more buckets, and move the data",
        workload, now.buckets, largest, document_bytes_max);
  WorkloadDocument after = now;
  after.split_from = now.spec.shards;
  after.spec.shards = now.spec.shards * 2;
  auto changes = detail::changed(key_of(workload), std::optional(now), after, "");
  if (changes && !now.pinned.empty())
    changes->notes.push_back(
        fmt::format("shards that come of pinned ones are not pinned: `pinned` has those up to {}", now.spec.shards - 1));
  return changes;
}

Result<Changes> apply_file(const Snapshot& seen, const Cluster& file, const FileParts& parts) {
  Changes out;
  if (!parts.only_new) {
    if (const auto good = add_config(seen, file, parts, out); !good) return fail(good.error());
    for (const Node& node : file.nodes) {
      if (const auto good = add_node(seen, node, out); !good) return fail(good.error());
    }
    if (!file.placement.empty() || !file.cores.empty() || !file.moving.empty() || !file.recent.empty())
      out.notes.emplace_back(
          "where replicas are is the controller's to say: placement, cores, moving and recent are not applied");
    if (!file.barred.empty()) out.notes.emplace_back("barred is not applied: `evenkeel node disable` forbids a shard on a node");
  }
  for (const Workload& workload : file.workloads) {
    if (const auto good = add_workload(seen, file, workload, parts, out); !good) return fail(good.error());
  }
  if (out.writes.empty()) out.notes.emplace_back("the cluster is so already: nothing to write");
  return out;
}

}  // namespace evenkeel::control
