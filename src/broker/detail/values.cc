#include "evenkeel/broker/detail/values.h"

#include <numeric>

namespace evenkeel::broker::detail {
namespace {

constexpr std::uint64_t micros_of_year = 365ull * 24 * 3600 * 1'000'000;

std::uint64_t at_least_one(std::uint64_t value) { return value == 0 ? 1 : value; }

// The least common multiple of `so_far` and `next`, or nothing if it passes 128 bits.
std::optional<UInt128> least_common(std::optional<UInt128> so_far, std::uint64_t next) {
  if (!so_far) return so_far;
  const auto shared = std::gcd(static_cast<std::uint64_t>(*so_far % next), next);  // gcd(0, n) is n
  const UInt128 product = multiply(*so_far, next / shared);
  return product == value_max ? std::nullopt : std::optional(product);
}

// D, unless it is so large that a year of microseconds would pass 2^128.
std::optional<UInt128> exact_denominator(std::span<const std::uint64_t> limits, std::span<const std::uint64_t> weights) {
  std::optional<UInt128> of_limits = 1, of_weights = 1;
  for (const std::uint64_t limit : limits)
    if (limit != unlimited) of_limits = least_common(of_limits, at_least_one(limit));
  for (const std::uint64_t weight : weights) of_weights = least_common(of_weights, at_least_one(weight));
  if (!of_limits || !of_weights) return std::nullopt;
  const UInt128 denominator = multiply(*of_limits, *of_weights);
  // Held products are far above what a year allows, so they need no test of their own.
  if (multiply(denominator, micros_of_year) == value_max) return std::nullopt;
  return denominator;
}

}  // namespace

UInt128 scaled_quotient(UInt128 value, UInt128 divisor) {
  const UInt128 whole = value / divisor;
  UInt128 rest = value % divisor;
  if ((whole >> 64) != 0) return value_max;
  if ((rest >> 64) == 0) [[likely]]
    return (whole << 64) + (rest << 64) / divisor;
  // The rest times 2^64 needs 192 bits: one bit of the quotient after the other. Only for limit times weight beyond 2^64.
  std::uint64_t fraction = 0;
  for (int bit = 0; bit < 64; ++bit) {
    const bool carry = (rest >> 127) != 0;
    rest <<= 1;
    fraction <<= 1;
    if (carry || rest >= divisor) {
      rest -= divisor;
      fraction |= 1;
    }
  }
  return (whole << 64) + fraction;
}

Scale::Scale(std::span<const std::uint64_t> limits, std::span<const std::uint64_t> weights)
    : exact_(exact_denominator(limits, weights)), resources_(limits.size()) {
  terms_.reserve(limits.size() * weights.size());
  for (const std::uint64_t weight : weights) {
    for (const std::uint64_t limit : limits) {
      const UInt128 product = UInt128{at_least_one(limit)} * at_least_one(weight);
      terms_.push_back(limit == unlimited ? 0 : exact_ ? *exact_ / product : product);
    }
  }
}

}  // namespace evenkeel::broker::detail
