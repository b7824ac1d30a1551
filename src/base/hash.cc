#include "evenkeel/base/hash.h"

#include <xxhash.h>

#include "evenkeel/base/rng.h"

namespace evenkeel {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t mix64(std::uint64_t a) { return splitmix64(a); }

// Adding the second word after mixing the first keeps, for either argument held fixed, different words apart.
std::uint64_t mix64(std::uint64_t a, std::uint64_t b) { return mix64(mix64(a) + b); }

}  // namespace evenkeel
