// The etcd client on one real server: what calls, lists, watches and leases do when nothing fails.

#include "tests/store/backends/etcd_client.h"

#include <atomic>
#include <sstream>
#include <thread>

#include "evenkeel/store/backends/etcd/client.h"
#include "evenkeel/store/backends/etcd/detail/messages.h"
#include "evenkeel/store/backends/etcd/detail/verdict.h"
#include "tests/store/backends/servers.h"

namespace evenkeel::store {
namespace {

using etcd::detail::Effect;
using test::etcd_client;
using test::EtcdCluster;
using test::Seen;
using testing::HasSubstr;

class EtcdClient : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<EtcdCluster>(); }
  static void TearDownTestSuite() { server_.reset(); }
  // Each test has a path of its own, so that one server is enough.
  std::string url() const {
    return server_->url(fmt::format("/{}", testing::UnitTest::GetInstance()->current_test_info()->name()));
  }
  std::unique_ptr<Blocking> client(OpenOptions options = {}) const { return etcd_client(url(), options); }

  static inline std::unique_ptr<EtcdCluster> server_;
};

void fill(Blocking& store, const std::string& prefix, int count, const std::string& value = "v", int each = 100) {
  for (int i = 0; i < count;) {
    Txn txn;
    for (int n = 0; n < each && i < count; ++n, ++i) txn.put(fmt::format("{}{:05}", prefix, i), value);
    ASSERT_TRUE(store.txn(txn));
  }
}

TEST_F(EtcdClient, PutsGetsAndErases) {
  const auto store = client();
  const auto none = store->get("/a");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(none->entry);
  const auto first = store->put("/a", "1");
  const auto second = store->put("/a", "2");
  ASSERT_TRUE(first && second);
  EXPECT_GT(second->revision, first->revision);
  const auto read = store->get("/a");
  ASSERT_TRUE(read && read->entry);
  EXPECT_EQ(*read->entry, (Entry{"/a", "2", first->revision, second->revision, false}));
  EXPECT_GE(read->revision, second->revision);
  ASSERT_TRUE(store->erase("/a"));
  EXPECT_FALSE(store->get("/a")->entry);
}

TEST_F(EtcdClient, TxnsCompareAndTakeOneBranchWhole) {
  const auto store = client();
  Txn make;
  make.compare(absent("/a")).put("/a", "1").put("/b/x", "1").put("/b/y", "1");
  make.otherwise.push_back({Write::Kind::put, "/late", "1"});
  const auto made = store->txn(make);
  ASSERT_TRUE(made && made->succeeded);
  const auto late = store->txn(make);
  ASSERT_TRUE(late);
  EXPECT_FALSE(late->succeeded);
  EXPECT_TRUE(store->get("/late")->entry);

  Txn change;
  change.compare(present("/late")).compare(unchanged("/a", made->revision)).put("/a", "2").erase_below("/b/");
  EXPECT_TRUE(store->txn(change)->succeeded);
  const auto again = store->txn(change);
  EXPECT_FALSE(again->succeeded);
  EXPECT_EQ(store->list("/b/")->entries.size(), 0u);
  EXPECT_EQ(store->get("/a")->entry->value, "2");
  EXPECT_FALSE(store->txn(Txn{.compares = {present("/none")}})->succeeded);
}

TEST_F(EtcdClient, ListsOfManyPagesAreOfOneRevision) {
  const auto store = client();
  fill(*store, "/many/", 2345);
  fill(*store, "/large/", 40, std::string(300'000, 'x'), 1);
  const auto many = store->list("/many/");
  ASSERT_TRUE(many) << many.error().message;
  ASSERT_EQ(many->entries.size(), 2345u);
  for (std::size_t i = 0; i < many->entries.size(); ++i) EXPECT_EQ(many->entries[i].key, fmt::format("/many/{:05}", i));
  EXPECT_EQ(store->list("/large/")->entries.size(), 40u);
  EXPECT_EQ(store->list("/")->entries.size(), 2385u);
  EXPECT_EQ(store->list("/man/")->entries.size(), 0u);
}

TEST_F(EtcdClient, ListsSurviveCompactionBetweenPages) {
  const auto store = client();
  const auto other = client();
  fill(*store, "/k/", 300);
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    while (!stop) {
      // All keys of a txn change together: a list that mixes two revisions shows two values.
      Txn txn;
      const std::string value = fmt::format("{}", other->get("/k/00000")->revision);
      for (int i = 0; i < 300; i += 3) txn.put(fmt::format("/k/{:05}", i), value);
      const auto done = other->txn(txn);
      if (done) (void)other->compact(done->revision);
    }
  });
  for (int i = 0; i < 50; ++i) {
    const auto listing = store->list("/k/");
    ASSERT_TRUE(listing) << listing.error().message;
    ASSERT_EQ(listing->entries.size(), 300u);
    for (int k = 0; k < 300; k += 3) ASSERT_EQ(listing->entries[k].value, listing->entries[0].value);
  }
  stop = true;
}

TEST_F(EtcdClient, PathsOfTheUrlKeepStoresApart) {
  const auto store = client();
  const auto longer = etcd_client(url() + "x");
  const auto below = etcd_client(url() + "/below");
  ASSERT_TRUE(store->put("/a", "mine") && longer->put("/a", "other") && below->put("/a", "under"));
  const auto listing = store->list("/");
  ASSERT_EQ(listing->entries.size(), 2u);
  EXPECT_EQ(listing->entries[0].key, "/a");
  EXPECT_EQ(listing->entries[0].value, "mine");
  EXPECT_EQ(listing->entries[1].key, "/below/a");
  Txn all;
  all.erase_below("/");
  ASSERT_TRUE(below->txn(all));
  EXPECT_TRUE(store->get("/a")->entry);
  EXPECT_TRUE(longer->get("/a")->entry);
}

TEST_F(EtcdClient, WatchesBeginWithAListAndGoOnWithChanges) {
  const auto store = client();
  const auto before = store->put("/w/a", "1");
  ASSERT_TRUE(store->put("/v/a", "1"));
  Seen seen(*store, "/w/");
  const auto fresh = seen.next();
  ASSERT_TRUE(fresh);
  EXPECT_TRUE(fresh->fresh);
  ASSERT_EQ(fresh->changes.size(), 1u);
  EXPECT_EQ(fresh->changes[0].entry->value, "1");
  Txn txn;
  txn.erase("/w/a").put("/w/b", "2").put("/v/b", "2");
  const auto done = store->txn(txn);
  const auto changes = seen.next();
  ASSERT_TRUE(changes);
  EXPECT_FALSE(changes->fresh);
  EXPECT_EQ(changes->revision, done->revision);
  ASSERT_EQ(changes->changes.size(), 2u);
  EXPECT_EQ(changes->changes[0], (Change{"/w/a", {}}));
  EXPECT_EQ(changes->changes[1], (Change{"/w/b", Entry{"/w/b", "2", done->revision, done->revision, false}}));

  Seen later(*store, "/w/", before->revision);
  const auto same = later.next();
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, *changes);
}

TEST_F(EtcdClient, ACompactedRevisionBecomesAFreshList) {
  const auto store = client();
  const auto first = store->put("/c/a", "1");
  ASSERT_TRUE(store->put("/c/a", "2") && store->put("/c/b", "1"));
  const auto last = store->erase("/c/a");
  const auto done = store->compact(last->revision);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(store->compact(first->revision)) << "what is forgotten already is no error";
  EXPECT_EQ(store->compact(Revision(last->revision.value() + 1'000'000)).error().code, Code::invalid);

  Seen seen(*store, "/c/", first->revision);
  const auto fresh = seen.next();
  ASSERT_TRUE(fresh);
  EXPECT_TRUE(fresh->fresh);
  ASSERT_EQ(fresh->changes.size(), 1u);
  EXPECT_EQ(fresh->changes[0].key, "/c/b");
  ASSERT_TRUE(store->put("/c/z", "1"));
  EXPECT_FALSE(seen.next()->fresh);
}

TEST_F(EtcdClient, ASlowConsumerSeesEachKeyInOrderAndTheLatest) {
  const auto store = client();
  const auto slow = client();
  std::mutex gate;
  Seen seen(*slow, "/s/");
  ASSERT_TRUE(seen.next()->fresh);
  // Nothing is taken while the consumer's loop stands still; the server holds what is written meanwhile.
  std::unique_lock held(gate);
  slow->loop().post([&] { const std::scoped_lock lock(gate); });
  constexpr int writes = 60;
  const std::string filler(200'000, 'x');
  for (int i = 0; i < writes; ++i) ASSERT_TRUE(store->put("/s/a", fmt::format("{:03}{}", i, filler)));
  held.unlock();
  std::string latest;
  while (latest != fmt::format("{:03}", writes - 1)) {
    const auto changes = seen.next();
    ASSERT_TRUE(changes) << "the latest is " << latest;
    for (const Change& change : changes->changes) {
      const std::string now = change.entry->value.substr(0, 3);
      EXPECT_GT(now, latest);
      latest = now;
    }
  }
}

// The server sends what a watch has missed in one message, cut into fragments; txns are not cut.
TEST_F(EtcdClient, MuchHistoryComesInOrderAndWhole) {
  const auto store = client();
  const auto before = store->put("/f/a", "1");
  ASSERT_TRUE(before);
  constexpr int txns = 30;
  for (int i = 0; i < txns; ++i) {
    Txn txn;
    for (const char* key : {"/f/a", "/f/b", "/f/c"}) txn.put(key, fmt::format("{:03}{}", i, std::string(250'000, 'x')));
    ASSERT_TRUE(store->txn(txn));
  }
  Seen seen(*store, "/f/", before->revision);
  std::vector<std::string> got;
  Revision revision = before->revision;
  while (got.size() < 3 * txns) {
    const auto changes = seen.next();
    ASSERT_TRUE(changes);
    EXPECT_FALSE(changes->fresh);
    EXPECT_EQ(changes->changes.size() % 3, 0u) << "all of a txn comes together";
    for (const Change& change : changes->changes) {
      EXPECT_GT(change.entry->modified, revision);
      got.push_back(change.key + change.entry->value.substr(0, 3));
    }
    revision = changes->revision;
  }
  for (int i = 0; i < txns; ++i) {
    for (int k = 0; k < 3; ++k) EXPECT_EQ(got[3 * i + k], fmt::format("/f/{}{:03}", "abc"[k], i));
  }
}

TEST_F(EtcdClient, EphemeralKeysGoWithTheirWriterAndStayWithIt) {
  const auto watcher = client();
  const auto staying = client({.lease_ttl = 1s});
  auto leaving = client({.lease_ttl = 1s});
  Txn mine;
  mine.put_ephemeral("/e/staying", "1");
  ASSERT_TRUE(staying->txn(mine));
  Txn theirs;
  theirs.put_ephemeral("/e/leaving", "1");
  ASSERT_TRUE(leaving->txn(theirs));
  EXPECT_TRUE(watcher->get("/e/leaving")->entry->ephemeral);
  Seen seen(*watcher, "/e/", watcher->get("/e/leaving")->revision);
  leaving.reset();
  const auto gone = seen.until("/e/leaving");
  ASSERT_TRUE(gone);
  EXPECT_FALSE(gone->entry);
  EXPECT_TRUE(watcher->get("/e/staying")->entry) << "a lease that is as old, and kept alive";
}

TEST_F(EtcdClient, ALostLeaseIsGrantedAnew) {
  const auto store = client();
  Txn txn;
  txn.put_ephemeral("/l/a", "1");
  ASSERT_TRUE(store->txn(txn));
  // All leases of the server: no other test's matter by now. The first line says how many there are.
  std::istringstream lines(test::etcdctl(server_->endpoints()[0], {"lease", "list"}));
  std::string id;
  std::getline(lines, id);
  while (std::getline(lines, id)) {
    if (!id.empty()) (void)test::etcdctl(server_->endpoints()[0], {"lease", "revoke", id});
  }
  EXPECT_FALSE(store->get("/l/a")->entry);
  const auto again = store->txn(txn);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(store->get("/l/a")->entry->ephemeral);
}

TEST_F(EtcdClient, StatusNamesTheServerItsMembersAndItsFaults) {
  const auto status = client()->status();
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(status->backend, "etcd");
  EXPECT_TRUE(status->version.starts_with("3.")) << status->version;
  EXPECT_GT(status->revision.value(), 0);
  EXPECT_GT(status->bytes, 0u);
  ASSERT_EQ(status->members.size(), 1u);
  EXPECT_THAT(status->members[0], HasSubstr(server_->endpoints()[0]));
  EXPECT_EQ(status->warnings.empty(), etcd::detail::warning_of_version(status->version).empty());
}

TEST_F(EtcdClient, AnUnreachableEndpointAmongGoodOnesDoesNotMatter) {
  const auto store = etcd_client(fmt::format("etcd://127.0.0.1:{},{}", test::free_port(), server_->endpoints()[0]));
  EXPECT_TRUE(store->put("/u", "1"));
}

TEST_F(EtcdClient, ReachingNobodyIsUnavailableAndSaysWhy) {
  const std::string nobody = fmt::format("127.0.0.1:{}", test::free_port());
  const auto store = etcd_client("etcd://" + nobody, {.timeout = 3s});
  const auto put = store->put("/a", "1");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Code::unavailable);
  EXPECT_THAT(put.error().message, HasSubstr(nobody));
  EXPECT_THAT(put.error().message, HasSubstr("refused"));
  EXPECT_EQ(store->get("/a").error().code, Code::unavailable);
}

TEST_F(EtcdClient, LimitsOfTheServerHaveCodesOfTheirOwn) {
  EtcdCluster small(1, {"--quota-backend-bytes=16777216", "--max-txn-ops=2"});
  const auto store = etcd_client(small.url());
  Txn three;
  three.put("/a", "1").put("/b", "1").put("/c", "1");
  EXPECT_EQ(store->txn(three).error().code, Code::too_large);
  const std::string value(400'000, 'x');
  Result<Committed> put;
  for (int i = 0; i < 200 && put; ++i) put = store->put("/a", value);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Code::unknown_outcome);  // it may have been done
  EXPECT_THAT(put.error().message, HasSubstr("space"));
  const auto status = store->status();
  ASSERT_TRUE(status);
  EXPECT_THAT(status->warnings, testing::Contains(HasSubstr("NOSPACE")));
}

TEST_F(EtcdClient, AProgressNoticeAdvancesAWatchThatSeesNothing) {
  EtcdCluster server(1, {"--experimental-watch-progress-notify-interval=200ms"});
  const auto store = etcd_client(server.url());
  Seen seen(*store, "/p/");
  ASSERT_TRUE(seen.next()->fresh);
  const auto put = store->put("/other", "1");
  Revision revision;
  while (revision < put->revision) {
    const auto progress = seen.next();
    ASSERT_TRUE(progress);
    EXPECT_TRUE(progress->changes.empty());
    EXPECT_FALSE(progress->fresh);
    revision = progress->revision;
  }
}

TEST(EtcdOptions, ATimeOfNothingIsRefused) {
  RealLoop loop;
  const Url url = *parse_url("etcd://127.0.0.1:1");
  EXPECT_EQ(etcd::connect(loop, url, {.timeout = 0s}).error().code, Code::invalid);
  EXPECT_EQ(etcd::connect(loop, url, {.lease_ttl = 0s}).error().code, Code::invalid);
}

TEST(EtcdVerdict, OnlyWhatWasCertainlyNotDoneIsTriedAgain) {
  using Next = etcd::detail::Verdict::Next;
  struct Case {
    grpc::StatusCode status;
    const char* text;
    Next read;
    Code read_code;
    Next write;
    Code write_code;
  };
  using enum grpc::StatusCode;
  const std::vector<Case> cases{
      {UNAVAILABLE, "etcdserver: no leader", Next::elsewhere, Code::unavailable, Next::elsewhere, Code::unavailable},
      {RESOURCE_EXHAUSTED, "etcdserver: too many requests", Next::elsewhere, Code::unavailable, Next::elsewhere,
       Code::unavailable},
      {UNAVAILABLE, "etcdserver: leader changed", Next::elsewhere, Code::unavailable, Next::answer, Code::unknown_outcome},
      {UNAVAILABLE, "etcdserver: request timed out", Next::elsewhere, Code::unavailable, Next::answer, Code::unknown_outcome},
      {UNAVAILABLE, "etcdserver: request timed out, possibly due to previous leader failure", Next::elsewhere, Code::unavailable,
       Next::answer, Code::unknown_outcome},
      {UNAVAILABLE, "etcdserver: server stopped", Next::elsewhere, Code::unavailable, Next::answer, Code::unknown_outcome},
      {UNAVAILABLE, "Socket closed", Next::elsewhere, Code::unavailable, Next::answer, Code::unknown_outcome},
      {DEADLINE_EXCEEDED, "Deadline Exceeded", Next::elsewhere, Code::unavailable, Next::answer, Code::unknown_outcome},
      {INTERNAL, "", Next::elsewhere, Code::unavailable, Next::answer, Code::unknown_outcome},
      {UNKNOWN, "raft proposal dropped", Next::elsewhere, Code::unavailable, Next::answer, Code::unknown_outcome},
      {UNAUTHENTICATED, "etcdserver: invalid auth token", Next::authenticate, Code::denied, Next::authenticate, Code::denied},
      {INVALID_ARGUMENT, "etcdserver: user name is empty", Next::authenticate, Code::denied, Next::authenticate, Code::denied},
      {PERMISSION_DENIED, "etcdserver: permission denied", Next::answer, Code::denied, Next::answer, Code::denied},
      {RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded", Next::answer, Code::refused, Next::answer,
       Code::unknown_outcome},
      {INVALID_ARGUMENT, "etcdserver: request is too large", Next::answer, Code::too_large, Next::answer, Code::too_large},
      {INVALID_ARGUMENT, "etcdserver: duplicate key given in txn request", Next::answer, Code::invalid, Next::answer,
       Code::invalid},
  };
  for (const Case& one : cases) {
    const auto read = etcd::detail::judge({one.status, one.text}, Effect::none);
    const auto write = etcd::detail::judge({one.status, one.text}, Effect::write);
    EXPECT_EQ(read.next, one.read) << one.text;
    EXPECT_EQ(read.error.code, one.read_code) << one.text;
    EXPECT_EQ(write.next, one.write) << one.text;
    EXPECT_EQ(write.error.code, one.write_code) << one.text;
  }
}

TEST(EtcdVersions, OldOnesAreWarnedOf) {
  for (const char* old : {"3.3.27", "3.4.0", "3.4.23", "3.4.30", "3.5.0", "3.5.12"})
    EXPECT_THAT(etcd::detail::warning_of_version(old), HasSubstr(old));
  for (const char* good : {"3.4.31", "3.4.100", "3.5.13", "3.5.13-rc1", "3.6.0", "4.0.0", "unknown"})
    EXPECT_EQ(etcd::detail::warning_of_version(good), "") << good;
}

}  // namespace
}  // namespace evenkeel::store
