#include "evenkeel/store/backends/embedded/local.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "evenkeel/store/blocking.h"
#include "tests/store/backends/processes.h"

namespace evenkeel::store::embedded {
namespace {

using evenkeel::test::TempFolder;
using evenkeel::test::wait_until;

struct Opened {
  explicit Opened(const EngineOptions& options = {}) : engine(*Engine::open(folder.path() + "/data", options)) {}
  std::unique_ptr<Blocking> store(Duration lease_ttl = 10s) {
    return *Blocking::open([&](Loop& loop) -> Result<std::unique_ptr<Store>> { return make_local(loop, engine, lease_ttl); });
  }
  TempFolder folder;
  std::shared_ptr<Engine> engine;
};

// A watch whose changes are taken one by one.
class Seen {
 public:
  Seen(Blocking& store, std::string prefix, std::optional<Revision> after) : store_(store) {
    on_loop([&] {
      watching_ = store_.store().watch(std::move(prefix), after, [this](Result<Changes> changes) {
        const std::scoped_lock lock(mutex_);
        seen_.push_back(std::move(changes));
        come_.notify_all();
      });
    });
  }
  ~Seen() {
    on_loop([&] { watching_.reset(); });
  }
  Changes next() {
    std::unique_lock lock(mutex_);
    if (!come_.wait_for(lock, std::chrono::seconds(60), [&] { return !seen_.empty(); }))
      throw std::runtime_error("no changes came");
    Result<Changes> first = std::move(seen_.front());
    seen_.pop_front();
    if (!first) throw std::runtime_error(first.error().message);
    return *std::move(first);
  }

 private:
  void on_loop(const std::function<void()>& work) {
    ASSERT_TRUE(store_.run<bool>([&](Store&, Answer<bool> answer) {
      work();
      answer(true);
    }));
  }
  Blocking& store_;
  std::mutex mutex_;
  std::condition_variable come_;
  std::deque<Result<Changes>> seen_;
  std::unique_ptr<Watching> watching_;
};

TEST(Local, ReadsAndWrites) {
  Opened opened;
  const auto store = opened.store();
  EXPECT_FALSE(store->get("/a")->entry);
  const auto put = store->put("/a", "1");
  ASSERT_TRUE(put) << put.error().message;
  EXPECT_TRUE(put->succeeded);
  const auto read = store->get("/a");
  ASSERT_TRUE(read && read->entry);
  EXPECT_EQ(*read->entry, (Entry{"/a", "1", put->revision, put->revision, false}));
  Txn txn;
  txn.compare(unchanged(*read->entry))
      .compare(absent("/b"))
      .compare(present("/a"))
      .put("/a", "2")
      .put("/b/c", "3")
      .put("/b/d", "4");
  const auto done = store->txn(txn);
  ASSERT_TRUE(done && done->succeeded);
  const auto again = store->txn(txn);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->succeeded);
  const auto list = store->list("/b/");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->entries.size(), 2U);
  EXPECT_EQ(list->entries[0].key, "/b/c");
  EXPECT_EQ(list->entries[1].value, "4");
  EXPECT_EQ(list->revision, done->revision);
  Txn below;
  below.erase_below("/b/").erase("/a");
  ASSERT_TRUE(store->txn(below));
  EXPECT_TRUE(store->list("/")->entries.empty());
  EXPECT_EQ(store->get("nonsense").error().code, Code::invalid);
}

TEST(Local, AListIsOfKeysBelowAndNotBeside) {
  Opened opened;
  const auto store = opened.store();
  for (const char* key : {"/a", "/a/b", "/a/b/c", "/a-b", "/a0", "/b"}) ASSERT_TRUE(store->put(key, "x"));
  std::vector<std::string> keys;
  const auto list = store->list("/a/");
  for (const Entry& entry : list->entries) keys.push_back(entry.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"/a/b", "/a/b/c"}));
  EXPECT_EQ(store->list("/")->entries.size(), 6U);
}

TEST(Local, WatchesFromAListOn) {
  Opened opened;
  const auto store = opened.store();
  const Revision first = store->put("/w/a", "1")->revision;
  Seen seen(*store, "/w/", std::nullopt);
  const Changes fresh = seen.next();
  EXPECT_TRUE(fresh.fresh);
  ASSERT_EQ(fresh.changes.size(), 1U);
  EXPECT_EQ(fresh.changes[0].entry->value, "1");
  EXPECT_EQ(fresh.revision, first);
  ASSERT_TRUE(store->put("/other", "x"));
  const Revision second = store->put("/w/b", "2")->revision;
  const Changes change = seen.next();
  EXPECT_FALSE(change.fresh);
  ASSERT_EQ(change.changes.size(), 1U);
  EXPECT_EQ(change.changes[0].key, "/w/b");
  EXPECT_EQ(change.revision, second);
  ASSERT_TRUE(store->erase("/w/a"));
  EXPECT_FALSE(seen.next().changes[0].entry);
  // After a revision: what came later, without a list.
  Seen later(*store, "/w/", first);
  const Changes missed = later.next();
  EXPECT_FALSE(missed.fresh);
  ASSERT_EQ(missed.changes.size(), 2U);
  EXPECT_EQ(missed.changes[0].key, "/w/b");
  EXPECT_FALSE(missed.changes[1].entry);
}

TEST(Local, GivesAFreshListWhereTheHistoryIsGone) {
  Opened opened;
  const auto store = opened.store();
  const Revision first = store->put("/w/a", "1")->revision;
  ASSERT_TRUE(store->put("/w/b", "2"));
  ASSERT_TRUE(store->erase("/w/a"));
  const Revision last = store->put("/w/c", "3")->revision;
  EXPECT_EQ(store->compact(last).value(), last);
  EXPECT_EQ(store->compact(first).value(), last);  // done long ago
  Seen seen(*store, "/w/", first);
  const Changes fresh = seen.next();
  EXPECT_TRUE(fresh.fresh);
  EXPECT_EQ(fresh.changes.size(), 2U);
  EXPECT_EQ(fresh.revision, last);
  Seen ahead(*store, "/w/", Revision(last.value() + 1000));  // of a history that was lost
  EXPECT_TRUE(ahead.next().fresh);
  ASSERT_TRUE(store->put("/w/d", "4"));
  EXPECT_EQ(ahead.next().changes[0].key, "/w/d");
  EXPECT_EQ(seen.next().changes[0].key, "/w/d");
}

// While the loop is busy more happens than a queue holds: no event is lost, none comes twice, and the order stays.
TEST(Local, CatchesUpWhenItFellBehind) {
  Opened opened({.synchronous = false});
  const auto store = opened.store();
  const auto writer = opened.store();
  Seen seen(*store, "/w/", std::nullopt);
  EXPECT_TRUE(seen.next().fresh);
  constexpr int puts = 10'000;  // more than twice what a queue takes
  std::int64_t before = 0;
  ASSERT_TRUE(store->run<bool>([&](Store&, Answer<bool> answer) {
    // On the loop of the watch, which so stands still.
    before = opened.engine->status().revision;
    std::vector<Write> writes;
    for (int i = 0; i < puts; i += 100) {
      Txn txn;
      for (int k = 0; k < 100; ++k) txn.put(fmt::format("/w/{}", k), std::to_string(i + k));
      if (!writer->txn(std::move(txn))) break;
    }
    answer(true);
  }));
  std::map<std::string, int> latest;
  Revision revision(before);
  int events = 0;
  while (events < puts) {
    const Changes changes = seen.next();
    EXPECT_FALSE(changes.fresh);
    EXPECT_GT(changes.revision, revision);
    revision = changes.revision;
    for (const Change& change : changes.changes) {
      const int value = std::stoi(change.entry->value);
      const auto [at, added] = latest.try_emplace(change.key, value);
      EXPECT_TRUE(added || at->second < value);
      at->second = value;
      ++events;
    }
  }
  EXPECT_EQ(events, puts);
  EXPECT_EQ(revision.value(), opened.engine->status().revision);
}

TEST(Local, AWatchMayBeEndedFromItsOwnCallback) {
  Opened opened;
  const auto store = opened.store();
  ASSERT_TRUE(store->put("/w/a", "1"));
  std::unique_ptr<Watching> watching;
  const auto ended = store->run<bool>([&](Store& on_loop, Answer<bool> answer) {
    auto shared = std::make_shared<Answer<bool>>(std::move(answer));
    watching = on_loop.watch("/w/", std::nullopt, [&watching, shared](const Result<Changes>&) {
      watching.reset();
      (*shared)(true);
    });
  });
  EXPECT_TRUE(ended.value());
  EXPECT_EQ(opened.engine->status().watchers, 0U);
}

TEST(Local, EphemeralKeysGoWithTheirStore) {
  Opened opened;
  const auto other = opened.store();
  {
    const auto store = opened.store();
    Txn txn;
    txn.put_ephemeral("/live/n1", "here").put("/stays", "x");
    ASSERT_TRUE(store->txn(txn));
    Txn more;
    more.put_ephemeral("/live/n1/more", "here");
    ASSERT_TRUE(store->txn(more));
    EXPECT_TRUE(other->get("/live/n1")->entry->ephemeral);
    EXPECT_FALSE(other->get("/stays")->entry->ephemeral);
    EXPECT_EQ(opened.engine->leases().size(), 1U);
    // Written by somebody who stays, it stays.
    ASSERT_TRUE(other->put("/live/n1/more", "now for good"));
  }
  wait_until("the end of the key", 60s, [&] { return !other->get("/live/n1")->entry; });
  EXPECT_TRUE(other->get("/live/n1/more")->entry);
  EXPECT_TRUE(other->get("/stays")->entry);
}

// Time that passes only for the engine, and only when the test says so.
class HandClock final : public Clock {
 public:
  Instant now() const override { return Instant(Duration(time.load())); }
  std::atomic<std::int64_t> time = Duration(1h).count();
};

TEST(Local, EphemeralKeysAreKeptAliveByTheLoop) {
  HandClock clock;
  Opened opened({.clock = &clock});
  constexpr Duration ttl = 1s;
  const auto store = opened.store(ttl);
  Txn txn;
  txn.put_ephemeral("/live/n1", "here");
  ASSERT_TRUE(store->txn(txn));
  const LeaseId lease = opened.engine->leases().at(0);
  // Together they are twice as long as the lease would last by itself.
  for (int i = 0; i < 4; ++i) {
    clock.time += Duration(ttl / 2).count();
    wait_until("a renewal", 60s, [&] { return opened.engine->lease(lease)->left == ttl; });
    opened.engine->tick();
    EXPECT_TRUE(store->get("/live/n1")->entry);
  }
  // And without one it ends; one that comes just then is outrun.
  wait_until("the end", 60s, [&] {
    clock.time += Duration(2 * ttl).count();
    opened.engine->tick();
    return !store->get("/live/n1")->entry;
  });
}

TEST(Local, ALeaseThatWasEndedIsReplaced) {
  Opened opened;
  const auto store = opened.store();
  Txn txn;
  txn.put_ephemeral("/live/n1", "1");
  ASSERT_TRUE(store->txn(txn));
  const LeaseId first = opened.engine->leases().at(0);
  std::promise<Result<std::int64_t>> revoked;
  opened.engine->revoke(first, [&](Result<std::int64_t> revision) { revoked.set_value(revision); });
  ASSERT_TRUE(revoked.get_future().get());
  EXPECT_FALSE(store->get("/live/n1")->entry);
  const auto again = store->txn(txn);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(store->get("/live/n1")->entry->ephemeral);
  EXPECT_NE(opened.engine->leases().at(0), first);
}

TEST(Local, SaysWhatItIs) {
  Opened opened;
  const auto store = opened.store();
  const Revision put = store->put("/a", "1")->revision;
  const auto status = store->status();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->backend, "embedded");
  EXPECT_EQ(status->revision, put);
  EXPECT_GT(status->bytes_quota, 0U);
  EXPECT_TRUE(status->warnings.empty());
  EXPECT_EQ(store->compact(Revision(put.value() + 100)).error().code, Code::invalid);
}

// The loop may be gone before the engine answers: then nothing is called, and nothing breaks.
TEST(Local, DropsWhatIsPendingWhenItEnds) {
  Opened opened;
  for (int i = 0; i < 20; ++i) {
    const auto store = opened.store();
    Seen seen(*store, "/", std::nullopt);
    store->loop().post([&store = store->store()] {
      for (int k = 0; k < 50; ++k) store.put(fmt::format("/k{}", k), "x", [](const Result<Committed>&) {});
    });
  }
  const auto store = opened.store();
  ASSERT_TRUE(store->put("/k0", "end"));
  EXPECT_EQ(store->get("/k0")->entry->value, "end");
}

}  // namespace
}  // namespace evenkeel::store::embedded
