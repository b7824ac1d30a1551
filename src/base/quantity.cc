#include "evenkeel/base/quantity.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "evenkeel/base/text.h"

namespace evenkeel {

namespace {

// Reading is exact: decimal digits, never a floating number. A text of any length is read in one pass and in fixed memory.
//
// The number is 0.d1d2d3… * 10^point with d1 != 0. Only the first hundred digits are kept, with a mark whether anything but zeros
// follows. That is enough to round exactly: with a binary suffix 2^60 and nine decimals the points where rounding turns are odd
// multiples of 1 / (2 * 2^60 * 10^9), which have at most 70 decimals. A number in range has at most 23 digits before its point (a
// suffix m included), so the digits kept reach at least to the 77th decimal, and no turning point hides behind them.
constexpr std::size_t digits_kept = 100;
constexpr std::size_t factor_digits = 19;  // 2^60 < 10^19

struct Decimal {
  std::array<std::uint8_t, digits_kept + factor_digits> digits{};
  std::size_t count = 0;
  bool more = false;
  std::int64_t point = 0;

  bool zero() const { return count == 0; }
  void push(char digit) {
    if (count < digits_kept) {
      digits[count++] = static_cast<std::uint8_t>(digit - '0');
    } else if (digit != '0') {
      more = true;
    }
  }
};

struct Suffix {
  std::string_view name;
  int ten = 0;  // times 10^ten
  int two = 0;  // times 2^two
};

// What differs between the three kinds of quantity.
struct Kind {
  std::string_view noun;
  std::string_view examples;
  std::string_view at_most;
  std::span<const Suffix> suffixes;
  int places;  // the unit in memory is 10^-places
  UInt128 most;
  bool may_be_negative;
  std::string_view inexact;  // what to say of a number between two units; empty: it is rounded
};

constexpr std::array suffixes = std::to_array<Suffix>({{"m", -3},
                                                       {"k", 3},
                                                       {"M", 6},
                                                       {"G", 9},
                                                       {"T", 12},
                                                       {"P", 15},
                                                       {"E", 18},
                                                       {"Ki", 0, 10},
                                                       {"Mi", 0, 20},
                                                       {"Gi", 0, 30},
                                                       {"Ti", 0, 40},
                                                       {"Pi", 0, 50},
                                                       {"Ei", 0, 60}});
constexpr std::array percent = std::to_array<Suffix>({{"%", -2}});

constexpr UInt128 quantity_most = UInt128{std::numeric_limits<std::int64_t>::max()} * Quantity::billion + (Quantity::billion - 1);

constexpr Kind quantity_kind{
    "a quantity", "0.5, 500m or 64Gi", "9223372036854775807 (2^63 - 1)", suffixes, 9, quantity_most, true, ""};
constexpr Kind bytes_kind{"a number of bytes",
                          "4096, 512Ki or 10M",
                          "18446744073709551615 (2^64 - 1)",
                          std::span<const Suffix>(suffixes).subspan<1>(),  // without m: there are no thousandths of a byte
                          0,
                          std::numeric_limits<std::uint64_t>::max(),
                          false,
                          "is not a whole number of bytes"};
constexpr Kind ratio_kind{"a ratio",
                          "80% or 0.8",
                          "1000 (100000%)",
                          percent,
                          6,
                          1'000'000'000,
                          false,
                          "is finer than a millionth: write at most four decimals of a percent"};

// Held at a number beyond any length of text in memory, so that it settles the matter and sums of it with lengths do not overflow.
std::int64_t exponent_of(std::string_view digits) {
  constexpr std::int64_t most = 1'000'000'000'000'000'000;
  std::int64_t value = 0;
  for (const char digit : digits) value = std::min(value * 10 + (digit - '0'), most / 10);
  return value;
}

Decimal decimal_of(std::string_view whole, std::string_view fraction) {
  Decimal number;
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  number.point = static_cast<std::int64_t>(whole.size());
  if (whole.empty()) {
    const std::size_t zeros = std::min(fraction.find_first_not_of('0'), fraction.size());
    number.point = -static_cast<std::int64_t>(zeros);
    fraction.remove_prefix(zeros);
  }
  for (const char digit : whole) number.push(digit);
  for (const char digit : fraction) number.push(digit);
  return number;
}

// Times `factor` < 10^19, exactly: schoolbook multiplication from the last digit, then the leading zeros go.
void multiply(Decimal& number, std::uint64_t factor) {
  UInt128 carry = 0;
  for (std::size_t at = number.count; at-- > 0;) {
    carry += UInt128{number.digits[at]} * factor;
    number.digits[at + factor_digits] = static_cast<std::uint8_t>(carry % 10);
    carry /= 10;
  }
  for (std::size_t at = factor_digits; at-- > 0; carry /= 10) number.digits[at] = static_cast<std::uint8_t>(carry % 10);
  const auto end = number.digits.begin() + static_cast<std::ptrdiff_t>(number.count + factor_digits);
  const auto first = std::find_if(number.digits.begin(), end, [](std::uint8_t digit) { return digit != 0; });
  number.point += static_cast<std::int64_t>(factor_digits) - (first - number.digits.begin());
  number.count = static_cast<std::size_t>(std::copy(first, end, number.digits.begin()) - number.digits.begin());
}

struct Units {
  UInt128 count = 0;
  bool exact = true;
};

// The number in units of 10^-places, to the nearest, ties to even. Nothing if it has more than 30 digits, which is too large for
// every kind.
std::optional<Units> round(const Decimal& number, int places) {
  const std::int64_t taken = number.point + places;
  if (number.zero()) return Units{};
  if (taken > 30) return std::nullopt;
  if (taken < 0) return Units{0, false};
  Units units;
  const auto digit = [&](std::size_t at) { return at < number.count ? number.digits[at] : std::uint8_t{0}; };
  const auto cut = static_cast<std::size_t>(taken);
  for (std::size_t at = 0; at < cut; ++at) units.count = units.count * 10 + digit(at);
  bool rest = number.more;
  for (std::size_t at = cut + 1; at < number.count; ++at) rest = rest || digit(at) != 0;
  units.exact = digit(cut) == 0 && !rest;
  const bool up = digit(cut) > 5 || (digit(cut) == 5 && (rest || units.count % 2 == 1));
  if (up) ++units.count;
  return units;
}

// One parse: the text, taken apart from the front, and how to complain about it.
class Parser {
 public:
  Parser(std::string_view text, const Kind& kind) : text_(text), left_(text), kind_(kind) {}

  // The number in units of the kind; negative ones only where the kind has them.
  Result<Int128> parse() {
    if (left_.starts_with('-')) left_.remove_prefix(1);
    const bool negative = left_.size() < text_.size();
    Result<Decimal> number = parse_number();
    if (!number) return fail(std::move(number.error()));
    if (Result<void> suffix = apply_suffix(*number); !suffix) return fail(std::move(suffix.error()));
    if (negative && !kind_.may_be_negative) return wrong("is negative: write 0 or more");
    const std::optional<Units> units = round(*number, kind_.places);
    if (!units || units->count > kind_.most) return wrong("is too large: at most {}", kind_.at_most);
    if (!units->exact && !kind_.inexact.empty()) return wrong("{}", kind_.inexact);
    if (!units->exact && units->count == 0) return wrong("is too small: the smallest step is 0.000000001");
    const auto count = static_cast<Int128>(units->count);
    return negative ? -count : count;
  }

 private:
  // <digits>[.<digits>][e[+-]<digits>]; leaves the suffix.
  Result<Decimal> parse_number() {
    const std::string_view whole = take_digits(left_);
    if (whole.empty()) return no_number();
    std::string_view fraction;
    if (left_.starts_with('.')) {
      left_.remove_prefix(1);
      fraction = take_digits(left_);
      if (fraction.empty()) return wrong("has a point without digits after it: write 1.5, or leave the point out");
    }
    Decimal number = decimal_of(whole, fraction);
    mantissa_ = text_.substr(0, text_.size() - left_.size());
    // "1E" is a suffix and "1e" a slip; with a digit behind, or a sign and a digit, it is an exponent.
    if (left_.starts_with('e') || left_.starts_with('E')) {
      std::string_view behind = left_.substr(1);
      const bool down = behind.starts_with('-');
      if (down || behind.starts_with('+')) behind.remove_prefix(1);
      const std::string_view digits = take_digits(behind);
      if (!digits.empty()) {
        number.point += down ? -exponent_of(digits) : exponent_of(digits);
        has_exponent_ = true;
        left_ = behind;
      } else if (left_.starts_with('e') || left_.size() > 1 + behind.size()) {
        return wrong("has an exponent without digits: write 2e3{}", kind_.suffixes.size() > 1 ? ", or E for 10^18" : "");
      }
    }
    return number;
  }

  Result<void> apply_suffix(Decimal& number) const {
    if (left_.empty()) return {};
    const auto suffix =
        std::find_if(kind_.suffixes.begin(), kind_.suffixes.end(), [&](const Suffix& s) { return s.name == left_; });
    if (suffix == kind_.suffixes.end()) return unknown_suffix();
    if (has_exponent_) return wrong("has both an exponent and the suffix {}: write one of them", suffix->name);
    number.point += suffix->ten;
    if (suffix->two > 0) multiply(number, std::uint64_t{1} << suffix->two);
    return {};
  }

  template <class... Args>
  unexpected<Error> wrong(fmt::format_string<Args...> text, Args&&... args) const {
    return fail(Code::invalid, "{} {}", quote(text_), fmt::format(text, std::forward<Args>(args)...));
  }

  unexpected<Error> no_number() const {
    if (text_.empty()) return wrong("is empty: write a number, for example {}", kind_.examples);
    if (left_.starts_with('.')) return wrong("has a point without a digit before it: write 0.5");
    if (left_.starts_with('+')) return wrong("has a '+': leave it out");
    return wrong("is not {}: write a number, for example {}", kind_.noun, kind_.examples);
  }

  unexpected<Error> unknown_suffix() const {
    if (has_exponent_) return wrong("has {} after its exponent: leave it out", quote(left_, 20));
    const std::optional<std::string_view> meant = suffix_meant();
    if (meant && mantissa_.size() <= 40)
      return wrong("has the unknown suffix {}: did you mean {}{}?", quote(left_), mantissa_, *meant);
    std::string known;
    for (const Suffix& suffix : kind_.suffixes)
      fmt::format_to(std::back_inserter(known), "{}{}", known.empty() ? "" : " ", suffix.name);
    return wrong("has the unknown suffix {}: use {}, or none", quote(left_, 20), known);
  }

  // What a near miss was meant to be: with a space before it, with a B behind it, in the wrong case.
  std::optional<std::string_view> suffix_meant() const {
    std::string_view written = left_;
    written.remove_prefix(std::min(written.find_first_not_of(' '), written.size()));
    const bool spaced = written.size() < left_.size();
    for (const Suffix& suffix : kind_.suffixes) {
      if (spaced && suffix.name == written) return suffix.name;
    }
    if (written.ends_with('B') || written.ends_with('b')) written.remove_suffix(1);
    if (written.empty()) return written;
    for (const Suffix& suffix : kind_.suffixes) {
      const bool same_but_case = written.size() == suffix.name.size() && nearest(written, std::array{suffix.name});
      if (same_but_case && suffix.ten != -3) return suffix.name;  // never thousandths: "mb" are millions
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::string_view left_;
  const Kind& kind_;
  std::string_view mantissa_;  // the sign and the digits, for a hint
  bool has_exponent_ = false;
};

UInt128 magnitude(Int128 value) {
  return value < 0 ? -static_cast<UInt128>(value)
                   : static_cast<UInt128>(value);  // unsigned: the most negative one has its positive too
}

// Whole multiples of 1Mi with the largest binary suffix that divides them, others as digits.
std::string format_whole(UInt128 whole) {
  if (whole == 0) return "0";
  constexpr int smallest = 20;
  for (auto suffix = suffixes.rbegin(); suffix != suffixes.rend() && suffix->two >= smallest; ++suffix) {
    const UInt128 unit = UInt128{1} << suffix->two;
    if (whole % unit == 0) return fmt::format("{}{}", whole / unit, suffix->name);
  }
  return fmt::format("{}", whole);
}

// `count` of 10^-places as digits, without trailing zeros.
std::string format_places(UInt128 count, int places) {
  UInt128 one = 1;
  for (int i = 0; i < places; ++i) one *= 10;
  return trim_decimals(fmt::format("{}.{:0{}}", count / one, count % one, places));
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  return Parser(text, quantity_kind).parse().map([](Int128 nano) { return from_nano(nano); });
}

std::string format(Quantity quantity) {
  const UInt128 nano = magnitude(quantity.nano());
  const std::string digits = nano % Quantity::billion == 0 ? format_whole(nano / Quantity::billion) : format_places(nano, 9);
  return quantity.negative() ? "-" + digits : digits;
}

Result<Bytes> Bytes::parse(std::string_view text) {
  return Parser(text, bytes_kind).parse().map([](Int128 count) { return Bytes(static_cast<std::uint64_t>(count)); });
}

std::string format(Bytes bytes) { return format_whole(bytes.count()); }

Result<Ratio> Ratio::parse(std::string_view text) {
  return Parser(text, ratio_kind).parse().map([](Int128 count) { return from_millionths(static_cast<std::int64_t>(count)); });
}

std::string format(Ratio ratio) {
  return fmt::format("{}{}%", ratio.millionths() < 0 ? "-" : "", format_places(magnitude(ratio.millionths()), 4));
}

}  // namespace evenkeel
