#include "evenkeel/broker/histogram.h"

#include <gtest/gtest.h>

namespace evenkeel::broker {
namespace {

TEST(Histogram, BoundsAreInclusive) {
  Histogram histogram;
  for (const std::uint64_t micros : {0ull, 100ull, 101ull, 10'000'000'000ull, 10'000'000'001ull}) histogram.add(micros);
  EXPECT_EQ(histogram.counts().front(), 2);
  EXPECT_EQ(histogram.counts()[1], 1);
  EXPECT_EQ(histogram.counts()[24], 1);
  EXPECT_EQ(histogram.counts().back(), 1);
  EXPECT_EQ(histogram.count(), 5);
  EXPECT_EQ(histogram.sum(), 20'000'000'202);
}

}  // namespace
}  // namespace evenkeel::broker
