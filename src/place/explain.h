#pragma once
// Why a shard is where it is, node by node, as data.
//
//   auto why = place::explain(cluster, options, shard);          // plans, and looks at the result
//   for (const NodeVerdict& node : why->nodes) ...               // every node, in order of name

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/place/place.h"

namespace evenkeel::place {

struct NodeVerdict {
  enum class Kind : std::uint8_t {
    leads,   // holds the shard and leads it
    holds,   // holds it
    leaves,  // held it, and the plan takes it away
    could,   // nothing forbids it, but it would be worse or no better
    cannot,  // a hard rule forbids it
  };
  NodeIndex node;
  Kind kind = Kind::could;
  std::string reason;  // "disk 96%+1% > 95%"; "2 replicas in dc1 instead of 1"; "load would be less level by 0.3%"
  friend bool operator==(const NodeVerdict&, const NodeVerdict&) = default;
};
// As text: "leads", "holds", …
std::string_view name(NodeVerdict::Kind kind);

struct Explanation {
  ShardId shard;
  std::vector<NodeIndex> before;     // its row in the cluster
  std::vector<NodeIndex> after;      // and in the plan
  std::vector<std::string> summary;  // sentences: refusals, violations, moves of this shard, why nothing moved
  std::vector<NodeVerdict> nodes;
  friend bool operator==(const Explanation&, const Explanation&) = default;
};

std::optional<Explanation> explain(const Cluster& cluster, const PlanOptions& options, const ShardId& shard);

std::string format_explanation(const Cluster& cluster, const Explanation& explanation, Syntax syntax);
// For people.
std::string format_explanation(const Cluster& cluster, const Explanation& explanation);

}  // namespace evenkeel::place
