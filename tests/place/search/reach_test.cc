// Where a replica could ever be.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "tests/place/search/problems.h"

namespace evenkeel::place {
namespace {

std::set<std::uint32_t> drawn(const Reach& reach, std::uint32_t replica) {
  std::set<std::uint32_t> nodes;
  Rng rng(1);
  for (int i = 0; i < 200; ++i) nodes.insert(reach.any_node(replica, rng));
  return nodes;
}

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

// A list that is one entry too long is not made, and nobody's is but the largest one's; what is beyond reach is known all the same.
TEST(Reach, WhereListsAreTooLongTheLargestHaveTheirs) {
  const Problem problem = plain_problem(4, 10, 10, {{5, 0}, {7, 1}, {6, 2}, {1, 3}});
  const State state(problem);
  const std::vector<std::uint32_t> all = {0, 1, 2, 3};
  const Reach every(state, all);
  EXPECT_EQ(drawn(every, 1), (std::set<std::uint32_t>{1, 3})) << "3 and 4 are left on the nodes of the others";
  EXPECT_EQ(drawn(every, 2), (std::set<std::uint32_t>{2, 3}));
  const Reach one(state, all, Reach::pairs_most, 4 + 2);
  EXPECT_EQ(drawn(one, 1), (std::set<std::uint32_t>{1, 3}));
  EXPECT_EQ(drawn(one, 2), (std::set<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_FALSE(one.could(2, 0));
  EXPECT_DOUBLE_EQ(one.beyond(), every.beyond());
  const Reach none(state, all, 15);
  EXPECT_EQ(none.nodes(1), 4u) << "more pairs than may be looked at";
  EXPECT_EQ(none.beyond(), 0);
}

}  // namespace
}  // namespace evenkeel::place
