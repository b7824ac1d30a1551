#include "evenkeel/place/detail/spread_count.h"

#include <algorithm>
#include <array>

namespace evenkeel::place::detail {
namespace {

std::uint32_t shortfall(std::uint32_t least, std::uint32_t placed, std::uint32_t distinct) {
  const std::uint32_t needed = std::min(least, placed);
  return needed > distinct ? needed - distinct : 0;
}

// By looking at each replica of a small group.
template <class Where>
std::uint32_t short_by_looking(const Problem& problem, std::uint32_t group, const Where& where) {
  const Family& family = problem.families[problem.group_family[group]];
  const auto& domain = problem.partitions[family.partition].domain;
  std::array<std::uint32_t, 16> few;
  std::vector<std::uint32_t> many;  // a group that came later than the last count
  std::uint32_t* seen = few.data();
  if (const std::uint32_t replicas = problem.group_end(group) - problem.group_first[group]; replicas > few.size()) {
    many.resize(replicas);
    seen = many.data();
  }
  std::uint32_t placed = 0, distinct = 0;
  for (std::uint32_t r = problem.group_first[group]; r < problem.group_end(group); ++r) {
    const std::uint32_t node = where(r);
    if (node == none) continue;
    ++placed;
    if (std::find(seen, seen + distinct, domain[node]) == seen + distinct) seen[distinct++] = domain[node];
  }
  return shortfall(family.spread_least, placed, distinct);
}

}  // namespace

void SpreadCount::reset(const State& state) {
  const Problem& problem = state.problem();
  large_.assign(problem.groups(), none);
  std::uint32_t rows = 0, domains = 0;
  for (std::uint32_t group = 0; group < problem.groups(); ++group) {
    if (!minds(problem, group) || problem.group_end(group) - problem.group_first[group] <= small) continue;
    large_[group] = rows++;
    domains = std::max(domains, problem.partitions[problem.families[problem.group_family[group]].partition].domains);
  }
  counts_.reset(rows, domains);
  distinct_.assign(problem.groups(), 0);
  placed_.assign(problem.groups(), 0);
  for (std::uint32_t group = 0; group < problem.groups(); ++group) {
    if (large_[group] == none) continue;
    for (const std::uint32_t node : state.row(group))
      if (node != none) arrive(problem, group, node);
  }
}

std::uint32_t SpreadCount::short_of(const State& state, std::uint32_t group) const {
  const Problem& problem = state.problem();
  if (large_.size() <= group || large_[group] == none) {
    return short_by_looking(problem, group, [&](std::uint32_t r) { return state.at(r); });
  }
  return shortfall(problem.families[problem.group_family[group]].spread_least, placed_[group], distinct_[group]);
}

std::uint32_t SpreadCount::short_after(const State& state, const Trial& trial, std::uint32_t group) const {
  const Problem& problem = state.problem();
  if (large_.size() <= group || large_[group] == none) {
    return short_by_looking(problem, group, [&](std::uint32_t r) { return trial.will_be(r); });
  }
  const Family& family = problem.families[problem.group_family[group]];
  const auto& domain = problem.partitions[family.partition].domain;
  std::uint32_t placed = placed_[group], distinct = distinct_[group];
  // Each step on top of those before it: the count of a domain is the kept one and what earlier steps did to it.
  const auto steps = trial.steps();
  const auto count_before = [&](std::size_t step, std::uint32_t d) {
    std::uint32_t count = counts_.at(large_[group], d);
    for (std::size_t i = 0; i < step; ++i) {
      if (problem.replica_group[steps[i].replica] != group) continue;
      if (steps[i].from != none && domain[steps[i].from] == d) --count;
      if (steps[i].to != none && domain[steps[i].to] == d) ++count;
    }
    return count;
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (problem.replica_group[steps[i].replica] != group) continue;
    const std::uint32_t out = steps[i].from == none ? none : domain[steps[i].from];
    const std::uint32_t in = steps[i].to == none ? none : domain[steps[i].to];
    if (out == none) ++placed;
    if (in == none) --placed;
    if (out == in) continue;
    if (out != none && count_before(i, out) == 1) --distinct;
    if (in != none && count_before(i, in) == 0) ++distinct;
  }
  return shortfall(family.spread_least, placed, distinct);
}

void SpreadCount::apply(const State& state, const Trial& trial) {
  const Problem& problem = state.problem();
  for (const Trial::Step& step : trial.steps()) {
    const std::uint32_t group = problem.replica_group[step.replica];
    if (large_.size() <= group || large_[group] == none) continue;
    if (step.from != none) leave(problem, group, step.from);
    if (step.to != none) arrive(problem, group, step.to);
  }
}

std::uint32_t SpreadCount::domain_of(const Problem& problem, std::uint32_t group, std::uint32_t node) {
  return problem.partitions[problem.families[problem.group_family[group]].partition].domain[node];
}

void SpreadCount::arrive(const Problem& problem, std::uint32_t group, std::uint32_t node) {
  const std::uint32_t domain = domain_of(problem, group, node);
  ++placed_[group];
  if (counts_.at(large_[group], domain) == 0) ++distinct_[group];
  counts_.add(large_[group], domain, 1);
}

void SpreadCount::leave(const Problem& problem, std::uint32_t group, std::uint32_t node) {
  const std::uint32_t domain = domain_of(problem, group, node);
  --placed_[group];
  counts_.add(large_[group], domain, ~std::uint32_t{0});  // one less
  if (counts_.at(large_[group], domain) == 0) --distinct_[group];
}

}  // namespace evenkeel::place::detail
