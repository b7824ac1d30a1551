#pragma once
// A plan for people: what it does and leaves undone, in sentences and tables.

#include <string>
#include <vector>

#include "evenkeel/place/place.h"

namespace evenkeel::cli {

// `wide` adds a table of nodes before and after, the steps of moves, and why each node refused.
std::string plan_table(const Cluster& cluster, const place::Plan& plan, bool wide);

// One `shard/WORKLOAD/NUMBER` a line: the shards that the plan changes or places.
std::string plan_names(const Cluster& cluster, const place::Plan& plan);

// Why a plan is not met: "2 requests refused, 1 hard rule broken".
std::string why_not_met(const place::Plan& plan);

}  // namespace evenkeel::cli
