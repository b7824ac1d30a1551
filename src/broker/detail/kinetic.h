#pragma once
// Kinetic trees over queues: who is first now, although the order changes while time passes.
//
// Every subtree knows its winner and the first moment at which a duel in it must be fought again. A query at a later time fights
// only the duels that have expired by then; a change of one queue those on its path, and stops where nothing changed.
//
//   Tournament<ByKey>   a plain knock-out over all queues that take part: the first of all
//   NeedTree            ordered by how much each queue's first task needs of one resource: the first of those that need more than x
//
// Neither allocates after `reset` and `reserve`. Both hold pointers to nothing: lines are passed in.

#include <bit>
#include <cstdint>
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
    std::size_t at = leaves_ + q;
    nodes_[at].winner = present ? q : no_queue;
    for (at /= 2; at != 0; at /= 2) {
      const Node before = nodes_[at];
      fight(lines, at, now);
      // A node that q neither won nor wins, and whose moment is the same, changes nothing further up.
      if (before.winner == nodes_[at].winner && before.winner != q && before.expires == nodes_[at].expires) return;
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

  void fight(const Line* lines, std::size_t at, std::uint64_t now) {
    const Node left = nodes_[2 * at], right = nodes_[2 * at + 1];
    if (left.winner == no_queue || right.winner == no_queue) {
      nodes_[at] = left.winner == no_queue ? right : left;
      return;
    }
    const Duel duel = Order::duel(lines, left.winner, right.winner, now);
    nodes_[at] = {duel.winner, std::min({duel.expires, left.expires, right.expires})};
  }

  void repair(const Line* lines, std::size_t at, std::uint64_t now) {
    if (at >= leaves_ || nodes_[at].expires > now) return;
    repair(lines, 2 * at, now);
    repair(lines, 2 * at + 1, now);
    fight(lines, at, now);
  }

  std::size_t leaves_ = 1;
  std::vector<Node> nodes_ = std::vector<Node>(2);  // [1] is the root, [leaves_ + q] the leaf of q
};

// A treap: ordered by (need, queue), and by a fixed mixture of the queue's number as a heap, so its shape depends on its content alone.
class NeedTree {
 public:
  void reserve(std::size_t queues) { nodes_.resize(queues); }

  // Adds `q`, or moves it to another need, or notes that its line changed.
  void set(const Line* lines, QueueIndex q, std::uint64_t need, std::uint64_t now);
  void erase(const Line* lines, QueueIndex q, std::uint64_t now);
  // The first of those that need more than `free`, or none.
  QueueIndex first_above(const Line* lines, std::uint64_t free, std::uint64_t now);

 private:
  struct Node {
    QueueIndex left = no_queue;
    QueueIndex right = no_queue;
    QueueIndex winner = no_queue;  // of the subtree
    bool present = false;
    std::uint64_t need = 0;
    std::uint64_t expires = never;
  };

  bool before(QueueIndex a, QueueIndex b) const {
    return nodes_[a].need != nodes_[b].need ? nodes_[a].need < nodes_[b].need : a < b;
  }
  void fight(const Line* lines, QueueIndex at, std::uint64_t now);
  void repair(const Line* lines, QueueIndex at, std::uint64_t now);
  QueueIndex insert(const Line* lines, QueueIndex at, QueueIndex q, std::uint64_t now);
  QueueIndex remove(const Line* lines, QueueIndex at, QueueIndex q, std::uint64_t now);
  void refresh(const Line* lines, QueueIndex at, QueueIndex q, std::uint64_t now);
  QueueIndex join(const Line* lines, QueueIndex left, QueueIndex right, std::uint64_t now);
  void split(const Line* lines, QueueIndex at, QueueIndex q, QueueIndex& left, QueueIndex& right, std::uint64_t now);

  std::vector<Node> nodes_;  // by queue
  QueueIndex root_ = no_queue;
};

}  // namespace evenkeel::broker::detail
