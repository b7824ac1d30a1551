// Rules that matter only for what a machine is shown in an order, or at a moment, that no story of the simulator makes: each is kept, and with that rule
// switched off it is not. The others are in tests/sim/mutation_test.cc.

#include <gtest/gtest.h>

#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

void begin(Bench& bench, int nodes, const Workload& workload) {
  bench.configure();
  for (int n = 1; n <= nodes; ++n) bench.join(fmt::format("n{}", n), fmt::format("z{}", n));
  bench.create(workload);
  bench.run(10s);
}

// What is wrong, in words; empty: nothing.

// A node is back; its reports are seen later than everything else of it.
std::string tells_before_inventory(Broken broken) {
  Bench bench(false, broken);
  begin(bench, 2, workload_of(1, 2));
  bench.end("n2");
  bench.run(1s);
  const std::size_t before = bench.commits.size();
  const Incarnation next(1000);
  const LiveDocument live{.node = NodeId("n2"), .incarnation = next, .data = bench.node("n2").data, .zone = "z2", .inventory = 1};
  bench.put({.kind = Key::Kind::live, .node = NodeId("n2")}, live);
  bench.put({.kind = Key::Kind::beat, .node = NodeId("n2")}, BeatSeen{next, 10s, false});
  return bench.commits.size() == before ? "" : "n2 is told something before it has said what it holds";
}

// What became of a write is not known, and then something else happens to the shard.
std::string writes_before_it_has_read(Broken broken) {
  Bench bench(false, broken);
  begin(bench, 3, workload_of(1, 3));
  const std::string first = bench.shard().record.placement.front().str();
  const Instant now = bench.now;
  const auto ends = [&](const std::string& name) {
    const Key key{.kind = Key::Kind::beat, .node = NodeId(name)};
    return bench.machine->step(Saw{key, BeatSeen{bench.node(name).incarnation, 10s, true}}, now);
  };
  const Output sealing = ends(first);
  if (sealing.commits.size() != 1) return "the loss of a leader is not followed";
  const RecordBucket& records = sealing.commits.front().records;
  Output after = bench.machine->step(Answered{records.workload, records.bucket, Answered::Outcome::unknown}, now);
  const Output next = ends(first == "n1" ? "n2" : "n1");
  return after.commits.empty() && next.commits.empty() ? "" : "t/0 is written again before it is read";
}

std::string removes(Broken broken, std::uint32_t replicas, bool ends) {
  Bench bench(false, broken);
  begin(bench, 2, workload_of(1, replicas));
  const std::string first = bench.shard().record.placement.front().str();
  if (ends) bench.end(first);
  bench.order(first, {.operation = Operation::remove});
  bench.run(1min);
  const auto document = bench.stored<NodeDocument>({.kind = Key::Kind::node, .node = NodeId(first)});
  return document->data ? fmt::format("{} is removed", first) : "";
}

void split(Bench& bench) {
  const Key key{.kind = Key::Kind::workload, .workload = WorkloadId("t")};
  WorkloadDocument document = *bench.stored<WorkloadDocument>(key);
  document.split_from = document.spec.shards;
  document.spec.shards *= 2;
  bench.put(key, document);
}

// To before a split: somebody leads all keys, although others hold half of them.
std::string leads_over_half(Broken broken) {
  Bench bench(false, broken);
  begin(bench, 3, workload_of(1, 3));
  const Bench::Contents before = bench.contents();
  split(bench);
  bench.run(10s);
  bench.put_back(before);
  bench.run(10s);
  return bench.shard().view.leader ? "t/0 is led without its other half" : "";
}

// Into a hand-over, whose end nobody knows.
std::string goes_on_from_the_past(Broken broken) {
  Bench bench(false, broken);
  begin(bench, 3, workload_of(1, 3));
  const std::string leader = bench.shard().view.leader->str();
  const std::string other = leader == "n1" ? "n2" : "n1";
  bench.node(leader).obeys = false;
  bench.order(ShardId{WorkloadId("t"), ShardIndex(0)}, {.lead = NodeId(other)});
  if (!bench.shard().record.hand_over) return "it is not handed over";
  const Bench::Contents before = bench.contents();
  bench.node(leader).obeys = true;
  bench.run(10s);
  bench.events.clear();
  bench.put_back(before);
  bench.run(10s);
  if (!bench.shard().view.leader) return "nobody leads";
  return bench.said("seals epoch") ? "" : "t/0 is led without a seal";
}

// A node is back from its stop, and one of its replicas fails for good.
std::string keeps_its_permit(Broken broken) {
  Bench bench(false, broken);
  begin(bench, 3, workload_of(1, 3));
  bench.ask_permit("n1");
  bench.run(1s);
  bench.node("n1").fails.insert(ShardId{WorkloadId("t"), ShardIndex(0)});
  bench.restart("n1");
  bench.run(11min);
  return bench.permit("n1") ? "n1 is back, and keeps its permit" : "";
}

struct Mutation {
  Broken broken;
  std::string_view name;
  std::function<std::string(Broken)> play;
};

const std::vector<Mutation>& mutations() {
  static const std::vector<Mutation> all{
      {Broken::tell_before_inventory, "tell before the inventory", tells_before_inventory},
      {Broken::go_on_unread, "go on without reading", writes_before_it_has_read},
      {Broken::permit_until_whole, "permits until all is whole", keeps_its_permit},
      {Broken::remove_while_live, "remove while live", [](Broken broken) { return removes(broken, 2, false); }},
      {Broken::remove_last_copy, "remove the last copy", [](Broken broken) { return removes(broken, 1, true); }},
      {Broken::lead_over_half, "lead over the other half", leads_over_half},
      {Broken::go_on_from_the_past, "go on from the past", goes_on_from_the_past},
  };
  return all;
}

TEST(Mutations, AreNoticed) {
  for (const auto& [broken, name, play] : mutations()) {
    EXPECT_EQ(play(Broken::nothing), "") << name << ", with all rules";
    const std::string noticed = play(broken);
    EXPECT_NE(noticed, "") << name << ": nobody notices";
    fmt::print("{:32} {}\n", name, noticed);
  }
}

}  // namespace
}  // namespace evenkeel::control::test
