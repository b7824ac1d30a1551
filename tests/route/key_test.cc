#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "evenkeel/base/hash.h"
#include "evenkeel/route/table.h"

namespace evenkeel::route {
namespace {

std::uint32_t hashed(std::string_view key, std::uint32_t shards) { return shard_of(key, shards).value(); }
std::uint32_t ranged(std::string_view key, std::uint32_t shards) { return shard_of(key, shards, KeyMap::range).value(); }

// Data lies where these say. They never change.
TEST(ShardOf, HashIsFixedForEver) {
  EXPECT_EQ(hashed("", 1000), 0x2d06800538d394c2U % 1000);  // XXH3's own value for no bytes
  EXPECT_EQ(hashed("user-17", 1000), 873U);
  EXPECT_EQ(hashed("user-18", 1000), 359U);
  EXPECT_EQ(hashed(std::string_view("\0\xff", 2), 1000), 83U);
  EXPECT_EQ(hashed(std::string(300, 'k'), 1'000'000'007), 705'420'949U);
  EXPECT_EQ(hashed("user-17", 1), 0U);
}

TEST(ShardOf, RangeIsFixedForEver) {
  EXPECT_EQ(ranged("", 1000), 0U);
  EXPECT_EQ(ranged("a", 256), 0x61U);
  EXPECT_EQ(ranged("a", 1000), 378U);  // 97 * 1000 / 256 = 378.9
  EXPECT_EQ(ranged("\x80", 2), 1U);
  EXPECT_EQ(ranged("\x7f\xff\xff\xff\xff\xff\xff\xff", 2), 0U);
  EXPECT_EQ(ranged("\xff\xff\xff\xff\xff\xff\xff\xff\xff", 4'294'967'295U), 4'294'967'294U);
  EXPECT_EQ(ranged("\x55\x55\x55\x55\x55\x55\x55\x55", 3), 0U);  // the last of the first third
  EXPECT_EQ(ranged("\x55\x55\x55\x55\x55\x55\x55\x56", 3), 1U);
}

RC_GTEST_PROP(ShardOf, HashIsXxh3ModuloTheCount, (const std::string& key)) {
  const auto shards = *rc::gen::inRange<std::uint32_t>(1, 2'000'000'000);
  RC_ASSERT(hashed(key, shards) == hash64(key) % shards);
  RC_ASSERT(hashed(key, 2 * shards) % shards == hashed(key, shards));
}

RC_GTEST_PROP(ShardOf, RangeKeepsTheOrderOfKeys, (const std::string& a, const std::string& b)) {
  const auto shards = *rc::gen::inRange<std::uint32_t>(1, 2'000'000'000);
  const auto& [low, high] = std::minmax(a, b);
  RC_ASSERT(ranged(low, shards) <= ranged(high, shards));
  RC_ASSERT(ranged(high, shards) < shards);
  RC_ASSERT(ranged(a, 2 * shards) / 2 == ranged(a, shards));
  RC_ASSERT(ranged(a + std::string(3, '\0'), shards) == ranged(a, shards));
}

}  // namespace
}  // namespace evenkeel::route
