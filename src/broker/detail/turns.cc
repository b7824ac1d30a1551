#include "evenkeel/broker/detail/turns.h"

#include <algorithm>
#include <bit>

namespace evenkeel::broker::detail {

ResourceSet set_of(std::span<const std::uint64_t> need) {
  ResourceSet set = 0;
  for (std::size_t i = 0; i < need.size(); ++i) set |= ResourceSet{need[i] != 0} << i;
  return set;
}

void Turns::reset(std::size_t queues, std::size_t resources) {
  resources_ = resources;
  is_few_ = queues <= few_max;
  few_ = {};
  if (is_few_) {
    few_.needing.assign(resources, 0);
    few_.needs.assign(queues * resources, 0);
  }
  places_.assign(is_few_ ? 0 : queues, {});
  groups_.clear();
}

void Turns::set_few(QueueIndex q, std::span<const std::uint64_t> need, bool stopped) {
  const QueueSet own = QueueSet{1} << q;
  few_.waiting |= own;
  few_.stopped = (few_.stopped & ~own) | QueueSet{stopped} << q;
  std::uint64_t* const needs = few_.needs.data() + q * resources_;
  for (std::size_t i = 0; i < need.size(); ++i) {
    needs[i] = need[i];
    few_.needing.data()[i] = (few_.needing.data()[i] & ~own) | QueueSet{need[i] != 0} << q;
  }
}

Turns::QueueSet Turns::needing_any_of(ResourceSet set) const {
  QueueSet queues = 0;
  for (; set != 0; set &= set - 1) queues |= few_.needing[static_cast<std::size_t>(std::countr_zero(set))];
  return queues;
}

QueueIndex Turns::first_of_few(const Line* lines, ResourceSet blocked, Cursor from, std::span<const std::uint64_t> free,
                               std::uint64_t now) const {
  const QueueSet eligible = few_.waiting & ~needing_any_of(blocked);
  QueueIndex best = no_queue;
  UInt128 best_key = ~UInt128{0};
  for (QueueSet rest = eligible & ~few_.stopped; rest != 0; rest &= rest - 1) {
    const auto q = static_cast<QueueIndex>(std::countr_zero(rest));
    const UInt128 key = lines[q].key_at(now);
    // In order of rank, so that of equals the first stays. Which is less is a toss: no branch.
    const bool less = bool(key < best_key) | bool(best == no_queue);
    best = less ? q : best;
    best_key = less ? key : best_key;
  }
  if (free.empty()) return best;
  for (QueueSet rest = eligible & few_.stopped; rest != 0; rest &= rest - 1) {
    const auto q = static_cast<QueueIndex>(std::countr_zero(rest));
    const UInt128 key = lines[q].key_at(now);
    const bool first = best == no_queue || key < best_key || (key == best_key && q < best);
    if (!first || key < from.key || (key == from.key && q < from.queue)) continue;
    const std::uint64_t* const needs = few_.needs.data() + q * resources_;
    if (std::equal(free.begin(), free.end(), needs, [](std::uint64_t left, std::uint64_t need) { return need <= left; }))
      continue;
    best = q;
    best_key = key;
  }
  return best;
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
  if (is_few_) return;
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
  if (is_few_) return set_few(q, need, stopped);
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

void Turns::clear(const Line* lines, QueueIndex q, std::uint64_t now) {
  if (!is_few_) return leave(lines, q, now);
  few_.waiting &= ~(QueueSet{1} << q);
  few_.stopped &= few_.waiting;
}

bool Turns::all_need_any_of(ResourceSet set) const {
  if (is_few_) return (few_.waiting & ~needing_any_of(set)) == 0;
  for (const auto& group : groups_) {
    if (group->open + group->stopped != 0 && (group->set & set) == 0) return false;
  }
  return true;
}

QueueIndex Turns::first(const Line* lines, ResourceSet blocked, Cursor from, std::span<const std::uint64_t> free,
                        std::uint64_t now) {
  if (is_few_) return first_of_few(lines, blocked, from, free, now);
  QueueIndex best = no_queue;
  UInt128 best_key = 0;
  const auto offer = [&](QueueIndex q) {
    if (q == no_queue) return;
    const UInt128 key = lines[q].key_at(now);
    if (best != no_queue && (key > best_key || (key == best_key && q > best))) return;
    best = q;
    best_key = key;
  };
  for (const auto& group : groups_) {
    if ((group->set & blocked) != 0) continue;
    if (group->open != 0) offer(group->tournament.first(lines, now));
    if (group->stopped != 0 && !free.empty()) offer(group->order.first_beyond(lines, from, free, now));
  }
  return best;
}

}  // namespace evenkeel::broker::detail
