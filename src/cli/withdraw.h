#pragma once
// How whoever asked for permits and ends early takes back those that were not used.

#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/control/rollout.h"

namespace evenkeel::cli {

// The controller may write a permit just then: it is read again, a few times. What cannot be taken back is said.
void withdraw(Session& session, OpenCluster& cluster, const control::Rollout& rollout);

}  // namespace evenkeel::cli
