#pragma once
// What nodes have, weigh and hold in all, for methods: capacities with the mean where none is named, weights for draws, sums for limits.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "evenkeel/model/cluster.h"
#include "evenkeel/place/plan.h"

namespace evenkeel::place::detail {

class MethodUsage {
 public:
  explicit MethodUsage(const Cluster& cluster);

  // By node: its power times its capacity in the workload's dominant resource, or times its cores, scaled to DrawNode's weights by a
  // power of two.
  std::vector<std::uint64_t> weights(const Workload& workload) const;

  void add(const Workload& workload, const Placement& rows);

  // "disk 97% > 95%" of a resource that the workload loads, if the node is above its hard limit in it; else empty.
  std::string why_full(NodeIndex node, const Workload& workload) const;
  // "12 replicas > 10", or empty.
  std::string why_too_many(NodeIndex node) const;

  std::map<ResourceId, Balance> balance() const;

 private:
  // The node's own, or the mean of those that name it; nothing if none does.
  std::optional<Quantity> capacity(NodeIndex node, const ResourceId& resource) const;
  std::optional<ResourceId> dominant(const Workload& workload) const;

  const Cluster& cluster_;
  std::map<ResourceId, Quantity> mean_;               // of the capacities that are named
  Quantity mean_cores_{1};                            // likewise
  std::map<ResourceId, std::vector<Quantity>> load_;  // by node, without what Evenkeel does not manage
  std::vector<std::uint64_t> counted_;                // by node: replicas that the count limit counts
};

// How many counted replicas the settings allow on a node; nothing: any number.
std::optional<std::uint64_t> slots_of(const Settings& settings, const Node& node);

// Whether an amount is above the node's hard limit of that capacity.
bool above_limit(const Settings& settings, const Node& node, Quantity amount, Quantity capacity);

}  // namespace evenkeel::place::detail
