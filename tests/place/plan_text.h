#pragma once
// A plan as short text with names, for stories and for comparing plans of clusters whose nodes are in different order.
//
//   t1/0: n4 n2 n3
//   move t1/0 n1 -> n4 drain step 1
//   leader t1/5 n1 -> n2
//   refused t2 capacity proved: needs 3 nodes with 1 slot; 2 have one

#include <string>

#include "evenkeel/place/plan.h"

namespace evenkeel::place {

// Rows, moves, leaders, cancelled, refused and violations.
std::string plan_text(const Cluster& cluster, const Plan& plan);
// All but the rows; how many replicas each node holds in the end, and how many it leads, instead.
std::string plan_summary(const Cluster& cluster, const Plan& plan);
// Everything but the time it took.
std::string whole_text(const Cluster& cluster, const Plan& plan);

}  // namespace evenkeel::place
