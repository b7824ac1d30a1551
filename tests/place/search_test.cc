// The parts of the general search, one by one. What it finds as a whole is in engine_test.cc and roadef_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "evenkeel/place/engine.h"
#include "evenkeel/place/search/detail/anneal.h"
#include "evenkeel/place/search/detail/draw.h"
#include "evenkeel/place/search/detail/eject.h"
#include "evenkeel/place/search/detail/meet.h"
#include "evenkeel/place/search/detail/pick.h"
#include "evenkeel/place/search/detail/reach.h"

namespace evenkeel::place {
namespace {

// Single replicas of these loads on these nodes, all nodes alike: whole above `soft` costs one a unit.
Problem plain_problem(std::uint32_t nodes, Amount limit, Amount soft,
                      const std::vector<std::pair<Amount, std::uint32_t>>& replicas) {
  Problem problem;
  problem.dimensions = {{.name = "load", .held = true, .soft_weight = 1, .soft_tier = Cost::level}};
  problem.nodes = nodes;
  problem.limit.assign(nodes, limit), problem.soft.assign(nodes, soft), problem.base.assign(nodes, 0);
  problem.capacity = problem.limit;
  problem.able = {std::vector<std::uint8_t>(nodes, 1)};
  problem.families = {{.name = "f"}};
  for (std::uint32_t r = 0; r < replicas.size(); ++r) {
    problem.group_family.push_back(0);
    problem.group_first.push_back(r + 1);
    problem.replica_group.push_back(r);
    problem.replica_load.push_back(r);
    problem.loads.push_back(replicas[r].first);
    problem.origin.push_back(replicas[r].second);
  }
  return problem;
}

std::set<std::uint32_t> drawn(const Reach& reach, std::uint32_t replica) {
  std::set<std::uint32_t> nodes;
  Rng rng(1);
  for (int i = 0; i < 200; ++i) nodes.insert(reach.any_node(replica, rng));
  return nodes;
}

Pick pick_of(const State& state) { return Pick(state, {}); }
Reach reach_of(const State& state) { return Reach(state, pick_of(state).movable()); }

TEST(Reach, LeavesOutNodesWhoseHeldRoomNeverSuffices) {
  // 6 of 10 are held on node 1 whoever leaves it, 2 on node 2.
  const Problem problem = plain_problem(3, 10, 10, {{5, 0}, {6, 1}, {2, 2}});
  const State state(problem);
  const Reach reach = reach_of(state);
  EXPECT_FALSE(reach.could(0, 1));
  EXPECT_TRUE(reach.could(0, 2));
  EXPECT_EQ(drawn(reach, 0), (std::set<std::uint32_t>{0, 2}));
  EXPECT_EQ(drawn(reach, 2), (std::set<std::uint32_t>{0, 1, 2}));
  EXPECT_DOUBLE_EQ(reach.beyond(), 2.0 / 9) << "replica 0 on node 1, and 1 on node 0";
}

TEST(Reach, WhatIsNotHeldMayBecomeFree) {
  Problem problem = plain_problem(2, 10, 10, {{5, 0}, {6, 1}});
  problem.dimensions[0].held = false;
  const State state(problem);
  EXPECT_TRUE(reach_of(state).could(0, 1));
  EXPECT_EQ(reach_of(state).beyond(), 0);
}

// How many of a thousand draws are replica 0.
int picked_first(const Pick& pick) {
  Rng rng(1);
  int first = 0;
  for (int i = 0; i < 1000; ++i) first += pick.any(rng) == 0 ? 1 : 0;
  return first;
}

TEST(Pick, PrefersLargeReplicasWhileItIsHot) {
  std::vector<std::pair<Amount, std::uint32_t>> replicas = {{900, 0}};
  for (std::uint32_t i = 0; i < 99; ++i) replicas.emplace_back(1, i % 3);
  const Problem problem = plain_problem(3, 10'000, 0, replicas);
  const State state(problem);
  Pick pick = pick_of(state);
  EXPECT_LT(picked_first(pick), 30) << "nothing is known of sizes yet";
  // At no soft limit a shift takes as much away as it adds; so half of the room below it decides what a size is worth.
  Problem uneven = problem;
  uneven.soft = {0, 100'000, 100'000};
  const State measured(uneven);
  Rng rng(2);
  pick.measure(measured, reach_of(measured), rng);
  EXPECT_EQ(pick.by_scale().back(), 0u);
  pick.set(measured, 10, 0);
  EXPECT_GT(picked_first(pick), 400) << "half of the draws, and one in a hundred of the others";
  pick.set(measured, 10, 0.5);
  EXPECT_LT(picked_first(pick), 400);
  EXPECT_GT(picked_first(pick), 150);
  pick.set(measured, 1e6, 0);
  EXPECT_LT(picked_first(pick), 30) << "nobody is large where it is as hot as that";
  pick.set(measured, 10, 1);
  EXPECT_LT(picked_first(pick), 30) << "in the end all are alike";
}

TEST(Pick, FindsOthersThatAreAboutAsLarge) {
  std::vector<std::pair<Amount, std::uint32_t>> replicas;
  for (std::uint32_t i = 0; i < 256; ++i) replicas.emplace_back(1 + i, i % 4);
  Problem problem = plain_problem(4, 1'000'000, 0, replicas);
  problem.soft = {0, 1'000'000, 1'000'000, 1'000'000};
  const State state(problem);
  Rng rng(5);
  Pick pick = pick_of(state);
  EXPECT_LT(pick.like(0, rng), 256u) << "before they are measured, any";
  pick.measure(state, reach_of(state), rng);
  const std::uint32_t replica = pick.by_scale()[128];
  int near = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t other = pick.like(replica, rng);
    const auto rank = std::ranges::find(pick.by_scale(), other) - pick.by_scale().begin();
    near += std::abs(rank - 128) <= 16 ? 1 : 0;
  }
  EXPECT_GT(near, 500) << "even draws would find one in eight so near";
  for (int i = 0; i < 1000; ++i) EXPECT_LT(pick.like(pick.by_scale().back(), rng), 256u) << "nobody is beyond the largest";
}

// The first two replicas change places.
void exchange(State& state) {
  Trial trial(state);
  state.apply(trial.swap(0, 1));
}

Problem hundred(std::uint32_t nodes) {
  std::vector<std::pair<Amount, std::uint32_t>> replicas;
  for (std::uint32_t i = 0; i < 100; ++i) replicas.emplace_back(1, i % nodes);
  return plain_problem(nodes, 100, 100, replicas);
}

TEST(Pick, PrefersWhoIsAwayInTheEnd) {
  const Problem problem = hundred(20);
  State state(problem);
  exchange(state);
  Pick pick = pick_of(state);
  pick.set(state, 1, 0);
  EXPECT_LT(picked_first(pick), 30);
  pick.set(state, 1, 0.8);
  EXPECT_GT(picked_first(pick), 150) << "four in ten draws are for two";
  EXPECT_LT(picked_first(pick), 260);
  pick.set(state, 1, 1);
  EXPECT_LT(picked_first(pick), 320) << "half";
  pick.set(state, 1, 1, true);
  EXPECT_GT(picked_first(pick), 400) << "nearly all";
  const State at_home(problem);
  Pick nobody = pick_of(at_home);
  nobody.set(at_home, 1, 1);
  EXPECT_LT(picked_first(nobody), 30) << "nobody is away";
}

// Of the swaps that are drawn for replica 0 first, how many in a hundred are with replica 1.
int swapped_home(State& state) {
  Rng rng(1);
  ChangeDraw draw(state, rng, {.manner = Manner::bold});
  Trial trial(state);
  int all = 0, home = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (!draw.next(trial) || trial.steps().size() != 2 || trial.steps()[0].replica != 0) continue;
    ++all;
    home += trial.steps()[1].replica == 1 ? 1 : 0;
  }
  return 100 * home / std::max(all, 1);
}

// Where nothing but what moves cost is left to be won, hardly anybody finds room, and who changes places needs none.
TEST(ChangeDraw, InTheEndMostChangesAreSwaps) {
  const Problem problem = plain_problem(4, 100, 100, {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 0}, {1, 1}});
  State state(problem);
  Rng rng(1);
  ChangeDraw draw(state, rng, {.manner = Manner::bold});
  Trial trial(state);
  const auto part_of_swaps = [&](bool homing) {
    draw.set(1, 0.95, homing);
    int swaps = 0, all = 0;
    for (int i = 0; i < 10'000; ++i) {
      if (!draw.next(trial)) continue;
      ++all;
      if (trial.steps().size() == 2) ++swaps;
    }
    return static_cast<double>(swaps) / all;
  };
  EXPECT_LT(part_of_swaps(false), 0.5);
  EXPECT_GT(part_of_swaps(true), 0.7);
}

TEST(ChangeDraw, SwapsLeadHome) {
  Problem problem = hundred(20);
  State state(problem);
  exchange(state);
  EXPECT_GT(swapped_home(state), 15) << "half of them are with one of the five there, rather one who is away too";
  State at_home(problem);
  EXPECT_LT(swapped_home(at_home), 5);
  problem.frozen.assign(100, 0);
  problem.frozen[1] = 1;
  State frozen(problem);
  exchange(frozen);
  EXPECT_EQ(swapped_home(frozen), 0) << "who may not move is nobody's partner";
}

// The end of the cooling is for what moves cost: it begins as cold as all else needs, and ends below what a move costs.
TEST(Anneal, GoesOnToWhatMovesCost) {
  Problem problem = plain_problem(4, 1'000'000, 0, {{100'000, 0}, {90'000, 0}, {80'000, 0}, {70'000, 0}});
  problem.soft = {1'000'000, 0, 0, 0};
  const auto end_of = [&](Manner manner) {
    State state(problem);
    Rng rng(1);
    ChangeDraw draw(state, rng, {.manner = manner});
    Anneal anneal(manner);
    anneal.measure(state, draw, 1000);
    anneal.set(1 - Anneal::homing_part);
    const double cold = anneal.temperature();
    anneal.set(0.9999);
    return std::pair(cold, anneal.temperature());
  };
  const double without = end_of(Manner::bold).second;
  EXPECT_FALSE(takes(Cost{{0, 0, 1e-19, 1, 0}}, 0)) << "what rounding leaves decides nothing";
  EXPECT_FALSE(takes(Cost{{0, 0, -1e-19, 1, 0}}, 0));
  problem.move_weight = 1;
  problem.move_cost.assign(4, 1);
  const auto [cold, end] = end_of(Manner::bold);
  EXPECT_NEAR(cold, without, without / 10);
  EXPECT_NEAR(end, 0.05, 0.005) << "a twentieth of what a move costs";
}

TEST(Pick, LeavesOutWhatIsFrozenOrNowhere) {
  Problem problem = plain_problem(2, 10, 10, {{1, 0}, {1, none}, {1, 1}});
  problem.frozen = {1, 0, 0};
  EXPECT_THAT(pick_of(State(problem)).movable(), testing::ElementsAre(2));
}

TEST(Pick, KeepsToThoseThatMayBeMoved) {
  const Problem problem = plain_problem(2, 10, 10, {{1, 0}, {1, 0}, {1, 1}});
  const State state(problem);
  const std::vector<std::uint8_t> movable = {0, 1, 0};
  const Pick pick(state, movable);
  EXPECT_THAT(pick.movable(), testing::ElementsAre(1));
  EXPECT_TRUE(pick.may_move(1));
  EXPECT_FALSE(pick.may_move(2));
}

TEST(Eject, ForcesALargeReplicaInAndMovesOthersOut) {
  // The large one fits nowhere else; the node in the middle has small ones that have room on the last.
  Problem problem = plain_problem(3, 10, 8, {{9, 0}, {2, 1}, {2, 1}, {2, 1}, {1, 2}});
  problem.dimensions[0].held = false;
  State state(problem);
  Rng rng(1);
  ChangeDraw draw(state, rng, {.manner = Manner::bold});
  Eject eject(state, rng, draw);
  Anneal anneal(Manner::bold);
  const Cost before = state.whole();
  Trial trial(state);
  ASSERT_FALSE(state.allowed(trial.shift(0, 1)));
  // On the node that it leaves it costs 1 above the soft limit, wherever it is: the chain is no better and no worse.
  const auto cost = eject.force(0, 1, anneal);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(state.at(0), 1u);
  EXPECT_LE(state.usage(1)[0], 10);
  EXPECT_EQ(before + *cost, state.whole());
  EXPECT_EQ(eject.steps().size(), 4u) << "all three had to leave";
}

TEST(Eject, LeavesEverythingAsItWasIfTheChainIsNotTaken) {
  // Both on the other node would have to leave it, and there is room for one of them only.
  Problem problem = plain_problem(2, 10, 10, {{9, 0}, {5, 1}, {5, 1}, {1, 0}});
  problem.dimensions[0].held = false;
  State state(problem);
  Rng rng(1);
  ChangeDraw draw(state, rng, {.manner = Manner::bold});
  Eject eject(state, rng, draw);
  const std::vector<Amount> usage = {state.usage(0)[0], state.usage(1)[0]};
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(eject.force(0, 1, Anneal(Manner::bold)).has_value());
    EXPECT_THAT(state.places(), testing::ElementsAre(0, 1, 1, 0));
    EXPECT_EQ(state.usage(0)[0], usage[0]);
    EXPECT_EQ(state.usage(1)[0], usage[1]);
  }
}

TEST(Anneal, TakesWhatIsBetterAndNeverWhatMakesAnEarlierTierWorse) {
  EXPECT_TRUE(takes(Cost::of(Cost::level, -1), 0));
  EXPECT_TRUE(takes(Cost::of(Cost::level, 3), 3));
  EXPECT_FALSE(takes(Cost::of(Cost::level, 3), 2));
  EXPECT_FALSE(takes(Cost::of(Cost::spread, 1) + Cost::of(Cost::level, -100), 1000));
  EXPECT_TRUE(takes(Cost::of(Cost::spread, -1) + Cost::of(Cost::level, 100), 0));
  EXPECT_FALSE(takes(Cost::of(Cost::last, 1), 1000));
}

TEST(Anneal, OnlyTheThriftyMannerHasAPriceOnBeingAway) {
  const Problem problem = plain_problem(2, 100, 1, {{5, 0}, {5, 1}});
  State state(problem);
  for (const Manner manner : {Manner::bold, Manner::thrifty}) {
    Rng rng(1);
    Anneal anneal(manner);
    EXPECT_EQ(anneal.away_price(), 0) << "before it is measured";
    ChangeDraw draw(state, rng, {.manner = manner});
    anneal.measure(state, draw, 1000);
    anneal.set(0.5);
    EXPECT_EQ(anneal.away_price() > 0, manner == Manner::thrifty);
    anneal.set(2);
    EXPECT_EQ(anneal.away_price(), 0) << "in the end moves cost what they cost";
  }
}

TEST(Meet, AllGoOnBoldlyOnlyIfABoldOneIsAhead) {
  Manner ahead = Manner::bold;
  int met = 0;
  const std::function<Meeting(Meeting)> hand_over = [&](Meeting mine) {
    ++met;
    mine.manner = ahead;
    return mine;
  };
  const Problem problem = hundred(20);
  State state(problem);
  Best best(state);
  Meet bold(hand_over);
  EXPECT_EQ(bold.agree(Manner::thrifty, {}), Manner::bold);
  EXPECT_FALSE(bold.exchange(state, {}, 0.2, best)) << "too early";
  EXPECT_TRUE(bold.exchange(state, {}, 0.51, best));
  EXPECT_FALSE(bold.exchange(state, {}, 0.52, best)) << "once at each point";
  EXPECT_EQ(met, 2);
  ahead = Manner::thrifty;
  for (const Manner own : {Manner::bold, Manner::thrifty}) {
    Meet apart(hand_over);
    EXPECT_EQ(apart.agree(own, {}), own);
    EXPECT_FALSE(apart.exchange(state, {}, 0.51, best));
  }
  EXPECT_FALSE(Meet({}).anybody());
}

TEST(Meet, WhoIsBehindGoesOnFromTheBest) {
  const Problem problem = hundred(20);
  State ahead(problem), behind(problem);
  exchange(ahead);
  const std::function<Meeting(Meeting)> hand_over = [&](Meeting) {
    Meeting best = arrangement(ahead);
    best.manner = Manner::bold;
    return best;
  };
  Best best(behind);
  Meet meet(hand_over);
  meet.agree(Manner::bold, {});
  EXPECT_TRUE(meet.exchange(behind, {}, 0.5, best));
  EXPECT_EQ(arrangement(behind).at, arrangement(ahead).at);
  best.restore(behind);
  EXPECT_EQ(behind.at(0), behind.home(0)) << "the way back to the best of its own is not lost";
}

// Whatever the others have, a search ends with the best that it has seen itself.
TEST(Improve, MeetsOthersAfterAPilotAndFromTheMiddleOn) {
  std::vector<std::pair<Amount, std::uint32_t>> replicas;
  for (std::uint32_t i = 0; i < 200; ++i) replicas.emplace_back(1 + i % 7, i % 5);
  const Problem problem = plain_problem(20, 100, 30, replicas);
  State state(problem);
  const Meeting start = arrangement(state);
  const Cost cost = state.whole();
  int met = 0;
  Rng rng(7);
  improve(state, rng, {.budget = 100'000, .manner = Manner::thrifty, .meet = [&](Meeting) {
                         ++met;
                         Meeting told = start;
                         told.manner = Manner::bold;
                         return told;
                       }});
  EXPECT_EQ(met, 6) << "the pilot, and five points";
  EXPECT_LT(state.whole(), cost);
}

// Where nothing is gained by moving, what is away in the end is there because of chance alone.
TEST(Improve, ThriftyMovesNoMoreThanItMust) {
  std::vector<std::pair<Amount, std::uint32_t>> replicas = {{8, 0}, {8, 0}};
  for (std::uint32_t i = 0; i < 200; ++i) replicas.emplace_back(1, 1 + i % 19);
  Problem problem = plain_problem(20, 100, 12, replicas);
  problem.move_weight = 1;
  problem.move_cost.assign(replicas.size(), 0.25);
  State state(problem);
  Rng rng(3);
  improve(state, rng, {.budget = 200'000});
  std::size_t moved = 0;
  for (std::uint32_t r = 0; r < problem.replicas(); ++r) moved += state.at(r) != state.home(r) ? 1 : 0;
  EXPECT_LE(moved, 8u) << "one of the large ones, and those for whom it would be above the soft limit";
  EXPECT_EQ(state.whole().tiers[Cost::level], 0.25 * static_cast<double>(moved));
}

// Level where only every second replica may be moved, chains included.
TEST(Improve, FinelyMovesOnlyWhatMayBe) {
  std::vector<std::pair<Amount, std::uint32_t>> replicas;
  for (std::uint32_t i = 0; i < 200; ++i) replicas.emplace_back(1 + i % 7, i % 2);
  Problem problem = plain_problem(10, 1000, 1000, replicas);
  problem.dimensions[0].level_weight = 1;
  problem.share.assign(10, 1);
  State state(problem);
  const double before = state.whole().tiers[Cost::level];
  ImproveOptions options{.budget = 100'000, .manner = Manner::fine};
  for (std::uint32_t i = 0; i < 200; ++i) options.movable.push_back(i % 4 < 2 ? 1 : 0);
  Rng rng(4);
  improve(state, rng, options);
  EXPECT_LT(state.whole().tiers[Cost::level], before / 1.5);
  for (std::uint32_t i = 0; i < 200; i += 4) {
    EXPECT_EQ(state.at(i + 2), 0u);
    EXPECT_EQ(state.at(i + 3), 1u);
  }
}

}  // namespace
}  // namespace evenkeel::place
