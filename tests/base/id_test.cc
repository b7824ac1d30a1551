#include "evenkeel/base/id.h"

#include <gtest/gtest.h>

#include <map>
#include <type_traits>
#include <unordered_set>

namespace evenkeel {
namespace {

using TestNodeId = Name<struct NodeTag>;
using ShardId = Name<struct ShardTag>;
using NodeIndex = Number<struct NodeIndexTag>;
using TestEpoch = Number<struct EpochTag, std::uint64_t>;

template <class A, class B>
concept Comparable = requires(A a, B b) { a == b; };

TEST(Id, DifferentKindsDoNotMix) {
  static_assert(Comparable<TestNodeId, TestNodeId>);
  static_assert(!Comparable<TestNodeId, ShardId>);
  static_assert(!Comparable<NodeIndex, TestEpoch>);
  static_assert(!std::is_convertible_v<std::string, TestNodeId>);
  static_assert(!std::is_convertible_v<int, NodeIndex>);
  static_assert(!std::is_convertible_v<NodeIndex, std::uint32_t>);
}

TEST(Id, NamesCompareAndOrderAsText) {
  EXPECT_EQ(TestNodeId("n1"), TestNodeId("n1"));
  EXPECT_NE(TestNodeId("n1"), TestNodeId("n2"));
  EXPECT_LT(TestNodeId("n10"), TestNodeId("n2"));
  EXPECT_TRUE(TestNodeId().empty());
  EXPECT_EQ(TestNodeId("n1").str(), "n1");
}

TEST(Id, NumbersCountAndOrder) {
  NodeIndex index(7);
  EXPECT_EQ(index.next(), NodeIndex(8));
  EXPECT_EQ(index, NodeIndex(7));
  EXPECT_EQ((++index).value(), 8U);
  EXPECT_LT(NodeIndex(9), NodeIndex(10));
  EXPECT_EQ(TestEpoch(~std::uint64_t{0}).value(), ~std::uint64_t{0});
}

TEST(Id, BothHashAndFormat) {
  const std::unordered_set<TestNodeId> names{TestNodeId("a"), TestNodeId("b"), TestNodeId("a")};
  EXPECT_EQ(names.size(), 2U);
  const std::unordered_set<NodeIndex> numbers{NodeIndex(1), NodeIndex(1), NodeIndex(2)};
  EXPECT_EQ(numbers.size(), 2U);
  EXPECT_EQ(fmt::format("{:>4}|{:03}", TestNodeId("n1"), NodeIndex(7)), "  n1|007");
}

}  // namespace
}  // namespace evenkeel
