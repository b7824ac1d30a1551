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

constexpr Slot recovery = Slot::recovery, balance = Slot::balance, opening = Slot::opening;

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
  EXPECT_EQ(fixture.throttles.copies(), 4u);
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

TEST(Throttles, OpeningsHaveNoLimitUnlessOneIsSet) {
  Fixture fixture;
  EXPECT_FALSE(limits_openings(fixture.settings));
  for (std::uint32_t shard = 0; shard < 1000; ++shard) EXPECT_TRUE(fixture.begins(shard, {opening, 1, 1, "a"}));
  for (Throttle ControlSettings::*limit : {&ControlSettings::openings, &ControlSettings::openings_per_node,
                                           &ControlSettings::openings_per_zone, &ControlSettings::openings_per_workload}) {
    ControlSettings settings;
    (settings.*limit).copies = 1;
    EXPECT_TRUE(limits_openings(settings));
    Throttles throttles{Broken::nothing};
    EXPECT_TRUE(throttles.may_begin(settings, {0, 0}, {opening, 1, 1, "a"}, fixture.now, false, fixture.later));
    EXPECT_FALSE(throttles.may_begin(settings, {0, 1}, {opening, 1, 1, "a"}, fixture.now, false, fixture.later));
    const bool other = throttles.may_begin(settings, {0, 2}, {opening, 2, 2, "b"}, fixture.now, false, fixture.later);
    EXPECT_EQ(other, limit != &ControlSettings::openings);
  }
}

TEST(Throttles, OpeningsAndCopiesDoNotWaitForEachOther) {
  Fixture fixture;
  fixture.settings.recovery.copies = 1;
  fixture.settings.openings.copies = 1;
  EXPECT_TRUE(fixture.begins(0, {recovery, 1, 1, "a"}));
  EXPECT_FALSE(fixture.begins(1, {recovery, 1, 1, "a"}));
  EXPECT_TRUE(fixture.begins(2, {opening, 1, 1, "a"}, true));  // also where nothing is copied for balance
  EXPECT_FALSE(fixture.begins(3, {opening, 1, 1, "a"}));
  EXPECT_EQ(fixture.throttles.copies(), 1u);
  EXPECT_EQ(fixture.throttles.openings(), 1u);
  // It has opened, and something is copied for the same shard from now on.
  fixture.throttles.set({0, 2}, {{balance, 1, 1, "a"}});
  EXPECT_EQ(fixture.told(), (std::vector<Throttles::Where>{{0, 3}}));
}

TEST(Throttles, OfManyThatWaitToOpenEachIsToldOnce) {
  Fixture fixture;
  fixture.settings.openings.copies = 1;
  fixture.settings.recovery.copies = 1;
  EXPECT_TRUE(fixture.begins(0, {opening, 1, 1, "a"}));
  for (std::uint32_t shard = 1; shard <= 100; ++shard) EXPECT_FALSE(fixture.begins(shard, {opening, 1, 1, "a"}));
  EXPECT_TRUE(fixture.begins(200, {recovery, 1, 1, "a"}));
  for (std::uint32_t shard = 201; shard <= 210; ++shard) EXPECT_FALSE(fixture.begins(shard, {recovery, 1, 1, "a"}));
  fixture.throttles.set({0, 0}, {});
  fixture.throttles.set({0, 200}, {});
  EXPECT_EQ(fixture.told().size(), 64u);
  EXPECT_TRUE(fixture.throttles.looks_again());
  EXPECT_EQ(fixture.told().size(), 46u);
  EXPECT_FALSE(fixture.throttles.looks_again());
}

}  // namespace
}  // namespace evenkeel::control::detail
