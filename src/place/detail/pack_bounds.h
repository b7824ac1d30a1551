#pragma once
// Simple bounds that show that no packing exists.

#include <optional>

#include "evenkeel/place/detail/pack.h"

namespace evenkeel::place::detail {

struct NoPack {
  std::optional<NoDeal> bound;
  std::size_t dimension = 0;
};

// Nothing: these bounds do not rule it out. O(nodes · log nodes + shards) per dimension.
std::optional<NoPack> why_no_pack(const Pack& request);
// Whether that one shard has fewer nodes, or domains, that it fits on than it has replicas. O(nodes).
std::optional<NoPack> why_no_home(const Pack& request, std::uint32_t shard);
// The dimension in which the request comes nearest to what fits, or goes furthest beyond.
std::size_t tightest_dimension(const Pack& request);

}  // namespace evenkeel::place::detail
