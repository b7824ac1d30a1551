// A workload's shards are doubled, one by one, while it serves.

#include <gtest/gtest.h>

#include <algorithm>

#include "evenkeel/control/operate.h"
#include "tests/control/bench.h"

namespace evenkeel::control::test {
namespace {

const Key key_of_t{.kind = Key::Kind::workload, .workload = WorkloadId("t")};

void begin(Bench& bench, const Workload& workload, int nodes = 3) {
  bench.configure();
  for (int n = 1; n <= nodes; ++n) bench.join(fmt::format("n{}", n), fmt::format("z{}", n));
  bench.create(workload);
  bench.run(10s);
}

void order_split(Bench& bench) {
  WorkloadDocument document = *bench.stored<WorkloadDocument>(key_of_t);
  document.split_from = document.spec.shards;
  document.spec.shards *= 2;
  bench.put(key_of_t, document);
}

std::uint32_t split_from(const Bench& bench) { return bench.stored<WorkloadDocument>(key_of_t)->split_from; }

// "2: n1 n2* of 4", for each shard.
std::string shards_of(const Bench& bench, std::uint32_t shards) {
  std::string text;
  for (std::uint32_t s = 0; s < shards; ++s) {
    std::string holders = bench.holders(s);
    std::erase(holders, '*');
    const ShardState state = bench.shard(s);
    text += fmt::format("{}{}: {} of {}{}", text.empty() ? "" : "; ", s, holders, state.record.shards,
                        state.view.leader ? "" : ", not led");
  }
  return text;
}

TEST(Split, DoublesTheShardsWhereTheyAre) {
  Bench bench;
  begin(bench, workload_of(2, 3));
  order_split(bench);
  bench.run(10s);
  EXPECT_EQ(shards_of(bench, 4), "0: n1 n2 n3 of 4; 1: n1 n2 n3 of 4; 2: n1 n2 n3 of 4; 3: n1 n2 n3 of 4");
  EXPECT_EQ(split_from(bench), 0u);
  EXPECT_TRUE(bench.said("t/0  stands still, to be split"));
  EXPECT_TRUE(bench.said("t/1  is split: half of its keys are t/3's"));
  EXPECT_TRUE(bench.said("t is split: it has 4 shards"));
  for (std::uint32_t s = 0; s < 4; ++s) EXPECT_EQ(bench.why(s), "") << s;
}

// What is written decides alone: a controller that dies after any step is followed by one that goes on.
TEST(Split, OutlivesEveryController) {
  Bench bench(true);
  begin(bench, workload_of(2, 3));
  order_split(bench);
  bench.run(10s);
  EXPECT_EQ(shards_of(bench, 4), "0: n1 n2 n3 of 4; 1: n1 n2 n3 of 4; 2: n1 n2 n3 of 4; 3: n1 n2 n3 of 4");
  EXPECT_EQ(split_from(bench), 0u);
}

TEST(Split, TwiceInARow) {
  Bench bench;
  begin(bench, workload_of(1, 2));
  for (int times = 0; times < 3; ++times) {
    order_split(bench);
    bench.run(2min);
    EXPECT_EQ(split_from(bench), 0u);
  }
  for (std::uint32_t s = 0; s < 8; ++s) {
    EXPECT_TRUE(bench.shard(s).view.leader) << s;
    EXPECT_EQ(bench.shard(s).record.shards, 8u) << s;
  }
}

// Whoever holds the parent is told to step down before anything is copied, and the copy names its parent.
TEST(Split, CopiesOnlyWhatStandsStill) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  const Epoch before = bench.shard().record.version.epoch;
  order_split(bench);
  bench.run(10s);
  bool copied = false, led_again = false;
  std::set<Version> told;
  for (const Commit& commit : bench.commits) {
    for (const Target& target : commit.targets) {
      for (const ReplicaTarget& entry : target.replicas) {
        if (entry.shard == ShardIndex(1) && entry.parent) {
          EXPECT_EQ(entry.parent, ShardIndex(0));
          EXPECT_EQ(entry.reason, Reason::split);
          if (told.insert(entry.version).second) {
            EXPECT_FALSE(led_again);
          }
          copied = true;
        }
        if (entry.shard == ShardIndex(0) && entry.shards == 2) led_again = true;
        if (entry.shard == ShardIndex(0) && entry.version.epoch > before) {
          EXPECT_TRUE(copied);
          EXPECT_EQ(entry.shards, 2u);
        }
      }
    }
  }
  EXPECT_TRUE(led_again);
  EXPECT_GT(bench.shard(0).record.version.epoch, before);
  EXPECT_GT(bench.shard(1).record.version.epoch, before);
}

// Nobody sees the other half before the first one is split, and its keys have a shard all the time.
TEST(Split, ShowsAShardWhenItIsOne) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  bench.node("n3").obeys = false;
  const std::size_t first = bench.commits.size();
  order_split(bench);
  bench.run(1s);
  EXPECT_EQ(bench.shard(1).view.version, Version{});
  bench.node("n3").obeys = true;
  bench.run(10s);
  EXPECT_TRUE(bench.shard(1).view.leader);
  bool split = false;
  for (std::size_t i = first; i < bench.commits.size(); ++i) {
    for (const ShardRecord& record : bench.commits[i].records.shards)
      split = split || (record.shard == ShardIndex(0) && record.shards == 2);
    const auto& views = bench.commits[i].view.shards;
    if (std::ranges::find(views, ShardIndex(1), &ShardView::shard) != views.end()) {
      EXPECT_TRUE(split);
      EXPECT_EQ(bench.commits[i].view.split_from, 1u);
      return;
    }
  }
}

TEST(Split, IsCalledOffWhereAHandlerFails) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  bench.node("n2").fails.insert({WorkloadId("t"), ShardIndex(1)});
  order_split(bench);
  bench.run(5s);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 0; 1:  of 2, not led");
  EXPECT_TRUE(bench.said("t/0  is not split: n2: it fails"));
  EXPECT_NE(bench.why(0).find("was not split: n2: it fails; it is tried again later"), std::string::npos) << bench.why(0);
  EXPECT_EQ(split_from(bench), 1u);
  bench.node("n2").fails.clear();
  bench.run(30min);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

// A handler that knows nothing of splits opens an empty shard, and says that all is well.
TEST(Split, IsCalledOffIfACopyHasLessThanThereIs) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  for (const std::string name : {"n1", "n2", "n3"}) {
    bench.node(name).held.at({WorkloadId("t"), ShardIndex(0)}).progress = 7;
    bench.restart(name);
  }
  bench.run(1min);
  bench.node("n2").copies_nothing = true;
  order_split(bench);
  bench.run(5s);
  EXPECT_TRUE(bench.said("t/0  is not split: n2 says that it has its copy, and has less than there is"));
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 0; 1:  of 2, not led");
  bench.node("n2").copies_nothing = false;
  bench.run(30min);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

// What a node holds of the other half, and no record knows.
void hold(Bench& bench, const std::string& name, Epoch epoch) {
  bench.node(name).held[{WorkloadId("t"), ShardIndex(1)}] = {
      .shard = ShardIndex(1), .state = StateId("offline"), .version = {epoch, Change(0)}, .last = epoch};
  bench.restart(name);
  bench.run(1min);
}

TEST(Split, WaitsForOrphansAndTheOrdersAboutThem) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  hold(bench, "n2", Epoch(1));
  order_split(bench);
  bench.run(1min);
  EXPECT_NE(bench.why(0).find("is not split while nodes hold t/1 that no record knows"), std::string::npos) << bench.why(0);
  const ShardId half{WorkloadId("t"), ShardIndex(1)};
  const Key key{.kind = Key::Kind::order, .workload = half.workload, .shard = half.shard};
  // The record of t/0 is believed: what is held was copied for nothing.
  bench.order(half, {.adopt = {NodeId("n2")}});
  bench.run(1min);
  EXPECT_FALSE(bench.stored<OrderDocument>(key));
  EXPECT_FALSE(bench.shard(1).record.has_data);
  bench.order(half, {.drop = {NodeId("n2")}});
  bench.run(1min);
  EXPECT_FALSE(bench.stored<OrderDocument>(key));
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

// What is left of an earlier workload of the name holds nothing up.
TEST(Split, DoesNotWaitForOrphansOfAnEarlierWorkload) {
  Bench bench;
  bench.configure();
  for (int n = 1; n <= 4; ++n) bench.join(fmt::format("n{}", n), fmt::format("z{}", n));
  bench.create(workload_of(1, 3), false, Epoch(5));
  bench.run(10s);
  const std::string holders = bench.holders();
  for (const std::string name : {"n1", "n2", "n3", "n4"}) {
    if (holders.find(name) == std::string::npos) hold(bench, name, Epoch(3));
  }
  order_split(bench);
  bench.run(1min);
  EXPECT_EQ(split_from(bench), 0u);
}

// Nothing else happens: it is what they pulse that says so.
TEST(Split, BeginsWhenEnoughAreNear) {
  Bench bench;
  Workload workload = workload_of(1, 3);
  workload.control.lag_max = 10;
  begin(bench, workload);
  const std::string leader = bench.shard().view.leader->str();
  const auto pulse = [&](const std::string& name, std::uint64_t progress) {
    BenchNode& node = bench.node(name);
    const ReplicaPulse replica{
        .shard = {WorkloadId("t"), ShardIndex(0)}, .last = bench.shard().record.version.epoch, .progress = progress};
    bench.feed(Pulsed{{.node = node.name, .incarnation = node.incarnation, .count = ++node.pulses, .replicas = {replica}}, 1h});
    bench.run();
  };
  pulse(leader, 1000);
  order_split(bench);
  bench.run(1s);
  EXPECT_FALSE(bench.shard().record.split || bench.shard().record.shards != 0);
  for (const std::string name : {"n1", "n2", "n3"}) {
    if (name != leader) pulse(name, 995);
  }
  EXPECT_TRUE(bench.shard().record.split || bench.shard().record.shards != 0);
}

void order_all(Bench& bench, bool adopt) {
  const std::vector<NodeId> all{NodeId("n1"), NodeId("n2"), NodeId("n3")};
  OrderDocument order;
  (adopt ? order.adopt : order.drop) = all;
  bench.order({WorkloadId("t"), ShardIndex(1)}, order);
  bench.run(10s);
}

// It is not known that it was split, but that it was to be.
TEST(Split, IsDoubtedIfTheStoreIsPutBackToBeforeIt) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  bench.config.maintenance = Maintenance{.reason = "moving house", .timeout = {}};
  bench.configure();
  order_split(bench);
  const Bench::Contents before = bench.contents();
  bench.config.maintenance.reset();
  bench.configure();
  bench.run(10s);
  ASSERT_EQ(split_from(bench), 0u);
  bench.put_back(before);
  bench.run(10s);
  bench.configure();
  bench.run(1min);
  EXPECT_FALSE(bench.shard(0).view.leader);
  EXPECT_NE(bench.why(0).find("nobody leads: it may have been split in what the store has lost"), std::string::npos)
      << bench.why(0);
  order_all(bench, true);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

// Nor that it was to be.
TEST(Split, IsDoubtedIfTheStoreDoesNotKnowOfIt) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  const Bench::Contents before = bench.contents();
  order_split(bench);
  bench.run(10s);
  ASSERT_EQ(split_from(bench), 0u);
  bench.put_back(before);
  bench.run(10s);
  EXPECT_FALSE(bench.shard(0).view.leader);
  EXPECT_NE(bench.why(0).find("nodes hold t/1, which the workload lacks since the store was put back"), std::string::npos)
      << bench.why(0);
  order_split(bench);
  bench.run(10s);
  EXPECT_FALSE(bench.shard(0).view.leader);
  order_all(bench, true);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

// It is known who was to copy it, and not what became of that.
void split_and_put_back_into_it(Bench& bench) {
  begin(bench, workload_of(1, 3));
  const std::string other = bench.shard().view.leader->str() == "n1" ? "n2" : "n1";
  bench.node(other).obeys = false;
  order_split(bench);
  EXPECT_TRUE(bench.shard(1).record.born);
  const Bench::Contents before = bench.contents();
  bench.node(other).obeys = true;
  bench.run(10s);
  EXPECT_EQ(split_from(bench), 0u);
  bench.put_back(before);
  bench.run(10s);
  EXPECT_FALSE(bench.shard(0).view.leader);
  for (const auto& [at, target] : bench.targets) {
    for (const ReplicaTarget& entry : target.replicas) EXPECT_FALSE(entry.parent) << "it would be overwritten";
  }
}

TEST(Split, IsDoubtedIfTheStoreIsPutBackIntoIt) {
  Bench bench;
  split_and_put_back_into_it(bench);
  order_all(bench, true);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

TEST(Split, IsDoneAnewIfTheLossIsAccepted) {
  Bench bench;
  split_and_put_back_into_it(bench);
  bench.order({WorkloadId("t"), ShardIndex(1)}, {.accept_loss = true});
  bench.run(1h);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

// What is dropped is not in the way of t/0; that it may be split again has to be said.
TEST(Split, LeadsOnIfTheOtherHalfIsDropped) {
  Bench bench;
  split_and_put_back_into_it(bench);
  order_all(bench, false);
  bench.run(1min);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 0; 1:  of 2, not led");
  EXPECT_TRUE(bench.said("t/0  seals epoch")) << "others may have led since";
  EXPECT_NE(bench.why(0).find("is not split: the store has lost whether t/1 was split off"), std::string::npos) << bench.why(0);
  bench.order({WorkloadId("t"), ShardIndex(1)}, {.accept_loss = true});
  bench.run(1h);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

TEST(Split, IsCalledOffWhenItTakesTooLong) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  order_split(bench);
  bench.node("n2").obeys = false;
  bench.restart("n2");  // it is told to copy again, and does not
  bench.run(1min);
  bench.node("n2").obeys = true;
  bench.run(30min);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

// With the leader goes what only it may have: as after any loss.
TEST(Split, IsCalledOffIfTheLeaderIsLost) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  const std::string leader = bench.shard().view.leader->str();
  const std::string other = leader == "n1" ? "n2" : "n1";
  bench.node(other).obeys = false;  // it does not copy
  order_split(bench);
  ASSERT_TRUE(bench.shard().record.split);
  bench.end(leader);
  bench.node(other).obeys = true;
  bench.run(10s);
  EXPECT_TRUE(bench.said(fmt::format("is not split: {} is gone", leader)));
  ASSERT_TRUE(bench.shard().view.leader);
  EXPECT_NE(bench.shard().view.leader->str(), leader);
  EXPECT_EQ(bench.shard().record.shards, 0u);
  bench.join(leader);
  bench.run(1h);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

// min_active or acks, whichever is more.
TEST(Split, WaitsForEnoughToCopy) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  const std::string leader = bench.shard().view.leader->str();
  for (const std::string name : {"n1", "n2", "n3"}) {
    if (name != leader) bench.end(name);
  }
  order_split(bench);
  bench.run(30s);
  EXPECT_FALSE(bench.shard().record.split);
  EXPECT_NE(bench.why().find("is to be split, and 1 of 2 that are needed are there and near enough"), std::string::npos)
      << bench.why();
  for (const std::string name : {"n1", "n2", "n3"}) {
    if (name != leader) bench.join(name);
  }
  bench.run(1min);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

TEST(Split, WaitsWhileNothingMoves) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  bench.config.maintenance = Maintenance{.reason = "moving house", .timeout = {}};
  bench.configure();
  order_split(bench);
  bench.run(1min);
  EXPECT_FALSE(bench.shard().record.split);
  EXPECT_NE(bench.why().find("is not split while nothing moves"), std::string::npos) << bench.why();
  bench.config.maintenance.reset();
  bench.configure();
  bench.run(1min);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

// Each counts as a copy for balance, where it is led: of many shards few stand still at once, and those that wait get their turn.
TEST(Split, IsThrottled) {
  Bench bench;
  bench.config.settings.control.balance.copies = 1;
  begin(bench, workload_of(16, 3));
  const std::size_t first = bench.commits.size();
  order_split(bench);
  bench.run(1min);
  EXPECT_EQ(split_from(bench), 0u);
  std::set<ShardIndex> still;
  for (std::size_t i = first; i < bench.commits.size(); ++i) {
    for (const ShardRecord& record : bench.commits[i].records.shards)
      record.split ? void(still.insert(record.shard)) : void(still.erase(record.shard));
    EXPECT_LE(still.size(), 1u);
  }
}

// Where nobody leads nobody stands still, and all who hold it know which keys are still theirs.
TEST(Split, WithoutLeaders) {
  Bench bench;
  Workload workload = workload_of(2, 3);
  workload.state_model = StateModelId("online-offline");
  begin(bench, workload);
  order_split(bench);
  bench.run(10s);
  EXPECT_EQ(shards_of(bench, 4),
            "0: n1 n2 n3 of 4, not led; 1: n1 n2 n3 of 4, not led; 2: n1 n2 n3 of 4, not led; 3: n1 n2 n3 of 4, not led");
  EXPECT_EQ(bench.shard(3).view.others.size(), 3u);
  EXPECT_EQ(split_from(bench), 0u);
}

TEST(Split, EndsWithItsWorkload) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  bench.node("n2").obeys = false;
  order_split(bench);
  bench.run(1s);
  WorkloadDocument document = *bench.stored<WorkloadDocument>(key_of_t);
  document.deleted = true;
  bench.put(key_of_t, document);
  bench.node("n2").obeys = true;
  bench.run(1min);
  EXPECT_EQ(bench.shard(0).record.holders.size() + bench.shard(1).record.holders.size(), 0u);
  EXPECT_TRUE(bench.said("t is gone"));
}

// New ones are placed as any other: here two nodes come while it is split.
TEST(Split, IsBalancedAfterwards) {
  Bench bench;
  begin(bench, workload_of(4, 2), 2);
  order_split(bench);
  bench.run(1min);
  bench.join("n3", "z3");
  bench.join("n4", "z4");
  bench.run(10min);
  EXPECT_EQ(split_from(bench), 0u);
  for (const NodeState& node : bench.machine->nodes(bench.now)) EXPECT_EQ(node.replicas, 4u) << node.node.str();
}

// Whoever does not know the word would not know which keys are its own either.
TEST(Split, WaitsForSoftwareThatKnowsOfIt) {
  Bench bench;
  begin(bench, workload_of(1, 3));
  bench.end("n2");
  bench.join("n2", "z2", [](LiveDocument& live) { live.reads = format_split - 1; });
  order_split(bench);
  bench.run(1min);
  EXPECT_FALSE(bench.shard().record.split);
  EXPECT_NE(bench.why().find("is not split: the software of n2 is too old for it"), std::string::npos) << bench.why();
  bench.restart("n2");
  bench.run(1min);
  EXPECT_EQ(shards_of(bench, 2), "0: n1 n2 n3 of 2; 1: n1 n2 n3 of 2");
}

TEST(Split, IsRefusedWhereItMakesNoSense) {
  const WorkloadId t("t");
  Snapshot seen{.cluster = ClusterId("bench")};
  EXPECT_EQ(split_workload(seen, t).error().code, Code::not_found);
  WorkloadDocument document{.spec = workload_of(4, 2)};
  seen.workloads[t] = document;
  const auto changes = split_workload(seen, t);
  ASSERT_TRUE(changes);
  const auto after = parse_workload(changes->writes.at(0).text, t, "");
  EXPECT_EQ(after->spec.shards, 8u);
  EXPECT_EQ(after->split_from, 4u);
  seen.workloads[t] = *after;
  EXPECT_EQ(split_workload(seen, t).error().message,
            "t is being split from 4 shards into 8: `evenkeel workload show t` says how far it is");
  document.spec.control.key_map = KeyMap::range;
  seen.workloads[t] = document;
  EXPECT_EQ(split_workload(seen, t).error().code, Code::refused);
  document.spec.control.key_map = KeyMap::hash;
  seen.workloads[t] = document;
  RecordBucket& bucket = seen.records[{t, Bucket(0)}];
  for (std::uint32_t s = 0; s < 3000; ++s)
    bucket.shards.push_back({.shard = ShardIndex(s), .placement = {NodeId("n1"), NodeId("n2")}});
  EXPECT_EQ(split_workload(seen, t).error().code, Code::too_large);
}

}  // namespace
}  // namespace evenkeel::control::test
