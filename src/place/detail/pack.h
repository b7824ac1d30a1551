#pragma once
// Packing unlike replicas: a request of shards that differ in load, or whose leader carries more, placed from nothing onto nodes that may
// hold something already. All or nothing; bin packing, so a refusal is no proof unless a simple bound gives one.
//
// Large shards first, each replica to the node where it does least harm to the level; then the result is refined by shifts and swaps
// within the request until no node stands out. Everything else stays where it is.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evenkeel/model/cluster.h"
#include "evenkeel/place/detail/deal.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place::detail {

struct Pack {
  std::uint32_t shards = 0;
  std::uint32_t replicas = 0;
  bool hard = false;              // at most one replica of a shard in a domain; else as many domains as possible
  std::size_t width = 0;          // dimensions
  std::span<const Amount> loads;  // shards × width: of each replica
  std::span<const Amount> lead;   // width: what the first replica of every shard carries on top; may be all zero
  std::span<const Bar> barred;    // shards (as groups) and nodes that they may not be on; sorted
  // Per node, in order of name.
  std::span<const std::uint8_t> able;   // may hold the request
  std::span<const std::uint8_t> leads;  // may hold a first replica; without it only if the row has none that may
  std::span<const std::uint8_t> avoid;  // had better not; may be empty
  std::span<const std::uint32_t> domains;
  std::span<const std::uint64_t> salt;
  // Nodes × width.
  std::span<const Amount> usage;      // what will be there anyway: the level starts there
  std::span<const Amount> room;       // how much more fits under the hard limit at the peak; may be negative
  std::span<const Amount> soft_room;  // how much more fits under the soft limit; going above is worse than any unevenness
  std::span<const double> share;      // usage is to be in proportion to it; 0: takes no part in levels
  std::span<const double> weight;     // width: of Σ usage²/share of each dimension; 0: not levelled
  // The request's own balance: Σ of measures on a node in proportion to own_share.
  std::span<const Amount> measures;   // by shard
  std::span<const double> own_share;  // by node
  double own_weight = 0;              // of Σ own²/own_share; 0: not levelled by itself
};

struct Packed {
  Rows<NodeIndex> rows;         // by shard, the leader first
  bool found = false;           // else there are no rows
  bool proved = false;          // and none can exist
  std::size_t dimension = 0;    // the dimension that binds, if one does
  std::optional<NoDeal> bound;  // or the count of nodes or domains that does
  std::uint64_t evaluated = 0;
};

Packed pack(const Pack& request);

}  // namespace evenkeel::place::detail
