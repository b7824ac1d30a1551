// The ZooKeeper client on real servers: what the conformance suite does not ask of every backend.

#ifndef THREADED
#define THREADED  // the C client's calls that wait
#endif

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "evenkeel/base/rng.h"
#include "evenkeel/store/backends/open.h"
#include "evenkeel/store/backends/zookeeper/detail/client.h"
#include "evenkeel/store/blocking.h"
#include "tests/store/backends/servers.h"

namespace evenkeel::store::zookeeper {
namespace {

using test::wait_until;
constexpr Duration patience = 30s;

template <class T>
testing::AssertionResult good(const Result<T>& result) {
  if (!result) return testing::AssertionFailure() << fmt::format("{}", result.error());
  return testing::AssertionSuccess();
}

template <class T>
std::string wrong(const Result<T>& result) {
  return result ? "nothing is wrong" : fmt::format("{}", name(result.error().code));
}

using Opened = std::unique_ptr<Blocking>;

Opened open_at(const std::string& url, const OpenOptions& options = {}, Sweeping sweeping = {}) {
  auto blocking = Blocking::open([&](Loop& loop) { return connect(loop, parse_url(url).value(), options, sweeping); });
  if (!blocking) throw std::runtime_error(blocking.error().message);
  return *std::move(blocking);
}

Result<Committed> put_ephemeral(Blocking& store, const std::string& key, const std::string& value) {
  Txn txn;
  txn.put_ephemeral(key, value);
  return store.txn(std::move(txn));
}

Result<Committed> erase_below(Blocking& store, const std::string& prefix) {
  Txn txn;
  txn.erase_below(prefix);
  return store.txn(std::move(txn));
}

std::string value_of(Blocking& store, const std::string& key) {
  const auto read = store.get(key);
  if (!read) return fmt::format("{}", read.error());
  return read->entry ? read->entry->value : "(absent)";
}

// What a watch told, kept.
class Watched {
 public:
  Watched(Blocking& store, std::string prefix, std::optional<Revision> after = {})
      : store_(store), told_(std::make_shared<Told>()) {
    on_loop([this, &prefix, after] {
      watching_ = store_.store().watch(prefix, after, [told = told_](Result<Changes> changes) {
        const std::lock_guard lock(told->mutex);
        told->all.push_back(std::move(changes));
      });
    });
  }
  ~Watched() {
    on_loop([this] { watching_.reset(); });
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  std::vector<Result<Changes>> all() const {
    const std::lock_guard lock(told_->mutex);
    return told_->all;
  }
  std::map<std::string, std::string> state() const {
    std::map<std::string, std::string> state;
    for (const auto& changes : all()) {
      if (!changes) continue;
      if (changes->fresh) state.clear();
      for (const Change& change : changes->changes) {
        if (change.entry)
          state[change.key] = change.entry->value;
        else
          state.erase(change.key);
      }
    }
    return state;
  }
  void wait_for(std::size_t deliveries) {
    wait_until("a delivery", patience, [&] { return all().size() >= deliveries; });
  }
  void wait_for_state(const std::map<std::string, std::string>& expected) {
    wait_until(
        "the state", patience, [&] { return state() == expected; }, [&] { return testing::PrintToString(state()); });
  }

 private:
  struct Told {
    std::mutex mutex;
    std::vector<Result<Changes>> all;
  };
  void on_loop(const std::function<void()>& work) {
    std::promise<void> ran;
    store_.loop().post([&] {
      work();
      ran.set_value();
    });
    ran.get_future().wait();
  }

  Blocking& store_;
  std::shared_ptr<Told> told_;
  std::unique_ptr<Watching> watching_;
};

// A client of ZooKeeper that knows nothing of stores.
class Raw {
 public:
  explicit Raw(const std::string& servers)
      : handle_(zookeeper_init(servers.c_str(), nullptr, 10'000, nullptr, nullptr, ZOO_NO_LOG_CLIENTENV)) {
    wait_until("a plain client", patience, [&] { return zoo_state(handle_) == ZOO_CONNECTED_STATE; });
  }
  ~Raw() { zookeeper_close(handle_); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  // None: there is no such node.
  std::optional<std::string> data(const std::string& path) {
    std::string data(1 << 20, '\0');
    int length = static_cast<int>(data.size());
    const int code = zoo_get(handle_, path.c_str(), 0, data.data(), &length, nullptr);
    if (code == ZNONODE) return std::nullopt;
    EXPECT_EQ(code, ZOK) << path;
    data.resize(static_cast<std::size_t>(std::max(length, 0)));
    return data;
  }
  void create(const std::string& path, const std::string& data) {
    EXPECT_EQ(zoo_create(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), &ZOO_OPEN_ACL_UNSAFE, 0, nullptr, 0),
              ZOK);
  }

 private:
  zhandle_t* handle_;
};

class ZooKeeperClient : public testing::Test {
 protected:
  static void SetUpTestSuite() { server() = std::make_unique<test::ZooKeeperCluster>(1); }
  static void TearDownTestSuite() { server().reset(); }
  static std::unique_ptr<test::ZooKeeperCluster>& server() {
    static std::unique_ptr<test::ZooKeeperCluster> one;
    return one;
  }
  // A path of this test alone.
  static std::string path() { return fmt::format("/{}", testing::UnitTest::GetInstance()->current_test_info()->name()); }
  static Opened open(const OpenOptions& options = {}, Sweeping sweeping = {}) {
    return open_at(server()->url(path()), options, sweeping);
  }
  static std::string endpoint() { return server()->endpoints().at(0); }
};

TEST_F(ZooKeeperClient, StoresValuesAsTheyAre) {
  const auto store = open();
  ASSERT_TRUE(good(store->put("/a/b", "{\"format\":1}")));
  ASSERT_TRUE(good(store->put("/gone", "1")));
  ASSERT_TRUE(good(store->erase("/gone")));
  Raw raw(endpoint());
  EXPECT_EQ(raw.data(path() + "/a/b"), "{\"format\":1}");
  EXPECT_EQ(raw.data(path() + "/a"), folder_data());
  EXPECT_EQ(raw.data(path() + "/gone"), tombstone_data());
  raw.create(path() + "/made", "by hand");
  EXPECT_EQ(value_of(*store, "/made"), "by hand");
  ASSERT_TRUE(good(store->put("/made", "by us")));
  EXPECT_EQ(raw.data(path() + "/made"), "by us");
}

TEST_F(ZooKeeperClient, RefusesWhatItCannotRead) {
  const auto store = open();
  ASSERT_TRUE(good(store->put("/a", "1")));
  Raw(endpoint()).create(path() + "/b", folder_data() + " of a later version");
  EXPECT_EQ(wrong(store->get("/b")), "invalid");
  EXPECT_EQ(wrong(store->put("/b", "2")), "invalid");
  EXPECT_EQ(wrong(store->list("/")), "invalid");
  Watched watched(*store, "/");
  watched.wait_for(1);
  EXPECT_EQ(wrong(watched.all().at(0)), "invalid");
  EXPECT_EQ(value_of(*store, "/a"), "1");
}

TEST_F(ZooKeeperClient, EphemeralKeysHaveTheirLimits) {
  const auto store = open();
  const auto first = put_ephemeral(*store, "/e", "1");
  ASSERT_TRUE(good(first));
  EXPECT_EQ(wrong(store->put("/e/below", "1")), "refused");
  EXPECT_EQ(wrong(store->txn({{unchanged("/e", first->revision)}, {}, {}})), "invalid");
  EXPECT_EQ(value_of(*store, "/e/below"), "(absent)");
  ASSERT_TRUE(good(put_ephemeral(*store, "/e", "2")));
  EXPECT_EQ(store->get("/e")->entry->created, first->revision);
  ASSERT_TRUE(good(store->put("/p/below", "1")));
  EXPECT_EQ(wrong(put_ephemeral(*store, "/p", "1")), "refused");
  ASSERT_TRUE(good(store->erase("/p/below")));
  const auto over_traces = put_ephemeral(*store, "/p", "1");
  ASSERT_TRUE(good(over_traces));
  EXPECT_EQ(store->get("/p")->entry, (Entry{"/p", "1", over_traces->revision, over_traces->revision, true}));
  ASSERT_TRUE(good(store->put("/p", "2")));
  EXPECT_EQ(store->get("/p")->entry->created, over_traces->revision);
  EXPECT_FALSE(store->get("/p")->entry->ephemeral);
}

TEST_F(ZooKeeperClient, ErasingBelowAKeyLeavesItAlone) {
  const auto store = open();
  ASSERT_TRUE(good(store->put("/a", "1")));
  for (const char* key : {"/a/b", "/a/b/c", "/a/d"}) ASSERT_TRUE(good(store->put(key, "x")));
  ASSERT_TRUE(good(put_ephemeral(*store, "/a/e", "x")));
  const auto before = store->get("/a")->entry;
  Watched watched(*store, "/");
  watched.wait_for(1);
  const auto erased = erase_below(*store, "/a/");
  ASSERT_TRUE(good(erased));
  EXPECT_EQ(store->get("/a")->entry, before);
  EXPECT_EQ(store->list("/")->entries, std::vector{*before});
  watched.wait_for_state({{"/a", "1"}});
  Txn txn;
  txn.compare(unchanged(*before)).put("/a", "2");
  EXPECT_TRUE(store->txn(txn)->succeeded);
  EXPECT_EQ(store->get("/a")->entry->created, before->created);
  EXPECT_TRUE(good(erase_below(*store, "/nothing/here/")));
}

TEST_F(ZooKeeperClient, WatchesAfterARevisionTellOnlyWhatIsNew) {
  const auto store = open();
  for (const char* key : {"/f/a", "/f/b", "/f/c"}) ASSERT_TRUE(good(store->put(key, "1")));
  const Revision seen = store->list("/f/")->revision;
  ASSERT_TRUE(good(store->put("/f/b", "2")));
  ASSERT_TRUE(good(store->erase("/f/a")));
  Watched watched(*store, "/f/", seen);
  watched.wait_for(1);
  const auto first = watched.all().at(0);
  ASSERT_TRUE(good(first));
  EXPECT_FALSE(first->fresh);
  ASSERT_EQ(first->changes.size(), 2U);
  EXPECT_EQ(first->changes[0].key, "/f/b");
  EXPECT_EQ(first->changes[1], (Change{"/f/a", std::nullopt}));
  // An ephemeral key leaves no tombstone, so whoever was away gets a fresh list.
  ASSERT_TRUE(good(put_ephemeral(*store, "/f/e", "1")));
  const Revision later = store->list("/f/")->revision;
  ASSERT_TRUE(good(store->erase("/f/e")));
  Watched fresh(*store, "/f/", later);
  fresh.wait_for(1);
  EXPECT_TRUE(fresh.all().at(0)->fresh);
  EXPECT_EQ(fresh.state(), (std::map<std::string, std::string>{{"/f/b", "2"}, {"/f/c", "1"}}));
}

// All that a txn names is known by the one before it, until somebody else writes it.
TEST_F(ZooKeeperClient, KnowsWhatItWroteAndWhenItDoesNot) {
  const Opened store = open(), other = open();
  const auto write = [](Blocking& by, std::optional<Revision> after, const std::string& value) {
    Txn txn;
    txn.compare(after ? unchanged("/c/a", *after) : absent("/c/a")).put("/c/a", value).put("/c/b/" + value.substr(0, 1), value);
    return by.txn(std::move(txn));
  };
  auto last = write(*store, std::nullopt, "s0");
  for (int i = 1; i < 5; ++i) {
    ASSERT_TRUE(good(last));
    ASSERT_TRUE(last->succeeded) << i;
    const auto mine = last->revision;
    last = write(*store, mine, fmt::format("s{}", i));
    ASSERT_TRUE(good(last));
    ASSERT_TRUE(last->succeeded) << i;
    EXPECT_FALSE(write(*store, mine, "s-").value().succeeded) << "of before the last one";
    last = write(*other, last->revision, fmt::format("o{}", i));
    ASSERT_TRUE(good(last));
    EXPECT_FALSE(write(*store, mine, "s-").value().succeeded) << "of before the other's";
    EXPECT_EQ(value_of(*store, "/c/a"), fmt::format("o{}", i));
    EXPECT_EQ(store->get("/c/a")->entry->modified, last->revision);
  }
}

TEST_F(ZooKeeperClient, SweepsTracesWhenTheyAreOld) {
  const auto store = open({}, {.after = 50ms, .every = 10ms});
  for (const char* key : {"/a/b/c", "/a/b/d", "/a/stays"}) ASSERT_TRUE(good(store->put(key, "1")));
  ASSERT_TRUE(good(store->erase("/a/b/c")));
  ASSERT_TRUE(good(store->erase("/a/b/d")));
  Raw raw(endpoint());
  wait_until("the sweep", patience, [&] { return !raw.data(path() + "/a/b"); });
  EXPECT_EQ(raw.data(path() + "/a"), folder_data());
  EXPECT_EQ(value_of(*store, "/a/stays"), "1");
  const auto again = store->put("/a/b/c", "2");
  ASSERT_TRUE(good(again));
  EXPECT_EQ(store->get("/a/b/c")->entry->created, again->revision);
}

// Each adds one by reading and comparing, erases and makes anew what the others compare, under sweepers that wait for nothing.
TEST_F(ZooKeeperClient, NothingIsLostBetweenClientsAndSweepers) {
  constexpr int clients = 3;
  constexpr int rounds = 30;
  std::vector<std::jthread> threads;
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([i] {
      const auto store = open({.timeout = 30s}, {.after = 1ms, .every = 3ms});
      for (int done = 0; done < rounds;) {
        const auto read = store->get("/count/n");
        ASSERT_TRUE(good(read));
        const int count = read->entry ? std::stoi(read->entry->value) : 0;
        Txn txn;
        txn.compare(read->entry ? unchanged(*read->entry) : absent("/count/n")).put("/count/n", std::to_string(count + 1));
        if (done % 5 == i) txn.put_ephemeral(fmt::format("/count/e{}", i), "1");
        if (done % 5 == i + 1) txn.erase(fmt::format("/count/e{}", i));
        const auto committed = store->txn(txn);
        ASSERT_TRUE(good(committed));
        done += committed->succeeded ? 1 : 0;
        ASSERT_TRUE(good(store->put(fmt::format("/trace/{}", done % 3), "1")));
        ASSERT_TRUE(good(done % 4 == 0 ? erase_below(*store, "/trace/") : store->erase(fmt::format("/trace/{}", done % 3))));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(value_of(*open(), "/count/n"), std::to_string(clients * rounds));
}

TEST_F(ZooKeeperClient, KeepsOthersOutByAccessLists) {
  const auto ours = open({.access = {.user = "alice", .password = "secret"}});
  ASSERT_TRUE(good(ours->put("/a/b", "1")));
  EXPECT_EQ(value_of(*ours, "/a/b"), "1");
  for (const Access& access :
       {Access{}, Access{.user = "alice", .password = "wrong"}, Access{.user = "bob", .password = "secret"}}) {
    const auto theirs = open({.access = access});
    EXPECT_EQ(wrong(theirs->get("/a/b")), "denied");
    EXPECT_EQ(wrong(theirs->put("/a/b", "2")), "denied");
    EXPECT_EQ(wrong(theirs->put("/new", "2")), "denied");
    EXPECT_EQ(wrong(theirs->list("/")), "denied");
    Watched watched(*theirs, "/");
    watched.wait_for(1);
    EXPECT_EQ(wrong(watched.all().at(0)), "denied");
  }
  EXPECT_EQ(value_of(*open({.access = {.user = "alice", .password = "secret"}}), "/a/b"), "1");
}

TEST_F(ZooKeeperClient, RefusesOptionsThatMakeNoSense) {
  RealLoop loop;
  const Url url = parse_url("zk://127.0.0.1:1/x").value();
  EXPECT_EQ(wrong(connect(loop, url, {.access = {.tls = {.authority = "ca.pem"}}})), "invalid");
  EXPECT_EQ(wrong(connect(loop, url, {.access = {.user = "a:b"}})), "invalid");
  EXPECT_EQ(wrong(connect(loop, url, {.access = {.password = "b"}})), "invalid");
  EXPECT_EQ(wrong(connect(loop, url, {.lease_ttl = 0s})), "invalid");
  EXPECT_EQ(wrong(connect(loop, {"zk", {"unix:/tmp/x"}, ""}, {})), "invalid");
}

TEST_F(ZooKeeperClient, FindsTheGoodEndpoint) {
  const std::uint16_t closed = test::free_port();
  const std::string url = fmt::format("zk://127.0.0.1:{},no-such-host.invalid:2181,{}{}", closed, endpoint(), path());
  const auto store = open_at(url, {.timeout = 30s});
  ASSERT_TRUE(good(store->put("/a", "1")));
  const auto status = store->status();
  ASSERT_TRUE(good(status));
  EXPECT_EQ(status->backend, "zookeeper");
  EXPECT_EQ(status->version, "3.8.0");
  EXPECT_EQ(status->members.size(), 3U);
  EXPECT_EQ(status->warnings.size(), 2U);
  EXPECT_GT(status->revision, Revision(0));
  EXPECT_EQ(store->compact(Revision(7)), Revision(7));
}

TEST_F(ZooKeeperClient, SaysThatNobodyAnswers) {
  const auto store = open_at(fmt::format("zk://127.0.0.1:{}", test::free_port()), {.timeout = 100ms});
  EXPECT_EQ(wrong(store->get("/a")), "unavailable");
  EXPECT_EQ(wrong(store->list("/")), "unavailable");
  EXPECT_EQ(wrong(store->put("/a", "1")), "unavailable");
  EXPECT_EQ(wrong(store->status()), "unavailable");
  const auto nowhere = open_at("zk://no-such-host.invalid:2181", {.timeout = 100ms});
  const auto read = nowhere->get("/a");
  EXPECT_EQ(wrong(read), "unavailable");
  EXPECT_NE(read.error().message.find("no-such-host.invalid"), std::string::npos) << read.error().message;
}

TEST_F(ZooKeeperClient, GoesInTheMiddleOfAnAnswer) {
  auto blocking = open();
  ASSERT_TRUE(good(blocking->put("/a", "1")));
  for (int round = 0; round < 10; ++round) {
    std::promise<void> gone;
    RealLoop loop;
    std::jthread thread([&] { loop.run(); });
    loop.post([&] {
      auto holder = std::make_shared<std::unique_ptr<Store>>(connect(loop, parse_url(server()->url(path())).value(), {}).value());
      auto watching = std::make_shared<std::unique_ptr<Watching>>();
      *watching = (*holder)->watch("/", {}, [](const Result<Changes>&) {});
      (*holder)->get("/a", [&gone, holder, watching, round](const Result<Read>&) {
        if (round % 2 == 0) watching->reset();
        holder->reset();
        watching->reset();
        gone.set_value();
      });
      (*holder)->put("/b", "1", [](const Result<Committed>&) {});
    });
    gone.get_future().wait();
    loop.stop();
  }
}

// A wire that can be cut, and can keep answers for itself for a while.
class Wire {
 public:
  explicit Wire(std::uint16_t to) : to_(to), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in any = address(0);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof(any)), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    sockaddr_in bound{};
    socklen_t length = sizeof(bound);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &length);
    port_ = ntohs(bound.sin_port);
    thread_ = std::jthread([this](const std::stop_token& stop) { carry(stop); });
  }
  ~Wire() {
    thread_.request_stop();
    thread_.join();
    drop_all();
    ::close(listener_);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  std::uint16_t port() const { return port_; }
  void cut() { cut_ = true; }
  void mend() { cut_ = false; }
  // From now on about every so manieth piece of what passes is lost, and its connection with it.
  void tear_every(std::uint64_t pieces) { tear_every_ = pieces; }
  void hold_answers(bool hold) { hold_ = hold; }
  std::uint64_t asked() const { return asked_; }  // pieces that clients have sent

 private:
  static sockaddr_in address(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }
  void drop_all() {
    for (const auto& [from, to] : ends_) ::close(from);
    ends_.clear();
    clients_.clear();
  }
  void accept_one() {
    const int client = ::accept(listener_, nullptr, nullptr);
    if (cut_) return static_cast<void>(::close(client));
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in to = address(to_);
    if (::connect(server, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
      ::close(server);
      return static_cast<void>(::close(client));
    }
    ends_[client] = server;
    ends_[server] = client;
    clients_.insert(client);
  }
  // False: this end is over, and the other one with it.
  bool pass_on(int from) {
    char buffer[65536];
    const ssize_t got = ::recv(from, buffer, sizeof(buffer), 0);
    if (tear_every_ > 0 && rng_.chance(1, tear_every_)) return false;
    if (got > 0 && clients_.contains(from)) ++asked_;
    return got > 0 && ::send(ends_[from], buffer, static_cast<std::size_t>(got), MSG_NOSIGNAL) == got;
  }
  void carry(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (cut_) drop_all();
      std::vector<pollfd> waiting{{listener_, POLLIN, 0}};
      for (const auto& [from, to] : ends_)
        if (!hold_ || clients_.contains(from)) waiting.push_back({from, POLLIN, 0});
      if (::poll(waiting.data(), waiting.size(), 20) <= 0) continue;
      for (const pollfd& one : waiting) {
        if (one.revents == 0) continue;
        if (one.fd == listener_) {
          accept_one();
        } else if (ends_.contains(one.fd) && !pass_on(one.fd)) {
          const int other = ends_[one.fd];
          for (const int fd : {one.fd, other}) {
            ::close(fd);
            ends_.erase(fd);
            clients_.erase(fd);
          }
        }
      }
    }
  }

  const std::uint16_t to_;
  int listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> cut_ = false;
  std::atomic<std::uint64_t> tear_every_ = 0;
  std::atomic<bool> hold_ = false;
  std::atomic<std::uint64_t> asked_ = 0;
  Rng rng_ = Rng(1);
  std::map<int, int> ends_;
  std::set<int> clients_;  // the ends that lead to them
  std::jthread thread_;
};

// As a server that sleeps on a request until another one comes.
TEST_F(ZooKeeperClient, AsksAgainWhileItHasNoAnswer) {
  Wire wire(server()->port(0));
  const auto store =
      open_at(fmt::format("zk://127.0.0.1:{}{}", wire.port(), path()), {.timeout = patience, .lease_ttl = patience});
  ASSERT_TRUE(good(store->put("/a", "1")));
  wire.hold_answers(true);
  const std::uint64_t before = wire.asked();
  auto put = std::async(std::launch::async, [&] { return store->put("/a", "2"); });
  wait_until("a second question", patience, [&] { return wire.asked() >= before + 2; });
  EXPECT_EQ(put.wait_for(0s), std::future_status::timeout);
  wire.hold_answers(false);
  ASSERT_TRUE(good(put.get()));
  EXPECT_EQ(value_of(*store, "/a"), "2");
}

TEST_F(ZooKeeperClient, BeginsANewSessionWhenTheOldOneExpired) {
  Wire wire(server()->port(0));
  const auto cut_off = open_at(fmt::format("zk://127.0.0.1:{}{}", wire.port(), path()), {.timeout = 200ms, .lease_ttl = 1s});
  const auto other = open();
  Watched watched(*cut_off, "/");
  wait_until("a write", patience, [&] { return put_ephemeral(*cut_off, "/e", "1").has_value(); });
  ASSERT_TRUE(good(other->put("/p", "1")));
  watched.wait_for_state({{"/e", "1"}, {"/p", "1"}});
  wire.cut();
  wait_until("the session's end", patience, [&] { return value_of(*other, "/e") == "(absent)"; });
  EXPECT_EQ(wrong(cut_off->get("/p")), "unavailable");
  ASSERT_TRUE(good(other->put("/p", "2")));
  const std::size_t told = watched.all().size();
  wire.mend();
  watched.wait_for_state({{"/p", "2"}});
  EXPECT_TRUE(watched.all().at(told)->fresh);
  wait_until("a write", patience, [&] { return put_ephemeral(*cut_off, "/e", "2").has_value(); });
  watched.wait_for_state({{"/e", "2"}, {"/p", "2"}});
  EXPECT_TRUE(other->get("/e")->entry->ephemeral);
}

// Connections that break in the middle of writes: what was answered counts, what is unknown may, what is unavailable does not.
TEST_F(ZooKeeperClient, KnowsWhatItDoesNotKnow) {
  Wire wire(server()->port(0));
  const auto store = open_at(fmt::format("zk://127.0.0.1:{}{}", wire.port(), path()), {.timeout = 10s, .lease_ttl = 2s});
  ASSERT_TRUE(good(store->put("/n", "0")));
  wire.tear_every(25);
  std::map<Code, int> errors;
  constexpr int writes = 100;
  for (int i = 0; i < writes; ++i) {
    const auto committed = store->put(fmt::format("/k/{}", i), "1");
    if (!committed) ++errors[committed.error().code];
  }
  const int unknown = errors[Code::unknown_outcome];
  const int undone = errors[Code::unavailable];
  EXPECT_EQ(errors.size(), 2U) << "neither unknown nor unavailable";
  EXPECT_GT(unknown, 0);  // some connection broke under a write that was sent
  const auto listing = open()->list("/k/");
  ASSERT_TRUE(good(listing));
  const int there = static_cast<int>(listing->entries.size());
  EXPECT_GE(there, writes - unknown - undone);
  EXPECT_LE(there, writes - undone);
}

TEST(ZooKeeperEnsemble, GoesOnWithoutAMember) {
  test::ZooKeeperCluster servers(3);
  const auto store = open_at(servers.url("/c1"), {.timeout = 10s});
  ASSERT_TRUE(good(put_ephemeral(*store, "/e", "1")));
  ASSERT_TRUE(good(store->put("/n", "0")));
  Watched watched(*store, "/");
  watched.wait_for_state({{"/e", "1"}, {"/n", "0"}});
  servers.kill(servers.leader());
  Revision last;
  for (int i = 1; i <= 5; ++i) {
    wait_until("a write", patience, [&] {
      const auto committed = store->put("/n", std::to_string(i));
      if (!committed) return false;
      EXPECT_GT(committed->revision, last);
      last = committed->revision;
      return true;
    });
  }
  watched.wait_for_state({{"/e", "1"}, {"/n", "5"}});
  EXPECT_EQ(value_of(*store, "/e"), "1");  // the session went on at another member
}

}  // namespace
}  // namespace evenkeel::store::zookeeper
