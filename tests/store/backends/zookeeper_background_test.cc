// What the ZooKeeper client does beside the loop, with a name service that does not answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "evenkeel/base/real_loop.h"
#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/store/backends/open.h"
#include "evenkeel/store/backends/zookeeper/detail/connection.h"
#include "evenkeel/store/backends/zookeeper/detail/four_letters.h"
#include "evenkeel/store/blocking.h"
#include "tests/store/backends/servers.h"

namespace evenkeel::store::zookeeper {
namespace {

using testing::ElementsAre;
constexpr std::chrono::seconds patience(60);

// Knows 127.0.0.1 at once, "nobody" as nobody, and anything else when it is told to go on.
class Names {
 public:
  ~Names() { go_on(); }
  void go_on() {
    if (!gone_on_) gate_.set_value();
    gone_on_ = true;
  }
  Resolve resolve() const {
    return [open = open_](const std::string& host) -> Result<> {
      if (host == "nobody") return fail(Code::unavailable, "no such name");
      if (host != "127.0.0.1") open.wait();
      return {};
    };
  }

 private:
  std::promise<void> gate_;
  std::shared_future<void> open_ = gate_.get_future().share();
  bool gone_on_ = false;
};

TEST(ZooKeeperBackground, NobodyIsBehindAClosedDoor) {
  VirtualLoop loop;
  Door door(loop);
  int came = 0;
  EXPECT_TRUE(door.post([&] { ++came; }));
  loop.run_for(1s);
  EXPECT_EQ(came, 1);
  door.close();
  EXPECT_FALSE(door.post([&] { ++came; }));
  loop.run_for(1s);
  EXPECT_EQ(came, 1);
}

TEST(ZooKeeperBackground, OneSlowNameHoldsUpNoOther) {
  Names names;
  const Resolved some = resolve_all({"slow:1", "127.0.0.1:2", "nobody:3", "[::1"}, names.resolve(), 10ms);
  EXPECT_THAT(some.usable, ElementsAre("127.0.0.1:2"));
  ASSERT_EQ(some.unusable.size(), 3U);
  EXPECT_EQ(some.unusable[0].endpoint, "slow:1");
  EXPECT_EQ(some.unusable[0].why, "its name was not resolved in time");
  EXPECT_EQ(some.unusable[1].why, "no such name");
  const Resolved none = resolve_all({"nobody:3"}, names.resolve(), 10ms);
  EXPECT_TRUE(none.usable.empty());
  names.go_on();
  EXPECT_THAT(resolve_all({"slow:1"}, names.resolve(), 10ms).usable, ElementsAre("slow:1"));
}

// A loop on a thread of its own, and a connection that lives on it.
class Stage {
 public:
  Stage(const std::string& url, const Names& names) {
    on_loop([&] { connection_ = Connection::open(loop_, parse_url(url).value(), {}, names.resolve()); });
  }
  ~Stage() {
    on_loop([&] { connection_.reset(); });
    loop_.stop();
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void on_loop(std::function<void()> work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    EXPECT_EQ(done.get_future().wait_for(patience), std::future_status::ready) << "the loop is stuck";
  }
  bool ready_at_last() {
    auto ready = std::make_shared<std::promise<void>>();
    on_loop([&] { connection_->when_ready(ready, [ready] { ready->set_value(); }); });
    return ready->get_future().wait_for(patience) == std::future_status::ready;
  }

 private:
  RealLoop loop_;
  std::jthread thread_{[this] { loop_.run(); }};
  std::shared_ptr<Connection> connection_;
};

// Were the loop to wait for the name, this would never end: the name comes after the connection is gone.
TEST(ZooKeeperBackground, TheLoopWaitsForNoName) {
  Names names;
  {
    Stage stage("zk://slow:1/x", names);
    int turns = 0;
    for (int i = 0; i < 10; ++i) stage.on_loop([&] { ++turns; });
    EXPECT_EQ(turns, 10);
  }
  names.go_on();
}

TEST(ZooKeeperBackground, AServerWhoseNameIsKnownIsReached) {
  test::ZooKeeperCluster servers(1);
  Names names;
  Stage stage(fmt::format("zk://slow:1,127.0.0.1:{},nobody:3/x", servers.port(0)), names);
  EXPECT_TRUE(stage.ready_at_last());
}

TEST(ZooKeeperStatus, TellsTheNewestRevisionThatAnyMemberKnows) {
  EXPECT_EQ(parse_srvr("Zookeeper version: 3.8.0-x\nZxid: 0x100000002\nMode: leader\n").newest, Revision(0x100000002));
  EXPECT_EQ(parse_srvr("Zookeeper version: 3.8.0-x\nMode: leader\n").newest, Revision(0));
  test::ZooKeeperCluster servers(1);
  const auto connect = [&] {
    return Blocking::open([&](Loop& loop) { return open(loop, parse_url(servers.url("/x")).value(), {}); }).value();
  };
  const auto written = connect()->put("/a", "1");
  ASSERT_TRUE(written) << written.error().message;
  // A client that has read nothing yet.
  const auto status = connect()->status();
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_GE(status->revision, written->revision);
}

}  // namespace
}  // namespace evenkeel::store::zookeeper
