#include "evenkeel/control/detail/throttles.h"

#include <algorithm>
#include <limits>

namespace evenkeel::control::detail {
namespace {

constexpr std::size_t looked_at_once = 64;  // of those who wait, when something was freed

// So long a copy of that size keeps its lane.
Duration time_of(Quantity bytes, Quantity per_second) {
  if (per_second <= Quantity(0)) return {};
  return Duration(static_cast<std::int64_t>(bytes.to_double() / per_second.to_double() * 1e9));
}

struct Limits {
  const Throttle& all;
  const Throttle& node;
  const Throttle& workload;
  const Throttle& zone;
};

Limits limits_of(const ControlSettings& settings, Slot slot) {
  switch (slot) {
    case Slot::recovery:
      return {settings.recovery, settings.recovery_per_node, settings.recovery_per_workload, settings.recovery_per_zone};
    case Slot::balance:
      return {settings.balance, settings.balance_per_node, settings.balance_per_workload, settings.balance_per_zone};
    case Slot::opening:
      break;
  }
  return {settings.openings, settings.openings_per_node, settings.openings_per_workload, settings.openings_per_zone};
}

std::ptrdiff_t openings_of(const std::vector<Copy>& copies) { return std::ranges::count(copies, Slot::opening, &Copy::slot); }

}  // namespace

bool limits_openings(const ControlSettings& settings) {
  const auto [all, node, workload, zone] = limits_of(settings, Slot::opening);
  return all != Throttle{} || node != Throttle{} || workload != Throttle{} || zone != Throttle{};
}

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
    const auto before = openings_of(old->second), now = openings_of(copies);
    const auto size = [](const std::vector<Copy>& all) { return static_cast<std::ptrdiff_t>(all.size()); };
    if (now < before || size(copies) - now < size(old->second) - before) look_again();
  }
  for (const Copy& copy : copies) count(copy, 1);
  if (copies.empty()) {
    copies_.erase(where);
  } else {
    copies_[where] = std::move(copies);
  }
}

std::vector<Throttles::Scope> Throttles::scopes(const ControlSettings& settings, const Copy& copy) {
  const Limits limits = limits_of(settings, copy.slot);
  Counts& counts = counts_[static_cast<std::size_t>(copy.slot)];
  Lanes& lanes = lanes_[static_cast<std::size_t>(copy.slot)];
  return {
      {limits.all, counts.all, lanes.all},
      {limits.node, counts.by_node[copy.node], lanes.by_node[copy.node]},
      {limits.workload, counts.by_workload[copy.workload], lanes.by_workload[copy.workload]},
      {limits.zone, counts.by_zone[copy.zone], lanes.by_zone[copy.zone]},
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
  if (broken_ == (copy.slot == Slot::opening ? Broken::no_opening_throttle : Broken::no_throttle)) return true;
  bool may = is_free(settings, copy, now, later);
  // Recovery comes first: balance begins nothing while recovery waits.
  if (copy.slot == Slot::balance && (no_balance || !waiting_[0].empty())) may = false;
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
void Throttles::take_waiting(const ControlSettings& settings, Instant now, Slot slot, Where& from, std::vector<Where>& taken) {
  const auto& waiting = waiting_[static_cast<std::size_t>(slot)];
  for (auto at = waiting.lower_bound(from); at != waiting.end(); ++at) {
    Instant later = Instant::max();
    if (std::ranges::none_of(at->second, [&](const Copy& copy) { return is_free(settings, copy, now, later); })) continue;
    if (taken.size() == looked_at_once) {
      freed_ = true;
      from = at->first;
      return;
    }
    taken.push_back(at->first);
  }
  from = {std::numeric_limits<std::uint32_t>::max(), 0};
}

std::vector<Throttles::Where> Throttles::take_waiting(const ControlSettings& settings, Instant now) {
  std::vector<Where> taken;
  if (!freed_) return taken;
  freed_ = false;
  take_waiting(settings, now, waiting_[0].empty() ? Slot::balance : Slot::recovery, copies_from_, taken);
  take_waiting(settings, now, Slot::opening, openings_from_, taken);
  return taken;
}

}  // namespace evenkeel::control::detail
