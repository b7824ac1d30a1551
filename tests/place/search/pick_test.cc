// Which replica a change is about.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tests/place/search/problems.h"

namespace evenkeel::place {
namespace {

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
  EXPECT_GT(picked_first(pick), 190) << "half, of two";
  EXPECT_LT(picked_first(pick), 320);
  pick.set(state, 1, 1, true);
  EXPECT_GT(picked_first(pick), 400) << "nearly all";
  const State at_home(problem);
  Pick nobody = pick_of(at_home);
  nobody.set(at_home, 1, 1);
  EXPECT_LT(picked_first(nobody), 30) << "nobody is away";
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

}  // namespace
}  // namespace evenkeel::place
