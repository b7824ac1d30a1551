#include "evenkeel/base/time.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "evenkeel/base/quantity.h"
#include "evenkeel/base/text.h"

namespace evenkeel {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};
constexpr std::array<Unit, 7> units{{{"d", 86'400'000'000'000},
                                     {"h", 3'600'000'000'000},
                                     {"m", 60'000'000'000},
                                     {"s", 1'000'000'000},
                                     {"ms", 1'000'000},
                                     {"us", 1'000},
                                     {"ns", 1}}};

// What people write elsewhere (or in capitals), and what they mean by it here: the words of one unit stand at its place above.
constexpr std::array<std::array<std::string_view, 7>, units.size()> aliases{{
    {"d", "day", "days"},
    {"h", "hr", "hrs", "hour", "hours"},
    {"m", "min", "mins", "minute", "minutes"},
    {"s", "sec", "secs", "second", "seconds"},
    {"ms", "msec", "msecs", "millis", "millisecond", "milliseconds"},
    {"us", "µs", "μs", "usec", "usecs", "microsecond", "microseconds"},
    {"ns", "nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"},
}};

std::optional<std::string_view> unit_meant_by(std::string_view written) {
  std::vector<std::string_view> words;
  for (const auto& of_unit : aliases) words.insert(words.end(), of_unit.begin(), of_unit.end());
  const std::optional<std::string_view> word = nearest(written, words);
  for (std::size_t i = 0; word && i < units.size(); ++i) {
    if (std::find(aliases[i].begin(), aliases[i].end(), *word) != aliases[i].end()) return units[i].name;
  }
  return std::nullopt;
}

// The digits' value, held at 2^64 - 1: more than any duration has of any unit.
std::uint64_t value_of(std::string_view digits) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  for (const char digit : digits) {
    const auto add = static_cast<std::uint64_t>(digit - '0');
    if (value > (most - add) / 10) return most;
    value = value * 10 + add;
  }
  return value;
}

// `0.digits` of a unit in nanoseconds, if that is a whole number. A day is 2^16 * 3^3 * 5^11 ns, so no fraction of any unit that
// comes out whole needs more than 16 digits.
std::optional<UInt128> fraction_of(std::string_view digits, const Unit& unit) {
  digits = digits.substr(0, digits.find_last_not_of('0') + 1);
  if (digits.size() > 16) return std::nullopt;
  UInt128 one = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) one *= 10;
  const UInt128 scaled = UInt128{value_of(digits)} * unit.nanoseconds;
  if (scaled % one != 0) return std::nullopt;
  return scaled / one;
}

// One parse: what is left of the text, and what was read so far.
class DurationParser {
 public:
  explicit DurationParser(std::string_view text) : text_(text), left_(text) {}

  Result<Duration> parse() {
    if (left_.starts_with('-')) left_.remove_prefix(1);
    const bool negative = left_.size() < text_.size();
    if (left_ == "0") return Duration(0);
    do {
      if (Result<void> part = parse_part(); !part) return fail(part.error());
    } while (!left_.empty());
    const UInt128 most = UInt128{std::numeric_limits<std::int64_t>::max()} + (negative ? 1 : 0);
    if (total_ > most && negative) return wrong("is too far back: at least {}", format(Duration::min()));
    if (total_ > most) return wrong("is too long: at most {}", format(Duration::max()));
    const auto total = static_cast<Int128>(total_);
    return Duration(static_cast<Duration::rep>(negative ? -total : total));
  }

 private:
  // <number>[.<fraction>]<unit>
  Result<void> parse_part() {
    const std::string_view whole = take_digits(left_);
    if (whole.empty()) return no_number();
    std::string_view fraction;
    if (left_.starts_with('.')) {
      left_.remove_prefix(1);
      fraction = take_digits(left_);
      if (fraction.empty()) return wrong("has a point without digits after it: write 1.5s, or leave the point out");
    }
    const auto unit_end = std::find_if(left_.begin(), left_.end(), [](char c) { return is_digit(c) || c == '.' || c == '-'; });
    const std::string_view written(left_.begin(), unit_end);
    left_.remove_prefix(written.size());
    if (written.empty()) return no_unit();
    const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == written; });
    if (unit == units.end()) return unknown_unit(written);
    if (previous_ != nullptr && unit <= previous_) return misplaced(*unit);
    previous_ = unit;
    if (!fraction.empty() && !left_.empty())
      return wrong("has a fraction before its last part: only the last number may have one");
    const std::optional<UInt128> part = fraction_of(fraction, *unit);
    if (!part) return wrong("is finer than a nanosecond: leave out some decimals");
    total_ += UInt128{value_of(whole)} * unit->nanoseconds + *part;  // at most seven of 2^64 * 2^47: far below 2^128
    return {};
  }

  template <class... Args>
  unexpected<Error> wrong(fmt::format_string<Args...> text, Args&&... args) const {
    return fail(Code::invalid, "{} {}", quote(text_), fmt::format(text, std::forward<Args>(args)...));
  }

  unexpected<Error> no_number() const {
    if (text_.empty()) return wrong("is empty: write a number and a unit, for example 15s or 1h30m");
    if (left_.starts_with('.')) return wrong("has a point without a digit before it: write 0.5s");
    if (left_.starts_with('+')) return wrong("has a '+': leave it out");
    if (left_.starts_with('-') && previous_ != nullptr)
      return wrong("has a '-' inside: only the whole duration has a sign, in front");
    return wrong("is not a duration: write a number and a unit, for example 15s or 1h30m");
  }

  unexpected<Error> no_unit() const {
    const bool one_number = previous_ == nullptr && left_.empty();
    if (one_number && text_.size() <= 20) return wrong("has no unit: add a unit, for example {}s", text_);
    return wrong("has a number without a unit: add d, h, m, s, ms, us or ns after each");
  }

  unexpected<Error> unknown_unit(std::string_view written) const {
    if (written.find_first_of(" \t") != std::string_view::npos)
      return wrong("has a space inside: write it without, for example 1h30m");
    if (const auto meant = unit_meant_by(written)) {
      return wrong("has the unknown unit {}: did you mean {}?", quote(written), quote(*meant));
    }
    return wrong("has the unknown unit {}: units are d, h, m, s, ms, us and ns", quote(written, 20));
  }

  unexpected<Error> misplaced(const Unit& unit) const {
    if (&unit == previous_) return wrong("has the unit {} twice: write each unit once", unit.name);
    return wrong("has {} after {}: write units from the largest to the smallest", unit.name, previous_->name);
  }

  std::string_view text_;
  std::string_view left_;
  const Unit* previous_ = nullptr;
  UInt128 total_ = 0;
};

// Year, month and day of a day counted from 1970-01-01, for every 64-bit microsecond (std::chrono's year ends at 32767).
// The calendar repeats every 400 years of 146097 days; years are counted from March, so that the leap day comes last.
struct Date {
  std::int64_t year;
  std::int64_t month;
  std::int64_t day;
};
Date date_of(std::int64_t days) {
  days += 719'468;  // from 0000-03-01
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month = (5 * day_of_year + 2) / 153;  // 0: March
  const std::int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
  return {year_of_era + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day};
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) { return DurationParser(text).parse(); }

std::string format(Duration duration) {
  if (duration == Duration(0)) return "0s";
  const bool negative = duration < Duration(0);
  std::string text = negative ? "-" : "";
  auto left = static_cast<std::uint64_t>(duration.count());
  if (negative) left = -left;  // in unsigned words, where the most negative one has its positive too
  for (const Unit& unit : units) {
    if (left >= unit.nanoseconds) fmt::format_to(std::back_inserter(text), "{}{}", left / unit.nanoseconds, unit.name);
    left %= unit.nanoseconds;
  }
  return text;
}

std::string format(Instant instant) { return format(instant.time_since_epoch()); }

std::string format(WallTime time) {
  // By hand and not by std::chrono::floor, which overflows near the ends of the range.
  constexpr std::int64_t day_us = 86'400'000'000;
  const std::int64_t since_1970 = time.time_since_epoch().count();
  const std::int64_t us = (since_1970 % day_us + day_us) % day_us;
  const Date date = date_of(since_1970 / day_us - (since_1970 % day_us < 0 ? 1 : 0));
  const std::string_view sign = date.year > 9'999 ? "+" : date.year < 0 ? "-" : "";
  return fmt::format("{}{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", sign, std::abs(date.year), date.month, date.day,
                     us / 3'600'000'000, us / 60'000'000 % 60, us / 1'000'000 % 60, us % 1'000'000);
}

}  // namespace evenkeel
