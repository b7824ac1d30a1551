#pragma once
// Folding: the longest run of nodes, from the first on, that one entry with ranges says exactly. The inverse of expanding a range.

#include <cstdint>
#include <span>
#include <string>

#include "evenkeel/model/cluster.h"

namespace evenkeel::detail {

struct Fold {
  std::size_t count = 1;  // how many nodes the entry stands for
  std::string name;       // with its range, if count > 1
  std::string zone;
};

// Only runs of at least three are folded. O(length of the run), so that folding a list piece by piece is linear.
Fold fold_first(std::span<const Node> nodes);

}  // namespace evenkeel::detail
