#include "evenkeel/route/shell/router.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/store/memory/memory.h"
#include "tests/route/histories.h"

namespace evenkeel::route {
namespace {

const ClusterId cluster("pages");
const Keys keys(cluster);
const WorkloadId t1("t1");

ViewBucket bucket(std::uint32_t number, std::vector<ShardView> shards) {
  return {.workload = t1, .bucket = Bucket(number), .shards_in_all = 8, .shards = std::move(shards)};
}
ShardView view(std::uint32_t shard, std::uint64_t epoch, const char* leader) {
  return {.shard = ShardIndex(shard), .version = {Epoch(epoch), Change(0)}, .leader = NodeId(leader)};
}
LiveDocument live(const char* node, std::string address = "10.0.0.1:1", std::string zone = "") {
  return {.node = NodeId(node), .data = DataId("d"), .address = std::move(address), .version = "1", .zone = std::move(zone)};
}

// What the store says, as a table. Of nodes that are not live the store says nothing, so what the router remembers of them is taken over.
Table table_of(const store::World& world, const Table& remembers) {
  Table table;
  for (const store::Entry& entry : world.contents(keys.root()).entries) {
    const auto key = keys.parse(entry.key);
    if (key->kind == Key::Kind::view) table = table.with(parse_view(entry.value, key->workload, key->bucket, entry.key).value());
    if (key->kind == Key::Kind::live) table = table.with(parse_live(entry.value, key->node, entry.key).value());
  }
  for (const NodeId& node : remembers.nodes()) {
    if (table.live(node)) continue;
    const Endpoint& endpoint = *remembers.endpoint(node);
    table = table.with(LiveDocument{.node = node, .address = endpoint.address, .zone = endpoint.zone}).without_live(node);
  }
  return table;
}

// A router and somebody who writes, on virtual time.
struct Scene {
  explicit Scene(store::Faults faults = {}) : world(loop, faults) {}

  void put(const std::string& key, const std::string& text) {
    writer->put(key, text, [](const auto&) {});
  }
  void put(const ViewBucket& document) { put(keys.view(document.workload, document.bucket), format(document)); }
  void put(const LiveDocument& document) { put(keys.live(document.node), format(document)); }
  void erase(const std::string& key) {
    writer->erase(key, [](const auto&) {});
  }
  Router& start(RouterOptions options = {}) {
    options.log = &log;
    return router.emplace(*reader, cluster, options);
  }

  VirtualLoop loop;
  store::World world;
  std::unique_ptr<store::Store> writer = world.connect("writer");
  std::unique_ptr<store::Store> reader = world.connect("reader");
  std::vector<std::string> logged;
  Log log = Log::to([this](Level, std::string_view line) { logged.emplace_back(line); }, {}, [] { return WallTime(); });
  std::optional<Router> router;
};

TEST(Router, HasTheViewAndItsChanges) {
  Scene scene;
  scene.put(bucket(0, {view(0, 1, "n1"), view(3, 1, "n1")}));
  scene.put(live("n1"));
  scene.loop.run_for(1s);
  const Router& router = scene.start();
  EXPECT_FALSE(router.ready());
  EXPECT_EQ(*router.table(), Table());
  EXPECT_FALSE(router.age().has_value());
  scene.loop.run_for(1s);
  EXPECT_TRUE(router.ready());
  EXPECT_EQ(*router.table(), table_of(scene.world, *router.table()));
  const std::shared_ptr<const Table> before = router.table();

  scene.put(bucket(0, {view(0, 2, "n2"), view(3, 1, "n1")}));
  scene.put(live("n2", "10.0.0.2:1"));
  scene.erase(keys.live(NodeId("n1")));
  scene.loop.run_for(1s);
  EXPECT_EQ(*router.table(), table_of(scene.world, *router.table()));
  EXPECT_EQ(router.table()->pick(ShardId{t1, ShardIndex(0)}, Role::leader)->address, "10.0.0.2:1");
  EXPECT_EQ(router.table()->pick(ShardId{t1, ShardIndex(3)}, Role::leader)->address, "10.0.0.1:1");
  // Who holds an older table goes on with it.
  EXPECT_EQ(before->pick(ShardId{t1, ShardIndex(0)}, Role::leader)->address, "10.0.0.1:1");
  EXPECT_TRUE(scene.logged.empty());
}

TEST(Router, TellsWhatChanged) {
  Scene scene;
  std::vector<std::string> told;
  Router& router = scene.start();
  router.on_change([&](const std::shared_ptr<const Table>& table, const std::vector<ShardId>& shards) {
    EXPECT_EQ(table, router.table());
    std::string line = "changed";
    for (const ShardId& id : shards) line += " " + format(id);
    told.push_back(line);
  });
  const auto expect = [&](const std::vector<std::string>& lines) {
    scene.loop.run_for(1s);
    EXPECT_EQ(told, lines);
    told.clear();
  };
  expect({"changed"});  // nothing is there, and that is known now
  scene.put(bucket(0, {view(0, 1, "n1"), view(3, 1, "n1")}));
  expect({"changed t1/0 t1/3"});
  scene.put(bucket(0, {view(0, 1, "n1"), view(3, 2, "n1")}));
  expect({"changed t1/3"});
  scene.put(bucket(0, {view(0, 1, "n1"), view(3, 1, "n9")}));  // older than what is known
  expect({});
  scene.put(live("n1"));
  expect({"changed"});
  scene.put(live("n1"));
  expect({});
  scene.erase(keys.view(t1, Bucket(0)));
  expect({"changed t1/0 t1/3"});
  EXPECT_FALSE(router.table()->has(t1));
}

TEST(Router, PicksNearItsOwnZoneAndSpreadsByItsSalt) {
  Scene scene;
  ShardView shard = view(0, 1, "n1");
  shard.others = {{NodeId("n2"), StateId("follower")}, {NodeId("n3"), StateId("follower")}};
  ViewBucket document = bucket(0, {shard});
  document.shards_in_all = 1;
  scene.put(document);
  scene.put(live("n1", "10.0.0.1:1", "b"));
  scene.put(live("n2", "10.0.0.2:1", "a"));
  scene.put(live("n3", "10.0.0.3:1", "a"));
  std::map<std::string, int> picked;
  for (std::uint64_t salt = 0; salt < 20; ++salt) {
    const Router& router = scene.start({.zone = "a", .salt = salt});
    scene.loop.run_for(1s);
    const auto to = router.pick(t1, "user-17", Role::any);
    ASSERT_TRUE(to.has_value());
    ++picked[to->node.str()];
    EXPECT_EQ(router.pick(t1, "user-17", Role::any)->node, to->node);
    EXPECT_EQ(router.pick(t1, "user-17", Role::leader)->node, NodeId("n1"));
  }
  EXPECT_EQ(picked.size(), 2U);
  EXPECT_FALSE(picked.contains("n1"));
}

TEST(Router, KeepsWhatItKnewWhereADocumentCannotBeRead) {
  Scene scene;
  scene.put(bucket(0, {view(0, 1, "n1")}));
  scene.put(bucket(1, {view(1, 1, "n1")}));
  scene.put(live("n1"));
  scene.put(keys.view(t1, Bucket(2)), "not even JSON");
  const Router& router = scene.start();
  scene.loop.run_for(1s);
  EXPECT_EQ(scene.logged.size(), 1U);
  const Table before = *router.table();
  EXPECT_EQ(router.table()->pick(ShardId{t1, ShardIndex(0)}, Role::leader)->node, NodeId("n1"));

  scene.put(keys.view(t1, Bucket(0)), R"({"format": 99})");
  scene.put(keys.live(NodeId("n1")), "[]");
  scene.loop.run_for(1s);
  ASSERT_EQ(scene.logged.size(), 3U);
  EXPECT_NE(scene.logged[1].find("view/t1/0"), std::string::npos) << scene.logged[1];
  EXPECT_NE(scene.logged[2].find("live/n1"), std::string::npos) << scene.logged[2];
  EXPECT_TRUE(router.table()->shares_all(before));

  // A fresh list with them in it takes nothing away either; what is not in it goes.
  scene.world.set_faults({.late_watch = 1'000'000});
  scene.erase(keys.view(t1, Bucket(1)));
  scene.put(keys.live(NodeId("n1")), "[]");
  scene.loop.run_for(1s);
  EXPECT_NE(router.table()->find({t1, ShardIndex(0)}), nullptr);
  EXPECT_EQ(router.table()->find({t1, ShardIndex(1)}), nullptr);
  EXPECT_TRUE(router.table()->live(NodeId("n1")));

  scene.put(bucket(0, {view(0, 2, "n1")}));
  scene.erase(keys.live(NodeId("n1")));
  scene.loop.run_for(1s);
  EXPECT_EQ(router.table()->find({t1, ShardIndex(0)})->version.epoch, Epoch(2));
  EXPECT_FALSE(router.table()->live(NodeId("n1")));
}

TEST(Router, SaysHowOldItsKnowledgeMayBe) {
  Scene scene({.delay_min = 1ms, .delay_max = 1ms});
  const Router& router = scene.start({.ask_every = 2s});
  scene.loop.run_for(1min);
  EXPECT_LE(*router.age(), 2s + 2ms);
  scene.world.cut_off("reader");
  scene.loop.run_for(1min);
  EXPECT_GE(*router.age(), 1min);
  EXPECT_LE(*router.age(), 1min + 2s + 2ms);
  scene.world.heal("reader");
  scene.loop.run_for(10s);
  EXPECT_LE(*router.age(), 2s + 2ms);
}

TEST(Router, MayBeDestroyedByItsOwnCallback) {
  Scene scene;
  int called = 0;
  scene.start().on_change([&](const auto&, const auto&) {
    ++called;
    scene.router.reset();
  });
  scene.put(bucket(0, {view(0, 1, "n1")}));
  scene.put(live("n1"));
  scene.loop.run_until_idle(100'000);
  EXPECT_TRUE(scene.loop.idle());  // it left no timer behind
  EXPECT_EQ(called, 1);
}

// A store that refuses the first watches, as one does that has not been told yet who may read what.
class Refusing final : public store::Store {
 public:
  Refusing(store::Store& to, int times) : Store(to.loop()), to_(to), left_(times) {}

 protected:
  void do_get(std::string key, store::Answer<store::Read> answer) override { to_.get(std::move(key), std::move(answer)); }
  void do_list(std::string prefix, store::Answer<store::Listing> answer) override {
    to_.list(std::move(prefix), std::move(answer));
  }
  void do_txn(store::Txn txn, store::Answer<store::Committed> answer) override { to_.txn(std::move(txn), std::move(answer)); }
  void do_status(store::Answer<store::Status> answer) override { to_.status(std::move(answer)); }
  void do_compact(store::Revision before, store::Answer<store::Revision> answer) override {
    to_.compact(before, std::move(answer));
  }
  std::unique_ptr<store::Watching> do_watch(std::string prefix, std::optional<store::Revision> after,
                                            store::OnChanges on_changes) override {
    if (left_ == 0) return to_.watch(std::move(prefix), after, std::move(on_changes));
    --left_;
    loop().post([on_changes = std::move(on_changes)]() mutable { on_changes(fail(Code::denied, "may not read this")); });
    return std::make_unique<store::Watching>();
  }

 private:
  store::Store& to_;
  int left_;
};

TEST(Router, WatchesAgainWhereItWasRefused) {
  Scene scene;
  Refusing store(*scene.reader, 3);
  Router router(store, cluster, {.watch_again = 7s, .log = &scene.log});
  scene.put(bucket(0, {view(0, 1, "n1")}));
  scene.put(live("n1"));
  scene.loop.run_for(8s);
  EXPECT_FALSE(router.ready());
  EXPECT_EQ(scene.logged.size(), 3U);
  scene.loop.run_for(7s);
  EXPECT_TRUE(router.ready());
  EXPECT_EQ(*router.table(), table_of(scene.world, *router.table()));
}

// 2. Under faults.

// Writes what a controller and nodes would, and now and then what nobody can read.
class Writer {
 public:
  Writer(Scene& scene, Rng& rng) : scene_(scene), rng_(rng) {
    for (const char* workload : {"t1", "t2"}) {
      for (std::uint32_t b = 0; b < 3; ++b) documents_.push_back(random_bucket(rng, WorkloadId(workload), b, 3, 10).back());
    }
  }

  void write() {
    ViewBucket& document = documents_[rng_.below(documents_.size())];
    const std::string key = keys.view(document.workload, document.bucket);
    switch (rng_.below(10)) {
      case 0:
        return scene_.erase(key);
      case 1:
        return scene_.put(key, R"({"format": 1, "shards": "what")");
      case 2:
        return scene_.put(random_live(rng_));
      case 3:
        return scene_.erase(keys.live(random_node(rng_)));
      case 4:
        return scene_.put(keys.live(random_node(rng_)), R"({"format": 2})");
      default:
        advance(document);
        return scene_.put(document);
    }
  }

  // The last word on everything.
  void settle() {
    for (ViewBucket& document : documents_) {
      advance(document);
      if (rng_.chance(1, 4)) {
        scene_.erase(keys.view(document.workload, document.bucket));
      } else {
        scene_.put(document);
      }
    }
    for (int node = 0; node < 7; ++node) scene_.erase(keys.live(NodeId(fmt::format("n{}", node))));
    scene_.loop.run_for(10s);
    for (int i = 0; i < 4; ++i) scene_.put(random_live(rng_));
  }

 private:
  void advance(ViewBucket& document) {
    for (ShardView& shard : document.shards) {
      if (rng_.chance(1, 2)) shard = random_view(rng_, shard.shard, later_than(shard.version, rng_));
    }
  }

  Scene& scene_;
  Rng& rng_;
  std::vector<ViewBucket> documents_;
};

store::Faults random_faults(Rng& rng) {
  const auto some = [&](std::uint64_t most) { return static_cast<std::uint32_t>(rng.chance(1, 3) ? 0 : rng.below(most)); };
  return {.seed = rng.next(),
          .delay_min = 1ms,
          .delay_max = 300ms,
          .lost_requests = some(200'000),
          .lost_answers = some(200'000),
          .late_watch = some(400'000),
          .stale_lists = some(400'000),
          .history = rng.chance(1, 2) ? 10'000U : 10U};
}

void disturb(Scene& scene, Rng& rng) {
  switch (rng.below(40)) {
    case 0:
      return scene.world.cut_off("reader");
    case 1:
      return scene.world.heal("reader");
    case 2:
      return scene.world.stop();
    case 3:
      return scene.world.resume();
    default:
      return;
  }
}

RC_GTEST_PROP(Router, EndsWithWhatTheStoreSays, (std::uint64_t seed)) {
  Rng rng(seed);
  Scene scene(random_faults(rng));
  Writer writer(scene, rng);
  for (auto before = rng.below(10); before > 0; --before) writer.write();
  Router& router = scene.start({.ask_every = 1s, .watch_again = 1s});
  std::map<ShardId, ShardView> followed;  // by what the callback names alone
  bool went_back = false;
  router.on_change([&](const std::shared_ptr<const Table>& table, const std::vector<ShardId>& changed) {
    for (const ShardId& id : changed) {
      const ShardView* now = table->find(id);
      if (now == nullptr) {
        followed.erase(id);
      } else {
        went_back = went_back || (followed.contains(id) && followed[id].version >= now->version);
        followed[id] = *now;
      }
    }
  });
  for (auto steps = rng.below(80); steps > 0; --steps) {
    writer.write();
    disturb(scene, rng);
    scene.loop.run_for(Duration(rng.between(0, Duration(200ms).count())));
  }
  scene.world.set_faults({});
  scene.world.heal("reader");
  scene.world.resume();
  scene.loop.run_for(30s);
  writer.settle();
  scene.loop.run_for(30s);

  const Table expected = table_of(scene.world, *router.table());
  RC_ASSERT(*router.table() == expected);
  RC_ASSERT(router.ready());
  RC_ASSERT(*router.age() <= 1s);
  RC_ASSERT(!went_back);
  std::map<ShardId, ShardView> all;
  for (const ShardId& id : expected.changed_since(Table())) all[id] = *expected.find(id);
  RC_ASSERT(followed == all);
}

// 3. Threads.

TEST(Router, IsReadByOtherThreadsWhileItChanges) {
  Scene scene;
  const Router& router = scene.start();
  const auto put = [&](std::uint64_t epoch) {
    ViewBucket document = bucket(0, {view(0, epoch, "n1")});
    document.shards_in_all = 1;
    scene.put(document);
  };
  put(1);
  scene.put(live("n1"));
  scene.loop.run_for(1s);
  constexpr std::uint64_t last = 300;
  std::atomic<int> wrong = 0;
  const auto read = [&] {
    for (std::uint64_t seen = 1; seen < last;) {
      const auto table = router.table();
      const auto at_once = router.pick(t1, "any key of a single shard", Role::leader);
      const ShardView* shard = table->find({t1, ShardIndex(0)});
      const auto picked = table->pick(ShardId{t1, ShardIndex(0)}, Role::leader);
      if (shard == nullptr || !picked || picked->version != shard->version || shard->version.epoch.value() < seen) ++wrong;
      if (!at_once || shard == nullptr || at_once->version < shard->version) ++wrong;
      if (shard == nullptr) return;
      seen = shard->version.epoch.value();
    }
  };
  std::jthread first(read);
  std::jthread second(read);
  for (std::uint64_t epoch = 2; epoch <= last; ++epoch) {
    put(epoch);
    scene.loop.run_for(1ms);
  }
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace evenkeel::route
