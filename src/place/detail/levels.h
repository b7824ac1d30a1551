#pragma once
// How full each node is relative to its fair share, kept in order while things move: who stands out, and who could help.

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "evenkeel/place/detail/board.h"
#include "evenkeel/place/detail/family_sums.h"

namespace evenkeel::place::detail {

class Levels {
 public:
  explicit Levels(const Board& board);

  // usage / fair share - 1, where it is largest, and where it is smallest; nodes that take no part are level.
  double highest(std::uint32_t node) const;
  double lowest(std::uint32_t node) const;
  double highest() const { return order_.empty() ? 0 : std::get<0>(*order_.rbegin()); }  // of all nodes
  std::size_t fullest_dimension(std::uint32_t node) const;
  // Usage above the fair share, in units.
  double above_fair(std::uint32_t node, std::size_t dimension) const;
  double fair(std::size_t dimension) const { return fair_[dimension]; }  // of one unit of share
  bool levelled(std::size_t dimension) const { return fair_[dimension] > 0; }
  double above_soft(std::uint32_t node) const;  // by how many parts of the limit, where it is worst; at most 0 if below

  // Up to `most` nodes, the emptiest or fullest first, of all and then of those in one domain with `node` in some partition.
  void emptiest(std::uint32_t node, std::size_t most, std::vector<std::uint32_t>& found) const;
  void fullest(std::uint32_t node, std::size_t most, std::vector<std::uint32_t>& found) const;
  // After a change of these nodes' usage.
  void update(const Trial& trial);

  // A replica's load, with what it carries as a leader.
  Amount load(std::uint32_t replica, std::size_t dimension) const;
  // What the level goals say of a shift, without asking any rule: O(dimensions).
  double shift_gain(std::uint32_t replica, std::uint32_t from, std::uint32_t to) const;
  double swap_gain(std::uint32_t one, std::uint32_t other) const;
  // A replica's size: its parts of the whole cluster's load, summed over the dimensions.
  double size(std::uint32_t replica) const;
  const FamilySums& families() const { return families_; }

 private:
  using Key = std::tuple<double, std::uint64_t, std::uint32_t>;
  void take(const std::set<Key>& from, std::uint32_t node, std::size_t most, bool fullest,
            std::vector<std::uint32_t>& found) const;
  double family_change(std::uint32_t replica, std::uint32_t node, int sign) const;

  const Board& board_;
  std::vector<double> fair_, totals_;
  std::vector<double> key_;                          // by node: as it stands in the orders
  std::set<Key> order_;                              // nodes that take part, by highest()
  std::vector<std::vector<std::set<Key>>> domains_;  // by partition and domain
  FamilySums families_;
  bool has_families_ = false;
};

}  // namespace evenkeel::place::detail
