// Measured loads: how they are put together, and when they reach placement.

#include "evenkeel/control/detail/loads.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/control/bench.h"

namespace evenkeel::control {
namespace {

using detail::Column;
using detail::ShardLoad;
using detail::Smooth;
using test::Bench;
using test::workload_of;

const ResourceId cpu("cpu"), disk("disk");

// 1. The parts.

TEST(Smooth, HalvesWhatIsLeftInEachHalfAndEvenlyInBetween) {
  const Instant start;
  Smooth load(Quantity(100));
  load.set(Quantity(900), start, 10s);
  EXPECT_EQ(load.at(start, 10s), Quantity(100));
  EXPECT_EQ(load.at(start + 5s, 10s), Quantity(300));
  EXPECT_EQ(load.at(start + 10s, 10s), Quantity(500));
  EXPECT_EQ(load.at(start + 20s, 10s), Quantity(700));
  EXPECT_EQ(load.at(start + 24h, 10s), Quantity(900));
  load.set(Quantity(500), start + 10s, 10s);
  EXPECT_EQ(load.at(start + 1min, 10s), Quantity(500));
}

TEST(Smooth, ASpikeIsNextToNothing) {
  const Instant start;
  Smooth load(Quantity(100));
  load.set(Quantity(1000), start, 30s);
  load.set(Quantity(100), start + 1s, 30s);
  EXPECT_LT(load.at(start + 1s, 30s), Quantity(116));
  EXPECT_LT(load.at(start + 1min, 30s), Quantity(105));
}

struct Shard {
  std::vector<std::pair<Column, Quantity>> say(std::uint32_t node, std::vector<std::pair<Column, Quantity>> said) {
    detail::say(load, node, Incarnation(node), said);
    return measure();
  }
  std::vector<std::pair<Column, Quantity>> measure() {
    return detail::measure(
        load,
        {.counts = [&](const ShardLoad::Said& said) { return std::ranges::find(gone, said.node) == gone.end(); },
         .leader = leader,
         .spec = [](Column column) { return column == 0 ? Quantity(10) : Quantity(0); },
         .leader_part = [](Column column) { return column == 0 ? Quantity(5) : Quantity(0); }},
        now, 30s);
  }
  Quantity value(Column column) const { return load.find(column)->measured.value(); }
  ShardLoad load;
  std::optional<std::uint32_t> leader = 1;
  std::vector<std::uint32_t> gone;
  Instant now;
};
using ColumnChanges = std::vector<std::pair<Column, Quantity>>;

TEST(ShardLoad, IsTheLargestOfItsReplicasWithoutTheLeadersPart) {
  Shard shard;
  EXPECT_EQ(shard.say(1, {{0, Quantity(15)}}), ColumnChanges());  // 10, as the spec says
  EXPECT_EQ(shard.say(2, {{0, Quantity(12)}}), (ColumnChanges{{0, Quantity(2)}}));
  EXPECT_EQ(shard.say(3, {{0, Quantity(11)}, {1, Quantity(4)}}), (ColumnChanges{{1, Quantity(4)}}));
  EXPECT_EQ(shard.say(3, {{0, Quantity(11)}, {1, Quantity(4)}}), ColumnChanges());
  shard.leader = 2;
  EXPECT_EQ(shard.measure(), (ColumnChanges{{0, Quantity(3)}}));  // the first one's 15
  EXPECT_EQ(shard.say(1, {{0, Quantity(3)}}), (ColumnChanges{{0, Quantity(-4)}}));
}

TEST(ShardLoad, NothingFollowsFromAbsence) {
  Shard shard;
  shard.say(2, {{0, Quantity(30)}});
  shard.say(3, {{0, Quantity(20)}});
  shard.gone = {2};
  EXPECT_EQ(shard.measure(), (ColumnChanges{{0, Quantity(-10)}}));
  shard.gone = {2, 3};
  EXPECT_EQ(shard.measure(), ColumnChanges());
  EXPECT_EQ(shard.value(0), Quantity(20));
  EXPECT_EQ(shard.say(4, {{0, Quantity(25)}}), (ColumnChanges{{0, Quantity(5)}}));
  // But who is there and does not measure it any more says that nobody does.
  EXPECT_EQ(shard.say(4, {}), (ColumnChanges{{0, Quantity(-15)}}));
  EXPECT_EQ(shard.value(0), Quantity(10));
  EXPECT_FALSE(detail::believe(shard.load, shard.now, 30s));
  EXPECT_TRUE(shard.load.levels.empty());
}

TEST(ShardLoad, OneThatNeverMeasuredAnythingIsNotKept) {
  Shard shard;
  EXPECT_EQ(shard.say(1, {}), ColumnChanges());
  EXPECT_TRUE(shard.load.said.empty());
}

TEST(BelievedLoads, TakeThePlaceOfTheSpecsWhereTheyAreBelieved) {
  Workload spec{.name = WorkloadId("t"), .shards = 4, .load = {{cpu, Quantity(1)}, {disk, Quantity(7)}}};
  spec.shard_loads = {.resources = {cpu}, .shards = {ShardIndex(3)}, .values = {Quantity(9)}};
  ShardLoad measured, not_yet;
  measured.levels.push_back({.column = 1, .measured = Smooth(Quantity(5)), .believed = Quantity(1)});
  not_yet = measured;
  ASSERT_TRUE(detail::believe(measured, {}, 30s));
  const std::vector<ResourceId> columns{ResourceId("zeal"), cpu};
  const std::vector<const ShardLoad*> loads{nullptr, &measured, &not_yet, nullptr};
  const ShardLoads table = detail::believed_loads(spec, columns, loads);
  EXPECT_EQ(table, (ShardLoads{.resources = {cpu, disk},
                               .shards = {ShardIndex(1), ShardIndex(3)},
                               .values = {Quantity(5), Quantity(7), Quantity(9), Quantity(0)}}));
}

TEST(IsOff, ByMoreThanTheMarginOfTheLargerOfTheTwo) {
  const Ratio tenth = Ratio::percent(10);
  EXPECT_FALSE(detail::is_off(Quantity(10), Quantity(100), Quantity(50), tenth));
  EXPECT_TRUE(detail::is_off(Quantity(11), Quantity(100), Quantity(50), tenth));
  EXPECT_TRUE(detail::is_off(Quantity(-11), Quantity(100), Quantity(50), tenth));
  EXPECT_FALSE(detail::is_off(Quantity(11), Quantity(1), Quantity(110), tenth));
  EXPECT_TRUE(detail::is_off(Quantity(1), Quantity(0), Quantity(0), tenth));
  EXPECT_FALSE(detail::is_off(Quantity(0), Quantity(0), Quantity(0), tenth));
}

// 2. The machine.

using Load = std::function<Amounts(const ShardId& shard, bool leads)>;

// Every replica on every node that is there says what it carries.
void pulse(Bench& bench, const Load& load) {
  for (const char* name : {"n1", "n2", "n3", "n4"}) {
    test::BenchNode& node = bench.node(name);
    if (!node.up) continue;
    Pulse said{.node = node.name, .incarnation = node.incarnation, .count = ++node.pulses};
    for (const auto& [shard, held] : node.held) {
      if (held.state.str() == state_dropped) continue;
      said.replicas.push_back({.shard = shard, .last = held.last, .load = load(shard, held.state.str() == "leader")});
    }
    bench.feed(Pulsed{said, 1h});
    bench.run();
  }
}
Load all(std::int64_t amount) {
  return [=](const ShardId&, bool) { return Amounts{{cpu, Quantity(amount)}}; };
}
// The first few shards that n1 holds are hot.
Load hot(const Bench& bench, std::int64_t amount, std::size_t few = 4) {
  std::vector<ShardId> shards;
  for (std::uint32_t s = 0; s < 16 && shards.size() < few; ++s) {
    if (bench.holders(s).contains("n1")) shards.push_back({WorkloadId("t"), ShardIndex(s)});
  }
  return [=](const ShardId& shard, bool) {
    return Amounts{{cpu, Quantity(std::ranges::find(shards, shard) == shards.end() ? 10 : amount)}};
  };
}

void begin(Bench& bench, Amounts leader_load = {}) {
  bench.config.settings.spread = {.level = "zone", .hard = false};
  bench.configure();
  for (int n = 1; n <= 4; ++n) bench.join(fmt::format("n{}", n), fmt::format("z{}", n));
  Workload workload = workload_of(16, 2);
  workload.load = {{cpu, Quantity(10)}};
  workload.leader_load = std::move(leader_load);
  bench.create(workload);
  bench.run(10s);
  pulse(bench, [&](const ShardId&, bool leads) {
    const auto part = workload.leader_load.find(cpu);
    return Amounts{{cpu, Quantity(10) + (leads && part != workload.leader_load.end() ? part->second : Quantity(0))}};
  });
  bench.run(10min);
}

std::vector<std::vector<NodeId>> placements(const Bench& bench) {
  std::vector<std::vector<NodeId>> rows;
  for (std::uint32_t s = 0; s < 16; ++s) rows.push_back(bench.shard(s).record.placement);
  return rows;
}
// By what is placed on each.
std::map<NodeId, Quantity> carried(const Bench& bench, const Load& load) {
  std::map<NodeId, Quantity> sums;
  for (std::uint32_t s = 0; s < 16; ++s) {
    for (const NodeId& node : bench.shard(s).record.placement)
      sums[node] += load({WorkloadId("t"), ShardIndex(s)}, false).at(cpu);
  }
  return sums;
}

TEST(Loads, ThatDriftAreLevelledAndThePlanSaysWhy) {
  Bench bench;
  begin(bench);
  const Load load = hot(bench, 40);
  const auto before = carried(bench, load);
  const std::size_t plans = bench.problems.size();
  pulse(bench, load);
  bench.run(1min);
  EXPECT_EQ(bench.problems.size(), plans);  // it may be nothing
  bench.run(10min);
  ASSERT_GT(bench.problems.size(), plans);
  EXPECT_TRUE(bench.said("n1 carries ")) << fmt::format("{}", fmt::join(bench.events, "\n"));
  EXPECT_TRUE(bench.said("shards anew: loads have changed"));
  const auto after = carried(bench, load);
  EXPECT_GT(before.at(NodeId("n1")), Quantity(120));
  const auto most = [](const auto& sums) {
    return std::ranges::max_element(sums, {}, [](const auto& one) { return one.second; })->second;
  };
  EXPECT_LT(most(after), most(before));
  EXPECT_LE(most(after), Quantity(160));  // 4 · 2 · 40 and 12 · 2 · 10 are 140 for each
  const ShardLoads& told = bench.problems.back().workloads.at(0).shard_loads;
  EXPECT_EQ(told.shards.size(), 16u);
  EXPECT_EQ(told.resources, std::vector<ResourceId>{cpu});
}

TEST(Loads, ThatSwingWithinTheMarginMoveNothing) {
  Bench bench;
  begin(bench);
  const auto before = placements(bench);
  const std::size_t plans = bench.problems.size();
  const Load high = hot(bench, 12), low = hot(bench, 8);
  for (int i = 0; i < 40; ++i) {
    pulse(bench, i % 2 == 0 ? high : low);
    bench.run(25s);
  }
  pulse(bench, high);
  bench.run(10min);
  EXPECT_EQ(bench.problems.size(), plans);
  // And what is planned for another reason is planned with the same loads.
  bench.configure();
  bench.run(1min);
  EXPECT_GT(bench.problems.size(), plans);
  EXPECT_EQ(placements(bench), before);
}

TEST(Loads, ThatSpikeForAMomentMoveNothing) {
  Bench bench;
  begin(bench);
  const std::size_t plans = bench.problems.size();
  const Load spike = hot(bench, 60);
  for (int i = 0; i < 20; ++i) {
    pulse(bench, spike);
    bench.run(3s);
    pulse(bench, all(10));
    bench.run(170s);
  }
  EXPECT_EQ(bench.problems.size(), plans);
}

TEST(Loads, AreNotPlannedForMoreOftenThanThePause) {
  Bench bench;
  begin(bench);
  const std::size_t plans = bench.problems.size();
  for (int i = 0; i < 60; ++i) {
    pulse(bench, [&](const ShardId& shard, bool) {
      return Amounts{{cpu, Quantity(10 + static_cast<std::int64_t>(shard.shard.value()) * i)}};
    });
    bench.run(10s);
  }
  const auto events = std::ranges::count_if(
      bench.events, [](const auto& one) { return one.contains("loads have changed") && one.contains("carries"); });
  EXPECT_GE(events, 3);
  EXPECT_LE(events, 10);
  EXPECT_GT(bench.problems.size(), plans);
}

TEST(Loads, OfLeadersAreWithoutTheirPart) {
  Bench bench;
  begin(bench, {{cpu, Quantity(20)}});
  const std::size_t plans = bench.problems.size();
  const auto load = [](const ShardId&, bool leads) { return Amounts{{cpu, Quantity(leads ? 30 : 10)}}; };
  const auto live_on = [&] {
    for (int i = 0; i < 60; ++i) {
      pulse(bench, load);
      bench.run(10s);
    }
  };
  live_on();
  EXPECT_EQ(bench.problems.size(), plans);
  bench.end("n1");
  live_on();
  bench.join("n1");
  live_on();
  EXPECT_FALSE(bench.said("loads have changed")) << fmt::format("{}", fmt::join(bench.events, "\n"));
}

TEST(Loads, NobodyMeasuresAreTheSpecs) {
  Bench bench;
  begin(bench);
  pulse(bench, [](const ShardId& shard, bool) { return shard.shard.value() < 8 ? Amounts{{disk, Quantity(100)}} : Amounts{}; });
  bench.run(10min);
  ASSERT_TRUE(bench.said("loads have changed"));
  const ShardLoads& told = bench.problems.back().workloads.at(0).shard_loads;
  ASSERT_EQ(told.shards.size(), 8u);
  EXPECT_EQ(told.resources, (std::vector<ResourceId>{cpu, disk}));
  EXPECT_EQ(told.values[0], Quantity(10));
  EXPECT_EQ(told.values[1], Quantity(100));
}

// Levelled, and then another controller is elected, which has measured nothing.
std::string moves_by_a_successor(Broken broken) {
  Bench bench(false, broken);
  begin(bench);
  const Load load = hot(bench, 100, 3);  // six on four nodes, so that those with two hold fewer in all
  pulse(bench, load);
  bench.run(10min);
  pulse(bench, load);  // also of those that came
  bench.run(10min);
  if (!bench.said("loads have changed")) return "loads do not reach placement";
  const auto before = placements(bench);
  bench.take_over();
  bench.run(1s);
  if (placements(bench) != before) return "moved before it has measured";
  pulse(bench, load);
  bench.run(10min);
  return placements(bench) == before ? "" : "moved although nothing changed";
}

TEST(Loads, ASuccessorLevelsNothingBeforeItHasMeasured) {
  EXPECT_EQ(moves_by_a_successor(Broken::nothing), "");
  EXPECT_EQ(moves_by_a_successor(Broken::level_unmeasured), "moved before it has measured");
  EXPECT_EQ(moves_by_a_successor(Broken::forget_waits), "moved before it has measured");
}

TEST(Loads, ASuccessorPlacesWhatIsNewAtOnce) {
  Bench bench;
  begin(bench);
  pulse(bench, hot(bench, 40));
  bench.run(10min);
  bench.take_over();
  Workload more = workload_of(4, 2);
  more.name = WorkloadId("more");
  bench.create(more);
  bench.run(1s);
  EXPECT_EQ(bench.shard(0, "more").record.holders.size(), 2u);
}

TEST(Loads, NamesThatAreMadeUpHaveABound) {
  Bench bench;
  begin(bench);
  for (int i = 0; i < 100; ++i) {
    pulse(bench, [&](const ShardId&, bool) {
      return Amounts{{ResourceId(fmt::format("r{}", i)), Quantity(1)}, {ResourceId("no name"), Quantity(1)}};
    });
  }
  bench.run(10min);
  EXPECT_LE(bench.problems.back().workloads.at(0).shard_loads.resources.size(), 65u);
  EXPECT_FALSE(bench.said("cannot be planned"));
}

}  // namespace
}  // namespace evenkeel::control
