#include "evenkeel/store/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/store/detail/beat.h"
#include "evenkeel/store/memory/memory.h"
#include "tests/store/host_loop.h"
#include "tests/store/tapped_store.h"

namespace evenkeel::store {
namespace {

using testing::ElementsAre;
using Opened = Result<std::unique_ptr<Session>>;

std::string text(Session::Event event) {
  constexpr const char* names[] = {"expiring", "renewed", "lost"};
  return names[static_cast<int>(event)];
}

Beat beat_at(const World& world, const std::string& key) {
  for (const Entry& entry : world.contents().entries) {
    if (entry.key == key) return detail::parse_beat(entry).value();
  }
  return {};
}

// One world and clients by name, for stories.
struct Stage {
  explicit Stage(Faults faults = {.delay_min = 1ms, .delay_max = 1ms}) : world(loop, faults) {}

  std::unique_ptr<Session> open(Store& store, SessionOptions options, Duration wait = {}) {
    Opened opened = fail(Code::cancelled, "not answered");
    Session::open(store, std::move(options), wait, [&](Opened result) { opened = std::move(result); });
    loop.run_for(wait + 1s);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }
  Error refused(Store& store, SessionOptions options, Duration wait = {}) {
    Opened opened = fail(Code::cancelled, "not answered");
    Session::open(store, std::move(options), wait, [&](Opened result) { opened = std::move(result); });
    loop.run_for(wait + 20s);
    EXPECT_FALSE(opened);
    return opened ? Error{} : opened.error();
  }

  VirtualLoop loop;
  World world;
};

const SessionOptions on_a{.key = "/beats/a", .ttl = 10s, .meta = "host:1", .identity = Identity("first")};
const SessionOptions second_on_a{.key = "/beats/a", .ttl = 10s, .identity = Identity("second")};

TEST(Session, BeatsEveryThirdOfItsTtlAndStaysValid) {
  Stage stage;
  auto store = stage.world.connect();
  std::vector<std::string> written;
  stage.world.on_commit([&](const std::string&, const Txn& txn, const Committed&) {
    written.push_back(fmt::format("{} {}", format(stage.loop.now()), txn.then.at(0).value));
  });
  const auto session = stage.open(*store, on_a);
  ASSERT_TRUE(session);
  EXPECT_EQ(session->identity(), Identity("first"));
  EXPECT_EQ(session->key(), "/beats/a");
  EXPECT_EQ(session->deadline(), Instant(2ms + 9s));  // sent when the read was answered
  for (int i = 0; i < 100; ++i) {
    stage.loop.run_for(1s);
    ASSERT_TRUE(session->valid());
  }
  ASSERT_GE(written.size(), 3U);
  EXPECT_EQ(written[0], R"(3ms {"format":1,"identity":"first","count":1,"ttl":"10s","meta":"host:1","ended":false})");
  EXPECT_EQ(written[1],
            R"(3s336ms333us333ns {"format":1,"identity":"first","count":2,"ttl":"10s","meta":"host:1","ended":false})");
  EXPECT_EQ(written.size(), 31U);
}

TEST(Session, IsToldThatItExpiresIsRenewedOrIsLost) {
  Stage stage({.delay_min = 1ms, .delay_max = 1ms, .timeout = 500ms});
  auto store = stage.world.connect("n1");
  const auto session = stage.open(*store, on_a);
  std::vector<std::string> events;
  session->on_event([&](Session::Event event) { events.push_back(fmt::format("{} {}", text(event), format(stage.loop.now()))); });
  stage.world.cut_off("n1");
  stage.loop.run_until(Instant(7s));
  EXPECT_THAT(events, ElementsAre("expiring 6s2ms"));
  EXPECT_TRUE(session->valid());
  stage.world.heal("n1");
  stage.loop.run_until(Instant(8s));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(events[1].starts_with("renewed 7s")) << events[1];
  stage.world.cut_off("n1");
  stage.loop.run_until(Instant(1min));
  ASSERT_EQ(events.size(), 4U);
  EXPECT_TRUE(events[3].starts_with("lost 16s")) << events[3];
  EXPECT_FALSE(session->valid());
  stage.world.heal("n1");
  stage.loop.run_for(1min);
  EXPECT_EQ(events.size(), 4U);
  EXPECT_FALSE(session->valid());  // lost is final
  session->on_event([&](Session::Event event) { events.push_back("late " + text(event)); });
  stage.loop.run_for(1s);
  EXPECT_EQ(events.back(), "late lost");
}

TEST(Session, EndsProperlySoThatOthersNeedNotWait) {
  Stage stage;
  auto store = stage.world.connect("n1");
  auto other = stage.world.connect("n2");
  const auto session = stage.open(*store, on_a);
  std::vector<std::string> events;
  session->on_event([&](Session::Event event) { events.push_back(text(event)); });
  std::optional<Result<Ended>> over;
  Observer observer(*other, "/beats/a", Observer::Mode::only_watch, [&](Result<Ended> ended) { over = std::move(ended); });
  std::vector<Result<Revision>> ended;
  session->end([&](Result<Revision> revision) { ended.push_back(std::move(revision)); });
  EXPECT_FALSE(session->valid());
  session->end([&](Result<Revision> revision) { ended.push_back(std::move(revision)); });
  stage.loop.run_for(20ms);
  EXPECT_THAT(events, ElementsAre("lost"));
  const Revision revision = stage.world.contents().revision;
  EXPECT_THAT(ended, ElementsAre(Result<Revision>(revision), Result<Revision>(revision)));
  EXPECT_TRUE(beat_at(stage.world, "/beats/a").ended);
  ASSERT_TRUE(over && *over);
  EXPECT_EQ((*over)->identity, Identity("first"));
  EXPECT_EQ((*over)->revision, revision);
  EXPECT_TRUE(stage.open(*other, second_on_a)->valid());
  EXPECT_EQ(stage.refused(*other, on_a).code, Code::conflict);
}

// Who reads that it is over may act at once: nothing here may take it for valid when that is sent.
TEST(Session, IsNotValidWhenItsEndIsSent) {
  Stage stage;
  TappedStore store(stage.world.connect("n1"));
  const auto session = stage.open(store, on_a);
  std::vector<bool> valid;
  store.on_txn = [&](const Txn&) {
    valid.push_back(session->valid());
    return std::optional<Error>();
  };
  stage.loop.run_for(5s);
  session->end([](const Result<Revision>&) {});
  EXPECT_THAT(valid, ElementsAre(true, false));
}

TEST(Session, IsNotOpenedWhileAnotherIsAlive) {
  Stage stage;
  auto store = stage.world.connect("n1");
  auto other = stage.world.connect("n2");
  const auto session = stage.open(*store, on_a);
  EXPECT_EQ(stage.refused(*other, second_on_a), (Error{Code::conflict, "/beats/a is held by \"first\", which is alive"}));
  EXPECT_EQ(stage.refused(*other, second_on_a, 5min).code, Code::conflict);
  EXPECT_TRUE(session->valid());
}

TEST(Session, EndsADeadPredecessorFirst) {
  Stage stage;
  auto store = stage.world.connect("n1");
  auto other = stage.world.connect("n2");
  auto session = stage.open(*store, on_a);
  session.reset();  // as in a crash
  std::vector<std::string> written;
  stage.world.on_commit([&](const std::string& client, const Txn& txn, const Committed& done) {
    const auto beat = detail::parse_beat(Entry{.key = "/beats/a", .value = txn.then.at(0).value}).value();
    written.push_back(fmt::format("{} {} {} {}", client, beat.identity, beat.ended, done.succeeded));
  });
  const Instant begin = stage.loop.now();
  Instant opened;
  std::unique_ptr<Session> next;
  Session::open(*other, second_on_a, 30s, [&](Opened result) {
    ASSERT_TRUE(result) << result.error().message;
    opened = stage.loop.now();
    next = *std::move(result);
  });
  stage.loop.run_for(12s);
  ASSERT_TRUE(next);
  EXPECT_EQ(opened - begin, 2ms + 10s + 200ms + 2ms + 2ms);  // a look, the standstill, the end, the take
  EXPECT_THAT(written, ElementsAre("n2 first true true", "n2 second false true"));
}

TEST(Session, OptionsAreCheckedAndErrorsComeOnTheLoop) {
  Stage stage;
  auto store = stage.world.connect();
  EXPECT_EQ(stage.refused(*store, {.key = "a"}).code, Code::invalid);
  EXPECT_EQ(stage.refused(*store, {.key = "/a", .ttl = 100ms}).message, "a session's ttl is at least 300ms, and 100ms was given");
  EXPECT_EQ(stage.refused(*store, {.key = "/a", .margin = 6s}).code, Code::invalid);
  EXPECT_EQ(stage.refused(*store, {.key = "/a", .meta = "\xff"}).code, Code::invalid);
  EXPECT_EQ(stage.refused(*store, {.key = "/a", .identity = Identity(std::string(257, 'x'))}).code, Code::invalid);
  store->put("/a", "something else", [](Result<Committed>) {});
  stage.loop.run_for(1s);
  const Error error = stage.refused(*store, {.key = "/a"});
  EXPECT_EQ(error.code, Code::invalid);
  EXPECT_TRUE(error.message.starts_with("/a is no session's beat: ")) << error.message;
  stage.world.cut_off("client");
  EXPECT_EQ(stage.refused(*store, {.key = "/b"}).code, Code::unavailable);
}

TEST(Session, RandomIdentitiesDiffer) {
  Stage stage;
  auto store = stage.world.connect();
  const auto a = stage.open(*store, {.key = "/a"});
  const auto b = stage.open(*store, {.key = "/b"});
  EXPECT_EQ(a->identity().str().size(), 32U);
  EXPECT_NE(a->identity(), b->identity());
}

TEST(Session, ASuspendedHostFindsItsDeadlinePassedBeforeItActs) {
  VirtualLoop loop;
  World world(loop, {.delay_min = 1ms, .delay_max = 1ms});
  HostLoop host(loop, 0, 0s);
  auto store = world.connect("n1", host);
  std::unique_ptr<Session> session;
  Session::open(*store, on_a, 0s, [&](Opened opened) { session = *std::move(opened); });
  loop.run_for(1s);
  ASSERT_TRUE(session);
  std::vector<std::string> events;
  session->on_event([&](Session::Event event) { events.push_back(text(event)); });
  // Suspended just after a beat was sent: its answer lies in the buffers when the host comes back, and would prolong the session.
  loop.run_until(Instant(3s + 335ms + 500us));
  host.pause(8s + 900ms);
  loop.run_for(8s + 899ms);
  host.post([&] { events.push_back(session->valid() ? "valid" : "not valid"); });
  loop.run_for(1min);
  EXPECT_THAT(events, testing::Not(testing::Contains("valid")));
  EXPECT_THAT(events, testing::Contains("lost"));
}

TEST(Session, GoesWithItsStoreWhileItIsBeingOpened) {
  Stage stage;
  auto store = stage.world.connect("n1");
  auto other = stage.world.connect("n2");
  const auto session = stage.open(*other, on_a);
  int answers = 0;
  const auto token = std::make_shared<int>();
  Session::open(*store, second_on_a, 1h, [&, token](Opened) { ++answers; });
  stage.loop.run_for(1s);
  EXPECT_EQ(token.use_count(), 2);
  store.reset();
  stage.loop.run_for(1h);
  EXPECT_EQ(answers, 0);
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_TRUE(session->valid());
}

TEST(Session, MayBeDestroyedByItsOwnHandlers) {
  Stage stage;
  auto store = stage.world.connect("n1");
  auto session = stage.open(*store, on_a);
  int events = 0;
  for (int i = 0; i < 2; ++i) {
    session->on_event([&](Session::Event event) {
      ++events;
      if (event == Session::Event::lost) session.reset();
    });
  }
  session->end([&](Result<Revision>) { FAIL() << "it was destroyed before"; });
  stage.loop.run_for(1s);
  EXPECT_EQ(events, 1);
}

TEST(Observer, SaysAtOnceWhatIsOverAlready) {
  Stage stage;
  auto store = stage.world.connect();
  std::vector<std::string> over;
  const auto say = [&](Result<Ended> ended) {
    over.push_back(ended ? fmt::format("'{}' {}", ended->identity, ended->revision) : ended.error().message);
  };
  Observer none(*store, "/beats/a", Observer::Mode::end_it, say);
  stage.loop.run_for(10ms);
  stage.open(*store, on_a)->end([](Result<Revision>) { FAIL() << "it is destroyed"; });
  stage.loop.run_for(12s);
  Observer dead(*store, "/beats/a", Observer::Mode::end_it, say);
  stage.loop.run_for(12s);
  Observer ended(*store, "/beats/a", Observer::Mode::only_watch, say);
  Observer wrong(*store, "beats", Observer::Mode::only_watch, say);
  stage.loop.run_for(10ms);
  EXPECT_THAT(over, ElementsAre("'' 1", "'first' 3", "\"beats\" is no key: keys begin with '/'", "'first' 3"));
}

TEST(Observer, OfADeletedBeatWaitsUntilItsHolderCannotTrustItself) {
  for (const auto mode : {Observer::Mode::end_it, Observer::Mode::only_watch}) {
    for (const bool taken : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", static_cast<int>(mode), taken));
      Stage stage({.delay_min = 1ms, .delay_max = 1ms, .timeout = 100ms});
      auto holder = stage.world.connect("n1");
      auto other = stage.world.connect("n2");
      const auto session = stage.open(*holder, on_a);
      std::vector<std::string> over;
      Observer observer(*other, "/beats/a", mode,
                        [&](Result<Ended> ended) { over.push_back(fmt::format("{} {}", ended->identity, session->valid())); });
      stage.loop.run_for(100ms);
      stage.world.cut_off("n1");
      other->erase("/beats/a", [](Result<Committed>) {});
      stage.loop.run_for(1s);
      std::unique_ptr<Session> next;
      if (taken) next = stage.open(*other, second_on_a);
      stage.loop.run_for(1s);
      EXPECT_THAT(over, ElementsAre());
      stage.loop.run_for(10s);
      EXPECT_THAT(over, ElementsAre("first false"));
      EXPECT_EQ(beat_at(stage.world, "/beats/a").identity, Identity(taken                            ? "second"
                                                                    : mode == Observer::Mode::end_it ? "first"
                                                                                                     : ""));
      EXPECT_TRUE(!next || next->valid());
    }
  }
}

TEST(Beats, ShareOneWatch) {
  Stage stage;
  auto store = stage.world.connect();
  std::vector<std::unique_ptr<Session>> sessions;
  Beats beats(*store, "/beats/");
  std::vector<std::unique_ptr<Observer>> observers;
  std::vector<std::string> over;
  for (int i = 0; i < 100; ++i) {
    const std::string key = fmt::format("/beats/{:02}", i);
    Session::open(*store, {.key = key, .identity = Identity(key)}, 0s,
                  [&](Opened opened) { sessions.push_back(*std::move(opened)); });
  }
  stage.loop.run_for(1s);
  ASSERT_EQ(sessions.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    observers.push_back(
        std::make_unique<Observer>(beats, fmt::format("/beats/{:02}", i), Observer::Mode::end_it, [&](Result<Ended> ended) {
          ASSERT_TRUE(ended);
          over.push_back(ended->identity.str());
        }));
  }
  stage.loop.run_for(1min);
  EXPECT_THAT(over, ElementsAre());
  sessions.erase(sessions.begin(), sessions.begin() + 98);
  sessions.back()->end([](Result<Revision>) {});
  stage.loop.run_for(1s);
  EXPECT_THAT(over, ElementsAre("/beats/99"));
  over.clear();
  stage.loop.run_for(12s);
  EXPECT_EQ(over.size(), 98U);
  EXPECT_TRUE(sessions.front()->valid());
}

}  // namespace
}  // namespace evenkeel::store
