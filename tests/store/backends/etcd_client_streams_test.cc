// The stream that the watches of an etcd client share: on real servers, and on one that says what a test wants.

#include <grpcpp/grpcpp.h>
#include <store/backends/proto/etcd.grpc.pb.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "tests/store/backends/etcd_client.h"
#include "tests/store/backends/servers.h"

namespace evenkeel::store {
namespace {

namespace pb = etcdserverpb;
using test::etcd_client;
using test::Seen;

// Watch and Range of a server whose watch streams follow a script. Lists are empty, and of revision 60. Watches that begin while the client
// still connects are created in any order, so scripts go by their keys.
class Scripted final {
 public:
  using Wire = grpc::ServerReaderWriter<pb::WatchResponse, pb::WatchRequest>;
  // The number of the stream counts from 0. What it returns ends the stream.
  using Script = std::function<grpc::Status(int number, Wire& wire)>;

  explicit Scripted(Script script) : watch_(std::move(script)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&watch_);
    builder.RegisterService(&kv_);
    server_ = builder.BuildAndStart();
    if (!server_) throw std::runtime_error("the scripted server cannot listen");
  }
  ~Scripted() { server_->Shutdown(std::chrono::system_clock::now()); }
  Scripted(const Scripted&) = delete;
  Scripted& operator=(const Scripted&) = delete;

  std::string url() const { return fmt::format("etcd://127.0.0.1:{}", port_); }
  int streams() const { return watch_.streams; }

 private:
  struct Watches final : pb::Watch::Service {
    explicit Watches(Script s) : script(std::move(s)) {}
    grpc::Status Watch(grpc::ServerContext*, Wire* wire) override { return script(streams++, *wire); }
    const Script script;
    std::atomic<int> streams = 0;
  };
  struct Kv final : pb::KV::Service {
    grpc::Status Range(grpc::ServerContext*, const pb::RangeRequest*, pb::RangeResponse* response) override {
      response->mutable_header()->set_revision(60);
      return grpc::Status::OK;
    }
  };

  Watches watch_;
  Kv kv_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

pb::WatchRequest next_request(Scripted::Wire& wire) {
  pb::WatchRequest request;
  EXPECT_TRUE(wire.Read(&request)) << "the client is gone";
  return request;
}

// Until the client has ended the stream.
grpc::Status until_left(Scripted::Wire& wire) {
  pb::WatchRequest request;
  while (wire.Read(&request)) continue;
  return grpc::Status::OK;
}

pb::WatchResponse created(std::int64_t id) {
  pb::WatchResponse response;
  response.set_watch_id(id);
  response.set_created(true);
  return response;
}

pb::WatchResponse event(std::int64_t id, const std::string& key, const std::string& value, std::int64_t revision) {
  pb::WatchResponse response;
  response.mutable_header()->set_revision(revision);
  response.set_watch_id(id);
  auto& kv = *response.add_events()->mutable_kv();
  kv.set_key(key);
  kv.set_value(value);
  kv.set_create_revision(revision);
  kv.set_mod_revision(revision);
  return response;
}

// The one change that comes next.
std::string next_value(Seen& seen) {
  const auto changes = seen.next();
  if (!changes) return changes.error().message;
  if (changes->fresh) return "a fresh list";
  return changes->changes.size() == 1 ? changes->changes[0].entry->value : fmt::format("{} changes", changes->changes.size());
}

TEST(EtcdStreams, MessagesFindTheirWatchByTheServersIds) {
  std::promise<void> all_joined;
  Scripted server([joined = all_joined.get_future().share()](int, Scripted::Wire& wire) {
    std::map<std::string, std::int64_t> ids{{"/a/", 7}, {"/b/", 3}, {"/c/", -1}, {"/d/", 0}};
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto request = next_request(wire);
      const std::int64_t id = ids[request.create_request().key()];
      pb::WatchResponse answer = created(id);
      if (id < 0) {
        answer.set_canceled(true);
        answer.set_cancel_reason("etcdserver: permission denied");
      }
      wire.Write(answer);
      // Events follow at once, and some are for nobody.
      wire.Write(event(99, request.create_request().key(), "nobody's", 10));
      if (id >= 0) wire.Write(event(id, request.create_request().key(), fmt::format("for {}", id), 10));
    }
    joined.wait();
    wire.Write(event(0, "/d/x", "last", 11));
    wire.Write(event(7, "/a/x", "last", 12));
    return until_left(wire);
  });
  const auto store = etcd_client(server.url());
  Seen first(*store, "/a/", Revision(9)), second(*store, "/b/", Revision(9)), refused(*store, "/c/", Revision(9)),
      fourth(*store, "/d/", Revision(9));
  EXPECT_EQ(next_value(first), "for 7");
  EXPECT_EQ(next_value(second), "for 3");
  const auto error = refused.next();
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, Code::denied) << error.error().message;
  EXPECT_EQ(next_value(fourth), "for 0");
  all_joined.set_value();
  EXPECT_EQ(next_value(fourth), "last");
  EXPECT_EQ(next_value(first), "last");
  EXPECT_EQ(server.streams(), 1);
}

TEST(EtcdStreams, AWatchIsCancelledByItsIdEvenIfItWentBeforeItHadOne) {
  std::promise<void> asked, gone;
  std::promise<std::vector<std::int64_t>> cancelled;
  Scripted server([&, is_gone = gone.get_future().share()](int, Scripted::Wire& wire) {
    next_request(wire);
    asked.set_value();
    is_gone.wait();
    wire.Write(created(5));
    std::vector<std::int64_t> ids;
    while (ids.size() < 2) {
      const auto request = next_request(wire);
      if (request.has_cancel_request()) {
        ids.push_back(request.cancel_request().watch_id());
        continue;
      }
      const std::int64_t id = request.create_request().key() == "/b/" ? 6 : 7;
      wire.Write(created(id));
      wire.Write(event(5, "/a/x", "too late", 10));
      wire.Write(event(id, request.create_request().key() + "x", "seen", 10));
    }
    cancelled.set_value(ids);
    return until_left(wire);
  });
  const auto store = etcd_client(server.url());
  auto first = std::make_unique<Seen>(*store, "/a/", Revision(9));
  asked.get_future().wait();
  auto second = std::make_unique<Seen>(*store, "/b/", Revision(9));
  Seen third(*store, "/c/", Revision(9));
  first.reset();
  gone.set_value();
  EXPECT_EQ(next_value(*second), "seen");
  EXPECT_EQ(next_value(third), "seen");
  second.reset();
  EXPECT_EQ(cancelled.get_future().get(), (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(server.streams(), 1);
}

TEST(EtcdStreams, ACompactedWatchGetsAFreshListAndTheOthersDoNot) {
  Scripted server([](int, Scripted::Wire& wire) {
    for (int i = 0; i < 2; ++i) wire.Write(created(next_request(wire).create_request().key() == "/a/" ? 0 : 1));
    pb::WatchResponse compacted;
    compacted.set_watch_id(0);
    compacted.set_canceled(true);
    compacted.set_compact_revision(50);
    wire.Write(compacted);
    const auto again = next_request(wire);
    EXPECT_EQ(again.create_request().key(), "/a/");
    EXPECT_EQ(again.create_request().start_revision(), 60);
    wire.Write(event(1, "/b/x", "went on", 61));
    wire.Write(created(2));
    wire.Write(event(2, "/a/x", "after the list", 62));
    return until_left(wire);
  });
  const auto store = etcd_client(server.url());
  Seen compacted(*store, "/a/", Revision(9)), other(*store, "/b/", Revision(9));
  EXPECT_EQ(next_value(other), "went on");
  EXPECT_EQ(next_value(compacted), "a fresh list");
  EXPECT_EQ(next_value(compacted), "after the list");
  EXPECT_EQ(server.streams(), 1);
}

// The scripted server's lists are of revision 60: it was put back to an older state than the watch has seen.
TEST(EtcdStreams, AnOlderHistoryIsAFreshList) {
  Scripted server([](int, Scripted::Wire& wire) {
    pb::WatchRequest request;
    for (std::int64_t id = 0; wire.Read(&request);) {
      if (!request.has_create_request()) continue;
      const std::int64_t start = request.create_request().start_revision();
      pb::WatchResponse response = created(id);
      response.mutable_header()->set_revision(60);
      wire.Write(response);
      EXPECT_TRUE(start == 70 || start == 60) << start;
      if (start == 60) wire.Write(event(id, "/a/x", "of the new history", 61));
      ++id;
    }
    return grpc::Status::OK;
  });
  const auto store = etcd_client(server.url());
  Seen seen(*store, "/a/", Revision(70));
  EXPECT_EQ(next_value(seen), "a fresh list");
  EXPECT_EQ(next_value(seen), "of the new history");
}

TEST(EtcdStreams, AfterABreakEachGoesOnWhereItWas) {
  Scripted server([](int number, Scripted::Wire& wire) {
    std::map<std::string, std::int64_t> starts;
    for (const std::int64_t id : {0, 1}) {
      const auto request = next_request(wire).create_request();
      starts[request.key()] = request.start_revision();
      // The other way around on the second stream.
      wire.Write(created(number == 0 ? id : 1 - id));
      const std::string value = fmt::format("stream {}", number);
      wire.Write(
          event(number == 0 ? id : 1 - id, request.key() + "x", value, request.key() == "/a/" ? 20 + number : 30 + number));
    }
    if (number == 1) {
      EXPECT_EQ(starts, (std::map<std::string, std::int64_t>{{"/a/", 20}, {"/b/", 30}}));
      return until_left(wire);
    }
    // Only a part of a revision: it comes again.
    pb::WatchResponse part = event(1, "/b/y", "part", 31);
    part.set_fragment(true);
    wire.Write(part);
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "etcdserver: server stopped");
  });
  const auto store = etcd_client(server.url());
  Seen first(*store, "/a/", Revision(9)), second(*store, "/b/", Revision(9));
  for (const char* value : {"stream 0", "stream 1"}) {
    EXPECT_EQ(next_value(first), value);
    EXPECT_EQ(next_value(second), value);
  }
  EXPECT_EQ(server.streams(), 2);
}

// While the loop stands still what is read ahead is bounded, so the server cannot go on writing.
TEST(EtcdStreams, WhatASlowConsumerHasNotTakenStaysWithTheServer) {
  constexpr int messages = 2000;
  const std::string filler(64 << 10, 'x');
  std::promise<void> stands, go_on;
  std::atomic<int> written = 0;
  Scripted server([&, stands_still = stands.get_future().share()](int, Scripted::Wire& wire) {
    next_request(wire);
    wire.Write(created(0));
    stands_still.wait();
    for (int i = 0; i < messages && wire.Write(event(0, "/s/x", fmt::format("{} {}", i, filler), 10 + i)); ++i) ++written;
    return until_left(wire);
  });
  const auto store = etcd_client(server.url());
  Seen seen(*store, "/s/", Revision(9));
  store->loop().post([&, held = go_on.get_future().share()] {
    stands.set_value();
    held.wait();
  });
  // Nothing more is written once all buffers are full. A slow server may seem so early, which proves less and breaks nothing.
  int before = -1, unchanged = 0;
  test::wait_until("the server waits", test::etcd_patience, [&] {
    unchanged = written == before ? unchanged + 1 : 0;
    before = written;
    return unchanged > 10;
  });
  EXPECT_LT(written, messages);
  go_on.set_value();
  for (int i = 0; i < messages; ++i) ASSERT_TRUE(next_value(seen).starts_with(fmt::format("{} x", i)));
}

// The rest on real servers: etcd, and ours.
class EtcdStreamsOn : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string_view("etcd")) {
      server_ = std::make_unique<test::EtcdCluster>();
    } else {
      server_ = std::make_unique<test::EvenkeelServer>();
    }
  }
  std::unique_ptr<test::ProcessServers> server_;
};
INSTANTIATE_TEST_SUITE_P(Servers, EtcdStreamsOn, testing::Values("etcd", "evenkeel"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(EtcdStreamsOn, ManyWatchesOfOneClientSeeEachTheirOwn) {
  const auto store = etcd_client(server_->url());
  constexpr int prefixes = 20, each = 10, rounds = 5;
  std::vector<std::unique_ptr<Seen>> seen;
  for (int i = 0; i < prefixes * each; ++i) seen.push_back(std::make_unique<Seen>(*store, fmt::format("/w/{}/", i % prefixes)));
  for (auto& one : seen) ASSERT_TRUE(one->next()->fresh);
  for (int round = 0; round < rounds; ++round) {
    for (int p = 0; p < prefixes; ++p) ASSERT_TRUE(store->put(fmt::format("/w/{}/key", p), fmt::format("{} {}", p, round)));
    // Every second of those that are left goes, while the others go on.
    if (round == 2) {
      for (std::size_t i = 0; i < seen.size(); i += 2) seen[i].reset();
    }
  }
  for (std::size_t i = 1; i < seen.size(); i += 2) {
    std::vector<std::string> values;
    while (values.size() < rounds) {
      const auto changes = seen[i]->next();
      ASSERT_TRUE(changes && !changes->fresh);
      for (const Change& change : changes->changes) values.push_back(change.entry->value);
    }
    for (int round = 0; round < rounds; ++round) ASSERT_EQ(values[round], fmt::format("{} {}", i % prefixes, round));
  }
  Seen late(*store, "/w/0/");
  ASSERT_TRUE(late.next()->fresh);
  ASSERT_TRUE(store->put("/w/0/key", "late"));
  EXPECT_EQ(next_value(late), "late");
}

TEST_P(EtcdStreamsOn, ACompactedWatchGetsAFreshListAndTheOthersGoOn) {
  const auto store = etcd_client(server_->url());
  const auto old = store->put("/a/x", "1");
  ASSERT_TRUE(old && store->put("/a/x", "2"));
  const auto last = store->put("/b/x", "1");
  Seen other(*store, "/b/");
  ASSERT_TRUE(other.next()->fresh);
  ASSERT_TRUE(store->compact(last->revision));
  Seen compacted(*store, "/a/", old->revision);
  const auto fresh = compacted.next();
  ASSERT_TRUE(fresh && fresh->fresh);
  EXPECT_EQ(fresh->changes.at(0).entry->value, "2");
  ASSERT_TRUE(store->put("/a/x", "3") && store->put("/b/x", "3"));
  EXPECT_EQ(next_value(compacted), "3");
  EXPECT_EQ(next_value(other), "3");
}

// Nothing is compacted here, so each watch has to see each write once, whatever became of the connection meanwhile.
TEST_P(EtcdStreamsOn, BreaksLeaveNoGapAndNothingComesTwice) {
  const auto store = etcd_client(server_->url());
  const auto writer = etcd_client(server_->url(), {.timeout = 3s});
  const Revision begin = store->put("/w/begin", "")->revision;
  constexpr std::size_t watches = 30;
  std::vector<std::unique_ptr<Seen>> seen;
  for (std::size_t i = 0; i < watches; ++i) seen.push_back(std::make_unique<Seen>(*store, "/w/", begin));

  std::atomic<int> written = 0;
  std::jthread writing([&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      if (writer->put(fmt::format("/w/{}", i % 7), fmt::format("{}", i))) ++written;
    }
  });
  for (int kills = 0; kills < 3; ++kills) {
    test::wait_until("writes", test::etcd_patience, [&, before = written.load()] { return written > before + 50; });
    server_->kill(0);
    server_->restart(0);
    server_->wait_ready(0);
  }
  test::wait_until("writes", test::etcd_patience, [&, before = written.load()] { return written > before; });
  writing.request_stop();
  writing.join();
  Result<Committed> end = writer->put("/w/end", "");
  for (int i = 0; i < 20 && !end; ++i) end = writer->put("/w/end", "");
  ASSERT_TRUE(end) << end.error().message;

  const auto all_of = [](Seen& one) {
    std::vector<std::pair<std::string, Revision>> all;
    while (all.empty() || all.back().first != "/w/end") {
      const auto changes = one.next();
      if (!changes || changes->fresh) return all;
      for (const Change& change : changes->changes) all.emplace_back(change.key, change.entry->modified);
    }
    return all;
  };
  Seen history(*store, "/w/", begin);
  const auto expected = all_of(history);
  EXPECT_GE(expected.size(), static_cast<std::size_t>(written));
  EXPECT_TRUE(std::ranges::is_sorted(expected, std::ranges::less{}, [](const auto& one) { return one.second; }));
  for (auto& one : seen) ASSERT_EQ(all_of(*one), expected);
}

}  // namespace
}  // namespace evenkeel::store
