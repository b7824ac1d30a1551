#include "evenkeel/sim/clients.h"

#include <gtest/gtest.h>

#include "tests/sim/town.h"

namespace evenkeel::sim {
namespace {

using test::Town;

struct ClientsTest : ::testing::Test {
  Town town;
  std::optional<NodeId> leader = NodeId("n1");
  Clients clients{
      town.loop,
      town.services,
      {.pick = [this](Rng&) { return std::optional(town.shard); }, .leader = [this](const ShardId&) { return leader; }},
      Rng(3)};
};

TEST_F(ClientsTest, WriteAtTheirRate) {
  town.found(3);
  clients.set_rate(20);
  town.loop.run_for(10s + 20ms);
  EXPECT_EQ(clients.counts(), (Clients::Counts{.sent = 200, .acknowledged = 200}));
  clients.set_rate(3000);
  town.loop.run_for(10s + 20ms);
  EXPECT_NEAR(static_cast<double>(clients.counts().sent), 30'200, 100);
  EXPECT_EQ(town.ledger.writes_accepted(), town.service("n1").log(town.shard).length());
  clients.set_rate(0);
  town.loop.run_for(1s);
  const auto before = clients.counts();
  EXPECT_EQ(before.sent, before.acknowledged);
  town.loop.run_for(1h);
  EXPECT_EQ(clients.counts(), before);
}

TEST_F(ClientsTest, AreRefusedWhereNobodyLeads) {
  town.start("n1");
  clients.set_rate(10);
  town.loop.run_for(1s);
  leader.reset();
  town.loop.run_for(1s);
  clients.set_rate(0);
  town.loop.run_for(1s);
  EXPECT_EQ(clients.counts(), (Clients::Counts{.sent = 20, .refused = 20}));
}

TEST_F(ClientsTest, SometimesKnowOnlyAnOldLeader) {
  town.found(3);
  clients.set_rate(50);
  town.loop.run_for(2s);
  town.step_down("n1", 1);
  town.lead("n2", 2, {"n1", "n3"});
  leader = NodeId("n2");
  const auto before = clients.counts();
  town.loop.run_for(2s);
  EXPECT_GT(clients.counts().refused, before.refused);
  EXPECT_GT(clients.counts().acknowledged, before.acknowledged + 50);
}

}  // namespace
}  // namespace evenkeel::sim
