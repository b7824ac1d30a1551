// Orders about single shards, and what nodes hold although no record knows.

#include <set>

#include "evenkeel/control/detail/operating.h"

namespace evenkeel::control {

using detail::find_optional;

namespace {

Key key_of(const ShardId& shard) { return {.kind = Key::Kind::order, .workload = shard.workload, .shard = shard.shard}; }

std::vector<std::string> holders_of(const Snapshot& seen, const ShardId& shard) {
  std::vector<std::string> names;
  if (const ShardRecord* record = seen.record(shard)) {
    for (const Holder& holder : record->holders) {
      if (holder.told.str() != state_dropped) names.push_back(holder.node.str());
    }
  }
  return names;
}

Result<> check_holder(const Snapshot& seen, const ShardId& shard, const NodeId& node) {
  if (const auto good = check_node(seen, node); !good) return good;
  const auto holders = holders_of(seen, shard);
  if (std::ranges::find(holders, node.str()) != holders.end()) return {};
  return fail(Code::refused, "{} does not hold {}; {}", node, format(shard),
              holders.empty() ? "nobody does" : fmt::format("those that do: {}", fmt::join(holders, ", ")));
}

// The store was put back to when it was being split off: its record names those that copied it, and nobody knows what they have by now.
bool is_doubted(const Snapshot& seen, const ShardId& shard) {
  const ShardRecord* record = seen.record(shard);
  if (record == nullptr || !record->born || !seen.waits) return false;
  const auto lost = seen.waits->lost.find(shard.workload);
  return lost != seen.waits->lost.end() && shard.shard.value() < lost->second &&
         record->version.epoch <= seen.waits->epochs_above;
}

// What a node says of a shard now; reports of an earlier join say what it held.
const ReplicaReport* report_of(const Snapshot& seen, const ShardId& shard, const NodeId& node) {
  for (const Report& report : seen.reports) {
    if (report.node != node || report.workload != shard.workload) continue;
    const auto found = std::ranges::find(report.replicas, shard.shard, &ReplicaReport::shard);
    if (found != report.replicas.end()) return &*found;
  }
  return nullptr;
}

void add_to(std::vector<NodeId>& nodes, const NodeId& node) {
  if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
}

Result<Changes> ordered(const Snapshot& seen, const ShardId& shard, const OrderDocument& after) {
  auto changes = detail::changed(key_of(shard), find_optional(seen.orders, shard), after,
                                 fmt::format("that is ordered for {} already, and waits to be carried out", format(shard)));
  if (changes && freeze_in_force(seen) != nullptr)
    changes->notes.emplace_back("the cluster is frozen: it is carried out after that");
  return changes;
}

}  // namespace

Result<Changes> lead(const Snapshot& seen, const ShardId& shard, const std::optional<NodeId>& node, bool accept_loss) {
  if (const auto good = check_shard(seen, shard); !good) return fail(good.error());
  if (!node && !accept_loss) return fail(Code::invalid, "say which node shall lead {}", format(shard));
  if (node && !accept_loss) {
    if (const auto good = check_holder(seen, shard, *node); !good) return fail(good.error());
    if (!is_there(seen, *node))
      return fail(Code::refused, "{} is not there, so it cannot lead: start it, or name another", *node);
    const Operation operation = operation_of(seen, *node);
    if (operation == Operation::drain || operation == Operation::no_leaders)
      return fail(Code::refused, "{} may not lead: its operation is {}; `evenkeel node undo {}` first", *node, name(operation),
                  *node);
  } else if (node) {
    if (const auto good = check_node(seen, *node); !good) return fail(good.error());
  }
  const ShardView* view = seen.view(shard);
  if (node && view != nullptr && view->leader == node && !seen.orders.contains(shard))
    return Changes{.writes = {}, .notes = {fmt::format("{} leads {} already", *node, format(shard))}};
  OrderDocument after = find_optional(seen.orders, shard).value_or(OrderDocument{});
  if (node) after.lead = node;
  after.accept_loss = after.accept_loss || accept_loss;
  return ordered(seen, shard, after);
}

Result<Changes> reset(const Snapshot& seen, const ShardId& shard, std::span<const NodeId> nodes) {
  if (const auto good = check_shard(seen, shard); !good) return fail(good.error());
  OrderDocument after = find_optional(seen.orders, shard).value_or(OrderDocument{});
  for (const NodeId& node : nodes) {
    if (const auto good = check_holder(seen, shard, node); !good) return fail(good.error());
    const ReplicaReport* report = report_of(seen, shard, node);
    if (report == nullptr || (!report->gave_up && report->state.str() != state_error))
      return fail(Code::refused, "{} has not given {} up, so there is nothing to reset; it says {}", node, format(shard),
                  report == nullptr ? "nothing" : report->state.str());
    add_to(after.reset, node);
  }
  return ordered(seen, shard, after);
}

std::vector<OrphanState> orphans_of(const Snapshot& seen) {
  std::vector<OrphanState> found;
  for (const Report& report : seen.reports) {
    for (const ReplicaReport& replica : report.replicas) {
      if (replica.state.str() == state_dropped) continue;
      const ShardId shard{report.workload, replica.shard};
      const ShardRecord* record = seen.record(shard);
      if (record != nullptr && std::ranges::find(record->holders, report.node, &Holder::node) != record->holders.end()) continue;
      found.push_back({shard, report.node, std::max(replica.version.epoch, replica.last)});
    }
  }
  std::ranges::sort(found, {}, [](const OrphanState& one) { return std::tie(one.shard, one.node); });
  return found;
}

Result<Changes> settle_orphans(const Snapshot& seen, const ShardId& shard, std::span<const NodeId> nodes, Fate fate) {
  if (const auto good = check_shard(seen, shard); !good) return fail(good.error());
  const auto orphans = orphans_of(seen);
  OrderDocument after = find_optional(seen.orders, shard).value_or(OrderDocument{});
  for (const NodeId& node : nodes) {
    if (const auto good = check_node(seen, node); !good) return fail(good.error());
    const bool is_orphan =
        std::ranges::any_of(orphans, [&](const OrphanState& orphan) { return orphan.shard == shard && orphan.node == node; });
    const bool known = check_holder(seen, shard, node).has_value();
    if (!is_orphan && !(known && is_doubted(seen, shard))) {
      return fail(Code::refused, "{}: {}", node,
                  known
                      ? fmt::format("the record of {} knows it, so it is no orphan; `evenkeel node disable {} {}` moves it away",
                                    format(shard), format(shard), node)
                      : fmt::format("it holds nothing of {}", format(shard)));
    }
    const auto& other = fate == Fate::adopt ? after.drop : after.adopt;
    if (std::ranges::find(other, node) != other.end())
      return fail(Code::conflict, "an order to {} it on {} waits to be carried out", fate == Fate::adopt ? "drop" : "adopt",
                  node);
    add_to(fate == Fate::adopt ? after.adopt : after.drop, node);
  }
  return ordered(seen, shard, after);
}

Result<Changes> adopt_all(const Snapshot& seen) {
  std::map<ShardId, OrderDocument> orders;
  Changes all;
  for (const OrphanState& orphan : orphans_of(seen)) {
    if (!check_shard(seen, orphan.shard)) {
      all.notes.push_back(fmt::format("{} holds {}, which does not exist: create it, or clear the node's disk", orphan.node,
                                      format(orphan.shard)));
      continue;
    }
    if (!is_there(seen, orphan.node)) {
      all.notes.push_back(fmt::format("{} is not there: what it holds of {} is not adopted", orphan.node, format(orphan.shard)));
      continue;
    }
    const auto [at, added] = orders.try_emplace(orphan.shard, find_optional(seen.orders, orphan.shard).value_or(OrderDocument{}));
    const auto& drop = at->second.drop;
    if (std::ranges::find(drop, orphan.node) == drop.end()) add_to(at->second.adopt, orphan.node);
  }
  for (const auto& [shard, order] : orders) {
    auto one = ordered(seen, shard, order);
    if (!one) return one;
    for (Write& write : one->writes) all.writes.push_back(std::move(write));
  }
  if (orders.empty()) all.notes.emplace_back("no record lacks anything that a node holds: nothing to adopt");
  return all;
}

}  // namespace evenkeel::control
