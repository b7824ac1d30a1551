#pragma once
// A treap over nodes that live elsewhere: ordered by whatever the caller ordered them by, and by height as a heap.
//
// `Nodes` gives the links, and may keep sums over subtrees:
//   Link& left(Link), Link& right(Link), Link& parent(Link); std::uint64_t height(Link) const;
//   static constexpr bool sums; void sum_up(Link)    // from its two children and itself
// A link is a number, and the largest one means none. Nothing is allocated. Expected cost of insert and erase where the place is known:
// O(1) rotations, and O(log n) for sums.

#include <cstdint>
#include <limits>

namespace evenkeel::broker::detail {

template <class Nodes>
class Treap {
 public:
  using Link = std::uint32_t;
  static constexpr Link none = std::numeric_limits<Link>::max();

  explicit Treap(Nodes nodes, Link& root) : nodes_(nodes), root_(root) {}

  // Puts a node below `parent` (none: as the first), where there must be room, and restores the heap.
  void insert(Link at, Link parent, bool as_left) {
    nodes_.left(at) = nodes_.right(at) = none;
    nodes_.parent(at) = parent;
    (parent == none ? root_ : as_left ? nodes_.left(parent) : nodes_.right(parent)) = at;
    if constexpr (Nodes::sums) nodes_.sum_up(at);
    const std::uint64_t height = nodes_.height(at);
    while (nodes_.parent(at) != none && nodes_.height(nodes_.parent(at)) < height) rotate_up(at);
    sum_up_above(at);
  }

  void erase(Link at) {
    while (nodes_.left(at) != none && nodes_.right(at) != none) {
      const Link left = nodes_.left(at), right = nodes_.right(at);
      rotate_up(nodes_.height(left) > nodes_.height(right) ? left : right);
    }
    const Link below = nodes_.left(at) != none ? nodes_.left(at) : nodes_.right(at);
    replace_child(nodes_.parent(at), at, below);
    sum_up_above(at);
    nodes_.left(at) = nodes_.right(at) = nodes_.parent(at) = none;
  }

  // The neighbours in order.
  Link next(Link at) const { return step(at, &Nodes::right, &Nodes::left); }
  Link previous(Link at) const { return step(at, &Nodes::left, &Nodes::right); }

  void sum_up_above(Link at) {
    if constexpr (Nodes::sums) {
      for (at = nodes_.parent(at); at != none; at = nodes_.parent(at)) nodes_.sum_up(at);
    }
  }

 private:
  using Side = Link& (Nodes::*)(Link) const;

  Link step(Link at, Side ahead, Side back) const {
    if (Link down = (nodes_.*ahead)(at); down != none) {
      while ((nodes_.*back)(down) != none) down = (nodes_.*back)(down);
      return down;
    }
    Link up = nodes_.parent(at);
    for (; up != none && (nodes_.*ahead)(up) == at; up = nodes_.parent(up)) at = up;
    return up;
  }

  void replace_child(Link parent, Link child, Link by) {
    (parent == none ? root_ : nodes_.left(parent) == child ? nodes_.left(parent) : nodes_.right(parent)) = by;
    if (by != none) nodes_.parent(by) = parent;
  }

  void rotate_up(Link at) {
    const Link above = nodes_.parent(at);
    replace_child(nodes_.parent(above), above, at);
    const bool was_left = nodes_.left(above) == at;
    Link& inner = was_left ? nodes_.right(at) : nodes_.left(at);
    (was_left ? nodes_.left(above) : nodes_.right(above)) = inner;
    if (inner != none) nodes_.parent(inner) = above;
    inner = above;
    nodes_.parent(above) = at;
    if constexpr (Nodes::sums) {
      nodes_.sum_up(above);
      nodes_.sum_up(at);
    }
  }

  Nodes nodes_;
  Link& root_;
};

}  // namespace evenkeel::broker::detail
