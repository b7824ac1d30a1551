// Properties of the cluster file: every valid cluster survives being written and read, in both syntaxes, and text is canonical.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "evenkeel/base/rng.h"
#include "evenkeel/model/model.h"
#include "tests/model/any_cluster.h"

namespace evenkeel {
namespace {

TEST(ClusterFile, EveryValidClusterSurvivesWritingAndReading) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Cluster cluster = AnyCluster(seed).make();
    const auto problems = check(cluster);
    RC_ASSERT(problems.empty());
    for (const Syntax syntax : {Syntax::yaml, Syntax::json}) {
      const auto text = format_cluster(cluster, syntax);
      const auto read = parse_cluster(text, "c", syntax);
      if (!read) RC_FAIL(read.error().format() + "\n" + text);
      RC_ASSERT(*read == cluster);
      RC_ASSERT(format_cluster(*read, syntax) == text);
    }
  }));
}

// A text that lost a part is either still a whole cluster or refused with a place; nothing in between, and never a crash.
TEST(ClusterFile, DamagedTextIsRefusedWithPlaces) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    std::string text = format_cluster(AnyCluster(seed).make(), rng.chance(1, 2) ? Syntax::yaml : Syntax::json);
    for (int i = 0; i < 3; ++i) {
      const auto at = rng.below(text.size());
      switch (rng.below(3)) {
        case 0:
          text.erase(at, rng.below(20));
          break;
        case 1:
          text.insert(at, 1, static_cast<char>(rng.below(256)));
          break;
        default:
          text[at] = "{}[],:\"'-\n 0"[rng.below(12)];
          break;
      }
      if (text.empty()) text = "x";
    }
    const auto read = parse_cluster(text, "c");
    if (read) {
      RC_ASSERT(check(*read).empty());
    } else {
      RC_ASSERT(!read.error().empty());
      for (const Diagnostic& problem : read.error().sorted())
        RC_ASSERT(problem.place.line > 0 || problem.message == "the file is empty");
    }
  }));
}

TEST(ClusterFile, FoldedRunsAreShort) {
  Cluster cluster;
  cluster.name = ClusterId("big");
  for (int i = 0; i < 5000; ++i)
    cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i)), .zone = fmt::format("z{}/r{}", i % 7, i / 7 % 40)});
  const auto text = format_cluster(cluster, Syntax::yaml);
  EXPECT_LT(text.size(), 200u) << text;
  EXPECT_EQ(*parse_cluster(text, "c"), cluster);
}

// Zones in blocks, or in no order at all, fold as far as a range can say them, in linear time.
TEST(ClusterFile, RunsEndWhereTheirPatternEnds) {
  Cluster cluster;
  cluster.name = ClusterId("blocks");
  for (int i = 1; i <= 30; ++i)
    cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i)), .zone = fmt::format("z{}", (i - 1) / 10)});
  EXPECT_THAT(format_cluster(cluster, Syntax::yaml),
              testing::AllOf(testing::HasSubstr("\"n[1-10]\", zone: z0"), testing::HasSubstr("\"n[11-20]\", zone: z1"),
                             testing::HasSubstr("\"n[21-30]\", zone: z2")));
  Rng rng(1);
  for (int i = 31; i <= 20'000; ++i)
    cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i)), .zone = fmt::format("z{}", rng.below(9))});
  EXPECT_EQ(*parse_cluster(format_cluster(cluster, Syntax::json), "c.json"), cluster);
}

// The big tables, at a size at which anything quadratic would be noticed. What they may cost in memory is held by tests/cli/limits.py.
TEST(ClusterFile, ManyShardsSurviveWritingAndReading) {
  Cluster cluster;
  cluster.name = ClusterId("big");
  for (int i = 0; i < 1000; ++i) cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", i))});
  Workload workload{.name = WorkloadId("t"), .shards = 200'000, .replicas = 3};
  workload.shard_loads.resources = {ResourceId("cpu")};
  Placement& rows = cluster.placement[workload.name];
  for (std::uint32_t shard = 0; shard < workload.shards; ++shard) {
    for (const std::uint32_t step : {0u, 7u, 400u}) rows.add(NodeIndex((shard * 31 + step) % 1000));
    rows.end_row();
    workload.shard_loads.shards.emplace_back(shard);
    workload.shard_loads.values.push_back(Quantity::from_nano(1 + shard % 1000));
  }
  cluster.workloads.push_back(std::move(workload));
  for (const Syntax syntax : {Syntax::yaml, Syntax::json}) {
    const auto read = parse_cluster(format_cluster(cluster, syntax), "big", syntax);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, cluster);
  }
}

}  // namespace
}  // namespace evenkeel
