#include "evenkeel/control/detail/throttles.h"

#include <algorithm>

namespace evenkeel::control::detail {
namespace {

constexpr std::size_t looked_at_once = 64;  // of those who wait, when something was freed

// So long a copy of that size keeps its lane.
Duration time_of(Quantity bytes, Quantity per_second) {
  if (per_second <= Quantity(0)) return {};
  return Duration(static_cast<std::int64_t>(bytes.to_double() / per_second.to_double() * 1e9));
}

}  // namespace

void Throttles::count(const Copy& copy, int by) {
  Counts& counts = counts_[static_cast<std::size_t>(copy.slot)];
  const auto add = [&](std::uint32_t& number) { number = static_cast<std::uint32_t>(static_cast<int>(number) + by); };
  add(counts.all);
  add(counts.by_node[copy.node]);
  add(counts.by_workload[copy.workload]);
  add(counts.by_zone[copy.zone]);
}

void Throttles::set(Where where, std::vector<Copy> copies) {
  const auto old = copies_.find(where);
  if (old == copies_.end() ? copies.empty() : old->second == copies) return;
  if (old != copies_.end()) {
    for (const Copy& copy : old->second) count(copy, -1);
    if (copies.size() < old->second.size()) look_again();
  }
  for (const Copy& copy : copies) count(copy, 1);
  if (copies.empty()) {
    copies_.erase(where);
  } else {
    copies_[where] = std::move(copies);
  }
}

std::vector<Throttles::Scope> Throttles::scopes(const ControlSettings& settings, const Copy& copy) {
  const auto kind = static_cast<std::size_t>(copy.slot);
  const bool recovery = copy.slot == Slot::recovery;
  Counts& counts = counts_[kind];
  Lanes& lanes = lanes_[kind];
  return {
      {recovery ? settings.recovery : settings.balance, counts.all, lanes.all},
      {recovery ? settings.recovery_per_node : settings.balance_per_node, counts.by_node[copy.node], lanes.by_node[copy.node]},
      {recovery ? settings.recovery_per_workload : settings.balance_per_workload, counts.by_workload[copy.workload],
       lanes.by_workload[copy.workload]},
      {recovery ? settings.recovery_per_zone : settings.balance_per_zone, counts.by_zone[copy.zone], lanes.by_zone[copy.zone]},
  };
}

// Whether no limit is reached, whoever else waits.
bool Throttles::is_free(const ControlSettings& settings, const Copy& copy, Instant now, Instant& later) {
  bool free = true;
  for (const Scope& scope : scopes(settings, copy)) {
    if (scope.limit.copies > 0 && scope.count >= scope.limit.copies) free = false;
    if (scope.limit.bytes_per_second > Quantity(0) && scope.lane > now) {
      free = false;
      later = std::min(later, scope.lane);
    }
  }
  return free;
}

bool Throttles::has_room(const ControlSettings& settings, const Copy& copy, Instant now, bool no_balance) const {
  Throttles self(*this);  // for people who ask: seldom, and copies under way are few
  Instant later = Instant::max();
  return self.may_begin(settings, {}, copy, now, no_balance, later);
}

bool Throttles::may_begin(const ControlSettings& settings, Where where, const Copy& copy, Instant now, bool no_balance,
                          Instant& later) {
  if (broken_ == Broken::no_throttle) return true;
  const bool recovery = copy.slot == Slot::recovery;
  bool may = is_free(settings, copy, now, later);
  // Recovery comes first: balance begins nothing while recovery waits.
  if (!recovery && (no_balance || !waiting_[0].empty())) may = false;
  if (!may) {
    waiting_[static_cast<std::size_t>(copy.slot)][where].push_back(copy);
    return false;
  }
  for (const Scope& scope : scopes(settings, copy)) {
    if (scope.limit.bytes_per_second > Quantity(0))
      scope.lane = std::max(scope.lane, now) + time_of(copy.bytes, scope.limit.bytes_per_second);
  }
  count(copy, 1);
  copies_[where].push_back(copy);
  return true;
}

// All are asked, so that nobody waits behind those of a slow node; to ask costs little beside deciding a shard.
std::vector<Throttles::Where> Throttles::take_waiting(const ControlSettings& settings, Instant now) {
  std::vector<Where> taken;
  if (!freed_) return taken;
  freed_ = false;
  const auto& waiting = waiting_[waiting_[0].empty() ? 1 : 0];
  for (auto at = waiting.lower_bound(from_); at != waiting.end(); ++at) {
    Instant later = Instant::max();
    if (std::ranges::none_of(at->second, [&](const Copy& copy) { return is_free(settings, copy, now, later); })) continue;
    if (taken.size() == looked_at_once) {
      freed_ = true;
      from_ = at->first;
      break;
    }
    taken.push_back(at->first);
  }
  return taken;
}

}  // namespace evenkeel::control::detail
