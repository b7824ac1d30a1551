#include "evenkeel/place/floors.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "evenkeel/base/rng.h"

namespace evenkeel::place {
namespace {

// One dimension, one family that may be anywhere; nodes by their shares.
Problem on_nodes(std::vector<double> shares) {
  Problem problem;
  problem.dimensions.push_back({.name = "cpu", .level_weight = 1});
  problem.nodes = static_cast<std::uint32_t>(shares.size());
  problem.limit.assign(problem.nodes, unlimited);
  problem.soft.assign(problem.nodes, unlimited);
  problem.base.assign(problem.nodes, 0);
  problem.capacity.assign(problem.nodes, 0);
  problem.able.emplace_back(problem.nodes, 1);
  problem.share = std::move(shares);
  problem.families.push_back({.name = "f"});
  return problem;
}

// A group whose replicas carry `loads` and are on the nodes `at`.
void add_group(Problem& problem, const std::vector<Amount>& loads, const std::vector<std::uint32_t>& at,
               std::uint32_t family = 0) {
  for (std::size_t i = 0; i < loads.size(); ++i) {
    problem.replica_group.push_back(problem.groups());
    problem.replica_load.push_back(static_cast<std::uint32_t>(problem.loads.size()));
    problem.loads.push_back(loads[i]);
    problem.origin.push_back(at[i]);
  }
  problem.group_family.push_back(family);
  problem.group_first.push_back(problem.replicas());
}

// The group added last has a leader, its first replica, which carries this on top.
void lead_last(Problem& problem, Amount load) {
  problem.group_lead.resize(problem.groups(), none);
  problem.origin_leader.resize(problem.groups(), none);
  problem.group_lead.back() = static_cast<std::uint32_t>(problem.loads.size());
  problem.origin_leader.back() = problem.origin[problem.group_first[problem.groups() - 1]];
  problem.loads.push_back(load);
}

double floor_of(const Problem& problem) { return level_floor(State(problem), 0); }

TEST(Floors, AreOneWhereNothingIsInTheWay) {
  Problem problem = on_nodes({1, 1});
  EXPECT_EQ(floor_of(problem), 1) << "nothing is used";
  add_group(problem, {5}, {0});
  add_group(problem, {5}, {0});
  EXPECT_EQ(floor_of(problem), 1);
  problem.share = {0, 0};
  EXPECT_EQ(floor_of(problem), 1) << "no node takes part";
}

TEST(Floors, TheLargestReplicaIsOnTheLargestNodeAtBest) {
  Problem problem = on_nodes({2, 1, 1});
  add_group(problem, {9}, {0});
  add_group(problem, {3}, {1});  // the mean is 12 / 4, the largest 9 / 2
  EXPECT_DOUBLE_EQ(floor_of(problem), 1.5);
}

TEST(Floors, AGroupsReplicasAreOnDifferentNodes) {
  Problem problem = on_nodes({4, 2, 1});
  add_group(problem, {6, 6, 6}, {0, 1, 2});  // one of them is on the smallest node: 6 over 18 / 7
  EXPECT_DOUBLE_EQ(floor_of(problem), 7.0 / 3);
  Problem two = on_nodes({4, 2, 1});
  add_group(two, {6, 6}, {0, 1});
  EXPECT_DOUBLE_EQ(floor_of(two), 3.0 / (12.0 / 7));
}

TEST(Floors, OneOfAGroupLeads) {
  Problem problem = on_nodes({1, 1, 1});
  add_group(problem, {2, 2, 2}, {0, 1, 2});
  lead_last(problem, 6);
  EXPECT_DOUBLE_EQ(floor_of(problem), 2);
}

TEST(Floors, TwoOfTheNextToLargestShareANode) {
  Problem problem = on_nodes({1, 1, 1});
  for (const Amount load : {10, 9, 8, 7}) add_group(problem, {load}, {0});
  EXPECT_DOUBLE_EQ(floor_of(problem), 15 / (34.0 / 3));
}

TEST(Floors, LikeReplicasFillNodesInSteps) {
  Problem problem = on_nodes({1, 1, 1});
  for (int i = 0; i < 10; ++i) add_group(problem, {7}, {0});
  EXPECT_NEAR(floor_of(problem), 1.2, 1e-6);
  problem.base = {0, 5, 0};  // 75 in all: two nodes hold three, and one four, or the one with a base three
  EXPECT_NEAR(floor_of(problem), 28 / 25.0, 1e-6);
}

TEST(Floors, WhatIsNotOursStays) {
  Problem problem = on_nodes({1, 1});
  problem.base = {30, 0};
  add_group(problem, {5}, {0});
  add_group(problem, {5}, {1});
  EXPECT_DOUBLE_EQ(floor_of(problem), 1.5);
  problem.frozen = {1, 0};
  EXPECT_DOUBLE_EQ(floor_of(problem), 1.75) << "nor does what is pinned";
}

TEST(Floors, ASmallZoneHasItsReplicaOfEveryShard) {
  Problem problem = on_nodes({1, 1, 1, 1, 1});
  problem.partitions.push_back({.domain = {0, 0, 1, 1, 2}, .domains = 3});
  problem.families[0].partition = 0;
  problem.families[0].spread_least = 3;
  for (int i = 0; i < 100; ++i) add_group(problem, {1, 1, 1}, {0, 2, 4});
  EXPECT_NEAR(floor_of(problem), 100 / 60.0, 1e-9);
  // A group that is not spread that well now need not be later.
  for (int i = 0; i < 100; ++i) add_group(problem, {1, 1, 1}, {0, 1, 2});
  EXPECT_NEAR(floor_of(problem), 1, 1e-9);
}

TEST(Floors, ClassesOfNodesHoldWhatOnlyTheyMay) {
  Problem problem = on_nodes({1, 1, 1, 1});
  problem.able.push_back({1, 0, 0, 0});
  problem.able.push_back({1, 1, 0, 0});
  problem.families.push_back({.name = "one", .able = 1});
  problem.families.push_back({.name = "two", .able = 2});
  for (int i = 0; i < 1000; ++i) add_group(problem, {1}, {2});
  for (int i = 0; i < 400; ++i) add_group(problem, {1}, {0}, 1);
  for (int i = 0; i < 600; ++i) add_group(problem, {1}, {1}, 2);
  EXPECT_NEAR(floor_of(problem), 1, 1e-9);
  for (int i = 0; i < 400; ++i) add_group(problem, {1}, {1}, 2);
  EXPECT_NEAR(floor_of(problem), 700 / 600.0, 1e-9) << "the two nodes hold both classes";
}

TEST(Balance, IsRelativeToShares) {
  Problem problem = on_nodes({1, 3, 0});
  for (int i = 0; i < 3; ++i) add_group(problem, {1}, {0});
  for (int i = 0; i < 5; ++i) add_group(problem, {1}, {1});
  add_group(problem, {50}, {2});  // that node takes no part
  const Balance balance = balance_of(State(problem), 0);
  EXPECT_DOUBLE_EQ(balance.max_over_mean, 1.5);
  EXPECT_DOUBLE_EQ(balance.floor, 1);
  EXPECT_NEAR(balance.stddev_over_mean, 0.288675, 1e-6);  // a quarter is off by 1/2, three quarters by 1/6
  EXPECT_FALSE(balance.max_over_mean_without_giants);
}

TEST(Balance, IsAlsoGivenWithoutGiants) {
  Problem problem = on_nodes({1, 1, 1, 1});
  add_group(problem, {10}, {2});
  lead_last(problem, 70);
  for (const std::uint32_t node : {0u, 1u, 1u, 3u}) add_group(problem, {5}, {node});
  problem.group_lead.resize(problem.groups(), none);
  problem.origin_leader.resize(problem.groups(), none);
  const State state(problem);
  EXPECT_EQ(nodes_with_giants(state, 0), std::vector<std::uint32_t>{2});
  const Balance balance = balance_of(state, 0);
  EXPECT_DOUBLE_EQ(balance.max_over_mean, 3.2);
  EXPECT_DOUBLE_EQ(balance.floor, 3.2);
  ASSERT_TRUE(balance.max_over_mean_without_giants);
  EXPECT_DOUBLE_EQ(*balance.max_over_mean_without_giants, 0.4);
}

TEST(Balance, WithoutGiantsIsNotGivenWhereTheyHoldEverything) {
  Problem problem = on_nodes({1, 1, 1});
  add_group(problem, {1}, {1});
  const State state(problem);
  EXPECT_EQ(nodes_with_giants(state, 0), std::vector<std::uint32_t>{1});
  EXPECT_FALSE(balance_of(state, 0).max_over_mean_without_giants);
}

TEST(Balance, OfNothingIsLevel) { EXPECT_EQ(balance_of(State(on_nodes({1, 1})), 0), Balance{}); }

// Every placement of a tiny problem that a floor is about, and the lowest level among them.
class Enumeration {
 public:
  explicit Enumeration(const State& state) : state_(state), problem_(state.problem()) {
    usage_.assign(problem_.base.begin(), problem_.base.end());
    at_.resize(problem_.replicas(), none);
    place(0, 0);
  }

 private:
  bool takes_part(std::uint32_t node) const { return node != none && problem_.share[node] > 0; }
  const Family& family(std::uint32_t group) const { return problem_.families[problem_.group_family[group]]; }
  bool able(std::uint32_t group, std::uint32_t node) const { return problem_.able[family(group).able][node] != 0; }

  std::uint32_t domains(std::uint32_t group, std::span<const std::uint32_t> row) const {
    if (family(group).partition == none) return 0;
    std::vector<std::uint32_t> seen;
    for (const std::uint32_t node : row)
      if (node != none) seen.push_back(problem_.partitions[family(group).partition].domain[node]);
    std::ranges::sort(seen);
    return static_cast<std::uint32_t>(std::unique(seen.begin(), seen.end()) - seen.begin());
  }

  bool may(std::uint32_t group, std::uint32_t replica, std::uint32_t node) const {
    for (std::uint32_t other = problem_.group_first[group]; other < replica; ++other)
      if (at_[other] == node) return false;
    const std::uint32_t now = state_.at(replica);
    if (!takes_part(now) || (!problem_.frozen.empty() && problem_.frozen[replica] != 0)) return node == now;
    if (!takes_part(node)) return false;
    const bool was_able =
        std::ranges::all_of(state_.row(group), [&](std::uint32_t at) { return !takes_part(at) || able(group, at); });
    return !was_able || able(group, node);
  }

  void place(std::uint32_t group, std::uint32_t replica) {
    if (group == problem_.groups()) return finish();
    if (replica < problem_.group_end(group)) {
      for (std::uint32_t node = 0; node < problem_.nodes; ++node) {
        if (!may(group, replica, node)) continue;
        with(replica, node, problem_.replica_load[replica], [&] { place(group, replica + 1); });
      }
      if (state_.at(replica) == none) place(group, replica + 1);
      return;
    }
    const auto row = std::span(at_).subspan(problem_.group_first[group], replica - problem_.group_first[group]);
    if (domains(group, row) < std::min(domains(group, state_.row(group)), family(group).spread_least)) return;
    lead(group, replica);
  }

  void lead(std::uint32_t group, std::uint32_t end) {
    const std::uint32_t leader = problem_.group_lead.empty() || problem_.group_lead[group] == none ? none : state_.leader(group);
    if (leader == none) return place(group + 1, end);
    for (std::uint32_t replica = problem_.group_first[group]; replica < end; ++replica) {
      if (at_[replica] == none || takes_part(at_[replica]) != takes_part(state_.at(leader))) continue;
      with(replica, at_[replica], problem_.group_lead[group], [&] { place(group + 1, end); });
    }
  }

  template <class Next>
  void with(std::uint32_t replica, std::uint32_t node, std::uint32_t row, const Next& next) {
    const std::uint32_t before = at_[replica];
    at_[replica] = node;
    usage_[node] += problem_.loads[row];
    if (!takes_part(node) || level(node) < lowest_) next();
    usage_[node] -= problem_.loads[row];
    at_[replica] = before;
  }

  double level(std::uint32_t node) const { return static_cast<double>(usage_[node]) / problem_.share[node]; }

  void finish() {
    double highest = 0, usage = 0, share = 0;
    for (std::uint32_t node = 0; node < problem_.nodes; ++node) {
      if (!takes_part(node)) continue;
      highest = std::max(highest, level(node));
      usage += static_cast<double>(usage_[node]);
      share += problem_.share[node];
    }
    if (highest >= lowest_) return;
    lowest_ = highest;
    mean_ = usage / share;
  }

  const State& state_;
  const Problem& problem_;
  std::vector<Amount> usage_;
  std::vector<std::uint32_t> at_;
  double lowest_ = std::numeric_limits<double>::infinity();  // as usage per share
  double mean_ = 0;

 public:
  double over_mean() const { return !(mean_ > 0) ? 1 : lowest_ / mean_; }
};

// At most four nodes and eight replicas, with a bit of everything: shares of zero, bases, classes, spread, leaders, pins.
Problem tiny(Rng rng) {
  std::vector<double> shares(1 + rng.below(4));
  for (double& share : shares) share = static_cast<double>(rng.below(8) == 0 ? 0 : 1 + rng.below(3));
  Problem problem = on_nodes(shares);
  for (Amount& base : problem.base) base = rng.chance(1, 4) ? static_cast<Amount>(rng.below(12)) : 0;
  problem.able.emplace_back(problem.nodes, 1);
  for (std::uint8_t& able : problem.able[1]) able = rng.chance(2, 3) ? 1 : 0;
  Partition partition{.domain = std::vector<std::uint32_t>(problem.nodes), .domains = 3};
  for (std::uint32_t& domain : partition.domain) domain = static_cast<std::uint32_t>(rng.below(3));
  problem.partitions.push_back(partition);
  problem.families[0].partition = rng.chance(1, 2) ? 0 : none;
  problem.families[0].spread_least = static_cast<std::uint32_t>(1 + rng.below(3));
  problem.families.push_back({.name = "g", .able = 1, .partition = rng.chance(1, 2) ? 0 : none, .spread_least = 3});
  const bool leads = rng.chance(1, 2);
  const bool mixed = rng.chance(1, 3);
  std::vector<std::uint32_t> nodes(problem.nodes);
  std::iota(nodes.begin(), nodes.end(), 0);
  while (problem.replicas() < 1 + rng.below(6)) {
    rng.shuffle(std::span(nodes));
    std::vector<std::uint32_t> at(nodes.begin(),
                                  nodes.begin() + static_cast<std::ptrdiff_t>(1 + rng.below(std::min(3u, problem.nodes))));
    if (rng.chance(1, 10)) at.back() = none;
    std::vector<Amount> loads(at.size(), static_cast<Amount>(rng.below(12)));
    for (Amount& load : loads) load = mixed ? static_cast<Amount>(rng.below(12)) : load;
    add_group(problem, loads, at, static_cast<std::uint32_t>(rng.below(2)));
    if (leads) lead_last(problem, static_cast<Amount>(rng.below(10)));
  }
  if (rng.chance(1, 4))
    for (std::uint32_t replica = 0; replica < problem.replicas(); ++replica)
      problem.frozen.push_back(problem.origin[replica] != none && rng.chance(1, 4) ? 1 : 0);
  return problem;
}

TEST(Floors, AreBelowWhatSomePlacementReaches) {
  EXPECT_TRUE(rc::check("never above the best of all placements", [](std::uint64_t seed) {
    const Problem problem = tiny(Rng(seed));
    const State state(problem);
    const Balance balance = balance_of(state, 0);
    const double best = Enumeration(state).over_mean();
    RC_LOG() << "floor " << balance.floor << " best " << best << " present " << balance.max_over_mean << '\n';
    RC_ASSERT(balance.floor >= 1);
    RC_ASSERT(balance.floor <= balance.max_over_mean);
    RC_ASSERT(balance.floor <= best + 1e-9);
  }));
}

}  // namespace
}  // namespace evenkeel::place
