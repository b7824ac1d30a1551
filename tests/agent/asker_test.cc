// Real commands, and a real hook: what they are asked, and how they are ended.

#include "evenkeel/agent/shell/asker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "evenkeel/base/text.h"

namespace evenkeel::agent {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const Question asked_question{.about = "a test", .text = "{\"a\": 1}\n", .variables = {{"EVENKEEL_SHARD", "t1/3"}}};
constexpr std::string_view hang = "exec tail -f /dev/null";

Result<std::string> run(const std::string& script, Patience patience = {}, const std::stop_token& stop = {}) {
  return make_command({"sh", "-c", script})->ask(asked_question, patience, stop);
}

// Whether a process is gone, or soon is: it was killed, and init takes it away.
bool is_gone(std::string_view pid) {
  while (kill(static_cast<pid_t>(parse_integer(pid).value()), 0) == 0) std::this_thread::yield();
  return true;
}

TEST(Command, GetsTheQuestionAndAnswers) {
  EXPECT_EQ(run("cat; echo $EVENKEEL_SHARD").value(), "{\"a\": 1}\nt1/3\n");
  EXPECT_EQ(run("true").value(), "");
}

TEST(Command, ThatFailsSaysWhy) {
  EXPECT_EQ(run("echo disk is full >&2; exit 3").error(), (Error{Code::unavailable, "exit status 3: disk is full"}));
  EXPECT_EQ(run("kill -9 $$").error().message, "killed by signal 9");
  const auto missing = make_command({"/no/such/program"})->ask(asked_question, {}, {});
  EXPECT_EQ(missing.error(), (Error{Code::unavailable, "cannot run \"/no/such/program\": No such file or directory"}));
}

// One descriptor more each time: whichever of them cannot be opened, it is an answer.
TEST(Command, ThatGetsNoDescriptorsHasFailed) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int first = dup(STDERR_FILENO);
  close(first);
  std::size_t failed = 0;
  constexpr int most = 12;
  for (int more = 0; more <= most; ++more) {
    const rlimit few{.rlim_cur = static_cast<rlim_t>(first + more), .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    const auto answer = run("true");
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    if (answer) continue;
    ++failed;
    EXPECT_EQ(answer.error(), (Error{Code::unavailable, "cannot run \"sh\": Too many open files"}));
  }
  EXPECT_GE(failed, 8U) << "the question, three pipes and one to stop it";
  EXPECT_LT(failed, static_cast<std::size_t>(most));
}

TEST(Command, NeedNotReadItsQuestion) {
  Question large = asked_question;
  large.text = std::string(4 << 20, 'x');
  EXPECT_TRUE(make_command({"true"})->ask(large, {}, {}).has_value());
}

TEST(Command, ThatFloodsIsReadOnAndCut) {
  const auto ended = run("head -c 5000000 /dev/zero | tr '\\0' x >&2; echo; echo the end >&2; exit 1");
  EXPECT_THAT(ended.error().message, HasSubstr("the end (4995912 bytes before that were cut)"));
  EXPECT_EQ(run("head -c 9000000 /dev/zero").error().code, Code::too_large);
}

// Its time is looked at between two reads, however much there is to read.
TEST(Command, ThatFloodsForEverIsEndedWhenItsTimeIsOver) {
  for (const char* before : {"", "trap '' TERM; "}) {
    const auto ended = run(std::string(before) + "yes >&2 & exec yes", {.within = 50ms, .grace = 50ms});
    EXPECT_THAT(ended.error().message, StartsWith("overdue, ended after 50ms")) << before;
  }
}

TEST(Command, IsEndedWhenItsTimeIsOver) {
  const auto ended = run("echo so far >&2; " + std::string(hang), {.within = 50ms});
  EXPECT_EQ(ended.error(), (Error{Code::unavailable, "overdue, ended after 50ms: so far"}));
}

TEST(Command, ThatDoesNotWantToEndIsKilledWithAllThatItStarted) {
  const auto ended = run("trap '' TERM; tail -f /dev/null & echo $! >&2; wait", {.within = 50ms, .grace = 50ms});
  ASSERT_THAT(ended.error().message, StartsWith("overdue, ended after 50ms: "));
  EXPECT_TRUE(is_gone(std::string_view(ended.error().message).substr(ended.error().message.rfind(' ') + 1)));
}

TEST(Command, ThatEndsPolitelyTakesItsGroupAlong) {
  const auto ended =
      run("(trap '' TERM; exec tail -f /dev/null) & echo $! >&2; " + std::string(hang), {.within = 50ms, .grace = 1h});
  ASSERT_THAT(ended.error().message, StartsWith("overdue, ended after 50ms: "));
  EXPECT_TRUE(is_gone(std::string_view(ended.error().message).substr(ended.error().message.rfind(' ') + 1)));
}

TEST(Command, IsEndedWhenNobodyWantsItAnyMore) {
  std::stop_source stop;
  std::jthread other([&] { stop.request_stop(); });
  EXPECT_EQ(run(std::string(hang), {}, stop.get_token()).error(), (Error{Code::cancelled, "stopped"}));
  EXPECT_EQ(run(std::string(hang), {}, stop.get_token()).error().code, Code::cancelled) << "it was stopped before";
}

TEST(Command, IsNotWaitedForInItsChildren) {
  const auto answer = run("tail -f /dev/null & echo $!");
  ASSERT_TRUE(answer.has_value());
  const auto left = static_cast<pid_t>(parse_integer(std::string_view(*answer).substr(0, answer->find('\n'))).value());
  EXPECT_EQ(kill(left, 0), 0) << "it goes on";
  kill(left, SIGKILL);
}

// A server of this test's.
class HookServer : public testing::Test {
 protected:
  HookServer() {
    server_.Post("/good", [this](const httplib::Request& request, httplib::Response& response) {
      body_ = request.body;
      type_ = request.get_header_value("Content-Type");
      response.set_content("{\"epoch\": 1}", "application/json");
    });
    server_.Post("/bad", [](const httplib::Request&, httplib::Response& response) {
      response.status = 503;
      response.set_content("disk is full\nand more\n", "text/plain");
    });
    server_.Post("/large", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(std::string(answer_bytes_max + 1, 'x'), "text/plain");
    });
    server_.Post("/hang", [this](const httplib::Request&, httplib::Response&) {
      asked_.store(true);
      asked_.notify_all();
      end_.wait(false);
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~HookServer() override {
    end_.store(true);
    end_.notify_all();
    server_.stop();
    thread_.join();
  }
  Result<std::string> ask(const std::string& path, Patience patience = {}, const std::stop_token& stop = {}) const {
    return make_hook({fmt::format("http://127.0.0.1:{}", port_), path})->ask(asked_question, patience, stop);
  }

  httplib::Server server_;
  int port_ = 0;
  std::string body_, type_;
  std::atomic<bool> asked_ = false, end_ = false;
  std::thread thread_;
};

TEST_F(HookServer, GetsTheQuestionAndAnswers) {
  EXPECT_EQ(ask("/good").value(), "{\"epoch\": 1}");
  EXPECT_EQ(body_, asked_question.text);
  EXPECT_EQ(type_, "application/json");
}

TEST_F(HookServer, ThatFailsSaysWhy) {
  EXPECT_EQ(ask("/bad").error(), (Error{Code::unavailable, "HTTP status 503: disk is full"}));
  EXPECT_EQ(ask("/nowhere").error().message, "HTTP status 404");
  EXPECT_EQ(ask("/large").error().code, Code::too_large);
}

TEST_F(HookServer, IsGivenUpWhenItsTimeIsOver) {
  EXPECT_EQ(ask("/hang", {.within = 50ms}).error(), (Error{Code::unavailable, "overdue, given up after 50ms"}));
}

TEST_F(HookServer, IsGivenUpWhenNobodyWantsItAnyMore) {
  std::stop_source stop;
  std::jthread other([&] {
    asked_.wait(false);
    stop.request_stop();
  });
  EXPECT_EQ(ask("/hang", {}, stop.get_token()).error().code, Code::cancelled);
}

TEST(Hook, ThatIsNotThereIsSaid) {
  EXPECT_EQ(make_hook({"http://127.0.0.1:1", "/"})->ask(asked_question, {}, {}).error(),
            (Error{Code::unavailable, "http://127.0.0.1:1 cannot be reached"}));
}

}  // namespace
}  // namespace evenkeel::agent
