#include "evenkeel/base/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>

namespace evenkeel {
namespace {

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr Int128 nano_max = Int128{int64_max} * Quantity::billion + (Quantity::billion - 1);

Quantity parsed(std::string_view text) {
  const Result<Quantity> result = Quantity::parse(text);
  EXPECT_TRUE(result) << text << ": " << (result ? "" : result.error().message);
  return result.value_or(Quantity::from_nano(-1));
}

// Any number of billionths that can be written, of any size.
rc::Gen<Int128> nanos() {
  return rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<std::int64_t>(), rc::gen::inRange<std::int64_t>(0, Quantity::billion),
                                     rc::gen::inRange(0, 64)),
                      [](const std::tuple<std::int64_t, std::int64_t, int>& parts) {
                        const auto& [whole, fraction, down] = parts;
                        const Int128 nano = (Int128{whole} * Quantity::billion + fraction) >> down;
                        return std::clamp(nano, -nano_max, nano_max);
                      });
}

TEST(Quantity, IsExact) {
  EXPECT_EQ(parsed("0.1") + parsed("0.2"), parsed("0.3"));
  EXPECT_EQ(parsed("500m") * 2, Quantity(1));
  EXPECT_EQ(parsed("64Gi"), Quantity(std::int64_t{64} << 30));
  EXPECT_EQ(parsed("9223372036854775807.999999999").nano(), nano_max);
  EXPECT_EQ(parsed("-9223372036854775807.999999999").nano(), -nano_max);
  EXPECT_LT(parsed("0.999999999"), Quantity(1));
  EXPECT_TRUE(parsed("-0.5").negative());
  EXPECT_FALSE(parsed("-0").negative());
  EXPECT_DOUBLE_EQ(parsed("12.5").to_double(), 12.5);
}

TEST(Quantity, ParseUndoesFormat) {
  EXPECT_TRUE(rc::check("for every quantity that can be written", [] {
    const Int128 nano = *nanos();
    const std::string text = format(Quantity::from_nano(nano));
    const Result<Quantity> back = Quantity::parse(text);
    RC_ASSERT(back.has_value());
    RC_ASSERT(back->nano() == nano);
    RC_ASSERT(format(*back) == text);
  }));
  EXPECT_TRUE(rc::check("for every multiple of a binary unit", [] {
    const auto whole = *rc::gen::arbitrary<std::int64_t>() >> *rc::gen::inRange(0, 63) << *rc::gen::inRange(0, 50);
    RC_PRE(whole != std::numeric_limits<std::int64_t>::min());
    RC_ASSERT(Quantity::parse(format(Quantity(whole))) == Quantity(whole));
  }));
}

TEST(Quantity, FormatsAllItsBits) {
  const auto min = static_cast<Int128>(UInt128{1} << 127);
  EXPECT_EQ(format(Quantity::from_nano(min)), "-170141183460469231731687303715.884105728");
  EXPECT_EQ(format(Quantity::from_nano(min + 1)), "-170141183460469231731687303715.884105727");
  EXPECT_EQ(format(Quantity::from_nano(-(min + 1))), "170141183460469231731687303715.884105727");
  EXPECT_EQ(format(Quantity(int64_max) + Quantity(1)), "8Ei");
  EXPECT_EQ(format(Quantity(std::int64_t{-1} << 20)), "-1Mi");
  EXPECT_EQ(format(Quantity((1 << 20) + 1024)), "1049600");
  EXPECT_EQ(format(Quantity::from_nano(1)), "0.000000001");
  EXPECT_EQ(format(Quantity::from_nano(-10)), "-0.00000001");
}

// Rounding against plain integer arithmetic: count / 10^decimals times 2^shift, in billionths.
TEST(Quantity, RoundsToNearestTiesToEven) {
  EXPECT_TRUE(rc::check("as exact division would", [] {
    const auto count = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000);
    const auto decimals = *rc::gen::inRange(1, 18);
    const auto suffix = *rc::gen::inRange(0, 3);
    UInt128 one = 1;
    for (int i = 0; i < decimals; ++i) one *= 10;
    const auto whole = static_cast<UInt128>(count);
    const std::string text = fmt::format("{}.{:0{}}{}", whole / one, whole % one, decimals,
                                         std::array{"", "Ki", "Mi"}[static_cast<std::size_t>(suffix)]);
    const UInt128 exact = (whole << (10 * suffix)) * Quantity::billion;  // over `one`
    UInt128 expected = exact / one;
    const UInt128 rest = exact % one;
    if (rest * 2 > one || (rest * 2 == one && expected % 2 == 1)) ++expected;
    const Result<Quantity> result = Quantity::parse(text);
    RC_LOG() << text << "\n";
    RC_ASSERT(result.has_value() == (expected != 0 || exact == 0));
    if (result) RC_ASSERT(static_cast<UInt128>(result->nano()) == expected);
  }));
}

// The longest tie there is: what times 2^60 makes two and a half billionths has 70 decimals, and one digit behind them breaks it.
TEST(Quantity, ATieIsSeenAtTheLastPossibleDecimal) {
  // 5 / (2 * 2^60 * 10^9) = 5 * 5^61 / 10^70.
  std::string digits = "5";
  for (int i = 0; i < 61; ++i) {
    int carry = 0;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      const int product = (*digit - '0') * 5 + carry;
      *digit = static_cast<char>('0' + product % 10);
      carry = product / 10;
    }
    if (carry > 0) digits.insert(0, 1, static_cast<char>('0' + carry));
  }
  const std::string tie = "0." + std::string(70 - digits.size(), '0') + digits;
  EXPECT_EQ(parsed(tie + "Ei").nano(), 2);
  EXPECT_EQ(parsed(tie + "0000000000000000000000000000000000000000000000000000001Ei").nano(), 3);
  EXPECT_EQ(parsed(tie + std::string(100'000, '0') + "1Ei").nano(), 3);
  // With digits before the point too, 71 of them count.
  const Int128 seven = Int128{std::int64_t{7} << 60} * Quantity::billion;
  EXPECT_EQ(parsed("7" + tie.substr(1) + "Ei").nano() - seven, 2);
  EXPECT_EQ(parsed("7" + tie.substr(1) + "1Ei").nano() - seven, 3);
  std::string below = tie;
  --below.back();
  EXPECT_EQ(parsed(below + std::string(100'000, '9') + "Ei").nano(), 2);
}

// Five million digits, in every place where digits can be: linear time (a quadratic reader would not end), and short messages.
TEST(Quantity, LongTextCostsLittle) {
  const std::string zeros(5'000'000, '0');
  const std::string nines(5'000'000, '9');
  EXPECT_EQ(parsed(zeros + "7"), Quantity(7));
  EXPECT_EQ(parsed("7." + zeros), Quantity(7));
  EXPECT_EQ(parsed("0." + zeros + "7e5000001"), Quantity(7));
  EXPECT_EQ(parsed("7" + zeros + "e-5000000"), Quantity(7));
  EXPECT_EQ(parsed("0." + nines), Quantity(1));
  EXPECT_EQ(parsed("1e" + zeros + "2"), Quantity(100));
  for (const std::string& text :
       {nines, nines + "Ei", "1e" + nines, "1e-" + nines, "0." + zeros + "1", "1" + std::string(5'000'000, 'x')}) {
    const auto result = Quantity::parse(text);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::invalid);
    EXPECT_LT(result.error().message.size(), 300U);
  }
}

// Whatever the text: an answer whose own text means the same, or an `invalid`.
TEST(Quantity, AnyTextGivesAnAnswerOrAReason) {
  EXPECT_TRUE(rc::check("any text of the alphabet", [] {
    const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("000123456789..--eE+mkKMGTPEiBb% x\xff")));
    const auto check = [](const auto& result) {
      if (result) {
        RC_ASSERT(std::decay_t<decltype(*result)>::parse(format(*result)) == *result);
      } else {
        RC_ASSERT(result.error().code == Code::invalid);
      }
    };
    check(Quantity::parse(text));
    check(Bytes::parse(text));
    check(Ratio::parse(text));
  }));
}

TEST(Quantity, AZeroByteIsNotAnEnd) { EXPECT_FALSE(Quantity::parse(std::string_view("1\0", 2))); }

TEST(Bytes, ParseUndoesFormat) {
  EXPECT_TRUE(rc::check("for every 64-bit count", [] {
    const auto count = *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64) << *rc::gen::inRange(0, 64);
    RC_ASSERT(Bytes::parse(format(Bytes(count))) == Bytes(count));
  }));
  EXPECT_EQ(Bytes::parse("18446744073709551615"), Bytes(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(format(Bytes(std::uint64_t{1} << 63)), "8Ei");
}

TEST(Ratio, ParseUndoesFormat) {
  EXPECT_TRUE(rc::check("for every ratio that can be written", [] {
    const Ratio ratio = Ratio::from_millionths(*rc::gen::inRange<std::int64_t>(0, 1'000'000'001));
    RC_ASSERT(Ratio::parse(format(ratio)) == ratio);
  }));
  EXPECT_EQ(Ratio::parse("80%"), Ratio::percent(80));
  EXPECT_EQ(Ratio::parse("0.8"), Ratio::percent(80));
  EXPECT_EQ(format(Ratio::from_millionths(std::numeric_limits<std::int64_t>::min())), "-922337203685477.5808%");
}

}  // namespace
}  // namespace evenkeel
