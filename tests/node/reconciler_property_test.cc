// The reconciler under documents that come twice, late or not at all, handlers that answer in any order, fail and are stopped, and sessions that
// are lost: what must hold after every step, and where it ends.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>

#include "evenkeel/base/overloaded.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/node/reconciler.h"
#include "tests/node/reconciler_text.h"

namespace evenkeel::node {
namespace {

const StateId leader("leader"), follower("follower"), offline("offline"), dropped{std::string(state_dropped)};
constexpr std::uint32_t buckets = 2;
constexpr std::uint32_t slots = 3;

// What a controller might write: for each bucket documents with growing numbers, whose entries have growing versions.
class Author {
 public:
  Author(Rng rng, Fencing fencing) : rng_(rng), fencing_(fencing) {}

  Target next(Bucket bucket, Incarnation incarnation) {
    Target target{.node = NodeId("n1"),
                  .workload = WorkloadId("t1"),
                  .bucket = bucket,
                  .incarnation = incarnation,
                  .number = {ControllerEpoch(1), ++count_},
                  .model = find_built_in("leader-follower")->spec(),
                  .fencing = fencing_,
                  .deadline = rng_.chance(1, 2) ? Duration(1min) : Duration()};
    for (std::uint32_t i = bucket.value(); i < 3 * buckets; i += buckets) {
      ReplicaTarget& entry = entries_.try_emplace(ShardIndex(i), ReplicaTarget{.shard = ShardIndex(i)}).first->second;
      if (rng_.chance(2, 3)) change(entry);
      if (rng_.chance(9, 10) && entry.version != Version()) target.replicas.push_back(entry);
    }
    return target;
  }

  // One that says everything, to end with.
  Target last(Bucket bucket, Incarnation incarnation) {
    Target target = next(bucket, incarnation);
    target.replicas.clear();
    for (auto& [shard, entry] : entries_) {
      if (shard.value() % buckets != bucket.value()) continue;
      entry.seal.reset();
      if (entry.state.empty()) entry.state = follower;
      entry.version.change = entry.version.change.next();
      if (entry.state == leader) entry.version = {entry.version.epoch.next(), Change(0)};  // it may have been sealed
      target.replicas.push_back(entry);
    }
    return target;
  }

 private:
  void change(ReplicaTarget& entry) {
    const std::uint64_t what = rng_.below(10);
    entry.seal.reset();
    if (what < 3) {
      entry.state = leader;
      entry.version = {entry.version.epoch.next(), Change(0)};
    } else {
      entry.version.change = entry.version.change.next();
      if (what < 7) entry.state = rng_.chance(1, 5) ? offline : follower;
      if (what == 7) entry.state = dropped;
      if (what == 8) entry.seal = entry.version.epoch.next();
      if (entry.state.empty()) entry.state = follower;
    }
    entry.peers.clear();
    if (rng_.chance(1, 2)) entry.peers.push_back({NodeId("n2"), follower});
    entry.copy_from.reset();
    if (rng_.chance(1, 2)) entry.copy_from = NodeId(rng_.chance(1, 2) ? "n2" : "n3");
  }

  Rng rng_;
  Fencing fencing_;
  std::uint64_t count_ = 0;
  std::map<ShardIndex, ReplicaTarget> entries_;
};

// A shell and its handlers, which hold the reconciler to its word.
class Shell {
 public:
  struct Running {
    Start start;
    bool stopped = false;
  };

  explicit Shell(Fencing fencing)
      : fencing_(fencing),
        reconciler_({.name = NodeId("n1"), .data = DataId("d1"), .transitions_at_once = slots, .tries = 3}, {}) {}

  void step(Input input, const std::string& what) {
    log_ += fmt::format("{}: {}\n", format(now), what);
    const Output output = reconciler_.step(std::move(input), now);
    log_ += text_of(output, now);
    for (const Effect& effect : output.effects) std::visit([this](const auto& each) { perform(each); }, effect);
    for (const Report& report : output.reports) take(report);
    wake = output.wake;
    check();
  }

  void join() {
    ++incarnation;
    joined = true;
    reports.clear();
    numbers_.clear();
    told_.clear();
    step(Joined{incarnation, {{WorkloadId("t1"), buckets}}}, "joined");
  }
  void lose() {
    joined = false;
    step(SessionLost(), "lost");
  }
  void read(const Target& target) {
    if (joined && target.incarnation == incarnation && target.number > numbers_[target.bucket]) {
      numbers_[target.bucket] = target.number;
      for (const ReplicaTarget& entry : target.replicas) {
        const auto known = told_.find(entry.shard);
        if (known == told_.end() || known->second.version <= entry.version) told_[entry.shard] = entry;
        history_[entry.shard][entry.version] = entry;
      }
    }
    step(TargetRead{target}, fmt::format("target {} number {}", target.bucket, target.number.count));
  }
  void answer(ShardIndex shard, bool well, std::uint64_t progress) {
    const Running done = running.at(shard);
    running.erase(shard);
    if (well) states[shard] = done.start.transition.to;
    Transitioned answer{.shard = id(shard), .run = done.start.run, .result = {}, .progress = progress};
    if (!well) answer.result = fail(Code::unavailable, "no");
    step(std::move(answer), fmt::format("answer {} {}", shard, well ? "done" : "failed"));
  }
  void answer_seal(ShardIndex shard, bool well) {
    const Epoch epoch = seals.at(shard);
    seals.erase(shard);
    Result<Sealed> result = Sealed{epoch, {}, 0};
    if (!well) result = fail(Code::unavailable, "no seal");
    step(SealDone{id(shard), epoch, std::move(result)}, fmt::format("seal {} {}", shard, well ? "done" : "failed"));
  }
  static ShardId id(ShardIndex shard) { return {WorkloadId("t1"), shard}; }

  bool settled() const { return reconciler_.settled(); }
  const std::string& log() const { return log_; }

  Instant now;
  Instant wake = Instant::max();
  bool joined = false;
  Incarnation incarnation;
  std::map<ShardIndex, Running> running;
  std::map<ShardIndex, Epoch> seals;
  std::map<ShardIndex, StateId> states;  // as the handlers know them
  std::map<ShardIndex, Epoch> leads;
  std::map<Bucket, Report> reports;
  std::map<ShardIndex, ReplicaTarget> told_;

 private:
  void require(bool holds, const std::string& what) const {
    if (!holds) RC_FAIL(fmt::format("{}\n{}", what, log_));
  }
  static bool is_about_leading(const Transition& t) { return t.from == leader || t.to == leader; }

  void perform(const Start& start) {
    const ShardIndex shard = start.transition.shard.shard;
    require(!running.contains(shard), "two transitions of one shard");
    require(!seals.contains(shard), "a transition beside a seal");
    StateId& state = states.try_emplace(shard, offline).first->second;
    if (state == dropped) state = offline;
    require(state == start.transition.from, fmt::format("it is in {}", state));
    require(start.turn != Turn::slow || joined, "something slow began without a session");
    running.emplace(shard, Running{start});
    const auto slow = std::ranges::count_if(running, [](const auto& each) { return each.second.start.turn == Turn::slow; });
    require(static_cast<std::uint32_t>(slow) <= slots, "too many at once");
  }
  void perform(const Stop& stop) {
    const auto found = running.find(stop.shard.shard);
    require(found != running.end() && found->second.start.run == stop.run && !found->second.stopped, "stopped what does not run");
    require(found->second.start.transition.from != leader || found->second.start.transition.to == leader, "stopped a step-down");
    found->second.stopped = true;
  }
  void perform(const AskSeal& ask) {
    const auto found = running.find(ask.shard.shard);
    require(found == running.end() || !is_about_leading(found->second.start.transition), "a seal beside leadership");
    require(seals.emplace(ask.shard.shard, ask.epoch).second, "two seals of one shard");
  }
  void perform(const Lead& lead) { leads[lead.shard.shard] = lead.epoch; }
  void perform(const Stuck&) {}

  void take(const Report& report) {
    require(joined && report.incarnation == incarnation, "a report without a session");
    for (const ReplicaReport& replica : report.replicas) {
      const auto state = states.find(replica.shard);
      require(state == states.end() ? replica.state == offline : replica.state == state->second || replica.state == offline,
              "a state that is not true");
      const auto entry = history_[replica.shard].find(replica.version);
      if (entry == history_[replica.shard].end() || entry->second.state == leader) continue;
      const auto runs = running.find(replica.shard);
      require(replica.state != leader, "said to have taken up what takes leadership away, and still there");
      require(runs == running.end() || runs->second.start.transition.to != leader, "said to be out, and on its way in");
    }
    reports[report.bucket] = report;
    if (report.replicas.empty()) reports.erase(report.bucket);
  }

  void check() const {
    for (const auto& [shard, epoch] : leads) {
      if (epoch == Epoch()) continue;
      require(joined || fencing_ == Fencing::epoch, "leads without a session");
      const auto told = told_.find(shard);
      if (told == told_.end()) continue;  // fenced by epoch, and not told in this session
      require(told->second.state == leader && told->second.version.epoch == epoch, "leads without being told");
      require(!told->second.seal || *told->second.seal <= epoch, "leads although it is sealed");
      const auto runs = running.find(shard);
      require(states.at(shard) == leader || (runs != running.end() && runs->second.start.transition.to == leader),
              "leads, and its handler does not know");
    }
  }

  Fencing fencing_;
  Reconciler reconciler_;
  std::map<Bucket, TargetNumber> numbers_;
  std::map<ShardIndex, std::map<Version, ReplicaTarget>> history_;
  std::string log_;
};

template <class Map>
ShardIndex any_of(const Map& map, Rng& rng) {
  return std::next(map.begin(), static_cast<std::ptrdiff_t>(rng.below(map.size())))->first;
}

void disturb(Shell& shell, Author& author, std::vector<Target>& written, Rng& rng) {
  const std::uint64_t what = rng.below(100);
  if (what < 25) {
    written.push_back(author.next(Bucket(static_cast<std::uint32_t>(rng.below(buckets))), shell.incarnation));
    if (rng.chance(3, 4)) shell.read(written.back());
  } else if (what < 35) {
    if (!written.empty()) shell.read(written[rng.below(written.size())]);  // late, or again
  } else if (what < 75) {
    if (!shell.running.empty()) {
      const ShardIndex shard = any_of(shell.running, rng);
      shell.answer(shard, rng.chance(shell.running.at(shard).stopped ? 1 : 4, 5), rng.below(100));
    }
  } else if (what < 82) {
    if (!shell.seals.empty()) shell.answer_seal(any_of(shell.seals, rng), rng.chance(3, 4));
  } else if (what < 92) {
    shell.now += Duration(rng.between(0, Duration(20s).count()));
    shell.step(Tick(), "tick");
  } else if (what < 94) {
    shell.joined ? shell.lose() : shell.join();
  } else if (what < 96) {
    shell.step(Transitioned{Shell::id(ShardIndex(static_cast<std::uint32_t>(rng.below(6)))), 1'000'000 + rng.below(9), {}, {}, 0},
               "an answer for nobody");
  } else if (what < 98) {
    shell.step(TargetGone{WorkloadId("t1"), Bucket(static_cast<std::uint32_t>(rng.below(buckets)))}, "gone");
  }
}

// Handlers answer well, and time goes on, until nothing is left to do.
void finish(Shell& shell) {
  for (int i = 0; i < 1000; ++i) {
    if (!shell.running.empty()) {
      shell.answer(shell.running.begin()->first, true, 1);
    } else if (!shell.seals.empty()) {
      shell.answer_seal(shell.seals.begin()->first, true);
    } else if (shell.wake != Instant::max()) {
      shell.now = shell.wake;
      shell.step(Tick(), "tick");
    } else {
      return;
    }
  }
  RC_FAIL("it does not end\n" + shell.log());
}

RC_GTEST_PROP(ReconcilerProperties, EndsWhereTheLastDocumentSays, (std::uint64_t seed)) {
  Rng rng(seed);
  const Fencing fencing = rng.chance(1, 3) ? Fencing::epoch : Fencing::session;
  Author author(rng.split("author"), fencing);
  Shell shell(fencing);
  shell.join();
  std::vector<Target> written;
  for (int i = 0; i < 150; ++i) disturb(shell, author, written, rng);
  if (!shell.joined) shell.join();
  for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) shell.read(author.last(Bucket(bucket), shell.incarnation));
  finish(shell);
  if (!shell.settled()) RC_FAIL("not settled\n" + shell.log());
  for (const auto& [shard, entry] : shell.told_) {
    const StateId state = shell.states.try_emplace(shard, offline).first->second;
    const bool is_there = state == entry.state || (state == dropped && entry.state == offline);  // from nothing to nothing
    if (!is_there) RC_FAIL(fmt::format("{} is in {}\n{}", shard, state, shell.log()));
    const Report& report = shell.reports.at(Bucket(shard.value() % buckets));
    const auto said = std::ranges::find(report.replicas, shard, &ReplicaReport::shard);
    RC_ASSERT(said != report.replicas.end());
    if (said->version != entry.version || said->state != entry.state || !said->error.empty())
      RC_FAIL(fmt::format("{} is reported otherwise\n{}", shard, shell.log()));
    RC_ASSERT(shell.leads[shard] == (entry.state == leader ? entry.version.epoch : Epoch()));
  }
}

}  // namespace
}  // namespace evenkeel::node
