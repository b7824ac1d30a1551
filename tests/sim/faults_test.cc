#include <gtest/gtest.h>

#include <set>

#include "evenkeel/sim/run.h"

namespace evenkeel::sim {
namespace {

TEST(Faults, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Fault fault : all_faults()) EXPECT_TRUE(names.insert(name(fault)).second) << name(fault);
  EXPECT_EQ(names.size(), 13U);
}

}  // namespace
}  // namespace evenkeel::sim
