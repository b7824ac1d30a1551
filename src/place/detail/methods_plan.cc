// plan_by_method: the draws of a whole cluster as a plan. Weights first, then one workload after the other, then what the whole breaks.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "evenkeel/place/detail/methods_usage.h"
#include "evenkeel/place/detail/node_rules.h"
#include "evenkeel/place/detail/terms.h"
#include "evenkeel/place/methods.h"

namespace evenkeel::place {
namespace {

constexpr std::uint64_t cells_max = 1ull << 27;  // replicas in one problem
constexpr std::size_t reasons_max = 8;           // nodes named per refusal

bool holds(std::span<const NodeIndex> row, NodeIndex node) { return std::ranges::find(row, node) != row.end(); }

class MethodPlan {
 public:
  MethodPlan(const Cluster& cluster, Method method, std::uint64_t seed)
      : cluster_(cluster), method_(method), seed_(seed), usage_(cluster) {
    for (std::uint32_t i = 0; i < cluster.nodes.size(); ++i) by_name_.emplace_back(i);
    std::ranges::sort(by_name_, {}, [&](NodeIndex i) -> const NodeId& { return node(i).name; });
    for (const Moving& moving : cluster.moving) moving_[{moving.workload, moving.shard}].push_back(&moving);
    for (const Barred& barred : cluster.barred) barred_[{barred.workload, barred.shard}].push_back(barred.node);
  }

  Plan run() && {
    for (const Workload& workload : cluster_.workloads) place(workload);
    for (const Workload& workload : cluster_.workloads) {
      const auto placed = plan_.placement.find(workload.name);
      if (placed != plan_.placement.end()) usage_.add(workload, placed->second);
    }
    for (const Workload& workload : cluster_.workloads) tell_limits(workload);
    sort_lists();
    plan_.stats.moves = plan_.moves.size();
    plan_.stats.moves_floor = static_cast<std::uint64_t>(std::ranges::count_if(
        plan_.moves, [](const Move& move) { return move.reason == MoveReason::repair || move.reason == MoveReason::drain; }));
    plan_.stats.balance = usage_.balance();
    return std::move(plan_);
  }

 private:
  const Node& node(NodeIndex index) const { return cluster_.nodes[index.value()]; }
  const Spread& spread_of(const Workload& workload) const { return detail::spread_of(cluster_.settings, workload); }
  std::size_t depth_of(const Workload& workload) const {
    return detail::depth_of(cluster_.settings, spread_of(workload).level).value_or(1);
  }

  // The nodes that may hold the workload; those that may not but hold a pinned replica weigh nothing.
  Draw draw_of(const Workload& workload) {
    std::vector<bool> pinned(cluster_.nodes.size());
    for (std::size_t i = 0; i < workload.pinned.nodes.size(); ++i) {
      for (const NodeIndex index : workload.pinned.nodes[i]) pinned[index.value()] = true;
    }
    const auto weights = usage_.weights(workload);
    drawn_.clear();
    place_.assign(cluster_.nodes.size(), not_drawn);
    std::vector<DrawNode> nodes;
    for (std::uint32_t i = 0; i < cluster_.nodes.size(); ++i) {
      const Node& one = cluster_.nodes[i];
      const bool able = detail::is_able(one, workload);
      if (!able && !pinned[i]) continue;
      place_[i] = static_cast<std::uint32_t>(nodes.size());
      nodes.push_back({one.name, one.zone, able ? weights[i] : 0, !detail::takes(one.status)});
      drawn_.emplace_back(i);
    }
    return Draw(std::move(nodes),
                {.method = method_, .depth = depth_of(workload), .hard = spread_of(workload).hard, .seed = seed_});
  }

  void place(const Workload& workload) {
    const auto there = cluster_.placement.find(workload.name);
    const Placement nothing;
    const Placement& old = there != cluster_.placement.end() ? there->second : nothing;
    cells_ += std::uint64_t{workload.shards} * workload.replicas;
    if (workload.shards > 0 && (workload.replicas > cells_max || cells_ > cells_max)) {
      cells_ -= std::uint64_t{workload.shards} * workload.replicas;
      if (there != cluster_.placement.end()) plan_.placement[workload.name] = old;
      return refuse(workload, std::nullopt, std::nullopt, RefusalReason::too_large,
                    fmt::format("{} shards of {} replicas; at most {} replicas fit in one problem", workload.shards,
                                workload.replicas, cells_max));
    }
    const Draw draw = draw_of(workload);
    Placement rows;
    for (std::uint32_t i = 0; i < old.size(); ++i) rows.push_back(old_shard(workload, draw, ShardIndex(i), old[i]));
    std::optional<ShardIndex> failed;
    for (std::uint32_t i = static_cast<std::uint32_t>(old.size()); i < workload.shards && !failed; ++i) {
      const auto row = drawn_row(workload, draw, ShardIndex(i));
      if (row.size() < workload.replicas)
        failed = ShardIndex(i);
      else
        rows.push_back(row);
    }
    if (failed) {
      refuse_short(workload, draw, *failed, std::nullopt);
      plan_.refused.back().shard.reset();  // the whole request
      if (there == cluster_.placement.end()) return;
      rows = first_rows(rows, old.size());
    }
    for (std::uint32_t i = 0; i < rows.size(); ++i) tell_rules(workload, draw, ShardIndex(i), rows[i]);
    plan_.placement[workload.name] = std::move(rows);
  }

  static Placement first_rows(const Placement& rows, std::size_t count) {
    Placement first;
    for (std::size_t i = 0; i < count; ++i) first.push_back(rows[i]);
    return first;
  }

  std::vector<NodeIndex> drawn_row(const Workload& workload, const Draw& draw, ShardIndex shard) const {
    std::vector<std::uint32_t> kept;
    for (const NodeIndex index : workload.pinned.find(shard)) kept.push_back(place_[index.value()]);
    std::vector<NodeIndex> row;
    std::vector<std::uint32_t> barred;
    for (const NodeIndex index : barred_of(workload, shard)) barred.push_back(place_[index.value()]);
    std::erase(barred, not_drawn);
    for (const std::uint32_t i : draw.pick(format(ShardId{workload.name, shard}), workload.replicas, kept, barred))
      row.push_back(drawn_[i]);
    const auto leader =
        std::ranges::find_if(row, [&](NodeIndex i) { return detail::may_lead(node(i)) && detail::takes(node(i).status); });
    if (leader != row.end()) std::rotate(row.begin(), leader, leader + 1);
    return row;
  }

  // Where a shard that is placed already ends, and what it takes to get there.
  std::vector<NodeIndex> old_shard(const Workload& workload, const Draw& draw, ShardIndex shard, std::span<const NodeIndex> old) {
    auto row = drawn_row(workload, draw, shard);
    const auto arriving = go_on_or_cancel(workload, shard, row);
    std::vector<NodeIndex> now(old.begin(), old.end());
    for (const auto& [from, to] : arriving) {
      if (from) std::erase(now, *from);
      if (to) now.push_back(*to);
    }
    for (const NodeIndex index : now) {
      if (row.size() >= workload.replicas || holds(row, index)) continue;
      row.push_back(index);
      refuse_short(workload, draw, shard, index);
    }
    // A replica that is nowhere has no home either.
    for (std::size_t i = row.size(); i < workload.replicas; ++i) refuse_short(workload, draw, shard, std::nullopt);
    add_moves(workload, shard, now, row);
    if (!old.empty() && old.front() != row.front() && holds(row, old.front()))
      plan_.leaders.push_back({workload.name, shard, old.front(), row.front()});
    const auto lost = std::ranges::count_if(old, [&](NodeIndex i) { return node(i).status == NodeStatus::down; });
    if (2 * static_cast<std::size_t>(lost) > old.size())
      violate(workload, shard, Rule::quorum, true, fmt::format("{} of {} replicas are down", lost, old.size()));
    return row;
  }

  // A move in flight goes on if it leads to where the method wants the shard; else it is cancelled.
  std::vector<std::pair<std::optional<NodeIndex>, std::optional<NodeIndex>>> go_on_or_cancel(const Workload& workload,
                                                                                             ShardIndex shard,
                                                                                             const std::vector<NodeIndex>& row) {
    std::vector<std::pair<std::optional<NodeIndex>, std::optional<NodeIndex>>> arriving;
    const auto found = moving_.find({workload.name, shard});
    if (found == moving_.end()) return arriving;
    for (const Moving* move : found->second) {
      if ((!move->to || holds(row, *move->to)) && (!move->from || !holds(row, *move->from))) {
        arriving.emplace_back(move->from, move->to);
      } else {
        const bool unable = move->to && !detail::takes(node(*move->to).status);
        const bool barred = move->to && holds(barred_of(workload, shard), *move->to);
        const std::string reason = unable   ? fmt::format("destination {}", name(node(*move->to).status))
                                   : barred ? "the shard is barred from its destination"
                                            : "the method puts it elsewhere";
        plan_.cancelled.push_back({workload.name, shard, move->from, move->to, reason});
      }
    }
    return arriving;
  }

  void add_moves(const Workload& workload, ShardIndex shard, const std::vector<NodeIndex>& now,
                 const std::vector<NodeIndex>& row) {
    std::vector<NodeIndex> leaving, coming;
    std::ranges::copy_if(now, std::back_inserter(leaving), [&](NodeIndex i) { return !holds(row, i); });
    std::ranges::copy_if(row, std::back_inserter(coming), [&](NodeIndex i) { return std::ranges::find(now, i) == now.end(); });
    // What is lost is replaced first.
    std::ranges::stable_sort(leaving, {}, [&](NodeIndex i) { return node(i).status == NodeStatus::down ? 0 : 1; });
    for (std::size_t i = 0; i < std::max(leaving.size(), coming.size()); ++i) {
      Move move{.workload = workload.name, .shard = shard, .step = static_cast<std::uint32_t>(i + 1)};
      if (i < leaving.size()) move.from = leaving[i];
      if (i < coming.size()) move.to = coming[i];
      move.reason = reason_of(move);
      plan_.moves.push_back(move);
    }
  }
  MoveReason reason_of(const Move& move) const {
    if (!move.from) return MoveReason::grow;
    if (!move.to) return MoveReason::shrink;
    if (node(*move.from).status == NodeStatus::down) return MoveReason::repair;
    return node(*move.from).status == NodeStatus::draining ? MoveReason::drain : MoveReason::rules;
  }

  void refuse(const Workload& workload, std::optional<ShardIndex> shard, std::optional<NodeIndex> from, RefusalReason reason,
              std::string detail) {
    plan_.refused.push_back(
        {.workload = workload.name, .shard = shard, .node = from, .reason = reason, .detail = std::move(detail)});
  }

  // Too few nodes that take it, or too few domains.
  void refuse_short(const Workload& workload, const Draw& draw, ShardIndex shard, std::optional<NodeIndex> from) {
    const auto up = std::ranges::count_if(cluster_.nodes, [](const Node& one) { return detail::takes(one.status); });
    if (up < std::int64_t{workload.replicas}) {
      refuse(workload, shard, from, RefusalReason::nodes, fmt::format("needs {} nodes; {} take replicas", workload.replicas, up));
    } else if (draw.takers() < workload.replicas) {
      refuse(workload, shard, from, RefusalReason::labels,
             fmt::format("needs {} nodes with its labels, without taints and with weight; there are {}", workload.replicas,
                         draw.takers()));
    } else if (draw.domains() >= workload.replicas || !spread_of(workload).hard) {
      refuse(workload, shard, from, RefusalReason::barred,
             fmt::format("needs {} nodes{} that shard {} is not barred from", workload.replicas,
                         spread_of(workload).hard ? " in different domains" : "", shard));
    } else {
      refuse(workload, shard, from, RefusalReason::spread,
             fmt::format("needs {} domains of level {}; {} have a node for it", workload.replicas, spread_of(workload).level,
                         draw.domains()));
    }
    auto& why = plan_.refused.back().nodes;
    for (const NodeIndex index : by_name_) {
      if (why.size() >= reasons_max) break;
      std::string reason = detail::why_takes_none(node(index), workload);
      if (reason.empty() && holds(barred_of(workload, shard), index)) reason = detail::barred_words;
      if (!reason.empty()) why.emplace_back(index, std::move(reason));
    }
  }

  std::span<const NodeIndex> barred_of(const Workload& workload, ShardIndex shard) const {
    if (barred_.empty()) return {};
    const auto found = barred_.find({workload.name, shard});
    return found == barred_.end() ? std::span<const NodeIndex>() : std::span(found->second);
  }

  void violate(const Workload& workload, std::optional<ShardIndex> shard, Rule rule, bool hard, std::string detail) {
    plan_.violations.push_back({workload.name, shard, rule, hard, std::move(detail), ""});
  }

  // What the row breaks by itself.
  void tell_rules(const Workload& workload, const Draw& draw, ShardIndex shard, std::span<const NodeIndex> row) {
    const auto pinned = workload.pinned.find(shard);
    std::map<Rule, std::string> broken;
    std::map<std::string, std::uint32_t> domains;
    for (const NodeIndex index : row) {
      const Node& one = node(index);
      ++domains[detail::domain_of(one.name, one.zone, depth_of(workload))];
      if (one.status == NodeStatus::down) broken.emplace(Rule::down, fmt::format("a replica on {}, which is down", one.name));
      if (one.status == NodeStatus::draining && !holds(pinned, index))
        broken.emplace(Rule::draining, fmt::format("a replica on {}, which is draining", one.name));
      const std::string why = detail::why_not_able(one, workload);
      if (!why.empty() && !holds(pinned, index)) broken.emplace(Rule::able, fmt::format("{} {}", one.name, why));
      if (holds(barred_of(workload, shard), index)) broken.emplace(Rule::barred, fmt::format("it is barred from {}", one.name));
    }
    if (row.size() < workload.replicas)
      broken.emplace(Rule::replicas, fmt::format("{} of {} replicas", row.size(), workload.replicas));
    for (const auto& [rule, detail] : broken) violate(workload, shard, rule, true, detail);
    if (!row.empty() && !detail::may_lead(node(row.front())))
      violate(workload, shard, Rule::leaders, false, fmt::format("{} leads and should not", node(row.front()).name));
    if (domains.size() == row.size() || (!spread_of(workload).hard && domains.size() >= draw.domains())) return;
    const auto most = std::ranges::max_element(domains, {}, [](const auto& domain) { return domain.second; });
    violate(workload, shard, Rule::spread, spread_of(workload).hard, fmt::format("{} replicas in {}", most->second, most->first));
  }

  // Limits are those of nodes; every workload that has a part in exceeding one is told once, with the first such node.
  void tell_limits(const Workload& workload) {
    const auto placed = plan_.placement.find(workload.name);
    if (placed == plan_.placement.end()) return;
    std::vector<bool> on(cluster_.nodes.size());
    for (std::size_t i = 0; i < placed->second.size(); ++i) {
      for (const NodeIndex index : placed->second[i]) on[index.value()] = true;
    }
    std::map<Rule, std::pair<std::string, std::size_t>> broken;  // the first node, and how many there are
    const auto note = [&](Rule rule, NodeIndex index, const std::string& why) {
      if (!why.empty()) ++broken.try_emplace(rule, fmt::format("{}: {}", node(index).name, why), 0).first->second.second;
    };
    for (const NodeIndex index : by_name_) {
      if (!on[index.value()]) continue;
      note(Rule::capacity, index, usage_.why_full(index, workload));
      if (!workload.system) note(Rule::count, index, usage_.why_too_many(index));
    }
    for (const auto& [rule, what] : broken) {
      const auto& [detail, nodes] = what;
      violate(workload, std::nullopt, rule, true, nodes > 1 ? fmt::format("{}, and {} more nodes", detail, nodes - 1) : detail);
    }
  }

  void sort_lists() {
    const auto by_shard = [](const auto& one) { return std::tuple(std::string_view(one.workload.str()), one.shard); };
    std::ranges::stable_sort(plan_.moves, {}, by_shard);
    std::ranges::stable_sort(plan_.leaders, {}, by_shard);
    std::ranges::stable_sort(plan_.cancelled, {}, [&](const Cancelled& one) {
      const auto name_of = [&](std::optional<NodeIndex> i) {
        return i ? std::string_view(node(*i).name.str()) : std::string_view();
      };
      return std::tuple(by_shard(one), name_of(one.from), name_of(one.to));
    });
    std::ranges::stable_sort(plan_.refused, {}, by_shard);
    std::ranges::stable_sort(plan_.violations, {}, [&](const Violation& one) { return std::tuple(by_shard(one), one.rule); });
  }

  const Cluster& cluster_;
  Method method_;
  std::uint64_t seed_;
  detail::MethodUsage usage_;
  std::vector<NodeIndex> by_name_;
  std::map<std::pair<WorkloadId, ShardIndex>, std::vector<const Moving*>> moving_;
  std::map<std::pair<WorkloadId, ShardIndex>, std::vector<NodeIndex>> barred_;
  std::uint64_t cells_ = 0;
  std::vector<NodeIndex> drawn_;  // by place in the present draw
  static constexpr std::uint32_t not_drawn = ~std::uint32_t{0};
  std::vector<std::uint32_t> place_;  // and back, by node
  Plan plan_;
};

}  // namespace

Plan plan_by_method(const Cluster& cluster, Method method, std::uint64_t seed) { return MethodPlan(cluster, method, seed).run(); }

}  // namespace evenkeel::place
