// Shifts, swaps and leads, as they are drawn.

#include "evenkeel/place/search/detail/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/place/search/problems.h"

namespace evenkeel::place {
namespace {

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

// Two groups of two; the leader of the second is frozen where it is, which keeps nobody from leading instead.
TEST(ChangeDraw, LeadershipGoesToWhoIsThereAndDoesNotLead) {
  Problem problem = plain_problem(4, 100, 100, {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, none}});
  problem.group_family = {0, 0};
  problem.group_first = {0, 2, 5};
  problem.replica_group = {0, 0, 1, 1, 1};
  problem.group_lead = {0, 0};
  problem.origin_leader = {0, 2};
  problem.lead_measures = {1, 1};
  problem.leader_share.assign(4, 1);
  State state(problem);
  Rng rng(1);
  ChangeDraw draw(state, rng, {.manner = Manner::bold});
  Trial trial(state);
  std::set<std::pair<std::uint32_t, std::uint32_t>> leads;
  for (int i = 0; i < 10'000; ++i)
    if (draw.next(trial) && trial.leads()) leads.emplace(trial.lead_group(), trial.lead_to());
  EXPECT_THAT(leads, testing::ElementsAre(std::pair(0u, 1u), std::pair(1u, 3u)));
  ChangeDraw fine(state, rng, {.manner = Manner::fine});
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(fine.next(trial) && trial.leads()) << "those who lead go on to";
}

}  // namespace
}  // namespace evenkeel::place
