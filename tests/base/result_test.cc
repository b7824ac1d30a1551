#include "evenkeel/base/result.h"

#include <gtest/gtest.h>

#include <set>

namespace evenkeel {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(Code::invalid, "{} is odd", number);
  return number / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(half(4), 2);
  ASSERT_FALSE(half(3));
  EXPECT_EQ(half(3).error(), (Error{Code::invalid, "3 is odd"}));
}

TEST(Result, ContextIsAddedInFront) {
  const Error error{Code::not_found, "no such key"};
  EXPECT_EQ(error.in("config"), (Error{Code::not_found, "config: no such key"}));
  EXPECT_EQ(Error(error).in("config").in("plan"), (Error{Code::not_found, "plan: config: no such key"}));
  EXPECT_EQ(error.message, "no such key");
}

TEST(Result, ErrorsCompareByCodeAndMessage) {
  EXPECT_NE((Error{Code::invalid, "a"}), (Error{Code::refused, "a"}));
  EXPECT_NE((Error{Code::invalid, "a"}), (Error{Code::invalid, "b"}));
}

TEST(Result, EveryCodeHasANameOfItsOwn) {
  std::set<std::string_view> names;
  const auto last = static_cast<int>(Code::cancelled);
  for (int code = 0; code <= last; ++code) names.insert(name(static_cast<Code>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last) + 1);
  EXPECT_EQ(name(Code::unknown_outcome), "unknown_outcome");
  EXPECT_EQ(name(Code::invalid), "invalid");
}

TEST(Result, ErrorsFormatForPeople) {
  EXPECT_EQ(fmt::format("{}", Code::too_large), "too_large");
  EXPECT_EQ(fmt::format("{}", Error{Code::refused, "by rule 7"}), "by rule 7 (refused)");
}

TEST(ResultDeathTest, ABrokenPromiseStopsTheProcessAndNamesThePlace) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ensure(true, "never printed");
  EXPECT_DEATH(ensure(1 > 2, "one is more than two"), "result_test.cc:[0-9]+: bug: broken promise: one is more than two");
  EXPECT_DEATH(stop_on_bug("unreachable"), "broken promise: unreachable");
  EXPECT_DEATH(name(static_cast<Code>(200)), "an error code is one of those listed");
}

}  // namespace
}  // namespace evenkeel
