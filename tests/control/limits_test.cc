// Limits on copies, as the machine keeps them.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

// A bucket whose write had an unknown end is read again: a copy that this shows is under way like any other, whichever shard it is of.
TEST(Limits, CountWhatIsReadAnewBeforeMoreBegins) {
  Bench bench;
  bench.config.settings.control.balance.copies = 1;
  bench.configure();
  for (const char* name : {"n1", "n2"}) bench.join(name, name);
  bench.create(workload_of(2, 2));
  bench.run(10s);
  bench.order("n3", {.operation = Operation::drain});  // it gets nothing before it stops to obey
  bench.join("n3", "n3");
  bench.node("n3").obeys = false;
  bench.order("n2", {.operation = Operation::drain});
  bench.order("n3", {});
  bench.run(10s);
  const Key key{.kind = Key::Kind::shards, .workload = WorkloadId("t")};
  RecordBucket records = *bench.stored<RecordBucket>(key);
  ShardRecord &first = records.shards.at(0), &second = records.shards.at(1);
  ASSERT_EQ(first.holders.size() + second.holders.size(), 5u);
  if (first.holders.size() > second.holders.size()) {
    second.holders.push_back(first.holders.back());
    second.holders.back().version = second.told;
    first.holders.pop_back();
  }
  ASSERT_EQ(second.holders.back().node, NodeId("n3"));

  Machine machine(bench.options);
  for (const auto& [at, entry] : bench.store) {
    if (entry.first.kind != Key::Kind::shards) machine.step(Saw{entry.first, entry.second}, bench.now);
  }
  machine.step(Elected{ControllerEpoch(100)}, bench.now);
  for (const Commit& commit : machine.step(Saw{key, records}, bench.now).commits)
    EXPECT_EQ(commit.records.shards.at(0).holders.size(), 2u);
  const auto why = machine.explain({WorkloadId("t"), ShardIndex(0)})->why;
  EXPECT_TRUE(std::ranges::any_of(why, [](const std::string& one) { return one.find("n3") != std::string::npos; }))
      << fmt::format("{}", fmt::join(why, "; "));
}

}  // namespace
}  // namespace evenkeel::control::test
