#include "evenkeel/cli/output.h"

#include <gtest/gtest.h>

#include "evenkeel/cli/progress.h"

namespace evenkeel::cli {
namespace {

TEST(Cut, CountsCharacters) {
  EXPECT_EQ(cut("leads 2", 7), "leads 2");
  EXPECT_EQ(cut("leads 2", 6), "leads…");
  EXPECT_EQ(cut("größer", 6), "größer");
  EXPECT_EQ(cut("größer", 4), "grö…");
  EXPECT_EQ(cut("größer", 1), "…");
  EXPECT_EQ(cut("größer", 0), "");
}

TEST(Bar, IsNeverLongerThanTheLine) {
  EXPECT_EQ(bar_of({.done = 1, .all = 3}, "one of three", 80), "[##########....................] one of three");
  EXPECT_EQ(bar_of({.done = 1, .all = 3}, "one of three", 27), "[####........] one of three");
  EXPECT_EQ(bar_of({.done = 1, .all = 3}, "one of three", 24), "one of three") << "no bar at all rather than a tiny one";
  EXPECT_EQ(bar_of({.done = 1, .all = 3}, "one of three", 8), "one of …");
  EXPECT_EQ(bar_of({.done = 0, .all = 0}, "all", 16), "[##########] all");
  for (std::size_t columns = 0; columns < 60; ++columns)
    EXPECT_LE(width_of(bar_of({.done = 7, .all = 9}, "seven of nine", columns)), columns);
}

}  // namespace
}  // namespace evenkeel::cli
