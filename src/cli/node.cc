// evenkeel node VERB: who is there, and what operators ask of a node.

#include <array>

#include "evenkeel/cli/cluster_access.h"

namespace evenkeel::cli {
namespace {

struct NodeOptions {
  ClusterReach reach;
  ChangeOptions change;
  std::string node;
  std::string shard;
  std::string reason;
};

using NodeDecide = std::function<Result<control::Changes>(const control::Snapshot&, const NodeOptions&)>;

void operate(Session& session, const NodeOptions& options, const NodeDecide& decide, const std::string& question = "") {
  operate(
      session, options.reach, options.change, node_kinds(), [&](const control::Snapshot& seen) { return decide(seen, options); },
      question);
}

struct Verb {
  std::string_view name;
  std::string_view description;
  std::string_view footer;
  Operation operation;  // none: it takes `undoes` away
  std::vector<Operation> undoes = {};
};

// Those that need no more than a node. drain and swap are in node_drain.cc.
const std::vector<Verb>& verbs() {
  using enum Operation;
  static const std::vector<Verb> all = {
      {"cordon", "Let nothing new come to a node",
       "What is there stays, and goes on serving.\n\n"
       "Examples:\n"
       "  evenkeel node cordon n3 --reason 'new kernel on Friday'",
       cordon},
      {"uncordon", "Let replicas come to a node again", "Examples:\n  evenkeel node uncordon n3", none, {cordon}},
      {"undrain",
       "End the draining, or the swap, of a node",
       "What has left comes back only as far as balance asks for it; what has not begun to leave stays.\n\n"
       "Examples:\n"
       "  evenkeel node undrain n3",
       none,
       {drain, swap}},
      {"no-leaders", "Let a node lead nothing",
       "Its leaders move to others, by hand-overs; its replicas stay.\n\n"
       "Examples:\n"
       "  evenkeel node no-leaders n3 --reason 'slow disk'",
       no_leaders},
      {"leaders", "Let a node lead again", "Examples:\n  evenkeel node leaders n3", none, {no_leaders}},
      {"forget", "Wait no longer for a node that is gone",
       "Its replicas are made anew elsewhere at once, without rebalance_delay. If it comes back, it is taken as any other.\n\n"
       "Examples:\n"
       "  evenkeel node forget n3",
       forget},
      {"undo", "End whatever operation a node is under",
       "Also that it was forgotten or removed: its disk may come back then.\n\n"
       "Examples:\n"
       "  evenkeel node undo n3",
       none},
  };
  return all;
}

void add_target(CLI::App& command, NodeOptions& options) {
  command.add_option("NODE", options.node, "The node")->required()->type_name("");
}

void add_reason(CLI::App& command, NodeOptions& options) {
  command.add_option("--reason", options.reason, "Why, for whoever looks")->type_name("TEXT");
}

void add_verb(CLI::App& app, Session& session, const Verb& verb) {
  auto* command = app.add_subcommand(std::string(verb.name), std::string(verb.description));
  command->footer(std::string(verb.footer));
  auto options = std::make_shared<NodeOptions>();
  add_target(*command, *options);
  if (verb.operation != Operation::none) add_reason(*command, *options);
  add_change_options(*command, session, options->change, false);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options, verb] {
    operate(session, *options, [verb](const control::Snapshot& seen, const NodeOptions& given) {
      return verb.operation == Operation::none ? control::undo(seen, NodeId(given.node), verb.undoes)
                                               : control::operate(seen, NodeId(given.node), verb.operation, given.reason);
    });
  });
}

void add_remove(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("remove", "Take a node that is gone out of the cluster for good");
  command->footer(
      "Refused while it is there, while it has leave to be gone, and while it has the last copy of a shard. Its disk does not "
      "come\n"
      "back under this name; another one does. `evenkeel node undo` takes it back.\n\n"
      "Examples:\n"
      "  evenkeel node remove n3 --yes");
  auto options = std::make_shared<NodeOptions>();
  add_target(*command, *options);
  add_reason(*command, *options);
  add_change_options(*command, session, options->change, true);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] {
    operate(
        session, *options,
        [](const control::Snapshot& seen, const NodeOptions& given) {
          return control::operate(seen, NodeId(given.node), Operation::remove, given.reason);
        },
        fmt::format("Remove {}? Its disk does not come back.", options->node));
  });
}

// disable and enable.
void add_bar(CLI::App& app, Session& session, bool barred) {
  auto* command = barred ? app.add_subcommand("disable", "Forbid a shard on a node")
                         : app.add_subcommand("enable", "Allow a shard on a node again");
  command->footer(barred ? "If it is there, it moves away.\n\nExamples:\n  evenkeel node disable t1/9 n3"
                         : "Examples:\n  evenkeel node enable t1/9 n3");
  auto options = std::make_shared<NodeOptions>();
  command->add_option("SHARD", options->shard, "The shard, as WORKLOAD/SHARD")->required()->type_name("");
  add_target(*command, *options);
  add_change_options(*command, session, options->change, false);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options, barred] {
    const auto shard = parse_shard_id(options->shard);
    if (!shard) throw CLI::ValidationError("SHARD", shard.error().message);
    operate(session, *options, [shard = *shard, barred](const control::Snapshot& seen, const NodeOptions& given) {
      return control::bar(seen, NodeId(given.node), shard, barred);
    });
  });
}

}  // namespace

void add_node(CLI::App& app, Session& session) {
  auto* noun = app.add_subcommand("node", "See a cluster's nodes, and drain, swap or remove them");
  add_node_list(*noun, session);
  add_node_show(*noun, session);
  add_node_drain(*noun, session);
  for (const Verb& verb : verbs()) add_verb(*noun, session, verb);
  add_node_swap(*noun, session);
  add_remove(*noun, session);
  add_bar(*noun, session, true);
  add_bar(*noun, session, false);
  add_node_set(*noun, session);
  add_node_stoppable(*noun, session);
  add_node_permit(*noun, session);
  noun->require_subcommand(1);
}

}  // namespace evenkeel::cli
