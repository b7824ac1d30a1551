// Random stories: a cluster and its life, drawn from a seed. Chance decides what happens when; what has happened so far decides what can.
//
// What a life may ask for without breaking a promise by itself: clock rates are at most 1 % off; one disk is lost at a time, and what only it held is given
// up by an operator at the end; after a store that was put back an operator says again what is wanted, and adopts what nodes hold. At the end everything is mended, and the cluster
// has to settle.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "evenkeel/base/rng.h"
#include "evenkeel/sim/run.h"

namespace evenkeel::sim {
namespace {

using Kind = Action::Kind;

constexpr Duration settles_first = 30s;
constexpr Duration settles_last = 20min;  // delays, retries, copies one at a time: far more than enough where nothing is stuck
constexpr Duration mended_before_end = 3min;
constexpr Duration leave_takes = 11min;  // at most: it is gone then, whatever it could not finish

struct NodeLife {
  NodeId name;
  bool up = true;
  Duration changes_at = {};  // it is killed, stopped or started until then: nothing else happens to it
  Duration still_until = {};
  bool ordered = false;  // an operator has asked something of it
  bool hurt = false;     // slow, failing or hanging
  std::vector<ShardId> disabled;
};

class LifeMaker {
 public:
  explicit LifeMaker(const RandomOptions& options)
      : options_(options), rng_(Rng(options.seed).split("story")), cluster_rng_(Rng(options.seed).split("cluster")) {}

  Story make() {
    draw_cluster();
    const Duration whole = std::max(Duration(static_cast<std::int64_t>(options_.hours * 3600e9)), Duration(5min));
    const Duration end = whole - mended_before_end;
    now_ = settles_first;
    while (now_ < end && !options_.faults.empty()) {
      happen(options_.faults[rng_.below(options_.faults.size())]);
      now_ += time_between(1s, pace_ * 2);
    }
    mend(std::max(end, latest_));
    std::ranges::stable_sort(story_.lines, {}, &Line::at);
    return std::move(story_);
  }

 private:
  // 1. The cluster.

  template <class T>
  T one_of(Rng& rng, std::initializer_list<T> of) {
    return *(of.begin() + static_cast<std::ptrdiff_t>(rng.below(of.size())));
  }

  void draw_cluster() {
    Rng& rng = cluster_rng_;
    Cluster& cluster = story_.cluster;
    cluster.name = ClusterId("random");
    const std::uint32_t nodes = options_.nodes > 0 ? options_.nodes : static_cast<std::uint32_t>(rng.between(3, 9));
    zones_ = static_cast<std::uint32_t>(rng.between(1, 3));
    for (std::uint32_t n = 1; n <= nodes; ++n) {
      cluster.nodes.push_back({.name = NodeId(fmt::format("n{}", n)), .zone = fmt::format("z{}", 1 + n % zones_)});
      nodes_.push_back({.name = cluster.nodes.back().name});
    }
    draw_settings(rng, cluster.settings);
    pace_ = one_of<Duration>(rng, {10s, 20s, 60s, 120s});
    const std::uint64_t workloads = options_.shards == 1 ? 1 : static_cast<std::uint64_t>(rng.between(1, 3));
    const std::uint32_t shards = options_.shards > 0 ? options_.shards : static_cast<std::uint32_t>(rng.between(1, 24));
    for (std::uint64_t w = 0; w < workloads; ++w) {
      const std::uint32_t part = std::max(1u, shards / static_cast<std::uint32_t>(workloads));
      cluster.workloads.push_back(draw_workload(rng, fmt::format("t{}", w + 1), part));
      const Workload& workload = cluster.workloads.back();
      if (workload.state_model.str() == "leader-follower") forgivable_.emplace_back(workload.name, workload.shards);
    }
  }

  void draw_settings(Rng& rng, Settings& settings) {
    ControlSettings& control = settings.control;
    control.session_ttl = one_of<Duration>(rng, {5s, 10s, 20s});
    control.controller_ttl = one_of<Duration>(rng, {2s, 5s});
    control.rebalance_delay = one_of<Duration>(rng, {20s, 60s, 300s});
    const auto nodes = static_cast<std::uint32_t>(nodes_.size());
    if (rng.chance(1, 2)) control.max_offline = 1 + static_cast<std::uint32_t>(rng.below(nodes));
    if (control.max_offline && rng.chance(1, 2))
      control.resume_offline = static_cast<std::uint32_t>(rng.below(*control.max_offline));
    control.permit = one_of<Duration>(rng, {60s, 600s});
    control.steady = one_of<Duration>(rng, {5s, 60s});
    control.recovery.copies = one_of(rng, {1u, 2u, 100u});
    control.balance.copies = one_of(rng, {1u, 2u, 50u});
    control.recovery_per_node.copies = one_of(rng, {1u, 8u});
    if (rng.chance(1, 4)) control.recovery_per_zone.copies = 1;
    if (rng.chance(1, 4)) control.balance_per_workload.copies = 1;
    settings.spread.hard = zones_ == 3 && rng.chance(1, 3);
  }

  Workload draw_workload(Rng& rng, const std::string& name, std::uint32_t shards) {
    Workload workload{.name = WorkloadId(name), .shards = shards};
    const std::uint32_t most = story_.cluster.settings.spread.hard ? zones_ : 3;
    workload.replicas = std::min({1 + static_cast<std::uint32_t>(rng.below(3)), most, static_cast<std::uint32_t>(nodes_.size())});
    if (workload.replicas < 3 && rng.chance(1, 2)) workload.replicas = std::min(most, static_cast<std::uint32_t>(nodes_.size()));
    workload.state_model =
        StateModelId(one_of<const char*>(rng, {"leader-follower", "leader-follower", "leader-follower", "leader-follower",
                                               "leader-standby", "online-offline", "bootstrap", "everywhere"}));
    if (workload.state_model.str() == "everywhere") workload.replicas = 1;
    WorkloadControl& control = workload.control;
    control.linger = one_of<Duration>(rng, {0s, 1s, 5s});
    control.hand_over = one_of<Duration>(rng, {2s, 10s});
    if (rng.chance(1, 3)) control.transition = 2min;
    if (rng.chance(1, 3)) control.lag_max = 50;
    if (rng.chance(1, 3)) control.min_active = 1 + static_cast<std::uint32_t>(rng.below(workload.replicas));
    if (workload.state_model.str() != "leader-follower") return workload;
    if (workload.replicas >= 2 && rng.chance(2, 3)) control.acks = 2;
    if (control.acks >= 2 && rng.chance(1, 2)) control.fencing = Fencing::epoch;
    control.seal_wait = one_of<Duration>(rng, {100ms, 1s});
    return workload;
  }

  // 2. What happens.

  Duration time_between(Duration low, Duration high) {
    return Duration(std::chrono::milliseconds(
        rng_.between(std::chrono::duration_cast<std::chrono::milliseconds>(low).count(),
                     std::max(std::chrono::duration_cast<std::chrono::milliseconds>(high).count(), std::int64_t{1}))));
  }
  // Mostly short, sometimes long.
  Duration some_time() { return time_between(100ms, one_of<Duration>(rng_, {2s, 20s, 120s, 600s})); }

  void add(Duration at, Kind kind, Words words = {}) {
    latest_ = std::max({latest_, at, at + (takes_time(kind) ? words.time : Duration{})});
    story_.lines.push_back({at, Action{kind, std::move(words)}});
  }
  static bool takes_time(Kind kind) {
    return kind != Kind::clock_ahead && kind != Kind::store_loses && kind != Kind::store_delay;
  }

  NodeLife* pick(bool up) {
    std::vector<NodeLife*> fit;
    for (NodeLife& node : nodes_) {
      if (node.changes_at <= now_ && node.up == up) fit.push_back(&node);
    }
    return fit.empty() ? nullptr : fit[rng_.below(fit.size())];
  }
  ShardId pick_shard() {
    const Workload& workload = story_.cluster.workloads[rng_.below(story_.cluster.workloads.size())];
    return {workload.name, ShardIndex(static_cast<std::uint32_t>(rng_.below(workload.shards)))};
  }

  void happen(Fault fault) {
    switch (fault) {
      case Fault::crash:
        return crash();
      case Fault::pause:
        if (NodeLife* node = pick(true)) {
          const Duration time = some_time();
          node->still_until = std::max(node->still_until, now_ + time);
          add(now_, Kind::stop, {.node = node->name, .time = time});
        }
        return;
      case Fault::cut:
        if (const NodeLife* node = pick(true)) {
          const Kind kind = one_of(rng_, {Kind::cut, Kind::cut_store, Kind::cut_controllers});
          add(now_, kind, {.node = node->name, .time = some_time()});
        }
        return;
      case Fault::slow:
      case Fault::fail:
        return hurt(fault);
      case Fault::store:
        return trouble_store();
      case Fault::expire:
        if (const NodeLife* node = pick(true)) add(now_, Kind::expire, {.node = node->name});
        return;
      case Fault::clock:
        return set_clock();
      case Fault::controllers:
        return trouble_controllers();
      case Fault::twins:
        return begin_twin();
      case Fault::disks:
        return lose_disk();
      case Fault::rollback:
        return put_store_back();
      case Fault::operators:
        return operate();
    }
  }

  // Kills it, and starts it again after a while.
  void restart(NodeLife& node, Duration after, Kind how = Kind::start) {
    if (node.up) add(now_, Kind::kill, {.node = node.name});
    add(now_ + after, how, {.node = node.name});
    node.up = true;
    node.changes_at = now_ + after + 1s;
  }

  void crash() {
    const std::size_t many = rng_.chance(1, 10) ? nodes_.size() : 1;
    const Duration after = some_time();
    for (std::size_t i = 0; i < many; ++i) {
      NodeLife* node = pick(true);
      if (node == nullptr) return;
      restart(*node, many > 1 && rng_.chance(1, 2) ? some_time() : after);
    }
  }

  void hurt(Fault fault) {
    NodeLife* node = pick(true);
    if (node == nullptr) return;
    if (fault == Fault::slow) {
      add(now_, Kind::slow, {.node = node->name, .number = static_cast<std::uint64_t>(rng_.between(2, 30))});
    } else {
      const Kind kind = one_of(rng_, {Kind::fail_percent, Kind::fail_shard, Kind::hang_shard});
      Words words{.node = node->name};
      if (kind == Kind::fail_percent) {
        words.number = static_cast<std::uint64_t>(rng_.between(5, 90));
      } else {
        words.shard = pick_shard();
      }
      add(now_, kind, std::move(words));
    }
    node->hurt = true;
    if (rng_.chance(2, 3)) add(now_ + some_time(), Kind::mend, {.node = node->name});
  }

  void trouble_store() {
    const Duration time = some_time();
    switch (rng_.below(3)) {
      case 0:
        return add(now_, Kind::stop_store, {.time = std::min(time, Duration(60s))});
      case 1:
        add(now_, Kind::store_delay, {.time = one_of<Duration>(rng_, {20ms, 200ms, 1s})});
        return add(now_ + time, Kind::store_delay, {.time = 2ms});
      default:
        add(now_, Kind::store_lossy, {.number = one_of<std::uint64_t>(rng_, {1'000, 20'000, 200'000})});
        return add(now_ + time, Kind::store_lossy, {.number = 0});
    }
  }

  void set_clock() {
    NodeLife* node = pick(true);
    if (node == nullptr) return;
    if (rng_.chance(1, 2)) {
      add(now_, Kind::clock_ahead, {.node = node->name, .time = time_between(1s, 1000h)});
    } else {
      const Kind kind = rng_.chance(1, 2) ? Kind::clock_fast : Kind::clock_slow;
      add(now_, kind, {.node = node->name, .number = static_cast<std::uint64_t>(rng_.between(1, 9'999))});
    }
    restart(*node, some_time());
  }

  void trouble_controllers() {
    const std::uint64_t number = 1 + rng_.below(2);
    Duration& busy = controllers_[number - 1];
    if (busy > now_) return;
    const Duration time = some_time();
    busy = now_ + time + 1s;
    switch (rng_.below(4)) {
      case 0:
        add(now_, Kind::kill_controller, {.number = number});
        return add(now_ + time, Kind::start_controller, {.number = number});
      case 1:
        return add(now_, Kind::stop_controller, {.number = number, .time = time});
      case 2:
        return add(now_, Kind::cut_controller, {.number = number, .time = time});
      default:
        return add(now_, Kind::cut_controller_nodes, {.number = number, .time = time});
    }
  }

  // A second process under a name that is alive. If the first one goes, the second takes the name over, with an empty disk; then it goes too, and the
  // first one comes back.
  void begin_twin() {
    NodeLife* node = pick(true);
    if (node == nullptr) return;
    add(now_, Kind::start_twin, {.node = node->name});
    const Duration until = now_ + some_time();
    const bool takes_over = rng_.chance(1, 3) && !std::exchange(disk_lost_, true);
    const Duration later = until + (takes_over ? some_time() : Duration{});
    add(until, Kind::kill, {.node = node->name});
    add(later, Kind::kill, {.node = node->name});
    add(later + 1s, Kind::start, {.node = node->name});
    node->changes_at = later + 2s;
  }

  // One in a life: what others hold is enough then.
  void lose_disk() {
    NodeLife* node = pick(true);
    if (node == nullptr || std::exchange(disk_lost_, true)) return;
    restart(*node, some_time(), Kind::start_new_disk);
  }

  void put_store_back() {
    if (std::exchange(put_back_, true)) return;
    if (rng_.chance(1, 2)) {
      add(now_, Kind::store_loses_all);
    } else {
      add(now_, Kind::store_loses, {.time = time_between(1s, std::min(Duration(5min), now_ - 10s))});
    }
    put_back_until_ = now_ + 2min;
    add(now_ + 1min, Kind::apply);
    for (const Duration after : {0min, 10min, 30min}) add(put_back_until_ + after, Kind::adopt);  // some nodes come back later
  }

  // 3. What operators do, and undo.

  void operate() {
    NodeLife* node = pick(true);
    if (node == nullptr) return;
    const Duration until = now_ + some_time();
    switch (rng_.below(11)) {
      case 0:
      case 1:
      case 2: {
        if (std::exchange(node->ordered, true)) return;
        add(now_, one_of(rng_, {Kind::drain, Kind::cordon, Kind::no_leaders}), {.node = node->name});
        if (rng_.chance(1, 2)) add(until, Kind::undo, {.node = node->name}), node->ordered = false;
        return;
      }
      case 3:
        return swap(*node);
      case 4: {
        const ShardId shard = pick_shard();
        add(now_, Kind::disable, {.node = node->name, .shard = shard});
        node->disabled.push_back(shard);
        return;
      }
      case 5:
        if (node->still_until > now_) return;
        add(now_, Kind::leave, {.node = node->name});
        node->changes_at = now_ + leave_takes + some_time();
        return add(node->changes_at, Kind::start, {.node = node->name});
      case 6:
        if (now_ < put_back_until_) return;  // there may be no such shard
        return add(now_, Kind::lead, {.node = node->name, .shard = pick_shard()});
      case 7:
        add(now_, rng_.chance(1, 2) ? Kind::freeze : Kind::freeze_keep_leaders);
        return add(until, Kind::thaw);
      case 8:
        add(now_, Kind::maintenance);
        return add(until, Kind::end_maintenance);
      case 9:
        return change_workload();
      default:
        return come_and_go();
    }
  }

  // A new node takes an old one's place.
  void swap(NodeLife& old) {
    if (std::exchange(old.ordered, true)) return;
    const NodeId name = old.name;
    const NodeId fresh = add_node();
    add(now_ + 5s, Kind::swap, {.node = name, .other = fresh});
  }

  NodeId add_node() {
    const auto number = static_cast<std::uint32_t>(nodes_.size()) + 1;
    const NodeId name(fmt::format("n{}", number));
    add(now_, Kind::add, {.text = fmt::format("{{name: {}, zone: z{}}}", name, 1 + number % zones_)});
    nodes_.push_back({.name = name, .changes_at = now_ + 5s});
    return name;
  }

  void change_workload() {
    Workload& workload = story_.cluster.workloads[rng_.below(story_.cluster.workloads.size())];
    if (workload.state_model.str() == "everywhere") return;
    if (rng_.chance(1, 3)) {
      return add(now_, Kind::change, {.workload = workload.name, .text = fmt::format("{{linger: {}s}}", rng_.below(4))});
    }
    const std::uint32_t most = story_.cluster.settings.spread.hard ? zones_ : 3;
    const std::uint32_t least = std::max(workload.control.acks, workload.control.min_active.value_or(1));
    if (least > most) return;
    add(now_, Kind::change, {.workload = workload.name, .text = fmt::format("{{replicas: {}}}", rng_.between(least, most))});
  }

  // A workload more, for a while; or a node more.
  void come_and_go() {
    if (rng_.chance(1, 3) && nodes_.size() < 12) return add_node(), void();
    const std::string name = fmt::format("x{}", ++created_);
    const auto shards = static_cast<std::uint32_t>(rng_.between(1, 4));
    add(now_, Kind::create, {.text = fmt::format("{{name: {}, shards: {}, replicas: {}}}", name, shards, rng_.between(1, 2))});
    if (rng_.chance(2, 3)) return add(now_ + some_time(), Kind::erase, {.workload = WorkloadId(name)});
    forgivable_.emplace_back(WorkloadId(name), shards);
  }

  // 4. The end.

  void mend(Duration at) {
    for (const NodeLife& node : nodes_) {
      if (node.hurt) add(at, Kind::mend, {.node = node.name});
      if (node.ordered) add(at, Kind::undo, {.node = node.name});
      for (const ShardId& shard : node.disabled) add(at, Kind::enable, {.node = node.name, .shard = shard});
    }
    if (put_back_) add(at, Kind::apply);
    const Duration later = at + 1min;
    if (put_back_) add(later, Kind::adopt);
    if (disk_lost_ || put_back_) {
      const Duration last = later + (put_back_ ? 1min : 0min);  // what could be adopted is
      for (const auto& [workload, shards] : forgivable_) {
        for (std::uint32_t s = 0; s < shards; ++s) add(last, Kind::lead_accept_loss, {.shard = {workload, ShardIndex(s)}});
      }
    }
    reset(later);
    story_.lines.push_back({later, Expectation{{.kind = Condition::Kind::settled}, Expectation::When::within, settles_last}});
    const Duration rest = later + settles_last;
    story_.lines.push_back({rest, Expectation{{.kind = Condition::Kind::settled}, Expectation::When::throughout, 1min}});
    story_.lines.push_back({rest + 1min, Action{Kind::end, {}}});
  }

  // What was given up on nodes that were not well is tried again.
  void reset(Duration at) {
    std::map<WorkloadId, std::uint32_t> workloads(forgivable_.begin(), forgivable_.end());
    for (const Workload& workload : story_.cluster.workloads) workloads.emplace(workload.name, workload.shards);
    for (const NodeLife& node : nodes_) {
      if (!node.hurt) continue;
      for (const auto& [workload, shards] : workloads) {
        for (std::uint32_t s = 0; s < shards; ++s) add(at, Kind::reset, {.node = node.name, .shard = {workload, ShardIndex(s)}});
      }
    }
  }

  const RandomOptions& options_;
  Rng rng_;
  Rng cluster_rng_;
  Story story_;
  std::vector<NodeLife> nodes_;
  std::uint32_t zones_ = 1;
  Duration pace_ = 30s;
  Duration now_ = {};
  Duration latest_ = {};  // of all that was added, until it is over
  Duration controllers_[2] = {};
  bool disk_lost_ = false;
  bool put_back_ = false;
  Duration put_back_until_ = {};  // the store may know less than operators want
  std::uint32_t created_ = 0;
  std::vector<std::pair<WorkloadId, std::uint32_t>> forgivable_;  // with their shards: what only a lost disk held can be given up
};

}  // namespace

std::vector<Fault> draw_faults(std::uint64_t seed) {
  std::vector<Fault> faults = all_faults();
  Rng rng = Rng(seed).split("kinds");
  if (!rng.chance(3, 4)) return faults;
  rng.shuffle(std::span(faults));
  faults.resize(1 + rng.below(4));
  return faults;
}

Story random_story(const RandomOptions& options) { return LifeMaker(options).make(); }

}  // namespace evenkeel::sim
