// Watches: from now, from the past, slow ones, cut ones.

#include "tests/store/backends/engine_fixture.h"

namespace evenkeel::store::embedded {
namespace {

using namespace test;

const Span everything{std::string(1, '\0'), std::string(1, '\0')};

class EngineWatch : public testing::Test {
 protected:
  // Waits for events until `count` have come.
  static std::string take(Collector& from, std::size_t count) {
    std::string all;
    for (std::size_t got = 0; got < count;) {
      const auto events = from.take();
      got += events.events.size();
      all += (all.empty() ? "" : " ") + test::text(events);
    }
    return all;
  }

  Folder folder_;
  HandClock clock_;
  EngineOptions options_{.request_bytes_max = 10'000, .clock = &clock_};
  std::unique_ptr<Engine> engine_ = open(folder_.path(), options_);
};

TEST_F(EngineWatch, FromNowOn) {
  put(*engine_, "a", "0").value();
  Collector a;
  Collector all;
  Collector prefix;
  Collector other;
  engine_->watch({.span = {"a", {}}}, a.sink()).value();
  engine_->watch({.span = everything, .previous = true}, all.sink()).value();
  engine_->watch({.span = {"p/", "p0"}}, prefix.sink()).value();
  engine_->watch({.span = {"p/2", "q"}}, other.sink()).value();
  EXPECT_EQ(engine_->status().watchers, 4U);
  put(*engine_, "a", "1").value();
  put(*engine_, "p/1", "x").value();
  put(*engine_, "p/2", "y").value();
  put(*engine_, "p", "z").value();
  run(*engine_, Erase{.span = {"a", {}}}).value();
  EXPECT_EQ(take(a, 2), "put a=1@3 erase a@7");
  EXPECT_EQ(take(all, 5), "put a=1@3(was 0) put p/1=x@4 put p/2=y@5 put p=z@6 erase a@7(was 1)");
  EXPECT_EQ(take(prefix, 2), "put p/1=x@4 put p/2=y@5");
  EXPECT_EQ(take(other, 1), "put p/2=y@5");
}

TEST_F(EngineWatch, FromThePastAndOverAnOpen) {
  put(*engine_, "a", "1").value();
  put(*engine_, "a", "2").value();
  run(*engine_, Erase{.span = {"a", {}}}).value();
  put(*engine_, "b", "1").value();
  for (int i = 0; i < 2; ++i) {
    Collector all;
    engine_->watch({.span = everything, .start = 3, .previous = true}, all.sink()).value();
    EXPECT_EQ(take(all, 3), "put a=2@3(was 1) erase a@4(was 2) put b=1@5");
    Collector puts;
    engine_->watch({.span = everything, .start = 2, .no_erases = true}, puts.sink()).value();
    EXPECT_EQ(take(puts, 3), "put a=1@2 put a=2@3 put b=1@5");
    Collector erases;
    engine_->watch({.span = everything, .start = 2, .no_puts = true}, erases.sink()).value();
    EXPECT_EQ(take(erases, 1), "erase a@4");
    engine_.reset();
    engine_ = open(folder_.path(), options_);
  }
}

TEST_F(EngineWatch, FromTheFuture) {
  Collector later;
  engine_->watch({.span = everything, .start = 4}, later.sink()).value();
  for (int i = 0; i < 4; ++i) put(*engine_, "a", std::to_string(i)).value();
  EXPECT_EQ(take(later, 2), "put a=2@4 put a=3@5");
}

TEST_F(EngineWatch, OfWhatWasCompactedIsCancelled) {
  for (int i = 0; i < 5; ++i) put(*engine_, "a", std::to_string(i)).value();
  run(*engine_, Erase{.span = {"a", {}}}).value();
  engine_->compact(7, true).value();
  Collector below;
  engine_->watch({.span = everything, .start = 6}, below.sink()).value();
  const auto told = below.take();
  EXPECT_TRUE(told.cancelled);
  EXPECT_EQ(told.compacted, 7);
  Collector at;
  engine_->watch({.span = everything, .start = 7}, at.sink()).value();
  EXPECT_EQ(take(at, 1), "erase a@7");
}

TEST_F(EngineWatch, WhoseSinkIsFullMissesNothing) {
  Collector slow(3);
  const auto token = engine_->watch({.span = everything}, slow.sink()).value();
  for (int i = 0; i < 100; ++i) put(*engine_, "a", std::to_string(i)).value();
  while (slow.refused() == 0) std::this_thread::yield();
  std::int64_t next = 2;
  while (next <= 101) {
    for (const auto& event : slow.take().events) EXPECT_EQ(event.entry.mod_revision, next++);
    engine_->ready(token);
  }
}

TEST_F(EngineWatch, ThatFellBelowACompactionIsToldWhenItIsReady) {
  Collector slow(1);
  const auto token = engine_->watch({.span = everything}, slow.sink()).value();
  for (int i = 0; i < 10; ++i) put(*engine_, "a", std::to_string(i)).value();
  while (slow.refused() == 0) std::this_thread::yield();
  engine_->compact(11, true).value();
  EXPECT_EQ(slow.take().events.at(0).entry.mod_revision, 2);
  engine_->ready(token);
  const auto told = slow.take();
  EXPECT_TRUE(told.cancelled);
  EXPECT_EQ(told.compacted, 11);
}

TEST_F(EngineWatch, EventsOfOneRevisionStayTogetherUnlessFragmentsAreAskedFor) {
  Request many;
  for (int i = 0; i < 50; ++i) many.then.push_back(Put{.key = fmt::format("k{:02}", i), .value = std::string(100, 'x')});
  Collector whole;
  Collector cut(2);
  engine_->watch({.span = everything}, whole.sink()).value();
  for (int times = 0; times < 10; ++times) run(*engine_, many).value();
  for (std::int64_t next = 2; next <= 11;) {
    const auto events = whole.take().events;
    EXPECT_EQ(events.size() % 50, 0U);
    next = events.back().entry.mod_revision + 1;
  }
  // From the history, where they come in one go; its sink is full after each second piece.
  const auto token = engine_->watch({.span = everything, .start = 2, .fragment = true}, cut.sink()).value();
  std::vector<std::string> keys;
  int fragments = 0;
  while (keys.size() < 500) {
    const auto piece = cut.take();
    fragments += piece.fragment ? 1 : 0;
    EXPECT_LE(piece.events.size(), 80U);
    for (const auto& event : piece.events) keys.push_back(fmt::format("{}@{}", event.entry.key, event.entry.mod_revision));
    engine_->ready(token);
  }
  EXPECT_GE(fragments, 5);
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(keys[i], fmt::format("k{:02}@{}", i % 50, 2 + i / 50));
}

TEST_F(EngineWatch, TellsHowFarItIs) {
  put(*engine_, "a", "1").value();
  Collector asked;
  const auto token = engine_->watch({.span = {"b", {}}, .start = 2}, asked.sink()).value();
  put(*engine_, "a", "2").value();
  engine_->progress(token);
  const auto told = asked.take();
  EXPECT_TRUE(told.progress);
  EXPECT_EQ(told.revision, 3);
  Collector notes;
  engine_->watch({.span = {"b", {}}, .progress = true}, notes.sink()).value();
  engine_->progress(token);
  asked.take();  // and so the other is known where notes are sent
  clock_.advance(10min);
  engine_->tick();
  const auto note = notes.take();
  EXPECT_TRUE(note.progress);
  EXPECT_EQ(note.revision, 3);
  EXPECT_EQ(asked.size(), 0U);
}

TEST_F(EngineWatch, EndsWhenAsked) {
  Collector gone;
  Collector there;
  const auto token = engine_->watch({.span = everything}, gone.sink()).value();
  engine_->unwatch(token);
  engine_->unwatch(token);
  engine_->ready(token);
  engine_->watch({.span = everything}, there.sink()).value();
  put(*engine_, "a", "1").value();
  EXPECT_EQ(take(there, 1), "put a=1@2");
  EXPECT_EQ(gone.size(), 0U);
  EXPECT_EQ(engine_->status().watchers, 1U);
  EXPECT_EQ(wrong(engine_->watch({.span = {"b", "a"}}, there.sink())), "mvcc: watcher range is empty");
}

TEST_F(EngineWatch, AThousandOfOneKeyAreAllTold) {
  std::vector<std::unique_ptr<Collector>> all;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(std::make_unique<Collector>());
    engine_->watch({.span = {"a", {}}}, all.back()->sink()).value();
  }
  put(*engine_, "a", "1").value();
  for (auto& one : all) EXPECT_EQ(take(*one, 1), "put a=1@2");
}

// More is published than waits for the watchers' thread: what was dropped comes from the disk.
TEST_F(EngineWatch, OfMuchAtOnceMissesNothing) {
  engine_.reset();
  engine_ = open(folder_.path(), {.clock = &clock_});
  std::mutex hold;
  hold.lock();
  Collector all;
  auto inner = all.sink();
  engine_
      ->watch({.span = everything},
              [&](const Events& events) {
                const std::lock_guard wait(hold);
                return inner(events);
              })
      .value();
  const std::string value(1 << 20, 'x');
  for (int i = 0; i < 40; ++i) put(*engine_, "a", value).value();
  hold.unlock();
  std::int64_t next = 2;
  while (next <= 41)
    for (const auto& event : all.take().events) EXPECT_EQ(event.entry.mod_revision, next++);
}

}  // namespace
}  // namespace evenkeel::store::embedded
