#pragma once
// A cluster file that is to be written to a store, and which cluster it is about.

#include <optional>
#include <string>

#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/model/cluster_file.h"

namespace evenkeel::cli {

struct ClusterFile {
  Cluster cluster;
  bool named = false;     // it says which cluster it is about
  bool settings = false;  // it has settings
};
// The file, or nothing after the session was told what is wrong.
std::optional<ClusterFile> read_cluster_file(Session& session, const std::string& file);
// The file's cluster is the one to reach. False: somebody says otherwise, or contexts are wrong, and the session was told.
bool name_cluster(Session& session, const Outside& outside, const ClusterFile& file, ClusterReach& reach);

}  // namespace evenkeel::cli
