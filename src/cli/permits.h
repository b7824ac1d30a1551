#pragma once
// What those who ask for permits and wait for them have in common: they look again and again, and whoever ends early takes back what was not used.

#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/control/rollout.h"

namespace evenkeel::cli {

// Why it is not known who could stop, by what was read last: what cannot be read may be just what would fall below, or a permit that is out.
std::optional<Error> why_not_known(const OpenCluster& cluster);

// The documents of these kinds, if it is known by them who could stop. A store that does not answer is asked for a while, unless it is interrupted.
Result<control::Snapshot> look_patiently(OpenCluster& cluster, const KindList& kinds, Interrupt& interrupt);

// The controller may write a permit just then, and the store may not answer: it is tried for a while. What may not have been taken back is said.
void withdraw(Session& session, OpenCluster& cluster, const control::Rollout& rollout);

}  // namespace evenkeel::cli
