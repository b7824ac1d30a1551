// What operators write, as documents of the store.

#include <algorithm>
#include <utility>

#include "evenkeel/sim/detail/work.h"
#include "evenkeel/sim/edit.h"

namespace evenkeel::sim {
namespace {

using Kind = Action::Kind;

// The document that is there, or a new one; what cannot be read is written anew.
template <class T, class Parse>
T document_of(const std::optional<std::string>& text, Parse parse) {
  if (!text) return {};
  auto document = parse(*text);
  return document ? std::move(*document) : T{};
}

Operation operation_of(Kind kind) {
  switch (kind) {
    case Kind::drain:
      return Operation::drain;
    case Kind::cordon:
      return Operation::cordon;
    case Kind::no_leaders:
      return Operation::no_leaders;
    case Kind::swap:
      return Operation::swap;
    case Kind::forget:
      return Operation::forget;
    case Kind::remove:
      return Operation::remove;
    default:
      return Operation::none;
  }
}

}  // namespace

void Simulation::Work::edit_node_document(const NodeId& node, std::function<void(NodeDocument&)> change) {
  operator_->edit(keys_.node(node), [change = std::move(change)](const std::optional<std::string>& text) {
    auto document = document_of<NodeDocument>(text, [](const std::string& t) { return parse_node(t, "node"); });
    change(document);
    return std::optional(format(document));
  });
}

void Simulation::Work::edit_config_document(std::function<void(ConfigDocument&)> change) {
  operator_->edit(keys_.config(), [change = std::move(change)](const std::optional<std::string>& text) {
    auto document = document_of<ConfigDocument>(text, [](const std::string& t) { return parse_config(t, "config"); });
    change(document);
    return std::optional(format(document));
  });
}

void Simulation::Work::edit_workload_document(const WorkloadId& workload, std::function<void(WorkloadDocument&)> change) {
  operator_->edit(keys_.workload(workload), [workload, change = std::move(change)](const std::optional<std::string>& text) {
    auto document =
        document_of<WorkloadDocument>(text, [&](const std::string& t) { return parse_workload(t, workload, "workload"); });
    if (!text) document.buckets = 0;
    change(document);
    return document.buckets > 0 ? std::optional(format(document)) : std::nullopt;
  });
}

void Simulation::Work::edit_order_document(const ShardId& shard, std::function<void(OrderDocument&)> change) {
  operator_->edit_once(keys_.order(shard), [change = std::move(change)](const std::optional<std::string>& text) {
    auto document = document_of<OrderDocument>(text, [](const std::string& t) { return parse_order(t, "order"); });
    change(document);
    return std::optional(format(document));
  });
}

// 1. Nodes and the cluster.

Result<> Simulation::Work::edit_node(const Action& action) {
  const Words& words = action.words;
  if (const auto found = host(words.node); !found) return fail(found.error());
  if (action.kind == Kind::swap) {
    if (const auto found = host(words.other); !found) return fail(found.error());
  }
  if (action.kind == Kind::disable || action.kind == Kind::enable) {
    edit_node_document(words.node, [shard = words.shard, disable = action.kind == Kind::disable](NodeDocument& document) {
      std::erase(document.disabled, shard);
      if (disable) document.disabled.push_back(shard);
      std::ranges::sort(document.disabled);
    });
    return {};
  }
  if (action.kind == Kind::remove && hosts_.at(words.node).main) return fail(Code::refused, "{} runs", words.node);
  edit_node_document(words.node, [action, last = seen_.last_live(words.node)](NodeDocument& document) {
    document.operation = operation_of(action.kind);
    document.swap_with = action.kind == Kind::swap ? std::optional(action.words.other) : std::nullopt;
    document.reason = "the story says so";
    document.data.reset();
    document.since.reset();
    if (action.kind == Kind::remove && last) document.data = last->data;
    if (action.kind == Kind::forget && last) document.since = last->incarnation;
    if (action.kind == Kind::undo) document.reason.clear();
  });
  return {};
}

Result<> Simulation::Work::edit_config(const Action& action) {
  edit_config_document([kind = action.kind](ConfigDocument& document) {
    switch (kind) {
      case Kind::freeze:
      case Kind::freeze_keep_leaders:
        document.freeze = Freeze{.keep_leaders = kind == Kind::freeze_keep_leaders, .reason = "the story says so", .timeout = {}};
        return;
      case Kind::thaw:
        document.freeze.reset();
        return;
      case Kind::maintenance:
        document.maintenance = Maintenance{.reason = "the story says so", .timeout = {}};
        return;
      default:
        document.maintenance.reset();
        return;
    }
  });
  return {};
}

// 2. Workloads.

// The document of a workload as the spec has it. One that was deleted begins where it ended.
void Simulation::Work::write_workload(const Workload& workload) {
  std::map<ShardIndex, std::vector<NodeId>> pinned;
  for (std::size_t i = 0; i < workload.pinned.shards.size(); ++i) {
    for (const NodeIndex node : workload.pinned.nodes[i])
      pinned[workload.pinned.shards[i]].push_back(spec_.nodes[node.value()].name);
  }
  edit_workload_document(workload.name, [workload, pinned](WorkloadDocument& document) {
    document.spec = workload;
    document.spec.pinned = {};
    document.pinned = pinned;
    if (document.deleted || document.split_from * 2 != workload.shards) document.split_from = 0;
    document.deleted = false;
    if (document.buckets == 0) document.buckets = buckets_for(workload.shards);
  });
}

// Only one split at a time, as operators are told too.
Result<> Simulation::Work::split(const WorkloadId& workload) {
  const auto seen = seen_.workloads().find(workload);
  const auto spec = std::ranges::find(spec_.workloads, workload, &Workload::name);
  if (spec == spec_.workloads.end() || seen == seen_.workloads().end())
    return fail(Code::not_found, "there is no workload {}", workload);
  if (seen->second.document.split_from > 0) return fail(Code::refused, "{} is being split", workload);
  const std::uint32_t before = spec->shards;
  spec->shards *= 2;
  edit_workload_document(workload, [before](WorkloadDocument& document) {
    if (document.spec.shards != before || document.deleted) return;
    document.spec.shards = before * 2;
    document.split_from = before;
  });
  return {};
}

Result<> Simulation::Work::edit_spec(const Action& action) {
  const Words& words = action.words;
  if (action.kind == Kind::split_shards) return split(words.workload);
  const auto known = [&](const WorkloadId& name) {
    return std::ranges::find(spec_.workloads, name, &Workload::name) != spec_.workloads.end();
  };
  const bool names_one = action.kind == Kind::change || action.kind == Kind::erase;
  if (names_one && !known(words.workload)) return fail(Code::not_found, "there is no workload {}", words.workload);
  auto after = edit(spec_, action);
  if (!after) return fail(after.error());
  const Cluster before = std::exchange(spec_, std::move(*after));
  if (action.kind == Kind::settings)
    edit_config_document([settings = spec_.settings](ConfigDocument& document) { document.settings = settings; });
  if (action.kind == Kind::erase)
    edit_workload_document(words.workload, [](WorkloadDocument& document) { document.deleted = true; });
  if (action.kind == Kind::erase) ledger_.forget(words.workload);
  for (const Workload& workload : spec_.workloads) {
    if (std::ranges::find(before.workloads, workload) == before.workloads.end()) write_workload(workload);
  }
  for (const Node& node : spec_.nodes) {
    if (!hosts_.contains(node.name)) start(add_host(node));
  }
  return {};
}

// 3. Shards.

Result<> Simulation::Work::edit_order(const Action& action) {
  const Words& words = action.words;
  if (seen_.find(words.shard) == nullptr) return fail(Code::not_found, "there is no shard {}", format(words.shard));
  if (action.kind == Kind::lead_accept_loss) ledger_.forgive(words.shard);
  edit_order_document(words.shard, [kind = action.kind, node = words.node](OrderDocument& document) {
    if (kind == Kind::lead) document.lead = node;
    if (kind == Kind::lead_accept_loss) document.accept_loss = true;
    if (kind == Kind::reset) document.reset.push_back(node);
    if (kind == Kind::drop_orphan) document.drop.push_back(node);
  });
  return {};
}

// Held by a node's own word, and by no record.
Result<> Simulation::Work::adopt_orphans() {
  std::map<ShardId, std::vector<NodeId>> orphans;
  for (const auto& [node, owner] : hosts_) {
    for (const store::Entry& entry : world_->contents(keys_.report_prefix(node)).entries) {
      const auto report = parse_report(entry.value, *keys_.parse(entry.key), entry.key);
      if (!report) continue;
      for (const ReplicaReport& replica : report->replicas) {
        const ShardId shard{report->workload, replica.shard};
        const ShardSeen* seen = seen_.find(shard);
        const bool known =
            seen != nullptr && std::ranges::find(seen->record.holders, node, &Holder::node) != seen->record.holders.end();
        if (!known && replica.state.str() != state_dropped) orphans[shard].push_back(node);
      }
    }
  }
  for (const auto& [shard, nodes] : orphans)
    edit_order_document(shard, [nodes](OrderDocument& document) { document.adopt = nodes; });
  return {};
}

}  // namespace evenkeel::sim
