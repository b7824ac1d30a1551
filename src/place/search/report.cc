// What the board stands for, as a plan.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "evenkeel/place/detail/above.h"
#include "evenkeel/place/detail/family_sums.h"
#include "evenkeel/place/detail/node_rules.h"
#include "evenkeel/place/detail/stages.h"
#include "evenkeel/place/floors.h"

namespace evenkeel::place::detail {
namespace {

// How many moves are in each step, and which steps take more.
class Steps {
 public:
  // At most so many in a step, 0: no limit; and so many in the first one already.
  explicit Steps(std::uint64_t most = 0, std::uint64_t in_flight = 0) : most_(most) {
    if (in_flight > 0) add(1, in_flight);
  }

  // The first one from `step` on that takes one more. Steps only fill up, so what was skipped once is skipped at once from then on.
  std::uint32_t open(std::uint32_t step) {
    std::uint32_t end = step;
    for (auto full = next_.find(end); full != next_.end(); full = next_.find(end)) end = full->second;
    while (step != end) step = std::exchange(next_[step], end);
    return end;
  }

  void add(std::uint32_t step, std::uint64_t moves = 1) {
    if (most_ > 0 && (moves_[step] += moves) >= most_) next_.emplace(step, step + 1);
  }

 private:
  std::uint64_t most_;
  std::unordered_map<std::uint32_t, std::uint64_t> moves_;
  std::unordered_map<std::uint32_t, std::uint32_t> next_;  // of full steps: a later one before which all are full
};

class Reporter {
 public:
  explicit Reporter(const Board& board) : board_(board), problem_(board.problem), state_(*board.state) {}

  Plan run() {
    place();
    if (board_.options.cores) plan_.cores = choose_cores(*board_.cluster, plan_.placement);
    list_moves();
    list_leaders();
    plan_.cancelled = board_.cancelled;
    plan_.refused = board_.refused;
    plan_.refused.insert(plan_.refused.end(), board_.without_home.begin(), board_.without_home.end());
    std::ranges::stable_sort(plan_.refused, {}, [&](const Refusal& refusal) {
      const std::uint32_t node = refusal.node ? board_.board_node[refusal.node->value()] : none;
      return std::tuple(refusal.workload, refusal.shard, node);
    });
    find_violations();
    measure();
    return std::move(plan_);
  }

 private:
  // Calls each(group, shard) for every shard of a workload that the plan places.
  template <class F>
  void for_groups_of(std::uint32_t workload, const F& each) const {
    const Span& span = board_.spans[workload];
    for (std::uint32_t i = 0; i < span.count; ++i) each(span.first + i, i);
    for (std::uint32_t i = 0; i < span.fresh_count; ++i) each(span.fresh_first + i, span.count + i);
  }

  std::string node_name(std::uint32_t node) const { return board_.node(node).name.str(); }

  void place() {
    const std::uint32_t* at = state_.places().data();
    const NodeIndex* node = board_.cluster_node.data();
    for (std::uint32_t w = 0; w < board_.spans.size(); ++w) {
      const Workload& workload = board_.cluster->workloads[w];
      const bool known = board_.cluster->placement.contains(workload.name);
      if (!known && board_.spans[w].fresh_count == 0 && (workload.shards > 0 || board_.options.only == Only::repair)) continue;
      Placement& rows = plan_.placement[workload.name];
      rows.reserve(workload.shards, std::size_t{workload.shards} * workload.replicas);
      for_groups_of(w, [&](std::uint32_t group, std::uint32_t) {
        const std::uint32_t leader = state_.leader(group);
        if (leader != none && at[leader] != none) rows.add(node[at[leader]]);
        for (std::uint32_t r = problem_.group_first[group], end = problem_.group_end(group); r < end; ++r) {
          if (r != leader && at[r] != none) rows.add(node[at[r]]);
        }
        rows.end_row();
      });
    }
  }

  // Steps: a round's moves come after those of the rounds before it, a shard's second move after its first; and where all are listed, each
  // step has as many as may be in flight. What is in flight now is so until the first step ends, which may have no room for more.
  void list_moves() {
    std::uint32_t round = 0, base = 0, last = 0;
    std::map<std::uint32_t, std::uint32_t> step_of_group;  // in this round
    const Settings& settings = board_.cluster->settings;
    Steps steps(board_.options.all ? settings.moves_max : 0, board_.in_flight.size());
    std::vector<Steps> node_steps = steps_of_nodes();
    const auto for_nodes_of = [&](const PlannedMove& move, const auto& each) {
      for (const std::uint32_t node : {move.from, move.to}) {
        if (!node_steps.empty() && node != none && !board_.is_down(node)) each(node_steps[node]);
      }
    };
    const auto open = [&](const PlannedMove& move, std::uint32_t first) {
      std::uint32_t step = steps.open(first);
      for_nodes_of(move, [&](Steps& of_node) { step = of_node.open(step); });
      return step;
    };
    for (const PlannedMove& move : board_.moves) {
      if (move.round != round) round = move.round, base = last, step_of_group.clear();
      std::uint32_t& step = step_of_group[move.group];
      step = std::max(step, base) + 1;
      for (std::uint32_t found = open(move, step); found != step; found = open(move, step)) step = found;
      steps.add(step);
      for_nodes_of(move, [&](Steps& of_node) { of_node.add(step); });
      last = std::max(last, step);
      const auto index = [&](std::uint32_t node) {
        return node == none ? std::nullopt : std::optional(board_.cluster_node[node]);
      };
      plan_.moves.push_back({board_.workload_of(move.group).name, ShardIndex(board_.group_shard[move.group]), index(move.from),
                             index(move.to), move.reason, step});
    }
    const auto name_order = [&](std::optional<NodeIndex> node) {
      return node ? std::optional(board_.board_node[node->value()]) : std::nullopt;
    };
    std::ranges::sort(plan_.moves, {}, [&](const Move& move) {
      return std::tuple(move.step, move.workload, move.shard, name_order(move.from), name_order(move.to));
    });
  }

  // By node, where all moves are listed and each node has a limit on its own; else empty.
  std::vector<Steps> steps_of_nodes() const {
    const std::uint32_t most = board_.options.all ? board_.cluster->settings.moves_per_node_max : 0;
    if (most == 0) return {};
    std::vector<std::uint64_t> in_flight(problem_.nodes);
    for (const Moving& moving : board_.in_flight) {
      if (moving.from) ++in_flight[board_.board_node[moving.from->value()]];
      if (moving.to) ++in_flight[board_.board_node[moving.to->value()]];
    }
    std::vector<Steps> steps;
    for (const std::uint64_t moves : in_flight) steps.emplace_back(most, moves);
    return steps;
  }

  void list_leaders() {
    for (std::uint32_t w = 0; w < board_.spans.size(); ++w) {
      const Span& span = board_.spans[w];
      for (std::uint32_t group = span.first; group < span.first + span.count; ++group) {
        const std::uint32_t led = problem_.origin_leader[group], leader = state_.leader(group);
        if (led == none || leader == none || state_.at(leader) == none || problem_.origin[leader] == led) continue;
        plan_.leaders.push_back({board_.cluster->workloads[w].name, ShardIndex(group - span.first), board_.cluster_node[led],
                                 board_.cluster_node[state_.at(leader)]});
      }
    }
    std::ranges::sort(plan_.leaders, {}, [](const LeaderChange& change) { return std::tuple(change.workload, change.shard); });
  }

  // What the shard would have to wait for is what a move could mend; nothing: none can.
  void add(std::uint32_t group, Rule rule, bool hard, std::string detail, Wait what = Wait::nothing) {
    const bool left_out = std::ranges::binary_search(board_.left_out, group);
    const std::string_view reason = what == Wait::nothing           ? ""
                                    : left_out                      ? "order"
                                    : board_.waits_for(group, what) ? "moves_max"
                                                                    : "";
    plan_.violations.push_back({board_.workload_of(group).name, ShardIndex(board_.group_shard[group]), rule, hard,
                                std::move(detail), std::string(reason)});
  }

  void find_violations() {
    find_full_nodes();
    for (const Refusal& refusal : board_.without_home) {
      if (refusal.shard) ++refusals_[{refusal.workload, *refusal.shard}];
    }
    const std::vector<std::uint32_t> troubled = board_.troubled_groups();
    for (const std::uint32_t group : troubled) check_standing(group);
    const bool all_may_lead = std::ranges::find(board_.may_lead, 0) == board_.may_lead.end();
    for (std::uint32_t w = 0; w < board_.spans.size(); ++w) {
      const std::uint32_t wanted = board_.cluster->workloads[w].replicas;
      for_groups_of(w, [&](std::uint32_t group, std::uint32_t) {
        const bool crowded = board_.crowded(group);
        if (crowded) check_spread(group);
        if (board_.flags[group].moving && (crowded || !stands(group)))
          add(group, Rule::moving, false, "it has a move in flight, and needs another");
        if (const std::uint32_t placed = board_.placed(group); placed != wanted) check_count(group, placed, wanted);
        if (!all_may_lead) check_leader(group);
        if (!full_.empty()) check_full(group);
      });
    }
    check_pins();
    check_apart();
    std::ranges::sort(plan_.violations, {}, [](const Violation& violation) {
      return std::tuple(violation.workload, violation.shard, violation.rule, violation.detail);
    });
  }

  bool stands(std::uint32_t group) const {
    for (std::uint32_t r = problem_.group_first[group]; r < problem_.group_end(group); ++r) {
      if (board_.standing(r) != Standing::fine) return false;
    }
    return true;
  }

  // Replicas that should have left.
  void check_standing(std::uint32_t group) {
    std::map<Standing, std::vector<std::string>> where;
    for (std::uint32_t r = problem_.group_first[group]; r < problem_.group_end(group); ++r) {
      const Standing standing = board_.standing(r);
      if (standing != Standing::fine) where[standing].push_back(node_name(state_.at(r)));
    }
    std::size_t leavers = 0;
    for (const auto& [standing, names] : where) leavers += names.size();
    const bool waits = board_.movable(group) && refusals_of(group) < leavers;
    for (const auto& [standing, names] : where) {
      const auto [rule, is] = broken_by(standing);
      const std::string which = fmt::format("{}", fmt::join(names, ", "));
      add(group, rule, true,
          rule == Rule::barred ? fmt::format("{} {}", is, which)
                               : fmt::format("{} {} {}", which, names.size() == 1 ? "is" : "are", is),
          waits ? Wait::leave : Wait::nothing);
    }
    if (board_.flags[group].no_quorum) add(group, Rule::quorum, true, "more than half of its replicas are down");
  }

  static std::pair<Rule, std::string_view> broken_by(Standing standing) {
    switch (standing) {
      case Standing::down:
        return {Rule::down, "down"};
      case Standing::draining:
        return {Rule::draining, "draining"};
      case Standing::barred:
        return {Rule::barred, "it is barred from"};
      case Standing::unable:
      case Standing::fine:
        break;
    }
    return {Rule::able, "not able to hold it"};
  }

  std::size_t refusals_of(std::uint32_t group) const {
    const auto found = refusals_.find(std::pair(board_.workload_of(group).name, ShardIndex(board_.group_shard[group])));
    return found == refusals_.end() ? 0 : found->second;
  }

  void check_spread(std::uint32_t group) {
    const Family& family = problem_.families[problem_.group_family[group]];
    const auto& domain = problem_.partitions[family.partition].domain;
    std::map<std::uint32_t, std::uint32_t> counts;
    std::map<std::uint32_t, std::string> names;
    for (const std::uint32_t node : state_.row(group)) {
      if (node != none)
        ++counts[domain[node]],
            names.try_emplace(domain[node], domain_name(board_.cluster->settings, board_.workload_of(group), board_.node(node)));
    }
    std::vector<std::string> parts;
    for (const auto& [d, count] : counts) {
      if (count > 1) parts.push_back(fmt::format("{} replicas in {}", count, names[d]));
    }
    add(group, Rule::spread, family.spread_hard, fmt::format("{}", fmt::join(parts, ", ")), Wait::spread);
  }

  void check_count(std::uint32_t group, std::uint32_t placed, std::uint32_t wanted) {
    const bool waits = board_.waits_for(group, Wait::count) || refusals_of(group) == 0;
    add(group, Rule::replicas, placed < wanted, fmt::format("{} of {} replicas", placed, wanted),
        waits ? Wait::count : Wait::nothing);
  }

  void check_leader(std::uint32_t group) {
    const std::uint32_t leader = state_.leader(group);
    if (leader == none || state_.at(leader) == none || board_.may_lead[state_.at(leader)] != 0 ||
        board_.is_down(state_.at(leader)))
      return;
    add(group, Rule::leaders, false, fmt::format("{} leads, and should not", node_name(state_.at(leader))));
  }

  // Nodes above a hard limit, and in what; those that are down hold nothing.
  void find_full_nodes() {
    for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
      if (board_.is_down(n)) continue;
      for (std::size_t d = 0; d < problem_.width(); ++d) {
        if (state_.usage(n)[d] > problem_.limit[n * problem_.width() + d]) full_[n].push_back(d);
      }
    }
  }

  void check_full(std::uint32_t group) {
    std::set<std::string> capacity, count;
    for (std::uint32_t r = problem_.group_first[group]; r < problem_.group_end(group); ++r) {
      const auto found = state_.at(r) == none ? full_.end() : full_.find(state_.at(r));
      if (found == full_.end()) continue;
      for (const std::size_t d : found->second) {
        const bool leads =
            state_.leader(group) == r && problem_.group_lead[group] != none && problem_.load(problem_.group_lead[group])[d] > 0;
        if (problem_.load(problem_.replica_load[r])[d] == 0 && !leads) continue;
        if (problem_.dimensions[d].counts) {
          count.insert(fmt::format("{} holds {} replicas of at most {}", node_name(found->first), state_.usage(found->first)[d],
                                   problem_.limit[found->first * problem_.width() + d]));
          continue;
        }
        capacity.insert(
            fmt::format("{}: {}", node_name(found->first), why_above(problem_, found->first, d, state_.usage(found->first)[d])));
      }
    }
    if (!capacity.empty()) add(group, Rule::capacity, true, fmt::format("{}", fmt::join(capacity, ", ")), Wait::limit);
    if (!count.empty()) add(group, Rule::count, true, fmt::format("{}", fmt::join(count, ", ")), Wait::limit);
  }

  void check_pins() {
    for (std::uint32_t w = 0; w < board_.spans.size(); ++w) {
      const Pins& pins = board_.cluster->workloads[w].pinned;
      for (std::size_t i = 0; i < pins.shards.size(); ++i) {
        const std::uint32_t shard = pins.shards[i].value();
        const std::uint32_t group = board_.group_of(w, shard);
        if (group == none) continue;
        std::vector<std::string> missing;
        for (const NodeIndex pinned : pins.nodes[i]) {
          const std::uint32_t node = board_.board_node[pinned.value()];
          if (std::ranges::find(state_.row(group), node) == state_.row(group).end()) missing.push_back(node_name(node));
        }
        if (!missing.empty())
          add(group, Rule::pinned, true,
              fmt::format("pinned to {}, which {} it", fmt::join(missing, ", "), missing.size() == 1 ? "lacks" : "lack"),
              Wait::pin);
      }
    }
  }

  // Shards of a workload that has asked to be apart from another, where a node holds both.
  void check_apart() {
    for (std::uint32_t w = 0; w < board_.spans.size(); ++w) {
      const auto& apart = problem_.families[w].apart_from;
      if (apart.empty()) continue;
      std::map<std::uint32_t, std::set<std::uint32_t>> others;  // by node: families that should not be there
      for (const std::uint32_t other : apart) {
        for_groups_of(other, [&](std::uint32_t group, std::uint32_t) {
          for (const std::uint32_t node : state_.row(group)) {
            if (node != none) others[node].insert(other);
          }
        });
      }
      for_groups_of(w, [&](std::uint32_t group, std::uint32_t) {
        std::set<std::string> met;
        for (const std::uint32_t node : state_.row(group)) {
          if (node == none || !others.contains(node)) continue;
          for (const std::uint32_t other : others[node])
            met.insert(fmt::format("{} is on {} too", problem_.families[other].name, node_name(node)));
        }
        if (!met.empty()) add(group, Rule::apart_from, false, fmt::format("{}", fmt::join(met, ", ")));
      });
    }
  }

  void measure() {
    Stats& stats = plan_.stats;
    stats.evaluated_moves = state_.evaluated();
    stats.moves = plan_.moves.size();
    stats.moves_floor = moves_floor();
    stats.cut_short = board_.cut_short;
    for (std::uint32_t d = 0; d < problem_.width(); ++d) {
      if (problem_.dimensions[d].level_weight > 0)
        stats.balance.emplace(ResourceId(problem_.dimensions[d].name), balance_of(state_, d));
    }
  }

  // What the change forces: replicas that must leave, or come, or go; and the fair share of nodes that were empty.
  std::uint64_t moves_floor() const {
    std::uint64_t floor = 0, placed = 0;
    std::vector<std::uint8_t> holds(problem_.nodes);
    std::uint8_t* used = holds.data();
    const std::uint32_t* origin = problem_.origin.data();
    for (std::uint32_t w = 0; w < board_.spans.size(); ++w) {
      const Span& span = board_.spans[w];
      const Standing* standing = board_.standing_by[problem_.families[w].able].data();
      const std::uint32_t wanted = board_.cluster->workloads[w].replicas;
      for (std::uint32_t group = span.first; group < span.first + span.count; ++group) {
        std::uint32_t here = 0;
        for (std::uint32_t r = problem_.group_first[group], end = problem_.group_end(group); r < end; ++r) {
          const std::uint32_t node = origin[r];
          if (node == none) continue;
          ++here;
          used[node] = 1;
          const bool must_leave = standing[node] != Standing::fine || problem_.is_barred(group, node);
          if (must_leave && board_.movable(group) && !board_.pinned(r)) ++floor;
        }
        placed += here;
        if (here < wanted && board_.movable(group)) floor += wanted - here;
      }
    }
    if (placed == 0 || board_.options.only == Only::repair || board_.options.only == Only::allocate) return floor;
    return std::max(floor, fair_share_of_empty(holds, placed));
  }

  std::uint64_t fair_share_of_empty(const std::vector<std::uint8_t>& used, std::uint64_t placed) const {
    std::vector<double> total(problem_.width());
    for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
      for (std::size_t d = 0; d < problem_.width(); ++d) total[d] += problem_.share[n * problem_.width() + d];
    }
    std::uint64_t floor = 0;
    for (std::uint32_t n = 0; n < problem_.nodes; ++n) {
      if (board_.takes_part[n] == 0 || used[n] != 0) continue;
      double part = 0, dimensions = 0;
      for (std::size_t d = 0; d < problem_.width(); ++d) {
        if (problem_.dimensions[d].level_weight <= 0 || total[d] <= 0) continue;
        part += problem_.share[n * problem_.width() + d] / total[d], dimensions += 1;
      }
      if (dimensions > 0) floor += static_cast<std::uint64_t>(part / dimensions * static_cast<double>(placed));
    }
    return floor;
  }

  const Board& board_;
  const Problem& problem_;
  const State& state_;
  Plan plan_;
  std::map<std::pair<WorkloadId, ShardIndex>, std::size_t> refusals_;  // replicas of that shard that have no home
  std::map<std::uint32_t, std::vector<std::size_t>> full_;             // by node: dimensions above their limit
};

}  // namespace

Plan report(const Board& board) { return Reporter(board).run(); }

}  // namespace evenkeel::place::detail
