#include "evenkeel/base/time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

namespace evenkeel {
namespace {

using testing::HasSubstr;

constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t ticks_max = std::numeric_limits<std::int64_t>::max();

TEST(Duration, FormatsInTheUnitsItNeeds) {
  EXPECT_EQ(format(90min), "1h30m");
  EXPECT_EQ(format(Duration(0)), "0s");
  EXPECT_EQ(format(-1ms), "-1ms");
  EXPECT_EQ(format(24h + 1ns), "1d1ns");
  EXPECT_EQ(format(Duration(int64_min)), "-106751d23h47m16s854ms775us808ns");
}

TEST(Duration, ParseUndoesFormat) {
  for (const std::int64_t count :
       {int64_min, int64_min + 1, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, ticks_max - 1, ticks_max}) {
    EXPECT_EQ(parse_duration(format(Duration(count))), Duration(count)) << count;
  }
  EXPECT_TRUE(rc::check("for every 64-bit count",
                        [](std::int64_t count) { RC_ASSERT(parse_duration(format(Duration(count))) == Duration(count)); }));
  EXPECT_TRUE(rc::check("for counts of every size", [] {
    const auto count = *rc::gen::arbitrary<std::int64_t>() >> *rc::gen::inRange(0, 63);
    RC_ASSERT(parse_duration(format(Duration(count))) == Duration(count));
    RC_ASSERT(parse_duration(format(Duration(count % 1'000 * 3'600'000'000'000))) == Duration(count % 1'000 * 3'600'000'000'000));
  }));
}

TEST(Duration, AFractionMeansWhatItsDigitsSay) {
  EXPECT_TRUE(rc::check("n milliseconds are n/1000 seconds", [] {
    const auto count = *rc::gen::inRange<std::int64_t>(0, 10'000'000);
    RC_ASSERT(parse_duration(fmt::format("{}.{:03}s", count / 1'000, count % 1'000)) == Duration(count * 1'000'000));
    RC_ASSERT(parse_duration(fmt::format("-{}.{:03}s", count / 1'000, count % 1'000)) == Duration(count * -1'000'000));
  }));
}

// Whatever the text: an answer or an `invalid` that names it, and an answer survives its own text.
TEST(Duration, AnyTextGivesAnAnswerOrAReason) {
  EXPECT_TRUE(rc::check("any text of the alphabet", [] {
    const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789.-dhmsun +eE\xc3")));
    const Result<Duration> parsed = parse_duration(text);
    if (parsed) {
      RC_ASSERT(parse_duration(format(*parsed)) == *parsed);
    } else {
      RC_ASSERT(parsed.error().code == Code::invalid);
      RC_ASSERT(!parsed.error().message.empty());
    }
  }));
}

TEST(Duration, LongTextCostsLittleAndIsCutInTheMessage) {
  const std::string digits(5'000'000, '9');
  for (const std::string& text : {digits, digits + "s", "1." + digits + "s", "1" + std::string(5'000'000, 'x')}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed);
    EXPECT_LT(parsed.error().message.size(), 300U);
  }
  EXPECT_EQ(parse_duration(std::string(1'000'000, '0') + "7s"), 7s);
  EXPECT_EQ(parse_duration("1.5" + std::string(1'000'000, '0') + "s"), 1500ms);
}

TEST(Instant, FormatsAsElapsedTime) {
  EXPECT_EQ(format(Instant(12s + 500ms)), "12s500ms");
  EXPECT_EQ(format(Instant()), "0s");
}

TEST(Instant, LaterHoldsAtTheEnds) {
  EXPECT_EQ(later(Instant(1s), 2s), Instant(3s));
  EXPECT_EQ(later(Instant(1s), -2s), Instant(-1s));
  EXPECT_EQ(later(Instant(1ns), Duration::max()), Instant::max());
  EXPECT_EQ(later(Instant(-2ns), Duration::min()), Instant::min());
  EXPECT_EQ(later(Instant::max(), Duration::min()), Instant(-1ns));
  static_assert(later(Instant(1s), 2s) == Instant(3s));
}

std::string wall(std::int64_t microseconds) { return format(WallTime(std::chrono::microseconds(microseconds))); }

TEST(WallTime, IsIso8601) {
  EXPECT_EQ(wall(0), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(wall(-1), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(wall(951'782'400'000'000), "2000-02-29T00:00:00.000000Z");
  EXPECT_EQ(wall(4'107'542'399'999'999), "2100-02-28T23:59:59.999999Z");
  EXPECT_EQ(wall(4'107'542'400'000'000), "2100-03-01T00:00:00.000000Z");
  EXPECT_EQ(wall(253'402'300'800'000'000), "+10000-01-01T00:00:00.000000Z");
  EXPECT_EQ(wall(ticks_max), "+294247-01-10T04:00:54.775807Z");
  EXPECT_EQ(wall(int64_min), "-290308-12-21T19:59:05.224192Z");
}

TEST(WallTime, AgreesWithTheStandardCalendar) {
  EXPECT_TRUE(rc::check("on every day of ten thousand years", [] {
    const auto days = std::chrono::sys_days(std::chrono::days(*rc::gen::inRange(-719'000, 2'900'000)));
    const std::chrono::year_month_day date(days);
    const std::string expected = fmt::format("{:04}-{:02}-{:02}T00:00:00.000001Z", static_cast<int>(date.year()),
                                             static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    RC_ASSERT(format(WallTime(days) + 1us) == expected);
  }));
}

}  // namespace
}  // namespace evenkeel
