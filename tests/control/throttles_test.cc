#include "evenkeel/control/detail/throttles.h"

#include <gtest/gtest.h>

namespace evenkeel::control::detail {
namespace {

struct Fixture {
  bool begins(std::uint32_t shard, const Copy& copy, bool no_balance = false) {
    return throttles.may_begin(settings, {0, shard}, copy, now, no_balance, later);
  }
  std::vector<Throttles::Where> told() { return throttles.take_waiting(settings, now); }
  ControlSettings settings;
  Throttles throttles{Broken::nothing};
  Instant now;
  Instant later = Instant::max();
};

constexpr Slot recovery = Slot::recovery, balance = Slot::balance;

TEST(Throttles, EachLimitCountsItsOwnCopies) {
  Fixture fixture;
  fixture.settings.recovery.copies = 4;
  fixture.settings.recovery_per_node.copies = 1;
  fixture.settings.recovery_per_zone.copies = 2;
  fixture.settings.recovery_per_workload.copies = 3;
  EXPECT_TRUE(fixture.begins(0, {recovery, 1, 1, "a"}));
  EXPECT_FALSE(fixture.begins(1, {recovery, 1, 1, "a"}));  // its node
  EXPECT_TRUE(fixture.begins(2, {recovery, 2, 1, "a"}));
  EXPECT_FALSE(fixture.begins(3, {recovery, 3, 1, "a"}));  // its zone
  EXPECT_TRUE(fixture.begins(4, {recovery, 3, 1, "b"}));
  EXPECT_FALSE(fixture.begins(5, {recovery, 4, 1, "b"}));  // its workload
  EXPECT_TRUE(fixture.begins(6, {recovery, 4, 2, "b"}));
  EXPECT_FALSE(fixture.begins(7, {recovery, 5, 3, "c"}));  // all
  EXPECT_EQ(fixture.throttles.under_way(), 4u);
}

TEST(Throttles, RecoveryAndBalanceAreCountedApartAndRecoveryComesFirst) {
  Fixture fixture;
  fixture.settings.recovery.copies = 1;
  fixture.settings.balance.copies = 1;
  EXPECT_TRUE(fixture.begins(0, {recovery, 1, 1, "a"}));
  EXPECT_TRUE(fixture.begins(1, {balance, 1, 1, "a"}));
  EXPECT_FALSE(fixture.begins(2, {recovery, 2, 1, "a"}));
  fixture.throttles.set({0, 1}, {});  // the one for balance is done, and recovery waits: nothing more for balance
  EXPECT_FALSE(fixture.begins(3, {balance, 3, 1, "a"}));
  EXPECT_EQ(fixture.told(), std::vector<Throttles::Where>{});
  fixture.throttles.set({0, 0}, {});
  EXPECT_EQ(fixture.told(), (std::vector<Throttles::Where>{{0, 2}}));
  fixture.throttles.forget({0, 2});
  EXPECT_TRUE(fixture.begins(2, {recovery, 2, 1, "a"}));
  EXPECT_TRUE(fixture.begins(3, {balance, 3, 1, "a"}));
}

TEST(Throttles, NobodyWaitsBehindThoseOfASlowNode) {
  Fixture fixture;
  fixture.settings.recovery_per_node.copies = 1;
  EXPECT_TRUE(fixture.begins(0, {recovery, 1, 1, "a"}));
  for (std::uint32_t shard = 1; shard < 500; ++shard) EXPECT_FALSE(fixture.begins(shard, {recovery, 1, 1, "a"}));
  EXPECT_TRUE(fixture.begins(500, {recovery, 2, 1, "a"}));
  EXPECT_FALSE(fixture.begins(501, {recovery, 2, 1, "a"}));
  fixture.throttles.set({0, 500}, {});
  EXPECT_EQ(fixture.told(), (std::vector<Throttles::Where>{{0, 501}}));
}

TEST(Throttles, ManyAreToldInPartsAndEachOnce) {
  Fixture fixture;
  fixture.settings.recovery.copies = 1;
  EXPECT_TRUE(fixture.begins(0, {recovery, 1, 1, "a"}));
  for (std::uint32_t shard = 1; shard <= 100; ++shard) EXPECT_FALSE(fixture.begins(shard, {recovery, 1, 1, "a"}));
  fixture.throttles.set({0, 0}, {});
  EXPECT_EQ(fixture.told().size(), 64u);
  EXPECT_TRUE(fixture.throttles.looks_again());
  EXPECT_EQ(fixture.told().size(), 36u);
  EXPECT_FALSE(fixture.throttles.looks_again());
}

TEST(Throttles, WhereTooMuchFailsNothingIsCopiedForBalance) {
  Fixture fixture;
  EXPECT_FALSE(fixture.begins(0, {balance, 1, 1, "a"}, true));
  EXPECT_TRUE(fixture.begins(1, {recovery, 1, 1, "a"}, true));
}

TEST(Throttles, BytesASecondLetTheNextOneBeginWhenTheLastOneHasPassed) {
  Fixture fixture;
  fixture.settings.recovery.bytes_per_second = Quantity(10);
  EXPECT_TRUE(fixture.begins(0, {recovery, 1, 1, "a", Quantity(50)}));
  EXPECT_FALSE(fixture.begins(1, {recovery, 2, 1, "a", Quantity(50)}));
  EXPECT_EQ(fixture.later, fixture.now + 5s);
  fixture.now += 5s;
  EXPECT_TRUE(fixture.begins(1, {recovery, 2, 1, "a", Quantity(50)}));
}

TEST(Throttles, AskingTakesNothing) {
  Fixture fixture;
  fixture.settings.recovery.copies = 1;
  const Copy copy{recovery, 1, 1, "a"};
  EXPECT_TRUE(fixture.throttles.has_room(fixture.settings, copy, fixture.now, false));
  EXPECT_TRUE(fixture.throttles.has_room(fixture.settings, copy, fixture.now, false));
  EXPECT_TRUE(fixture.begins(0, copy));
  EXPECT_FALSE(fixture.throttles.has_room(fixture.settings, copy, fixture.now, false));
  EXPECT_FALSE(fixture.throttles.recovery_waits());
}

}  // namespace
}  // namespace evenkeel::control::detail
