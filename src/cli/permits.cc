#include "evenkeel/cli/permits.h"

#include <condition_variable>
#include <mutex>

#include "evenkeel/base/clock.h"

namespace evenkeel::cli {
namespace {

constexpr Duration store_patience = 30s;  // with a store that does not answer: a leader of its own is elected in less
constexpr Duration look_again = 200ms;

// Also when it is interrupted: what was asked for is taken back then.
void pause() {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, look_again, [] { return false; });
}

Result<> try_to_withdraw(OpenCluster& cluster, const control::Rollout& rollout) {
  const auto seen = cluster.look(permit_kinds());
  if (!seen) return fail(seen.error());
  const auto done = cluster.commit(rollout.withdraw(*seen));
  return done ? Result<>() : fail(done.error());
}

}  // namespace

std::optional<Error> why_not_known(const OpenCluster& cluster) {
  for (const Key::Kind kind : {Key::Kind::shards, Key::Kind::view, Key::Kind::workload, Key::Kind::permit}) {
    if (const auto error = cluster.unreadable(kind))
      return Error{error->code, fmt::format("whether they could stop is not known: {}", error->message)};
  }
  return std::nullopt;
}

Result<control::Snapshot> look_patiently(OpenCluster& cluster, const KindList& kinds, Interrupt& interrupt) {
  auto seen = cluster.look_patiently(kinds, interrupt);
  if (!seen) return seen;
  if (auto error = why_not_known(cluster)) return fail(*std::move(error));
  return seen;
}

void withdraw(Session& session, OpenCluster& cluster, const control::Rollout& rollout) {
  const std::vector<NodeId> nodes = rollout.unused();
  if (nodes.empty()) return;
  const BootClock clock;
  const Instant end = clock.now() + store_patience;
  while (true) {
    const auto done = try_to_withdraw(cluster, rollout);
    if (done) return;
    const Code code = done.error().code;
    const bool again = code == Code::conflict || code == Code::unavailable || code == Code::unknown_outcome;
    if (again && clock.now() < end) {
      pause();
      continue;
    }
    session.say(done.error().message);
    for (const NodeId& node : nodes)
      session.say(fmt::format("{} may still have a permit: `evenkeel node permit {} --revoke`", node, node));
    return;
  }
}

}  // namespace evenkeel::cli
