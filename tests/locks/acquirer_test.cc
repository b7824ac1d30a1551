// What the acquirer does in cases that a store rarely brings about.

#include "evenkeel/locks/detail/acquirer.h"

#include <gtest/gtest.h>

namespace evenkeel::locks::detail {
namespace {

Instant at(Duration since) { return Instant(since); }

// It has taken the lock, heard so when its ttl was over, and given it back.
Acquirer::Effects after_a_late_take(const std::string& queued) {
  const Record record{.owner = "me", .kind = Kind::expiring, .ttl = 10s, .beat = "/l.renewal", .identity = "me"};
  Acquirer me({.path = "/l", .record = record, .margin = 1s, .until = at(1min), .queued = queued});
  EXPECT_EQ(me.step(Acquirer::Tick{}, at(0s)).get, "/l");
  EXPECT_TRUE(me.step(Acquirer::Got{store::Read{std::nullopt, store::Revision(7)}}, at(0s)).write);
  EXPECT_TRUE(me.step(Acquirer::Wrote{store::Committed{true, store::Revision(8)}}, at(10s)).write);
  return me.step(Acquirer::Wrote{store::Committed{true, store::Revision(9)}}, at(11s));
}

TEST(Acquirer, TriesAgainAfterALateTake) {
  const auto effects = after_a_late_take("");
  EXPECT_EQ(effects.get, "/l");
  EXPECT_FALSE(effects.displaced);
}

TEST(Acquirer, QueuesAnewAfterALateTake) {
  const auto effects = after_a_late_take("/l.queue/me-1");
  EXPECT_TRUE(effects.displaced) << "its place went with the take";
  EXPECT_FALSE(effects.get || effects.write);
}

}  // namespace
}  // namespace evenkeel::locks::detail
