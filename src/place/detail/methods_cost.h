#pragma once
// The cost of a straw: how a hash and a weight become an order that is the same on every platform, forever.
//
// Whoever draws with u, uniform in (0, 1), and weight w gets the cost -ln(u) / w; the least cost wins, and it wins in proportion to
// weight, since -ln(u) / w is an exponential time of rate w and the first of several such times is each one's with chance w over the sum.
// A library's logarithm may differ in its last bit between platforms, and then two clients would disagree on where a key is. Here it is
// made of integers alone: 57 bits after the point, off by less than 2^-51, the same everywhere; costs are compared as exact products,
// never divided.

#include <array>
#include <bit>
#include <cstdint>

#include "evenkeel/base/quantity.h"

namespace evenkeel::place::detail {

// Bits after the point of a cost; 64 · ln 2 < 45 needs six before it.
constexpr int cost_bits = 57;

namespace cost_table {

constexpr int bits = 62;  // after the point, while it is computed

constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) { return static_cast<std::uint64_t>((UInt128{a} * b) >> bits); }

// ln(1 + i / 256) = 2 · atanh(i / (512 + i)); the argument is below 1/3, so each term is below a ninth of the one before it.
constexpr std::uint64_t logarithm(std::uint64_t i) {
  const auto z = static_cast<std::uint64_t>((UInt128{i} << bits) / (512 + i));
  const std::uint64_t square = times(z, z);
  std::uint64_t sum = 0;
  std::uint64_t power = z;
  for (std::uint64_t odd = 1; power > 0; odd += 2, power = times(power, square)) sum += power / odd;
  return 2 * sum;
}

constexpr std::array<std::uint64_t, 257> make() {
  std::array<std::uint64_t, 257> table{};
  for (std::uint64_t i = 0; i < table.size(); ++i) table[i] = logarithm(i);
  return table;
}

inline constexpr std::array<std::uint64_t, 257> logarithms = make();

}  // namespace cost_table

// A number that cost(hash) is never below, without a logarithm: -ln(u) >= 1 - u.
constexpr std::uint64_t cost_floor(std::uint64_t hash) { return (~hash & ~std::uint64_t{1}) >> (64 - cost_bits); }

// -ln(u) for u = (hash | 1) / 2^64.
//
// The mantissa 1 <= m < 2 is taken apart as c · (1 + r) with c the multiple of 1/256 below it, so that r < 1/256 and seven terms of the
// series of ln(1 + r) leave less than 2^-66.
constexpr std::uint64_t cost(std::uint64_t hash) {
  using cost_table::bits;
  using cost_table::times;
  const std::uint64_t odd = hash | 1;
  const int shift = std::countl_zero(odd);
  const std::uint64_t mantissa = odd << shift;         // 2^63 is 1
  const std::uint64_t step = (mantissa >> 55) & 0xff;  // which multiple of 1/256
  const std::uint64_t beyond = mantissa & ((1ull << 55) - 1);
  const auto r = static_cast<std::uint64_t>((UInt128{beyond} << (bits - 55)) / (256 + step));
  std::uint64_t series = (1ull << bits) / 7;
  for (const std::uint64_t n : {6, 5, 4, 3, 2, 1}) series = (1ull << bits) / n - times(r, series);
  const std::uint64_t log = cost_table::logarithms[step] + times(r, series);
  const UInt128 whole = UInt128{cost_table::logarithms[256]} * static_cast<unsigned>(shift + 1);
  const auto found = static_cast<std::uint64_t>((whole > log ? whole - log : 0) >> (bits - cost_bits));
  return found > cost_floor(hash) ? found : cost_floor(hash);
}

// What one candidate drew.
struct Straw {
  std::uint64_t cost = 0;
  std::uint64_t weight = 0;  // above zero
  std::uint64_t hash = 0;

  // Whether it comes before the other. Of equal costs the larger hash is first; equal hashes are the caller's to tell apart.
  constexpr bool before(const Straw& other) const {
    const UInt128 mine = UInt128{cost} * other.weight;
    const UInt128 its = UInt128{other.cost} * weight;
    return mine != its ? mine < its : hash > other.hash;
  }
};

constexpr Straw draw_straw(std::uint64_t hash, std::uint64_t weight) { return {cost(hash), weight, hash}; }

// Whether a straw of this hash and weight would surely come after the other: most candidates need no logarithm.
constexpr bool surely_after(std::uint64_t hash, std::uint64_t weight, const Straw& other) {
  return UInt128{cost_floor(hash)} * other.weight > UInt128{other.cost} * weight;
}

}  // namespace evenkeel::place::detail
