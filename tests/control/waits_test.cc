// Rule 5: a successor goes on where the controller before it was, also with bans and cool-downs.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

const Key waits_key{.kind = Key::Kind::waits};

void begin_waits(Bench& bench, int nodes, const Workload& workload) {
  bench.configure();
  for (int n = 1; n <= nodes; ++n) bench.join(fmt::format("n{}", n), fmt::format("z{}", n));
  bench.create(workload);
  bench.run(10s);
}

bool is_barred(const Bench& bench, const std::string& name) {
  const Cluster& problem = bench.problems.back();
  return std::ranges::any_of(problem.barred, [&](const Barred& barred) {
    return barred.shard == s0.shard && problem.nodes[barred.node.value()].name == NodeId(name);
  });
}

// t/0 fails for good on the last of its nodes, which drops it when another one has it: then no report tells of it any more.
std::string ban(Bench& bench) {
  begin_waits(bench, 4, workload_of(1, 3));
  const std::string last = bench.shard().record.placement.back().str();
  bench.end(last);
  bench.node(last).fails = {s0};
  bench.join(last);
  bench.run(1min);
  EXPECT_TRUE(is_barred(bench, last));
  EXPECT_FALSE(bench.node(last).held.contains(s0));
  return last;
}

TEST(Waits, AShardDoesNotComeBackSoonerToWhereItFailedUnderAnotherController) {
  Bench bench;
  const std::string last = ban(bench);
  bench.run(4min);
  bench.take_over();
  bench.run(1s);
  EXPECT_TRUE(is_barred(bench, last));
  bench.take_over();
  bench.run(4min);
  bench.create(workload_of(2, 3));  // another plan
  bench.run(1s);
  EXPECT_TRUE(is_barred(bench, last));
  bench.run(1min + 10s);  // ten minutes, and what was waited since it was saved
  EXPECT_FALSE(is_barred(bench, last));
  bench.run(20s);
  EXPECT_EQ(*bench.stored<WaitsDocument>(waits_key), WaitsDocument{});
}

TEST(Waits, ABanThatIsForgottenIsNoticed) {
  Bench bench(false, Broken::forget_waits);
  const std::string last = ban(bench);
  bench.take_over();
  bench.run(1s);
  EXPECT_FALSE(is_barred(bench, last));
}

// It is there, and still says that it gave up: what is over does not begin again.
TEST(Waits, ABanThatIsOverDoesNotBeginAnewWithAnotherController) {
  Bench bench;
  begin_waits(bench, 3, workload_of(1, 3));
  const std::string last = bench.shard().record.placement.back().str();
  bench.end(last);
  bench.node(last).fails = {s0};
  bench.join(last);
  bench.run(11min);
  EXPECT_TRUE(bench.node(last).held.at(s0).gave_up);
  EXPECT_FALSE(is_barred(bench, last));
  bench.take_over();
  bench.run(1s);
  EXPECT_FALSE(is_barred(bench, last));
}

// The first of the placement was suspect, is heard of again, and does not lead before it has been steady for a minute. How long after it was heard of
// again another controller is elected; whether it leads `then`.
bool leads_after(Duration until_elected, Duration then, Broken broken) {
  Bench bench(false, broken);
  Workload workload = workload_of(1, 3);
  workload.control.fencing = Fencing::epoch;
  workload.control.acks = 2;
  begin_waits(bench, 3, workload);
  const std::string first = bench.shard().view.leader->str();
  bench.pulse(first, 1h);
  bench.feed(PulseBroken{NodeId(first)});
  bench.run(15s);
  EXPECT_NE(bench.shard().view.leader, NodeId(first));
  if (until_elected > 0s) bench.pulse(first, 1h);
  bench.run(until_elected);
  bench.take_over();
  bench.run(then);
  return bench.shard().view.leader == NodeId(first);
}

TEST(Waits, AFormerSuspectIsNoSoonerTrustedByAnotherController) {
  EXPECT_FALSE(leads_after(30s, 25s, Broken::nothing));
  EXPECT_TRUE(leads_after(30s, 45s, Broken::nothing));
  EXPECT_FALSE(leads_after(0s, 55s, Broken::nothing));  // it was suspect until then
  EXPECT_TRUE(leads_after(0s, 65s, Broken::nothing));
  EXPECT_TRUE(leads_after(30s, 1s, Broken::forget_waits));
}

// A hand-over took too long. Another controller does not try it again at once.
std::string leader_after(Duration then, Broken broken) {
  Bench bench(false, broken);
  Workload workload = workload_of(1, 3);
  workload.control.acks = 2;
  workload.control.lag_max = 1000;
  begin_waits(bench, 3, workload);
  const auto placement = bench.shard().record.placement;
  BenchNode& first = bench.node(placement[0].str());
  first.held.at(s0).progress = 500;
  Report report{.node = first.name, .workload = s0.workload, .incarnation = first.incarnation, .data = first.data};
  report.replicas.push_back(first.held.at(s0));
  bench.put({.kind = Key::Kind::report, .node = first.name, .workload = s0.workload}, report);
  bench.order(s0, {.lead = placement[1]});
  bench.run(11s);
  EXPECT_EQ(bench.shard().view.leader, first.name) << bench.why();
  bench.run(11s);
  bench.take_over();
  bench.run(then);
  return bench.shard().view.leader ? "the old one" : "nobody";
}

TEST(Waits, AHandOverThatCameToNothingIsNotTriedAgainAtOnceByAnotherController) {
  EXPECT_EQ(leader_after(5s, Broken::nothing), "the old one");
  EXPECT_EQ(leader_after(25s, Broken::nothing), "nobody");  // by then it is tried again
  EXPECT_EQ(leader_after(5s, Broken::forget_waits), "nobody");
}

TEST(Waits, OfVeryManyThoseThatEndLastAreKept) {
  Bench bench;
  bench.planner = [](const Cluster&) { return place::Plan(); };  // where they are does not matter
  begin_waits(bench, 1, workload_of(1500, 1));
  WaitsDocument waits;
  for (std::uint32_t s = 0; s < 1500; ++s)
    waits.bans.push_back({{WorkloadId("t"), ShardIndex(s)}, NodeId("n1"), s % 3 == 0 ? Duration(5min) : Duration(1min)});
  bench.store.insert_or_assign(Bench::where(waits_key), std::pair(waits_key, Document(waits)));
  bench.take_over();
  bench.run(11s);
  const auto kept = bench.stored<WaitsDocument>(waits_key)->bans;
  EXPECT_LE(kept.size(), 1000u);
  EXPECT_GE(kept.size(), 700u);
  EXPECT_LT(format(*bench.stored<WaitsDocument>(waits_key)).size(), 64u << 10);
  EXPECT_TRUE(std::ranges::all_of(kept, [](const Ban& ban) { return ban.waited < 2min; }));
  EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &Ban::shard));
}

}  // namespace
}  // namespace evenkeel::control::test
