// Counters: a small replicated service that is a node of a cluster. Link it with Evenkeel::node_shell, and Evenkeel::testing for the rehearsal.
//
//   node                        a rehearsal: three nodes in one process on virtual time, of which one is killed
//   node URL NAME FOLDER        a node of the cluster `counters` in that store, as etcd://127.0.0.1:2379: each line that is read is a key to count up
//
// Each shard is a number. Its leader counts it up, has followers copy it, and answers when two have it. A real service has a log where this one has a
// number, and a network where this one calls its peers; the rest is the same. docs/node.md goes through it.

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include <evenkeel/base/file.h>
#include <evenkeel/control/shell/controller.h>
#include <evenkeel/node/node.h>
#include <evenkeel/route/table.h>
#include <evenkeel/sim/testing/fake_cluster.h>
#include <evenkeel/store/backends/open.h>
#include <evenkeel/store/blocking.h>

using namespace evenkeel;

class Counters;
using Network = std::function<Counters*(const NodeId&)>;  // null: nobody is reached

class Counters final : public node::ShardHandler {
 public:
  Counters(Network network, std::string file, std::size_t acks)
      : network_(std::move(network)), file_(std::move(file)), acks_(acks) {}
  void joined(node::Node* node) { node_ = node; }

  // 1. What the cluster asks.

  Result<> transition(const node::Transition& t, std::stop_token) override {
    const std::unique_lock lock(mutex_);
    if (t.to.str() == state_dropped) {
      replicas_.erase(t.shard);
      return save();
    }
    Replica& replica = replicas_[t.shard];
    replica.version = t.version;
    replica.peers = t.peers;  // as of this version: who counts, and who does not
    if (t.to.str() == "leader") {
      replica.sealed = std::max(replica.sealed, t.version.epoch);
      replica.last = t.version.epoch;
    } else if (t.copy_from) {
      Counters* from = network_(*t.copy_from);
      if (from == nullptr || from == this) return fail(Code::unavailable, "cannot copy from {}", *t.copy_from);
      if (const auto copy = from->read(t.shard); copy.first >= replica.sealed) std::tie(replica.last, replica.count) = copy;
    }
    return save();
  }
  // Nothing of an older epoch is taken from now on, also after a restart.
  Sealed seal(const ShardId& shard, Epoch epoch) override {
    const std::unique_lock lock(mutex_);
    Replica& replica = replicas_[shard];
    replica.sealed = std::max(replica.sealed, epoch);
    if (!save()) throw std::runtime_error("the seal could not be written");
    return {replica.sealed, replica.last, replica.count};
  }
  node::Status report(const ShardId& shard) override {
    const auto [last, count] = read(shard);
    return {.last = last, .progress = count};
  }
  // Here the disk is ours, and not before.
  std::vector<node::Held> inventory() override {
    const std::unique_lock lock(mutex_);
    load();
    std::vector<node::Held> held;
    for (const auto& [shard, replica] : replicas_)
      held.push_back({shard, replica.version, replica.last, replica.count, replica.sealed});
    return held;
  }

  // 2. What clients ask: the new number, once it is safe.

  Result<std::uint64_t> add(const ShardId& shard) {
    std::unique_lock lock(mutex_);
    const auto found = replicas_.find(shard);
    const Epoch epoch = found == replicas_.end() ? Epoch() : found->second.last;
    if (found == replicas_.end() || !node_->may_lead(shard, epoch)) return fail(Code::refused, "not the leader");
    const std::uint64_t count = ++found->second.count;
    if (const auto saved = save(); !saved) return fail(saved.error());
    const std::vector<Peer> peers = found->second.peers;
    lock.unlock();
    std::size_t copies = 1;
    for (const Peer& peer : peers) {
      Counters* to = peer.state.str() == "follower" ? network_(peer.node) : nullptr;
      if (to != nullptr && to->take(shard, epoch, count)) ++copies;
    }
    if (copies < acks_) return fail(Code::unknown_outcome, "{} of {} copies have it", copies, acks_);
    if (!node_->may_lead(shard, epoch)) return fail(Code::unknown_outcome, "no longer the leader");
    return count;
  }

  // 3. What peers ask.

  bool take(const ShardId& shard, Epoch epoch, std::uint64_t count) {
    const std::unique_lock lock(mutex_);
    const auto found = replicas_.find(shard);
    if (found == replicas_.end() || epoch < found->second.sealed) return false;  // a leader of the past
    found->second.last = epoch;
    found->second.count = count;
    return save().has_value();
  }
  std::pair<Epoch, std::uint64_t> read(const ShardId& shard) const {
    const std::unique_lock lock(mutex_);
    const auto found = replicas_.find(shard);
    return found == replicas_.end() ? std::pair<Epoch, std::uint64_t>() : std::pair(found->second.last, found->second.count);
  }

 private:
  struct Replica {
    Version version;
    Epoch sealed;  // what is older is refused
    Epoch last;    // whose data it has
    std::uint64_t count = 0;
    std::vector<Peer> peers = {};
  };

  // All in one file: a line for each shard. Before anybody is told.
  Result<> save() const {
    if (file_.empty()) return {};
    std::string text;
    for (const auto& [shard, r] : replicas_)
      text += fmt::format("{} {} {} {} {} {}\n", format(shard), r.version.epoch, r.version.change, r.sealed, r.last, r.count);
    return replace_file(file_, text);
  }
  void load() {
    std::istringstream lines(file_.empty() ? "" : read_file(file_, Bytes(1 << 20)).value_or(""));
    std::string name;
    for (std::uint64_t e, c, s, l, n; lines >> name >> e >> c >> s >> l >> n;)
      replicas_[parse_shard_id(name).value()] = {{Epoch(e), Change(c)}, Epoch(s), Epoch(l), n};
  }

  const Network network_;
  const std::string file_;  // empty: nothing is kept
  const std::size_t acks_;
  node::Node* node_ = nullptr;
  mutable std::mutex mutex_;
  std::map<ShardId, Replica> replicas_;
};

// Three nodes, a leader that is killed, and a number that goes on.
int rehearse() {
  std::map<NodeId, std::unique_ptr<Counters>> services;
  sim::FakeCluster cluster;
  const Network network = [&](const NodeId& node) { return cluster.running(node) ? services.at(node).get() : nullptr; };
  for (const char* name : {"n1", "n2", "n3"}) {
    const NodeId node{name};
    services[node] = std::make_unique<Counters>(network, "", 2);
    services[node]->joined(&cluster.add_node(node, *services[node]));
  }
  const ShardId shard{WorkloadId("t"), ShardIndex(0)};
  const auto created = cluster.create({.name = shard.workload, .shards = 1, .replicas = 3, .control = {.acks = 2}});
  if (!created || !cluster.run_until_settled(1min)) return 1;
  for (int round = 0; round < 2; ++round) {
    const sim::Led led = cluster.leader(shard).value();
    for (int i = 0; i < 3; ++i) {
      const auto count = services[led.node]->add(shard);
      std::printf("%s at epoch %lu: %s\n", led.node.str().c_str(), led.epoch.value(),
                  count ? std::to_string(*count).c_str() : count.error().message.c_str());
    }
    if (round > 0) break;
    cluster.kill(led.node);
    std::printf("%s is killed\n", led.node.str().c_str());
    if (!cluster.run_until_settled(1min)) return 1;
  }
  return services[cluster.leader(shard).value().node]->read(shard).second == 6 ? 0 : 1;
}

// The store on a loop of its own, with a controller beside it: in so small a cluster every node may be the one that decides.
struct Control {
  std::unique_ptr<store::Blocking> store;
  std::unique_ptr<control::Controller> controller;

  Result<> start(const std::string& url, const ClusterId& cluster, const std::string& name, const WorkloadDocument& workload) {
    auto opened = store::Blocking::open([&](Loop& loop) { return store::open(loop, url, {}); });
    if (!opened) return fail(opened.error());
    store = *std::move(opened);
    const std::string key = Keys(cluster).workload(workload.spec.name);
    store::Txn create;
    create.compare(store::absent(key));
    create.put(key, format(workload));
    if (const auto done = store->txn(std::move(create)); !done) return fail(done.error());
    return on_loop([&](store::Store& on) {
      controller = std::make_unique<control::Controller>(on, control::ControllerOptions{.cluster = cluster, .name = name});
    });
  }
  ~Control() {
    if (store) (void)on_loop([&](store::Store&) { controller.reset(); });
  }
  Result<> on_loop(const std::function<void(store::Store&)>& work) const {
    const auto done = store->run<bool>([&](store::Store& on, store::Answer<bool> answer) { work(on), answer(true); });
    return done ? Result<>() : fail(done.error());
  }
};

int serve(const std::string& url, const std::string& name, const std::string& folder) {
  const ClusterId cluster("counters");
  // One replica: this example has no network for followers.
  const WorkloadDocument workload{.spec = {.name = WorkloadId("t"), .shards = 4}};
  Control control;
  if (const auto started = control.start(url, cluster, name, workload); !started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return 1;
  }
  Counters counters([](const NodeId&) { return nullptr; }, folder + "/counters", 1);
  auto node = node::Node::join(
      {.store = url, .cluster = cluster, .name = NodeId(name), .address = "127.0.0.1:9090", .data = folder}, counters);
  if (!node) {
    std::fprintf(stderr, "%s\n", node.error().message.c_str());
    return 1;
  }
  counters.joined(node->get());
  if (const auto ready = (*node)->ready(30s); !ready) std::fprintf(stderr, "%s\n", ready.error().message.c_str());
  for (std::string key; std::getline(std::cin, key);) {
    const ShardId shard{workload.spec.name, route::shard_of(key, workload.spec.shards)};
    auto count = counters.add(shard);
    for (int tries = 0; tries < 300 && !count && count.error().code == Code::refused; ++tries) {
      std::this_thread::sleep_for(100ms);  // nobody leads yet, or somebody else: a client would ask route::Router whom
      count = counters.add(shard);
    }
    std::cout << format(shard) << ": " << (count ? std::to_string(*count) : count.error().message) << std::endl;
  }
  const auto left = (*node)->leave(2s);
  if (!left) std::fprintf(stderr, "%s\n", left.error().message.c_str());
  return 0;
}

int main(int count, char** words) {
  if (count == 1) return rehearse();
  if (count == 4) return serve(words[1], words[2], words[3]);
  std::fprintf(stderr, "usage: node [URL NAME FOLDER]\n");
  return 2;
}
