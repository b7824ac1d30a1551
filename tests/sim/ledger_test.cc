#include "evenkeel/sim/ledger.h"

#include <gtest/gtest.h>

namespace evenkeel::sim {
namespace {

const ShardId ledger_shard{WorkloadId("t"), ShardIndex(3)};
const NodeId n1("n1"), n2("n2"), n3("n3");

struct Process : Acting {
  bool can = true;
  bool acts(const ShardId&, Epoch) const override { return can; }
};

WriteLog log_of(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> runs) {
  WriteLog log;
  for (const auto& [epoch, count] : runs) log.append(Epoch(epoch), count);
  return log;
}

struct LedgerTest : ::testing::Test {
  Ledger ledger;
  Process one, two;
  Ledger::Promise promise{.acks = 2, .fencing = Fencing::session};

  // n1 leads at 4, and 17 writes are acknowledged: two of before, and 15 of its own.
  void lead_and_write() {
    ledger.began(ledger_shard, Epoch(4), n1, one, log_of({{1, 2}}), promise);
    for (std::uint64_t position = 3; position <= 17; ++position) {
      ledger.accepted(ledger_shard, Epoch(4), n1, one);
      ledger.acknowledged(ledger_shard, log_of({{1, 2}, {4, position - 2}}), position, Epoch(4), n1);
    }
  }
  void hand_over() {
    one.can = false;
    ledger.stopped(ledger_shard, Epoch(4), one);
  }
  std::string violation() const { return ledger.violation().value_or(""); }
};

TEST_F(LedgerTest, FindsNothingWrongWithAnOrderlyLife) {
  lead_and_write();
  EXPECT_EQ(ledger.leader(ledger_shard), n1);
  hand_over();
  EXPECT_EQ(ledger.leader(ledger_shard), std::nullopt);
  // It may have more than was acknowledged.
  const WriteLog log = log_of({{1, 2}, {4, 16}});
  ledger.began(ledger_shard, Epoch(5), n2, two, log, promise);
  ledger.accepted(ledger_shard, Epoch(5), n2, two);
  WriteLog longer = log;
  longer.append(Epoch(5));
  ledger.acknowledged(ledger_shard, longer, 19, Epoch(5), n2);
  two.can = false;
  ledger.stopped(ledger_shard, Epoch(5), two);
  one.can = true;
  ledger.began(ledger_shard, Epoch(9), n1, one, longer, promise);
  EXPECT_EQ(violation(), "");
  EXPECT_EQ(ledger.acknowledged_log(ledger_shard), longer);
  EXPECT_EQ(ledger.grants(), 3U);
  EXPECT_EQ(ledger.writes_accepted(), 16U);
  EXPECT_EQ(ledger.writes_acknowledged(), 16U);
}

TEST_F(LedgerTest, FindsTwoLeadersOfOneEpoch) {
  lead_and_write();
  hand_over();
  ledger.began(ledger_shard, Epoch(4), n2, two, log_of({{1, 2}, {4, 15}}), promise);
  EXPECT_EQ(violation(), "one leader per epoch: n1 and n2 lead t/3 at epoch 4");
}

TEST_F(LedgerTest, ALeaderMayBeginAgainAtItsEpoch) {
  lead_and_write();
  ledger.stopped(ledger_shard, Epoch(4), one);
  ledger.began(ledger_shard, Epoch(4), n1, one, log_of({{1, 2}, {4, 15}}), promise);
  EXPECT_EQ(violation(), "");
}

TEST_F(LedgerTest, FindsALostWrite) {
  lead_and_write();
  hand_over();
  ledger.began(ledger_shard, Epoch(5), n2, two, log_of({{1, 2}, {4, 14}}), promise);
  EXPECT_EQ(violation(), "acknowledged write lost: t/3 epoch 4 position 17: n2 leads at 5 with 16");
}

TEST_F(LedgerTest, FindsAWriteThatAnotherOneTookThePlaceOf) {
  lead_and_write();
  hand_over();
  ledger.began(ledger_shard, Epoch(6), n2, two, log_of({{1, 2}, {4, 10}, {5, 20}}), promise);
  EXPECT_EQ(violation(), "acknowledged write lost: t/3 epoch 4 position 13: n2 leads at 6 with 12 and others");
}

TEST_F(LedgerTest, FewerAcksPromiseNothing) {
  promise.acks = 1;
  lead_and_write();
  hand_over();
  ledger.began(ledger_shard, Epoch(5), n2, two, {}, promise);
  EXPECT_EQ(violation(), "");
}

TEST_F(LedgerTest, ForgivesALossOnce) {
  lead_and_write();
  hand_over();
  ledger.forgive(ledger_shard);
  const WriteLog left = log_of({{1, 2}, {4, 5}});
  ledger.began(ledger_shard, Epoch(5), n2, two, left, promise);
  EXPECT_EQ(violation(), "");
  EXPECT_EQ(ledger.acknowledged_log(ledger_shard), left);
  two.can = false;
  ledger.began(ledger_shard, Epoch(6), n3, one, log_of({{1, 2}}), promise);
  EXPECT_EQ(violation(), "acknowledged write lost: t/3 epoch 4 position 3: n3 leads at 6 with 2");
}

TEST_F(LedgerTest, ForgivesAll) {
  lead_and_write();
  hand_over();
  ledger.forgive_all();
  ledger.began(ledger_shard, Epoch(5), n2, two, {}, promise);
  EXPECT_EQ(violation(), "");
}

TEST_F(LedgerTest, AWorkloadThatIsMadeAnewBeginsWithNothing) {
  lead_and_write();
  hand_over();
  ledger.forget(WorkloadId("s"));
  ledger.forget(WorkloadId("t"));
  ledger.began(ledger_shard, Epoch(5), n2, two, {}, promise);
  EXPECT_EQ(violation(), "");
  // Its epochs go on.
  two.can = false;
  ledger.began(ledger_shard, Epoch(4), n3, one, {}, promise);
  EXPECT_EQ(violation(), "one leader per epoch: n1 and n3 lead t/3 at epoch 4");
}

TEST_F(LedgerTest, FindsOneThatLeadsOnWhenAnotherBegins) {
  lead_and_write();
  ledger.began(ledger_shard, Epoch(5), n2, two, log_of({{1, 2}, {4, 15}}), promise);
  EXPECT_EQ(violation(), "two leaders: n1 at epoch 4 and n2 at epoch 5 act as leaders of t/3");
}

TEST_F(LedgerTest, OneThatMayNotLeadAnyMoreIsNoLeader) {
  lead_and_write();
  one.can = false;  // it knows; it has not stepped down yet
  ledger.began(ledger_shard, Epoch(5), n2, two, log_of({{1, 2}, {4, 15}}), promise);
  ledger.accepted(ledger_shard, Epoch(5), n2, two);
  EXPECT_EQ(violation(), "");
}

TEST_F(LedgerTest, FindsOneThatWakesUpAndWrites) {
  lead_and_write();
  one.can = false;
  ledger.began(ledger_shard, Epoch(5), n2, two, log_of({{1, 2}, {4, 15}}), promise);
  two.can = false;
  ledger.stopped(ledger_shard, Epoch(5), two);
  one.can = true;
  ledger.accepted(ledger_shard, Epoch(4), n1, one);
  EXPECT_EQ(violation(), "two leaders: n1 acts as leader of t/3 at epoch 4 after n2 began at 5");
}

TEST_F(LedgerTest, FindsAnAcknowledgementThatComesTooLate) {
  lead_and_write();
  hand_over();
  ledger.began(ledger_shard, Epoch(5), n2, two, log_of({{1, 2}, {4, 16}}), promise);
  ledger.acknowledged(ledger_shard, log_of({{1, 2}, {4, 16}}), 18, Epoch(4), n1);
  EXPECT_EQ(violation(), "acknowledged too late: t/3 position 18 by n1 at epoch 4 after n2 began to lead at 5");
}

TEST_F(LedgerTest, EpochsKeepTwoApart) {
  promise.fencing = Fencing::epoch;
  lead_and_write();
  // n1 does not know yet, takes another one, and hears that enough had the one before, which n2 has too.
  ledger.began(ledger_shard, Epoch(5), n2, two, log_of({{1, 2}, {4, 16}}), promise);
  ledger.accepted(ledger_shard, Epoch(4), n1, one);
  ledger.acknowledged(ledger_shard, log_of({{1, 2}, {4, 17}}), 18, Epoch(4), n1);
  ledger.accepted(ledger_shard, Epoch(5), n2, two);
  ledger.acknowledged(ledger_shard, log_of({{1, 2}, {4, 16}, {5, 1}}), 19, Epoch(5), n2);
  EXPECT_EQ(violation(), "");
  EXPECT_EQ(ledger.acknowledged_log(ledger_shard), log_of({{1, 2}, {4, 16}, {5, 1}}));
  ledger.acknowledged(ledger_shard, log_of({{1, 2}, {4, 17}}), 19, Epoch(4), n1);
  EXPECT_EQ(violation(), "acknowledged write lost: t/3 epoch 4 position 19: n1 acknowledges it, and n2 leads at 5 with 18");
}

// t/3 of four is split: t/7 has to begin with all that it had acknowledged.
TEST_F(LedgerTest, NoticesWhatWasLostInASplit) {
  const ShardId half{WorkloadId("t"), ShardIndex(7)};
  lead_and_write();
  ledger.is_one_of(ledger_shard, 8);
  ledger.began(half, Epoch(5), n2, two, log_of({{1, 2}, {4, 15}}), promise);
  ledger.is_one_of(half, 8);
  ledger.keyed(half, half.shard);
  EXPECT_EQ(violation(), "");
  ledger.keyed(ledger_shard, half.shard);
  EXPECT_EQ(violation(), "one shard for a key: t/3 takes a write of t/7, which has begun");
}

TEST_F(LedgerTest, NoticesWhatWasLostInASplitWhicheverHalfBeginsFirst) {
  const ShardId half{WorkloadId("t"), ShardIndex(7)};
  lead_and_write();
  ledger.began(half, Epoch(5), n2, two, log_of({{1, 2}, {4, 14}}), promise);
  EXPECT_EQ(violation(), "");
  ledger.is_one_of(ledger_shard, 8);
  EXPECT_EQ(violation(), "acknowledged write lost: t/3 epoch 4 position 17: t/7, which was split off of it, began with 16");
}

TEST_F(LedgerTest, SaysTheFirst) {
  lead_and_write();
  hand_over();
  ledger.began(ledger_shard, Epoch(5), n2, two, {}, promise);
  const std::string first = violation();
  ledger.began(ledger_shard, Epoch(5), n3, one, {}, promise);
  EXPECT_EQ(violation(), first);
}

}  // namespace
}  // namespace evenkeel::sim
