// Watches and leases of the embedded server, call by call, where etcdctl cannot look.

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/store/backends/server_calls.h"

namespace evenkeel::store::embedded {
namespace {

using evenkeel::test::Calls;
using evenkeel::test::OurServer;
using evenkeel::test::Watches;
namespace pb = etcdserverpb;

TEST(ServerWatch, GivesIdsAsEtcdDoes) {
  OurServer ours;
  const Calls calls(ours.server->address());
  Watches watches(calls);
  EXPECT_EQ(watches.create(watches.request_of("a")).watch_id(), 0);
  EXPECT_EQ(watches.create(watches.request_of("a")).watch_id(), 1);
  auto chosen = watches.request_of("a");
  chosen.mutable_create_request()->set_watch_id(2);
  const auto created = watches.create(chosen);
  EXPECT_EQ(created.watch_id(), 2);
  EXPECT_TRUE(created.created());
  EXPECT_FALSE(created.canceled());
  const auto twice = watches.create(chosen);
  EXPECT_TRUE(twice.created());
  EXPECT_TRUE(twice.canceled());
  EXPECT_EQ(twice.watch_id(), -1);
  EXPECT_EQ(twice.cancel_reason(), "mvcc: duplicate watch ID provided on the WatchStream");
  EXPECT_EQ(watches.create(watches.request_of("a")).watch_id(), 3);
  const auto empty = watches.create(watches.request_of("b", "a"));
  EXPECT_TRUE(empty.canceled());
  EXPECT_EQ(empty.cancel_reason(), "mvcc: watcher range is empty");
  // All four get the event.
  ASSERT_TRUE(calls.put("a", "1").ok());
  std::set<std::int64_t> told;
  for (int i = 0; i < 4; ++i) {
    const auto response = watches.next();
    ASSERT_EQ(response.events_size(), 1);
    EXPECT_EQ(response.events(0).kv().value(), "1");
    EXPECT_EQ(response.header().revision(), 2);
    EXPECT_NE(response.header().cluster_id(), 0U);
    EXPECT_NE(response.header().member_id(), 0U);
    EXPECT_NE(response.header().raft_term(), 0U);
    told.insert(response.watch_id());
  }
  EXPECT_EQ(told, (std::set<std::int64_t>{0, 1, 2, 3}));
}

TEST(ServerWatch, CancelsAndGoesOn) {
  OurServer ours;
  const Calls calls(ours.server->address());
  Watches watches(calls);
  watches.create(watches.request_of("a"));
  watches.create(watches.request_of("b"));
  watches.cancel(77);  // nobody's: no answer
  watches.cancel(0);
  const auto answer = watches.next();
  EXPECT_TRUE(answer.canceled());
  EXPECT_EQ(answer.watch_id(), 0);
  ASSERT_TRUE(calls.put("a", "unseen").ok());
  ASSERT_TRUE(calls.put("b", "seen").ok());
  const auto event = watches.next();
  EXPECT_EQ(event.watch_id(), 1);
  EXPECT_EQ(event.events(0).kv().value(), "seen");
  // The id can be had again.
  auto again = watches.request_of("a", {}, 2);
  again.mutable_create_request()->set_watch_id(0);
  EXPECT_EQ(watches.create(again).watch_id(), 2);
  EXPECT_EQ(watches.next().events(0).kv().value(), "unseen");
}

TEST(ServerWatch, FiltersAndTellsWhatWasBefore) {
  OurServer ours;
  const Calls calls(ours.server->address());
  ASSERT_TRUE(calls.put("a", "1").ok());
  ASSERT_TRUE(calls.put("a", "2").ok());
  ASSERT_TRUE(calls.erase("a").ok());
  ASSERT_TRUE(calls.put("a", "3").ok());
  Watches watches(calls);
  auto no_puts = watches.request_of("a", {}, 2);
  no_puts.mutable_create_request()->add_filters(pb::WatchCreateRequest::NOPUT);
  no_puts.mutable_create_request()->set_prev_kv(true);
  watches.create(no_puts);
  const auto erased = watches.next();
  ASSERT_EQ(erased.events_size(), 1);
  EXPECT_EQ(erased.events(0).type(), mvccpb::Event::DELETE);
  EXPECT_EQ(erased.events(0).kv().mod_revision(), 4);
  EXPECT_EQ(erased.events(0).kv().create_revision(), 0);
  EXPECT_EQ(erased.events(0).prev_kv().value(), "2");
  auto no_erases = watches.request_of("a", {}, 4);
  no_erases.mutable_create_request()->add_filters(pb::WatchCreateRequest::NODELETE);
  watches.create(no_erases);
  const auto put = watches.next();
  ASSERT_EQ(put.events_size(), 1);
  EXPECT_EQ(put.events(0).kv().value(), "3");
  EXPECT_FALSE(put.events(0).has_prev_kv());
}

TEST(ServerWatch, KeepsOneRevisionsEventsTogether) {
  OurServer ours;
  const Calls calls(ours.server->address());
  Watches watches(calls);
  watches.create(watches.request_of("k", "l"));
  pb::TxnRequest txn;
  for (int i = 0; i < 100; ++i) {
    auto& put = *txn.add_success()->mutable_request_put();
    put.set_key(fmt::format("k{}", i));
    put.set_value(std::string(10'000, 'x'));
  }
  ASSERT_TRUE(calls.txn(txn).ok());
  EXPECT_EQ(watches.next().events_size(), 100);
}

TEST(ServerWatch, SaysWhatWasCompacted) {
  OurServer ours;
  const Calls calls(ours.server->address());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(calls.put("a", std::to_string(i)).ok());
  ASSERT_TRUE(ours.engine->compact(5, true));
  Watches watches(calls);
  const auto created = watches.create(watches.request_of("a", {}, 2));
  EXPECT_TRUE(created.created());
  EXPECT_FALSE(created.canceled());
  const auto cancelled = watches.next();
  EXPECT_TRUE(cancelled.canceled());
  EXPECT_EQ(cancelled.watch_id(), created.watch_id());
  EXPECT_EQ(cancelled.compact_revision(), 5);
  EXPECT_EQ(cancelled.events_size(), 0);
}

TEST(ServerWatch, TellsHowFarItIsAfterAllEvents) {
  OurServer ours;
  const Calls calls(ours.server->address());
  Watches watches(calls);
  watches.ask_progress();
  EXPECT_EQ(watches.next().watch_id(), -1);  // no watch is behind
  for (int i = 0; i < 3; ++i) watches.create(watches.request_of("a", {}, 2));
  constexpr int rounds = 20;
  for (int round = 0; round < rounds; ++round) {
    ASSERT_TRUE(calls.put("a", "x").ok());
    watches.ask_progress();
    watches.ask_progress();
  }
  int events = 0, notes = 0;
  std::int64_t last = 0;
  while (last < rounds + 1) {
    const auto response = watches.next();
    if (response.watch_id() == -1) {
      ++notes;
      last = response.header().revision();
      // All three have had all up to there.
      EXPECT_GE(events, 3 * (last - 1));
    }
    events += response.events_size();
  }
  EXPECT_GT(notes, 0);
  EXPECT_EQ(events, 3 * rounds);
}

TEST(ServerWatch, EndsWithTheServer) {
  OurServer ours;
  const Calls calls(ours.server->address());
  Watches watches(calls);
  watches.create(watches.request_of("a"));
  ours.server->stop();
  EXPECT_TRUE(watches.ended());
  const grpc::Status status = watches.finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "etcdserver: server stopped");
  EXPECT_EQ(ours.engine->status().watchers, 0U);
}

TEST(ServerWatch, IsForgottenWithItsClient) {
  OurServer ours;
  {
    const Calls calls(ours.server->address());
    Watches watches(calls);
    watches.create(watches.request_of("a"));
    // The answer may come before the engine knows of it.
    evenkeel::test::wait_until("the watch", 60s, [&] { return ours.engine->status().watchers == 1; });
  }
  evenkeel::test::wait_until("the watch's end", 60s, [&] { return ours.engine->status().watchers == 0; });
}

std::size_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6)) << 10;
  }
  return 0;
}

// A client that does not read while 100 MB pass: the server keeps none of it, and afterwards it gets all, once and in order.
TEST(ServerWatch, ASlowClientCostsNothingAndMissesNothing) {
  OurServer ours({}, {.synchronous = false});
  const Calls calls(ours.server->address());
  constexpr int puts = 1000;
  const std::string value(100'000, 'v');
  const auto write = [&] {
    for (int i = 0; i < puts; ++i) ASSERT_TRUE(calls.put("slow", value).ok());
  };
  write();  // so that what the engine itself keeps in memory has its size
  Watches watches(calls);
  const std::int64_t start = watches.create(watches.request_of("slow")).header().revision() + 1;
  const std::size_t before = resident_bytes();
  write();
  // 1 MiB of queue, as much of history that was read, gRPC's own buffers, and what allocators leave.
  EXPECT_LT(resident_bytes(), before + (32U << 20));
  std::int64_t next = start;
  while (next < start + puts) {
    const auto response = watches.next();
    ASSERT_GT(response.events_size(), 0);
    for (const auto& event : response.events()) {
      ASSERT_EQ(event.kv().mod_revision(), next++);
      ASSERT_EQ(event.kv().value().size(), value.size());
    }
  }
  // And then nothing but what is new.
  ASSERT_TRUE(calls.put("slow", "end").ok());
  const auto last = watches.next();
  ASSERT_EQ(last.events_size(), 1);
  EXPECT_EQ(last.events(0).kv().value(), "end");
}

// Others on the same stream, and on others, do not wait for a client's slow neighbour for ever: all are served in turn.
TEST(ServerWatch, SharesAStreamFairly) {
  OurServer ours({}, {.synchronous = false});
  const Calls calls(ours.server->address());
  Watches watches(calls);
  constexpr int watchers = 8, puts = 200;
  for (int i = 0; i < watchers; ++i) watches.create(watches.request_of("k", "l"));
  for (int i = 0; i < puts; ++i) ASSERT_TRUE(calls.put(fmt::format("k{}", i % 7), std::string(20'000, 'x')).ok());
  std::map<std::int64_t, std::int64_t> seen;
  for (int events = 0; events < watchers * puts;) {
    const auto response = watches.next();
    for (const auto& event : response.events()) {
      auto& last = seen.try_emplace(response.watch_id(), 1).first->second;
      ASSERT_EQ(event.kv().mod_revision(), last + 1);
      last = event.kv().mod_revision();
      ++events;
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{watchers});
}

TEST(ServerLease, IsKeptAliveOverOneStream) {
  OurServer ours;
  const Calls calls(ours.server->address());
  pb::LeaseGrantRequest grant;
  grant.set_ttl(100);
  pb::LeaseGrantResponse granted;
  ASSERT_TRUE(calls.lease()->LeaseGrant(calls.context().get(), grant, &granted).ok());
  EXPECT_NE(granted.id(), 0);
  EXPECT_EQ(granted.ttl(), 100);
  const auto stub = calls.lease();
  const auto context = calls.context();
  const auto stream = stub->LeaseKeepAlive(context.get());
  for (const auto& [id, ttl] : {std::pair(granted.id(), 100), std::pair(granted.id() + 1, 0), std::pair(granted.id(), 100)}) {
    pb::LeaseKeepAliveRequest request;
    request.set_id(id);
    ASSERT_TRUE(stream->Write(request));
    pb::LeaseKeepAliveResponse response;
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.id(), id);
    EXPECT_EQ(response.ttl(), ttl);
    EXPECT_NE(response.header().cluster_id(), 0U);
  }
  stream->WritesDone();
  pb::LeaseKeepAliveResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
  // The same id again, and one that ends.
  grant.set_id(granted.id());
  const grpc::Status twice = calls.lease()->LeaseGrant(calls.context().get(), grant, &granted);
  EXPECT_EQ(twice.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(twice.error_message(), "etcdserver: lease already exists");
}

TEST(ServerErrors, HaveEtcdsCodesAndWords) {
  OurServer ours;
  const Calls calls(ours.server->address());
  struct Case {
    std::string what;
    grpc::Status status;
    grpc::StatusCode code;
    std::string text;
  };
  pb::TxnRequest many, duplicate, no_operation, nested, no_key;
  for (int i = 0; i < 129; ++i) many.add_success()->mutable_request_range()->set_key("a");
  for (int i = 0; i < 2; ++i) duplicate.add_success()->mutable_request_put()->set_key("a");
  no_operation.add_success();
  auto* inner = nested.add_success()->mutable_request_txn();
  *inner = duplicate;
  no_key.add_compare();
  pb::PutRequest value_given, lease_given, too_large;
  value_given.set_key("a");
  value_given.set_value("1");
  value_given.set_ignore_value(true);
  lease_given.set_key("a");
  lease_given.set_lease(5);
  lease_given.set_ignore_lease(true);
  too_large.set_key("a");
  too_large.set_value(std::string(1'573'000, 'x'));
  const auto invalid = grpc::StatusCode::INVALID_ARGUMENT;
  const std::vector<Case> cases = {
      {"no key", calls.put("", "1"), invalid, "etcdserver: key is not provided"},
      {"no key to read", calls.range(""), invalid, "etcdserver: key is not provided"},
      {"no key to erase", calls.erase(""), invalid, "etcdserver: key is not provided"},
      {"no key to compare", calls.txn(no_key), invalid, "etcdserver: key is not provided"},
      {"too many", calls.txn(many), invalid, "etcdserver: too many operations in txn request"},
      {"twice", calls.txn(duplicate), invalid, "etcdserver: duplicate key given in txn request"},
      {"twice inside", calls.txn(nested), invalid, "etcdserver: duplicate key given in txn request"},
      {"no operation", calls.txn(no_operation), invalid, "etcdserver: key not found"},
      {"a value", calls.put(value_given), invalid, "etcdserver: value is provided"},
      {"a lease", calls.put(lease_given), invalid, "etcdserver: lease is provided"},
      {"too large", calls.put(too_large), invalid, "etcdserver: request is too large"},
      {"no lease", calls.put("a", "1", 99), grpc::StatusCode::NOT_FOUND, "etcdserver: requested lease not found"},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(one.status.error_code(), one.code) << one.what;
    EXPECT_EQ(one.status.error_message(), one.text) << one.what;
  }
  // Far too large is refused before it is read.
  too_large.set_value(std::string(3'000'000, 'x'));
  EXPECT_EQ(calls.put(too_large).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  pb::AuthenticateRequest request;
  pb::AuthenticateResponse response;
  const grpc::Status status = calls.auth()->Authenticate(calls.context().get(), request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "etcdserver: authentication is not enabled");
}

}  // namespace
}  // namespace evenkeel::store::embedded
