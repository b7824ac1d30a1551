#include "evenkeel/base/detail/timer_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <tuple>

namespace evenkeel::detail {
namespace {

TEST(TimerQueue, GivesBackByDueTimeThenByOrderOfAdding) {
  TimerQueue queue;
  std::string ran;
  queue.add(Instant(2s), [&] { ran += 'c'; });
  queue.add(Instant(1s), [&] { ran += 'a'; });
  queue.add(Instant(2s), [&] { ran += 'd'; });
  queue.add(Instant(1s), [&] { ran += 'b'; });
  EXPECT_EQ(queue.size(), 4U);
  EXPECT_EQ(queue.next_due(), Instant(1s));
  while (!queue.empty()) queue.pop()();
  EXPECT_EQ(ran, "abcd");
}

TEST(TimerQueue, AStaleHandleRemovesNothing) {
  TimerQueue queue;
  const Timer first = queue.add(Instant(1s), [] {});
  EXPECT_TRUE(queue.remove(first));
  EXPECT_FALSE(queue.remove(first));
  const Timer second = queue.add(Instant(1s), [] {});
  EXPECT_EQ(second.slot, first.slot);  // recycled, so the generation is what tells them apart
  EXPECT_NE(second, first);
  EXPECT_FALSE(queue.remove(first));
  EXPECT_FALSE(queue.remove(Timer{}));
  EXPECT_FALSE(queue.remove(Timer{7, 1}));
  EXPECT_EQ(queue.size(), 1U);
  queue.pop();
  EXPECT_FALSE(queue.remove(second));
  EXPECT_FALSE(queue.remove(Timer{second.slot, second.generation + 1}));  // a handle not given out yet
}

TEST(TimerQueue, RemovingGivesTheCallbackToTheCaller) {
  TimerQueue queue;
  const auto token = std::make_shared<int>(0);
  const Timer timer = queue.add(Instant(1s), [token] {});
  {
    const Loop::Callback removed = queue.remove(timer);
    EXPECT_EQ(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(TimerQueue, ASetAndCancelledTimerLeavesNothingBehind) {
  TimerQueue queue;
  queue.add(Instant(1h), [] {});
  std::uint32_t most = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Timer timer = queue.add(Instant(Duration(i)), [] {});
    most = std::max(most, timer.slot);
    ASSERT_TRUE(queue.remove(timer));
  }
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(most, 1U);
}

// Against a sorted vector: the same callbacks come out in the same order, whatever is added and removed in between.
TEST(TimerQueue, IsASortedVector) {
  EXPECT_TRUE(rc::check("adds, removes and pops in any order", [] {
    struct Pending {
      Instant due;
      int id;
      Timer timer;
    };
    TimerQueue queue;
    std::vector<Pending> model;  // kept by (due, id), and ids count up
    std::vector<Timer> stale;
    int popped = -1;
    const auto steps =
        *rc::gen::container<std::vector<std::tuple<int, int>>>(rc::gen::tuple(rc::gen::inRange(0, 6), rc::gen::inRange(0, 50)));
    int next_id = 0;
    for (const auto& [kind, number] : steps) {
      if (kind <= 2) {
        const int id = next_id++;
        const Instant due{Duration(number)};
        const Timer timer = queue.add(due, [&popped, id] { popped = id; });
        const auto at = std::find_if(model.begin(), model.end(), [&](const Pending& p) { return p.due > due; });
        model.insert(at, Pending{due, id, timer});
      } else if (kind == 3 && !model.empty()) {
        const auto at = model.begin() + number % static_cast<int>(model.size());
        Loop::Callback removed = queue.remove(at->timer);
        RC_ASSERT(static_cast<bool>(removed));
        removed();
        RC_ASSERT(popped == at->id);
        stale.push_back(at->timer);
        model.erase(at);
      } else if (kind == 4 && !model.empty()) {
        RC_ASSERT(queue.next_due() == model.front().due);
        queue.pop()();
        RC_ASSERT(popped == model.front().id);
        stale.push_back(model.front().timer);
        model.erase(model.begin());
      } else if (kind == 5 && !stale.empty()) {
        RC_ASSERT(!queue.remove(stale[static_cast<std::size_t>(number) % stale.size()]));
      }
      RC_ASSERT(queue.size() == model.size());
    }
    for (const Pending& pending : model) {
      queue.pop()();
      RC_ASSERT(popped == pending.id);
    }
    RC_ASSERT(queue.empty());
  }));
}

TEST(TimerQueueDeathTest, WhatCannotBeCalledCannotBePosted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  TimerQueue queue;
  EXPECT_DEATH(queue.add(Instant(), {}), "what is posted can be called");
  EXPECT_DEATH(queue.pop(), "a queue that has something");
}

}  // namespace
}  // namespace evenkeel::detail
