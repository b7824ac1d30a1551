#pragma once
// Which replicas of a packing are on each node, kept while they move.

#include <cstdint>
#include <vector>

#include "evenkeel/place/detail/pack_state.h"

namespace evenkeel::place::detail {

class PackLists {
 public:
  // In order of number at first.
  explicit PackLists(Packing& packing);

  const std::vector<std::uint32_t>& on(std::uint32_t node) const { return on_[node]; }
  void put(std::uint32_t replica, std::uint32_t node);
  void take(std::uint32_t replica);
  void shift(std::uint32_t replica, std::uint32_t node);
  void swap(std::uint32_t one, std::uint32_t other);
  // The slot's replica leads its shard from now on; what slots 0 and `slot` were called is exchanged.
  void lead(std::uint32_t shard, std::uint32_t slot);

 private:
  Packing& packing_;
  std::vector<std::vector<std::uint32_t>> on_;
  std::vector<std::uint32_t> place_;  // by replica: where it is in its node's list
};

}  // namespace evenkeel::place::detail
