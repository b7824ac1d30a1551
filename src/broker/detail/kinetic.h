#pragma once
// Kinetic trees over queues: who is first now, although the order changes while time passes.
//
// Every subtree knows its winner and the first moment at which a duel in it must be fought again. A query at a later time fights
// only the duels that have expired by then; a change of one queue those on its path, and stops where nothing changed.
//
//   Tournament<ByKey>   a plain knock-out over all queues that take part: the first of all
//   NeedOrder           the whole order, with the largest needs of every subtree: the first, from some key on, that needs more than is free
//
// Neither allocates after `reset` and `reserve`. Both hold pointers to nothing: lines are passed in.

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "evenkeel/broker/detail/line.h"

namespace evenkeel::broker::detail {

template <class Order>
class Tournament {
 public:
  void reset(std::size_t queues) {
    leaves_ = std::bit_ceil(std::max<std::size_t>(queues, 1));
    nodes_.assign(2 * leaves_, {});
  }

  // Queue `q` takes part from now on, or not, or its line changed.
  void set(const Line* lines, QueueIndex q, bool present, std::uint64_t now) {
    Node* const nodes = nodes_.data();
    std::size_t at = leaves_ + q;
    nodes[at].winner = present ? q : no_queue;
    for (at /= 2; at != 0; at /= 2) {
      const Node after = fight(lines, nodes[2 * at], nodes[2 * at + 1], now);
      const Node before = std::exchange(nodes[at], after);
      // A node that q neither won nor wins, and whose moment is the same, changes nothing further up.
      if (before.winner == after.winner && after.winner != q && before.expires == after.expires) return;
    }
  }

  QueueIndex first(const Line* lines, std::uint64_t now) {
    if (nodes_[1].expires <= now) repair(lines, 1, now);
    return nodes_[1].winner;
  }

 private:
  struct Node {
    QueueIndex winner = no_queue;
    std::uint64_t expires = never;
  };

  static Node fight(const Line* lines, const Node& left, const Node& right, std::uint64_t now) {
    if (left.winner == no_queue) return right;
    if (right.winner == no_queue) return left;
    const Duel duel = Order::duel(lines, left.winner, right.winner, now);
    return {duel.winner, std::min(duel.expires, std::min(left.expires, right.expires))};
  }

  void repair(const Line* lines, std::size_t at, std::uint64_t now) {
    if (at >= leaves_ || nodes_[at].expires > now) return;
    repair(lines, 2 * at, now);
    repair(lines, 2 * at + 1, now);
    nodes_[at] = fight(lines, nodes_[2 * at], nodes_[2 * at + 1], now);
  }

  std::size_t leaves_ = 1;
  std::vector<Node> nodes_ = std::vector<Node>(2);  // [1] is the root, [leaves_ + q] the leaf of q
};

// Where a search in the order of keys begins: at this key and rank, included.
struct Cursor {
  UInt128 key = 0;
  QueueIndex queue = 0;
};

// The order is that of the places; which queue is at which place changes as keys overtake each other: neighbours change places.
// After a long silence, in which many did, all are sorted anew.
class NeedOrder {
 public:
  void reserve(std::size_t queues, std::size_t resources);
  bool empty() const { return root_ == no_place; }

  // Lines of queues in here must not change: erase them first, all of them, and insert them again.
  void insert(const Line* lines, QueueIndex q, std::span<const std::uint64_t> need, std::uint64_t now);
  void erase(const Line* lines, QueueIndex q, std::uint64_t now);
  // The first from `from` on that needs more of anything than `free`, or none.
  QueueIndex first_beyond(const Line* lines, Cursor from, std::span<const std::uint64_t> free, std::uint64_t now);

 private:
  using PlaceIndex = std::uint32_t;
  static constexpr PlaceIndex no_place = ~PlaceIndex{0};
  struct Place {
    PlaceIndex left = no_place;
    PlaceIndex right = no_place;
    PlaceIndex parent = no_place;
    PlaceIndex previous = no_place;
    PlaceIndex next = no_place;
    QueueIndex queue = no_queue;
    std::uint64_t until = never;    // when its order with the next one must be looked at again
    std::uint64_t expires = never;  // the least such moment of the subtree
  };
  struct Nodes;
  friend struct Nodes;

  void advance(const Line* lines, std::uint64_t now);
  void sort(const Line* lines, std::uint64_t now);
  void certify(const Line* lines, PlaceIndex at, std::uint64_t now);
  void certify_and_sum(const Line* lines, PlaceIndex at, std::uint64_t now);
  void swap_with_next(const Line* lines, PlaceIndex at, std::uint64_t now);
  void sum_up(PlaceIndex at);
  void sum_up_all(PlaceIndex at);
  bool any_beyond(const std::uint64_t* need, std::span<const std::uint64_t> free) const;
  PlaceIndex find(const Line* lines, PlaceIndex at, Cursor from, std::span<const std::uint64_t> free, std::uint64_t now) const;

  std::size_t resources_ = 0;
  std::vector<Place> places_;
  std::vector<PlaceIndex> free_places_;
  std::vector<PlaceIndex> place_of_;   // by queue
  std::vector<std::uint64_t> needs_;   // [queue * resources + resource]
  std::vector<std::uint64_t> maxima_;  // [place * resources + resource], over the subtree
  std::vector<QueueIndex> sorted_;     // scratch
  PlaceIndex root_ = no_place;
  std::size_t size_ = 0;
};

}  // namespace evenkeel::broker::detail
