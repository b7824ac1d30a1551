// Which changes are taken.

#include "evenkeel/place/search/detail/anneal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "evenkeel/place/search/detail/draw.h"
#include "tests/place/search/problems.h"

namespace evenkeel::place {
namespace {

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
  problem.move_weight = 1;
  problem.move_cost.assign(4, 1);
  const auto [cold, end] = end_of(Manner::bold);
  EXPECT_NEAR(cold, without, without / 10);
  EXPECT_NEAR(end, 0.05, 0.005) << "a twentieth of what a move costs";
}

TEST(Anneal, TakesWhatIsBetterAndNeverWhatMakesAnEarlierTierWorse) {
  EXPECT_TRUE(takes(Cost::of(Cost::level, -1), 0));
  EXPECT_TRUE(takes(Cost::of(Cost::level, 3), 3));
  EXPECT_FALSE(takes(Cost::of(Cost::level, 3), 2));
  EXPECT_FALSE(takes(Cost::of(Cost::spread, 1) + Cost::of(Cost::level, -100), 1000));
  EXPECT_TRUE(takes(Cost::of(Cost::spread, -1) + Cost::of(Cost::level, 100), 0));
  EXPECT_FALSE(takes(Cost::of(Cost::last, 1), 1000));
}

TEST(Anneal, WhatRoundingLeavesDecidesNothing) {
  EXPECT_TRUE(takes(Cost{{0, 0, 1e-19, -1, 0}}, 0)) << "it is better";
  EXPECT_FALSE(takes(Cost{{0, 0, -1e-19, 1, 0}}, 0)) << "it is worse";
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

}  // namespace
}  // namespace evenkeel::place
