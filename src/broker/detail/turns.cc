#include "evenkeel/broker/detail/turns.h"

namespace evenkeel::broker::detail {

ResourceSet set_of(std::span<const std::uint64_t> need) {
  ResourceSet set = 0;
  for (std::size_t i = 0; i < need.size(); ++i) set |= ResourceSet{need[i] != 0} << i;
  return set;
}

void Turns::reset(std::size_t queues, std::size_t resources) {
  resources_ = resources;
  places_.assign(queues, {});
  groups_.clear();
}

std::uint32_t Turns::group_of(ResourceSet set) {
  std::uint32_t unused = nowhere;
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    const Group& group = *groups_[i];
    if (group.set == set) return i;
    if (group.open + group.stopped == 0 && unused == nowhere) unused = i;
  }
  if (unused == nowhere) {
    unused = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back(std::make_unique<Group>());
    groups_.back()->tournament.reset(places_.size());
  }
  groups_[unused]->set = set;
  return unused;
}

void Turns::set_aside(const Line* lines, QueueIndex q, std::uint64_t now) {
  Place& place = places_[q];
  if (!place.stopped || place.aside) return;
  groups_[place.group]->order.erase(lines, q, now);
  place.aside = true;
}

void Turns::leave(const Line* lines, QueueIndex q, std::uint64_t now) {
  Place& place = places_[q];
  if (place.group == nowhere) return;
  Group& group = *groups_[place.group];
  if (place.stopped) {
    set_aside(lines, q, now);
    --group.stopped;
  } else {
    group.tournament.set(lines, q, false, now);
    --group.open;
  }
  place = {};
}

void Turns::set(const Line* lines, QueueIndex q, std::span<const std::uint64_t> need, bool stopped, std::uint64_t now) {
  const ResourceSet set = set_of(need);
  Place& place = places_[q];
  if (place.group == nowhere || groups_[place.group]->set != set || place.stopped != stopped) {
    leave(lines, q, now);
    place = {.group = group_of(set), .stopped = stopped, .aside = stopped};
    ++(stopped ? groups_[place.group]->stopped : groups_[place.group]->open);
  }
  Group& group = *groups_[place.group];
  if (stopped) {
    set_aside(lines, q, now);
    group.order.reserve(places_.size(), resources_);
    group.order.insert(lines, q, need, now);
    place.aside = false;
  } else {
    group.tournament.set(lines, q, true, now);
  }
}

void Turns::clear(const Line* lines, QueueIndex q, std::uint64_t now) { leave(lines, q, now); }

bool Turns::all_need_any_of(ResourceSet set) const {
  for (const auto& group : groups_) {
    if (group->open + group->stopped != 0 && (group->set & set) == 0) return false;
  }
  return true;
}

QueueIndex Turns::first(const Line* lines, ResourceSet blocked, Cursor from, std::span<const std::uint64_t> free,
                        std::uint64_t now) {
  QueueIndex best = no_queue;
  const auto offer = [&](QueueIndex q) {
    if (q != no_queue && (best == no_queue || ByKey::before(lines, q, best, now))) best = q;
  };
  for (const auto& group : groups_) {
    if ((group->set & blocked) != 0) continue;
    if (group->open != 0) offer(group->tournament.first(lines, now));
    if (group->stopped != 0 && !free.empty()) offer(group->order.first_beyond(lines, from, free, now));
  }
  return best;
}

}  // namespace evenkeel::broker::detail
