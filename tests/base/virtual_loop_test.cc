#include "evenkeel/base/virtual_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/base/rng.h"

namespace evenkeel {
namespace {

using testing::ElementsAre;

TEST(VirtualLoop, TimeJumpsToTheNextTimerAndStandsStillInside) {
  VirtualLoop loop;
  std::vector<std::string> ran;
  loop.post_after(10min, [&] {
    ran.push_back("a " + format(loop.now()));
    loop.post_after(5min, [&] { ran.push_back("c " + format(loop.now())); });
  });
  loop.post_after(12min, [&] { ran.push_back("b " + format(loop.now())); });
  EXPECT_EQ(loop.next_due(), Instant(10min));
  EXPECT_EQ(loop.run_for(1h), 3U);
  EXPECT_THAT(ran, ElementsAre("a 10m", "b 12m", "c 15m"));
  EXPECT_EQ(loop.now(), Instant(1h));
  EXPECT_TRUE(loop.idle());
}

TEST(VirtualLoop, EqualTimesRunInOrderOfPostingAndThePastIsNow) {
  VirtualLoop loop(Instant(1h));
  std::string ran;
  loop.post([&] { ran += 'a'; });
  loop.post_at(Instant(1s), [&] { ran += 'b'; });  // in the past: due now, so behind what already is
  loop.post_after(-5s, [&] { ran += 'c'; });
  loop.post([&] {
    ran += 'd';
    loop.post([&] { ran += 'f'; });
    ran += 'e';
  });
  EXPECT_EQ(loop.run_until(Instant(1h)), 5U);
  EXPECT_EQ(ran, "abcdef");
  EXPECT_EQ(loop.now(), Instant(1h));
}

TEST(VirtualLoop, RunUntilIncludesItsEndAndNeverGoesBack) {
  VirtualLoop loop;
  int ran = 0;
  loop.post_at(Instant(5s), [&] { ++ran; });
  loop.post_at(Instant(5s + 1ns), [&] { ++ran; });
  EXPECT_EQ(loop.run_until(Instant(5s)), 1U);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(loop.run_until(Instant(1s)), 0U);
  EXPECT_EQ(loop.now(), Instant(5s));
  EXPECT_TRUE(loop.step());
  EXPECT_EQ(loop.now(), Instant(5s + 1ns));
  EXPECT_FALSE(loop.step());
  EXPECT_EQ(loop.now(), Instant(5s + 1ns));
}

TEST(VirtualLoop, NeverIsAFineTime) {
  VirtualLoop loop(Instant(1s));
  bool ran = false;
  const Timer timer = loop.post_after(Duration::max(), [&] { ran = true; });
  EXPECT_EQ(loop.next_due(), Instant::max());
  EXPECT_EQ(loop.run_for(24h * 365 * 100), 0U);
  EXPECT_TRUE(loop.cancel(timer));
  EXPECT_FALSE(ran);
  EXPECT_EQ(loop.run_for(Duration::max()), 0U);
  EXPECT_EQ(loop.now(), Instant::max());
}

TEST(VirtualLoop, RunUntilIdleStopsAtItsBound) {
  VirtualLoop loop;
  std::function<void()> periodic = [&] { loop.post_after(1s, [&] { periodic(); }); };
  periodic();
  EXPECT_EQ(loop.run_until_idle(100), 100U);
  EXPECT_EQ(loop.now(), Instant(100s));
  EXPECT_FALSE(loop.idle());
}

TEST(VirtualLoop, CancelSaysWhetherItCameInTime) {
  VirtualLoop loop;
  std::string ran;
  std::optional<bool> cancelled_itself;
  Timer self;
  self = loop.post([&] { cancelled_itself = loop.cancel(self); });
  Timer later = loop.post_after(2s, [&] { ran += "later"; });
  loop.post_after(1s, [&] { EXPECT_TRUE(loop.cancel(later)); });
  loop.run_until_idle();
  EXPECT_EQ(cancelled_itself, false);
  EXPECT_EQ(ran, "");
  EXPECT_FALSE(loop.cancel(self));
  EXPECT_FALSE(loop.cancel(later));
  EXPECT_FALSE(loop.cancel(Timer{}));
}

TEST(VirtualLoop, ACallbackIsDestroyedAtOnceAfterItRanOrWasCancelled) {
  VirtualLoop loop;
  const auto token = std::make_shared<int>(0);
  const Timer timer = loop.post_after(1s, [token] {});
  EXPECT_EQ(token.use_count(), 2);
  loop.cancel(timer);
  EXPECT_EQ(token.use_count(), 1);
  long seen_by_next = 0;
  loop.post([token] {});
  loop.post([&] { seen_by_next = token.use_count(); });
  loop.run_until_idle();
  EXPECT_EQ(seen_by_next, 1);
}

TEST(VirtualLoop, DestroyingALoopDestroysWhatIsLeftWithoutRunningIt) {
  const auto token = std::make_shared<int>(0);
  bool ran = false;
  {
    std::vector<Timer> timers;
    VirtualLoop loop;
    // What a callback owns may cancel other timers as it goes, those already gone and those still there.
    struct Canceller {
      VirtualLoop& loop;
      std::vector<Timer>& timers;
      ~Canceller() {
        for (const Timer timer : timers) loop.cancel(timer);
      }
    };
    for (int i = 0; i < 10; ++i) {
      timers.push_back(loop.post_after(1s, [token, &ran, canceller = std::make_unique<Canceller>(loop, timers)] { ran = true; }));
    }
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(VirtualLoopDeathTest, ACallbackNeverRunsInsideAnother) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  VirtualLoop loop;
  loop.post([&] { loop.step(); });
  loop.post([] {});
  EXPECT_DEATH(loop.run_until_idle(), "a callback never runs inside another");
}

// The loop as one would first write it: a vector that is searched for the least (due, order), with all time-keeping spelled out.
class NaiveLoop {
 public:
  int post_at(Instant due, Loop::Callback callback) {
    entries_.push_back({std::max(due, now_), next_, std::move(callback)});
    return next_++;
  }
  bool cancel(int id) {
    return std::erase_if(entries_, [&](const Entry& entry) { return entry.id == id; }) > 0;
  }
  bool step() {
    if (entries_.empty()) return false;
    const auto first = std::min_element(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.due, a.id) < std::tie(b.due, b.id);
    });
    now_ = first->due;
    Loop::Callback callback = std::move(first->callback);
    entries_.erase(first);
    callback();
    return true;
  }
  Instant now() const { return now_; }

 private:
  struct Entry {
    Instant due;
    int id;
    Loop::Callback callback;
  };
  Instant now_{};
  int next_ = 0;
  std::vector<Entry> entries_;
};

// Drives a loop by dice: posts and cancels from outside and from inside callbacks, and notes all that happens.
template <class AnyLoop, class Handle>
class Player {
 public:
  explicit Player(std::uint64_t seed) : rng_(seed) {}

  std::string play(int moves) {
    for (int move = 0; move < moves; ++move) {
      if (rng_.chance(1, 2)) {
        act();
      } else {
        note(loop_.step() ? "step" : "idle");
      }
    }
    while (loop_.step()) {
    }
    note("end");
    return story_;
  }

 private:
  void act() {
    if (rng_.chance(1, 3) && !handles_.empty()) {
      const std::uint64_t pick = rng_.below(handles_.size());
      note(fmt::format("cancel {} {}", pick, loop_.cancel(handles_[pick])));
      return;
    }
    const auto id = handles_.size();
    const Instant due = loop_.now() + Duration(rng_.between(-3, 12));
    handles_.push_back(loop_.post_at(due, [this, id] {
      note(fmt::format("ran {}", id));
      // On average less than one follower each, so that it ends.
      for (std::uint64_t i = rng_.below(3) * rng_.below(2); i > 0; --i) act();
    }));
    note(fmt::format("post {}", id));
  }
  void note(std::string_view what) { story_ += fmt::format("{} {}\n", loop_.now().time_since_epoch().count(), what); }

  Rng rng_;
  AnyLoop loop_;
  std::vector<Handle> handles_;
  std::string story_;
};

TEST(VirtualLoop, IsTheNaiveLoop) {
  EXPECT_TRUE(rc::check("for every seed, event by event", [](std::uint64_t seed) {
    const int moves = *rc::gen::inRange(0, 200);
    const std::string expected = Player<NaiveLoop, int>(seed).play(moves);
    const std::string actual = Player<VirtualLoop, Timer>(seed).play(moves);
    RC_ASSERT(actual == expected);
  }));
}

}  // namespace
}  // namespace evenkeel
