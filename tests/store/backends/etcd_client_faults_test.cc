// The etcd client when servers are killed, paused or start again.

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "tests/store/backends/etcd_client.h"
#include "tests/store/backends/servers.h"

namespace evenkeel::store {
namespace {

using test::etcd_client;
using test::EtcdCluster;
using test::Seen;

// Until it is done; what is not known to be done is done again, which a put of the same value allows.
void put_surely(Blocking& store, const std::string& key, const std::string& value) {
  Result<Committed> put;
  for (int i = 0; i < 100; ++i) {
    put = store.put(key, value);
    if (put) return;
    ASSERT_TRUE(put.error().code == Code::unavailable || put.error().code == Code::unknown_outcome) << put.error().message;
  }
  FAIL() << put.error().message;
}

TEST(EtcdClientFaults, AWatchGoesOnAfterItsServerWasRestarted) {
  EtcdCluster server;
  const auto store = etcd_client(server.url("/p"));
  Seen seen(*store, "/w/");
  ASSERT_TRUE(seen.next()->fresh);
  ASSERT_TRUE(store->put("/w/a", "1"));
  EXPECT_EQ(seen.until("/w/a")->entry->value, "1");
  for (int i = 0; i < 2; ++i) {
    server.kill(0);
    const auto down = store->get("/w/a");
    ASSERT_FALSE(down);
    EXPECT_EQ(down.error().code, Code::unavailable);
    server.restart(0);
    server.wait_ready(0);
    const std::string value = fmt::format("after {}", i);
    put_surely(*store, "/w/a", value);
    const auto changes = seen.next();
    ASSERT_TRUE(changes) << changes.error().message;
    EXPECT_FALSE(changes->fresh) << "it begins where it was";
    EXPECT_EQ(changes->changes.at(0).entry->value, value);
    // A put whose answer was lost is there twice.
    const auto latest = store->get("/w/a");
    ASSERT_TRUE(latest && latest->entry);
    for (Revision seen_up_to = changes->revision; seen_up_to < latest->entry->modified;) seen_up_to = seen.next()->revision;
  }
}

TEST(EtcdClientFaults, AWriteToAPausedServerIsUnknownAndOneToADeadServerUnavailable) {
  EtcdCluster server;
  const auto store = etcd_client(server.url(), {.timeout = 3s});
  ASSERT_TRUE(store->put("/a", "1"));
  server.pause(0);
  const auto paused = store->put("/a", "2");
  ASSERT_FALSE(paused);
  EXPECT_EQ(paused.error().code, Code::unknown_outcome) << paused.error().message;
  const auto read = store->get("/a");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::unavailable) << read.error().message;
  server.kill(0);
  // The first may still be sent over the connection that is about to be seen as gone.
  Result<Committed> dead = store->put("/b", "1");
  for (int i = 0; i < 10 && dead.error().code == Code::unknown_outcome; ++i) dead = store->put("/b", "1");
  ASSERT_FALSE(dead);
  EXPECT_EQ(dead.error().code, Code::unavailable) << dead.error().message;
  server.restart(0);
  server.wait_ready(0);
  put_surely(*store, "/c", "1");
  EXPECT_FALSE(store->get("/b")->entry);
}

// Each key is written once: so what was answered is there, and what is `unavailable` is not.
TEST(EtcdClientFaults, EveryAnswerIsTrueWhenTheServerIsKilled) {
  EtcdCluster server;
  const auto store = etcd_client(server.url(), {.timeout = 3s});
  std::set<std::string> done;
  std::set<std::string> unknown;
  std::set<std::string> undone;
  for (int round = 0; round < 3; ++round) {
    constexpr int writers = 8;
    std::mutex mutex;
    std::vector<std::jthread> threads;
    std::atomic<int> written = 0;
    for (int w = 0; w < writers; ++w) {
      threads.emplace_back([&, w] {
        for (int i = 0; i < 10'000; ++i) {
          const std::string key = fmt::format("/k/{}/{}/{}", round, w, i);
          const auto put = store->put(key, "1");
          const std::scoped_lock lock(mutex);
          if (put) {
            done.insert(key);
            ++written;
          } else if (put.error().code == Code::unknown_outcome) {
            unknown.insert(key);
          } else {
            EXPECT_EQ(put.error().code, Code::unavailable) << put.error().message;
            undone.insert(key);
            return;
          }
        }
      });
    }
    test::wait_until("some writes", test::etcd_patience, [&] { return written > 50; });
    server.kill(0);
    threads.clear();
    server.restart(0);
    server.wait_ready(0);
  }
  std::set<std::string> there;
  const auto listing = store->list("/k/");
  ASSERT_TRUE(listing) << listing.error().message;
  for (const Entry& entry : listing->entries) there.insert(entry.key);
  for (const std::string& key : done) EXPECT_TRUE(there.contains(key)) << key;
  for (const std::string& key : undone) EXPECT_FALSE(there.contains(key)) << key;
  for (const std::string& key : there) EXPECT_TRUE(done.contains(key) || unknown.contains(key)) << key;
  EXPECT_FALSE(undone.empty());
}

TEST(EtcdClientFaults, WhatIsPendingIsDroppedWithoutACallWhenTheStoreGoes) {
  EtcdCluster server;
  bool called = false;
  {
    const auto store = etcd_client(server.url(), {.timeout = test::etcd_patience});
    const auto silent = etcd_client(fmt::format("etcd://127.0.0.1:{}", test::free_port()), {.timeout = test::etcd_patience});
    ASSERT_TRUE(store->put("/a", "1"));
    server.pause(0);
    for (Blocking* one : {store.get(), silent.get()}) {
      (void)one->run<bool>([&](Store& on, Answer<bool> answer) {
        on.get("/a", [&](Result<Read>) { called = true; });
        on.put("/a", "2", [&](Result<Committed>) { called = true; });
        // The handle goes before or after the store.
        static_cast<void>(on.watch("/", {}, [&](Result<Changes>) { called = true; }));
        answer(true);
      });
    }
  }
  EXPECT_FALSE(called);
  server.resume(0);
}

TEST(EtcdClientFaults, AStoreMayGoInsideAnAnswerOrAWatch) {
  EtcdCluster server;
  RealLoop loop;
  const Url url = *parse_url(server.url());
  for (const bool in_watch : {false, true}) {
    int answers = 0;
    std::unique_ptr<Store> store;
    std::unique_ptr<Watching> watching;
    loop.post([&] {
      store = *etcd::connect(loop, url, {});
      const auto end = [&] {
        store.reset();
        watching.reset();
        loop.stop();
      };
      if (in_watch) {
        watching = store->watch("/", {}, [end](Result<Changes> changes) {
          EXPECT_TRUE(changes);
          end();
        });
      } else {
        for (int i = 0; i < 10; ++i) {
          store->put("/a", "1", [&, end](Result<Committed> put) {
            EXPECT_TRUE(put);
            EXPECT_EQ(++answers, 1) << "the others are dropped";
            end();
          });
        }
      }
    });
    loop.run();
    EXPECT_EQ(store, nullptr);
  }
}

class EtcdClusterFaults : public testing::Test {
 protected:
  static void SetUpTestSuite() { servers_ = std::make_unique<EtcdCluster>(3); }
  static void TearDownTestSuite() { servers_.reset(); }
  void TearDown() override { servers_->heal(); }
  std::string url() const {
    return servers_->url(fmt::format("/{}", testing::UnitTest::GetInstance()->current_test_info()->name()));
  }

  static inline std::unique_ptr<EtcdCluster> servers_;
};

TEST_F(EtcdClusterFaults, CallsAndWatchesGoElsewhereWhenTheirServerIsKilled) {
  const auto store = etcd_client(url());
  Seen seen(*store, "/w/");
  ASSERT_TRUE(seen.next()->fresh);
  ASSERT_TRUE(store->put("/w/a", "1"));
  EXPECT_EQ(store->status()->members.size(), 3u);
  servers_->kill(0);  // the first of the URL: the one in use
  const auto read = store->get("/w/a");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->entry->value, "1");
  put_surely(*store, "/w/b", "1");
  ASSERT_TRUE(seen.until("/w/b"));
  servers_->restart(0);
  servers_->wait_ready(0);
  servers_->kill(1);
  put_surely(*store, "/w/c", "1");
  ASSERT_TRUE(seen.until("/w/c"));
}

TEST_F(EtcdClusterFaults, CallsAndWatchesGoElsewhereWhenTheirServerIsPaused) {
  const auto store = etcd_client(url(), {.timeout = 8s});
  Seen seen(*store, "/w/");
  ASSERT_TRUE(seen.next()->fresh);
  ASSERT_TRUE(store->put("/w/a", "1"));
  servers_->pause(0);
  const auto read = store->get("/w/a");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->entry->value, "1");
  put_surely(*store, "/w/b", "1");
  ASSERT_TRUE(seen.until("/w/b"));
}

TEST_F(EtcdClusterFaults, AnIdleWatchLeavesAPausedServer) {
  const auto store = etcd_client(url(), {.timeout = 8s});
  const auto other =
      etcd_client(fmt::format("etcd://{}/{}", servers_->endpoints()[1], "AnIdleWatchLeavesAPausedServer"), {.timeout = 8s});
  Seen seen(*store, "/w/");
  ASSERT_TRUE(seen.next()->fresh);
  servers_->pause(0);
  put_surely(*other, "/w/b", "1");
  ASSERT_TRUE(seen.until("/w/b")) << "by pings, since nothing is called";
}

TEST_F(EtcdClusterFaults, WithoutAQuorumNothingIsDoneAndAWatchWaits) {
  const auto store = etcd_client(url(), {.timeout = 3s});
  Seen seen(*store, "/w/");
  ASSERT_TRUE(seen.next()->fresh);
  servers_->kill(1);
  servers_->kill(2);
  EXPECT_EQ(store->get("/w/a").error().code, Code::unavailable);
  // A member that led may take a write before it sees that it is alone; once it does, it says so.
  Result<Committed> put = store->put("/w/a", "alone");
  for (int i = 0; i < 20 && !put && put.error().code == Code::unknown_outcome; ++i) put = store->put("/w/a", "alone");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Code::unavailable) << put.error().message;
  servers_->heal();
  put_surely(*store, "/w/b", "1");
  ASSERT_TRUE(seen.until("/w/b"));
}

}  // namespace
}  // namespace evenkeel::store
