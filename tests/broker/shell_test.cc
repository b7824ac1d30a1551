#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "evenkeel/base/real_loop.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/broker/shell/broker.h"
#include "evenkeel/broker/shell/client.h"
#include "evenkeel/broker/trace.h"
#include "tests/story/slow_build.h"

namespace evenkeel::broker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t many = slow_build ? 100'000 : 1'000'000;

class ManualClock final : public Clock {
 public:
  Instant now() const override {
    return Instant(std::chrono::duration_cast<Duration>(std::chrono::microseconds(micros_.load())));
  }
  void set(std::int64_t micros) { micros_ = micros; }

 private:
  std::atomic<std::int64_t> micros_ = 1'000'000;
};

std::string text(const Delivery& delivery) {
  switch (delivery.kind) {
    case Delivery::Kind::allocated:
      return fmt::format("allocated {} tag {} cookie '{}'", delivery.task, delivery.tag, delivery.cookie);
    case Delivery::Kind::error:
      return fmt::format("error {} tag {} {} cookie '{}'", delivery.task, delivery.tag, name(delivery.refusal), delivery.cookie);
    case Delivery::Kind::removed:
      return fmt::format("removed {} tag {} cookie '{}'", delivery.task, delivery.tag, delivery.cookie);
    case Delivery::Kind::result:
      return fmt::format("result {} tag {} {}", delivery.task, delivery.tag, delivery.ok ? "ok" : "no");
    case Delivery::Kind::closed:
      return "closed " + delivery.message;
  }
  return "";
}

// Keeps what was delivered as text, and calls `then` after each.
class Sink final : public SessionSink {
 public:
  void deliver(const Delivery& delivery) override {
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(text(delivery));
    }
    if (then) then(delivery);
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(seen_, {});
  }
  std::function<void(const Delivery&)> then;

 private:
  std::mutex mutex_;
  std::vector<std::string> seen_;
};

// 2 cpu for all, 1 of them for queue b.
Config small_config() {
  return {.queues = {{.name = "queue_default", .weight = 1, .limit = {}}, {.name = "b", .weight = 1, .limit = {{"cpu", 1}}}},
          .types = {{.name = "unknown", .queue = "queue_default", .default_duration = Micros(1000)},
                    {.name = "slow", .queue = "b", .default_duration = Micros(5000)}},
          .limit = {{"cpu", 2}, {"disk", 10}}};
}

std::shared_ptr<Broker> make_broker(BrokerOptions options = {}) {
  auto broker = Broker::from_config(small_config(), std::move(options));
  ensure(broker.has_value(), "the config is right");
  return *broker;
}

Task cpu_task(std::uint64_t id, std::uint64_t cpu = 1, std::string cookie = "") {
  return {.id = TaskId(id), .name = "t", .type = "unknown", .need = {.cpu = cpu}, .cookie = std::move(cookie)};
}

void expect_idle(const Broker& broker) {
  const Status status = broker.observe().status;
  for (const UInt128 held : status.total.held) EXPECT_TRUE(held == 0);
  EXPECT_EQ(status.total.enqueued, 0);
  EXPECT_EQ(status.total.infly, 0);
}

// -------------------------------------------------------------------------------------------------------------------- sessions

TEST(Session, DeliversWithTheTagOfTheRequest) {
  const auto broker = make_broker();
  Sink sink;
  const auto session = broker->open("a", at_once(), sink);
  EXPECT_EQ(session->submit(cpu_task(7, 2, "seven")), RequestTag{1});
  EXPECT_EQ(session->submit(cpu_task(8, 1, "eight")), RequestTag{2});
  EXPECT_EQ(session->submit(cpu_task(8, 1, "again")), RequestTag{3});
  EXPECT_EQ(session->finish(TaskId(8), Cancelled::no), RequestTag{4});
  EXPECT_EQ(session->remove(TaskId(7), Reply::yes), RequestTag{5});
  EXPECT_EQ(session->finish(TaskId(9), Cancelled::no), RequestTag{6});
  EXPECT_THAT(sink.take(), ElementsAre("allocated 7 tag 1 cookie 'seven'", "error 8 tag 3 ALREADY_EXISTS cookie 'again'",
                                       "error 8 tag 4 TASK_IN_QUEUE cookie 'eight'", "error 7 tag 5 TASK_IN_FLY cookie 'seven'",
                                       "error 9 tag 6 UNKNOWN_TASK cookie ''"));
  EXPECT_TRUE(session->update_cookie(TaskId(7), "SEVEN").has_value());
  EXPECT_EQ(session->update({.id = TaskId(7), .type = "unknown", .priority = 9, .need = {.cpu = 1}, .resubmit = true}),
            RequestTag{8});
  EXPECT_THAT(sink.take(), ElementsAre("allocated 8 tag 2 cookie 'eight'", "allocated 7 tag 8 cookie 'SEVEN'"));
  EXPECT_EQ(session->submit(cpu_task(0, 1, "picked")), RequestTag{9});
  EXPECT_EQ(session->remove(TaskId(1), Reply::yes), RequestTag{10});
  EXPECT_THAT(sink.take(), ElementsAre("removed 1 tag 10 cookie 'picked'"));
}

TEST(Session, AnswersWhatIsInstant) {
  const auto broker = make_broker();
  Sink sink;
  const auto session = broker->open("a", at_once(), sink);
  EXPECT_TRUE(session->submit_instant(cpu_task(1)).has_value());
  EXPECT_TRUE(session->submit_instant(cpu_task(2)).has_value());
  EXPECT_TRUE(session->submit_instant(cpu_task(3)).has_value());  // dropped
  EXPECT_TRUE(session->submit(cpu_task(4)).has_value());
  EXPECT_TRUE(session->merge(TaskId(1), TaskId(2)).has_value());
  EXPECT_TRUE(session->merge(TaskId(1), TaskId(2)).has_value());
  EXPECT_THAT(sink.take(), ElementsAre("result 1 tag 1 ok", "result 2 tag 2 ok", "result 3 tag 3 no", "result 1 tag 5 ok",
                                       "result 1 tag 6 no"));
  EXPECT_TRUE(session->reduce(TaskId(1), {.cpu = 1}).has_value());
  EXPECT_TRUE(session->finish_instant(TaskId(1), Cancelled::no).has_value());
  EXPECT_TRUE(session->finish_instant(TaskId(1), Cancelled::no).has_value());
  EXPECT_THAT(sink.take(),
              ElementsAre("allocated 4 tag 4 cookie ''", "result 1 tag 7 ok", "result 1 tag 8 ok", "result 1 tag 9 no"));
}

TEST(Session, RefusesWhatIsWrongOrOverABound) {
  const auto broker = make_broker({.tasks_max = 2, .deliveries_max = 3, .text_bytes_max = 8});
  Sink sink;
  std::deque<std::move_only_function<void()>> posted;
  const auto session = broker->open(
      "a", [&](auto work) { posted.push_back(std::move(work)); }, sink);
  const auto refused = [](const Result<RequestTag>& result) { return result ? "taken" : fmt::format("{}", result.error()); };
  EXPECT_EQ(refused(session->submit({.need = {.others = {{"gpu", 1}}}})),
            "the broker has no resource \"gpu\"; it has cpu, memory, disk (invalid)");
  EXPECT_EQ(refused(session->submit({.need = {.others = {{"disk", 1}, {"disk", 1}}}})),
            "the resource \"disk\" is given twice (invalid)");
  EXPECT_EQ(refused(session->submit({.need = {.others = {{"cpu", 1}}}})), "the resource \"cpu\" is given twice (invalid)");
  EXPECT_EQ(refused(session->submit({.cookie = "123456789"})), "the task's cookie has 9 bytes, more than 8 (too_large)");
  EXPECT_EQ(refused(session->submit({.type = "\xff"})), "the task's type \"\\xff\" is no UTF-8 (invalid)");
  EXPECT_EQ(refused(session->submit(cpu_task(1))), "taken");
  EXPECT_EQ(refused(session->submit({.id = TaskId(2), .need = {.cpu = 2, .others = {{"disk", 3}}}})), "taken");
  EXPECT_EQ(refused(session->submit(cpu_task(3))),
            "the client has 2 tasks, which is all it may have; finish or remove some (refused)");
  // One delivery waits, the grant of 1; two more, and only what gives back for certain is taken.
  for (int i = 0; i < 2; ++i) EXPECT_EQ(refused(session->finish(TaskId(9), Cancelled::no)), "taken");
  const std::string behind =
      "3 deliveries wait for the client's executor, which is all that are kept; let it run them (unavailable)";
  EXPECT_EQ(refused(session->finish(TaskId(9), Cancelled::no)), behind);
  EXPECT_EQ(refused(session->finish(TaskId(2), Cancelled::no)), behind);  // it waits, so this would only be an error
  EXPECT_EQ(refused(session->finish(TaskId(1), Cancelled::no)), "taken");
  EXPECT_EQ(refused(session->finish(TaskId(2), Cancelled::no)), "taken");
  expect_idle(*broker);
  ASSERT_EQ(posted.size(), 1);  // never more than one run in flight
  posted.front()();
  EXPECT_EQ(sink.take().size(), 4);
  EXPECT_EQ(session->finish(TaskId(9), Cancelled::no), RequestTag{15});  // refused ones have theirs too
  EXPECT_EQ(posted.size(), 2);
}

TEST(Session, HoldsNoLockWhileItDelivers) {
  const auto broker = make_broker();
  Sink sink;
  std::unique_ptr<Session> session;
  sink.then = [&](const Delivery& delivery) {
    EXPECT_EQ(broker->observe().status.total.infly, 1);
    if (delivery.task < TaskId(100)) {
      EXPECT_TRUE(session->finish(delivery.task, Cancelled::no).has_value());
      EXPECT_TRUE(session->submit(cpu_task(delivery.task.value() + 1)).has_value());
    }
  };
  session = broker->open("a", at_once(), sink);
  EXPECT_TRUE(session->submit(cpu_task(1)).has_value());
  EXPECT_EQ(sink.take().size(), 100);
}

TEST(Session, EndsInsideItsOwnDelivery) {
  const auto broker = make_broker();
  Sink sink;
  std::deque<std::move_only_function<void()>> posted;
  auto session = broker->open(
      "a", [&](auto work) { posted.push_back(std::move(work)); }, sink);
  sink.then = [&](const Delivery&) { session.reset(); };
  EXPECT_TRUE(session->submit(cpu_task(1)).has_value());
  EXPECT_TRUE(session->submit(cpu_task(2)).has_value());
  ASSERT_EQ(posted.size(), 1);
  posted.front()();
  EXPECT_THAT(sink.take(), ElementsAre("allocated 1 tag 1 cookie ''"));
  EXPECT_EQ(session, nullptr);
  expect_idle(*broker);
}

TEST(Session, EndsOnlyAfterADeliveryInProgressElsewhere) {
  const auto broker = make_broker();
  Sink sink;
  RealLoop loop;
  std::jthread thread([&] { loop.run(); });
  std::latch delivering(1);
  std::latch let_go(1);
  std::atomic<bool> delivered = false;
  sink.then = [&](const Delivery&) {
    delivering.count_down();
    let_go.wait();
    delivered = true;
  };
  auto session = broker->open("a", on(loop), sink);
  EXPECT_TRUE(session->submit(cpu_task(1)).has_value());
  delivering.wait();
  std::jthread later([&] { let_go.count_down(); });
  session.reset();
  EXPECT_TRUE(delivered);
  loop.stop();
}

TEST(Session, DeathFreesAMillionTasks) {
  const auto broker = make_broker();
  Sink others;
  const auto other = broker->open("other", at_once(), others);
  Sink sink;
  auto session = broker->open("a", at_once(), sink);
  for (std::uint64_t i = 1; i <= many; ++i) ASSERT_TRUE(session->submit(cpu_task(i)).has_value());
  EXPECT_TRUE(other->submit(cpu_task(1, 2)).has_value());
  EXPECT_EQ(broker->observe().status.total.enqueued, many - 1);
  EXPECT_THAT(others.take(), IsEmpty());
  session.reset();
  EXPECT_THAT(others.take(), ElementsAre("allocated 1 tag 1 cookie ''"));
  const Observed seen = broker->observe();
  EXPECT_EQ(seen.status.total.enqueued, 0);
  EXPECT_EQ(seen.status.total.infly, 1);
  EXPECT_EQ(sink.take().size(), 2);
}

// ---------------------------------------------------------------------------------------------------------------------- broker

TEST(Broker, CountsTimeFromItsStartAndNeverBack) {
  auto clock = std::make_shared<ManualClock>();
  const auto broker = make_broker({.clock = clock});
  EXPECT_EQ(broker->observe().status.now, Micros(0));
  clock->set(1'000'500);
  EXPECT_EQ(broker->observe().status.now, Micros(500));
  clock->set(3);
  EXPECT_EQ(broker->observe().status.now, Micros(500));
}

TEST(Broker, TellsClientsApart) {
  const auto broker = make_broker();
  Sink sink;
  std::vector<std::unique_ptr<Session>> sessions;
  for (const char* called : {"a", "a", "", "\xff", "a"}) {
    sessions.push_back(broker->open(called, at_once(), sink));
    EXPECT_TRUE(sessions.back()->submit({}).has_value());
  }
  std::set<std::string> names;
  for (const auto& [id, called] : broker->observe().clients) names.insert(called);
  EXPECT_EQ(names.size(), 5);
  EXPECT_TRUE(names.contains("a") && names.contains("client") && names.contains("?"));
}

TEST(Broker, IsConfiguredWholeOrInPart) {
  const auto broker = make_broker();
  Sink sink;
  const auto session = broker->open("a", at_once(), sink);
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_TRUE(session->submit(cpu_task(i)).has_value());
  EXPECT_EQ(sink.take().size(), 2);
  EXPECT_TRUE(broker->configure(ConfigPatch{.limit = {{"cpu", 3}}}).has_value());
  EXPECT_THAT(sink.take(), ElementsAre("allocated 3 tag 3 cookie ''"));
  EXPECT_EQ(find_amount(broker->config().limit, "disk"), 10);
  const auto refused = broker->configure(ConfigPatch{.types = {{.name = "slow", .queue = "c", .default_duration = {}}}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "task 'slow' uses unknown queue 'c'");
  EXPECT_EQ(find_amount(broker->config().limit, "cpu"), 3);
  EXPECT_TRUE(broker->configure(default_config()).has_value());
  EXPECT_EQ(broker->config(), default_config());
  EXPECT_THAT(broker->resources(), ElementsAre("cpu", "memory"));
}

TEST(Broker, ReadsItsConfigFromText) {
  EXPECT_TRUE(
      Broker::from_text(R"(Queues { Name: "queue_default" } Tasks { Name: "unknown" QueueName: "queue_default" })", "b.txt")
          .has_value());
  const auto refused = Broker::from_text(R"(Queues { Name: "queue_default" })", "b.txt");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "b.txt: task 'unknown' is required");
  EXPECT_FALSE(Broker::from_text("Queues {", "b.txt").has_value());
}

TEST(Broker, RecordsWhatReplaysToTheSameGrants) {
  auto clock = std::make_shared<ManualClock>();
  const auto broker = make_broker({.clock = clock});
  Sink sink;
  auto session = broker->open("a", at_once(), sink);
  EXPECT_TRUE(session->submit(cpu_task(1, 2, "one")).has_value());
  EXPECT_TRUE(session->submit(cpu_task(2, 2, "two")).has_value());
  sink.take();
  clock->set(1'000'700);
  const auto recording = broker->record();
  clock->set(1'001'000);
  EXPECT_TRUE(session->submit({.type = "slow", .need = {.cpu = 1, .others = {{"disk", 1}}}, .cookie = "three"}).has_value());
  EXPECT_TRUE(session->finish(TaskId(1), Cancelled::no).has_value());
  EXPECT_TRUE(session->reduce(TaskId(2), {.cpu = 1}).has_value());
  EXPECT_TRUE(broker->configure(ConfigPatch{.limit = {{"cpu", 4}}}).has_value());
  EXPECT_TRUE(session->remove(TaskId(44), Reply::yes).has_value());
  session.reset();

  const auto commands = recording->read({});
  ASSERT_TRUE(commands.has_value());
  TraceRunner runner;
  std::string events;
  std::string lines;
  for (const trace::Command& command : *commands) {
    lines += trace::format(command) + '\n';
    const auto ran = runner.line(trace::format(command), events);
    ASSERT_TRUE(ran.has_value()) << lines << ran.error().message;
  }
  EXPECT_THAT(lines, HasSubstr(R"({"cmd":"client_died","client":"a"})"));
  // What was delivered live, in the same order.
  EXPECT_THAT(sink.take(), ElementsAre("allocated 2 tag 2 cookie 'two'", "allocated 3 tag 3 cookie 'three'", "result 2 tag 5 ok",
                                       "error 44 tag 6 UNKNOWN_TASK cookie ''"));
  const auto two = events.find(R"("ev":"allocated")");
  const auto three = events.find(R"("ev":"allocated")", two + 1);
  ASSERT_NE(three, std::string::npos) << events;
  EXPECT_LT(events.find("two", two), three) << events;
  EXPECT_NE(events.find("three", three), std::string::npos) << events;
  EXPECT_NE(events.find("UNKNOWN_TASK"), std::string::npos) << events;
}

TEST(Broker, EndsARecordingThatIsNotRead) {
  const auto broker = make_broker();
  Sink sink;
  const auto session = broker->open("a", at_once(), sink);
  const auto recording = broker->record(4);
  for (std::uint64_t i = 1; i <= 10; ++i) EXPECT_TRUE(session->submit(cpu_task(i)).has_value());
  const auto kept = recording->read_now();
  ASSERT_TRUE(kept.has_value());
  EXPECT_GE(kept->size(), 2);
  EXPECT_LE(kept->size(), 4);
  const auto over = recording->read({});
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().code, Code::too_large);
  std::stop_source stop;
  stop.request_stop();
  const auto another = broker->record();
  EXPECT_EQ(another->read({})->size(), 1);  // the state
  EXPECT_TRUE(another->read(stop.get_token())->empty());
}

// ---------------------------------------------------------------------------------------------------------------------- client

TEST(Client, GrantsGiveThemselvesBack) {
  const auto broker = make_broker();
  const auto client = broker->client("a");
  {
    auto first = client->acquire(cpu_task(0, 2, "biscuit"), 0s);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->cookie(), "biscuit");
    EXPECT_TRUE(first->active());
    const auto none = client->try_acquire(cpu_task(0));
    ASSERT_TRUE(none.has_value());
    EXPECT_FALSE(none->has_value());
    EXPECT_TRUE(first->reduce({.cpu = 1}).has_value());
    auto second = client->try_acquire(cpu_task(0));
    ASSERT_TRUE(second.has_value() && second->has_value());
    Grant moved = std::move(**second);
    EXPECT_TRUE(first->merge(std::move(moved)).has_value());
    EXPECT_FALSE(moved.active());
    EXPECT_TRUE(broker->observe().status.total.held[0] == 2);
    EXPECT_TRUE(first->update({.type = "slow", .need = {.cpu = 7}}).has_value());
    EXPECT_TRUE(broker->observe().status.queues[1].counters.held[0] == 7);
  }
  expect_idle(*broker);
  EXPECT_EQ(broker->observe().status.total.finished, 2);
}

TEST(Client, GivesUpWithNothingHeld) {
  const auto broker = make_broker();
  const auto client = broker->client("a");
  auto held = client->acquire(cpu_task(1, 2), Duration::max());
  ASSERT_TRUE(held.has_value());
  const auto late = client->acquire(cpu_task(2), 0s);
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error(), (Error{Code::cancelled, "the task waited for 0s and was not granted"}));
  EXPECT_EQ(client->acquire(cpu_task(2), 1ms).error().code, Code::cancelled);
  EXPECT_EQ(client->acquire(cpu_task(1), 0s).error().code, Code::conflict);
  EXPECT_EQ(client->acquire({.need = {.others = {{"gpu", 1}}}}, 0s).error().code, Code::invalid);
  EXPECT_EQ(broker->observe().status.total.enqueued, 0);

  std::stop_source stop;
  std::jthread stopper([&] {
    while (broker->observe().status.total.enqueued == 0) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_EQ(client->acquire(cpu_task(3), Duration::max(), stop.get_token()).error(),
            (Error{Code::cancelled, "a stop was requested while the task waited"}));
  held->cancel();
  held->cancel();
  expect_idle(*broker);
}

TEST(Client, CallsBackOnItsExecutorExactlyOnce) {
  const auto broker = make_broker();
  VirtualLoop loop;
  auto client = broker->client("a", on(loop));
  std::vector<std::string> called;
  std::vector<Grant> grants;
  const auto keep = [&](std::string who) {
    return [&, who](Result<Grant> grant) {
      called.push_back(fmt::format("{} {}", who, grant ? fmt::format("has {}", grant->id()) : fmt::format("{}", grant.error())));
      if (grant) grants.push_back(std::move(*grant));
    };
  };
  EXPECT_EQ(client->submit(cpu_task(0, 2), keep("x")), TaskId(1));
  EXPECT_EQ(client->submit(cpu_task(0, 2), keep("y")), TaskId(2));
  EXPECT_EQ(client->submit(cpu_task(0, 2), keep("z")), TaskId(3));
  EXPECT_EQ(client->submit(cpu_task(3), keep("not called")).error().code, Code::conflict);
  EXPECT_THAT(called, IsEmpty());
  EXPECT_FALSE(client->withdraw(TaskId(1)));
  EXPECT_TRUE(client->withdraw(TaskId(2)));
  EXPECT_FALSE(client->withdraw(TaskId(2)));
  loop.run_until_idle();
  EXPECT_THAT(called, ElementsAre("x has 1", "y the task was withdrawn (cancelled)"));
  // A blocking call does not need the executor.
  grants.clear();
  loop.run_until_idle();
  ASSERT_EQ(grants.size(), 1);
  EXPECT_EQ(client->resubmit(std::move(grants[0]), {.type = "unknown", .need = {.cpu = 1}}, keep("z again")), TaskId(3));
  auto blocking = client->acquire(cpu_task(0, 1), 0s);
  EXPECT_TRUE(blocking.has_value());
  EXPECT_TRUE(client->submit(cpu_task(9), keep("w")).has_value());
  called.clear();
  client.reset();
  EXPECT_THAT(called, ElementsAre("z again the client was closed (cancelled)", "w the client was closed (cancelled)"));
  loop.run_until_idle();
  EXPECT_EQ(called.size(), 2);
  EXPECT_FALSE(blocking->active());
  EXPECT_FALSE(blocking->reduce({.cpu = 1}).has_value());
  blocking->finish();
  expect_idle(*broker);
}

TEST(Client, WaitsAgainWithOtherNeeds) {
  const auto broker = make_broker({.scheduling = {.refuse_oversized = true}});
  const auto client = broker->client("a");
  auto grant = client->acquire(cpu_task(0, 1), 0s);
  auto other = client->acquire(cpu_task(0, 1), 0s);
  ASSERT_TRUE(grant.has_value() && other.has_value());
  EXPECT_TRUE(grant->update_cookie("next").has_value());
  auto again = client->reacquire(std::move(*grant), {.type = "unknown", .need = {.cpu = 1}}, 0s);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->cookie(), "next");
  EXPECT_EQ(client->reacquire(std::move(*again), {.type = "unknown", .need = {.cpu = 2}}, 0s).error().code, Code::cancelled);
  EXPECT_EQ(broker->observe().status.total.infly, 1);
  EXPECT_EQ(client->reacquire(std::move(*other), {.type = "unknown", .need = {.cpu = 3}}, 0s).error().code, Code::refused);
  expect_idle(*broker);
  EXPECT_EQ(client->reacquire(Grant(), {}, 0s).error().code, Code::invalid);
}

TEST(Client, RefusesToWaitInsideACallbackThatItWouldWaitFor) {
  const auto broker = make_broker();
  const auto client = broker->client("a");
  int called = 0;
  EXPECT_TRUE(client
                  ->submit(cpu_task(0),
                           [&](const Result<Grant>& grant) {
                             EXPECT_TRUE(grant.has_value());
                             EXPECT_EQ(client->acquire(cpu_task(0), 1h).error().code, Code::refused);
                             EXPECT_TRUE(client->submit(cpu_task(0), [&](const Result<Grant>&) { ++called; }).has_value());
                             ++called;
                           })
                  .has_value());
  EXPECT_EQ(called, 2);
  EXPECT_TRUE(client->acquire(cpu_task(0), 0s).has_value());
}

TEST(Client, MayDieInsideItsOwnCallback) {
  const auto broker = make_broker();
  auto client = broker->client("a");
  int called = 0;
  EXPECT_TRUE(client->submit(cpu_task(0, 2), [&](const Result<Grant>&) { client.reset(), ++called; }).has_value());
  EXPECT_EQ(called, 1);
  expect_idle(*broker);
}

// A line that does nothing until it breaks.
class DeadLine final : public Session {
 public:
  Result<RequestTag> submit(Task) override { return 1; }
  Result<RequestTag> submit_instant(Task) override { return 1; }
  Result<RequestTag> update(TaskUpdate) override { return 1; }
  Result<RequestTag> update_cookie(TaskId, std::string) override { return 1; }
  Result<RequestTag> remove(TaskId, Reply) override { return 1; }
  Result<RequestTag> finish(TaskId, Cancelled) override { return 1; }
  Result<RequestTag> finish_instant(TaskId, Cancelled) override { return 1; }
  Result<RequestTag> reduce(TaskId, Need) override { return 1; }
  Result<RequestTag> merge(TaskId, TaskId) override { return 1; }
};

TEST(Client, EndsAllThatWaitsWhenTheLineBreaks) {
  SessionSink* sink = nullptr;
  auto client = Client::connect([&](const Executor&, SessionSink& to) -> Result<std::unique_ptr<Session>> {
    sink = &to;
    return std::make_unique<DeadLine>();
  });
  ASSERT_TRUE(client.has_value());
  std::string called;
  std::latch submitted(1);
  std::jthread waiting([&] {
    EXPECT_TRUE((*client)
                    ->submit(cpu_task(5), [&](const Result<Grant>& grant) { called = fmt::format("{}", grant.error()); })
                    .has_value());
    submitted.count_down();
    EXPECT_EQ((*client)->acquire(cpu_task(6), Duration::max()).error(), (Error{Code::unavailable, "gone"}));
  });
  submitted.wait();
  sink->deliver({.kind = Delivery::Kind::allocated, .task = TaskId(4)});  // of nobody
  sink->deliver({.kind = Delivery::Kind::closed, .message = "gone"});
  waiting.join();
  EXPECT_EQ(called, "gone (unavailable)");
  EXPECT_EQ((*client)->acquire(cpu_task(0), 0s).error().code, Code::unavailable);
  EXPECT_EQ((*client)->try_acquire(cpu_task(0)).error().code, Code::unavailable);
}

// A line that answers when told, to look into races: the grant is on its way while the task is given up.
class SlowLine final : public Session {
 public:
  explicit SlowLine(std::vector<std::string>& calls) : calls_(calls) {}
  Result<RequestTag> submit(Task task) override { return call("submit", task.id); }
  Result<RequestTag> submit_instant(Task task) override { return call("submit_instant", task.id); }
  Result<RequestTag> update(TaskUpdate update) override { return call("update", update.id); }
  Result<RequestTag> update_cookie(TaskId task, std::string) override { return call("update_cookie", task); }
  Result<RequestTag> remove(TaskId task, Reply) override { return call("remove", task); }
  Result<RequestTag> finish(TaskId task, Cancelled cancelled) override {
    return call(cancelled == Cancelled::yes ? "cancel" : "finish", task);
  }
  Result<RequestTag> finish_instant(TaskId task, Cancelled) override { return call("finish_instant", task); }
  Result<RequestTag> reduce(TaskId task, Need) override { return call("reduce", task); }
  Result<RequestTag> merge(TaskId task, TaskId) override { return call("merge", task); }

 private:
  Result<RequestTag> call(std::string_view what, TaskId task) {
    calls_.push_back(fmt::format("{} {}", what, task));
    return calls_.size();
  }
  std::vector<std::string>& calls_;
};

TEST(Client, GivesBackAGrantThatCameTooLate) {
  SessionSink* sink = nullptr;
  std::vector<std::string> calls;
  auto client = Client::connect([&](const Executor&, SessionSink& to) -> Result<std::unique_ptr<Session>> {
    sink = &to;
    return std::make_unique<SlowLine>(calls);
  });
  EXPECT_EQ((*client)->acquire(cpu_task(7), 0s).error().code, Code::cancelled);
  EXPECT_EQ((*client)->acquire(cpu_task(7), 0s).error().code, Code::conflict);  // not yet known to be gone
  sink->deliver({.kind = Delivery::Kind::allocated, .task = TaskId(7)});
  EXPECT_EQ((*client)->acquire(cpu_task(7), 0s).error().code, Code::cancelled);
  // The first removal's answer, which does not mean the new task... unless that leaves too: then it is forgotten a little early.
  sink->deliver({.kind = Delivery::Kind::error, .task = TaskId(8), .refusal = Refusal::task_in_fly});
  EXPECT_THAT(calls, ElementsAre("submit 7", "remove 7", "cancel 7", "submit 7", "remove 7"));
  sink->deliver({.kind = Delivery::Kind::removed, .task = TaskId(7)});
  int called = 0;
  EXPECT_TRUE((*client)
                  ->submit(cpu_task(7), [&](const Result<Grant>& grant) { called += grant.error().code == Code::refused; })
                  .has_value());
  sink->deliver({.kind = Delivery::Kind::error, .task = TaskId(7), .refusal = Refusal::task_in_fly});  // stale
  EXPECT_EQ(called, 0);
  sink->deliver({.kind = Delivery::Kind::error, .task = TaskId(7), .refusal = Refusal::queue_full});
  EXPECT_EQ(called, 1);
}

// ---------------------------------------------------------------------------------------------------------------------- stress

// A client that submits tasks from one thread. One that lives to the end finishes them as they come, on whatever thread they come;
// one that dies does so from its own thread, since nobody may use a session that goes.
class Actor final : public SessionSink {
 public:
  Actor(const std::shared_ptr<Broker>& broker, Executor executor, std::uint64_t tasks, std::uint64_t seed, bool dies)
      : tasks_(tasks),
        dies_(dies),
        granted_(tasks + 1),
        removed_(tasks + 1),
        rng_(seed),
        session_(broker->open("actor", std::move(executor), *this)) {}

  void deliver(const Delivery& delivery) override {
    EXPECT_FALSE(ended_);
    const std::uint64_t id = delivery.task.value();
    bool done = true;
    if (delivery.kind == Delivery::Kind::allocated) {
      // All of one type ask for the same, so those of one type are granted in their order.
      EXPECT_GT(id, std::exchange(last_[id % 2], id));
      ++granted_[id];
      if (!dies_) finish(id);
    } else if (delivery.kind == Delivery::Kind::removed) {
      ++removed_[id];
    } else {
      EXPECT_TRUE(delivery.refusal == Refusal::unknown_task || delivery.refusal == Refusal::task_in_fly);
      done = false;
    }
    const std::lock_guard lock(mutex_);
    if (dies_ && delivery.kind == Delivery::Kind::allocated) to_finish_.push_back(id);
    if (done) ++done_;
    changed_.notify_all();
  }

  void submit() {
    for (std::uint64_t id = 1; id <= tasks_; ++id) {
      EXPECT_TRUE(session_->submit({.id = TaskId(id), .type = id % 2 == 0 ? "slow" : "unknown", .need = {.cpu = 1}}).has_value());
      if (rng_.below(4) == 0) remove(1 + rng_.below(id));
      for (const std::uint64_t granted : take_granted()) finish(granted);
    }
  }
  void expect_each_once() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_ >= tasks_; });
    for (std::uint64_t id = 1; id <= tasks_; ++id) EXPECT_EQ(granted_[id] + removed_[id], 1) << id;
  }
  void die() {
    session_.reset();
    ended_ = true;
  }

 private:
  std::vector<std::uint64_t> take_granted() {
    const std::lock_guard lock(mutex_);
    return std::exchange(to_finish_, {});
  }
  void remove(std::uint64_t id) { EXPECT_TRUE(session_->remove(TaskId(id), Reply::yes).has_value()); }
  void finish(std::uint64_t id) {
    EXPECT_TRUE(session_->finish(TaskId(id), id % 3 == 0 ? Cancelled::yes : Cancelled::no).has_value());
  }

  const std::uint64_t tasks_;
  const bool dies_;
  // Deliveries are one at a time, so they need no lock among themselves.
  std::vector<int> granted_;
  std::vector<int> removed_;
  std::array<std::uint64_t, 2> last_{};
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint64_t> to_finish_;
  std::uint64_t done_ = 0;
  Rng rng_;
  std::unique_ptr<Session> session_;
};

TEST(Stress, EveryTaskIsGrantedOrRemovedOnce) {
  const auto broker = make_broker();
  RealLoop loop;
  RealLoop other_loop;
  std::jthread loop_thread([&] { loop.run(); });
  std::jthread other_thread([&] { other_loop.run(); });
  const std::uint64_t tasks = many / 500;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < 6; ++i) {
      threads.emplace_back([&, i] {
        const Executor executor = i % 3 == 0 ? at_once() : on(i % 3 == 1 ? loop : other_loop);
        for (std::uint64_t round = 0; round < 4; ++round) {
          const bool dies = round % 2 == 1;  // with what it has
          Actor actor(broker, executor, tasks, i * 10 + round, dies);
          actor.submit();
          if (!dies) actor.expect_each_once();
          actor.die();
        }
      });
    }
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 200; ++i) {
        EXPECT_TRUE(broker->configure(ConfigPatch{.limit = {{"cpu", 1 + i % 4}}}).has_value());
        EXPECT_LE(broker->observe().clients.size(), 6);
      }
    });
  }
  expect_idle(*broker);
  loop.stop();
  other_loop.stop();
}

// The ids that a trace's events grant to a client, in order.
std::vector<std::uint64_t> granted_in(std::string_view events, std::string_view client) {
  std::vector<std::uint64_t> ids;
  const std::string named = fmt::format(R"("client":"{}","task":)", client);
  while (!events.empty()) {
    const std::string_view line = events.substr(0, events.find('\n'));
    events.remove_prefix(std::min(line.size() + 1, events.size()));
    const std::size_t at = line.find(named);
    if (!line.starts_with(R"({"ev":"allocated")") || at == std::string_view::npos) continue;
    std::string_view rest = line.substr(at + named.size());
    ids.push_back(*parse_unsigned(take_digits(rest)));
  }
  return ids;
}

TEST(Stress, ARecordingOfManyThreadsReplaysToTheSameGrants) {
  const auto broker = make_broker();
  const auto recording = broker->record(std::size_t{1} << 22);
  std::array<std::vector<std::uint64_t>, 4> granted;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < granted.size(); ++i) {
      threads.emplace_back([&, i] {
        Sink sink;
        sink.then = [&](const Delivery& delivery) {
          if (delivery.kind == Delivery::Kind::allocated) granted[i].push_back(delivery.task.value());
        };
        Rng rng(i);
        const auto session = broker->open(fmt::format("actor{}", i), at_once(), sink);
        for (std::uint64_t step = 0; step < many / 1000; ++step) {
          const TaskId task(1 + rng.below(20));
          const Need need{.cpu = rng.below(3), .memory = rng.below(100), .others = {{"disk", rng.below(5)}}};
          const std::string type = rng.below(2) == 0 ? "slow" : "whatever";
          const auto one_of = std::array<std::function<Result<RequestTag>()>, 8>{
              [&] { return session->submit({.id = task, .type = type, .priority = rng.below(3), .need = need, .cookie = "c"}); },
              [&] { return session->submit_instant({.id = task, .type = type, .need = need}); },
              [&] { return session->update({.id = task, .type = type, .need = need, .resubmit = rng.below(2) == 0}); },
              [&] { return session->remove(task, Reply::yes); },
              [&] { return session->finish(task, Cancelled(rng.below(2) == 0)); },
              [&] { return session->finish_instant(task, Cancelled::no); },
              [&] { return session->reduce(task, need); },
              [&] { return session->merge(task, TaskId(1 + rng.below(20))); }};
          EXPECT_TRUE(one_of[rng.below(one_of.size())]().has_value());
        }
      });
    }
  }
  expect_idle(*broker);
  TraceRunner runner;
  std::string events;
  const auto recorded = recording->read_now();
  ASSERT_TRUE(recorded.has_value());
  for (const trace::Command& command : *recorded) ASSERT_TRUE(runner.line(trace::format(command), events).has_value());
  std::size_t all = 0;
  for (std::size_t i = 0; i < granted.size(); ++i) {
    // What a thread had been granted when it ended its session need not have been delivered.
    auto replayed = granted_in(events, fmt::format("actor{}", i));
    ASSERT_GE(replayed.size(), granted[i].size());
    all += granted[i].size();
    replayed.resize(granted[i].size());
    EXPECT_EQ(replayed, granted[i]);
  }
  EXPECT_GT(all, 0);
}

TEST(Stress, NoMoreRunThanTheLimitAllows) {
  const auto broker = make_broker();
  RealLoop loop;
  std::jthread loop_thread([&] { loop.run(); });
  std::atomic<int> running = 0;
  std::atomic<int> granted = 0;
  {
    const auto shared = broker->client("shared", on(loop));
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        Rng rng(i);
        const auto own = broker->client("own");
        Client& client = i % 2 == 0 ? *shared : *own;
        for (std::uint64_t round = 0; round < many / 1000; ++round) {
          const Duration timeout = std::array<Duration, 3>{0s, 50us, Duration::max()}[rng.below(3)];
          auto grant = client.acquire(cpu_task(0), timeout);
          if (!grant) continue;
          EXPECT_LE(++running, 2);
          ++granted;
          --running;
          if (rng.below(2) == 0) grant->cancel();
        }
      });
    }
  }
  EXPECT_GT(granted, 0);
  expect_idle(*broker);
  loop.stop();
}

}  // namespace
}  // namespace evenkeel::broker
