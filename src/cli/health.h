#pragma once
// How a cluster stands as a whole: its sums, one word for its health, and the reasons for it. From what was read; nothing is asked here.

#include <cstdint>
#include <string>
#include <vector>

#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/control/survey.h"

namespace evenkeel::cli {

struct Sums {
  std::uint32_t nodes = 0, there = 0, operated = 0;
  std::uint32_t shards = 0, leaderless = 0, below_min_active = 0, incomplete = 0, errors = 0;
  std::size_t workloads = 0, orphans = 0, orders = 0;
};

struct Health {
  std::string word;                  // docs/conditions.md says what to do about each
  std::vector<std::string> reasons;  // the worst first; none if all is well
  Sums sums;
  std::string freeze, maintenance;  // in words; empty: there is none
  bool urgent = false;              // clients notice, or would at the next loss
  bool well() const { return reasons.empty(); }
};

Health health_of(const control::Snapshot& seen, const ControllerSeen& controller);

// "host-1 at http://127.0.0.1:7070", "none is active".
std::string controller_text(const ControllerSeen& controller);

// "there", "gone for 2m", as lists show a node; and "drain", "swap with n9", or nothing.
std::string state_of(const control::NodeSurvey& node);
std::string operation_of(const control::NodeSurvey& node);
// As lists show a workload.
std::string_view state_of(const control::WorkloadSurvey& one);

// A table of the workloads.
Table workload_table(const std::vector<control::WorkloadSurvey>& workloads);

}  // namespace evenkeel::cli
