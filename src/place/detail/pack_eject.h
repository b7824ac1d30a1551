#pragma once
// Homes for replicas that found none: one takes the place of up to three others, which then look for homes themselves.
//
// Each replica that fails becomes dearer to put out, so that the search does not go round in circles; the number of tries is bounded.

#include <cstdint>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/detail/pack_lists.h"
#include "evenkeel/place/detail/pack_state.h"

namespace evenkeel::place::detail {

class PackEject {
 public:
  PackEject(Packing& packing, PackLists& lists, Rng& rng);

  // Returns those that are still without a home after looking at about `budget` replicas and nodes.
  std::vector<std::uint32_t> run(std::vector<std::uint32_t> homeless, std::uint64_t budget);

 private:
  struct Victims {
    std::uint32_t node = none;
    std::vector<std::uint32_t> replicas;
    double price = 0;
  };

  bool allowed(std::uint32_t replica, std::uint32_t node) const;
  std::uint32_t home(std::uint32_t replica);
  Victims cheapest(std::uint32_t replica);
  bool victims_on(std::uint32_t node, std::uint32_t replica, double price_max, Victims& victims);
  std::uint32_t pick(std::uint32_t node, const std::vector<Amount>& missing, const std::vector<std::uint32_t>& taken,
                     bool& enough) const;

  Packing& packing_;
  PackLists& lists_;
  Rng& rng_;
  std::vector<std::uint32_t> price_;  // by replica
  std::uint64_t looked_at_ = 0;
};

}  // namespace evenkeel::place::detail
