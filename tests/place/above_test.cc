#include "evenkeel/place/detail/above.h"

#include <gtest/gtest.h>

namespace evenkeel::place::detail {
namespace {

TEST(WhyAbove, ShowsPartsOfTheCapacity) {
  EXPECT_EQ(why_above("disk", {Quantity(96), Quantity(1)}, Quantity(100), Ratio::percent(95)), "disk 96%+1% > 95%");
  EXPECT_EQ(why_above("cpu", {Quantity(2)}, Quantity(3), Ratio::percent(50)), "cpu 66.67% > 50%");
  EXPECT_EQ(why_above("cpu", {Quantity(20'000)}, Quantity(1), Ratio::from_millionths(123'456)), "cpu 2000000% > 12.3456%");
}

// Rounded figures that do not add up to more than the limit would puzzle whoever reads them.
TEST(WhyAbove, ShowsAsManyDecimalsAsItTakes) {
  EXPECT_EQ(why_above("disk", {Quantity(95'001)}, Quantity(100'000), Ratio::percent(95)), "disk 95.001% > 95%");
  EXPECT_EQ(why_above("disk", {Quantity(949'998), Quantity(3)}, Quantity(1'000'000), Ratio::percent(95)),
            "disk 94.9998%+0.0003% > 95%");
  EXPECT_EQ(why_above("disk", {Quantity(99'000'000), Quantity(1)}, Quantity(100'000'000), Ratio::percent(95)),
            "disk 99%+0.000001% > 95%");
}

TEST(WhyAbove, HasNoPartsOfNothing) {
  EXPECT_EQ(why_above("disk", {Quantity(0), Quantity(1)}, Quantity(0), Ratio::percent(95)), "has no disk");
}

TEST(WhyAbove, CountsWhatCounts) {
  Problem problem;
  problem.dimensions = {{.name = "disk"}, {.name = "replicas", .counts = true}};
  problem.nodes = 2;
  problem.capacity = {0, 4, 200, 4};
  problem.limit = {0, 4, 100, 4};
  EXPECT_EQ(why_above(problem, 1, 1, 4, 1), "replicas 4+1 > 4");
  EXPECT_EQ(why_above(problem, 1, 1, 5), "replicas 5 > 4");
  EXPECT_EQ(why_above(problem, 1, 0, 90, 20), "disk 45%+10% > 50%");
  EXPECT_EQ(why_above(problem, 1, 0, 101), "disk 50.5% > 50%");
  EXPECT_EQ(why_above(problem, 0, 0, 0, 1), "has no disk");
  problem.limit_part = {0.95, 0.495};
  EXPECT_EQ(why_above(problem, 1, 0, 101), "disk 50.5% > 49.5%");
}

}  // namespace
}  // namespace evenkeel::place::detail
