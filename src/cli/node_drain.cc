// evenkeel node drain: leaders first, then replicas; with --wait until nothing is left, or until it is clear that it cannot be.

#include <algorithm>
#include <ranges>

#include "evenkeel/base/clock.h"
#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/control/survey.h"

namespace evenkeel::cli {
namespace {

struct NodeDrainOptions {
  ClusterReach reach;
  ChangeOptions change;
  std::string node;
  std::string reason;
  bool wait = false;
  Duration within = {};  // 0: as long as it takes
};

constexpr Duration look_every = 1s;
constexpr Duration patience = 30s;  // without a replica less, before it is asked what is in the way

struct Left {
  std::uint32_t replicas = 0;
  std::uint32_t leaders = 0;
  friend bool operator==(const Left&, const Left&) = default;
};

Left left_on(const control::Snapshot& seen, const NodeId& node) {
  for (const control::NodeSurvey& one : control::survey_nodes(seen)) {
    if (one.node == node) return {one.replicas, one.leaders};
  }
  return {};
}

// "[######....] 12 of 30 replicas have left n3; it leads 2"
std::string progress_of(const NodeId& node, Left left, std::uint32_t most) {
  constexpr std::uint32_t width = 30;
  const std::uint32_t gone = most - std::min(left.replicas, most);
  const std::uint32_t filled = most == 0 ? width : static_cast<std::uint32_t>(std::uint64_t{gone} * width / most);
  return fmt::format("[{:#<{}}{:.<{}}] {} of {} replicas have left {}; it leads {}", "", filled, "", width - filled, gone, most,
                     node, left.leaders);
}

// Waits until nothing is left, and says how far it is.
class Follower {
 public:
  Follower(Session& session, OpenCluster& cluster, Interrupt& interrupt, const NodeDrainOptions& options)
      : session_(session), cluster_(cluster), interrupt_(interrupt), options_(options), node_(options.node) {}

  void follow() {
    const Instant start = clock_.now();
    Instant moved = start;
    for (bool first = true;; first = false) {
      const auto seen = cluster_.read(all_kinds());
      if (!seen) return;
      if (const auto error = cluster_.unreadable(Key::Kind::shards))  // what it says may be on the node
        return give_up(Error{error->code, fmt::format("what is left on {} is not known: {}", node_, error->message)});
      const Left left = left_on(*seen, node_);
      if (first || left != before_) moved = clock_.now();
      most_ = std::max(most_, left.replicas);
      tell(left, first);
      if (left.replicas == 0) return finish();
      if (control::operation_of(*seen, node_) != Operation::drain)
        return give_up(Error{Code::conflict, fmt::format("{} is not drained any more: somebody has ended it", node_)});
      if (first || clock_.now() - moved >= patience) {
        if (is_stuck(*seen, left)) return;
        moved = clock_.now();
      }
      if (options_.within > Duration(0) && clock_.now() - start >= options_.within)
        return give_up(Error{Code::unavailable, fmt::format("{} replicas are still on {} after {}; it goes on without us",
                                                            left.replicas, node_, format(options_.within))});
      if (interrupt_.wait(look_every) == Outside::Signal::stop)
        return give_up(Error{Code::cancelled, "interrupted; the draining goes on without us"});
    }
  }

 private:
  // In place on a terminal, else a line for each change.
  void tell(Left left, bool first) {
    if (!first && left == before_) return;
    before_ = left;
    const std::string text = progress_of(node_, left, most_);
    session_.io.err(session_.io.colour ? fmt::format("\r\033[K{}", text) : fmt::format("{}\n", text));
  }
  void finish() {
    if (session_.io.colour) session_.io.err("\n");
    session_.say(fmt::format("{} holds nothing any more", node_));
  }
  void give_up(const Error& error) {
    if (session_.io.colour) session_.io.err("\n");
    session_.fail(error);
  }
  // Only if none of what is left can leave: a copy that takes long stands still, too.
  bool is_stuck(const control::Snapshot& seen, Left left) {
    const std::string heading = fmt::format("{} replicas cannot leave {}:", left.replicas, node_);
    if (const auto still = control::standstill(seen)) {
      give_up(Error{Code::refused, heading});
      session_.io.err(fmt::format("  {}\n", *still));
      return true;
    }
    const auto found = control::obstacles(seen, node_, left.replicas);
    if (found.size() < left.replicas) return false;
    give_up(Error{Code::refused, heading});
    constexpr std::size_t shown = 10;
    for (const std::string& line : found | std::views::take(shown)) session_.io.err(fmt::format("  {}\n", line));
    if (found.size() > shown) session_.io.err(fmt::format("  and {} more\n", found.size() - shown));
    session_.io.err(fmt::format("  make room for them, or `evenkeel node undrain {}`\n", node_));
    return true;
  }

  Session& session_;
  OpenCluster& cluster_;
  Interrupt& interrupt_;
  const NodeDrainOptions& options_;
  const NodeId node_;
  const BootClock clock_;
  Left before_;
  std::uint32_t most_ = 0;
};

// What it will run into, said at once.
void warn(Session& session, control::Snapshot seen, const control::Changes& changes, const NodeId& node) {
  for (const control::Write& write : changes.writes) {
    if (auto document = parse_node(write.text, "")) seen.nodes.insert_or_assign(node, *std::move(document));
  }
  const auto found = control::obstacles(seen, node);
  if (found.empty()) return;
  session.say(fmt::format("not everything can leave {} as things are:", node));
  for (const std::string& line : found) session.io.err(fmt::format("  {}\n", line));
}

void drain(Session& session, const NodeDrainOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  std::optional<Interrupt> interrupt;
  if (options.wait) interrupt.emplace(*outside);
  const auto cluster = open_cluster(session, *outside, options.reach);
  if (!cluster) return;
  const auto seen = cluster->read_existing(all_kinds());
  if (!seen) return;
  const NodeId node(options.node);
  const auto changes = control::operate(*seen, node, Operation::drain, options.reason);
  if (changes && !options.wait) warn(session, *seen, *changes, node);
  std::string written;
  if (!change(session, *outside, *cluster, changes, options.change, "", options.wait ? &written : nullptr) || !options.wait)
    return;
  Follower(session, *cluster, *interrupt, options).follow();
  if (session.status == Exit::done) session.print(written);
}

}  // namespace

void add_node_drain(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("drain", "Move everything away from a node");
  command->footer(
      "Leaders leave first, then replicas, each made elsewhere before it goes here. What cannot leave is said at once, with the\n"
      "reason. `evenkeel node undrain` ends it. With --wait, exit status 1 says that the rest cannot leave, 5 that the time was\n"
      "over.\n\n"
      "Examples:\n"
      "  evenkeel node drain n3 --reason 'old disk'\n"
      "  evenkeel node drain n3 --wait --within 1h && ssh n3 poweroff");
  auto options = std::make_shared<NodeDrainOptions>();
  command->add_option("NODE", options->node, "The node")->required()->type_name("");
  command->add_option("--reason", options->reason, "Why, for whoever looks")->type_name("TEXT");
  command->add_flag("--wait", options->wait, "Wait until nothing is left on it, and show how far it is");
  add_duration(*command, "--within", options->within, "With --wait: how long; else as long as it takes");
  add_change_options(*command, session, options->change, false);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] {
    if (options->within > Duration(0) && !options->wait) throw CLI::ValidationError("--within", "goes with --wait; add that");
    drain(session, *options);
  });
}

}  // namespace evenkeel::cli
