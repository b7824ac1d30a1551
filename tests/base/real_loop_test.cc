// No test here waits by the clock: each waits for something to have happened. Delays are tiny and only order is checked, so a slow
// machine makes them slow and not wrong.

#include "evenkeel/base/real_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace evenkeel {
namespace {

using testing::ElementsAre;

// A loop with its thread, which ends with it.
class Running {
 public:
  ~Running() { loop.stop(); }

  // Runs `f` on the loop's thread and waits for what it returns.
  template <class F>
  auto ask(F f) {
    std::packaged_task<std::invoke_result_t<F>()> task(std::move(f));
    auto answer = task.get_future();
    loop.post([&task] { task(); });
    return answer.get();
  }

  RealLoop loop;

 private:
  std::jthread thread_{[this] { loop.run(); }};
};

TEST(RealLoop, RunsOnItsOwnThreadAndTellsTheTime) {
  Running running;
  const Instant before = BootClock().now();
  const auto [thread, time] = running.ask([&] { return std::pair(std::this_thread::get_id(), running.loop.now()); });
  EXPECT_NE(thread, std::this_thread::get_id());
  EXPECT_LE(before, time);
  EXPECT_LE(time, BootClock().now());
}

TEST(RealLoop, RunsInOrderOfDueTimeThenOfPosting) {
  RealLoop loop;
  std::string timed;
  std::string at_once;
  const auto note = [&](std::string& where, char what) {
    where += what;
    if (timed.size() + at_once.size() == 6) loop.stop();
  };
  const Instant now = loop.now();
  loop.post_at(now + 3ms, [&] { note(timed, 'c'); });
  loop.post_at(now + 1ms, [&] { note(timed, 'a'); });
  loop.post_at(now + 1ms, [&] { note(timed, 'b'); });
  loop.post_at(now + 4ms, [&] { note(timed, 'd'); });
  loop.post([&] { note(at_once, 'a'); });
  loop.post_at(now - 1h, [&] { note(at_once, 'b'); });  // in the past: due now, and so after what already is
  loop.run();
  // How the two mix depends on how long posting took.
  EXPECT_EQ(timed, "abcd");
  EXPECT_EQ(at_once, "ab");
}

TEST(RealLoop, NoTimerRunsEarly) {
  Running running;
  for (const Duration delay : {0ns, 1ns, 1us + 0ns, 1ms + 0ns, 3ms + 0ns}) {
    std::promise<Instant> ran;
    const Instant due = running.loop.now() + delay;
    running.loop.post_at(due, [&] { ran.set_value(running.loop.now()); });
    EXPECT_GE(ran.get_future().get(), due);
  }
}

TEST(RealLoop, AnEarlierTimerWakesASleepingLoop) {
  Running running;
  running.loop.post_after(24h, [] { ADD_FAILURE() << "ran a day early"; });
  running.ask([] { return 0; });  // the loop has seen it, and goes to sleep until tomorrow
  std::promise<void> ran;
  running.loop.post_after(1ms, [&] { ran.set_value(); });
  ran.get_future().wait();
}

TEST(RealLoop, ATimerThatWasCancelledDoesNotHoldUpTheNext) {
  Running running;
  std::promise<void> ran;
  const Timer first = running.loop.post_after(1h, [] {});
  running.loop.post_after(2ms, [&] { ran.set_value(); });
  const Timer soon = running.loop.post_after(1ms, [] {});
  running.loop.cancel(soon);
  ran.get_future().wait();
  EXPECT_TRUE(running.loop.cancel(first));
}

TEST(RealLoop, NeverIsAFineTime) {
  Running running;
  const Timer never = running.loop.post_after(Duration::max(), [] { ADD_FAILURE(); });
  EXPECT_EQ(running.ask([] { return 7; }), 7);
  EXPECT_TRUE(running.loop.cancel(never));
}

TEST(RealLoop, ACallbackPostedInsideACallbackRunsAfterIt) {
  Running running;
  std::string ran;
  std::promise<void> done;
  running.loop.post([&] {
    running.loop.post([&] {
      ran += 'b';
      done.set_value();
    });
    ran += 'a';
  });
  done.get_future().wait();
  EXPECT_EQ(ran, "ab");
}

TEST(RealLoop, ManyThreadsPostAndEachThreadsPostsKeepTheirOrder) {
  constexpr int threads = 4;
  constexpr int posts = 2'000;
  Running running;
  std::vector<std::vector<int>> seen(threads);
  std::latch all(threads * posts);
  std::latch start(threads);
  std::vector<std::jthread> posters;
  for (int thread = 0; thread < threads; ++thread) {
    posters.emplace_back([&, thread] {
      start.arrive_and_wait();
      for (int i = 0; i < posts; ++i) {
        running.loop.post([&, thread, i] {
          seen[static_cast<std::size_t>(thread)].push_back(i);
          all.count_down();
        });
      }
    });
  }
  all.wait();
  running.ask([&] {
    for (const std::vector<int>& of_thread : seen) {
      EXPECT_EQ(of_thread.size(), static_cast<std::size_t>(posts));
      EXPECT_TRUE(std::is_sorted(of_thread.begin(), of_thread.end()));
    }
    return 0;
  });
}

// Each of many timers is either run or cancelled, never both and never neither, however the threads meet.
TEST(RealLoop, ACancelRacesTheRunAndOneOfThemWins) {
  constexpr std::size_t timers = 4'000;
  Running running;
  std::vector<std::atomic<int>> ran(timers);
  std::vector<int> cancelled(timers, 0);
  for (std::size_t i = 0; i < timers; ++i) {
    const Timer timer = running.loop.post_after(Duration(static_cast<int>(i % 50) * 1'000), [&ran, i] { ++ran[i]; });
    cancelled[i] = running.loop.cancel(timer) ? 1 : 0;
  }
  // Behind every delay above: when this ran, all of those that were going to have.
  std::promise<void> last;
  running.loop.post_after(1ms, [&] { last.set_value(); });
  last.get_future().wait();
  for (std::size_t i = 0; i < timers; ++i) ASSERT_EQ(ran[i] + cancelled[i], 1) << i;
}

TEST(RealLoop, TwoThreadsCancelAndOneOfThemDidIt) {
  constexpr int timers = 2'000;
  RealLoop loop;
  std::vector<Timer> posted;
  for (int i = 0; i < timers; ++i) posted.push_back(loop.post_after(1h, [] {}));
  std::atomic<int> cancelled = 0;
  std::latch start(2);
  {
    const auto cancel_all = [&] {
      start.arrive_and_wait();
      for (const Timer timer : posted) cancelled += loop.cancel(timer) ? 1 : 0;
    };
    const std::jthread one(cancel_all);
    const std::jthread other(cancel_all);
  }
  EXPECT_EQ(cancelled, timers);
}

TEST(RealLoop, CancelFromInsideSaysWhetherItCameInTime) {
  Running running;
  RealLoop& loop = running.loop;
  std::promise<std::vector<bool>> answers;
  loop.post([&] {
    const auto self = std::make_shared<Timer>();
    const Timer never = loop.post_after(1h, [] {});
    *self = loop.post([&, self, never] {
      answers.set_value({loop.cancel(*self), loop.cancel(never), loop.cancel(never), loop.cancel({})});
    });
  });
  EXPECT_THAT(answers.get_future().get(), ElementsAre(false, true, false, false));
}

TEST(RealLoop, ACancelledCallbackIsDestroyedAtOnceWhereItWasCancelled) {
  Running running;
  struct Noter {
    RealLoop& loop;
    std::thread::id& where;
    ~Noter() {
      where = std::this_thread::get_id();
      loop.post([] {});  // the lock must not be held now
    }
  };
  std::thread::id where;
  const Timer timer = running.loop.post_after(1h, [noter = std::make_unique<Noter>(running.loop, where)] {});
  EXPECT_TRUE(running.loop.cancel(timer));
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(RealLoop, ACallbackThatRanIsDestroyedBeforeTheNext) {
  Running running;
  auto token = std::make_shared<int>(0);
  const std::weak_ptr<int> left = token;
  std::promise<bool> gone;
  running.loop.post([&, token = std::move(token)] { running.loop.post([&] { gone.set_value(left.expired()); }); });
  EXPECT_TRUE(gone.get_future().get());
}

TEST(RealLoop, AStopBeforeRunMakesTheNextRunReturnAtOnceAndOnlyThat) {
  RealLoop loop;
  bool ran = false;
  loop.post([&] {
    ran = true;
    loop.stop();
  });
  loop.stop();
  loop.stop();  // twice is once
  loop.run();
  EXPECT_FALSE(ran);
  loop.run();
  EXPECT_TRUE(ran);
}

TEST(RealLoop, StopEndsAfterTheCallbackInProgressAndTheRestStays) {
  RealLoop loop;
  std::string ran;
  loop.post([&] {
    ran += 'a';
    loop.stop();
    ran += 'b';
  });
  loop.post([&] {
    ran += 'c';
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(ran, "ab");
  loop.run();
  EXPECT_EQ(ran, "abc");
}

TEST(RealLoop, StopWakesASleepingLoop) {
  RealLoop loop;
  std::promise<void> running;
  std::jthread thread([&] { loop.run(); });
  loop.post([&] { running.set_value(); });
  running.get_future().wait();
  loop.stop();
  thread.join();
}

TEST(RealLoop, DestroyingALoopDestroysWhatIsLeftWithoutRunningIt) {
  const auto token = std::make_shared<int>(0);
  std::atomic<bool> ran = false;
  {
    std::vector<Timer> timers;
    RealLoop loop;
    struct Canceller {
      RealLoop& loop;
      std::vector<Timer>& timers;
      ~Canceller() {
        for (const Timer timer : timers) loop.cancel(timer);
      }
    };
    for (int i = 0; i < 10; ++i) {
      timers.push_back(
          loop.post_at(loop.now(), [token, &ran, canceller = std::make_unique<Canceller>(loop, timers)] { ran = true; }));
    }
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(token.use_count(), 1);
}

// What was posted may lead to the loop's end while its poster is still on the way out of post().
TEST(RealLoop, ALoopMayEndByWhatAnotherThreadIsJustPosting) {
  for (int i = 0; i < 200; ++i) {
    auto loop = std::make_unique<RealLoop>();
    std::jthread runner([&loop = *loop] { loop.run(); });
    std::jthread poster([&loop = *loop] { loop.post([&loop] { loop.stop(); }); });
    runner.join();
    loop.reset();
  }
}

// Sleeping must cost nothing: a loop that spins, with an expired timer or a stale wake left readable, burns its thread's time.
TEST(RealLoop, AnIdleLoopDoesNotSpin) {
  Running running;
  const auto cpu_time = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  // A timer has fired, and a wake came by: both are spent. What follows is sleep, of which this thread's part is next to nothing.
  std::promise<void> fired;
  running.loop.post_after(1ms, [&] { fired.set_value(); });
  fired.get_future().wait();
  const auto before = running.ask(cpu_time);
  std::promise<Duration> after;
  running.loop.post_after(50ms, [&] { after.set_value(cpu_time()); });
  EXPECT_LT(after.get_future().get() - before, 25ms);
}

TEST(RealLoopDeathTest, OneThreadAtATimeRunsALoop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  RealLoop loop;
  loop.post([&] { loop.run(); });
  EXPECT_DEATH(loop.run(), "one thread at a time runs a loop");
}

}  // namespace
}  // namespace evenkeel
