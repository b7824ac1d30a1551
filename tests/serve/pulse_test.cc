// Both ends of a pulse's connection: what the server makes of it, and how the node's line finds its way.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <node/shell/pulse.grpc.pb.h>

#include <condition_variable>
#include <future>
#include <thread>

#include "evenkeel/base/real_loop.h"
#include "evenkeel/locks/election.h"
#include "evenkeel/model/controller_address.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/node/shell/pulse_line.h"
#include "evenkeel/serve/pulse_server.h"
#include "evenkeel/store/memory/memory.h"
#include "tests/store/backends/processes.h"

namespace evenkeel::serve {
namespace {

constexpr Duration patience = 60s;
const ClusterId c1("c1");

// A loop on a thread.
class Running {
 public:
  ~Running() { loop.stop(); }
  template <class F>
  auto run(F work) {
    std::promise<decltype(work())> promise;
    loop.post([&] { promise.set_value(work()); });
    return promise.get_future().get();
  }
  RealLoop loop;

 private:
  std::jthread thread_{[this] { loop.run(); }};
};

// Who hears, and writes it down.
class Ear final : public PulseSink {
 public:
  Verdict pulse(const Pulse& pulse, Duration every) override {
    const std::lock_guard lock(mutex_);
    heard.push_back(pulse);
    last_every = every;
    changed_.notify_all();
    return verdict;
  }
  void broken(const NodeId& node) override {
    const std::lock_guard lock(mutex_);
    lost.push_back(node.str());
    changed_.notify_all();
  }
  template <class F>
  bool wait(F until, Duration most = patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, most, until);
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return heard.size();
  }
  Pulse last() {
    const std::lock_guard lock(mutex_);
    return heard.back();
  }
  void answer(Verdict next) {
    const std::lock_guard lock(mutex_);
    verdict = next;
  }

  std::vector<Pulse> heard;
  std::vector<std::string> lost;
  Duration last_every = {};
  Verdict verdict = Verdict::known;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

Pulse pulse_of(const std::string& node, std::uint64_t count) {
  return {.node = NodeId(node), .incarnation = Incarnation(7), .count = count};
}

// A node's end, by hand.
class Wire {
 public:
  explicit Wire(const std::string& address)
      : stub_(node::v1::Pulses::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
        stream_(stub_->Pulse(&context_)) {}
  bool send(const std::string& text, const std::string& cluster = "c1", std::uint64_t every = 1000) {
    node::v1::Beat beat;
    beat.set_pulse(text);
    beat.set_cluster(cluster);
    beat.set_every_millis(every);
    return stream_->Write(beat);
  }
  std::optional<node::v1::Heard> read() {
    node::v1::Heard heard;
    if (!stream_->Read(&heard)) return std::nullopt;
    return heard;
  }
  grpc::Status end() {
    stream_->WritesDone();
    return stream_->Finish();
  }

 private:
  std::unique_ptr<node::v1::Pulses::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<node::v1::Beat, node::v1::Heard>> stream_;
};

struct Served {
  Ear ear;  // the last to go
  Running running;
  std::unique_ptr<PulseServer> server = PulseServer::start(running.loop, ear, {.cluster = c1}).value();
};

TEST(PulseServer, HandsOnWhatItHears) {
  Served served;
  Wire wire(served.server->address());
  ASSERT_TRUE(wire.send(format(pulse_of("n1", 3))));
  const auto heard = wire.read();
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->count(), 3);
  EXPECT_TRUE(heard->known());
  EXPECT_EQ(served.ear.heard, std::vector{pulse_of("n1", 3)});
  EXPECT_EQ(served.ear.last_every, 1s);
  served.ear.answer(PulseSink::Verdict::unknown);
  ASSERT_TRUE(wire.send(format(pulse_of("n1", 4))));
  EXPECT_FALSE(wire.read()->known());
  EXPECT_EQ(served.server->connections(), 1);
  EXPECT_TRUE(wire.end().ok());
  EXPECT_TRUE(served.ear.wait([&] { return served.ear.lost == std::vector<std::string>{"n1"}; }));
}

TEST(PulseServer, OnlyTheLatestConnectionBreaks) {
  Served served;
  auto first = std::make_unique<Wire>(served.server->address());
  first->send(format(pulse_of("n1", 1)));
  EXPECT_TRUE(first->read());
  Wire second(served.server->address());
  second.send(format(pulse_of("n1", 2)));
  EXPECT_TRUE(second.read());
  // Another process of the same name, which does not count.
  served.ear.answer(PulseSink::Verdict::unknown);
  Wire twin(served.server->address());
  twin.send(format(pulse_of("n1", 9)));
  EXPECT_TRUE(twin.read());
  EXPECT_TRUE(first->end().ok());
  EXPECT_TRUE(twin.end().ok());
  served.ear.answer(PulseSink::Verdict::known);
  Wire other(served.server->address());
  other.send(format(pulse_of("n2", 1)));
  EXPECT_TRUE(other.read());
  EXPECT_TRUE(other.end().ok());
  EXPECT_TRUE(served.ear.wait([&] { return !served.ear.lost.empty(); }));
  EXPECT_TRUE(second.end().ok());
  EXPECT_TRUE(served.ear.wait([&] { return served.ear.lost.size() == 2; }));
  EXPECT_EQ(served.ear.lost, (std::vector<std::string>{"n2", "n1"}));
}

TEST(PulseServer, SendsNodesElsewhere) {
  Served served;
  served.ear.answer(PulseSink::Verdict::not_active);
  Wire wire(served.server->address());
  wire.send(format(pulse_of("n1", 1)));
  EXPECT_FALSE(wire.read());
  EXPECT_EQ(wire.end().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  served.ear.answer(PulseSink::Verdict::known);
  Wire known(served.server->address());
  known.send(format(pulse_of("n1", 2)));
  EXPECT_TRUE(known.read());
  served.running.run([&] { return served.server->end_all(), true; });
  EXPECT_FALSE(known.read());
  EXPECT_EQ(known.end().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  served.server->stop();
  served.running.run([] { return true; });
  EXPECT_TRUE(served.ear.lost.empty());  // none of it was a node's doing
}

TEST(PulseServer, RefusesWhatIsNoPulse) {
  Served served;
  const auto refusal = [&](const std::string& text, const std::string& cluster, std::uint64_t every) {
    Wire wire(served.server->address());
    wire.send(text, cluster, every);
    EXPECT_FALSE(wire.read());
    return wire.end().error_code();
  };
  EXPECT_EQ(refusal("{}", "c1", 1000), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refusal("", "c1", 1000), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refusal(format(pulse_of("n1", 1)), "c1", 0), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refusal(format(pulse_of("n1", 1)), "c2", 1000), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_TRUE(served.ear.heard.empty());
}

TEST(PulseServer, HasABound) {
  Ear ear;
  Running running;
  const auto server = PulseServer::start(running.loop, ear, {.cluster = c1, .connections_max = 1}).value();
  Wire first(server->address());
  first.send(format(pulse_of("n1", 1)));
  EXPECT_TRUE(first.read());
  Wire second(server->address());
  second.send(format(pulse_of("n2", 1)));
  EXPECT_FALSE(second.read());
  EXPECT_EQ(second.end().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  first.send(format(pulse_of("n1", 2)));
  EXPECT_TRUE(first.read());
}

// A line, the store in which it looks, and somebody who is elected there. All but the ears is the loop's.
class Lined {
 public:
  Lined() {
    running.run([&] {
      world_ = std::make_unique<store::World>(running.loop);
      mine_ = world_->connect("controller");
      its_ = world_->connect("node");
      return true;
    });
  }
  ~Lined() {
    running.run([&] {
      line.reset();
      leave();
      mine_.reset();
      its_.reset();
      world_.reset();
      return true;
    });
  }

  void begin() {
    running.run([&] {
      line = std::make_unique<node::PulseLine>(*its_, node::PulseLineOptions{.cluster = c1,
                                                                             .store = "etcd://10.0.0.9:2379",
                                                                             .every = 1s,
                                                                             .pause_min = 1ms,
                                                                             .pause_max = 20ms,
                                                                             .idle_patience = 30ms,
                                                                             .on_open = [this] { send(); },
                                                                             .log = &log});
      return true;
    });
  }
  // Somebody is active there, instead of who was before.
  void elect(const std::string& name, const std::string& address) {
    std::promise<void> elected;
    running.loop.post([&] {
      leave();
      store::Session::open(*mine_, {.key = "/evenkeel/c1/controllers/" + name, .ttl = 10s}, 30s,
                           [&, name, address](Result<std::unique_ptr<store::Session>> session) {
                             session_ = *std::move(session);
                             locks_ = std::make_unique<locks::Locks>(*mine_, session_.get());
                             election_ = std::make_unique<locks::Election>(
                                 *mine_, *locks_, Keys(c1).controller(),
                                 locks::ElectionOptions{.meta = format(ControllerAddress{name, "", address})});
                             election_->on_change([&, told = false](const locks::Election::View& view) mutable {
                               if (view.leading && !std::exchange(told, true)) elected.set_value();
                             });
                           });
    });
    elected.get_future().wait();
  }
  void resign() {
    std::promise<void> left;
    running.loop.post([&] { election_->resign([&](const Result<>&) { left.set_value(); }); });
    left.get_future().wait();
  }
  // A pulse, as a participant would make it: whole ones name a shard.
  void send() {
    Pulse pulse = pulse_of("n1", ++count);
    if (line->must_say_all()) pulse.replicas.push_back({.shard = {WorkloadId("t1"), ShardIndex(0)}});
    line->send(pulse);
  }
  void send_one() {
    running.run([&] { return send(), true; });
  }

  // How often it was said that nobody is active.
  std::size_t idle_said() {
    return running.run([&] {
      return static_cast<std::size_t>(
          std::ranges::count_if(said, [](const std::string& each) { return each.contains("nobody controls the cluster"); }));
    });
  }

  Running running;
  std::vector<std::string> said;  // the loop's
  Log log = Log::to([this](Level, std::string_view each) { said.emplace_back(each); }, {.level = Level::warn}, wall_now);
  std::unique_ptr<node::PulseLine> line;
  std::uint64_t count = 0;

 private:
  void leave() {
    election_.reset();
    locks_.reset();
    session_.reset();
  }

  std::unique_ptr<store::World> world_;
  std::unique_ptr<store::Store> mine_, its_;
  std::unique_ptr<store::Session> session_;
  std::unique_ptr<locks::Locks> locks_;
  std::unique_ptr<locks::Election> election_;
};

bool is_whole(const Pulse& pulse) { return !pulse.replicas.empty(); }

TEST(PulseLine, SaysEverythingUntilItIsKnown) {
  Ear ear;
  ear.answer(PulseSink::Verdict::unknown);
  Lined lined;
  const auto server = PulseServer::start(lined.running.loop, ear, {.cluster = c1}).value();
  lined.elect("d1", server->address());
  lined.begin();
  EXPECT_TRUE(ear.wait([&] { return ear.heard.size() == 1; }));  // at once
  const auto sends_whole = [&](PulseSink::Verdict verdict) {
    ear.answer(verdict);
    const std::size_t before = ear.count();
    lined.send_one();
    // One that cannot be sent, since the last one is on its way, is dropped.
    while (!ear.wait([&] { return ear.heard.size() > before; }, 20ms)) lined.send_one();
    return is_whole(ear.last());
  };
  EXPECT_TRUE(is_whole(ear.heard[0]));
  EXPECT_TRUE(sends_whole(PulseSink::Verdict::unknown));
  EXPECT_TRUE(sends_whole(PulseSink::Verdict::known));
  // The answer is on its way: some more may say everything, and so does the next one after a drop. Then none does.
  int short_ones = 0;  // one after the other
  for (int i = 0; i < 1000 && short_ones < 2; ++i) short_ones = sends_whole(PulseSink::Verdict::known) ? 0 : short_ones + 1;
  EXPECT_EQ(short_ones, 2);
}

TEST(PulseLine, SaysOnceThatNobodyIsActive) {
  Ear ear;
  Lined lined;
  const auto server = PulseServer::start(lined.running.loop, ear, {.cluster = c1}).value();
  lined.begin();
  test::wait_until("it is said", 60s, [&] { return lined.idle_said() == 1; });
  lined.running.run([&] {
    EXPECT_NE(lined.said[0].find("c1"), std::string::npos) << lined.said[0];
    EXPECT_NE(lined.said[0].find("etcd://10.0.0.9:2379"), std::string::npos) << lined.said[0];
    return true;
  });
  lined.elect("d1", server->address());
  EXPECT_TRUE(ear.wait([&] { return !ear.heard.empty(); }));
  EXPECT_EQ(lined.idle_said(), 1U);
  lined.resign();
  lined.running.run([&] { return server->end_all(), true; });
  test::wait_until("it is said again", 60s, [&] { return lined.idle_said() == 2; });
}

TEST(PulseLine, FollowsWhoIsActive) {
  Ear first_ear, second_ear;
  Lined lined;
  auto first = PulseServer::start(lined.running.loop, first_ear, {.cluster = c1}).value();
  const auto second = PulseServer::start(lined.running.loop, second_ear, {.cluster = c1}).value();
  lined.begin();  // nobody is active yet
  lined.elect("d1", first->address());
  EXPECT_TRUE(first_ear.wait([&] { return !first_ear.heard.empty(); }));
  lined.resign();
  lined.elect("d2", second->address());
  lined.running.run([&] { return first->end_all(), true; });
  EXPECT_TRUE(second_ear.wait([&] { return !second_ear.heard.empty(); }));
  EXPECT_TRUE(is_whole(second_ear.heard[0]));
  EXPECT_TRUE(first_ear.lost.empty());
  // It ends, and its address leads nowhere; then it is there again.
  second->stop();
  lined.send_one();
  lined.resign();
  const std::size_t before = first_ear.count();  // nobody pulses to it now
  lined.elect("d1", first->address());
  EXPECT_TRUE(first_ear.wait([&] { return first_ear.heard.size() > before; }));
}

TEST(PulseLine, EndsWhateverTheOtherSideDoes) {
  Lined lined;
  lined.elect("d1", "127.0.0.1:1");  // nobody listens there
  lined.begin();
  lined.send_one();
  lined.running.run([&] { return lined.line.reset(), true; });
  lined.resign();
  Ear ear;
  auto server = PulseServer::start(lined.running.loop, ear, {.cluster = c1}).value();
  lined.elect("d2", server->address());
  lined.begin();
  EXPECT_TRUE(ear.wait([&] { return !ear.heard.empty(); }));
  lined.running.run([&] { return lined.line.reset(), true; });
  EXPECT_TRUE(ear.wait([&] { return !ear.lost.empty(); }));
}

}  // namespace
}  // namespace evenkeel::serve
