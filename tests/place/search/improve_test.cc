// The general search as a whole; more of what it finds is in engine_test.cc and roadef_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "evenkeel/place/search/detail/meet.h"
#include "tests/place/search/problems.h"

namespace evenkeel::place {
namespace {

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

// Who is told of something better than all it has seen has it in the end, even if nothing that it tries there is taken any more.
TEST(Improve, WhatItIsToldMayBeTheBest) {
  std::vector<std::pair<Amount, std::uint32_t>> replicas;
  for (std::uint32_t i = 0; i < 40; ++i) replicas.emplace_back(5, i % 2);
  const Problem problem = plain_problem(40, 1000, 5, replicas);  // as many nodes as replicas
  State state(problem), solved(problem);
  Trial trial(solved);
  for (std::uint32_t r = 0; r < 40; ++r)
    if (solved.at(r) != r) solved.apply(trial.shift(r, r));
  ASSERT_EQ(solved.whole(), Cost{});
  Rng rng(7);
  improve(state, rng, {.budget = 3000, .manner = Manner::bold, .meet = [&](Meeting) {
                         Meeting told{.manner = Manner::bold};
                         for (std::uint32_t r = 0; r < 40; ++r) told.at.push_back(solved.at(r));
                         return told;
                       }});
  EXPECT_EQ(state.whole(), Cost{});
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
