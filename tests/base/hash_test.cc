#include "evenkeel/base/hash.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <string>

namespace evenkeel {
namespace {

// Values that stored data relies on. The first three are published values of XXH3; none may ever change.
TEST(Hash, GoldenValues) {
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2U);
  EXPECT_EQ(hash64("a"), 0xe6c632b61e964e1fU);
  EXPECT_EQ(hash64("abc"), 0x78af5f94892f3950U);
  EXPECT_EQ(hash64("shard-0017"), 0xd3956205728d63e3U);
  EXPECT_EQ(hash64("shard-0017", 1), 0xe6092ad96862b9afU);
  EXPECT_EQ(hash64(std::string(16, 'x')), 0xdf76ff0d7f0d9edfU);
  EXPECT_EQ(hash64(std::string(128, 'x')), 0x4ca37e83f6cddd17U);
  EXPECT_EQ(hash64(std::string(240, 'x')), 0x3e16ca8a0c6ccb68U);
  EXPECT_EQ(hash64(std::string(1'000, 'x')), 0xc0a4877b962cba82U);
  EXPECT_EQ(hash64(std::string("\0", 1)), 0xc44bdff4074eecdbU);
}

// mix64 of one word is the step of splitmix64 from it: the published first output for the state 1234567.
TEST(Mix, GoldenValues) {
  EXPECT_EQ(mix64(1234567), 6457827717110365317U);
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(mix64(0, 0), 12035550249420947055U);
  EXPECT_EQ(mix64(1, 2), 13608149317741381227U);
  EXPECT_EQ(mix64(2, 1), 16171810823986729605U);
}

TEST(Mix, OrderMattersAndEitherWordDoes) {
  EXPECT_TRUE(rc::check("for any two different words", [](std::uint64_t a, std::uint64_t b) {
    RC_PRE(a != b);
    RC_ASSERT(mix64(a) != mix64(b));
    RC_ASSERT(mix64(a, b) != mix64(b, a));
    RC_ASSERT(mix64(a, a) != mix64(a, b));
    RC_ASSERT(mix64(a, a) != mix64(b, a));
  }));
}

TEST(Hash, OneBitTurnsAboutHalfOfTheOthers) {
  int turned = 0;
  for (int bit = 0; bit < 64; ++bit) turned += std::popcount(mix64(42) ^ mix64(42 ^ (std::uint64_t{1} << bit)));
  // 64 * 32 = 2048 expected, with a deviation of sqrt(64 * 64 / 4) = 32: six of them either way.
  EXPECT_NEAR(turned, 2'048, 192);
}

}  // namespace
}  // namespace evenkeel
