// What is written together: MachineOptions::gather.

#include <gtest/gtest.h>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

constexpr std::uint32_t gather_shards = 20;

void begin(Bench& bench, Duration gather) {
  bench.options.gather = gather;
  bench.take_over();
  bench.configure();
  for (int n = 1; n <= 5; ++n) bench.join(fmt::format("n{}", n), fmt::format("z{}", n));
  Workload workload = workload_of(gather_shards, 3);
  workload.control.acks = 2;
  bench.create(workload);
  bench.run(10s);
}

TEST(Gather, ManyThatComeAtOnceAreWrittenFewerTimes) {
  const auto commits_with = [](Duration gather) {
    Bench bench;
    begin(bench, gather);
    for (std::uint32_t s = 0; s < gather_shards; ++s) {
      EXPECT_TRUE(bench.shard(s).view.leader) << bench.why(s);
      EXPECT_EQ(bench.shard(s).view.others.size(), 2u) << s;
    }
    EXPECT_TRUE(bench.machine->at_rest());
    return bench.commits.size();
  };
  const std::size_t at_once = commits_with({}), gathered = commits_with(50ms);
  EXPECT_LT(gathered, at_once);
}

TEST(Gather, WhoLeadsNextIsNotPutOff) {
  Bench bench;
  begin(bench, 1h);
  bench.run(2h);
  const std::optional<NodeId> before = bench.shard().view.leader;
  ASSERT_TRUE(before);
  const Instant lost = bench.now;
  bench.end(before->str());
  EXPECT_EQ(bench.now, lost);
  for (std::uint32_t s = 0; s < gather_shards; ++s) {
    ASSERT_TRUE(bench.shard(s).view.leader) << bench.why(s);
    EXPECT_NE(bench.shard(s).view.leader, before) << s;
  }
}

}  // namespace
}  // namespace evenkeel::control::test
