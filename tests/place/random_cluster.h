#pragma once
// Random problems for the planner: small, whole, and with everything in them that a cluster file can say.
//
//   Rng rng(seed);
//   Cluster cluster = random_cluster(rng);        // check() finds nothing wrong with it
//   PlanOptions options = random_options(rng);
//
// Most can be met, and many only just: capacities follow from the loads and a drawn degree of fullness. Placements that exist are mostly
// level and obey the rules, with some replicas thrown anywhere; nodes then go down, drain or lose a label under them.

#include "evenkeel/base/rng.h"
#include "evenkeel/model/cluster.h"
#include "evenkeel/place/place.h"

namespace evenkeel::place {

struct Shape {
  std::uint64_t nodes_max = 14;
  std::uint64_t workloads_max = 4;
  std::uint64_t shards_max = 14;
  bool placed = true;  // some workloads are there already
  bool calm = false;   // no node in trouble, nothing moving, no labels, taints, pins: only load to be levelled
};

Cluster random_cluster(Rng& rng, const Shape& shape = {});
PlanOptions random_options(Rng& rng);

// The same cluster with its nodes in another order.
Cluster shuffle_nodes(const Cluster& cluster, Rng& rng);

}  // namespace evenkeel::place
