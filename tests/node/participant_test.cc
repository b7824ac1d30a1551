#include "evenkeel/node/participant.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>

#include "evenkeel/base/text.h"
#include "tests/node/fake_cluster.h"
#include "tests/store/host_loop.h"
#include "tests/store/tapped_store.h"

namespace evenkeel::node {
namespace {

constexpr Duration ttl = 3s;

ParticipantOptions options_of(Rng& rng, const std::string& address = "h1:1") {
  ParticipantOptions options{.data = DataId("d1"), .rng = Rng(rng.next())};
  options.node.cluster = ClusterId("c1");
  options.node.name = NodeId("n1");
  options.node.address = address;
  options.node.session_ttl = ttl;
  return options;
}

// One process on a host of its own, whose clock is not quite the world's: its client of the store, its handler and its participant, which go
// together.
struct Process {
  Process(store::World& world, VirtualLoop& outside, Rng& rng, Disk& disk, Duration slowest, std::uint32_t failing,
          const std::string& client = "n1")
      : host(outside, rng.between(-5000, 5000), Duration(rng.between(0, Duration(1h).count()))),
        store(world.connect(client, host)),
        handler(host, Rng(rng.next()), disk, slowest, failing),
        participant(*store, handler, options_of(rng, client)) {}

  store::HostLoop host;
  std::unique_ptr<store::Store> store;
  SlowHandler handler;
  Participant participant;
};

struct Fixture {
  explicit Fixture(std::uint64_t seed, store::Faults faults = {})
      : rng(seed), world(loop, faults), controller(world, rng.split("c"), NodeId("n1")) {
    // What a controller relies on when it sees a node come.
    world.on_commit([this](const std::string&, const store::Txn& txn, const store::Committed& done) {
      for (const store::Write& write : done.succeeded ? txn.then : txn.otherwise) check_write(write);
    });
  }

  void check_write(const store::Write& write) {
    const auto key = controller.keys().parse(write.key);
    if (!key || write.value.empty()) return;
    if (key->kind == Key::Kind::beat) {
      const auto at = write.value.find("\"identity\":\"") + 12;
      const std::string identity = write.value.substr(at, write.value.find('"', at) - at);
      if (order.try_emplace(identity, order.size()).second) latest = identity;
      if (order.at(identity) + 1 < order.size()) wrong = "the beat of a session that is over";
    }
    if (key->kind == Key::Kind::report) {
      const auto report = parse_report(write.value, *key, write.key).value();
      auto& last = reported[write.key];
      const std::size_t now = order.at(format(report.incarnation));
      if (now < last) wrong = "a report of an earlier incarnation over one of a later";
      last = now;
    }
    if (key->kind != Key::Kind::live) return;
    const auto live = parse_live(write.value, NodeId("n1"), write.key).value();
    std::uint32_t written = 0;
    for (const Report& report : controller.read_reports()) written += report.incarnation == live.incarnation ? 1 : 0;
    // A late one of an earlier session is put right by the later one, when it looks.
    const bool is_latest = format(live.incarnation) == latest;
    if (is_latest && first_seen.insert(live.incarnation).second && written < live.inventory)
      wrong = fmt::format("live says {} reports, and there are {}", live.inventory, written);
  }

  // Runs on, with the controller at work, until it holds or the time is over.
  template <class Until>
  bool run(Duration time, bool change, Until until) {
    const Instant end = loop.now() + time;
    while (loop.now() < end) {
      controller.tick(change);
      loop.run_for(100ms);
      check();
      if (until()) return true;
    }
    return false;
  }
  bool run(Duration time, bool change) {
    return run(time, change, [] { return false; });
  }

  void check() {
    int leading = 0;
    for (const Process* process : processes) {
      bool leads = false;
      for (const ReplicaTarget& entry : controller.entries()) {
        for (std::uint64_t epoch = 1; epoch <= entry.version.epoch.value(); ++epoch) {
          leads = leads || process->participant.may_lead(shard_of(entry.shard.value()), Epoch(epoch));
        }
      }
      leading += leads ? 1 : 0;
      if (leads && format(process->participant.incarnation()) != latest) wrong = "leads after its session";
      if (process->handler.overlaps > 0) wrong = "two transitions of one shard";
    }
    if (leading > 1) wrong = "two processes of one name lead";
  }

  // Everything is as the controller says, in the store too.
  std::string difference(const Process& process) const {
    if (!process.participant.settled()) return "not settled";
    const auto live = controller.read_live();
    if (!live || live->incarnation != process.participant.incarnation()) return "live is not ours";
    const auto reports = controller.read_reports();
    if (live->inventory > reports.size()) return "live counts reports that are gone";
    std::map<ShardIndex, ReplicaReport> said;
    for (const Report& report : reports) {
      if (report.incarnation != live->incarnation) return "a report of before";
      for (const ReplicaReport& replica : report.replicas) said[replica.shard] = replica;
    }
    for (const ReplicaTarget& entry : controller.entries()) {
      if (controller.is_gone(entry.shard)) {
        if (said.contains(entry.shard)) return fmt::format("{} is reported, and gone", entry.shard);
        continue;
      }
      if (said[entry.shard].state != entry.state || said[entry.shard].version != entry.version)
        return fmt::format("{} is {} and not {}", entry.shard, said[entry.shard].state, entry.state);
      const bool leads = process.participant.may_lead(shard_of(entry.shard.value()), entry.version.epoch);
      if (leads != (entry.state.str() == "leader")) return "who leads is not who was told";
    }
    return "";
  }

  VirtualLoop loop;
  Rng rng;
  store::World world;
  FakeController controller;
  std::vector<const Process*> processes;
  std::map<std::string, std::size_t> order;  // of identities, as they came
  std::string latest;
  std::map<std::string, std::size_t> reported;
  std::set<Incarnation> first_seen;
  std::string wrong;
};

store::Faults faults_of(Rng& rng) {
  const auto some = [&](std::uint64_t most) { return static_cast<std::uint32_t>(rng.below(3) == 0 ? 0 : rng.below(most)); };
  return {.seed = rng.next(),
          .delay_min = 1ms,
          .delay_max = Duration(rng.between(1'000'000, 100'000'000)),
          .lost_requests = some(100'000),
          .lost_answers = some(100'000),
          .late_watch = some(150'000),
          .stale_lists = some(400'000),
          .timeout = 500ms,
          .lease = 2s,
          .history = rng.below(2) == 0 ? 10'000U : 30U};
}

TEST(Participant, JoinsAndDoesWhatItIsTold) {
  Fixture fixture(1);
  Disk disk{{shard_of(3), {shard_of(3), {Epoch(4), Change(2)}, Epoch(4), 77}}};
  Process process(fixture.world, fixture.loop, fixture.rng, disk, 100ms, 0);
  EXPECT_FALSE(process.participant.joined());
  fixture.loop.run_for(100ms);
  ASSERT_TRUE(process.participant.joined());
  const auto live = fixture.controller.read_live();
  ASSERT_TRUE(live);
  EXPECT_EQ(live->inventory, 1U);
  EXPECT_EQ(live->incarnation, process.participant.incarnation());
  const auto reports = fixture.controller.read_reports();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].replicas.at(0).version, (Version{Epoch(4), Change(2)}));
  EXPECT_TRUE(fixture.run(30s, false, [&] { return fixture.difference(process).empty(); })) << fixture.difference(process);
  EXPECT_EQ(fixture.wrong, "");
}

TEST(Participant, SaysSoonAndThenNowAndThenWhatItWaitsFor) {
  Fixture fixture(1);
  std::vector<std::string> said;
  Log log = Log::to([&](Level, std::string_view line) { said.emplace_back(line); }, {.level = Level::info}, wall_now);
  const auto options = [&] {
    ParticipantOptions made = options_of(fixture.rng);
    made.node.log = &log;
    made.owns_data = true;
    made.tells_waits = true;
    return made;
  };
  fixture.world.cut_off("n1");
  Disk disk;
  SlowHandler handler(fixture.loop, Rng(1), disk, 0s, 0);
  const auto store = fixture.world.connect("n1");
  Participant participant(*store, handler, options());
  fixture.loop.run_for(900ms);
  EXPECT_TRUE(said.empty());
  fixture.loop.run_for(200ms);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("the store does not answer; waiting for it"), std::string::npos) << said[0];
  fixture.loop.run_for(50s);
  EXPECT_EQ(said.size(), 1U);
  fixture.loop.run_for(12s);
  EXPECT_EQ(said.size(), 2U);
  fixture.world.heal("n1");
  ASSERT_TRUE(fixture.run(60s, false, [&] { return participant.joined(); }));
  said.clear();
  // Another one of its name, which waits for this one's end.
  SlowHandler other_handler(fixture.loop, Rng(1), disk, 0s, 0);
  const auto other_store = fixture.world.connect("other");
  ParticipantOptions others = options();
  others.owns_data = false;
  const Participant other(*other_store, other_handler, std::move(others));
  fixture.loop.run_for(1100ms);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("waits for the end of another session of this name"), std::string::npos) << said[0];
}

TEST(Participant, WritesItsNameAgainWhenItVanishes) {
  Fixture fixture(2);
  Disk disk;
  Process process(fixture.world, fixture.loop, fixture.rng, disk, 100ms, 0);
  fixture.loop.run_for(1s);
  const Incarnation incarnation = process.participant.incarnation();
  fixture.world.expire("n1");
  EXPECT_FALSE(fixture.controller.read_live());
  fixture.loop.run_for(2 * ttl);
  ASSERT_TRUE(fixture.controller.read_live());
  EXPECT_EQ(fixture.controller.read_live()->incarnation, incarnation);
  EXPECT_EQ(process.participant.incarnation(), incarnation);
}

TEST(Participant, LeadsNoMoreWhenItsSessionIsOver) {
  Fixture fixture(3);
  Disk disk;
  Process process(fixture.world, fixture.loop, fixture.rng, disk, 100ms, 0);
  const auto leads = [&] {
    return std::ranges::any_of(fixture.controller.entries(), [&](const ReplicaTarget& entry) {
      return process.participant.may_lead(shard_of(entry.shard.value()), entry.version.epoch);
    });
  };
  ASSERT_TRUE(fixture.run(60s, true, leads));
  const Incarnation before = process.participant.incarnation();
  fixture.world.cut_off("n1");
  const Instant cut = fixture.loop.now();
  while (leads()) fixture.loop.run_for(10ms);
  EXPECT_LE(fixture.loop.now() - cut, ttl);
  EXPECT_FALSE(process.participant.is_current());
  fixture.loop.run_for(1s);
  ASSERT_EQ(process.participant.replicas().size(), FakeController::shards);
  for (const auto& replica : process.participant.replicas()) EXPECT_EQ(replica.state.str(), "follower");  // and serves on
  fixture.world.heal("n1");
  EXPECT_TRUE(fixture.run(60s, false, [&] { return fixture.difference(process).empty(); })) << fixture.difference(process);
  EXPECT_NE(process.participant.incarnation(), before);
  EXPECT_EQ(fixture.wrong, "");
}

TEST(Participant, ErasesReportsOfWhatIsNotHeldAnyMore) {
  Fixture fixture(4);
  Disk disk;
  auto process = std::make_unique<Process>(fixture.world, fixture.loop, fixture.rng, disk, 100ms, 0);
  ASSERT_TRUE(fixture.run(60s, false, [&] { return fixture.difference(*process).empty(); }));
  process.reset();
  std::erase_if(disk, [](const auto& each) { return bucket_of(each.first, FakeController::buckets) == Bucket(0); });
  process = std::make_unique<Process>(fixture.world, fixture.loop, fixture.rng, disk, 100ms, 0);
  while (!process->participant.joined()) ASSERT_TRUE(fixture.loop.step());
  EXPECT_EQ(fixture.controller.read_reports().size(), 1U);  // of a workload that nobody has written down, so in bucket 0
  EXPECT_EQ(fixture.controller.read_live()->inventory, 1U);
  EXPECT_EQ(fixture.wrong, "");
}

// `live` never counts reports that are gone: who reads both for the first time would wait for them.
TEST(Participant, CountsFewerReportsWhenTheyGo) {
  Fixture fixture(8);
  Disk disk;
  for (std::uint32_t i = 0; i < FakeController::shards; ++i)
    disk[shard_of(i)] = {shard_of(i), {Epoch(1), Change(1)}, Epoch(1), 7};
  auto other = fixture.world.connect("operator");
  const WorkloadDocument workload{.spec = {.name = WorkloadId("t1"), .shards = FakeController::shards},
                                  .buckets = FakeController::buckets};
  other->put(fixture.controller.keys().workload(WorkloadId("t1")), format(workload), [](const Result<store::Committed>&) {});
  fixture.loop.run_for(10ms);
  Process process(fixture.world, fixture.loop, fixture.rng, disk, 100ms, 0);
  fixture.loop.run_for(1s);
  ASSERT_TRUE(fixture.controller.read_live());
  EXPECT_EQ(fixture.controller.read_live()->inventory, 2U);  // in the buckets that the workload has
  fixture.controller.drop_all();
  EXPECT_TRUE(fixture.run(30s, false, [&] { return fixture.controller.read_reports().empty(); }));
  EXPECT_EQ(fixture.controller.read_live()->inventory, 0U);
  EXPECT_TRUE(disk.empty());
  EXPECT_EQ(fixture.difference(process), "");
}

// The store was put back: it ends its session by itself, and leads no more when that is sent.
TEST(Participant, IsNotCurrentWhenItsEndIsSent) {
  Fixture fixture(12);
  Disk disk;
  SlowHandler handler(fixture.loop, Rng(1), disk, 0s, 0);
  store::TappedStore store(fixture.world.connect("n1"));
  Participant participant(store, handler, options_of(fixture.rng));
  ASSERT_TRUE(fixture.run(60s, false, [&] { return participant.settled(); }));
  const Incarnation before = participant.incarnation();
  const store::Revision old = fixture.world.revision();
  fixture.controller.tell_all();
  ASSERT_TRUE(fixture.run(60s, false, [&] { return participant.settled() && fixture.world.revision() > old; }));
  std::optional<bool> current;
  store.on_txn = [&](const store::Txn& txn) {
    if (!current && txn.then.at(0).value.find("\"ended\":true") != std::string::npos) current = participant.is_current();
    return std::optional<Error>();
  };
  ASSERT_TRUE(fixture.world.put_back(old));
  fixture.loop.run_for(ttl);
  ASSERT_TRUE(current.has_value());
  EXPECT_FALSE(*current);
  EXPECT_NE(participant.incarnation(), before);
}

// Everything of before is dropped while a new incarnation joins: the drops end when it writes something of which the caller says so.
void drop_while_joining(const std::function<bool(const Keys&, const store::Txn&)>& is_the_moment) {
  Fixture fixture(11);
  Disk disk;
  SlowHandler handler(fixture.loop, Rng(1), disk, 0s, 0);
  store::TappedStore store(fixture.world.connect("n1"));
  Participant participant(store, handler, options_of(fixture.rng));
  ASSERT_TRUE(fixture.run(60s, false, [&] { return participant.settled() && disk.size() == FakeController::shards; }));
  handler.hangs = true;
  handler.hangs_to = state_dropped;
  fixture.controller.drop_all();
  fixture.run(1s, false);
  ASSERT_EQ(handler.busy.size(), FakeController::shards);
  fixture.world.cut_off("n1");
  while (participant.is_current()) fixture.loop.run_for(100ms);
  fixture.loop.run_for(100ms);
  store.on_txn = [&](const store::Txn& txn) {
    if (handler.hangs && is_the_moment(fixture.controller.keys(), txn)) handler.go_on();
    return std::optional<Error>();
  };
  fixture.world.heal("n1");
  fixture.loop.run_for(10 * ttl);
  ASSERT_TRUE(participant.joined());
  EXPECT_TRUE(disk.empty());
  EXPECT_TRUE(fixture.controller.read_reports().empty());
  EXPECT_EQ(fixture.controller.read_live()->inventory, 0U);
}

bool puts(const Keys& keys, const store::Txn& txn, Key::Kind kind) {
  return std::ranges::any_of(txn.then, [&](const store::Write& write) {
    const auto key = keys.parse(write.key);
    return key && key->kind == kind && !write.value.empty();
  });
}

// Otherwise it would be waited for reports that are not there, for ever.
TEST(Participant, CountsFewerReportsIfTheyGoBeforeItsNameIsThere) {
  drop_while_joining([](const Keys& keys, const store::Txn& txn) { return puts(keys, txn, Key::Kind::report); });
}

TEST(Participant, CountsFewerReportsIfTheyGoWhileItsNameIsWritten) {
  drop_while_joining([](const Keys& keys, const store::Txn& txn) { return puts(keys, txn, Key::Kind::live); });
}

// A node that has done everything that it was told.
struct Settled : Fixture {
  explicit Settled(std::uint64_t seed) : Fixture(seed) {
    EXPECT_TRUE(run(60s, false, [&] { return difference(process).empty(); }));
  }
  // As an operator writes it.
  void permit(const PermitDocument& document) {
    operators->put(controller.keys().permit(NodeId("n1")), format(document), [](const Result<store::Committed>&) {});
  }
  Disk disk;
  Process process{world, loop, rng, disk, 100ms, 0};
  std::unique_ptr<store::Store> operators = world.connect("operator");
};

TEST(Participant, LeavesWhenItMay) {
  Settled fixture(5);
  Process& process = fixture.process;
  bool left = false;
  process.participant.leave(40s, [&](const Result<>& done) {
    EXPECT_TRUE(done) << done.error().message;
    left = true;
  });
  fixture.loop.run_for(5s);
  EXPECT_FALSE(left);
  EXPECT_TRUE(fixture.controller.read_live()->leaving);
  PermitDocument permit = parse_permit(fixture.world.contents("/evenkeel/c1/permits/").entries.at(0).value, "permit").value();
  EXPECT_EQ(permit.stage, PermitDocument::Stage::asked);
  EXPECT_FALSE(permit.timeout.has_value());  // how long it is waited for then is not what it has to go in
  permit.stage = PermitDocument::Stage::go;
  fixture.permit(permit);
  fixture.loop.run_for(2s);
  EXPECT_TRUE(left);
  for (const auto& replica : process.participant.replicas()) EXPECT_EQ(replica.state.str(), "offline");
  for (const Report& report : fixture.controller.read_reports()) {  // the last one, too
    for (const ReplicaReport& replica : report.replicas) EXPECT_EQ(replica.state.str(), "offline");
  }
  EXPECT_FALSE(fixture.controller.read_live());
  EXPECT_NE(fixture.world.contents("/evenkeel/c1/beats/").entries.at(0).value.find("\"ended\":true"), std::string::npos);
}

// An operator has asked already, and more than a node would: that stands.
TEST(Participant, LeavesWithThePermitThatIsThere) {
  Settled fixture(13);
  Process& process = fixture.process;
  const PermitDocument permit{.incarnation = process.participant.incarnation(), .allow_outage = true, .timeout = 1h};
  fixture.permit(permit);
  fixture.loop.run_for(1s);
  process.participant.leave(40s, [](const Result<>&) {});
  fixture.loop.run_for(5s);
  EXPECT_EQ(fixture.world.contents("/evenkeel/c1/permits/").entries.at(0).value, format(permit));
}

// A store that does not answer cannot keep it: neither when it asks for a permit, nor when it ends its session.
TEST(Participant, LeavesInTimeWhateverTheStoreDoes) {
  for (const bool at_the_end : {false, true}) {
    Fixture fixture(14);
    Disk disk;
    SlowHandler handler(fixture.loop, Rng(1), disk, 0s, 0);
    store::TappedStore store(fixture.world.connect("n1"));
    Participant participant(store, handler, options_of(fixture.rng));
    ASSERT_TRUE(fixture.run(60s, false, [&] { return participant.settled(); }));
    store.silent = !at_the_end;
    store.on_txn = [&](const store::Txn& txn) {
      if (txn.then.at(0).value.find("\"ended\":true") != std::string::npos) store.silent = true;
      return std::optional<Error>();
    };
    std::string said;
    participant.leave(1s, [&](const Result<>& done) { said = done ? "ok" : done.error().message; });
    fixture.loop.run_for(1s);
    EXPECT_EQ(said, "not finished: no permit: nobody answered; the session's end could not be written in time");
  }
}

// Nobody gives a permit, and it leads something: in the end it goes all the same, and says so.
TEST(Participant, LeavesInTheEnd) {
  Fixture fixture(6);
  Disk disk;
  Process process(fixture.world, fixture.loop, fixture.rng, disk, 100ms, 0);
  fixture.processes = {&process};
  const auto leads = [&] {
    return std::ranges::any_of(process.participant.replicas(),
                               [](const auto& replica) { return replica.state.str() == "leader"; });
  };
  ASSERT_TRUE(fixture.run(60s, true, leads));
  std::string said;
  process.participant.leave(20s, [&](const Result<>& done) { said = done ? "ok" : done.error().message; });
  EXPECT_TRUE(fixture.run(21s, false, [&] { return !said.empty(); }));
  EXPECT_EQ(said, "not finished: no permit: nobody answered");
  EXPECT_FALSE(leads());
  EXPECT_EQ(fixture.wrong, "");
}

// What does not close in time is named, and its session is not ended: it may still act.
TEST(Participant, TellsWhatItCouldNotFinishByItsDeadline) {
  Settled fixture(9);
  Process& process = fixture.process;
  process.handler.hangs = true;
  std::string said;
  process.participant.leave(20s, [&](const Result<>& done) { said = done ? "ok" : done.error().message; });
  const Instant begun = fixture.loop.now();
  EXPECT_TRUE(fixture.run(21s, false, [&] { return !said.empty(); }));
  EXPECT_LE(fixture.loop.now() - begun, 20s + 300ms);
  EXPECT_TRUE(said.starts_with("not finished: t1/0 is follower; t1/1 is follower")) << said;
  const std::string beat = fixture.world.contents("/evenkeel/c1/beats/").entries.at(0).value;
  EXPECT_EQ(beat.find("\"ended\":true"), std::string::npos) << beat;
}

// Half a ttl after its session was lost it should have stepped down. That is said once of each shard.
TEST(Participant, SaysThatItIsStuck) {
  Fixture fixture(10);
  Disk disk;
  SlowHandler handler(fixture.loop, Rng(1), disk, 0s, 0);
  auto store = fixture.world.connect("n1");
  ParticipantOptions options = options_of(fixture.rng);
  std::vector<ShardId> stuck;
  options.on_stuck = [&](const Stuck& one) { stuck.push_back(one.shard); };
  Participant participant(*store, handler, std::move(options));
  const auto leaders = [&] {
    std::vector<ShardId> shards;
    for (const auto& replica : participant.replicas()) {
      if (replica.state.str() == "leader" && !replica.running) shards.push_back(replica.shard);
    }
    return shards;
  };
  ASSERT_TRUE(fixture.run(60s, true, [&] { return leaders().size() >= 2; }));
  const std::vector<ShardId> led = leaders();
  handler.hangs = true;
  fixture.world.cut_off("n1");
  fixture.loop.run_for(ttl);  // as much of it as is left, and less than half of one more
  while (participant.is_current()) fixture.loop.run_for(10ms);
  EXPECT_TRUE(stuck.empty());
  fixture.loop.run_for(ttl / 2 + 20ms);
  std::ranges::sort(stuck);
  EXPECT_EQ(stuck, led);
  fixture.loop.run_for(10 * ttl);
  EXPECT_EQ(stuck.size(), led.size());
}

// However much handlers have to say, and in however many shards: it is cut, between two characters, and can be written.
TEST(Participant, ReportsErrorsOfAnyLength) {
  Fixture fixture(15);
  Disk disk;
  SlowHandler handler(fixture.loop, Rng(1), disk, 0s, 100);
  for (int i = 0; i < 400'000; ++i) handler.words += "ü\n";
  auto store = fixture.world.connect("n1");
  Participant participant(*store, handler, options_of(fixture.rng));
  ASSERT_TRUE(fixture.run(60s, false, [&] {
    const auto reports = fixture.controller.read_reports();
    return reports.size() == FakeController::buckets && std::ranges::all_of(reports, [](const Report& report) {
             return std::ranges::all_of(report.replicas, [](const ReplicaReport& replica) { return !replica.error.empty(); });
           });
  }));
  for (const Report& report : fixture.controller.read_reports()) {
    for (const ReplicaReport& replica : report.replicas) {
      EXPECT_LE(replica.error.size(), 4096U);
      EXPECT_TRUE(replica.error.ends_with("…"));
      EXPECT_FALSE(find_invalid_utf8(replica.error));
    }
  }
}

// Who holds something is not ready before it was told what is to become of that; who holds nothing is.
TEST(Participant, IsReadyWhenItWasToldWhatBecomesOfWhatItHolds) {
  Fixture fixture(16);
  auto other = fixture.world.connect("operator");
  const WorkloadDocument workload{.spec = {.name = WorkloadId("t1"), .shards = FakeController::shards},
                                  .buckets = FakeController::buckets};
  other->put(fixture.controller.keys().workload(WorkloadId("t1")), format(workload), [](const Result<store::Committed>&) {});
  fixture.loop.run_for(10ms);
  const ShardId unknown{WorkloadId("t9"), ShardIndex(0)};
  Disk disk{{unknown, {unknown, {Epoch(1), Change(1)}, Epoch(1), 7}}};
  {
    Process process(fixture.world, fixture.loop, fixture.rng, disk, 100ms, 0);
    fixture.loop.run_for(5s);
    EXPECT_TRUE(process.participant.ready());  // nobody knows of that workload
  }
  disk[shard_of(3)] = {shard_of(3), {Epoch(4), Change(2)}, Epoch(4), 77};
  Process process(fixture.world, fixture.loop, fixture.rng, disk, 100ms, 0);
  fixture.loop.run_for(3 * ttl);
  EXPECT_TRUE(process.participant.joined());
  EXPECT_FALSE(process.participant.ready());
  EXPECT_EQ(process.participant.untold(), 1U);
  EXPECT_TRUE(fixture.run(30s, false, [&] { return process.participant.ready(); }));
}

TEST(Participant, PulsesWhatChanged) {
  Fixture fixture(7);
  Disk disk{{shard_of(3), {shard_of(3), {Epoch(4), Change(2)}, Epoch(4), 77}}};
  SlowHandler handler(fixture.loop, Rng(1), disk, 0s, 0);
  auto store = fixture.world.connect("n1");
  ParticipantOptions options = options_of(fixture.rng);
  std::vector<Pulse> pulses;
  options.send_pulse = [&](const Pulse& pulse) { pulses.push_back(pulse); };
  Participant participant(*store, handler, std::move(options));
  fixture.loop.run_for(ttl * 7 / 6);
  ASSERT_EQ(pulses.size(), 4U);
  EXPECT_EQ(pulses[0].replicas.at(0).progress, 77U);
  EXPECT_TRUE(pulses[1].replicas.empty());
  disk.begin()->second.progress = 78;
  participant.pulse_now();
  EXPECT_EQ(pulses[4].replicas.at(0).progress, 78U);
  EXPECT_EQ(pulses[4].count, 5U);
}

TEST(Participant, PulsesEverythingOnlyWhenAsked) {
  Fixture fixture(7);
  Disk disk{{shard_of(3), {shard_of(3), {Epoch(4), Change(2)}, Epoch(4), 77}}};
  SlowHandler handler(fixture.loop, Rng(1), disk, 0s, 0);
  auto store = fixture.world.connect("n1");
  ParticipantOptions options = options_of(fixture.rng);
  std::vector<Pulse> pulses;
  bool all = true;
  options.send_pulse = [&](const Pulse& pulse) { pulses.push_back(pulse); };
  options.pulse_all = [&] { return std::exchange(all, false); };
  Participant participant(*store, handler, std::move(options));
  fixture.loop.run_for(ttl * 10);
  ASSERT_GT(pulses.size(), 20U);
  EXPECT_EQ(pulses[0].replicas.size(), 1U);
  for (std::size_t i = 1; i < pulses.size(); ++i) EXPECT_TRUE(pulses[i].replicas.empty()) << i;
  all = true;
  participant.pulse_now();
  EXPECT_EQ(pulses.back().replicas.size(), 1U);
}

// It stands still while a beat is answered: for a moment its session seems to be over, and is not. Its pulses go on.
TEST(Participant, PulsesAgainAfterItStoodStill) {
  int kept = 0;
  for (int run = 0; run < 300; ++run) {
    Rng rng(static_cast<std::uint64_t>(run));
    const Duration delay(rng.between(Duration(1ms).count(), Duration(200ms).count()));
    Fixture fixture(7, {.delay_min = delay, .delay_max = delay});
    store::HostLoop host(fixture.loop, 0, 0s);
    Disk disk;
    SlowHandler handler(host, Rng(1), disk, 0s, 0);
    auto store = fixture.world.connect("n1", host);
    ParticipantOptions options = options_of(fixture.rng);
    std::size_t pulses = 0;
    options.send_pulse = [&](const Pulse&) { ++pulses; };
    Participant participant(*store, handler, std::move(options));
    fixture.loop.run_for(ttl + Duration(rng.between(0, Duration(ttl / 3).count())));
    const Incarnation before = participant.incarnation();
    host.pause(Duration(rng.between(Duration(ttl / 2).count(), Duration(ttl).count())));
    fixture.loop.run_for(ttl * 2);
    if (participant.incarnation() != before) continue;
    ++kept;
    const std::size_t so_far = pulses;
    fixture.loop.run_for(ttl);
    EXPECT_GE(pulses, so_far + 2) << run;
  }
  EXPECT_GT(kept, 0);
}

// Whatever goes wrong: nobody leads who may not, and in the end everything is as it was told.
RC_GTEST_PROP(ParticipantFaults, EndsAsTold, (std::uint64_t seed)) {
  Rng rng(seed);
  Fixture fixture(rng.next(), faults_of(rng));
  Disk disk;
  auto process = std::make_unique<Process>(fixture.world, fixture.loop, rng, disk, 2s, 10);
  for (int i = 0; i < 12; ++i) {
    fixture.processes = {process.get()};
    fixture.run(Duration(rng.between(0, Duration(6s).count())), true);
    const std::uint64_t what = rng.below(5);
    if (what == 0) fixture.world.expire("n1");
    if (what == 1) fixture.world.cut_off("n1");
    if (what == 2) fixture.world.heal("n1");
    if (what == 4) process->host.pause(Duration(rng.between(0, Duration(2 * ttl).count())));
    if (what == 3) {  // it crashes, and is started again
      fixture.processes.clear();
      process.reset();
      process = std::make_unique<Process>(fixture.world, fixture.loop, rng, disk, 2s, 10);
    }
    if (!fixture.wrong.empty()) RC_FAIL(fixture.wrong);
  }
  fixture.processes = {process.get()};
  fixture.world.heal("n1");
  fixture.world.set_faults({});
  process->handler.failing_percent = 0;
  fixture.controller.tell_all();
  const bool done = fixture.run(10min, false, [&] { return fixture.difference(*process).empty(); });
  if (!done) RC_FAIL(fixture.difference(*process));
  if (!fixture.wrong.empty()) RC_FAIL(fixture.wrong);
}

// Two processes of one name: the second waits until the first one's session is over.
RC_GTEST_PROP(ParticipantFaults, TwinsTakeTurns, (std::uint64_t seed)) {
  Rng rng(seed);
  Fixture fixture(rng.next(), faults_of(rng));
  Disk disk_a, disk_b;
  Process a(fixture.world, fixture.loop, rng, disk_a, 1s, 5, "a");
  Process b(fixture.world, fixture.loop, rng, disk_b, 1s, 5, "b");
  fixture.processes = {&a, &b};
  for (int i = 0; i < 8; ++i) {
    fixture.run(Duration(rng.between(0, Duration(10s).count())), true);
    const bool first = rng.chance(1, 2);
    const std::string one = first ? "a" : "b";
    const std::uint64_t what = rng.below(4);
    if (what == 0) fixture.world.cut_off(one);
    if (what == 1) fixture.world.heal(one);
    if (what > 1) (first ? a : b).host.pause(Duration(rng.between(0, Duration(3 * ttl).count())));
    if (!fixture.wrong.empty()) RC_FAIL(fixture.wrong);
  }
}

}  // namespace
}  // namespace evenkeel::node
