#include "evenkeel/control/operate.h"

#include <set>

#include "evenkeel/base/overloaded.h"
#include "evenkeel/control/detail/operating.h"
#include "evenkeel/place/place.h"

namespace evenkeel::control {

using detail::changed;
using detail::find_optional;

// 1. What is known.

void Snapshot::take(const Key& key, Document document) {
  std::visit(Overloaded{
                 [&](ConfigDocument&& one) { config = std::move(one); },
                 [&](NodeDocument&& one) { nodes.insert_or_assign(key.node, std::move(one)); },
                 [&](WorkloadDocument&& one) { workloads.insert_or_assign(key.workload, std::move(one)); },
                 [&](LiveDocument&& one) {
                   (key.kind == Key::Kind::member ? members : live).insert_or_assign(key.node, std::move(one));
                 },
                 [&](BeatSeen&& one) { beats.insert_or_assign(key.node, one); },
                 [&](Report&& one) { reports.push_back(std::move(one)); },
                 [&](RecordBucket&& one) {
                   records.insert_or_assign({key.workload, key.bucket}, std::move(one));
                 },
                 [&](ViewBucket&& one) {
                   views.insert_or_assign({key.workload, key.bucket}, std::move(one));
                 },
                 [&](WaitsDocument&& one) { waits = std::move(one); },
                 [&](PermitDocument&& one) { permits.insert_or_assign(key.node, std::move(one)); },
                 [&](OrderDocument&& one) {
                   orders.insert_or_assign(ShardId{key.workload, key.shard}, std::move(one));
                 },
             },
             std::move(document));
}

bool Snapshot::empty() const {
  return !config && nodes.empty() && workloads.empty() && live.empty() && members.empty() && beats.empty() && records.empty() &&
         reports.empty();
}

namespace {

template <class Buckets>
auto find_in(const Snapshot& seen, const Buckets& buckets, const ShardId& shard)
    -> decltype(&buckets.begin()->second.shards.front()) {
  const auto workload = seen.workloads.find(shard.workload);
  if (workload == seen.workloads.end()) return nullptr;
  const auto bucket = buckets.find({shard.workload, bucket_of(shard, workload->second.buckets)});
  if (bucket == buckets.end()) return nullptr;
  const auto& shards = bucket->second.shards;
  const auto found = std::ranges::find_if(shards, [&](const auto& one) { return one.shard == shard.shard; });
  return found == shards.end() ? nullptr : &*found;
}

}  // namespace

const LiveDocument* Snapshot::said(const NodeId& node) const {
  const auto now = live.find(node), kept = members.find(node);
  if (kept == members.end()) return now == live.end() ? nullptr : &now->second;
  if (now == live.end()) return &kept->second;
  // They are written together and read one after the other: one may be of an earlier join.
  const auto beat = beats.find(node);
  const bool newer = beat != beats.end() && now->second.incarnation != beat->second.incarnation &&
                     kept->second.incarnation == beat->second.incarnation;
  return newer ? &kept->second : &now->second;
}

const ShardRecord* Snapshot::record(const ShardId& shard) const { return find_in(*this, records, shard); }
const ShardView* Snapshot::view(const ShardId& shard) const { return find_in(*this, views, shard); }

Result<> check_node(const Snapshot& seen, const NodeId& node) {
  const auto known = known_nodes(seen);
  if (std::ranges::binary_search(known, node)) return {};
  return fail(detail::unknown("node", node.str(), known));
}

Result<> check_workload(const Snapshot& seen, const WorkloadId& workload) {
  const auto found = detail::find_workload(seen, workload);
  return found ? Result<>() : fail(found.error());
}

Result<> check_shard(const Snapshot& seen, const ShardId& shard) {
  const auto workload = detail::find_workload(seen, shard.workload);
  if (!workload) return fail(workload.error());
  if (shard.shard.value() < (*workload)->spec.shards) return {};
  return fail(Code::not_found, "there is no shard {}: {} has {}, counted from 0", shard.shard, shard.workload,
              (*workload)->spec.shards);
}

std::vector<NodeId> known_nodes(const Snapshot& seen) {
  std::set<NodeId> known;
  for (const auto& [node, document] : seen.nodes) known.insert(node);
  for (const auto& [node, document] : seen.live) known.insert(node);
  for (const auto& [node, document] : seen.members) known.insert(node);
  for (const auto& [node, beat] : seen.beats) known.insert(node);
  for (const auto& [key, bucket] : seen.records) {
    for (const ShardRecord& record : bucket.shards) {
      for (const Holder& holder : record.holders) known.insert(holder.node);
    }
  }
  return {known.begin(), known.end()};
}

bool is_there(const Snapshot& seen, const NodeId& node) {
  const auto beat = seen.beats.find(node);
  const LiveDocument* said = seen.said(node);
  return beat != seen.beats.end() && !beat->second.ended && said != nullptr && said->incarnation == beat->second.incarnation;
}

Operation operation_of(const Snapshot& seen, const NodeId& node) {
  const auto found = seen.nodes.find(node);
  if (found == seen.nodes.end()) return Operation::none;
  const auto beat = seen.beats.find(node);
  const bool stale = found->second.operation == Operation::forget && found->second.since && beat != seen.beats.end() &&
                     beat->second.incarnation != *found->second.since;
  return stale ? Operation::none : found->second.operation;
}

// 2. Nodes.

namespace {

Key key_of(const NodeId& node) { return {.kind = Key::Kind::node, .node = node}; }

std::string_view past(Operation operation) {
  switch (operation) {
    case Operation::none:
      return "under no operation";
    case Operation::cordon:
      return "cordoned";
    case Operation::drain:
      return "being drained";
    case Operation::swap:
      return "being swapped";
    case Operation::no_leaders:
      return "kept from leading";
    case Operation::forget:
      return "forgotten";
    case Operation::remove:
      break;
  }
  return "removed";
}

std::string_view undoing(Operation operation) {
  switch (operation) {
    case Operation::cordon:
      return "uncordon";
    case Operation::drain:
    case Operation::swap:
      return "undrain";
    case Operation::no_leaders:
      return "leaders";
    case Operation::none:
    case Operation::forget:
    case Operation::remove:
      break;
  }
  return "undo";
}

// What asks for more may take the place of what asks for less.
int strength(Operation operation) {
  switch (operation) {
    case Operation::none:
    case Operation::forget:
      return 0;
    case Operation::cordon:
    case Operation::no_leaders:
      return 1;
    case Operation::drain:
    case Operation::swap:
      return 2;
    case Operation::remove:
      break;
  }
  return 3;
}

// A shard of which this node has the only copy that is left.
std::optional<ShardId> last_copy_on(const Snapshot& seen, const NodeId& node) {
  const auto has_copy = [&](const Holder& holder) {
    const bool other_disk = is_there(seen, holder.node) && seen.said(holder.node)->data != holder.data;
    const auto document = seen.nodes.find(holder.node);
    const bool removed = document != seen.nodes.end() && document->second.operation == Operation::remove;
    return holder.arrived && holder.told.str() != state_dropped && (holder.node == node || (!other_disk && !removed));
  };
  for (const auto& [key, bucket] : seen.records) {
    for (const ShardRecord& record : bucket.shards) {
      const auto own = std::ranges::find(record.holders, node, &Holder::node);
      if (!record.has_data || own == record.holders.end() || !has_copy(*own)) continue;
      if (std::ranges::count_if(record.holders, has_copy) == 1) return ShardId{key.first, record.shard};
    }
  }
  return std::nullopt;
}

Result<> may_leave(const Snapshot& seen, const NodeId& node, Operation operation) {
  const auto beat = seen.beats.find(node);
  if (beat != seen.beats.end() && !beat->second.ended) {
    return fail(Code::refused,
                "{} is there: its session is not over. Stop it first; if it is dead, that is known {} after its last beat", node,
                format(beat->second.ttl));
  }
  if (operation != Operation::remove) return {};
  const auto permit = seen.permits.find(node);
  if (permit != seen.permits.end() && permit->second.stage == PermitDocument::Stage::go)
    return fail(Code::refused, "{} has leave to be gone and is expected back: wait until its permit is over", node);
  if (const auto last = last_copy_on(seen, node)) {
    return fail(Code::refused,
                "{} has the last copy of {}: bring it back, or accept the loss with `evenkeel shard lead {} --accept-loss`", node,
                format(*last), format(*last));
  }
  return {};
}

}  // namespace

Result<Changes> operate(const Snapshot& seen, const NodeId& node, Operation operation, const std::string& reason) {
  ensure(operation != Operation::none && operation != Operation::swap, "an operation that needs no more than its name");
  if (const auto good = check_node(seen, node); !good) return fail(good.error());
  const Operation now = operation_of(seen, node);
  if (now != operation && strength(now) > strength(operation) && operation != Operation::forget) {
    return fail(Code::refused, "{} is {}, which is more; `evenkeel node {} {}` first", node, past(now), undoing(now), node);
  }
  if (operation == Operation::forget || operation == Operation::remove) {
    if (const auto good = may_leave(seen, node, operation); !good) return fail(good.error());
  }
  if (operation == Operation::forget && now == Operation::remove)
    return fail(Code::refused, "{} is removed, so nobody waits for it", node);
  const auto before = find_optional(seen.nodes, node);
  NodeDocument after = before.value_or(NodeDocument{});
  if (now != operation) after.swap_with.reset(), after.data.reset(), after.since.reset(), after.reason.clear();
  after.operation = operation;
  if (!reason.empty()) after.reason = reason;
  if (const auto beat = seen.beats.find(node); operation == Operation::forget && beat != seen.beats.end())
    after.since = beat->second.incarnation;
  auto changes = changed(key_of(node), before, after, fmt::format("{} is {} already", node, past(operation)));
  if (changes && now != operation && now != Operation::none)
    changes->notes.push_back(fmt::format("{} was {}, and is not any more", node, past(now)));
  return changes;
}

Result<Changes> swap_nodes(const Snapshot& seen, const NodeId& from, const NodeId& to, const std::string& reason) {
  if (const auto good = check_node(seen, from); !good) return fail(good.error());
  if (const auto good = check_node(seen, to); !good) return fail(good.error());
  if (from == to) return fail(Code::invalid, "{} cannot take its own place: name another node", from);
  if (!is_there(seen, to)) return fail(Code::refused, "{} is not there, so it can take nobody's place: start it first", to);
  if (const Operation other = operation_of(seen, to); strength(other) > 0)
    return fail(Code::refused, "{} is {}; `evenkeel node {} {}` first", to, past(other), undoing(other), to);
  for (const auto& [node, document] : seen.nodes) {
    if (node != from && document.operation == Operation::swap && document.swap_with == to)
      return fail(Code::refused, "{} takes the place of {} already; `evenkeel node undrain {}` first", to, node, node);
  }
  const Operation now = operation_of(seen, from);
  if (now == Operation::remove) return fail(Code::refused, "{} is removed: it has no place to give", from);
  const auto before = find_optional(seen.nodes, from);
  NodeDocument after = before.value_or(NodeDocument{});
  after.operation = Operation::swap;
  after.swap_with = to;
  after.since.reset();
  if (!reason.empty() || now != Operation::swap) after.reason = reason;
  auto changes = changed(key_of(from), before, after, fmt::format("{} takes the place of {} already", to, from));
  if (changes && now != Operation::swap && now != Operation::none)
    changes->notes.push_back(fmt::format("{} was {}, and is not any more", from, past(now)));
  return changes;
}

Result<Changes> undo(const Snapshot& seen, const NodeId& node, std::span<const Operation> which) {
  if (const auto good = check_node(seen, node); !good) return fail(good.error());
  const auto before = find_optional(seen.nodes, node);
  const Operation now = before ? before->operation : Operation::none;
  const bool meant = which.empty() || std::ranges::find(which, now) != which.end();
  if (now == Operation::none || (!meant && operation_of(seen, node) == Operation::none)) {
    return Changes{.writes = {},
                   .notes = {which.empty() ? fmt::format("no operation is in force on {}", node)
                                           : fmt::format("{} is not {}", node, past(which.front()))}};
  }
  if (!meant)
    return fail(Code::refused, "{} is {}, not {}; `evenkeel node {} {}` ends that", node, past(now), past(which.front()),
                undoing(now), node);
  NodeDocument after = *before;
  after.operation = Operation::none;
  after.swap_with.reset();
  after.data.reset();
  after.since.reset();
  after.reason.clear();
  return changed(key_of(node), before, after, "");
}

Result<Changes> bar(const Snapshot& seen, const NodeId& node, const ShardId& shard, bool barred) {
  if (const auto good = check_node(seen, node); !good) return fail(good.error());
  const auto before = find_optional(seen.nodes, node);
  NodeDocument after = before.value_or(NodeDocument{});
  const auto at = std::ranges::lower_bound(after.disabled, shard);
  const bool is_barred = at != after.disabled.end() && *at == shard;
  if (!is_barred || barred) {  // what is forbidden may be allowed again whatever became of the shard
    if (const auto good = check_shard(seen, shard); !good) return fail(good.error());
  }
  if (barred && !is_barred) after.disabled.insert(at, shard);
  if (!barred && is_barred) after.disabled.erase(at);
  return changed(key_of(node), before, after,
                 fmt::format("{} is {} on {} already", format(shard), barred ? "disabled" : "enabled", node));
}

Result<Changes> override_node(const Snapshot& seen, const NodeId& node, NodeDocument wanted) {
  if (const auto good = check_node(seen, node); !good) return fail(good.error());
  const auto before = find_optional(seen.nodes, node);
  NodeDocument after = before.value_or(NodeDocument{});
  after.rebalance_delay = wanted.rebalance_delay;
  after.capacity = std::move(wanted.capacity);
  after.power = wanted.power;
  after.labels = std::move(wanted.labels);
  after.taints = std::move(wanted.taints);
  return changed(key_of(node), before, after, fmt::format("{} has all that already", node));
}

// 3. Permits.

namespace {

Key permit_key(const NodeId& node) { return {.kind = Key::Kind::permit, .node = node}; }

}  // namespace

Result<Changes> ask_permit(const Snapshot& seen, const NodeId& node, const PermitWish& wish) {
  using Stage = PermitDocument::Stage;
  if (const auto good = check_node(seen, node); !good) return fail(good.error());
  if (!is_there(seen, node)) return fail(Code::refused, "{} is not there, so there is nothing to stop", node);
  const PermitDocument after{
      .incarnation = seen.said(node)->incarnation, .allow_outage = wish.allow_outage, .timeout = wish.timeout};
  const auto before = find_optional(seen.permits, node);
  if (before && before->incarnation == after.incarnation) {
    const bool same = before->allow_outage == after.allow_outage && before->timeout == after.timeout;
    if (before->stage == Stage::go) return Changes{.writes = {}, .notes = {fmt::format("{} may stop already", node)}};
    if (before->stage == Stage::granted)
      return Changes{.writes = {}, .notes = {fmt::format("{} hands over what it leads already", node)}};
    if (before->stage == Stage::asked && same) return Changes{.writes = {}, .notes = {fmt::format("{} has asked already", node)}};
  }
  return changed(permit_key(node), before, after, fmt::format("{} has asked already", node));
}

Result<Changes> revoke_permit(const Snapshot& seen, const NodeId& node) {
  if (const auto good = check_node(seen, node); !good) return fail(good.error());
  const auto permit = seen.permits.find(node);
  if (permit == seen.permits.end()) return Changes{.writes = {}, .notes = {fmt::format("{} has no permit", node)}};
  Changes changes{.writes = {{.key = permit_key(node), .text = ""}}, .notes = {}};
  if (permit->second.stage != PermitDocument::Stage::go) return changes;
  changes.notes.push_back(is_there(seen, node)
                              ? fmt::format("{} may stop already: make sure that nobody stops it now", node)
                              : fmt::format("{} is gone: it counts as lost from now on, and is waited for as such", node));
  return changes;
}

// 4. What is in the way.

namespace {

bool holds(const Snapshot& seen, const NodeId& node, const ShardId& shard) {
  const ShardRecord* record = seen.record(shard);
  return record != nullptr && std::ranges::any_of(record->holders, [&](const Holder& holder) {
           return holder.node == node && holder.told.str() != state_dropped;
         });
}

// What a controller that reads this now would ask to be planned, and why it would move nothing.
struct Consulted {
  std::optional<Cluster> plan;
  std::optional<std::string> standstill;
};
MachineOptions plans_at_once(const Snapshot& seen) {
  MachineOptions options{.cluster = seen.cluster};
  options.plan_pause = options.plan_patience = {};
  return options;
}
Consulted consult(const Snapshot& seen) {
  Machine machine(plans_at_once(seen));
  Output out = detail::feed(machine, seen, Instant{});
  const Overview overview = machine.overview();
  Consulted found{.plan = std::move(out.plan), .standstill = std::nullopt};
  if (overview.freeze) {
    found.standstill =
        fmt::format("the cluster is frozen ({}): `evenkeel cluster unfreeze`, or wait for its end", *overview.freeze);
  } else if (overview.maintenance && maintenance_in_force(seen) != nullptr) {
    found.standstill = fmt::format(
        "the cluster is in maintenance ({}), so nothing moves: `evenkeel cluster maintenance off`, or wait for its end",
        *overview.maintenance);
  } else if (overview.maintenance) {
    found.standstill =
        fmt::format("the cluster is in maintenance ({}), so nothing moves: bring nodes back", *overview.maintenance);
  }
  return found;
}

}  // namespace

std::optional<std::string> standstill(const Snapshot& seen) { return consult(seen).standstill; }

std::vector<Stoppable> each_stoppable(const Snapshot& seen, const std::vector<std::vector<NodeId>>& sets) {
  Machine machine(plans_at_once(seen));
  const Output out = detail::feed(machine, seen, Instant{});
  const auto ask = [&] {
    std::vector<Stoppable> answers;
    for (const auto& nodes : sets) answers.push_back(machine.stoppable(nodes));
    return answers;
  };
  auto answers = ask();
  // Whether there is room for another copy, where that is what is missing, only a plan knows.
  if (!out.plan || std::ranges::all_of(answers, &Stoppable::all)) return answers;
  machine.step(Planned{place::plan(*out.plan)}, Instant{});
  return ask();
}

Stoppable stoppable(const Snapshot& seen, const std::vector<NodeId>& nodes) { return each_stoppable(seen, {nodes}).front(); }

std::vector<std::string> obstacles(const Snapshot& seen, const NodeId& node, std::size_t most) {
  const auto [plan, still] = consult(seen);
  if (still) return {*still};
  if (!plan) return {};
  std::vector<std::string> found;
  std::set<ShardId> told;  // a shard may be refused more than once
  for (const place::Refusal& refusal : place::plan(*plan).refused) {
    if (!refusal.shard) continue;
    const ShardId shard{refusal.workload, *refusal.shard};
    if (holds(seen, node, shard) && told.insert(shard).second)
      found.push_back(fmt::format("{}: {}", format(shard), refusal.detail));
  }
  if (found.size() > most) {
    const std::size_t more = found.size() - most;
    found.resize(most);
    found.push_back(fmt::format("and {} more", more));
  }
  return found;
}

// 5. The cluster.

namespace {

const Key config_key{.kind = Key::Kind::config};

Result<> check_cluster(const Snapshot& seen) {
  if (!seen.empty()) return {};
  return fail(Code::not_found, "there is no cluster {}; `evenkeel apply -f` makes one", quote(seen.cluster.str()));
}

bool is_over(const std::optional<Duration>& timeout, const std::optional<Duration>& waited) {
  return timeout && waited && *waited >= *timeout;
}

}  // namespace

const Freeze* freeze_in_force(const Snapshot& seen) {
  if (!seen.config || !seen.config->freeze) return nullptr;
  const Freeze& freeze = *seen.config->freeze;
  return seen.waits && is_over(freeze.timeout, seen.waits->freeze) ? nullptr : &freeze;
}

const Maintenance* maintenance_in_force(const Snapshot& seen) {
  if (!seen.config || !seen.config->maintenance) return nullptr;
  const Maintenance& maintenance = *seen.config->maintenance;
  return seen.waits && is_over(maintenance.timeout, seen.waits->maintenance) ? nullptr : &maintenance;
}

namespace {

// Shards that are frozen while nobody leads them: what was begun is not finished.
std::optional<std::string> standing_still(const Snapshot& seen) {
  std::size_t count = 0;
  std::optional<ShardId> first;
  for (const auto& [at, bucket] : seen.records) {
    for (const ShardRecord& record : bucket.shards) {
      if (!record.split || !record.split->from) continue;
      if (!first) first = ShardId{bucket.workload, record.shard};
      ++count;
    }
  }
  if (!first) return std::nullopt;
  return fmt::format("{}{} being split: nobody leads {} until the freeze ends; --keep-leaders would go on", format(*first),
                     count > 1 ? fmt::format(" and {} more are", count - 1) : " is", count > 1 ? "them" : "it");
}

}  // namespace

Result<Changes> freeze(const Snapshot& seen, const Freeze& freeze) {
  if (const auto good = check_cluster(seen); !good) return fail(good.error());
  if (freeze.reason.empty()) return fail(Code::invalid, "a freeze needs a reason, for whoever finds the cluster frozen");
  ConfigDocument after = seen.config.value_or(ConfigDocument{});
  if (after.freeze == freeze && freeze_in_force(seen) == nullptr)
    return fail(Code::refused, "the time of that freeze is over: `evenkeel cluster unfreeze` first, then it begins anew");
  after.freeze = freeze;
  auto changes = changed(config_key, seen.config, after, "the cluster is frozen so already");
  if (changes && !freeze.timeout) changes->notes.emplace_back("it has no end of its own: `evenkeel cluster unfreeze` ends it");
  if (changes && !freeze.keep_leaders)
    changes->notes.emplace_back("leaders that are lost are not followed meanwhile; --keep-leaders would");
  if (const auto still = changes && !freeze.keep_leaders ? standing_still(seen) : std::nullopt) changes->notes.push_back(*still);
  return changes;
}

Result<Changes> unfreeze(const Snapshot& seen) {
  if (const auto good = check_cluster(seen); !good) return fail(good.error());
  ConfigDocument after = seen.config.value_or(ConfigDocument{});
  after.freeze.reset();
  return changed(config_key, seen.config, after, "the cluster is not frozen");
}

Result<Changes> maintain(const Snapshot& seen, const std::optional<Maintenance>& maintenance) {
  if (const auto good = check_cluster(seen); !good) return fail(good.error());
  if (maintenance && maintenance->reason.empty())
    return fail(Code::invalid, "maintenance needs a reason, for whoever finds the cluster in it");
  ConfigDocument after = seen.config.value_or(ConfigDocument{});
  if (maintenance && after.maintenance == maintenance && maintenance_in_force(seen) == nullptr)
    return fail(Code::refused,
                "the time of that maintenance is over: `evenkeel cluster maintenance off` first, then it begins anew");
  after.maintenance = maintenance;
  auto changes =
      changed(config_key, seen.config, after,
              maintenance ? "the cluster is in that maintenance already" : "the cluster is not in maintenance by hand");
  if (changes && !maintenance && seen.waits && seen.waits->entered)
    changes->notes.emplace_back("the controller itself entered maintenance; that ends when enough nodes are back");
  return changes;
}

Result<Changes> set_settings(const Snapshot& seen, const Settings& settings) {
  ConfigDocument after = seen.config.value_or(ConfigDocument{});
  after.settings = settings;
  return changed(config_key, seen.config, after, "the settings are so already");
}

}  // namespace evenkeel::control
