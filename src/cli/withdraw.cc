#include "evenkeel/cli/withdraw.h"

namespace evenkeel::cli {

void withdraw(Session& session, OpenCluster& cluster, const control::Rollout& rollout) {
  constexpr int tries = 5;
  for (int i = 0; i < tries; ++i) {
    const auto seen = cluster.read(permit_kinds());
    if (!seen) return;
    const auto done = cluster.commit(rollout.withdraw(*seen));
    if (done) return;
    if (done.error().code != Code::conflict) return session.say(done.error().message);
  }
  session.say("a permit that was asked for could not be taken back; `evenkeel node list -o wide` shows it");
}

}  // namespace evenkeel::cli
