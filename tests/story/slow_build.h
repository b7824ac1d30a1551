#pragma once
// Sanitized builds are several times slower: random tests take one in ten of their seeds there.

#include <cstdint>

namespace evenkeel {

#if defined(EVENKEEL_SANITIZED)
inline constexpr bool slow_build = true;
#else
inline constexpr bool slow_build = false;
#endif

constexpr std::uint64_t seeds_of(std::uint64_t all) { return slow_build ? all / 10 : all; }

}  // namespace evenkeel
