// evenkeel node set: what stands over what a node says of itself.

#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/cli/edit.h"

namespace evenkeel::cli {
namespace {

struct NodeSetOptions {
  ClusterReach reach;
  ChangeOptions change;
  std::string node;
  std::vector<std::string> words;
};

Result<control::Changes> decide(const control::Snapshot& seen, const NodeSetOptions& options) {
  const NodeId node(options.node);
  if (const auto good = control::check_node(seen, node); !good) return fail(good.error());
  const auto document = seen.nodes.find(node);
  const LiveDocument* said = seen.said(node);
  auto wanted = edit_node(document == seen.nodes.end() ? NodeDocument{} : document->second,
                          said == nullptr ? LiveDocument{} : *said, options.words);
  if (!wanted) return fail(wanted.error());
  return control::override_node(seen, node, *std::move(wanted));
}

void set(Session& session, const NodeSetOptions& options) {
  operate(session, options.reach, options.change, node_kinds(),
          [&](const control::Snapshot& seen) { return decide(seen, options); });
}

}  // namespace

void add_node_set(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("set", "Set capacity, power, labels, taints or patience of a node");
  command->footer(
      "What is set stands over what the node says of itself; KEY- takes it back. Keys: capacity.RESOURCE, power, labels.KEY,\n"
      "taints.KEY (as EFFECT or VALUE:EFFECT, an effect being refuse or avoid) and rebalance_delay.\n\n"
      "Examples:\n"
      "  evenkeel node set n3 capacity.disk=2Ti power=2\n"
      "  evenkeel node set n3 labels.disk=ssd taints.gpu=refuse rebalance_delay=30m\n"
      "  evenkeel node set n3 capacity- labels.disk-");
  auto options = std::make_shared<NodeSetOptions>();
  command->add_option("NODE", options->node, "The node")->required()->type_name("");
  command->add_option("SETTING", options->words, "KEY=VALUE, or KEY- to take it back")->required()->type_name("");
  add_change_options(*command, session, options->change, false);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] { set(session, *options); });
}

}  // namespace evenkeel::cli
