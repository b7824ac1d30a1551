#pragma once
// The cluster file: a whole cluster as YAML or JSON, read and written with exact round trip.
//
//   auto cluster = parse_cluster(text, "pages.yaml");
//   if (!cluster) fmt::print(stderr, "{}\n", cluster.error().format());     // every problem with its line and column
//   else          fmt::print("{}", format_cluster(*cluster, Syntax::yaml));
//
// parse_cluster gives a whole, checked cluster or a list of problems, never part of one. For every such cluster c and both syntaxes
// parse_cluster(format_cluster(c)) == c; and format_cluster(parse_cluster(t)) is the same text for every t that means the same.
//
// The format is described for people in docs/cluster-file.md. In short: `cluster`, `settings`, `state_models`, `nodes`, `workloads`,
// `placement`, `cores`, `moving`, `recent`, `barred`; unknown fields are errors. A node's name may hold ranges, `w[1-1000]` or `w[001-100]`,
// and stands for that many nodes; ranges in its zone are then dealt in turn, the leftmost turning fastest. Fields at their default are not
// written; runs of three or more nodes that a range can say are.
//
// Cost: linear in the text; docs/benchmarks.md says what a million shards take.

#include <string>
#include <string_view>

#include "evenkeel/base/diagnostic.h"
#include "evenkeel/base/document.h"
#include "evenkeel/model/cluster.h"

namespace evenkeel {

// Without a syntax given it is told from the file's name or the text (document.h). `file` is used in messages only; nothing is opened.
Parsed<Cluster> parse_cluster(std::string_view text, std::string file, std::optional<Syntax> syntax = std::nullopt);

std::string format_cluster(const Cluster& cluster, Syntax syntax);

}  // namespace evenkeel
