#include "evenkeel/broker/detail/turns.h"

namespace evenkeel::broker::detail {
namespace {

template <class Use>
void for_each_resource(ResourceSet set, const Use& use) {
  for (; set != 0; set &= set - 1) use(static_cast<std::size_t>(std::countr_zero(set)));
}

}  // namespace

void Turns::reset(std::size_t queues, std::size_t resources) {
  resources_ = resources;
  places_.assign(queues, {});
  groups_.clear();
}

std::uint32_t Turns::group_of(ResourceSet set) {
  std::uint32_t unused = nowhere;
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (group.set == set) return i;
    if (group.open + group.stopped == 0 && unused == nowhere) unused = i;
  }
  if (unused == nowhere) {
    unused = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back().tournament.reset(places_.size());
    groups_.back().needs.resize(resources_);
  }
  Group& group = groups_[unused];
  group.set = set;
  for_each_resource(set, [&](std::size_t i) { group.needs[i].reserve(places_.size()); });
  return unused;
}

void Turns::leave(const Line* lines, QueueIndex q, std::uint64_t now) {
  Place& place = places_[q];
  if (place.group == nowhere) return;
  Group& group = groups_[place.group];
  if (place.stopped) {
    for_each_resource(group.set, [&](std::size_t i) { group.needs[i].erase(lines, q, now); });
    --group.stopped;
  } else {
    group.tournament.set(lines, q, false, now);
    --group.open;
  }
  place = {};
}

void Turns::set(const Line* lines, QueueIndex q, std::span<const std::uint64_t> need, bool stopped, std::uint64_t now) {
  ResourceSet set = 0;
  for (std::size_t i = 0; i < need.size(); ++i) set |= ResourceSet{need[i] != 0} << i;
  Place& place = places_[q];
  if (place.group == nowhere || groups_[place.group].set != set || place.stopped != stopped) {
    leave(lines, q, now);
    place = {group_of(set), stopped};
    ++(stopped ? groups_[place.group].stopped : groups_[place.group].open);
  }
  Group& group = groups_[place.group];
  if (stopped) {
    for_each_resource(set, [&](std::size_t i) { group.needs[i].set(lines, q, need[i], now); });
  } else {
    group.tournament.set(lines, q, true, now);
  }
}

void Turns::clear(const Line* lines, QueueIndex q, std::uint64_t now) { leave(lines, q, now); }

QueueIndex Turns::first(const Line* lines, ResourceSet blocked, std::span<const std::uint64_t> free, std::uint64_t now) {
  QueueIndex best = no_queue;
  const auto offer = [&](QueueIndex q) {
    if (q != no_queue && (best == no_queue || ByKey::before(lines, q, best, now))) best = q;
  };
  for (Group& group : groups_) {
    if ((group.set & blocked) != 0) continue;
    if (group.open != 0) offer(group.tournament.first(lines, now));
    if (group.stopped == 0 || free.empty()) continue;
    for_each_resource(group.set, [&](std::size_t i) { offer(group.needs[i].first_above(lines, free[i], now)); });
  }
  return best;
}

}  // namespace evenkeel::broker::detail
