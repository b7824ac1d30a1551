// Ejection chains.

#include "evenkeel/place/search/detail/eject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/place/search/problems.h"

namespace evenkeel::place {
namespace {

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
  const Cost before = state.whole();
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(eject.force(0, 1, Anneal(Manner::bold)).has_value());
    EXPECT_THAT(state.places(), testing::ElementsAre(0, 1, 1, 0));
    EXPECT_TRUE(state.adds_up());
    EXPECT_EQ(state.whole(), before);
    EXPECT_EQ(state.usage(0)[0], 10);
    EXPECT_EQ(state.peak(1)[0], 10);
  }
}

}  // namespace
}  // namespace evenkeel::place
