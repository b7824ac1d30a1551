#include "evenkeel/broker/detail/kinetic.h"

#include <algorithm>
#include <utility>

#include "evenkeel/broker/detail/treap.h"

namespace evenkeel::broker::detail {

struct NeedOrder::Nodes {
  static constexpr bool sums = true;
  NeedOrder* order;

  PlaceIndex& left(PlaceIndex at) const { return order->places_[at].left; }
  PlaceIndex& right(PlaceIndex at) const { return order->places_[at].right; }
  PlaceIndex& parent(PlaceIndex at) const { return order->places_[at].parent; }
  std::uint64_t height(PlaceIndex at) const {
    const std::uint64_t mixed = (at + 1) * 0x9E3779B97F4A7C15u;
    return (mixed ^ (mixed >> 29)) * 0xD6E8FEB86659FD93u;
  }
  void sum_up(PlaceIndex at) const { order->sum_up(at); }
};

void NeedOrder::reserve(std::size_t queues, std::size_t resources) {
  if (!places_.empty()) return;
  resources_ = resources;
  places_.resize(queues);
  place_of_.assign(queues, no_place);
  needs_.resize(queues * resources);
  maxima_.resize(queues * resources);
  sorted_.reserve(queues);
  for (std::size_t i = queues; i-- > 0;) free_places_.push_back(static_cast<PlaceIndex>(i));
}

void NeedOrder::sum_up(PlaceIndex at) {
  Place& place = places_[at];
  std::uint64_t* const most = &maxima_[at * resources_];
  std::copy_n(&needs_[place.queue * resources_], resources_, most);
  place.expires = place.until;
  for (const PlaceIndex child : {place.left, place.right}) {
    if (child == no_place) continue;
    place.expires = std::min(place.expires, places_[child].expires);
    for (std::size_t i = 0; i < resources_; ++i) most[i] = std::max(most[i], maxima_[child * resources_ + i]);
  }
}

void NeedOrder::certify(const Line* lines, PlaceIndex at, std::uint64_t now) {
  Place& place = places_[at];
  place.until = never;
  if (place.next == no_place) return;
  const Duel duel = ByKey::duel(lines, place.queue, places_[place.next].queue, now);
  place.until = duel.winner == place.queue ? duel.expires : 0;
}

void NeedOrder::certify_and_sum(const Line* lines, PlaceIndex at, std::uint64_t now) {
  certify(lines, at, now);
  sum_up(at);
  Treap<Nodes>({this}, root_).sum_up_above(at);
}

void NeedOrder::insert(const Line* lines, QueueIndex q, std::span<const std::uint64_t> need, std::uint64_t now) {
  advance(lines, now);
  const PlaceIndex at = free_places_.back();
  free_places_.pop_back();
  Place& place = places_[at];
  place = {.queue = q};
  place_of_[q] = at;
  std::ranges::copy(need, &needs_[q * resources_]);
  PlaceIndex parent = no_place;
  bool as_left = false;
  for (PlaceIndex down = root_; down != no_place; down = as_left ? places_[down].left : places_[down].right) {
    parent = down;
    as_left = ByKey::before(lines, q, places_[down].queue, now);
  }
  if (parent != no_place) {
    place.next = as_left ? parent : places_[parent].next;
    place.previous = as_left ? places_[parent].previous : parent;
    if (place.next != no_place) places_[place.next].previous = at;
    if (place.previous != no_place) places_[place.previous].next = at;
  }
  ++size_;
  certify(lines, at, now);
  Treap<Nodes>({this}, root_).insert(at, parent, as_left);
  if (place.previous != no_place) certify_and_sum(lines, place.previous, now);
}

void NeedOrder::erase(const Line* lines, QueueIndex q, std::uint64_t now) {
  const PlaceIndex at = std::exchange(place_of_[q], no_place);
  Treap<Nodes>({this}, root_).erase(at);
  --size_;
  const auto [previous, next] = std::pair(places_[at].previous, places_[at].next);
  free_places_.push_back(at);
  if (next != no_place) places_[next].previous = previous;
  if (previous == no_place) return;
  places_[previous].next = next;
  certify_and_sum(lines, previous, now);
}

void NeedOrder::swap_with_next(const Line* lines, PlaceIndex at, std::uint64_t now) {
  const PlaceIndex next = places_[at].next;
  std::swap(places_[at].queue, places_[next].queue);
  place_of_[places_[at].queue] = at;
  place_of_[places_[next].queue] = next;
  certify_and_sum(lines, next, now);
  certify_and_sum(lines, at, now);
  if (places_[at].previous != no_place) certify_and_sum(lines, places_[at].previous, now);
}

// Brings the order up to now. Each exchange of neighbours removes one inversion; when there are too many, all are sorted.
void NeedOrder::advance(const Line* lines, std::uint64_t now) {
  if (root_ == no_place) return;
  if (now == never) return sort(lines, now);  // no moment is later, so none can mean that there is nothing to look at
  std::size_t budget = 4 + size_ / 8;
  while (places_[root_].expires <= now) {
    if (budget-- == 0) return sort(lines, now);
    PlaceIndex at = root_;
    while (places_[at].until > now) {
      const PlaceIndex left = places_[at].left;
      at = left != no_place && places_[left].expires <= now ? left : places_[at].right;
    }
    const Duel duel = ByKey::duel(lines, places_[at].queue, places_[places_[at].next].queue, now);
    if (duel.winner == places_[at].queue) {
      certify_and_sum(lines, at, now);
    } else {
      swap_with_next(lines, at, now);
    }
  }
}

void NeedOrder::sort(const Line* lines, std::uint64_t now) {
  PlaceIndex first = root_;
  while (places_[first].left != no_place) first = places_[first].left;
  sorted_.clear();
  for (PlaceIndex at = first; at != no_place; at = places_[at].next) sorted_.push_back(places_[at].queue);
  std::ranges::sort(sorted_, [&](QueueIndex a, QueueIndex b) { return ByKey::before(lines, a, b, now); });
  auto queue = sorted_.begin();
  for (PlaceIndex at = first; at != no_place; at = places_[at].next) {
    places_[at].queue = *queue++;
    place_of_[places_[at].queue] = at;
  }
  for (PlaceIndex at = first; at != no_place; at = places_[at].next) certify(lines, at, now);
  sum_up_all(root_);
}

void NeedOrder::sum_up_all(PlaceIndex at) {
  if (at == no_place) return;
  sum_up_all(places_[at].left);
  sum_up_all(places_[at].right);
  sum_up(at);
}

bool NeedOrder::any_beyond(const std::uint64_t* need, std::span<const std::uint64_t> free) const {
  for (std::size_t i = 0; i < resources_; ++i) {
    if (need[i] > free[i]) return true;
  }
  return false;
}

// Subtrees without such a need are not entered; one that lies wholly after `from` and is entered has an answer. So the way down is
// walked once, along the border of `from`, and once more from there.
NeedOrder::PlaceIndex NeedOrder::find(const Line* lines, PlaceIndex at, Cursor from, std::span<const std::uint64_t> free,
                                      std::uint64_t now) const {
  if (at == no_place || !any_beyond(&maxima_[at * resources_], free)) return no_place;
  const Place& place = places_[at];
  const UInt128 key = lines[place.queue].key_at(now);
  if (key < from.key || (key == from.key && place.queue < from.queue)) return find(lines, place.right, from, free, now);
  if (const PlaceIndex found = find(lines, place.left, from, free, now); found != no_place) return found;
  if (any_beyond(&needs_[place.queue * resources_], free)) return at;
  return find(lines, place.right, from, free, now);
}

QueueIndex NeedOrder::first_beyond(const Line* lines, Cursor from, std::span<const std::uint64_t> free, std::uint64_t now) {
  advance(lines, now);
  const PlaceIndex found = find(lines, root_, from, free, now);
  return found == no_place ? no_queue : places_[found].queue;
}

}  // namespace evenkeel::broker::detail
