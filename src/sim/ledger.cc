#include "evenkeel/sim/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace evenkeel::sim {
namespace {

// A leader that begins so many epochs late is not compared with whoever led at its own; it is noticed by other rules if it does anything.
constexpr std::size_t led_max = 8;
constexpr std::uint32_t acks_min = 2;  // fewer copies promise nothing when a node is lost

}  // namespace

void Ledger::say(std::string what) {
  if (!violation_) violation_ = std::move(what);
}

void Ledger::check_alone(const ShardId& shard, const Shard& state, Epoch epoch, const NodeId& node, const Acting& who) {
  if (state.promise.fencing != Fencing::session || !who.acts(shard, epoch)) return;
  const auto& [highest, by] = state.led.back();
  if (epoch < highest)
    say(fmt::format("two leaders: {} acts as leader of {} at epoch {} after {} began at {}", node, format(shard), epoch, by,
                    highest));
  for (const Leader& other : state.leaders) {
    if (other.who == &who || !other.who->acts(shard, other.epoch)) continue;
    say(fmt::format("two leaders: {} at epoch {} and {} at epoch {} act as leaders of {}", other.node, other.epoch, node, epoch,
                    format(shard)));
  }
}

void Ledger::check_log(const ShardId& shard, Shard& state, Epoch epoch, const NodeId& node, const WriteLog& log) {
  const std::uint64_t same = log.common(state.acknowledged);
  if (same < state.acknowledged.length() && !state.forgiven && state.promise.acks >= acks_min)
    say(fmt::format("acknowledged write lost: {} epoch {} position {}: {} leads at {} with {}", format(shard),
                    *state.acknowledged.epoch_at(same + 1), same + 1, node, epoch,
                    log.length() <= same ? fmt::format("{}", same) : fmt::format("{} and others", same)));
  state.acknowledged.truncate(same);
  state.forgiven = false;
}

void Ledger::began(const ShardId& shard, Epoch epoch, const NodeId& node, const Acting& who, const WriteLog& log,
                   Promise promise) {
  ++grants_;
  Shard& state = shards_[shard];
  state.promise = promise;
  state.begun = true;
  const auto at = std::ranges::lower_bound(state.led, epoch, {}, &std::pair<Epoch, NodeId>::first);
  const bool is_highest = at == state.led.end();
  if (is_highest || at->first != epoch) {
    state.led.insert(at, {epoch, node});
    if (state.led.size() > led_max) state.led.erase(state.led.begin());
  } else if (at->second != node) {
    say(fmt::format("one leader per epoch: {} and {} lead {} at epoch {}", at->second, node, format(shard), epoch));
  }
  if (is_highest) {
    check_log(shard, state, epoch, node, log);
    state.start = log;
  }
  check_alone(shard, state, epoch, node, who);
  std::erase_if(state.leaders, [&](const Leader& leader) { return leader.who == &who; });
  state.leaders.push_back({epoch, node, &who});
}

void Ledger::accepted(const ShardId& shard, Epoch epoch, const NodeId& node, const Acting& who) {
  ++accepted_;
  check_alone(shard, shards_.at(shard), epoch, node, who);
}

// Whatever it has acknowledged by now its other half must have too, when that begins; or must have had, if that has begun.
void Ledger::is_one_of(const ShardId& shard, std::uint32_t shards) {
  Shard& state = shards_.at(shard);
  if (shards <= state.shards) return;
  state.shards = shards;
  if (shard.shard.value() >= shards / 2) return;  // it is the other half
  const ShardId other{shard.workload, ShardIndex(shard.shard.value() + shards / 2)};
  Shard& half = shards_[other];
  if (!half.begun) {
    half.acknowledged = state.acknowledged;
    half.forgiven = state.forgiven;
    return;
  }
  const std::uint64_t same = half.start.common(state.acknowledged);
  if (same < state.acknowledged.length() && !state.forgiven && !half.forgiven && state.promise.acks >= acks_min)
    say(fmt::format("acknowledged write lost: {} epoch {} position {}: {}, which was split off of it, began with {}",
                    format(shard), *state.acknowledged.epoch_at(same + 1), same + 1, format(other), same));
}

void Ledger::keyed(const ShardId& shard, ShardIndex key) {
  const auto other = shards_.find({shard.workload, key});
  if (key == shard.shard || other == shards_.end() || !other->second.begun) return;
  say(fmt::format("one shard for a key: {} takes a write of {}, which has begun", format(shard), format(other->first)));
}

void Ledger::acknowledged(const ShardId& shard, const WriteLog& log, std::uint64_t position, Epoch epoch, const NodeId& node) {
  ++acknowledged_;
  Shard& state = shards_.at(shard);
  const auto& [highest, by] = state.led.back();
  const bool is_late = epoch < highest && by != node;
  if (is_late && state.promise.fencing == Fencing::session)
    say(fmt::format("acknowledged too late: {} position {} by {} at epoch {} after {} began to lead at {}", format(shard),
                    position, node, epoch, by, highest));
  if (state.promise.acks < acks_min) return;
  const std::uint64_t has = is_late ? state.start.common(log) : position;
  if (has < position && !state.forgiven)
    say(fmt::format("acknowledged write lost: {} epoch {} position {}: {} acknowledges it, and {} leads at {} with {}",
                    format(shard), epoch, position, node, by, highest, has));
  if (has >= position) state.acknowledged.extend(log, position);
}

void Ledger::stopped(const ShardId& shard, Epoch epoch, const Acting& who) {
  const auto found = shards_.find(shard);
  if (found == shards_.end()) return;
  std::erase_if(found->second.leaders, [&](const Leader& leader) { return leader.who == &who && leader.epoch == epoch; });
}

void Ledger::forgive(const ShardId& shard) {
  if (const auto found = shards_.find(shard); found != shards_.end()) found->second.forgiven = true;
}

void Ledger::forgive_all() {
  for (auto& [shard, state] : shards_) state.forgiven = true;
}

void Ledger::forget(const WorkloadId& workload) {
  for (auto& [shard, state] : shards_) {
    if (shard.workload != workload) continue;
    state.acknowledged = {};
    state.forgiven = true;
    state.begun = false;
    state.shards = 0;
  }
}

std::optional<NodeId> Ledger::leader(const ShardId& shard) const {
  const auto found = shards_.find(shard);
  if (found == shards_.end() || found->second.leaders.empty()) return std::nullopt;
  return std::ranges::max_element(found->second.leaders, {}, &Leader::epoch)->node;
}

const WriteLog& Ledger::acknowledged_log(const ShardId& shard) const {
  static const WriteLog none;
  const auto found = shards_.find(shard);
  return found == shards_.end() ? none : found->second.acknowledged;
}

}  // namespace evenkeel::sim
