#include "evenkeel/sim/service.h"

#include <gtest/gtest.h>

#include "tests/sim/town.h"

namespace evenkeel::sim {
namespace {

using test::peers;
using test::Town;

const Version v1{Epoch(1), {}};

std::string error(const Result<>& result) { return result ? "" : result.error().message; }

TEST(Service, AcknowledgesWhatEnoughCopiesHave) {
  Town town;
  town.found(3);
  const auto answer = town.write("n1");
  town.loop.run_for(20ms);
  EXPECT_EQ(*answer, WriteAnswer::acknowledged);
  for (const char* node : {"n1", "n2", "n3"}) EXPECT_EQ(town.log(node), "1×1") << node;
  EXPECT_EQ(town.ledger.writes_acknowledged(), 1U);
  EXPECT_EQ(town.service("n2").report(town.shard).progress, 1U);
  EXPECT_EQ(town.service("n2").report(town.shard).last, Epoch(1));
}

TEST(Service, WaitsForCopiesAndSendsThemAgain) {
  Town town;
  town.found(3);
  town.network.cut("n2");
  town.network.cut("n3");
  const auto answer = town.write("n1");
  town.loop.run_for(10s);
  EXPECT_EQ(*answer, std::nullopt);
  town.network.heal("n3");
  town.loop.run_for(10s);
  EXPECT_EQ(*answer, WriteAnswer::acknowledged);
  EXPECT_EQ(town.log("n2"), "");
  town.network.heal("n2");
  town.loop.run_for(10s);
  EXPECT_EQ(town.log("n2"), "1×1");
  town.loop.run_for(10s);
  EXPECT_TRUE(town.loop.idle()) << "nothing is sent when nobody lacks anything";
}

TEST(Service, CountsOnlyPeersThatItWasToldToCount) {
  Town town;
  town.found(2);
  town.start("n3");
  ASSERT_TRUE(town.tell("n3", {.from = "offline", .to = "follower", .version = v1, .copy_from = "n1"}));
  ASSERT_TRUE(town.tell("n1", {.from = "leader", .to = "leader", .version = v1, .peers = peers({"n3"}, "offline")}));
  const auto answer = town.write("n1");
  town.loop.run_for(10s);
  EXPECT_EQ(town.log("n3"), "1×1");
  EXPECT_EQ(*answer, std::nullopt);
  ASSERT_TRUE(town.tell("n1", {.from = "leader", .to = "leader", .version = {Epoch(1), Change(2)}, .peers = peers({"n3"})}));
  town.loop.run_for(20ms);
  EXPECT_EQ(*answer, WriteAnswer::acknowledged);
  EXPECT_EQ(town.ledger.grants(), 1U) << "new peers are no new leadership";
}

TEST(Service, TakesNothingThatItMayNot) {
  Town town;
  town.found(2);
  const auto by_follower = town.write("n2");
  const auto by_nobody = town.write("n9");
  town.hosts.at("n1").may_lead.clear();
  const auto by_former = town.write("n1");
  town.loop.run_for(1s);
  for (const auto& answer : {by_follower, by_nobody, by_former}) EXPECT_EQ(*answer, WriteAnswer::refused);
  EXPECT_EQ(town.log("n1"), "");
  EXPECT_EQ(town.ledger.writes_accepted(), 0U);
}

TEST(Service, AsksAgainBeforeItAcknowledges) {
  Town town;
  town.found(2);
  town.network.cut("n2");
  const auto answer = town.write("n1");
  town.loop.run_for(100ms);
  town.hosts.at("n1").may_lead.clear();
  town.network.heal("n2");
  town.loop.run_for(10s);
  EXPECT_EQ(town.log("n2"), "1×1");
  EXPECT_EQ(*answer, std::nullopt);
  town.step_down("n1", 1);
  town.loop.run_for(10ms);
  EXPECT_EQ(*answer, WriteAnswer::unknown);
  EXPECT_EQ(town.ledger.writes_acknowledged(), 0U);
}

TEST(Service, OneCopyIsEnoughWhereNobodySaysOtherwise) {
  Town town;
  town.facts.acks = 0;
  town.found(1);
  const auto answer = town.write("n1");
  town.loop.run_for(10ms);
  EXPECT_EQ(*answer, WriteAnswer::acknowledged);
}

TEST(Service, ASealIsKeptOnDisk) {
  Town town;
  town.found(3);
  town.write("n1");
  town.loop.run_for(20ms);
  EXPECT_EQ(town.seal("n2", 2), (Sealed{Epoch(2), Epoch(1), 1}));
  town.crash("n2");
  town.start("n2");
  ASSERT_TRUE(town.tell("n2", {.from = "offline", .to = "follower", .version = v1, .copy_from = "n1"}));
  // The leader hears that there is a newer one, and is none any more, whatever it is told.
  const auto answer = town.write("n1");
  town.loop.run_for(20ms);
  EXPECT_EQ(town.log("n2"), "1×1");
  EXPECT_FALSE(town.service("n1").acts(town.shard, Epoch(1)));
  const auto after = town.write("n1");
  town.loop.run_for(20ms);
  EXPECT_EQ(*after, WriteAnswer::refused);
  EXPECT_EQ(error(town.tell("n1", {.from = "leader", .to = "leader", .version = {Epoch(1), Change(3)}, .peers = peers({"n3"})})),
            "t/0 refuses epochs below 2");
  EXPECT_EQ(town.seal("n2", 2), (Sealed{Epoch(2), Epoch(1), 1})) << "asked again it says the same";
}

TEST(Service, ALeaderThatIsSealedLeadsNoMore) {
  Town town;
  town.found(2);
  EXPECT_TRUE(town.service("n1").acts(town.shard, Epoch(1)));
  EXPECT_EQ(town.seal("n1", 2), (Sealed{Epoch(2), Epoch(1), 0}));
  EXPECT_FALSE(town.service("n1").acts(town.shard, Epoch(1)));
  EXPECT_EQ(town.ledger.leader(town.shard), std::nullopt);
  town.lead("n1", 2, {"n2"}, "leader");
  EXPECT_TRUE(town.service("n1").acts(town.shard, Epoch(2)));
}

TEST(Service, FollowersTakeTheNewLeadersLogWhole) {
  Town town;
  town.found(3);
  town.write("n1");
  town.loop.run_for(20ms);
  town.network.cut("n1", "n2");
  town.network.cut("n1", "n3");
  const auto lost = town.write("n1");
  town.write("n1");
  town.loop.run_for(20ms);
  EXPECT_EQ(town.log("n1"), "1×3");
  town.hosts.at("n1").may_lead.clear();
  town.seal("n2", 2);
  town.seal("n3", 2);
  town.lead("n2", 2, {"n1", "n3"});
  const auto kept = town.write("n2");
  town.loop.run_for(20ms);
  EXPECT_EQ(*kept, WriteAnswer::acknowledged);
  town.step_down("n1", 1);
  town.network.heal("n1", "n2");
  ASSERT_TRUE(town.tell("n1", {.from = "follower", .to = "follower", .version = {Epoch(2), {}}, .copy_from = "n2"}));
  for (const char* node : {"n1", "n2", "n3"}) EXPECT_EQ(town.log(node), "1×1 2×1") << node;
  EXPECT_EQ(*lost, WriteAnswer::unknown);
  EXPECT_EQ(town.ledger.violation(), std::nullopt);
}

TEST(Service, WhoStepsDownLetsItsPeersHaveAll) {
  Town town;
  town.found(2);
  town.network.cut("n2");
  town.write("n1");
  town.loop.run_for(9s);
  const Instant before = town.loop.now();
  const auto ending = town.begin("n1", {.from = "leader", .to = "follower", .version = {Epoch(1), Change(1)}});
  town.loop.run_for(200ms);
  EXPECT_FALSE(ending->result);
  town.network.heal("n2");
  town.loop.run_for(1s);
  EXPECT_TRUE(ending->result && *ending->result);
  EXPECT_LT(ending->at - before, 500ms);
  EXPECT_EQ(town.log("n2"), "1×1");
}

TEST(Service, WhoStepsDownDoesNotWaitForever) {
  Town town;
  town.found(2);
  town.network.cut("n2");
  town.write("n1");
  town.loop.run_for(1s);
  const Instant before = town.loop.now();
  ASSERT_TRUE(town.tell("n1", {.from = "leader", .to = "follower", .version = {Epoch(1), Change(1)}}));
  EXPECT_LT(town.loop.now() - before, 2s);
}

TEST(Service, CopiesFromTheLeader) {
  Town town;
  town.found(2);
  for (int i = 0; i < 5; ++i) town.write("n1");
  town.loop.run_for(20ms);
  town.start("n3");
  const Instant before = town.loop.now();
  const auto ending = town.begin("n3", {.from = "offline", .to = "follower", .version = v1, .copy_from = "n1"});
  town.loop.run_for(900ms);
  EXPECT_TRUE(town.hosts.at("n3").disk.replicas.empty()) << "half a copy is none";
  town.loop.run_for(10s);
  ASSERT_TRUE(ending->result && *ending->result);
  EXPECT_GE(ending->at - before, 1s);
  EXPECT_LE(ending->at - before, 3100ms);
  EXPECT_EQ(town.log("n3"), "1×5");
  EXPECT_EQ(town.service("n3").report(town.shard).last, Epoch(1));
}

TEST(Service, SaysWhatItCannotCopy) {
  Town town;
  town.found(2);
  town.start("n3");
  town.network.cut("n3", "n1");
  EXPECT_EQ(error(town.tell("n3", {.from = "offline", .to = "follower", .version = v1, .copy_from = "n1"})),
            "cannot copy t/0 from n1: it does not answer");
  EXPECT_EQ(error(town.tell("n3", {.from = "offline", .to = "follower", .version = v1, .copy_from = "n9"})),
            "cannot copy t/0 from n9: it does not answer");
  EXPECT_EQ(error(town.tell("n3", {.from = "offline", .to = "follower", .version = {Epoch(2), {}}, .copy_from = "n2"})),
            "cannot copy t/0 from n2: it does not follow the leader yet");
  EXPECT_TRUE(town.hosts.at("n3").disk.replicas.empty());
  // It has seen epoch 2: a source that leads at 1 is too old for good.
  town.network.heal("n3", "n1");
  town.hosts.at("n1").may_lead.clear();
  town.lead("n1", 2, {"n2"}, "leader");
  EXPECT_TRUE(town.tell("n3", {.from = "offline", .to = "follower", .version = {Epoch(2), {}}, .copy_from = "n1"}));
}

TEST(Service, OpensWhatItHasWhereItsLeaderIsGone) {
  Town town;
  town.found(2);
  town.write("n1");
  town.loop.run_for(20ms);
  town.crash("n1");
  town.crash("n2");
  town.start("n2");
  ASSERT_EQ(town.service("n2").inventory(), (std::vector<node::Held>{{town.shard, v1, Epoch(1), 1, Epoch(1)}}));
  EXPECT_TRUE(town.tell("n2", {.from = "offline", .to = "follower", .version = {Epoch(2), {}}, .copy_from = "n1"}));
  EXPECT_EQ(town.log("n2"), "1×1");
}

TEST(Service, DropsWhatItIsToldToDrop) {
  Town town;
  town.found(2);
  ASSERT_TRUE(town.tell("n2", {.from = "follower", .to = "offline", .version = v1}));
  EXPECT_EQ(town.service("n2").inventory().size(), 1U);
  EXPECT_EQ(town.service("n2").state(town.shard), StateId("offline"));
  ASSERT_TRUE(town.tell("n2", {.from = "offline", .to = "dropped", .version = v1}));
  EXPECT_TRUE(town.service("n2").inventory().empty());
  EXPECT_EQ(town.service("n2").report(town.shard), node::Status{});
}

TEST(Service, KnobsSlowFailAndHang) {
  Town town;
  town.start("n1");
  Knobs& knobs = town.hosts.at("n1").knobs;
  const test::Told open{.from = "offline", .to = "follower", .reason = Reason::first};
  knobs.slow = 100;
  const auto slow = town.begin("n1", open);
  town.loop.run_for(5s - 1ns);
  EXPECT_FALSE(slow->result);
  town.loop.run_for(10s);
  ASSERT_TRUE(slow->result && *slow->result);

  knobs = {.fail_percent = 100};
  EXPECT_EQ(error(town.tell("n1", {.from = "follower", .to = "offline"})), "follower to offline of t/0 fails");
  knobs = {.failing = {town.shard}};
  EXPECT_EQ(error(town.tell("n1", {.from = "follower", .to = "offline"})), "follower to offline of t/0 fails");
  knobs = {.failing = {{WorkloadId("t"), ShardIndex(1)}}};
  EXPECT_TRUE(town.tell("n1", {.from = "follower", .to = "offline"}));

  knobs = {.hanging = {town.shard}};
  const auto hangs = town.begin("n1", open);
  town.loop.run_for(1h);
  EXPECT_FALSE(hangs->result);
  knobs = {};
  town.loop.run_for(2s);
  EXPECT_TRUE(hangs->result && *hangs->result);
}

TEST(Service, StopsWhenItIsAskedTo) {
  Town town;
  town.start("n1");
  town.hosts.at("n1").knobs.hanging = {town.shard};
  std::stop_source source;
  const auto ending = town.begin("n1", {.from = "offline", .to = "follower", .copy_from = "n2"}, source.get_token());
  town.loop.run_for(1s);
  source.request_stop();
  EXPECT_FALSE(ending->result) << "never inside the call";
  town.loop.run_for(1ms);
  ASSERT_TRUE(ending->result && !*ending->result);
  EXPECT_EQ(ending->result->error().code, Code::cancelled);
  town.hosts.at("n1").knobs = {};
  EXPECT_TRUE(town.tell("n1", {.from = "offline", .to = "follower", .reason = Reason::first}));
}

TEST(Service, NothingIsHeardOfAProcessThatCrashed) {
  Town town;
  town.found(2);
  const auto ending = town.begin("n2", {.from = "follower", .to = "offline", .version = v1});
  const auto answer = town.write("n1");
  town.crash("n2");
  town.loop.run_for(10s);
  EXPECT_FALSE(ending->result);
  EXPECT_EQ(*answer, std::nullopt);
  town.crash("n1");
  EXPECT_EQ(town.ledger.leader(town.shard), std::nullopt);
  town.loop.run_for(10s);
  EXPECT_EQ(*answer, std::nullopt);
}

TEST(Service, StandbysKeepNothing) {
  Town town;
  town.facts = {.model = find_built_in("leader-standby"), .acks = 1};
  town.start("n1");
  ASSERT_TRUE(town.tell("n1", {.from = "offline", .to = "standby", .reason = Reason::first}));
  EXPECT_TRUE(town.service("n1").inventory().empty());
  town.lead("n1", 1, {}, "standby");
  const auto answer = town.write("n1");
  town.loop.run_for(10ms);
  EXPECT_EQ(*answer, WriteAnswer::acknowledged);
  town.hosts.at("n1").may_lead.clear();
  ASSERT_TRUE(town.tell("n1", {.from = "leader", .to = "standby", .version = v1}));
  EXPECT_TRUE(town.service("n1").inventory().empty());
}

TEST(Service, CopiesWhereNobodyLeads) {
  Town town;
  town.facts = {.model = find_built_in("bootstrap"), .acks = 0};
  town.start("n1");
  town.start("n2");
  ASSERT_TRUE(town.tell("n1", {.from = "offline", .to = "bootstrap", .reason = Reason::first}));
  EXPECT_FALSE(town.tell("n2", {.from = "offline", .to = "bootstrap", .copy_from = "n1"})) << "n1 does not serve yet";
  ASSERT_TRUE(town.tell("n1", {.from = "bootstrap", .to = "online", .reason = Reason::first}));
  EXPECT_TRUE(town.tell("n2", {.from = "offline", .to = "bootstrap", .copy_from = "n1"}));
  EXPECT_TRUE(town.tell("n2", {.from = "bootstrap", .to = "online", .copy_from = "n1"}));
  EXPECT_EQ(town.service("n2").inventory().size(), 1U);
}

TEST(Service, LeadsWhereOnlyOneReplicaMayBe) {
  EXPECT_EQ(lead_state(*find_built_in("leader-follower")), StateId("leader"));
  EXPECT_EQ(lead_state(*find_built_in("online-offline")), std::nullopt);
  const auto pairs = StateModel::make({.name = StateModelId("pairs"),
                                       .states = {{StateId("hot"), {StateCount::Kind::number, 2}},
                                                  {StateId("warm"), {StateCount::Kind::replicas, 0}},
                                                  {StateId("cold"), {}}},
                                       .initial = StateId("cold"),
                                       .transitions = {{StateId("cold"), StateId("warm")},
                                                       {StateId("warm"), StateId("hot")},
                                                       {StateId("hot"), StateId("warm")},
                                                       {StateId("warm"), StateId("cold")}}});
  ASSERT_TRUE(pairs);
  EXPECT_EQ(lead_state(*pairs), std::nullopt);
  Town town;
  town.facts = {.model = &*pairs};
  town.start("n1");
  ASSERT_TRUE(town.tell("n1", {.from = "cold", .to = "warm"}));
  ASSERT_TRUE(town.tell("n1", {.from = "warm", .to = "hot", .version = v1}));
  EXPECT_EQ(town.ledger.grants(), 0U);
}

TEST(Service, SealsWhatIsNotOpen) {
  Town town;
  town.found(2);
  town.write("n1");
  town.loop.run_for(20ms);
  town.crash("n2");
  town.start("n2");
  EXPECT_EQ(town.seal("n2", 2), (Sealed{Epoch(2), Epoch(1), 1}));
  EXPECT_EQ(town.service("n2").state(town.shard), StateId("offline"));
  EXPECT_EQ(town.hosts.at("n2").disk.replicas.at(town.shard).refuses, Epoch(2));
}

// Of two processes under one name, messages go to the one that has it.
TEST(Service, ATwinHearsNothingAsLongAsTheOtherHasTheName) {
  Town town;
  town.found(2);
  Disk disk{.id = DataId("twin")};
  Knobs knobs;
  Service twin(town.services, {.node = NodeId("n1"), .loop = &town.loop, .disk = &disk, .knobs = &knobs});
  twin.set_current([] { return false; });
  const auto answer = town.write("n1");
  town.loop.run_for(20ms);
  EXPECT_EQ(*answer, WriteAnswer::acknowledged);
  town.crash("n1");
  const auto by_twin = town.write("n1");
  town.loop.run_for(20ms);
  EXPECT_EQ(*by_twin, WriteAnswer::refused);
}

}  // namespace
}  // namespace evenkeel::sim
