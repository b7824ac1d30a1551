#pragma once
// Where a replica could ever be, whatever else moves: the nodes that are able to hold it, and have room for it once everybody has left who
// can. What is held until its owner has left never becomes free: that rules out most nodes in tight problems, and a draw among the others
// is worth as many more.
//
// Cost: O(replicas × nodes × dimensions) once, and nothing of that above so many pairs of a replica and a node. A replica has a list of its
// own only if that leaves out an eighth of the able nodes or more, and lists have `lists_most` entries at most, all together, the largest
// replicas' first: for the others nodes are drawn among the able ones. Looking whether one could be on one node is O(dimensions).

#include <cstdint>
#include <span>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place {

class Reach {
 public:
  static constexpr std::size_t lists_most = std::size_t{1} << 22, pairs_most = std::size_t{1} << 28;

  // Only these have lists of their own, if they and the nodes make no more pairs than that; and so many entries in all of these.
  Reach(const State& state, std::span<const std::uint32_t> replicas, std::size_t pairs = pairs_most,
        std::size_t most = lists_most);

  bool could(std::uint32_t replica, std::uint32_t node) const;
  // How many nodes are drawn among for it.
  std::uint32_t nodes(std::uint32_t replica) const { return first_[list_of_[replica] + 1] - first_[list_of_[replica]]; }
  // The part of the able nodes that is beyond reach, over all of these, listed or not: 0 where everybody could be everywhere.
  double beyond() const { return able_ == 0 ? 0 : 1 - static_cast<double>(reached_) / static_cast<double>(able_); }
  // A node for the replica, drawn evenly; none if there is none. It may be one where the replica could not be.
  std::uint32_t any_node(std::uint32_t replica, Rng& rng) const {
    const std::uint32_t list = list_of_[replica];
    const std::uint32_t first = first_[list], many = first_[list + 1] - first;
    return many == 0 ? none : nodes_[first + static_cast<std::uint32_t>(rng.below(many))];
  }

 private:
  std::uint32_t look(std::uint32_t replica, std::uint32_t able_nodes, std::size_t most);

  const State& state_;
  std::vector<Amount> spare_;           // nodes × dimensions: room that no change can add to; or empty: no limits
  std::vector<std::uint32_t> list_of_;  // by replica
  std::vector<std::uint32_t> first_, nodes_;
  std::uint64_t able_ = 0, reached_ = 0;  // pairs of a replica and a node
};

}  // namespace evenkeel::place
