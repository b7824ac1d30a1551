#pragma once
// Hashing that may be stored, sent and relied on: the same bytes give the same number on every platform, forever.
//
// `hash64` is XXH3 (64 bits). Routing of keys to shards, buckets of shards and tie-breaks use it, so its values are part of the
// format of stored data; golden values in the tests hold it. Hash maps in memory use their library's own hash instead.

#include <cstdint>
#include <string_view>

namespace evenkeel {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

// A well mixed word from one or two others, for tie-breaks: order matters, mix64(a, b) != mix64(b, a).
std::uint64_t mix64(std::uint64_t a);
std::uint64_t mix64(std::uint64_t a, std::uint64_t b);

}  // namespace evenkeel
