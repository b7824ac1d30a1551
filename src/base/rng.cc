#include "evenkeel/base/rng.h"

#include "evenkeel/base/hash.h"
#include "evenkeel/base/quantity.h"
#include "evenkeel/base/result.h"

namespace evenkeel {

namespace {

// Keeps split(7) apart from a split by a name that happens to hash to 7. Any fixed word does; this one is from the square root of 2.
constexpr std::uint64_t by_number = 0x6a09e667f3bcc908;

}  // namespace

std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

// splitmix64 gives each word once in its period, so of four in a row at most one is zero: every seed is a good one.
Rng::Rng(std::uint64_t seed) : seed_(seed) {
  for (std::uint64_t& word : state_) word = splitmix64(seed);
}

Rng Rng::split(std::string_view name) const { return Rng(mix64(seed_, hash64(name))); }
Rng Rng::split(std::uint64_t number) const { return Rng(mix64(mix64(seed_, by_number), number)); }

// Lemire's multiply and shift: the high word of next() * bound is the answer. Of the 2^64 low words, the first 2^64 mod bound would
// make some answers likelier than others, so those draws are thrown away. The division is only paid when one might be.
std::uint64_t Rng::below(std::uint64_t bound) {
  ensure(bound > 0, "Rng::below has something to choose from");
  UInt128 product = UInt128{next()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t biased = -bound % bound;
    while (static_cast<std::uint64_t>(product) < biased) product = UInt128{next()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

// In unsigned words, where the width of the whole range is 2^64 and wraps to 0.
std::int64_t Rng::between(std::int64_t low, std::int64_t high) {
  ensure(low <= high, "Rng::between is given its bounds in order");
  const auto first = static_cast<std::uint64_t>(low);
  const std::uint64_t width = static_cast<std::uint64_t>(high) - first + 1;
  return static_cast<std::int64_t>(first + (width == 0 ? next() : below(width)));
}

double Rng::unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

bool Rng::chance(std::uint64_t times, std::uint64_t of) { return below(of) < times; }

}  // namespace evenkeel
