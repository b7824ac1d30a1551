// Rule 7, where there is nothing to copy: shards that are new, and replicas that come back with their data.

#include <gtest/gtest.h>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

void join(Bench& bench, int nodes) {
  bench.configure();
  for (int n = 1; n <= nodes; ++n) bench.join(fmt::format("n{}", n), fmt::format("z{}", n));
}

// Replicas on that node that are told so.
std::size_t told(const Bench& bench, const std::string& name, std::string_view state, std::uint32_t shards) {
  std::size_t count = 0;
  for (std::uint32_t s = 0; s < shards; ++s) {
    for (const Holder& holder : bench.shard(s).record.holders)
      count += holder.node == NodeId(name) && holder.told.str() == state ? 1 : 0;
  }
  return count;
}

TEST(Openings, NewShardsComeInTurn) {
  Bench bench;
  bench.config.settings.control.openings.copies = 2;
  join(bench, 3);
  for (const char* name : {"n1", "n2", "n3"}) bench.node(name).obeys = false;
  bench.create(workload_of(6, 1));
  bench.run(1s);
  std::size_t begun = 0, waiting = 0;
  for (std::uint32_t s = 0; s < 6; ++s) {
    begun += bench.holders(s).empty() ? 0 : 1;
    waiting += bench.why(s).find("waits for its turn to open") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(begun, 2u);
  EXPECT_EQ(waiting, 4u);
  EXPECT_EQ(bench.machine->overview().openings, 2u);
  bench.take_over();  // another controller counts them too
  bench.run(1s);
  EXPECT_EQ(bench.machine->overview().openings, 2u);
  for (const char* name : {"n1", "n2", "n3"}) bench.node(name).obeys = true;
  bench.run(1s);
  for (std::uint32_t s = 0; s < 6; ++s) {
    EXPECT_TRUE(bench.shard(s).view.leader) << bench.why(s);
  }
  EXPECT_EQ(bench.machine->overview().openings, 0u);
}

// What is let open is written at once. If it were put off, to be written together with more, its turn would go round without end.
TEST(Openings, NewShardsComeInTurnWhereOthersAreWrittenTogether) {
  Bench bench;
  bench.options.gather = 50ms;
  bench.take_over();
  bench.config.settings.control.openings.copies = 2;
  join(bench, 3);
  bench.create(workload_of(20, 3));
  bench.run(1min);
  for (std::uint32_t s = 0; s < 20; ++s) {
    EXPECT_TRUE(bench.shard(s).view.leader) << bench.why(s);
    EXPECT_EQ(bench.shard(s).view.others.size(), 2u) << bench.why(s);
  }
  EXPECT_EQ(bench.machine->overview().openings, 0u);
}

TEST(Openings, OfAShardTheFirstOneOpensAndTheOthersWaitInTheirInitialState) {
  Bench bench;
  bench.config.settings.control.openings.copies = 1;
  join(bench, 3);
  for (const char* name : {"n1", "n2", "n3"}) bench.node(name).obeys = false;
  bench.create(workload_of(1, 3));
  bench.run(1s);
  const ShardRecord record = bench.shard().record;
  ASSERT_EQ(record.holders.size(), 3u);
  for (const Holder& holder : record.holders)
    EXPECT_EQ(holder.told.str(), holder.node == record.placement.front() ? "leader" : "offline");
  EXPECT_EQ(bench.machine->overview().openings, 1u);
  EXPECT_EQ(bench.machine->overview().copies, 0u);
}

// One replica opens first, and leads; the others in their turn.
TEST(Openings, AShardBeginsWithTheFirstOfItsPlacement) {
  Bench bench;
  bench.config.settings.control.openings.copies = 1;
  join(bench, 3);
  bench.create(workload_of(4, 3));
  bench.run(10s);
  for (std::uint32_t s = 0; s < 4; ++s) {
    EXPECT_EQ(bench.shard(s).record.version.epoch, Epoch(1)) << bench.why(s);
    EXPECT_EQ(bench.shard(s).view.leader, bench.shard(s).record.placement.front());
    EXPECT_EQ(bench.shard(s).view.others.size(), 2u) << bench.why(s);
  }
}

TEST(Openings, WhatComesBackOpensInTurnAndLeadersDoNotWaitForThat) {
  Bench bench;
  bench.config.settings.control.openings_per_node.copies = 1;
  join(bench, 3);
  Workload workload = workload_of(6, 3);
  workload.control.acks = 2;
  bench.create(workload);
  bench.run(10s);
  ASSERT_GT(told(bench, "n1", "leader", 6), 0u);
  bench.node("n1").obeys = false;
  bench.restart("n1");
  bench.run(1s);
  EXPECT_EQ(told(bench, "n1", "follower", 6), 1u);
  EXPECT_EQ(told(bench, "n1", "offline", 6), 5u);
  EXPECT_EQ(bench.machine->overview().openings, 1u);
  for (std::uint32_t s = 0; s < 6; ++s) {
    EXPECT_TRUE(bench.shard(s).view.leader) << bench.why(s);
  }
  bench.take_over();
  bench.run(1s);
  EXPECT_EQ(told(bench, "n1", "follower", 6), 1u);
  bench.node("n1").obeys = true;
  bench.run(10s);
  EXPECT_EQ(told(bench, "n1", "offline", 6), 0u);
  for (std::uint32_t s = 0; s < 6; ++s) EXPECT_EQ(bench.shard(s).view.others.size(), 2u) << bench.why(s);
}

// All are back at once, and none has opened: they are sealed and led all the same.
TEST(Openings, WhoIsHeldBackIsSealedAndMayLead) {
  Bench bench;
  bench.config.settings.control.max_offline = 10;
  join(bench, 3);
  Workload workload = workload_of(6, 3);
  workload.control.acks = 2;
  bench.create(workload);
  bench.run(10s);
  for (const char* name : {"n1", "n2", "n3"}) bench.end(name);
  bench.config.settings.control.openings.copies = 1;
  bench.configure();
  // A replica that never opens takes the only turn.
  const ShardId stuck{WorkloadId("other"), ShardIndex(0)};
  bench.join("n4", "z4");
  bench.node("n4").obeys = false;
  Workload other{.name = stuck.workload, .shards = 1, .replicas = 1};
  bench.create(other);
  bench.run(1s);
  ASSERT_EQ(bench.machine->overview().openings, 1u);
  for (const char* name : {"n1", "n2", "n3"}) bench.join(name);
  bench.run(5s);
  std::size_t held_back = 0;
  for (std::uint32_t s = 0; s < 6; ++s) {
    EXPECT_TRUE(bench.shard(s).view.leader) << bench.why(s);
    EXPECT_NE(bench.why(s).find("waits for its turn to open"), std::string::npos) << bench.why(s);
    for (const Holder& holder : bench.shard(s).record.holders) held_back += holder.told.str() == "offline" ? 1 : 0;
  }
  EXPECT_EQ(held_back, 12u);
  bench.node("n4").obeys = true;
  bench.run(1min);
  for (std::uint32_t s = 0; s < 6; ++s) EXPECT_EQ(bench.shard(s).view.others.size(), 2u) << bench.why(s);
}

TEST(Openings, WhatFailedTakesNoTurn) {
  Bench bench;
  bench.config.settings.control.openings.copies = 1;
  join(bench, 2);
  bench.node("n1").fails = {{WorkloadId("t"), ShardIndex(0)}, {WorkloadId("t"), ShardIndex(1)}};
  bench.create(workload_of(4, 2));
  bench.run(10s);
  for (std::uint32_t s = 0; s < 4; ++s) {
    EXPECT_TRUE(bench.shard(s).view.leader) << bench.why(s);
  }
}

TEST(Openings, ALimitThatIsLiftedHoldsNobodyBack) {
  Bench bench;
  bench.config.settings.control.openings.copies = 1;
  join(bench, 2);
  bench.create(workload_of(4, 2));
  bench.run(10s);
  bench.node("n1").obeys = false;
  bench.restart("n1");
  EXPECT_GT(told(bench, "n1", "offline", 4), 0u);
  bench.config.settings.control.openings = {};
  bench.configure();
  bench.run(1s);
  EXPECT_EQ(told(bench, "n1", "offline", 4), 0u);
  EXPECT_EQ(bench.machine->overview().openings, 0u);
}

// All that is written, with or without a limit that is never reached.
std::string written(const Throttle& openings, const char* model) {
  Bench bench;
  bench.config.settings.control.openings = openings;
  join(bench, 4);
  Workload workload = workload_of(8, 3);
  workload.state_model = StateModelId(model);
  bench.create(workload);
  bench.run(10s);
  bench.restart("n1");
  bench.run(10s);
  bench.end("n2");
  bench.end("n3");
  bench.run(10s);
  bench.join("n2");
  bench.join("n3");
  bench.run(2min);
  std::string text;
  for (const Commit& commit : bench.commits) {
    text += format(commit.records) + format(commit.view);
    for (const Target& target : commit.targets) text += format(target);
  }
  return text;
}

TEST(Openings, ALimitThatIsNotReachedChangesNothing) {
  for (const char* model : {"leader-follower", "leader-standby", "online-offline"})
    EXPECT_EQ(written({}, model), written({.copies = 1000}, model)) << model;
}

}  // namespace
}  // namespace evenkeel::control::test
