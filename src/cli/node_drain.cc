// evenkeel node drain, swap: a node is emptied, leaders first, then replicas; with --wait until nothing is left, or until it is clear that it cannot be.

#include <algorithm>
#include <ranges>

#include "evenkeel/cli/follow.h"
#include "evenkeel/control/survey.h"

namespace evenkeel::cli {
namespace {

struct NodeDrainOptions {
  ClusterReach reach;
  ChangeOptions change;
  WaitOptions wait;
  std::string node;
  std::string other;  // of a swap: who takes the place
  std::string reason;
};

struct Left {
  std::uint32_t replicas = 0;
  std::uint32_t leaders = 0;
};

Left left_on(const control::Snapshot& seen, const NodeId& node) {
  for (const control::NodeSurvey& one : control::survey_nodes(seen)) {
    if (one.node == node) return {one.replicas, one.leaders};
  }
  return {};
}

// How far it is: "12 of 30 replicas have left n3; it leads 2". `most`: that were there.
Result<Stage> stage_of(const OpenCluster& cluster, const control::Snapshot& seen, const NodeId& node, Operation operation,
                       std::uint32_t& most) {
  if (const auto error = cluster.unreadable(Key::Kind::shards))  // what it says may be on the node
    return fail(error->code, "what is left on {} is not known: {}", node, error->message);
  const Left left = left_on(seen, node);
  most = std::max(most, left.replicas);
  Stage stage{.part = {.done = most - left.replicas, .all = most}, .words = {}};
  stage.words = fmt::format("{} of {} replicas have left {}; it leads {}", stage.part.done, stage.part.all, node, left.leaders);
  stage.left = fmt::format("{} replicas are still on {}", left.replicas, node);
  if (left.replicas == 0) {
    stage.finished = fmt::format("{} holds nothing any more", node);
  } else if (control::operation_of(seen, node) != operation) {
    return fail(Code::conflict, "{} is not {} any more: somebody has ended it; see `evenkeel node show {}`", node,
                operation == Operation::swap ? "swapped" : "drained", node);
  }
  return stage;
}

// Only if none of what is left can leave: a copy that takes long stands still, too.
std::vector<std::string> in_the_way_of(const control::Snapshot& seen, const NodeId& node) {
  const Left left = left_on(seen, node);
  const std::string heading = fmt::format("{} replicas cannot leave {}:", left.replicas, node);
  if (auto still = standstill_of(seen, heading); !still.empty()) return still;
  const auto found = control::obstacles(seen, node, left.replicas);
  if (found.size() < left.replicas) return {};
  constexpr std::size_t shown = 10;
  std::vector<std::string> lines{heading};
  for (const std::string& line : found | std::views::take(shown)) lines.push_back(line);
  if (found.size() > shown) lines.push_back(fmt::format("and {} more", found.size() - shown));
  lines.push_back(fmt::format("make room for them, or `evenkeel node undrain {}`", node));
  return lines;
}

Followed followed_of(const NodeId& node, Operation operation) {
  const auto most = std::make_shared<std::uint32_t>(0);
  return {.kinds = all_kinds(),
          .name = operation == Operation::swap ? "the swap" : "the draining",
          .look = [=](const OpenCluster& cluster,
                      const control::Snapshot& seen) { return stage_of(cluster, seen, node, operation, *most); },
          .in_its_way = [=](const control::Snapshot& seen) { return in_the_way_of(seen, node); }};
}

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
  const NodeId node(options.node);
  operate_and_follow(
      session, options.reach, options.change, options.wait,
      [&](const control::Snapshot& seen) {
        auto changes = control::operate(seen, node, Operation::drain, options.reason);
        if (changes && !options.wait.wait) warn(session, seen, *changes, node);
        return changes;
      },
      "", followed_of(node, Operation::drain));
}

void swap(Session& session, const NodeDrainOptions& options) {
  const NodeId node(options.node);
  operate_and_follow(
      session, options.reach, options.change, options.wait,
      [&](const control::Snapshot& seen) { return control::swap_nodes(seen, node, NodeId(options.other), options.reason); }, "",
      followed_of(node, Operation::swap));
}

void add_rest(CLI::App& command, Session& session, const std::shared_ptr<NodeDrainOptions>& options,
              void (*run)(Session&, const NodeDrainOptions&)) {
  command.add_option("--reason", options->reason, "Why, for whoever looks")->type_name("TEXT");
  add_wait(command, options->wait, "nothing is left on it");
  add_change_options(command, session, options->change, false);
  add_cluster_reach(command, session, options->reach);
  command.callback([&session, options, run] {
    check(options->wait);
    run(session, *options);
  });
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
  add_rest(*command, session, options, drain);
}

void add_node_swap(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("swap", "Let one node take exactly the place of another");
  command->footer(
      "Each replica of the old one moves to the new one, made there before it goes here. `evenkeel node undrain OLD` ends it. "
      "With\n"
      "--wait, exit status 1 says that the rest cannot leave, 5 that the time was over.\n\n"
      "Examples:\n"
      "  evenkeel node swap n3 n9 --reason 'old disk'\n"
      "  evenkeel node swap n3 n9 --wait && ssh n3 poweroff");
  auto options = std::make_shared<NodeDrainOptions>();
  command->add_option("OLD", options->node, "The node that gives its place")->required()->type_name("");
  command->add_option("NEW", options->other, "The node that takes it; it is there already")->required()->type_name("");
  add_rest(*command, session, options, swap);
}

}  // namespace evenkeel::cli
