#pragma once
// Which nodes a workload may be on, and which of them share a domain: what planner, allocator and methods ask of a cluster.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/model/cluster.h"

namespace evenkeel::place::detail {

// How many parts of a zone path make a domain of this level; nothing if no level has that name.
std::optional<std::size_t> depth_of(const Settings& settings, std::string_view level);

// The workload's own, or the cluster's.
const Spread& spread_of(const Settings& settings, const Workload& workload);

// The text that two nodes have in common exactly if they share a domain. A node without a zone is its own; a path shorter than the level
// is one domain.
std::string domain_of(const NodeId& name, std::string_view zone, std::size_t depth);
// For people: that of the workload's spread, "dc1", or the node's own name.
std::string domain_name(const Settings& settings, const Workload& workload, const Node& node);

// The parts of a path: "dc1/r1" is dc1 and r1.
std::vector<std::string_view> parts_of(std::string_view zone);

// Whether labels and taints let the workload be there, whatever the node's status.
bool is_able(const Node& node, const Workload& workload);
// The label that the node lacks or the taint that keeps the workload away: "has no label disk=ssd". Empty if it is able.
std::string why_not_able(const Node& node, const Workload& workload);
// The same, and before it the status that keeps everything away: "draining".
std::string why_takes_none(const Node& node, const Workload& workload);

// Whether a taint that is not tolerated asks to keep the workload away where there are others.
bool is_avoided(const Node& node, const Workload& workload);

// Whether the status lets a node get replicas.
inline bool takes(NodeStatus status) { return status == NodeStatus::up || status == NodeStatus::no_leaders; }
inline bool may_lead(const Node& node) { return node.leaders && node.status != NodeStatus::no_leaders; }

}  // namespace evenkeel::place::detail
