#pragma once
// What a participant meets in a test: handlers that take their time, and somebody who writes targets as a controller would, for one node.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/node/participant.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::node {

inline ShardId shard_of(std::uint32_t shard) { return {WorkloadId("t1"), ShardIndex(shard)}; }

// What outlives a process.
using Disk = std::map<ShardId, Held>;

class SlowHandler final : public AsyncHandler {
 public:
  SlowHandler(Loop& loop, Rng rng, Disk& disk, Duration slowest, std::uint32_t failing)
      : failing_percent(failing), loop_(loop), rng_(rng), disk_(disk), slowest_(slowest) {}

  void transition(Transition transition, bool, std::stop_token stop, std::move_only_function<void(Result<>)> answer) override {
    if (!busy.insert(transition.shard).second) ++overlaps;
    ++transitions;
    if (hangs) return;
    later_on([this, transition = std::move(transition), stop, answer = std::move(answer)]() mutable {
      busy.erase(transition.shard);
      if (stop.stop_requested()) return answer(fail(Code::cancelled, "stopped"));
      if (rng_.chance(failing_percent, 100)) return answer(fail(Code::unavailable, "out of luck"));
      if (transition.to.str() == state_dropped) {
        disk_.erase(transition.shard);
      } else {
        disk_[transition.shard] = {transition.shard, transition.version, transition.version.epoch, ++progress_};
      }
      answer({});
    });
  }
  void seal(ShardId shard, Epoch epoch, std::move_only_function<void(Result<Sealed>)> answer) override {
    later_on([this, shard, epoch, answer = std::move(answer)]() mutable {
      const auto held = disk_.find(shard);
      answer(Sealed{epoch, held == disk_.end() ? Epoch() : held->second.last, progress_});
    });
  }
  Status report(const ShardId& shard) override {
    const auto held = disk_.find(shard);
    if (held == disk_.end()) return {};
    return {.last = held->second.last, .progress = held->second.progress};
  }
  std::vector<Held> inventory() override {
    std::vector<Held> out;
    for (const auto& [shard, held] : disk_) out.push_back(held);
    return out;
  }

  std::set<ShardId> busy;
  int overlaps = 0;  // transitions of one shard at the same time
  int transitions = 0;
  bool hangs = false;  // what begins does not end
  std::uint32_t failing_percent = 0;

 private:
  void later_on(Loop::Callback callback) {
    loop_.post_after(Duration(rng_.between(0, slowest_.count())),
                     [alive = std::weak_ptr(alive_), callback = std::move(callback)]() mutable {
                       if (alive.lock()) callback();
                     });
  }

  Loop& loop_;
  Rng rng_;
  Disk& disk_;
  Duration slowest_;
  std::uint64_t progress_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// Writes targets for one node: to each new incarnation everything, and now and then something else.
class FakeController {
 public:
  static constexpr std::uint32_t shards = 6, buckets = 2;

  FakeController(store::World& world, Rng rng, NodeId node)
      : world_(world), store_(world.connect("controller")), rng_(rng), node_(std::move(node)), keys_(ClusterId("c1")) {
    for (std::uint32_t i = 0; i < shards; ++i) entries_.push_back({.shard = ShardIndex(i), .state = StateId("follower")});
  }

  // Once in a while: see who is there, and write what is to be written.
  void tick(bool change) {
    const auto live = read_live();
    if (!live) return;
    if (live->incarnation != incarnation_) {
      incarnation_ = live->incarnation;
      for (auto& entry : entries_)
        tell(entry, entry.state.str() == state_dropped ? entry.state : StateId("follower"), Reason::restart);
      written_ = false;
    }
    forget_dropped();
    if (change && rng_.chance(1, 3)) {
      auto& entry = entries_[rng_.below(entries_.size())];
      const std::uint64_t what = rng_.below(8);
      tell(entry, StateId(what < 4 ? "leader" : what < 7 ? "follower" : "dropped"), Reason::balance);
      if (what == 3) entry.seal = entry.version.epoch.next();
      written_ = false;
    }
    if (!written_) write();
  }

  std::optional<LiveDocument> read_live() const {
    for (const store::Entry& entry : world_.contents().entries) {
      if (entry.key == keys_.live(node_)) return parse_live(entry.value, node_, entry.key).value();
    }
    return std::nullopt;
  }
  std::vector<Report> read_reports() const {
    std::vector<Report> out;
    for (const store::Entry& entry : world_.contents(keys_.report_prefix(node_)).entries)
      out.push_back(parse_report(entry.value, *keys_.parse(entry.key), entry.key).value());
    return out;
  }
  // Everything once more, without seals: what was given up is tried again.
  void tell_all() {
    for (auto& entry : entries_) tell(entry, entry.state, Reason::operator_asked);
    written_ = false;
  }

  void drop_all() {
    for (auto& entry : entries_) tell(entry, StateId(std::string(state_dropped)), Reason::move);
    written_ = false;
  }

  const std::vector<ReplicaTarget>& entries() const { return entries_; }
  bool is_gone(ShardIndex shard) const { return gone_.contains(shard); }
  const Keys& keys() const { return keys_; }

 private:
  void tell(ReplicaTarget& entry, const StateId& state, Reason reason) {
    gone_.erase(entry.shard);
    if (state.str() == "leader") {
      entry.version = {std::max(entry.version.epoch.next(), entry.seal.value_or(Epoch())), Change()};
    } else {
      entry.version.change = entry.version.change.next();
    }
    entry.state = state;
    entry.reason = reason;
    entry.seal.reset();
  }

  // What is reported as dropped is not told any more.
  void forget_dropped() {
    for (const Report& report : read_reports()) {
      for (const ReplicaReport& replica : report.replicas) {
        const ReplicaTarget& entry = entries_.at(replica.shard.value());
        const bool done = report.incarnation == incarnation_ && entry.version == replica.version;
        if (done && entry.state == replica.state && replica.state.str() == state_dropped && gone_.insert(entry.shard).second)
          written_ = false;
      }
    }
  }

  void write() {
    store::Txn txn;
    for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) {
      Target target{.node = node_,
                    .workload = WorkloadId("t1"),
                    .bucket = Bucket(bucket),
                    .incarnation = incarnation_,
                    .number = {ControllerEpoch(1), ++count_},
                    .model = find_built_in("leader-follower")->spec(),
                    .deadline = 1min};
      for (const ReplicaTarget& entry : entries_) {
        if (bucket_of({target.workload, entry.shard}, buckets) == target.bucket && !gone_.contains(entry.shard))
          target.replicas.push_back(entry);
      }
      const std::string key = keys_.target(node_, target.workload, target.bucket);
      target.replicas.empty() ? txn.erase(key) : txn.put(key, format(target));
    }
    written_ = true;
    store_->txn(std::move(txn), [this](const Result<store::Committed>& done) { written_ = written_ && done.has_value(); });
  }

  store::World& world_;
  std::unique_ptr<store::Store> store_;
  Rng rng_;
  NodeId node_;
  Keys keys_;
  Incarnation incarnation_;
  std::vector<ReplicaTarget> entries_;
  std::set<ShardIndex> gone_;  // dropped, and told no more
  std::uint64_t count_ = 0;
  bool written_ = false;
};

}  // namespace evenkeel::node
