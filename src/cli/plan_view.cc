#include "evenkeel/cli/plan_view.h"

#include <algorithm>
#include <map>

#include "evenkeel/base/text.h"
#include "evenkeel/cli/output.h"

namespace evenkeel::cli {
namespace {

using place::Plan;

std::string count_of(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string shard_name(const WorkloadId& workload, std::optional<ShardIndex> shard) {
  return shard ? format(ShardId{workload, *shard}) : workload.str();
}

const std::string& node_name(const Cluster& cluster, NodeIndex node) { return cluster.nodes[node.value()].name.str(); }
std::string node_name(const Cluster& cluster, std::optional<NodeIndex> node) {
  return node ? node_name(cluster, *node) : std::string();
}

std::string figure(double value) { return format_decimal(value, 3); }

std::size_t rows_before(const Cluster& cluster, const WorkloadId& workload) {
  const auto before = cluster.placement.find(workload);
  return before == cluster.placement.end() ? 0 : before->second.size();
}

// Shards placed for the first time, by workload.
std::map<WorkloadId, std::size_t> placed(const Cluster& cluster, const Plan& plan) {
  std::map<WorkloadId, std::size_t> out;
  for (const auto& [workload, rows] : plan.placement) {
    const std::size_t before = rows_before(cluster, workload);
    if (rows.size() > before) out.emplace(workload, rows.size() - before);
  }
  return out;
}

std::size_t hard_violations(const Plan& plan) {
  return static_cast<std::size_t>(std::ranges::count_if(plan.violations, &place::Violation::hard));
}

// "3 moves (2 drain, 1 balance)", "3 moves in 2 steps after those in flight (3 drain)"
std::string moves_in_words(const Plan& plan) {
  std::map<place::MoveReason, std::size_t> reasons;
  for (const place::Move& move : plan.moves) ++reasons[move.reason];
  const std::uint32_t first = plan.moves.empty() ? 1 : plan.moves.front().step;
  const std::uint32_t steps = plan.moves.empty() ? 1 : plan.moves.back().step - first + 1;
  std::vector<std::string> parts;
  for (const auto& [reason, count] : reasons) parts.push_back(fmt::format("{} {}", count, name(reason)));
  return fmt::format("{}{}{} ({})", count_of(plan.moves.size(), "move"), steps > 1 ? " in " + count_of(steps, "step") : "",
                     first > 1 ? " after those in flight" : "", fmt::join(parts, ", "));
}

// Where no move is cancelled: whether those in flight leave no room for another.
bool full_of_moves(const Cluster& cluster) {
  return cluster.settings.moves_max > 0 && cluster.moving.size() >= cluster.settings.moves_max;
}

// The figures follow in a line of their own.
std::string why_nothing(const Cluster& cluster, const Plan& plan) {
  if (plan.placement.empty()) return "nothing to move: nothing is placed";
  if (plan.stats.cut_short && full_of_moves(cluster))
    return fmt::format("nothing to move yet: it waits for {} in flight", count_of(cluster.moving.size(), "move"));
  const double tolerance = static_cast<double>(cluster.settings.tolerance.millionths()) / 1e6;
  bool within = true, least = true;
  for (const auto& [resource, balance] : plan.stats.balance) {
    if (balance.max_over_mean <= 1 + tolerance) continue;
    within = false;
    least &= balance.max_over_mean < balance.floor + 0.0005;  // the same as it is shown
  }
  if (within)
    return fmt::format("nothing to move: no node is more than {} above its fair share", format(cluster.settings.tolerance));
  return least ? "nothing to move: no placement is more level" : "nothing to move: no move that was found makes it more level";
}

std::string summary(const Cluster& cluster, const Plan& plan) {
  std::vector<std::string> parts;
  const auto say = [&](std::size_t count, const std::string& words) {
    if (count > 0) parts.push_back(words);
  };
  std::size_t shards = 0;
  for (const auto& [workload, count] : placed(cluster, plan)) shards += count;
  say(shards, fmt::format("{} placed", count_of(shards, "shard")));
  say(plan.moves.size(), moves_in_words(plan));
  say(plan.leaders.size(), count_of(plan.leaders.size(), "leader change"));
  say(plan.cancelled.size(), fmt::format("{} cancelled", count_of(plan.cancelled.size(), "move")));
  if (parts.empty()) parts.push_back(why_nothing(cluster, plan));
  say(plan.refused.size(), fmt::format("{} refused", plan.refused.size()));
  const std::size_t hard = hard_violations(plan);
  say(plan.violations.size(),
      fmt::format("{} broken{}", count_of(plan.violations.size(), "rule"), hard > 0 ? fmt::format(" ({} hard)", hard) : ""));
  return fmt::format("{}\n", fmt::join(parts, "; "));
}

// "cpu 1.21 -> 1.003 (floor 1)": the fullest node over its fair share, now and then.
std::string balance_line(const std::map<ResourceId, place::Balance>& before, const Plan& plan) {
  std::vector<std::string> parts;
  for (const auto& [resource, balance] : plan.stats.balance) {
    const auto found = before.find(resource);
    const std::string now = found == before.end() ? "" : figure(found->second.max_over_mean),
                      then = figure(balance.max_over_mean);
    const std::string change = now.empty() || now == then ? then : fmt::format("{} -> {}", now, then);
    parts.push_back(fmt::format("{} {} (floor {})", resource, change, figure(balance.floor)));
  }
  return parts.empty() ? "" : fmt::format("fullest node over its fair share: {}\n", fmt::join(parts, ", "));
}

// A workload without the shards that are not placed yet, and without what is said of those.
Workload as_placed(const Workload& workload, std::size_t rows) {
  Workload out = workload;
  out.shards = static_cast<std::uint32_t>(std::min<std::size_t>(workload.shards, rows));
  const auto known = [&](const std::vector<ShardIndex>& shards) {
    return static_cast<std::size_t>(std::ranges::lower_bound(shards, ShardIndex(out.shards)) - shards.begin());
  };
  const std::size_t loads = known(workload.shard_loads.shards), pins = known(workload.pinned.shards);
  out.shard_loads.shards.resize(loads);
  out.shard_loads.values.resize(loads * workload.shard_loads.resources.size());
  out.pinned = {};
  for (std::size_t i = 0; i < pins; ++i) {
    out.pinned.shards.push_back(workload.pinned.shards[i]);
    out.pinned.nodes.push_back(workload.pinned.nodes[i]);
  }
  return out;
}

std::string placed_table(const Cluster& cluster, const Plan& plan) {
  const auto workloads = placed(cluster, plan);
  if (workloads.empty()) return "";
  Table table({"PLACED", "SHARDS", "REPLICAS"});
  for (const auto& [workload, count] : workloads) {
    const Placement& rows = plan.placement.at(workload);
    std::size_t replicas = 0;
    for (std::size_t shard = rows.size() - count; shard < rows.size(); ++shard) replicas += rows[shard].size();
    table.add({workload.str(), fmt::format("{}", count), fmt::format("{}", replicas)});
  }
  return table.format();
}

std::string moves_table(const Cluster& cluster, const Plan& plan, bool wide) {
  if (plan.moves.empty()) return "";
  const bool steps = wide || std::ranges::any_of(plan.moves, [](const place::Move& move) { return move.step > 1; });
  std::vector<std::string> header = {"MOVE", "FROM", "TO", "REASON"};
  if (steps) header.push_back("STEP");
  Table table(header);
  for (const place::Move& move : plan.moves) {
    std::vector<std::string> row = {shard_name(move.workload, move.shard), node_name(cluster, move.from),
                                    node_name(cluster, move.to), std::string(name(move.reason))};
    if (steps) row.push_back(fmt::format("{}", move.step));
    table.add(std::move(row));
  }
  return table.format();
}

std::string leaders_table(const Cluster& cluster, const Plan& plan) {
  if (plan.leaders.empty()) return "";
  Table table({"LEADER OF", "FROM", "TO"});
  for (const place::LeaderChange& change : plan.leaders)
    table.add({shard_name(change.workload, change.shard), node_name(cluster, change.from), node_name(cluster, change.to)});
  return table.format();
}

std::string cancelled_table(const Cluster& cluster, const Plan& plan) {
  if (plan.cancelled.empty()) return "";
  Table table({"CANCELLED", "FROM", "TO", "REASON"});
  for (const place::Cancelled& move : plan.cancelled)
    table.add({shard_name(move.workload, move.shard), node_name(cluster, move.from), node_name(cluster, move.to), move.reason});
  return table.format();
}

std::string refused_table(const Cluster& cluster, const Plan& plan, bool wide) {
  if (plan.refused.empty()) return "";
  Table table({"REFUSED", "AT", "REASON", "DETAIL"});
  for (const place::Refusal& refusal : plan.refused) {
    table.add({shard_name(refusal.workload, refusal.shard), node_name(cluster, refusal.node), std::string(name(refusal.reason)),
               refusal.detail + (refusal.proved ? "" : " (none was found; one may exist)")});
  }
  std::string out = table.format();
  const bool reasons = std::ranges::any_of(plan.refused, [](const place::Refusal& refusal) { return !refusal.nodes.empty(); });
  if (!wide || !reasons) return out;
  Table nodes({"REFUSED", "NODE", "WHY NOT THERE"});
  for (const place::Refusal& refusal : plan.refused) {
    for (const auto& [node, why] : refusal.nodes)
      nodes.add({shard_name(refusal.workload, refusal.shard), node_name(cluster, node), why});
  }
  return out + "\n" + nodes.format();
}

std::string violations_table(const Plan& plan) {
  if (plan.violations.empty()) return "";
  const bool waits = std::ranges::any_of(plan.violations, [](const place::Violation& one) { return !one.reason.empty(); });
  std::vector<std::string> header = {"BROKEN", "RULE", "KIND", "DETAIL"};
  if (waits) header.push_back("WAITS FOR");
  Table table(header);
  for (const place::Violation& violation : plan.violations) {
    std::vector<std::string> row = {shard_name(violation.workload, violation.shard), std::string(name(violation.rule)),
                                    violation.hard ? "hard" : "soft", violation.detail};
    if (waits) row.push_back(violation.reason);
    table.add(std::move(row));
  }
  return table.format();
}

// What each node holds: replicas and leaders.
struct Held {
  std::size_t replicas = 0;
  std::size_t leaders = 0;
};
std::vector<Held> held(const Cluster& cluster, const std::map<WorkloadId, Placement>& placement) {
  std::vector<Held> out(cluster.nodes.size());
  for (const auto& [workload, rows] : placement) {
    for (std::size_t shard = 0; shard < rows.size(); ++shard) {
      const auto row = rows[shard];
      for (const NodeIndex node : row) ++out[node.value()].replicas;
      if (!row.empty()) ++out[row.front().value()].leaders;
    }
  }
  return out;
}

std::string nodes_table(const Cluster& cluster, const Plan& plan) {
  const auto before = held(cluster, cluster.placement), after = held(cluster, plan.placement);
  std::vector<std::size_t> in(cluster.nodes.size()), out(cluster.nodes.size());
  for (const place::Move& move : plan.moves) {
    if (move.from) ++out[move.from->value()];
    if (move.to) ++in[move.to->value()];
  }
  std::vector<std::size_t> order(cluster.nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) -> const NodeId& { return cluster.nodes[i].name; });
  Table table({"NODE", "ZONE", "STATUS", "REPLICAS", "AFTER", "LEADERS", "AFTER", "IN", "OUT"});
  const auto text = [](std::size_t number) { return fmt::format("{}", number); };
  for (const std::size_t i : order) {
    const Node& node = cluster.nodes[i];
    table.add({node.name.str(), node.zone, std::string(name(node.status)), text(before[i].replicas), text(after[i].replicas),
               text(before[i].leaders), text(after[i].leaders), text(in[i]), text(out[i])});
  }
  return table.format();
}

}  // namespace

std::map<ResourceId, place::Balance> balance_before(const Cluster& cluster) {
  if (cluster.placement.empty()) return {};
  Cluster placed_only = cluster;
  for (Workload& workload : placed_only.workloads) workload = as_placed(workload, rows_before(cluster, workload.name));
  return place::plan(placed_only, {.only = place::Only::allocate}).stats.balance;
}

std::string plan_table(const Cluster& cluster, const std::map<ResourceId, place::Balance>& before, const Plan& plan, bool wide) {
  std::string out = summary(cluster, plan) + balance_line(before, plan);
  if (plan.stats.cut_short) out += "cut short: plan again when this is done\n";
  const std::string tables[] = {wide ? nodes_table(cluster, plan) : "",
                                placed_table(cluster, plan),
                                moves_table(cluster, plan, wide),
                                leaders_table(cluster, plan),
                                cancelled_table(cluster, plan),
                                refused_table(cluster, plan, wide),
                                violations_table(plan)};
  for (const std::string& table : tables) {
    if (!table.empty()) out += "\n" + table;
  }
  return out;
}

std::string plan_names(const Cluster& cluster, const Plan& plan) {
  std::string out;
  for (const auto& [workload, rows] : plan.placement) {
    const auto before = cluster.placement.find(workload);
    for (std::size_t shard = 0; shard < rows.size(); ++shard) {
      const bool same = shard < rows_before(cluster, workload) && std::ranges::equal(before->second[shard], rows[shard]);
      if (!same) out += fmt::format("shard/{}/{}\n", workload, shard);
    }
  }
  return out;
}

std::string why_not_met(const Plan& plan) {
  std::vector<std::string> parts;
  if (!plan.refused.empty()) parts.push_back(fmt::format("{} refused", count_of(plan.refused.size(), "request")));
  if (const auto hard = hard_violations(plan); hard > 0) parts.push_back(fmt::format("{} broken", count_of(hard, "hard rule")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace evenkeel::cli
