#pragma once
// Dealing alike replicas: k shards of r replicas each, all of one load, to nodes with so many free slots each. It fails only if
// no placement exists.
//
// Why this needs no search: k shards of r replicas on different nodes fit free slots c_i exactly when Σ min(c_i, k) ≥ r·k; with
// hard spread the same holds of domains, c_d = Σ of the domain's slots. Quotas are chosen first, as level as they can be (each
// node's fill rises to one common level in proportion to its share), then shards take their nodes one by one. With t shards
// left, a node or domain with quota x left gives ⌊x/t⌋ or ⌈x/t⌉ replicas to the next one; either leaves quotas of which the
// same can be said, so the choice is free, and is made so that every pair of nodes shares about equally many shards. The first
// of each row, who leads, is chosen last, so that each node leads about one in r of its rows.
//
// Spread goes before level. Soft spread is dealt as if it were hard where that is possible; where not, every domain gives one
// replica to as many shards as it can, and what is left over repeats domains, in no shard more than once more than in another.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evenkeel/model/cluster.h"

namespace evenkeel::place::detail {

struct Deal {
  std::uint32_t shards = 0;
  std::uint32_t replicas = 0;
  bool hard = false;  // at most one replica of a shard in a domain; else as many domains as possible
  // Per node, in order of name, all finite; nodes that may not hold the workload have no slots.
  std::span<const std::uint64_t> slots;    // how many more of these replicas fit
  std::span<const std::uint32_t> domains;  // numbers of domains of the spread level, 0…
  std::span<const double> share;  // what part of the request should be its own, relative to the others'; 0: none, unless needed
  std::span<const double> fill;   // what it holds already, in replicas of this size: the level starts there
  std::span<const std::uint64_t> salt;  // a hash of seed, workload and the node's name: ties end with it, mixed with the shard
  std::span<const std::uint8_t> leads;  // whether it may be first in a row where another could; empty: all may
};

// Why it cannot be.
struct NoDeal {
  enum class Bound : std::uint8_t { nodes, spread, slots };
  Bound bound = Bound::nodes;
  std::uint64_t needed = 0;  // nodes: nodes with a slot; spread: domains with one; slots: replicas
  std::uint64_t found = 0;
};

struct Dealt {
  Rows<NodeIndex> rows;      // by shard; indexes into the spans
  std::optional<NoDeal> no;  // then there are no rows
};

// Whether it can be, in O(nodes), without memory for the shards.
std::optional<NoDeal> why_no_deal(const Deal& deal);

// Some tens of comparisons per replica, whatever the number of nodes, after O(nodes · log nodes). A million shards of three
// replicas on ten thousand nodes take half a second. For up to 2048 nodes it keeps a table of pairs, of at most 16 MB; beyond,
// pairs are left to chance.
Dealt deal(const Deal& deal);

}  // namespace evenkeel::place::detail
