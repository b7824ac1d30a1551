// The broker as a service and its client, over loopback, in one process. What only real processes show is in tests/cli/broker_live.py.

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>

#include "broker/shell/rpc/broker.grpc.pb.h"

#include "evenkeel/base/rng.h"
#include "evenkeel/broker/shell/rpc/remote.h"
#include "evenkeel/broker/shell/rpc/service.h"
#include "evenkeel/broker/shell/rpc/wire.h"
#include "evenkeel/broker/trace.h"
#include "tests/story/slow_build.h"

namespace evenkeel::broker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Far beyond what anything here takes; a test that waits so long has failed.
constexpr auto patience = 60s;

// Keeps what is delivered, for tests that wait for it.
class Inbox final : public SessionSink {
 public:
  void deliver(const Delivery& delivery) override {
    const std::lock_guard lock(mutex_);
    all_.push_back(delivery);
    came_.notify_all();
  }

  // Waits until `enough(deliveries)`.
  template <class Enough>
  std::vector<Delivery> wait(const Enough& enough) {
    std::unique_lock lock(mutex_);
    const bool came = came_.wait_for(
        lock, patience, [&] { return enough(all_) || (!all_.empty() && all_.back().kind == Delivery::Kind::closed); });
    EXPECT_TRUE(came && enough(all_)) << all_.size() << " deliveries, and no more came; the last: "
                                      << (all_.empty() ? "none" : all_.back().message);
    return all_;
  }
  std::vector<Delivery> wait_for(std::size_t count) {
    return wait([count](const auto& all) { return all.size() >= count; });
  }
  // The answer to a request.
  Delivery answer(Result<RequestTag> tag) {
    EXPECT_TRUE(tag) << tag.error().message;
    const auto found = [&](const auto& all) { return std::ranges::find(all, *tag, &Delivery::tag); };
    const auto all = wait([&](const auto& deliveries) { return found(deliveries) != deliveries.end(); });
    return found(all) == all.end() ? Delivery{} : *found(all);
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Delivery> all_;
};

class StillClock final : public Clock {
 public:
  Instant now() const override { return {}; }
};

std::shared_ptr<Broker> make_broker(BrokerOptions options = {}) {
  auto broker = Broker::from_config(default_config(), std::move(options));
  EXPECT_TRUE(broker) << broker.error().message;
  return *broker;
}

struct Served {
  std::shared_ptr<Broker> broker = make_broker();
  std::unique_ptr<Service> service = start({});

  explicit Served(std::shared_ptr<Broker> given = make_broker(), ServiceOptions options = {})
      : broker(std::move(given)), service(start(std::move(options))) {}

  std::unique_ptr<Service> start(ServiceOptions options) const {
    options.listen = "127.0.0.1:0";
    auto started = Service::start(broker, options);
    EXPECT_TRUE(started) << started.error().message;
    return std::move(*started);
  }
  const std::string& address() const { return service->address(); }
  std::unique_ptr<Session> connect(SessionSink& sink, const std::string& name = "test", const RemoteOptions& options = {},
                                   Executor executor = at_once()) const {
    auto session = broker::connect(address(), name, options, std::move(executor), sink);
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }
};

std::string text_of(const Delivery& delivery) {
  return fmt::format("{} tag={} task={} refusal={} ok={} cookie={} message={}", static_cast<int>(delivery.kind), delivery.tag,
                     delivery.task, name(delivery.refusal), delivery.ok, delivery.cookie, delivery.message);
}

std::vector<std::string> texts_of(const std::vector<Delivery>& deliveries) {
  std::vector<std::string> texts;
  for (const Delivery& delivery : deliveries) texts.push_back(text_of(delivery));
  return texts;
}

Task task(std::uint64_t id, std::uint64_t cpu = 1, std::string type = "transaction") {
  return {.id = TaskId(id), .type = std::move(type), .need = {.cpu = cpu}};
}

// A random request of a small world, so that most kinds of refusal come up.
Result<RequestTag> act(Session& session, Rng& rng) {
  const std::array<std::string, 4> types = {"transaction", "compaction_gen0", "background_compaction", "no_such_type"};
  const auto id = TaskId(rng.below(6));
  // A task whose id the broker picks is never finished here, so it holds nothing.
  const Need need = id == TaskId(0) ? Need() : Need{.cpu = rng.below(4), .memory = rng.below(3) << 30, .others = {}};
  const std::string type = types[rng.below(types.size())];
  const std::string cookie = fmt::format("c\xff{}", rng.below(100));
  switch (rng.below(12)) {
    case 0:
      return session.update({.id = id, .type = type, .priority = rng.below(3), .need = need, .resubmit = rng.below(2) == 0});
    case 1:
      return session.update_cookie(id, cookie);
    case 2:
      return session.remove(id, rng.below(2) == 0 ? Reply::yes : Reply::no);
    case 3:
      return session.finish_instant(id, rng.below(2) == 0 ? Cancelled::yes : Cancelled::no);
    case 4:
      return session.reduce(id, need);
    case 5:
      return session.merge(id, TaskId(rng.below(6)));
    case 6:
      return session.submit_instant({.id = id, .name = "i", .type = type, .priority = 1, .need = need, .cookie = cookie});
    case 7:
    case 8:
      return session.finish(id, Cancelled::no);
    default:
      return session.submit({.id = id, .name = "n", .type = type, .priority = rng.below(3), .need = need, .cookie = cookie});
  }
}

// Runs the same random requests of three clients; after each one its client asks something that is answered, so the order is the
// same in both worlds.
std::vector<std::string> life_of(const std::function<std::unique_ptr<Session>(SessionSink&)>& open, std::uint64_t seed) {
  std::array<Inbox, 3> inboxes;
  std::array<std::unique_ptr<Session>, 3> sessions;
  for (std::size_t i = 0; i < 3; ++i) sessions[i] = open(inboxes[i]);
  Rng rng(seed);
  for (int step = 0; step < (slow_build ? 150 : 600); ++step) {
    const std::size_t who = rng.below(3);
    EXPECT_TRUE(act(*sessions[who], rng));
    inboxes[who].answer(sessions[who]->finish_instant(TaskId(99), Cancelled::no));
  }
  // A grant may still be on its way to who did not ask last.
  std::vector<std::string> life;
  for (std::size_t i = 0; i < 3; ++i) {
    inboxes[i].answer(sessions[i]->finish_instant(TaskId(99), Cancelled::no));
    for (std::string& text : texts_of(inboxes[i].wait_for(0))) life.push_back(fmt::format("{}: {}", i, text));
  }
  return life;
}

TEST(BrokerRpc, BehavesAsALocalSessionDoes) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto clock = std::make_shared<StillClock>();
    const auto local = make_broker({.clock = clock});
    const Served served(make_broker({.clock = clock}));
    const auto here = life_of([&](SessionSink& sink) { return local->open("test", at_once(), sink); }, seed);
    const auto there = life_of([&](SessionSink& sink) { return served.connect(sink); }, seed);
    EXPECT_EQ(here, there) << "seed " << seed;
    EXPECT_GT(here.size(), 100U);
    EXPECT_EQ(local->observe().status.total, served.broker->observe().status.total);
  }
}

TEST(BrokerRpc, ClientsGetGrantsThatGiveThemselvesBack) {
  const Served served;
  auto client = connect_client(served.address(), "compactor");
  ASSERT_TRUE(client) << client.error().message;
  auto grant = (*client)->acquire(task(0, 4), patience);
  ASSERT_TRUE(grant) << grant.error().message;
  EXPECT_EQ(served.broker->observe().status.total.infly, 1U);
  EXPECT_EQ(served.broker->observe().clients.begin()->second, "compactor");
  const auto none = (*client)->try_acquire(task(0, 4));
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
  grant->finish();
  auto next = (*client)->try_acquire(task(0, 4));
  ASSERT_TRUE(next && *next);
}

TEST(BrokerRpc, AnAnswerToSomethingEarlierIsNotMistaken) {
  const Served served;
  const auto other = served.broker->client("other");
  const auto most = other->acquire(task(1, 9), 0s);
  ASSERT_TRUE(most) << most.error().message;
  const auto client = connect_client(served.address(), "test");
  ASSERT_TRUE(client) << client.error().message;
  for (int i = 0; i < 20; ++i) {
    auto grant = (*client)->acquire(task(7, 1, "compaction_gen0"), 10s);
    ASSERT_TRUE(grant) << grant.error().message;
    EXPECT_TRUE(grant->reduce({}));  // its result is on its way when the id is used anew
    grant->finish();
    const auto at_once = (*client)->try_acquire(task(7, 5, "compaction_gen0"));
    ASSERT_TRUE(at_once) << at_once.error().message;
    EXPECT_FALSE(at_once->has_value()) << "there is not so much";
    grant = (*client)->acquire(task(7, 1, "compaction_gen0"), 10s);
    ASSERT_TRUE(grant) << grant.error().message;
    EXPECT_TRUE(grant->update_cookie(std::string(5000, 'x')));  // too long, which the broker says later
    grant = (*client)->reacquire(std::move(*grant), {.type = "compaction_gen0", .need = {.cpu = 1}}, 10s);
    EXPECT_TRUE(grant) << grant.error().message;
  }
}

TEST(BrokerRpc, WhatIsQueuedIsSentBeforeTheSessionEnds) {
  const Served served;
  {
    Inbox inbox;
    const auto session = served.connect(inbox);
    EXPECT_EQ(inbox.answer(session->submit(task(1))).kind, Delivery::Kind::allocated);
    ASSERT_TRUE(session->finish(TaskId(1), Cancelled::no));
  }
  const auto seen = served.broker->observe().status;
  EXPECT_EQ(seen.total.finished, 1U);
  const auto type = std::ranges::find(seen.types, "transaction", &TypeStatus::name);
  EXPECT_EQ(type->execution.count(), 1U) << "finished, not cancelled by the client's death";
}

TEST(BrokerRpc, TheEndOfASessionFreesEverything) {
  const Served served;
  Inbox inbox, others;
  auto session = served.connect(inbox);
  const auto other = served.connect(others);
  inbox.answer(session->submit(task(1, 4)));
  const auto waits = other->submit(task(1, 4));
  session.reset();
  EXPECT_EQ(others.answer(waits).kind, Delivery::Kind::allocated);
}

TEST(BrokerRpc, MayBeDestroyedInsideItsOwnDelivery) {
  const Served served;
  struct Last final : SessionSink {
    std::promise<std::unique_ptr<Session>> session;
    std::promise<void> done;
    void deliver(const Delivery&) override {
      session.get_future().get().reset();
      done.set_value();
    }
  } last;
  auto session = served.connect(last);
  auto* line = session.get();
  auto done = last.done.get_future();
  last.session.set_value(std::move(session));
  ASSERT_TRUE(line->submit(task(1)));
  EXPECT_EQ(done.wait_for(patience), std::future_status::ready);
}

TEST(BrokerRpc, AMillionTasksVanishWithTheirClient) {
  const Served served(make_broker({.tasks_max = 2'000'000}));
  constexpr std::uint64_t count = slow_build ? 20'000 : 1'000'000;
  Inbox inbox, others;
  auto session = served.connect(inbox, "greedy", {.send_wait = patience, .close_wait = Duration(0)});
  for (std::uint64_t i = 1; i <= count; ++i) ASSERT_TRUE(session->submit(task(i, 4)));
  inbox.answer(session->finish_instant(TaskId(count + 1), Cancelled::no));
  EXPECT_EQ(served.broker->observe().status.total.enqueued, count - 1);
  const auto other = served.connect(others, "modest");
  const auto waits = other->submit(task(1, 4));
  session.reset();  // cuts the line
  EXPECT_EQ(others.answer(waits).kind, Delivery::Kind::allocated);
  const auto seen = served.broker->observe().status;
  EXPECT_EQ(seen.total.enqueued, 0U);
  EXPECT_EQ(seen.total.infly, 1U);
}

TEST(BrokerRpc, ManyClientsAtOnce) {
  const Served served;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      auto client = connect_client(served.address(), fmt::format("client-{}", i));
      ASSERT_TRUE(client) << client.error().message;
      for (int run = 0; run < (slow_build ? 20 : 200); ++run) {
        auto grant = (*client)->acquire(task(0, 1 + static_cast<std::uint64_t>(i) % 4), patience);
        ASSERT_TRUE(grant) << grant.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto seen = served.broker->observe().status;
  EXPECT_EQ(seen.total.finished, 16U * (slow_build ? 20 : 200));
  EXPECT_EQ(seen.total.infly, 0U);
  EXPECT_EQ(seen.total.enqueued, 0U);
}

// -------------------------------------------------------------------------------------------------------------- what is not taken

TEST(BrokerRpc, WhatTheBrokerDoesNotTakeIsDeliveredAsAnError) {
  const Served served(make_broker({.tasks_max = 1}));
  Inbox inbox;
  const auto session = served.connect(inbox);
  Task odd = task(1);
  odd.need.others = {{"gpu", 1}};
  const Delivery unknown = inbox.answer(session->submit(odd));
  EXPECT_EQ(unknown.kind, Delivery::Kind::error);
  EXPECT_EQ(unknown.refusal, Refusal::none);
  EXPECT_EQ(unknown.task, TaskId(1));
  EXPECT_THAT(unknown.message, HasSubstr("gpu"));
  EXPECT_EQ(inbox.answer(session->submit(task(2))).kind, Delivery::Kind::allocated);
  EXPECT_THAT(inbox.answer(session->submit(task(3))).message, HasSubstr("1 tasks"));
  Task long_named = task(4);
  long_named.name = std::string(100'000, 'x');
  EXPECT_THAT(inbox.answer(session->submit(long_named)).message, HasSubstr("name"));
  EXPECT_EQ(inbox.answer(session->finish_instant(TaskId(2), Cancelled::no)).ok, true) << "the tags still match";
}

TEST(BrokerRpc, TextsThatAreNotUtf8AreRefusedAtOnce) {
  const Served served;
  Inbox inbox;
  const auto session = served.connect(inbox);
  Task odd = task(1);
  odd.type = "a\xff";
  EXPECT_EQ(session->submit(odd).error().code, Code::invalid);
  odd.type = "transaction";
  odd.need.others = {{"\xc0", 1}};
  EXPECT_EQ(session->submit_instant(odd).error().code, Code::invalid);
  EXPECT_EQ(connect(served.address(), "\xff", {}, at_once(), inbox).error().code, Code::invalid);
  odd = task(1);
  odd.cookie = std::string(2 << 20, 'x');
  EXPECT_EQ(session->submit(odd).error().code, Code::too_large);
  EXPECT_EQ(inbox.answer(session->submit(task(1))).tag, 1U) << "what was refused here took no tag";
}

// A stream of messages that no client of ours would send.
class Hostile {
 public:
  explicit Hostile(const std::string& address)
      : stub_(v1::Broker::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
        stream_(stub_->Session(&context_)) {}

  Hostile& hello(const std::string& name = "hostile") {
    v1::ClientMessage message;
    message.mutable_hello()->set_client(name);
    return send(message);
  }
  Hostile& send(const v1::ClientMessage& message) {
    stream_->Write(message);
    return *this;
  }
  Hostile& operation(std::uint64_t tag, const std::function<void(v1::Operation&)>& fill) {
    v1::ClientMessage message;
    message.add_operations()->set_tag(tag);
    fill(*message.mutable_operations(0));
    return send(message);
  }
  // Reads to the end, and says how it ended.
  std::string end() {
    for (v1::ServerMessage message; stream_->Read(&message);) continue;
    const grpc::Status status = stream_->Finish();
    return fmt::format("{}: {}", static_cast<int>(status.error_code()), status.error_message());
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Broker::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ClientMessage, v1::ServerMessage>> stream_;
};

TEST(BrokerRpc, MessagesThatMakeNoSenseEndTheStream) {
  const Served served(make_broker(), {.message_max = Bytes(65536)});
  const auto submit = [](v1::Operation& operation) { operation.mutable_submit()->set_type("transaction"); };
  const std::string& address = served.address();
  EXPECT_THAT(Hostile(address).send({}).end(), AllOf(HasSubstr("3: "), HasSubstr("no hello")));
  EXPECT_THAT(Hostile(address).hello().hello().end(), AllOf(HasSubstr("3: "), HasSubstr("second hello")));
  EXPECT_THAT(Hostile(address).hello(std::string(257, 'x')).end(), AllOf(HasSubstr("3: "), HasSubstr("257 bytes")));
  EXPECT_THAT(Hostile(address).hello().operation(2, submit).end(), HasSubstr("3: operation 1 has the tag 2"));
  EXPECT_THAT(Hostile(address).hello().operation(1, submit).operation(1, submit).end(),
              HasSubstr("3: operation 2 has the tag 1"));
  EXPECT_THAT(Hostile(address).hello().operation(1, [](auto&) {}).end(), HasSubstr("3: operation 1: it asks for nothing"));
  const auto twice = [](v1::Operation& operation) {
    for (int i = 0; i < 2; ++i) operation.mutable_reduce()->mutable_by()->add_others()->set_resource("gpu");
  };
  EXPECT_THAT(Hostile(address).hello().operation(1, twice).end(),
              HasSubstr("3: operation 1: the need names the resource \"gpu\" twice"));
  const auto own = [](v1::Operation& operation) {
    operation.mutable_update()->mutable_need()->add_others()->set_resource("cpu");
  };
  EXPECT_THAT(Hostile(address).hello().operation(1, own).end(), HasSubstr("3: operation 1: the need has cpu among the others"));
  const auto large = [](v1::Operation& operation) { operation.mutable_submit()->set_cookie(std::string(100'000, 'x')); };
  EXPECT_THAT(Hostile(address).hello().operation(1, large).end(), HasSubstr("8: "));
  EXPECT_EQ(served.broker->observe().status.total.infly, 0U) << "those who misbehaved are gone, and so are their tasks";
}

TEST(BrokerRpc, BytesThatAreNoMessageEndTheStream) {
  const Served served;
  grpc::GenericStub stub(grpc::CreateChannel(served.address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto next = [&] {
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(queue.Next(&tag, &ok));
  };
  const auto stream = stub.PrepareCall(&context, "/evenkeel.broker.v1.Broker/Session", &queue);
  stream->StartCall(nullptr), next();
  const grpc::Slice bytes("\xff\xff\xff no message");
  stream->Write(grpc::ByteBuffer(&bytes, 1), nullptr), next();
  grpc::Status status;
  stream->Finish(&status, nullptr), next();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("no ClientMessage"));
}

TEST(BrokerRpc, AClientThatDoesNotReadIsNotReadFrom) {
  const Served served(make_broker(), {.deliveries_max = 64});
  Inbox inbox, others;
  std::mutex mutex;
  std::vector<std::move_only_function<void()>> kept;
  bool open = false;
  const Executor gate = [&](std::move_only_function<void()> work) {
    {
      const std::lock_guard lock(mutex);
      if (!open) return kept.push_back(std::move(work));
    }
    work();
  };
  const auto session = served.connect(inbox, "deaf", {.unsent_max = 100, .send_wait = 500ms, .undelivered_max = 64}, gate);
  ASSERT_TRUE(session->submit(task(1)));
  // Each request is answered with an error, and the answers pile up: here, on the way, at the broker, on the way back, and here.
  std::uint64_t sent = 1;
  Result<RequestTag> tag = 0;
  while (sent < 20'000'000 && (tag = session->update_cookie(TaskId(7), std::string(1000, 'x')))) ++sent;
  ASSERT_FALSE(tag) << "all of them were taken";
  EXPECT_EQ(tag.error().code, Code::unavailable);
  EXPECT_THAT(tag.error().message, HasSubstr("unsent_max"));
  EXPECT_TRUE(session->finish(TaskId(1), Cancelled::yes)) << "what is let go of must not stay held";
  // Nobody else notices.
  const auto other = served.connect(others);
  EXPECT_EQ(others.answer(other->submit(task(1))).kind, Delivery::Kind::allocated);
  // Once it reads, everything comes, in order.
  {
    const std::lock_guard lock(mutex);
    open = true;
  }
  for (auto& work : kept) work();
  const auto all = inbox.wait_for(sent);
  for (std::uint64_t i = 0; i < sent; ++i) ASSERT_EQ(all[i].tag, i + 1);
  EXPECT_EQ(inbox.answer(session->finish_instant(TaskId(1), Cancelled::no)).refusal, Refusal::unknown_task);
}

// ------------------------------------------------------------------------------------------------------------------- lines that break

TEST(BrokerRpc, ABrokerThatGoesAwayIsToldOnce) {
  Served served;
  Inbox inbox;
  const auto session = served.connect(inbox);
  inbox.answer(session->submit(task(1)));
  served.service->stop();
  const auto all = inbox.wait([](const auto& deliveries) { return deliveries.back().kind == Delivery::Kind::closed; });
  EXPECT_EQ(all.size(), 2U);
  EXPECT_FALSE(all.back().message.empty());
  const auto refused = session->submit(task(2));
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_EQ(served.broker->observe().status.total.infly, 0U);
}

TEST(BrokerRpc, NobodyThere) {
  std::string address;
  {
    const Served served;
    address = served.address();
  }
  Inbox inbox;
  const auto session = connect(address, "test", {}, at_once(), inbox);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, Code::unavailable);
  EXPECT_THAT(session.error().message, AllOf(HasSubstr(address), HasSubstr("evenkeel broker serve")));
  EXPECT_EQ(RemoteBroker(address).observe().error().code, Code::unavailable);
  EXPECT_EQ(RemoteBroker(address).record([](std::string_view) { return Result<void>(); }, {}).error().code, Code::unavailable);
  EXPECT_EQ(connect("nowhere", "test", {}, at_once(), inbox).error().code, Code::invalid);
  EXPECT_EQ(connect("example.com:80", "test", {}, at_once(), inbox).error().code, Code::denied);
  EXPECT_EQ(connect("unix:/no/such/socket", "test", {}, at_once(), inbox).error().code, Code::unavailable);
}

TEST(BrokerRpc, SomebodyWhoNeverAnswersIsGivenUp) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&name), size), 0);
  ASSERT_EQ(listen(listener, 5), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size), 0);
  const std::string address = fmt::format("127.0.0.1:{}", ntohs(name.sin_port));
  const RemoteOptions hasty{.connect_timeout = 100ms};
  Inbox inbox;
  const auto session = connect(address, "test", hasty, at_once(), inbox);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, Code::unavailable);
  EXPECT_EQ(RemoteBroker(address, hasty).observe().error().code, Code::unavailable);
  EXPECT_EQ(RemoteBroker(address, hasty).configure(default_config(), RemoteBroker::DryRun::no).error().code,
            Code::unknown_outcome);
  const auto recorded = RemoteBroker(address, hasty).record([](std::string_view) { return Result<void>(); }, {});
  EXPECT_THAT(recorded.error().message, HasSubstr("no answer in time"));
  close(listener);
}

// -------------------------------------------------------------------------------------------------------------------------- addresses

TEST(BrokerRpc, ListensOnlyWhereItMay) {
  const Served served;
  const auto start = [&](const std::string& listen) { return Service::start(served.broker, {.listen = listen}); };
  EXPECT_EQ(start("0.0.0.0:0").error().code, Code::denied);
  EXPECT_EQ(start("[::]:0").error().code, Code::denied);
  EXPECT_THAT(start("192.168.1.1:7071").error().message, HasSubstr("127.0.0.1:7071"));
  EXPECT_EQ(start("7071").error().code, Code::invalid);
  EXPECT_EQ(start(served.address()).error().code, Code::conflict);
  const auto by_name = start("localhost:0");
  ASSERT_TRUE(by_name) << by_name.error().message;
  EXPECT_TRUE(RemoteBroker((*by_name)->address()).config());
}

TEST(BrokerRpc, ListensOnASocketInTheFileSystem) {
  const Served served;
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("evenkeel-rpc-{}", getpid());
  std::filesystem::create_directory(folder);
  const std::string address = "unix:" + (folder / "broker").string();
  {
    const auto service = Service::start(served.broker, {.listen = address});
    ASSERT_TRUE(service) << service.error().message;
    EXPECT_EQ((*service)->address(), address);
    EXPECT_EQ(*RemoteBroker(address).config(), default_config());
    const auto second = Service::start(served.broker, {.listen = address});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_TRUE(RemoteBroker(address).config()) << "the first was not disturbed";
  }
  // A socket that a killed broker left behind is no obstacle.
  const int left = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string path = (folder / "left").string();
  std::ranges::copy(path, name.sun_path);
  ASSERT_EQ(bind(left, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  close(left);
  EXPECT_TRUE(Service::start(served.broker, {.listen = "unix:" + path}));
  // What is in the way is named, and stays.
  EXPECT_EQ(Service::start(served.broker, {.listen = "unix:" + folder.string()}).error().code, Code::conflict);
  EXPECT_EQ(Service::start(served.broker, {.listen = "unix:" + path + "/x/y"}).error().code, Code::not_found);
  std::filesystem::remove_all(folder);
}

TEST(BrokerRpc, SoManyClientsAndNoMore) {
  const Served served(make_broker(), {.clients_max = 1});
  Inbox inbox;
  auto first = served.connect(inbox);
  const auto second = connect(served.address(), "second", {}, at_once(), inbox);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::too_large);
  first.reset();
  EXPECT_TRUE(connect(served.address(), "third", {}, at_once(), inbox)) << "the seat is free again";
}

// ------------------------------------------------------------------------------------------------------------- status, config, recording

TEST(BrokerRpc, TheStatusArrivesWhole) {
  const Served served(make_broker({.clock = std::make_shared<StillClock>()}));
  Inbox inbox;
  const auto session = served.connect(inbox, "worker");
  Rng rng(7);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(act(*session, rng));
  inbox.answer(session->finish_instant(TaskId(99), Cancelled::no));
  const auto seen = RemoteBroker(served.address()).observe();
  ASSERT_TRUE(seen) << seen.error().message;
  const Observed here = served.broker->observe();
  EXPECT_EQ(seen->status, here.status);
  EXPECT_EQ(seen->clients, here.clients);
}

TEST(BrokerRpc, ConfiguresWholeMergedAndDry) {
  const Served served;
  const RemoteBroker remote(served.address());
  const ConfigPatch patch{.queues = {{.name = "queue_default", .weight = 77, .limit = {}}}, .types = {}, .limit = {{"gpu", 2}}};
  const auto dry = remote.configure(patch, RemoteBroker::DryRun::yes);
  ASSERT_TRUE(dry) << dry.error().message;
  EXPECT_EQ(dry->before, default_config());
  EXPECT_EQ(dry->after, merge(default_config(), patch));
  EXPECT_EQ(*remote.config(), default_config());
  const auto done = remote.configure(patch, RemoteBroker::DryRun::no);
  ASSERT_TRUE(done);
  EXPECT_EQ(*remote.config(), merge(default_config(), patch));
  for (const auto dry_run : {RemoteBroker::DryRun::yes, RemoteBroker::DryRun::no}) {
    const auto refused = remote.configure(Config{}, dry_run);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::refused);
    EXPECT_THAT(refused.error().message, HasSubstr("queue 'queue_default' is required"));
  }
  EXPECT_TRUE(remote.configure(default_config(), RemoteBroker::DryRun::no));
  EXPECT_EQ(*remote.config(), default_config());
}

// The grants in a replay's events, by client.
std::map<std::string, std::vector<std::string>> grants_in(const std::string& events) {
  std::map<std::string, std::vector<std::string>> grants;
  std::istringstream lines(events);
  const auto field = [](const std::string& line, const std::string& name) {
    const auto at = line.find("\"" + name + "\":") + name.size() + 3;
    return line.substr(at, line.find_first_of(",}", at) - at);
  };
  for (std::string line; std::getline(lines, line);)
    if (line.find("\"allocated\"") != std::string::npos) grants[field(line, "client")].push_back(field(line, "task"));
  return grants;
}

TEST(BrokerRpc, ARecordingReplaysToTheSameGrants) {
  const Served served;
  std::array<Inbox, 2> inboxes;
  std::array<std::unique_ptr<Session>, 2> sessions = {served.connect(inboxes[0], "a"), served.connect(inboxes[1], "b")};
  Rng rng(11);
  const auto work = [&](int steps) {
    for (int i = 0; i < steps; ++i) ASSERT_TRUE(act(*sessions[rng.below(2)], rng));
    for (std::size_t i = 0; i < 2; ++i) inboxes[i].answer(sessions[i]->finish_instant(TaskId(99), Cancelled::no));
  };
  work(200);
  const std::array<std::size_t, 2> before = {inboxes[0].wait_for(0).size(), inboxes[1].wait_for(0).size()};

  std::mutex mutex;
  std::condition_variable more;
  std::string trace;
  std::stop_source stop;
  auto recorded = std::async(std::launch::async, [&] {
    return RemoteBroker(served.address())
        .record(
            [&](std::string_view part) -> Result<void> {
              const std::lock_guard lock(mutex);
              trace += part;
              more.notify_all();
              return {};
            },
            stop.get_token());
  });
  const auto wait_for = [&](std::string_view text) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(more.wait_for(lock, patience, [&] { return trace.find(text) != std::string::npos; })) << trace.substr(0, 1000);
  };
  wait_for("\n");
  work(3000);
  inboxes[0].answer(sessions[0]->finish_instant(TaskId(424242), Cancelled::no));
  wait_for("424242");
  stop.request_stop();
  const auto ended = recorded.get();
  ASSERT_TRUE(ended) << ended.error().message;

  TraceRunner runner;
  std::string events;
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("424242") != std::string::npos) break;
    const auto run = runner.line(line, events);
    ASSERT_TRUE(run) << run.error().message << " in " << line;
  }
  std::map<std::string, std::vector<std::string>> live;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto all = inboxes[i].wait_for(0);
    for (std::size_t at = before[i]; at < all.size(); ++at)
      if (all[at].kind == Delivery::Kind::allocated) live[i == 0 ? "\"a\"" : "\"b\""].push_back(fmt::format("{}", all[at].task));
  }
  EXPECT_GT(live["\"a\""].size(), 10U);
  EXPECT_EQ(grants_in(events), live);
}

TEST(BrokerRpc, ARecordingEndsWithItsTakerAndItsBroker) {
  Served served;
  const RemoteBroker remote(served.address());
  const auto refused = remote.record([](std::string_view) -> Result<void> { return fail(Code::refused, "disk full"); }, {});
  EXPECT_EQ(refused.error().message, "disk full");
  std::promise<void> first;
  auto recorded = std::async(std::launch::async, [&] {
    return remote.record(
        [&, told = false](std::string_view) mutable -> Result<void> {
          if (!std::exchange(told, true)) first.set_value();
          return {};
        },
        {});
  });
  first.get_future().wait();
  served.service->stop();
  EXPECT_FALSE(recorded.get());
}

}  // namespace
}  // namespace evenkeel::broker
