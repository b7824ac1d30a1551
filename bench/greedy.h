#pragma once
// The plain alternative that the placement benchmark stands beside: what one writes in an afternoon, and what many systems do.
//
// Shards by falling load, each replica to the node that is least full by then, in zones that the shard is not in yet while there are any. It
// knows labels and leaders' loads, nothing of limits or affinity, and never moves what it has placed.

#include "evenkeel/model/cluster.h"

namespace evenkeel::bench {

// With every workload placed. O(replicas · (zones + log nodes)).
Cluster place_greedily(Cluster cluster);

}  // namespace evenkeel::bench
