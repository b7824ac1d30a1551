#pragma once
// A histogram of times in fixed buckets: 1, 2 and 5 of every decade from 100 microseconds to 10000 seconds.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "evenkeel/base/quantity.h"

namespace evenkeel::broker {

class Histogram {
 public:
  // Upper bounds, inclusive, in microseconds. One more bucket takes what is above the last.
  static constexpr std::array<std::uint64_t, 25> bounds = {
      100,         200,         500,         1'000,         2'000,         5'000,         10'000,        20'000,     50'000,
      100'000,     200'000,     500'000,     1'000'000,     2'000'000,     5'000'000,     10'000'000,    20'000'000, 50'000'000,
      100'000'000, 200'000'000, 500'000'000, 1'000'000'000, 2'000'000'000, 5'000'000'000, 10'000'000'000};

  static Histogram from(const std::array<std::uint64_t, bounds.size() + 1>& counts, UInt128 sum) {
    Histogram histogram;
    histogram.counts_ = counts;
    histogram.sum_ = sum;
    return histogram;
  }

  void add(std::uint64_t micros) {
    ++counts_[bucket(micros)];
    sum_ += micros;
  }
  // How many fell into each bucket, alone: Prometheus wants them summed up.
  const std::array<std::uint64_t, bounds.size() + 1>& counts() const { return counts_; }
  UInt128 sum() const { return sum_; }
  std::uint64_t count() const {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts_) all += count;
    return all;
  }
  friend bool operator==(const Histogram&, const Histogram&) = default;

 private:
  // The first bucket that a number with so many binary digits can be in; one of the next two is the right one.
  static constexpr auto first_bucket = [] {
    std::array<std::uint8_t, 65> first{};
    for (std::size_t digits = 0; digits <= 64; ++digits) {
      const std::uint64_t least = digits == 0 ? 0 : std::uint64_t{1} << (digits - 1);
      first[digits] = static_cast<std::uint8_t>(std::ranges::lower_bound(bounds, least) - bounds.begin());
    }
    return first;
  }();
  static std::size_t bucket(std::uint64_t micros) {
    std::size_t at = first_bucket[static_cast<std::size_t>(std::bit_width(micros))];
    while (at < bounds.size() && micros > bounds[at]) ++at;
    return at;
  }

  std::array<std::uint64_t, bounds.size() + 1> counts_{};
  UInt128 sum_ = 0;
};

}  // namespace evenkeel::broker
