#include "tests/place/engine_naive.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace evenkeel::place {

namespace {

const Family& family_of(const Problem& problem, std::uint32_t replica) {
  return problem.families[problem.group_family[problem.replica_group[replica]]];
}

std::uint32_t leader_node(const Arrangement& where, std::uint32_t group) {
  return where.leader[group] == none ? none : where.at[where.leader[group]];
}

// How many domains too few a group lies in.
std::uint32_t shortfall(const Problem& problem, const Arrangement& where, std::uint32_t group) {
  const Family& family = problem.families[problem.group_family[group]];
  std::set<std::uint32_t> domains;
  std::uint32_t placed = 0;
  for (std::uint32_t r = problem.group_first[group]; r < problem.group_end(group); ++r) {
    if (where.at[r] == none) continue;
    ++placed;
    domains.insert(problem.partitions[family.partition].domain[where.at[r]]);
  }
  const std::uint32_t needed = std::min(family.spread_least, placed);
  return needed - std::min(needed, static_cast<std::uint32_t>(domains.size()));
}

double square(Amount amount) { return static_cast<double>(amount) * static_cast<double>(amount); }

double spread_cost(const Problem& problem, const Arrangement& where) {
  double cost = 0;
  for (std::uint32_t g = 0; g < problem.groups(); ++g) {
    const Family& family = problem.families[problem.group_family[g]];
    if (family.partition != none && !family.spread_hard) cost += shortfall(problem, where, g);
  }
  return cost;
}

double affinity_cost(const Problem& problem, const Arrangement& where) {
  std::vector<std::vector<int>> counts(problem.families.size(), std::vector<int>(problem.nodes));  // family × node
  double cost = 0;
  for (std::uint32_t r = 0; r < problem.replicas(); ++r) {
    if (where.at[r] == none) continue;
    ++counts[problem.group_family[problem.replica_group[r]]][where.at[r]];
    if (problem.avoid.empty()) continue;
    const auto& avoid = problem.avoid[family_of(problem, r).able];
    cost += avoid.empty() ? 0 : avoid[where.at[r]];
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> apart, close;
  for (std::uint32_t f = 0; f < problem.families.size(); ++f) {
    for (const auto other : problem.families[f].apart_from)
      if (other != f) apart.emplace(std::min(f, other), std::max(f, other));
    for (const auto other : problem.families[f].close_to)
      if (other != f) close.emplace(f, other);
  }
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    for (const auto& [one, other] : apart) cost += counts[one][n] * counts[other][n];
    for (const auto& [one, other] : close) cost += counts[other][n] == 0 ? counts[one][n] : 0;
  }
  return cost;
}

void add_usage_costs(const Problem& problem, const NaiveLoads& loads, Cost& cost) {
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    const std::size_t row = n * problem.width();
    for (std::size_t d = 0; d < problem.width(); ++d) {
      const Dimension& dimension = problem.dimensions[d];
      const Amount usage = loads.usage[row + d];
      if (dimension.soft_weight > 0)
        cost.tiers[dimension.soft_tier] +=
            dimension.soft_weight * static_cast<double>(std::max<Amount>(0, usage - problem.soft[row + d]));
      if (dimension.level_weight > 0 && problem.share[row + d] > 0)
        cost.tiers[Cost::level] += dimension.level_weight * square(usage) / problem.share[row + d];
    }
    for (const FreePair& pair : problem.free_pairs) {
      const Amount first = problem.capacity[row + pair.first] - loads.usage[row + pair.first];
      const Amount second = problem.capacity[row + pair.second] - loads.usage[row + pair.second];
      cost.tiers[Cost::level] += pair.weight * static_cast<double>(std::max<Amount>(0, pair.ratio * first - second));
    }
  }
}

// Each family by itself: its replicas' measures.
double own_level_cost(const Problem& problem, const Arrangement& where) {
  double cost = 0;
  for (std::uint32_t f = 0; f < problem.families.size(); ++f) {
    const Family& family = problem.families[f];
    for (std::uint32_t n = 0; n < problem.nodes; ++n) {
      Amount own = 0;
      for (std::uint32_t r = 0; r < problem.replicas(); ++r)
        if (where.at[r] == n && &family_of(problem, r) == &family) own += problem.measures[problem.replica_load[r]];
      if (family.own_weight > 0 && problem.own_shares[family.own_share][n] > 0)
        cost += family.own_weight * square(own) / problem.own_shares[family.own_share][n];
    }
  }
  return cost;
}

// Leaders in all and of each family, and how many are where none should be.
Cost leader_cost(const Problem& problem, const Arrangement& where) {
  Cost cost;
  for (std::uint32_t n = 0; n < problem.nodes && problem.leader_level_weight > 0; ++n) {
    Amount all = 0;
    std::vector<Amount> own(problem.families.size());
    for (std::uint32_t g = 0; g < problem.groups(); ++g) {
      if (leader_node(where, g) != n) continue;
      all += problem.lead_measures[g];
      own[problem.group_family[g]] += problem.lead_measures[g];
      if (problem.leader_share[n] <= 0) cost.tiers[Cost::affinity] += 1;
    }
    if (problem.leader_share[n] <= 0) continue;
    cost.tiers[Cost::last] += problem.leader_level_weight * square(all) / problem.leader_share[n];
    for (std::size_t f = 0; f < own.size(); ++f) {
      cost.tiers[Cost::last] += problem.families[f].lead_weight * square(own[f]) / problem.leader_share[n];
    }
  }
  return cost;
}

double move_cost(const Problem& problem, const Arrangement& where) {
  double cost = 0;
  std::vector<std::uint32_t> moved(problem.groups());
  for (std::uint32_t r = 0; r < problem.replicas(); ++r) {
    const std::uint32_t at = where.at[r], home = where.home[r];
    if (at != home) ++moved[problem.replica_group[r]];
    if (at == none || home == none) continue;
    if (!problem.between.empty()) cost += problem.between_weight * problem.between[home * problem.nodes + at];
    if (at != home && problem.move_weight > 0) cost += problem.move_weight * problem.move_cost[r];
  }
  return cost + problem.most_moved_weight * (moved.empty() ? 0 : *std::ranges::max_element(moved));
}

}  // namespace

Arrangement Arrangement::of(const State& state) {
  Arrangement where;
  for (std::uint32_t r = 0; r < state.problem().replicas(); ++r) {
    where.at.push_back(state.at(r));
    where.home.push_back(state.home(r));
  }
  for (std::uint32_t g = 0; g < state.problem().groups(); ++g) {
    where.leader.push_back(state.leader(g));
    where.leader_home.push_back(state.leader_home(g));
  }
  return where;
}

NaiveLoads naive_loads(const Problem& problem, const Arrangement& where) {
  NaiveLoads loads{problem.base, problem.base};
  for (std::size_t i = 0; i < problem.base_held.size(); ++i) loads.peak[i] += problem.base_held[i];
  const auto add = [&](std::uint32_t row, std::uint32_t at, std::uint32_t home) {
    for (std::size_t d = 0; d < problem.width(); ++d) {
      const Amount load = problem.load(row)[d];
      if (at != none) loads.usage[at * problem.width() + d] += load;
      if (at != none) loads.peak[at * problem.width() + d] += load;
      if (home != none && home != at && problem.dimensions[d].held) loads.peak[home * problem.width() + d] += load;
    }
  };
  for (std::uint32_t r = 0; r < problem.replicas(); ++r) add(problem.replica_load[r], where.at[r], where.home[r]);
  for (std::uint32_t g = 0; g < problem.group_lead.size(); ++g)
    if (problem.group_lead[g] != none) add(problem.group_lead[g], leader_node(where, g), where.leader_home[g]);
  return loads;
}

Cost naive_cost(const Problem& problem, const Arrangement& where) {
  Cost cost = Cost::of(Cost::spread, spread_cost(problem, where)) + Cost::of(Cost::affinity, affinity_cost(problem, where)) +
              Cost::of(Cost::level, move_cost(problem, where));
  add_usage_costs(problem, naive_loads(problem, where), cost);
  if (!problem.measures.empty()) cost += Cost::of(Cost::level, own_level_cost(problem, where));
  if (!problem.lead_measures.empty()) cost += leader_cost(problem, where);
  return cost;
}

std::map<std::string, bool> naive_rules(const Problem& problem, const Arrangement& where, const Arrangement& before) {
  std::map<std::string, bool> rules;
  const NaiveLoads loads = naive_loads(problem, where);
  for (std::size_t i = 0; i < loads.peak.size(); ++i) {
    rules[fmt::format("usage within limit {}", i)] = loads.usage[i] <= problem.limit[i];
    rules[fmt::format("peak within limit {}", i)] = loads.peak[i] <= problem.limit[i];
  }
  for (std::uint32_t r = 0; r < problem.replicas(); ++r) {
    const bool moved = where.at[r] != before.at[r];
    rules[fmt::format("able {}", r)] =
        !moved || where.at[r] == none || problem.able[family_of(problem, r).able][where.at[r]] != 0;
    rules[fmt::format("barred {}", r)] =
        !moved || std::ranges::find(problem.barred, Bar{problem.replica_group[r], where.at[r]}) == problem.barred.end();
    rules[fmt::format("frozen {}", r)] = !moved || problem.frozen.empty() || problem.frozen[r] == 0;
    const std::uint32_t group = problem.replica_group[r];
    for (std::uint32_t other = problem.group_first[group]; other < problem.group_end(group); ++other) {
      if (other == r) continue;
      const bool leaves = problem.distinct_at_peak && where.at[r] != where.home[r] && where.at[r] == where.home[other];
      rules[fmt::format("distinct {} {}", r, other)] = where.at[r] == none || (where.at[r] != where.at[other] && !leaves);
    }
  }
  for (std::uint32_t g = 0; g < problem.groups(); ++g) {
    const Family& family = problem.families[problem.group_family[g]];
    if (family.partition != none && family.spread_hard) rules[fmt::format("spread {}", g)] = shortfall(problem, where, g) == 0;
  }
  if (problem.dependency_partition == none) return rules;
  const Partition& partition = problem.partitions[problem.dependency_partition];
  std::set<std::pair<std::uint32_t, std::uint32_t>> held;  // family, domain
  for (std::uint32_t r = 0; r < problem.replicas(); ++r)
    if (where.at[r] != none) held.emplace(problem.group_family[problem.replica_group[r]], partition.domain[where.at[r]]);
  for (std::uint32_t f = 0; f < problem.families.size(); ++f)
    for (const auto on : problem.families[f].depends_on)
      for (std::uint32_t domain = 0; domain < partition.domains; ++domain)
        rules[fmt::format("dependency {} {} {}", f, on, domain)] = !held.contains({f, domain}) || held.contains({on, domain});
  return rules;
}

}  // namespace evenkeel::place
