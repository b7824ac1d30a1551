// A real Node: threads, a handler that throws, hangs and answers late, a data folder and its lock. Its store is in memory, on the node's loop.

#include "evenkeel/node/node.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>
#include <set>
#include <stdexcept>

#include "evenkeel/broker/broker.h"
#include "evenkeel/broker/shell/broker.h"
#include "evenkeel/broker/shell/client.h"
#include "evenkeel/node/shell/data_folder.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::node {
namespace {

constexpr Duration patience = 60s;  // for what happens soon

ShardId shard_of(std::uint32_t shard) { return {WorkloadId("t1"), ShardIndex(shard)}; }

// Blocks on shards that are held, until they are let go or stopped; throws on request.
class Blocking final : public ShardHandler {
 public:
  Result<> transition(const Transition& transition, std::stop_token stop) override {
    std::unique_lock lock(mutex_);
    begun_.insert(transition.shard);
    ++calls_[transition.shard];
    deadlines_[transition.shard] = transition.deadline;
    changed_.notify_all();
    if (throws.erase(transition.shard) > 0) throw std::runtime_error("boom");
    changed_.wait(lock, stop, [&] { return !held.contains(transition.shard) || deaf; });
    if (deaf) changed_.wait(lock, [&] { return !held.contains(transition.shard); });
    if (stop.stop_requested()) return fail(Code::cancelled, "stopped");
    done_[transition.shard] = transition.to;
    changed_.notify_all();
    return {};
  }
  Sealed seal(const ShardId&, Epoch epoch) override { return {epoch, Epoch(1), 5}; }
  Status report(const ShardId&) override { return {.progress = 9}; }

  bool wait_begun(const ShardId& shard) {
    return wait([&] { return begun_.contains(shard); });
  }
  bool wait_calls(const ShardId& shard, int calls) {
    return wait([&] { return calls_[shard] >= calls; });
  }
  Instant deadline(const ShardId& shard) {
    const std::scoped_lock lock(mutex_);
    return deadlines_[shard];
  }
  bool wait_done(const ShardId& shard, const std::string& state) {
    return wait([&] { return done_[shard].str() == state; });
  }
  void hold(const ShardId& shard) {
    const std::scoped_lock lock(mutex_);
    held.insert(shard);
  }
  void let_go(const ShardId& shard) {
    const std::scoped_lock lock(mutex_);
    held.erase(shard);
    changed_.notify_all();
  }

  std::set<ShardId> held, throws;
  bool deaf = false;  // to stop tokens

 private:
  template <class F>
  bool wait(F until) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, until);
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<ShardId> begun_;
  std::map<ShardId, int> calls_;
  std::map<ShardId, Instant> deadlines_;
  std::map<ShardId, StateId> done_;
};

// A client that takes its world with it, on the loop's thread.
class LastClient final : public store::Store {
 public:
  LastClient(std::unique_ptr<store::Store> inner, std::function<void()> after)
      : Store(inner->loop()), inner_(std::move(inner)), after_(std::move(after)) {}
  ~LastClient() override {
    inner_.reset();
    after_();
  }

 protected:
  void do_get(std::string key, store::Answer<store::Read> answer) override { inner_->get(std::move(key), std::move(answer)); }
  void do_list(std::string prefix, store::Answer<store::Listing> answer) override {
    inner_->list(std::move(prefix), std::move(answer));
  }
  void do_txn(store::Txn txn, store::Answer<store::Committed> answer) override { inner_->txn(std::move(txn), std::move(answer)); }
  std::unique_ptr<store::Watching> do_watch(std::string prefix, std::optional<store::Revision> after,
                                            store::OnChanges on_changes) override {
    return inner_->watch(std::move(prefix), after, std::move(on_changes));
  }
  void do_status(store::Answer<store::Status> answer) override { inner_->status(std::move(answer)); }
  void do_compact(store::Revision before, store::Answer<store::Revision> answer) override {
    inner_->compact(before, std::move(answer));
  }

 private:
  std::unique_ptr<store::Store> inner_;
  std::function<void()> after_;
};

// The store, which lives on the node's loop; and who writes targets there and looks for reports.
class Other {
 public:
  std::function<Result<std::unique_ptr<store::Store>>(Loop&)> opener() {
    return [this](Loop& loop) -> Result<std::unique_ptr<store::Store>> {
      loop_ = &loop;
      world_ = std::make_unique<store::World>(loop);
      mine_ = world_->connect("other");
      world_->on_commit([this](const std::string&, const store::Txn& txn, const store::Committed&) {
        const std::scoped_lock lock(mutex_);
        for (const store::Write& write : txn.then) seen_[write.key] = write.value;
        changed_.notify_all();
      });
      return std::make_unique<LastClient>(world_->connect("n1"), [this] {
        mine_.reset();
        world_.reset();
      });
    };
  }

  // The last value of the key, once it contains the text.
  bool wait_for(const std::string& key, const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return seen_[key].find(text) != std::string::npos; });
  }
  Incarnation incarnation() {
    EXPECT_TRUE(wait_for(keys_.live(NodeId("n1")), "incarnation"));
    const std::scoped_lock lock(mutex_);
    return parse_live(seen_[keys_.live(NodeId("n1"))], NodeId("n1"), "live").value().incarnation;
  }
  void tell(std::vector<ReplicaTarget> entries) {
    Target target{.node = NodeId("n1"),
                  .workload = WorkloadId("t1"),
                  .bucket = Bucket(0),
                  .incarnation = incarnation(),
                  .number = {ControllerEpoch(1), ++count_},
                  .model = find_built_in("leader-follower")->spec(),
                  .deadline = deadline,
                  .replicas = std::move(entries)};
    std::promise<void> done;
    loop_->post([&] {
      mine_->put(keys_.target(target.node, target.workload, target.bucket), format(target),
                 [&](const Result<store::Committed>&) { done.set_value(); });
    });
    done.get_future().wait();
  }
  Instant now() const { return loop_->now(); }

  Duration deadline = {};  // of transitions
  std::string report_key() const { return keys_.report(NodeId("n1"), WorkloadId("t1"), Bucket(0)); }

 private:
  Keys keys_{ClusterId("c1")};
  Loop* loop_ = nullptr;
  std::unique_ptr<store::World> world_;
  std::unique_ptr<store::Store> mine_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> seen_;
  std::uint64_t count_ = 0;
};

NodeOptions options_of() {
  NodeOptions options;
  options.cluster = ClusterId("c1");
  options.name = NodeId("n1");
  options.address = "127.0.0.1:1";
  options.on_stuck = OnStuck::report;
  return options;
}

ReplicaTarget told_entry(std::uint32_t shard, const std::string& state, std::uint64_t epoch, std::uint64_t change = 0) {
  return {.shard = ShardIndex(shard), .state = StateId(state), .version = {Epoch(epoch), Change(change)}};
}

struct Running {
  explicit Running(NodeOptions options = options_of()) {
    options.open_store = other.opener();
    node = Node::join(std::move(options), handler).value();
  }
  Blocking handler;
  Other other;
  std::unique_ptr<Node> node;  // goes first
};

TEST(Node, DoesWhatItIsTold) {
  Running running;
  EXPECT_TRUE(running.node->ready(patience));
  EXPECT_TRUE(running.node->is_current());
  running.other.tell({told_entry(0, "leader", 3), told_entry(1, "follower", 2)});
  EXPECT_TRUE(running.handler.wait_done(shard_of(0), "leader"));
  EXPECT_TRUE(running.handler.wait_done(shard_of(1), "follower"));
  const auto ready = running.node->ready(patience);
  EXPECT_TRUE(ready) << ready.error().message;
  EXPECT_TRUE(running.node->may_lead(shard_of(0), Epoch(3)));
  EXPECT_FALSE(running.node->may_lead(shard_of(0), Epoch(2)));
  EXPECT_FALSE(running.node->may_lead(shard_of(1), Epoch(2)));
  running.other.tell({told_entry(0, "follower", 3, 1), told_entry(1, "follower", 2)});
  EXPECT_TRUE(running.handler.wait_done(shard_of(0), "follower"));
  EXPECT_FALSE(running.node->may_lead(shard_of(0), Epoch(3)));
  const auto left = running.node->leave(2s);  // nobody gives a permit
  EXPECT_FALSE(left);
  EXPECT_FALSE(running.node->is_current());
}

TEST(Node, WhatAHandlerThrowsIsReported) {
  Running running;
  running.handler.throws = {shard_of(0)};
  running.other.tell({told_entry(0, "follower", 1)});
  EXPECT_TRUE(running.other.wait_for(running.other.report_key(), "boom"));
  EXPECT_FALSE(running.node->ready(0s));
  EXPECT_TRUE(running.handler.wait_done(shard_of(0), "follower"));  // it is tried again
  EXPECT_TRUE(running.node->ready(patience));
}

TEST(Node, UrgentOnesDoNotWaitForSlowOnes) {
  NodeOptions options = options_of();
  options.threads = 1;
  Running running(std::move(options));
  running.other.tell({told_entry(1, "follower", 1)});
  EXPECT_TRUE(running.handler.wait_done(shard_of(1), "follower"));
  running.handler.hold(shard_of(0));
  running.other.tell({told_entry(0, "follower", 1), told_entry(1, "follower", 1)});
  EXPECT_TRUE(running.handler.wait_begun(shard_of(0)));
  // A copy hangs; another shard becomes leader, and the hanging one is sealed.
  ReplicaTarget sealed = told_entry(0, "follower", 1, 1);
  sealed.seal = Epoch(2);
  running.other.tell({sealed, told_entry(1, "leader", 2)});
  EXPECT_TRUE(running.handler.wait_done(shard_of(1), "leader"));
  EXPECT_TRUE(running.other.wait_for(running.other.report_key(), "sealed"));
  // Not wanted any more: it is stopped, and dropped.
  running.other.tell({told_entry(0, "dropped", 1, 2), told_entry(1, "leader", 2)});
  running.handler.let_go(shard_of(0));
  EXPECT_TRUE(running.handler.wait_done(shard_of(0), "dropped"));
  EXPECT_TRUE(running.node->ready(patience));
}

// Calls that only tell of new peers hang; leaders and seals have a thread that those never have.
TEST(Node, LeadershipDoesNotWaitForOthersThatAreUrgent) {
  NodeOptions options = options_of();
  options.threads = 1;
  Running running(std::move(options));
  std::vector<ReplicaTarget> entries = {told_entry(0, "follower", 1), told_entry(1, "follower", 1), told_entry(2, "follower", 1)};
  running.other.tell(entries);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_TRUE(running.handler.wait_done(shard_of(i), "follower"));
  running.handler.hold(shard_of(0));
  running.handler.hold(shard_of(1));
  for (ReplicaTarget& entry : entries) entry.version.change = Change(1);
  for (std::uint32_t i = 0; i < 2; ++i) entries[i].peers = {{NodeId("n2"), StateId("leader")}};
  running.other.tell(entries);
  EXPECT_TRUE(running.handler.wait_calls(shard_of(0), 2));
  entries[1].seal = Epoch(2);
  entries[1].version.change = Change(2);
  entries[2] = told_entry(2, "leader", 2);
  running.other.tell(entries);
  EXPECT_TRUE(running.handler.wait_done(shard_of(2), "leader"));
  EXPECT_TRUE(running.other.wait_for(running.other.report_key(), "sealed"));
}

// Its time is its own: what it waits for a thread does not count.
TEST(Node, DeadlinesCountFromWhenTheHandlerIsCalled) {
  NodeOptions options = options_of();
  options.threads = 1;
  Running running(std::move(options));
  running.other.deadline = 1h;
  running.handler.hold(shard_of(0));
  running.other.tell({told_entry(0, "follower", 1), told_entry(1, "follower", 1)});
  EXPECT_TRUE(running.handler.wait_begun(shard_of(0)));
  const Instant then = running.other.now();
  running.handler.let_go(shard_of(0));
  EXPECT_TRUE(running.handler.wait_done(shard_of(1), "follower"));
  EXPECT_GE(running.handler.deadline(shard_of(1)), then + 1h);
  EXPECT_LT(running.handler.deadline(shard_of(0)), then + 1h);
}

// The end of a node asks its handlers to stop, and waits for them; one that hangs answers nobody.
TEST(Node, EndsWhileHandlersRun) {
  Running running;
  running.handler.hold(shard_of(0));
  running.other.tell({told_entry(0, "follower", 1)});
  EXPECT_TRUE(running.handler.wait_begun(shard_of(0)));
  running.node.reset();
  EXPECT_FALSE(running.handler.held.empty());
}

// A handler may ask its node whatever it likes until its last transition is done: the node is closed then, and says no.
TEST(Node, AnswersItsHandlersWhileItEnds) {
  struct Asking final : ShardHandler {
    Result<> transition(const Transition& transition, std::stop_token stop) override {
      std::unique_lock lock(mutex);
      begun = true;
      changed.notify_all();
      changed.wait(lock, stop, [] { return false; });
      led = node->may_lead(shard_of(0), Epoch(3));
      current = node->is_current();
      node->touch(transition.shard);
      ready = node->ready(patience);
      left = node->leave(patience);
      return fail(Code::cancelled, "stopped");
    }
    Sealed seal(const ShardId&, Epoch epoch) override { return {epoch, {}, 0}; }
    Status report(const ShardId&) override { return {}; }

    Node* node = nullptr;
    std::mutex mutex;
    std::condition_variable_any changed;
    bool begun = false;
    bool led = true, current = true;
    Result<> ready, left;
  } handler;
  Other other;
  NodeOptions options = options_of();
  options.open_store = other.opener();
  auto node = Node::join(std::move(options), handler).value();
  handler.node = node.get();
  other.tell({told_entry(0, "follower", 3)});
  {
    std::unique_lock lock(handler.mutex);
    ASSERT_TRUE(handler.changed.wait_for(lock, patience, [&] { return handler.begun; }));
  }
  node.reset();
  EXPECT_FALSE(handler.led);
  EXPECT_FALSE(handler.current);
  EXPECT_EQ(handler.ready.error().code, Code::cancelled);
  EXPECT_EQ(handler.left.error().code, Code::cancelled);
}

TEST(Node, SlowTransitionsAskTheBroker) {
  auto broker = broker::Broker::from_config(broker::default_config()).value();
  auto client = broker->client("node");
  NodeOptions options = options_of();
  options.broker = client.get();
  Running running(std::move(options));
  running.handler.hold(shard_of(0));
  ReplicaTarget entry = told_entry(0, "follower", 1);
  entry.copy_from = NodeId("n2");
  running.other.tell({entry});
  EXPECT_TRUE(running.handler.wait_begun(shard_of(0)));
  const auto observed = broker->observe();
  ASSERT_EQ(observed.status.running.size(), 1U);
  EXPECT_EQ(observed.status.running[0].name, "t1/0");
  EXPECT_EQ(observed.status.running[0].type, "bootstrap");
  running.handler.let_go(shard_of(0));
  EXPECT_TRUE(running.node->ready(patience));
  EXPECT_TRUE(broker->observe().status.running.empty());
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("evenkeel-node-{}", ::getpid())) {
    std::filesystem::remove_all(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

TEST(Node, DataFolderNamesTheDiskAndHasOneProcess) {
  const Folder folder;
  const std::string path = folder / "data";
  DataId id;
  {
    const auto first = DataFolder::open(path);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_TRUE(first->locked());
    id = first->id();
    const auto second = DataFolder::open(path);
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->locked());
    EXPECT_EQ(second->id(), id);
  }
  const auto third = DataFolder::open(path);
  ASSERT_TRUE(third);
  EXPECT_TRUE(third->locked());
  EXPECT_EQ(third->id(), id);
  EXPECT_NE(DataFolder::none().id(), id);
}

// Two ids of one disk would be two disks: only the process with the lock makes one.
TEST(Node, DataFolderOfAnotherProcessGetsNoId) {
  const Folder folder;
  const std::string path = folder / "data";
  const auto first = DataFolder::open(path);
  ASSERT_TRUE(first && first->locked());
  std::filesystem::remove(path + "/evenkeel.id");
  EXPECT_EQ(DataFolder::open(path).error().code, Code::unavailable);
  EXPECT_FALSE(std::filesystem::exists(path + "/evenkeel.id"));
}

// The first process dies with a session of half an hour; the second has the lock of its data, and need not wait for that.
TEST(Node, WhoHasTheLockJoinsAtOnce) {
  const Folder folder;
  NodeOptions options = options_of();
  options.store = "embedded:" + folder / "store";
  options.data = folder / "data";
  options.session_ttl = 30min;
  Blocking handler;
  for (int i = 0; i < 2; ++i) {
    auto node = Node::join(options, handler);
    ASSERT_TRUE(node) << node.error().message;
    const auto ready = (*node)->ready(patience);
    EXPECT_TRUE(ready) << ready.error().message;
  }
}

// What is on disk changes while another process has the folder, so nobody asks for it before.
TEST(Node, WaitsWhileAnotherProcessHasTheFolder) {
  struct Asked final : ShardHandler {
    Result<> transition(const Transition&, std::stop_token) override { return {}; }
    Sealed seal(const ShardId&, Epoch) override { return {}; }
    Status report(const ShardId&) override { return {}; }
    std::vector<Held> inventory() override {
      ++asked;
      if (!awake) throw std::runtime_error("the disk is asleep");
      return {};
    }
    std::atomic<int> asked = 0;
    std::atomic<bool> awake = false;
  } handler;
  const Folder folder;
  NodeOptions options = options_of();
  options.data = folder / "data";
  auto first = std::make_unique<Running>(options);
  EXPECT_TRUE(first->node->ready(patience));
  Other other;
  options.open_store = other.opener();
  const auto second = Node::join(options, handler);
  ASSERT_TRUE(second) << second.error().message;
  const auto ready = (*second)->ready(300ms);
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().message, "not ready: another process has the data folder");
  EXPECT_FALSE((*second)->is_current());
  EXPECT_FALSE((*second)->may_lead(shard_of(0), Epoch(1)));
  (*second)->touch(shard_of(0));
  (*second)->refused(shard_of(0), Epoch(1));
  EXPECT_EQ(handler.asked, 0);
  first.reset();
  std::string missing;
  while (missing.find("asleep") == std::string::npos) missing = (*second)->ready(0s).error().message;
  EXPECT_TRUE(missing.starts_with("not ready: what is on disk is not known: ")) << missing;
  handler.awake = true;
  EXPECT_TRUE((*second)->ready(patience));
  EXPECT_GE(handler.asked, 2);
}

TEST(Node, LeavesWhileItWaitsForTheFolder) {
  const Folder folder;
  NodeOptions options = options_of();
  options.data = folder / "data";
  const auto first = DataFolder::open(options.data);
  ASSERT_TRUE(first && first->locked());
  Running second(options);
  EXPECT_TRUE(second.node->leave(patience));
  EXPECT_FALSE(second.node->ready(patience));
}

TEST(Node, JoinSaysWhatIsWrong) {
  Blocking handler;
  NodeOptions options = options_of();
  options.store = "nowhere:";
  EXPECT_FALSE(Node::join(options, handler));
  options.name = NodeId("a/b");
  EXPECT_EQ(Node::join(options, handler).error().code, Code::invalid);
  struct Broken final : ShardHandler {
    Result<> transition(const Transition&, std::stop_token) override { return {}; }
    Sealed seal(const ShardId&, Epoch) override { return {}; }
    Status report(const ShardId&) override { return {}; }
    std::vector<Held> inventory() override { throw std::runtime_error("disk is gone"); }
  } broken;
  options = options_of();
  options.store = "memory:";
  EXPECT_EQ(Node::join(options, broken).error().message, "inventory threw: disk is gone");
  options.session_ttl = 299ms;
  EXPECT_EQ(Node::join(options, handler).error().message, "session_ttl is at least 300ms, and 299ms was given");
}

// A handler that does not step down: the process ends.
TEST(NodeDeathTest, EndsTheProcessIfItCannotStepDown) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto get_stuck = [] {
    NodeOptions options = options_of();
    options.on_stuck = OnStuck::exit;
    options.session_ttl = 2s;
    Running running(std::move(options));
    running.other.tell({told_entry(0, "leader", 1)});
    if (!running.handler.wait_done(shard_of(0), "leader")) ::_exit(1);
    running.handler.deaf = true;
    running.handler.hold(shard_of(0));
    running.other.tell({told_entry(0, "follower", 1, 1)});
    running.handler.wait_done(shard_of(0), "follower");
    ::_exit(2);
  };
  EXPECT_EXIT(get_stuck(), testing::ExitedWithCode(70), "");
}

}  // namespace
}  // namespace evenkeel::node
