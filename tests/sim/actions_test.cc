// What stories can do, each in a short life of its own.

#include <gtest/gtest.h>

#include <string>

#include "evenkeel/sim/run.h"

namespace evenkeel::sim {
namespace {

constexpr std::string_view five = R"(
cluster: c
settings: {rebalance_delay: 1m}
nodes: [{name: "n[1-5]", zone: "z[1-5]"}]
workloads: [{name: t, shards: 8, replicas: 3, min_active: 2, acks: 2}]
---
)";

void play(std::string_view cluster, std::string_view lines, std::uint64_t seed = 1) {
  const auto story = parse_story(fmt::format("{}{}", cluster, lines), "a.story");
  ASSERT_TRUE(story) << story.error().message;
  const Outcome outcome = run(*story, {.seed = seed});
  std::string last;
  for (std::size_t i = outcome.timeline.size() > 40 ? outcome.timeline.size() - 40 : 0; i < outcome.timeline.size(); ++i)
    last += fmt::format("{} {}: {}\n", format(outcome.timeline[i].at), outcome.timeline[i].who, outcome.timeline[i].what);
  EXPECT_EQ(outcome.failure.value_or(""), "") << last;
}

TEST(Actions, ANodeIsDrainedAndTakenBack) {
  play(five, R"(
at 10s expect settled
       drain n1
       expect n1 holds nothing within 1m
at 2m  expect settled
       undo n1
       expect settled within 2m
at 5m  end
)");
}

TEST(Actions, ANodeLeavesProperly) {
  play(five, R"(
at 10s expect settled
       leave n2
       expect n2 has stopped within 30s
       expect 2 serve t/0 for 1m
at 1m  start n2
       expect settled within 1m
)");
}

TEST(Actions, ADiskIsNew) {
  play(five, R"(
at 10s expect settled
       kill n3
at 20s start n3 on a new disk
       expect settled within 2m
)");
}

TEST(Actions, ATwinWaits) {
  play(five, R"(
at 10s expect settled
       start a twin of n1
       expect every shard has a leader for 30s
at 1m  kill n1
       expect every shard has a leader within 30s
)");
}

TEST(Actions, TransitionsFailHangAndAreSlow) {
  play(five, R"(
at 10s expect settled
       fail t/0 on n4
       fail t/0 on n5
       slow n2 10 times
       hang t/1 on n4
       kill n1
at 3m  mend n4
       mend n5
       mend n2
       reset t/0 on n4
       reset t/0 on n5
       expect settled within 3m
)");
}

TEST(Actions, TheStoreStops) {
  play(five, R"(
at 10s expect settled
       stop the store for 1m
at 70s expect settled within 1m
)");
}

TEST(Actions, TheStoreIsSlowAndLossy) {
  play(five, R"(
at 10s expect settled
       delay the store by up to 200ms
       lose 20000 of a million answers
       kill n1
       expect every shard has a leader within 1m
at 2m  delay the store by up to 2ms
       lose 0 of a million answers
       start n1
       expect settled within 3m
)");
}

TEST(Actions, TheStoreLosesEverything) {
  play(five, R"(
at 10s expect settled
       the store loses everything
at 40s create {name: t2, shards: 4, replicas: 3, acks: 2}
       expect every shard has a leader within 30s
)");
}

TEST(Actions, WorkloadsComeChangeAndGo) {
  play(five, R"(
at 10s create {name: u, shards: 16, replicas: 2, state_model: online-offline}
       expect settled within 1m
at 2m  change u {replicas: 3}
       expect settled within 1m
at 4m  delete u
       expect settled within 1m
at 6m  create {name: u, shards: 4, replicas: 2}
       expect settled within 1m
)");
}

TEST(Actions, ANodeIsAdded) {
  play(five, R"(
at 10s add {name: n6, zone: z6}
       expect n6 is up within 5s
       expect not n6 holds nothing within 1m
       expect settled within 2m
)");
}

TEST(Actions, NothingMovesWhileItIsFrozen) {
  play(five, R"(
at 10s expect settled
       freeze
at 11s kill n1
       expect at most 0 moves for 3m
at 5m  thaw
       expect settled within 3m
)");
}

TEST(Actions, NothingMovesInMaintenance) {
  play(five, R"(
at 10s expect settled
       kill n1
       kill n2
       expect the cluster is in maintenance within 15s
       expect at most 0 moves for 3m
at 4m  start n1
       start n2
       expect not the cluster is in maintenance within 30s
       expect settled within 2m
)");
}

TEST(Actions, AnOperatorSaysWhoLeads) {
  play(five, R"(
at 10s expect settled
       cordon n1
       no leaders on n2
       expect n2 leads 0 shards within 1m
at 2m  undo n2
       undo n1
       expect settled within 1m
)");
}

TEST(Actions, ANodeIsForgotten) {
  play(five, R"(
at 10s expect settled
       settings {rebalance_delay: 1h}
       kill n1
at 30s expect at most 0 moves
       forget n1
       expect n1 holds nothing within 1m
       expect settled within 1m
)");
}

TEST(Actions, AControllerIsCutOff) {
  play(five, R"(
at 10s expect settled
       cut controller 1 for 30s
       cut n1 from the controllers for 30s
       kill n2
       expect every shard has a leader within 20s
at 50s start n2
       expect settled within 2m
)");
}

TEST(Actions, ClocksRunAway) {
  play(five, R"(
at 10s expect settled
       set the clock of n1 ahead by 5h
       let the clock of n2 run 5000 ppm fast
       let the clock of n3 run 5000 ppm slow
       kill n1
       kill n2
       kill n3
at 11s start n1
       start n2
       start n3
       expect settled within 2m
at 20m expect settled
)");
}

TEST(Runs, SayWhatFailedAndWhere) {
  const auto story = parse_story(fmt::format("{}at 10s expect n1 holds 99 shards within 1s\n", five), "a.story");
  ASSERT_TRUE(story) << story.error().message;
  const Outcome outcome = run(*story, {.seed = 1});
  ASSERT_TRUE(outcome.failure);
  EXPECT_TRUE(outcome.failure->starts_with("a.story:7: expect n1 holds 99 shards within 1s: not by 11s: n1 holds ")) << *outcome.failure;
}

}  // namespace
}  // namespace evenkeel::sim
