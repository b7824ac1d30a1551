// Searches side by side.

#include "evenkeel/place/search/detail/meet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/place/search/problems.h"

namespace evenkeel::place {
namespace {

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

}  // namespace
}  // namespace evenkeel::place
