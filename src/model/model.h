#pragma once
// model: the nouns of Evenkeel as values.
//
//   ids.h           names and numbers: NodeId, WorkloadId, ShardId, Epoch, …; which texts are names
//   state_model.h   which states a replica may be in; the built-in models and Helix's names for them
//   cluster.h       nodes, workloads, placement, moves in flight; check() says whether a cluster is whole
//   cluster_file.h  a cluster as YAML or JSON, with exact round trip
//   control_spec.h  what a cluster and a workload ask of the controller
//   exchange.h      what controller, nodes and routers tell each other: record, target, report, view
//   documents.h     all of it as the documents of a store, and their keys
//   controller_address.h  who is active and where, as a line of the election
//
// Values only: they compare with ==, nothing here waits, reads a clock or touches a file, and the same input gives the same output
// everywhere. A cluster from parse_cluster() has passed check(); one that a program builds is checked by calling it.
//
//   auto cluster = parse_cluster(text, "pages.yaml");
//   if (!cluster) return cluster.error().to_error();
//   cluster->nodes.push_back({.name = NodeId("n7"), .zone = "dc3"});
//   if (auto problems = check(*cluster); !problems.empty()) …

#include "evenkeel/model/cluster.h"       // IWYU pragma: export
#include "evenkeel/model/cluster_file.h"  // IWYU pragma: export
#include "evenkeel/model/control_spec.h"  // IWYU pragma: export
#include "evenkeel/model/documents.h"     // IWYU pragma: export
#include "evenkeel/model/exchange.h"      // IWYU pragma: export
#include "evenkeel/model/ids.h"           // IWYU pragma: export
#include "evenkeel/model/state_model.h"   // IWYU pragma: export
