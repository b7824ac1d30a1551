#include "evenkeel/cli/follow.h"

#include <optional>
#include <utility>

namespace evenkeel::cli {
namespace {

constexpr Duration follow_every = 1s;
constexpr Duration standing_still = 30s;  // before it is asked what is in the way

class Follower {
 public:
  Follower(Session& session, const Outside& outside, OpenCluster& cluster, Interrupt& interrupt, const Followed& followed,
           Duration within)
      : session_(session),
        cluster_(cluster),
        interrupt_(interrupt),
        followed_(followed),
        within_(within),
        progress_(session, outside) {}

  void follow() {
    const Instant start = clock_.now();
    Instant moved = start;
    std::optional<std::string> before;
    while (true) {
      const auto seen = cluster_.look_patiently(followed_.kinds, interrupt_);
      if (interrupt_.stopped()) return interrupted();
      if (!seen) return session_.fail(seen.error());
      const auto stage = followed_.look(cluster_, *seen);
      if (!stage) return session_.fail(stage.error());
      const bool first = !before;
      if (std::exchange(before, stage->words) != stage->words) moved = clock_.now();
      progress_.tell(stage->part, stage->words);
      if (!stage->finished.empty()) return session_.say(stage->finished);
      cluster_.look_after_controller();
      if (first || clock_.now() - moved >= standing_still) {
        if (is_stuck(*seen)) return;
        moved = clock_.now();
      }
      if (within_ > Duration(0) && clock_.now() - start >= within_)
        return session_.fail(Error{
            Code::unavailable, fmt::format("{} after {}; {} goes on without us", stage->left, format(within_), followed_.name)});
      if (interrupt_.wait(follow_every) == Outside::Signal::stop) return interrupted();
    }
  }

 private:
  void interrupted() { session_.fail(Error{Code::cancelled, fmt::format("interrupted; {} goes on without us", followed_.name)}); }
  bool is_stuck(const control::Snapshot& seen) {
    const auto lines = followed_.in_its_way(seen);
    if (lines.empty()) return false;
    session_.fail(Error{Code::refused, lines.front()});
    for (std::size_t at = 1; at < lines.size(); ++at) session_.io.err(fmt::format("  {}\n", lines[at]));
    return true;
  }

  Session& session_;
  OpenCluster& cluster_;
  Interrupt& interrupt_;
  const Followed& followed_;
  const Duration within_;
  const BootClock clock_;
  Progress progress_;
};

}  // namespace

void add_wait(CLI::App& command, WaitOptions& options, const std::string& until) {
  command.add_flag("--wait", options.wait, fmt::format("Wait until {}, and show how far it is", until));
  add_duration(command, "--within", options.within, "With --wait: how long; else as long as it takes");
}

void check(const WaitOptions& options) {
  if (options.within > Duration(0) && !options.wait) throw CLI::ValidationError("--within", "goes with --wait; add that");
}

std::vector<std::string> standstill_of(const control::Snapshot& seen, const std::string& heading) {
  const auto still = control::standstill(seen);
  if (!still) return {};
  return {heading, *still};
}

void follow(Session& session, const Outside& outside, OpenCluster& cluster, Interrupt& interrupt, const Followed& followed,
            Duration within) {
  Follower(session, outside, cluster, interrupt, followed, within).follow();
}

void operate_and_follow(Session& session, const ClusterReach& reach, const ChangeOptions& options, const WaitOptions& wait,
                        const std::function<Result<control::Changes>(const control::Snapshot&)>& decide,
                        const std::string& question, const Followed& followed) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  std::optional<Interrupt> interrupt;
  if (wait.wait) interrupt.emplace(*outside);  // before the first thread
  const auto cluster = open_cluster(session, *outside, reach);
  if (!cluster) return;
  const auto seen = cluster->read_existing(followed.kinds);
  if (!seen) return;
  std::string written;
  if (!change(session, *outside, *cluster, decide(*seen), options, question, wait.wait ? &written : nullptr) || !wait.wait)
    return;
  follow(session, *outside, *cluster, *interrupt, followed, wait.within);
  if (session.status == Exit::done) session.print(written);
}

}  // namespace evenkeel::cli
