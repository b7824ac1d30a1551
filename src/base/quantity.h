#pragma once
// Quantities: amounts of a resource, bytes and shares, exact in text and in memory.
//
//   Quantity  a decimal amount kept in billionths in 128 bits: "0.5", "500m", "64Gi", "1.5k", "2e3". Loads, capacities, weights.
//   Bytes     a whole number of bytes, unsigned 64 bits: "512Ki", "10M", "4096". Limits on sizes.
//   Ratio     a share in millionths: "80%", "12.5%", "0.8". Limits and tolerances.
//
// Suffixes: m (thousandth; Quantity only), k M G T P E (powers of 1000), Ki Mi Gi Ti Pi Ei (powers of 1024). At most 2^63 - 1 in
// magnitude before the point. Digits beyond the ninth decimal are rounded to nearest, ties to even; a number other than zero that
// would become zero is an error, as is everything that is not a finite number.
//
// format() gives the one canonical text, and parse(format(x)) == x: whole multiples of 1Mi are written with the largest binary
// suffix that divides them, everything else as plain decimal digits without trailing zeros.
//
// Sums: Quantity adds and compares exactly; the 128 bits hold 10^10 summands of the largest value that can be
// written (2^63 units are 9.2 * 10^27 billionths, 2^127 is 1.7 * 10^38). A product is the caller's to bound.

#include <fmt/format.h>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "evenkeel/base/result.h"

namespace evenkeel {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

class Quantity {
 public:
  static constexpr std::int64_t billion = 1'000'000'000;

  constexpr Quantity() = default;
  // A whole amount: Quantity(3) is three, not three billionths.
  constexpr explicit Quantity(std::int64_t whole) : nano_(Int128{whole} * billion) {}
  static constexpr Quantity from_nano(Int128 nano) {
    Quantity q;
    q.nano_ = nano;
    return q;
  }
  static Result<Quantity> parse(std::string_view text);

  constexpr Int128 nano() const { return nano_; }
  constexpr bool negative() const { return nano_ < 0; }
  // The nearest double, for printing shares and means; never for deciding.
  constexpr double to_double() const { return static_cast<double>(nano_) / static_cast<double>(billion); }

  constexpr Quantity& operator+=(Quantity other) { return nano_ += other.nano_, *this; }
  constexpr Quantity& operator-=(Quantity other) { return nano_ -= other.nano_, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, std::int64_t times) { return from_nano(a.nano_ * times); }
  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;

 private:
  Int128 nano_ = 0;
};
std::string format(Quantity quantity);

class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::uint64_t count) : count_(count) {}
  static Result<Bytes> parse(std::string_view text);

  constexpr std::uint64_t count() const { return count_; }
  friend constexpr auto operator<=>(const Bytes&, const Bytes&) = default;

 private:
  std::uint64_t count_ = 0;
};
std::string format(Bytes bytes);

class Ratio {
 public:
  constexpr Ratio() = default;
  static constexpr Ratio from_millionths(std::int64_t millionths) {
    Ratio r;
    r.millionths_ = millionths;
    return r;
  }
  static constexpr Ratio percent(std::int64_t percent) { return from_millionths(percent * 10'000); }
  // "80%" and "0.8" are the same ratio. Finer than a millionth is an error, as are negatives and anything above 1000 (100000 %).
  static Result<Ratio> parse(std::string_view text);

  constexpr std::int64_t millionths() const { return millionths_; }
  friend constexpr auto operator<=>(const Ratio&, const Ratio&) = default;

 private:
  std::int64_t millionths_ = 0;
};
// Always as a percentage: "80%", "12.5%".
std::string format(Ratio ratio);

}  // namespace evenkeel
