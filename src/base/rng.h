#pragma once
// Rng: chance that is the same on every platform, compiler and run, for one seed.
//
// Whoever rolls dice is handed an `Rng&`. `split(name)` gives an independent source that depends only on this one's seed and the
// name, not on how many draws were made: one module's draws never shift another's.
//
//   Rng rng(seed);
//   Rng place = rng.split("place");           // the same stream tomorrow, whatever else was added to rng's users
//   NodeId pick = nodes[place.below(nodes.size())];
//
// Nothing from <random> is used: its distributions and std::shuffle differ between standard libraries. The generator is
// xoshiro256** seeded through splitmix64; golden values in the tests fix it forever. Not for secrets. One owner, no locking.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace evenkeel {

// One step of splitmix64: advances `state`, returns a well mixed word. The generator of all benchmark instances.
std::uint64_t splitmix64(std::uint64_t& state);

// One step of xoshiro256** (Blackman and Vigna, 2018) on a state that is not all zero: what Rng draws from.
constexpr std::uint64_t xoshiro256(std::array<std::uint64_t, 4>& state) {
  const std::uint64_t result = std::rotl(state[1] * 5, 7) * 9;
  const std::uint64_t shifted = state[1] << 17;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = std::rotl(state[3], 45);
  return result;
}

class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  Rng split(std::string_view name) const;
  // The same, by number: one source per node, shard or round.
  Rng split(std::uint64_t number) const;

  std::uint64_t seed() const { return seed_; }
  std::uint64_t next() { return xoshiro256(state_); }         // all 64 bits
  std::uint64_t below(std::uint64_t bound);                   // uniform in [0, bound), without bias; bound > 0
  std::int64_t between(std::int64_t low, std::int64_t high);  // uniform in [low, high], both included; low <= high
  double unit();                                              // uniform in [0, 1), 53 bits
  bool chance(std::uint64_t times, std::uint64_t of);         // true `times` in `of`; of > 0

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[below(left)]);
  }

 private:
  std::uint64_t seed_;
  std::array<std::uint64_t, 4> state_;
};

}  // namespace evenkeel
