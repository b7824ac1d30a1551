#pragma once
// The arithmetic of consumption: unsigned fractions over one denominator, exact, in 128 bits, held at both ends.
//
// A queue's consumption is a number of microseconds of the whole node, over the denominator D = lcm(total limits) * lcm(weights).
// D divides what every share needs, so nothing is rounded: equal consumption is equal bits, and it does not matter when one adds up.
// Where D is too large to count a year in 128 bits, the denominator is 2^64: a rate per microsecond is rounded down once, and all
// terms are rate times whole microseconds, so that it still does not matter when one adds up.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evenkeel/base/quantity.h"
#include "evenkeel/broker/config.h"

namespace evenkeel::broker::detail {

inline constexpr UInt128 value_max = ~UInt128{0};

constexpr UInt128 add(UInt128 a, UInt128 b) {
  const UInt128 sum = a + b;
  return sum < a ? value_max : sum;
}

constexpr UInt128 subtract(UInt128 a, UInt128 b) { return a > b ? a - b : 0; }

constexpr UInt128 multiply(UInt128 a, std::uint64_t b) {
  const auto high = static_cast<std::uint64_t>(a >> 64);
  const UInt128 low_product = UInt128{static_cast<std::uint64_t>(a)} * b;
  if (high == 0) [[likely]]
    return low_product;
  const UInt128 high_product = UInt128{high} * b;
  if ((high_product >> 64) != 0) return value_max;
  return add(high_product << 64, low_product);
}

constexpr UInt128 multiply(UInt128 a, UInt128 b) {
  if ((b >> 64) == 0) [[likely]]
    return multiply(a, static_cast<std::uint64_t>(b));
  if ((a >> 64) == 0) return multiply(b, static_cast<std::uint64_t>(a));
  return value_max;
}

// floor(value * 2^64 / divisor), held at the largest value.
UInt128 scaled_quotient(UInt128 value, UInt128 divisor);

// How amounts become rates: for each queue and resource one factor (over D) or divisor (over 2^64).
class Scale {
 public:
  Scale() = default;
  // `limits` of the node by resource; `weights` by queue. Zeros count as 1, unlimited resources not at all.
  Scale(std::span<const std::uint64_t> limits, std::span<const std::uint64_t> weights);

  UInt128 denominator() const { return exact_ ? *exact_ : UInt128{1} << 64; }

  // The dominant share of `amounts` divided by the queue's weight: what the queue consumes in a microsecond.
  template <class Amount>
  UInt128 rate(std::size_t queue, const Amount* amounts) const {
    const UInt128* const terms = &terms_[queue * resources_];
    UInt128 most = 0;
    for (std::size_t i = 0; i < resources_; ++i) {
      if (amounts[i] != 0 && terms[i] != 0)
        most = std::max(most, exact_ ? multiply(terms[i], amounts[i]) : scaled_quotient(amounts[i], terms[i]));
    }
    return most;
  }

 private:
  std::optional<UInt128> exact_;  // D, if it serves
  std::size_t resources_ = 0;
  std::vector<UInt128> terms_;  // [queue][resource]: D / (limit * weight), or limit * weight; 0: unlimited
};

}  // namespace evenkeel::broker::detail
