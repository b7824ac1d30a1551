// The handler between a node and somebody who is asked.

#include "evenkeel/agent/shell/handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <ranges>
#include <thread>

namespace evenkeel::agent {
namespace {

using testing::HasSubstr;

const ShardId asked_shard{WorkloadId("t1"), ShardIndex(3)};
const Who asked_by{.node = NodeId("n1"), .cluster = ClusterId("pages")};

// Answers by kind, and keeps what it was asked.
class Scripted final : public Asker {
 public:
  Result<std::string> ask(const Question& question, const Patience& patience, const std::stop_token& stop) override {
    const std::scoped_lock lock(mutex_);
    asked.push_back(question.variables[0].second);
    within = patience.within;
    ++count_;
    changed_.notify_all();
    return answer(question.variables[0].second, stop);
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }

  std::function<Result<std::string>(const std::string& kind, const std::stop_token& stop)> answer = [](const auto&, const auto&) {
    return std::string();
  };
  std::vector<std::string> asked;
  Duration within = {};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
};

node::Transition to(const std::string& state) {
  return {.shard = asked_shard, .from = StateId("offline"), .to = StateId(state), .deadline = Instant::max()};
}

TEST(Handler, WithoutReportsNothingIsSaidOfProgress) {
  Scripted asker;
  asker.answer = [](const std::string& kind, const auto&) {
    return kind == "inventory" ? R"({"shards": [{"shard": "t1/3", "epoch": 4, "last": 3, "progress": 9, "refuses": 5}]})" : "";
  };
  Handler handler(asker, asked_by, {});
  const std::vector<node::Held> held = handler.inventory();
  EXPECT_EQ(asker.within, 10s);
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].version.epoch, Epoch(4));
  EXPECT_EQ(held[0].progress, 0U);
  ASSERT_TRUE(handler.transition(to("follower"), {}).has_value());
  EXPECT_EQ(handler.report(asked_shard), node::Status{});
  EXPECT_EQ(asker.asked, (std::vector<std::string>{"inventory", "transition"}));
  EXPECT_EQ(asker.within, Duration::max()) << "the library stops what is overdue";
}

TEST(Handler, WhatFailsInTheSameWayIsSaidOnce) {
  Scripted asker;
  std::string why = "http://127.0.0.1:1 cannot be reached";
  asker.answer = [&](const std::string&, const auto&) -> Result<std::string> { return fail(Code::unavailable, "{}", why); };
  std::vector<std::string> said;
  Log log = Log::to([&](Level, std::string_view line) { said.emplace_back(line); }, {.level = Level::warn}, wall_now);
  Handler handler(asker, asked_by, {.log = &log});
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(handler.transition(to("follower"), {}).has_value());
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0], HasSubstr("cannot be reached"));
  why = "no space left";
  EXPECT_FALSE(handler.try_inventory().has_value());
  EXPECT_EQ(said.size(), 2U);
}

TEST(Handler, ReportsFollowTransitions) {
  Scripted asker;
  asker.answer = [](const std::string& kind, const auto&) { return kind == "report" ? R"({"epoch": 2, "progress": 7})" : ""; };
  Handler handler(asker, asked_by, {.report_every = 24h});
  ASSERT_TRUE(handler.transition(to("follower"), {}).has_value());
  EXPECT_EQ(handler.report(asked_shard).progress, 7U);
  asker.answer = [](const std::string&, const auto&) { return "nonsense"; };
  const auto led = handler.transition(to("leader"), {});
  EXPECT_THAT(led.error().message, HasSubstr("it is done, but its report failed: its answer"));
  EXPECT_EQ(handler.report(asked_shard).progress, 7U) << "the latest that could be read";
  ASSERT_TRUE(handler.transition(to("dropped"), {}).has_value());
  EXPECT_EQ(handler.report(asked_shard), node::Status{}) << "it is not here";
}

TEST(Handler, ReportsAreAskedNowAndThen) {
  Scripted asker;
  Handler handler(asker, asked_by, {.report_every = 1ms});
  ASSERT_TRUE(handler.transition(to("follower"), {}).has_value());
  asker.wait_for(5);
  handler.stop();
}

// The reports of one shard hang until their time is over.
class Hanging final : public Asker {
 public:
  Result<std::string> ask(const Question& question, const Patience& patience, const std::stop_token& stop) override {
    if (question.variables[0].second != "report" || std::this_thread::get_id() == test_) return "";
    const bool hangs = question.about == "report of t1/3";
    std::unique_lock lock(mutex_);
    ++(hangs ? hung : answered);
    changed_.notify_all();
    if (!hangs) return "";
    changed_.wait_for(lock, stop, patience.within, [] { return false; });
    return fail(Code::unavailable, "overdue");
  }
  void wait_for(std::size_t answers) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return answered >= answers; });
  }
  std::size_t hung = 0, answered = 0;

 private:
  const std::thread::id test_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable_any changed_;
};

TEST(Handler, AReportThatHangsLeavesTheOthersTheirTurn) {
  Hanging asker;
  Handler handler(asker, asked_by, {.within = 20ms, .report_every = 1ms});
  node::Transition other = to("follower");
  other.shard.shard = ShardIndex(4);
  ASSERT_TRUE(handler.transition(to("follower"), {}).has_value());
  ASSERT_TRUE(handler.transition(other, {}).has_value());
  asker.wait_for(60);
  handler.stop();
  EXPECT_GT(asker.hung, 0U);
  EXPECT_LT(asker.hung, asker.answered / 2);
}

// Of each shard the first report that comes by itself fails.
class Recovering final : public Asker {
 public:
  Result<std::string> ask(const Question& question, const Patience&, const std::stop_token&) override {
    if (question.variables[0].second != "report" || std::this_thread::get_id() == test_) return "";
    const std::scoped_lock lock(mutex_);
    changed_.notify_all();
    if (++asked_[question.about] == 1) return fail(Code::unavailable, "not yet");
    return "";
  }
  // How often the one was asked that was asked most, when so many have answered.
  std::size_t most_when_answered(std::size_t shards) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return std::ranges::count_if(asked_, [](const auto& one) { return one.second > 1; }) == static_cast<std::ptrdiff_t>(shards);
    });
    return std::ranges::max(asked_ | std::views::values);
  }

 private:
  const std::thread::id test_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::size_t> asked_;
};

TEST(Handler, WhereTheReasonIsGoneAllReportsAreAskedAtOnce) {
  constexpr std::uint32_t shards = 40;
  Recovering asker;
  Handler handler(asker, asked_by, {.report_every = 50ms});
  for (std::uint32_t i = 0; i < shards; ++i) {
    node::Transition one = to("follower");
    one.shard.shard = ShardIndex(i);
    ASSERT_TRUE(handler.transition(one, {}).has_value());
  }
  EXPECT_LT(asker.most_when_answered(shards), shards / 2) << "one in each round would take as many rounds";
  handler.stop();
}

// The first report that comes by itself waits until it may answer; later ones fail. Those of transitions say nothing.
class Slow final : public Asker {
 public:
  Result<std::string> ask(const Question& question, const Patience&, const std::stop_token&) override {
    if (question.variables[0].second != "report" || std::this_thread::get_id() == test_) return "";
    if (asked.exchange(true)) return fail(Code::unavailable, "busy");
    asked.notify_all();
    may_answer.wait(false);
    return R"({"progress": 7})";
  }
  std::atomic<bool> asked = false, may_answer = false;

 private:
  const std::thread::id test_ = std::this_thread::get_id();
};

TEST(Handler, AReportThatIsOlderThanATransitionIsOverlooked) {
  Slow asker;
  Handler handler(asker, asked_by, {.report_every = 1ms});
  ASSERT_TRUE(handler.transition(to("follower"), {}).has_value());
  asker.asked.wait(false);
  ASSERT_TRUE(handler.transition(to("dropped"), {}).has_value());
  ASSERT_TRUE(handler.transition(to("follower"), {}).has_value());
  asker.may_answer.store(true);
  asker.may_answer.notify_all();
  handler.stop();
  EXPECT_EQ(handler.report(asked_shard), node::Status{}) << "that was of data that is gone";
}

TEST(Handler, SealsAnswerOrThrow) {
  Scripted asker;
  asker.answer = [](const std::string&, const auto&) { return R"({"epoch": 4, "progress": 17})"; };
  Handler handler(asker, asked_by, {.within = 3s});
  EXPECT_EQ(handler.seal(asked_shard, Epoch(5)), (Sealed{Epoch(5), Epoch(4), 17}));
  EXPECT_EQ(asker.within, 3s);
  asker.answer = [](const std::string&, const auto&) { return ""; };
  EXPECT_THROW(handler.seal(asked_shard, Epoch(5)), std::runtime_error);
  asker.answer = [](const std::string&, const auto&) -> Result<std::string> { return fail(Code::unavailable, "no disk"); };
  EXPECT_THROW(handler.seal(asked_shard, Epoch(5)), std::runtime_error);
}

// Another process may have had the data folder when it was tried, and changed what is there.
TEST(Handler, TheInventoryIsWhatIsThereWhenTheNodeAsks) {
  Scripted asker;
  Handler handler(asker, asked_by, {.report_every = 24h});
  ASSERT_TRUE(handler.try_inventory().has_value());
  asker.answer = [](const auto&, const auto&) { return R"({"shards": [{"shard": "t1/3", "epoch": 4, "progress": 9}]})"; };
  ASSERT_EQ(handler.inventory().size(), 1U);
  EXPECT_EQ(handler.report(asked_shard).progress, 9U);
}

TEST(Handler, AnInventoryThatFailsIsSaid) {
  Scripted asker;
  asker.answer = [](const std::string&, const auto&) -> Result<std::string> { return fail(Code::unavailable, "no disk"); };
  Handler handler(asker, asked_by, {});
  EXPECT_EQ(handler.try_inventory().error().message, "inventory: no disk");
  EXPECT_THROW(handler.inventory(), std::runtime_error);
  asker.answer = [](const std::string&, const auto&) { return "done"; };
  EXPECT_THAT(handler.try_inventory().error().message, HasSubstr("inventory: its answer"));
}

TEST(Handler, AnInventoryIsInterrupted) {
  Scripted asker;
  std::stop_source interrupt;
  asker.answer = [&](const std::string&, const std::stop_token& stop) -> Result<std::string> {
    interrupt.request_stop();
    return stop.stop_requested() ? Result<std::string>(fail(Code::cancelled, "stopped")) : "";
  };
  Handler handler(asker, asked_by, {.interrupted = interrupt.get_token()});
  EXPECT_EQ(handler.try_inventory().error().code, Code::cancelled);
  EXPECT_THROW(handler.inventory(), std::runtime_error);
}

TEST(Handler, WhatRunsIsStoppedWithIt) {
  Scripted asker;
  Handler handler(asker, asked_by, {});
  asker.answer = [&](const std::string&, const std::stop_token& stop) -> Result<std::string> {
    handler.stop();
    return stop.stop_requested() ? Result<std::string>(fail(Code::cancelled, "stopped")) : "";
  };
  EXPECT_EQ(handler.transition(to("follower"), {}).error().code, Code::cancelled);
}

}  // namespace
}  // namespace evenkeel::agent
