// The engine against its definitions: on random problems of two shapes, a cluster's and the public yardstick's, every random change is
// worth what the plain recomputation says, and none that is allowed breaks what held.

#include "evenkeel/place/engine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/roadef_model.h"

#include "tests/place/engine_naive.h"

namespace evenkeel::place {
namespace {

// ---------------------------------------------------------------------------------------------------------------------------------------
// Problems.

void add_nodes(Problem& problem, Rng& rng) {
  problem.dimensions = {{.name = "cpu", .soft_weight = 2, .level_weight = 0.5},
                        {.name = "disk", .held = false, .level_weight = 1},
                        {.name = "replicas", .soft_weight = 1, .soft_tier = Cost::level, .counts = true}};
  problem.nodes = static_cast<std::uint32_t>(rng.between(3, 9));
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    for (const Amount most : {200, 200, 20}) {
      problem.limit.push_back(rng.between(most / 4, most));
      problem.soft.push_back(problem.limit.back() * rng.between(50, 100) / 100);
      problem.capacity.push_back(most);
      problem.base.push_back(rng.between(0, most / 20));
      problem.base_held.push_back(rng.chance(1, 4) ? rng.between(0, most / 20) : 0);
      problem.share.push_back(rng.chance(1, 6) ? 0 : 0.25 * static_cast<double>(rng.between(1, 8)));
    }
    problem.leader_share.push_back(rng.chance(1, 6) ? 0 : 0.5 * static_cast<double>(rng.between(1, 4)));
  }
  for (int i = 0; i < 2; ++i) {
    Partition& partition = problem.partitions.emplace_back();
    partition.domains = static_cast<std::uint32_t>(rng.between(1, problem.nodes));
    auto& own = problem.own_shares.emplace_back();
    auto& able = problem.able.emplace_back();
    auto& avoid = problem.avoid.emplace_back();
    for (std::uint32_t n = 0; n < problem.nodes; ++n) {
      partition.domain.push_back(static_cast<std::uint32_t>(rng.below(partition.domains)));
      own.push_back(rng.chance(1, 6) ? 0 : 0.5);
      able.push_back(rng.chance(1, 5) ? 0 : 1);
      if (i == 0) avoid.push_back(rng.chance(1, 5) ? 1 : 0);  // the other class avoids nothing
    }
  }
}

void add_families(Problem& problem, Rng& rng) {
  const auto families = static_cast<std::uint32_t>(rng.between(1, 4));
  const auto some = [&] {
    std::vector<std::uint32_t> list;
    for (std::uint32_t f = 0; f < families; ++f)
      if (rng.chance(1, 3)) list.push_back(f);
    return list;
  };
  for (std::uint32_t f = 0; f < families; ++f) {
    Family family{.able = static_cast<std::uint32_t>(rng.below(2)), .apart_from = some(), .close_to = some()};
    family.partition = rng.chance(1, 4) ? none : static_cast<std::uint32_t>(rng.below(2));
    family.spread_least = static_cast<std::uint32_t>(rng.between(0, 4));
    family.spread_hard = rng.chance(1, 2);
    family.own_weight = rng.chance(1, 3) ? 0 : 0.5;
    family.own_share = static_cast<std::uint32_t>(rng.below(2));
    family.lead_weight = rng.chance(1, 3) ? 0 : 0.25;
    problem.families.push_back(std::move(family));
  }
}

void add_load(Problem& problem, Rng& rng) {
  problem.loads.insert(problem.loads.end(), {rng.between(0, 12), rng.between(0, 12), 1});
  problem.measures.push_back(problem.loads[problem.loads.size() - 3]);
}

void add_group(Problem& problem, Rng& rng) {
  const auto group = problem.groups();
  problem.group_family.push_back(static_cast<std::uint32_t>(rng.below(problem.families.size())));
  const auto size = rng.chance(1, 10) ? rng.between(9, 12) : rng.between(1, 4);  // some above what is looked through one by one
  std::vector<std::uint32_t> nodes(problem.nodes);
  for (std::uint32_t n = 0; n < problem.nodes; ++n) nodes[n] = n;
  rng.shuffle(std::span(nodes));
  for (std::int64_t i = 0; i < size; ++i) {
    const bool homeless = rng.chance(1, 12) || i >= problem.nodes;
    problem.origin.push_back(homeless ? none : nodes[static_cast<std::size_t>(i)]);
    problem.replica_group.push_back(group);
    problem.frozen.push_back(rng.chance(1, 12) ? 1 : 0);
    problem.move_cost.push_back(static_cast<double>(rng.between(0, 9)));
    problem.replica_load.push_back(static_cast<std::uint32_t>(problem.measures.size()));
    add_load(problem, rng);
  }
  problem.origin_leader.push_back(rng.chance(1, 6) ? none : problem.origin[problem.group_first.back()]);
  problem.group_first.push_back(static_cast<std::uint32_t>(problem.origin.size()));
  problem.group_lead.push_back(rng.chance(1, 4) ? none : static_cast<std::uint32_t>(problem.measures.size()));
  if (problem.group_lead.back() != none) {
    add_load(problem, rng);
    problem.loads.back() = 0;
  }
  problem.lead_measures.push_back(rng.between(0, 5));
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    if (rng.chance(1, 10)) problem.barred.push_back({group, n});
  }
  problem.bars = !problem.barred.empty();
}

// Workloads with labels, leaders, spread and levels in several tiers. Some rules are broken from the start.
Problem cluster_like(Rng& rng) {
  Problem problem;
  add_nodes(problem, rng);
  add_families(problem, rng);
  const auto groups = rng.between(1, 12);
  for (std::int64_t g = 0; g < groups; ++g) add_group(problem, rng);
  problem.leader_level_weight = 0.5;
  problem.move_weight = 0.125;
  problem.distinct_at_peak = rng.chance(1, 2);
  return problem;
}

Problem yardstick_like(Rng& rng) {
  const auto made = roadef::make_instance(rng.next(), {.machines = static_cast<std::uint32_t>(rng.between(3, 14)),
                                                       .processes = static_cast<std::uint32_t>(rng.between(5, 60)),
                                                       .resources = static_cast<std::uint32_t>(rng.between(1, 4))});
  return roadef::Instance(made.model, made.start).problem;
}

Problem any_problem(Rng& rng) { return rng.chance(1, 2) ? cluster_like(rng) : yardstick_like(rng); }

// ---------------------------------------------------------------------------------------------------------------------------------------
// Changes.

std::uint32_t any_replica(const Problem& problem, Rng& rng) { return static_cast<std::uint32_t>(rng.below(problem.replicas())); }

// A node other than where the replica is, or none now and then.
std::uint32_t elsewhere(const State& state, std::uint32_t replica, Rng& rng) {
  if (state.at(replica) != none && rng.chance(1, 20)) return none;
  if (const auto home = state.home(replica); home != none && home != state.at(replica) && rng.chance(1, 4)) return home;
  for (;;) {
    const auto node = static_cast<std::uint32_t>(rng.below(state.problem().nodes));
    if (node != state.at(replica)) return node;
  }
}

bool draw_chain(const State& state, Trial& trial, Rng& rng) {
  const Problem& problem = state.problem();
  std::vector<Trial::Step> steps;
  const auto size = rng.between(2, 6);
  for (std::int64_t i = 0; i < size; ++i) {
    // Often of one group, which is where steps act on each other.
    auto replica = any_replica(problem, rng);
    if (!steps.empty() && rng.chance(1, 2)) {
      const auto group = problem.replica_group[steps.back().replica];
      replica = static_cast<std::uint32_t>(rng.between(problem.group_first[group], problem.group_end(group) - 1));
    }
    if (std::ranges::any_of(steps, [&](const Trial::Step& step) { return step.replica == replica; })) continue;
    steps.push_back({replica, state.at(replica), elsewhere(state, replica, rng)});
  }
  if (rng.chance(1, 2)) {
    trial.chain(steps);
  } else {
    trial.shift(steps.front().replica, steps.front().to);
    for (std::size_t i = 1; i < steps.size(); ++i) trial.also(steps[i].replica, steps[i].to);
  }
  return true;
}

bool draw_lead(const State& state, Trial& trial, Rng& rng) {
  const Problem& problem = state.problem();
  if (problem.group_lead.empty()) return false;
  const auto replica = any_replica(problem, rng);
  const auto group = problem.replica_group[replica];
  if (state.leader(group) == replica || state.at(replica) == none) return false;
  trial.lead(group, replica);
  return true;
}

// False: nothing came of this draw.
bool draw(const State& state, Trial& trial, Rng& rng) {
  const auto replica = any_replica(state.problem(), rng), other = any_replica(state.problem(), rng);
  switch (rng.below(6)) {
    case 0:
      return draw_chain(state, trial, rng);
    case 1:
      return draw_lead(state, trial, rng);
    case 2:
    case 3:
      if (state.at(replica) == state.at(other) || state.at(replica) == none || state.at(other) == none) return false;
      trial.swap(replica, other);
      return true;
    default:
      trial.shift(replica, elsewhere(state, replica, rng));
      return true;
  }
}

// ---------------------------------------------------------------------------------------------------------------------------------------
// What must be equal. Levels are sums of fractions; everything else is exact.

double size_of(const Cost& cost) { return std::abs(cost.tiers[Cost::level]) + std::abs(cost.tiers[Cost::last]); }

void expect_same(const Cost& found, const Cost& expected, double size) {
  for (const auto tier : {Cost::spread, Cost::affinity, Cost::soft}) RC_ASSERT(found.tiers[tier] == expected.tiers[tier]);
  for (const auto tier : {Cost::level, Cost::last}) {
    RC_ASSERT(std::abs(found.tiers[tier] - expected.tiers[tier]) <= 1e-9 * (1 + size));
  }
}

void expect_whole(const State& state) {
  const Problem& problem = state.problem();
  const Arrangement where = Arrangement::of(state);
  const Cost naive = naive_cost(problem, where);
  expect_same(state.whole(), naive, size_of(naive));
  RC_ASSERT(state.adds_up());
  const NaiveLoads loads = naive_loads(problem, where);
  for (std::uint32_t n = 0; n < problem.nodes; ++n)
    for (std::size_t d = 0; d < problem.width(); ++d) {
      RC_ASSERT(state.usage(n)[d] == loads.usage[n * problem.width() + d]);
      RC_ASSERT(state.peak(n)[d] == loads.peak[n * problem.width() + d]);
    }
}

void expect_nothing_newly_broken(const Problem& problem, const Arrangement& before, const Arrangement& after) {
  const auto held = naive_rules(problem, before, before);
  for (const auto& [rule, holds] : naive_rules(problem, after, before)) {
    if (!holds && held.at(rule)) RC_FAIL(rule);
  }
}

void expect_lists(State& state) {
  std::size_t listed = 0;
  for (std::uint32_t n = 0; n < state.problem().nodes; ++n) {
    for (const auto replica : state.replicas_on(n)) RC_ASSERT(state.at(replica) == n);
    listed += state.replicas_on(n).size();
  }
  std::size_t placed = 0;
  for (std::uint32_t r = 0; r < state.problem().replicas(); ++r) placed += state.at(r) != none ? 1 : 0;
  RC_ASSERT(listed == placed);
}

// A state of the same problem that came to the same arrangement by another way: replica by replica, then leader by leader.
void expect_same_by_another_way(const State& state) {
  State other(state.problem());
  Trial trial(other);
  for (std::uint32_t r = 0; r < state.problem().replicas(); ++r)
    if (other.at(r) != state.at(r)) other.apply(trial.shift(r, state.at(r)));
  for (std::uint32_t g = 0; g < state.problem().groups(); ++g)
    if (other.leader(g) != state.leader(g)) other.apply(trial.lead(g, state.leader(g)));
  const Cost whole = state.whole();
  expect_same(other.whole(), whole, size_of(whole));
  Rng rng(1);
  Trial same(state);
  for (int i = 0; i < 20; ++i) {
    Rng again = rng.split(static_cast<std::uint64_t>(i)), twice = again;
    if (!draw(state, same, again)) continue;
    RC_ASSERT(draw(other, trial, twice));
    RC_ASSERT(state.allowed(same) == other.allowed(trial));
    expect_same(other.delta(trial), state.delta(same), size_of(whole));
  }
}

// One random change, allowed or, now and then, forced, with all that is to be expected of it; and sometimes undone at once.
void change_once(State& state, Rng& rng) {
  Trial trial(state), inverse(state);
  if (!draw(state, trial, rng)) return;
  const bool allowed = state.allowed(trial);
  RC_ASSERT((state.forbids(trial) == nullptr) == allowed);
  if (!allowed && !rng.chance(1, 8)) return;
  const Arrangement before = Arrangement::of(state);
  const Cost delta = state.delta(trial), whole = state.whole();
  trial.invert(inverse);
  state.apply(trial);
  const Arrangement after = Arrangement::of(state);
  for (const Trial::Step& step : trial.steps()) RC_ASSERT(after.at[step.replica] == step.to);
  if (trial.leads()) RC_ASSERT(after.leader[trial.lead_group()] == trial.lead_to());
  if (allowed) expect_nothing_newly_broken(state.problem(), before, after);
  expect_whole(state);
  const double size = size_of(whole) + size_of(delta);
  expect_same(whole + delta, state.whole(), size);
  if (!rng.chance(1, 4)) return;
  const Cost back = state.delta(inverse);
  expect_same(delta + back, Cost{}, size);
  state.apply(inverse);
  RC_ASSERT(Arrangement::of(state).at == before.at);
  RC_ASSERT(Arrangement::of(state).leader == before.leader);
  expect_whole(state);
}

TEST(Engine, EveryChangeIsWorthWhatThePlainRecomputationSays) {
  EXPECT_TRUE(rc::check("for every seed", [](std::uint64_t seed) {
    Rng rng(seed);
    const Problem problem = any_problem(rng);
    State state(problem);
    expect_whole(state);
    if (rng.chance(1, 2)) expect_lists(state);
    for (int i = 0; i < 40; ++i) {
      change_once(state, rng);
      if (rng.chance(1, 30)) {
        state.settle();
        expect_whole(state);
        for (std::uint32_t r = 0; r < problem.replicas(); ++r) RC_ASSERT(state.home(r) == state.at(r));
        continue;
      }
    }
    expect_lists(state);
  }));
}

TEST(Engine, TheWayToAnArrangementDoesNotMatter) {
  EXPECT_TRUE(rc::check("for every seed", [](std::uint64_t seed) {
    Rng rng(seed);
    const Problem problem = any_problem(rng);
    State state(problem);
    for (int i = 0; i < 40; ++i) change_once(state, rng);
    expect_same_by_another_way(state);
  }));
}

TEST(Engine, AShiftIsAllowedExactlyWhenNoRuleSaysWhyNot) {
  EXPECT_TRUE(rc::check("for every seed", [](std::uint64_t seed) {
    Rng rng(seed);
    const Problem problem = any_problem(rng);
    State state(problem);
    for (int i = 0; i < 10; ++i) change_once(state, rng);
    Trial trial(state);
    for (int i = 0; i < 30; ++i) {
      const auto replica = any_replica(problem, rng);
      const auto to = elsewhere(state, replica, rng);
      if (to != none) RC_ASSERT(state.allowed(trial.shift(replica, to)) == state.why_not(replica, to).empty());
    }
  }));
}

// ---------------------------------------------------------------------------------------------------------------------------------------
// The search on top.

TEST(Improve, NeverWorsensNorBreaksAndRepeatsItself) {
  EXPECT_TRUE(rc::check("for every seed", [](std::uint64_t seed) {
    Rng rng(seed);
    const Problem problem = any_problem(rng);
    const std::uint64_t budget = 1 + rng.below(20'000);
    std::optional<Arrangement> first;
    for (int run = 0; run < 2; ++run) {
      State state(problem);
      const Arrangement before = Arrangement::of(state);
      const Cost start = state.whole();
      Rng own(seed);
      improve(state, own, {.budget = budget, .manner = seed % 2 == 0 ? Manner::bold : Manner::thrifty});
      const Arrangement after = Arrangement::of(state);
      expect_nothing_newly_broken(problem, before, after);
      expect_whole(state);
      RC_ASSERT(!(start < state.whole()));
      if (first) RC_ASSERT(first->at == after.at && first->leader == after.leader);
      first = after;
    }
  }));
}

TEST(Improve, StopsWhenAskedTo) {
  Rng rng(1);
  const Problem problem = yardstick_like(rng);
  int asked = 0;
  State state(problem);
  improve(state, rng, {.stop = [&] { return ++asked > 100; }});
  EXPECT_LT(asked, 110) << "it is soon over once it has said so";
  double spent = 0;
  improve(state, rng, {.spent = [&] { return spent += 0.001; }});
  EXPECT_GE(spent, 1);
}

TEST(Improve, FindsTheOnlyImprovement) {
  // Two nodes, one of them over its soft limit by one of its two replicas.
  Problem problem;
  problem.dimensions = {{.name = "load", .soft_weight = 1, .soft_tier = Cost::level}};
  problem.nodes = 2;
  problem.limit = {20, 20}, problem.soft = {10, 10}, problem.base = {0, 0}, problem.capacity = {20, 20};
  problem.able = {{1, 1}};
  problem.families = {{.name = "f"}};
  problem.group_family = {0, 0}, problem.group_first = {0, 1, 2};
  problem.replica_group = {0, 1}, problem.replica_load = {0, 0}, problem.origin = {0, 0};
  problem.loads = {10};
  State state(problem);
  Rng rng(1);
  EXPECT_EQ(state.whole(), Cost::of(Cost::level, 10));
  improve(state, rng, {.budget = 100});
  EXPECT_EQ(state.whole(), Cost{});
  EXPECT_NE(state.at(0), state.at(1));
}

}  // namespace
}  // namespace evenkeel::place
