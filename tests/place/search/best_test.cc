// The best arrangement that was seen, and the way back to it.

#include "evenkeel/place/search/detail/best.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/place/search/problems.h"

namespace evenkeel::place {
namespace {

TEST(Best, LeadsBackToWhatWasKeptLast) {
  const Problem problem = hundred(20);
  State state(problem);
  Best best(state);
  Trial trial(state);
  const auto shift = [&](std::uint32_t replica, std::uint32_t to) {
    best.touch(trial.shift(replica, to));
    state.apply(trial);
  };
  shift(3, 7);
  shift(4, 8);
  best.keep(state);
  shift(3, 9);
  shift(5, 9);
  shift(5, 5);
  best.restore(state);
  EXPECT_EQ(state.at(3), 7u);
  EXPECT_EQ(state.at(4), 8u);
  EXPECT_EQ(state.at(5), 5u);
  EXPECT_TRUE(state.adds_up());
  shift(4, 1);
  best.restore(state);
  EXPECT_EQ(state.at(4), 8u) << "again and again";
}

TEST(Best, LeadersTooAreWhoTheyWere) {
  Problem problem = plain_problem(2, 100, 100, {{1, 0}, {1, 1}});
  problem.group_family = {0};
  problem.group_first = {0, 2};
  problem.replica_group = {0, 0};
  problem.group_lead = {0};
  problem.origin_leader = {0};
  State state(problem);
  Best best(state);
  Trial trial(state);
  best.touch(trial.lead(0, 1));
  state.apply(trial);
  EXPECT_EQ(state.usage(1)[0], 2);
  best.restore(state);
  EXPECT_EQ(state.leader(0), 0u);
  EXPECT_EQ(state.usage(0)[0], 2);
  EXPECT_TRUE(state.adds_up());
}

}  // namespace
}  // namespace evenkeel::place
