#pragma once
// What a story's actions make of the cluster's spec: `settings`, `create`, `change`, `delete` and `add`. Their FIELDS are those of a cluster
// file, read and checked by its own reader, laid over what was there field by field.
//
//   Cluster spec = spec_of(story.cluster);
//   if (auto after = edit(spec, action)) spec = *std::move(after);      // {replicas: 2} of `change t {replicas: 2}` is in it now
//
// Values; pure. Cost: that of writing and reading the cluster file, without its placement.

#include <string_view>

#include "evenkeel/base/result.h"
#include "evenkeel/model/cluster.h"
#include "evenkeel/sim/story.h"

namespace evenkeel::sim {

// Settings, state models, nodes and workloads, without placement and what goes with it.
Cluster spec_of(Cluster cluster);

// The spec after the action; other actions leave it as it is. An error says which field is wrong, without a place.
Result<Cluster> edit(const Cluster& spec, const Action& action);

// The FIELDS of `load`: {cpu: 3, disk: 2Gi}.
Result<Amounts> parse_load(std::string_view fields);

}  // namespace evenkeel::sim
