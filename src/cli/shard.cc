// evenkeel shard VERB: one shard, as the record, the view and the nodes have it; and orders about it.

#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/cli/shard_view.h"

namespace evenkeel::cli {
namespace {

struct ShardOptions {
  ClusterReach reach;
  ChangeOptions change;
  std::string shard;
  std::vector<std::string> nodes;
  bool accept_loss = false;
};

using ShardDecide = std::function<Result<control::Changes>(const control::Snapshot&, const ShardId&, const std::vector<NodeId>&)>;

void order(Session& session, const ShardOptions& options, const ShardDecide& decide, const std::string& question) {
  const auto shard = parse_shard_id(options.shard);
  if (!shard) throw CLI::ValidationError("SHARD", shard.error().message);
  std::vector<NodeId> nodes;
  for (const std::string& node : options.nodes) nodes.emplace_back(node);
  operate(
      session, options.reach, options.change, workload_kinds(),
      [&](const control::Snapshot& seen) { return decide(seen, *shard, nodes); }, question);
}

std::shared_ptr<ShardOptions> options_of(CLI::App& command, Session& session, bool asks) {
  auto options = std::make_shared<ShardOptions>();
  command.add_option("SHARD", options->shard, "The shard, as WORKLOAD/SHARD")->required()->type_name("");
  add_change_options(command, session, options->change, asks);
  add_cluster_reach(command, session, options->reach);
  return options;
}

void add_lead(CLI::App& noun, Session& session) {
  auto* command = noun.add_subcommand("lead", "Let a node lead a shard");
  command->footer(
      "By a hand-over, when it has caught up; from then on it is the preferred one. With --accept-loss somebody leads now, even "
      "if\n"
      "writes that were acknowledged may be lost: for a shard whose other copies do not come back. It asks then.\n\n"
      "Examples:\n"
      "  evenkeel shard lead t1/9 n3\n"
      "  evenkeel shard lead t1/9 --accept-loss");
  auto options = options_of(*command, session, true);
  command->add_option("NODE", options->nodes, "The node; with --accept-loss it may be left out")->expected(0, 1)->type_name("");
  command->add_flag("--accept-loss", options->accept_loss, "Even if acknowledged writes may be lost");
  command->callback([&session, options] {
    if (options->nodes.empty() && !options->accept_loss) throw CLI::ValidationError("NODE", "say which node shall lead");
    const bool loss = options->accept_loss;
    order(
        session, *options,
        [loss](const control::Snapshot& seen, const ShardId& shard, const std::vector<NodeId>& nodes) {
          return control::lead(seen, shard, nodes.empty() ? std::nullopt : std::optional(nodes.front()), loss);
        },
        loss ? fmt::format("Lead {} even if acknowledged writes are lost?", options->shard) : "");
  });
}

struct ShardVerb {
  std::string_view name;
  std::string_view description;
  std::string_view footer;
  ShardDecide decide;
  std::string_view question;  // with the shard in it; empty: it does not ask
};

std::vector<ShardVerb> shard_verbs() {
  using Nodes = std::vector<NodeId>;
  return {
      {"reset", "Try again what nodes have given up",
       "Their errors are forgotten, and they are told anew. `evenkeel shard show` says what failed.\n\n"
       "Examples:\n"
       "  evenkeel shard reset t1/9 n3",
       [](const control::Snapshot& seen, const ShardId& shard, const Nodes& nodes) { return control::reset(seen, shard, nodes); },
       ""},
      {"adopt", "Make replicas of what nodes hold and no record knows",
       "For a shard without a record, the best of those that are adopted leads, above every epoch that anybody has named.\n"
       "`evenkeel cluster adopt` shows all that could be.\n\n"
       "Examples:\n"
       "  evenkeel shard adopt t1/9 n3 n4",
       [](const control::Snapshot& seen, const ShardId& shard, const Nodes& nodes) {
         return control::settle_orphans(seen, shard, nodes, control::Fate::adopt);
       },
       ""},
      {"drop", "Delete what nodes hold and no record knows",
       "Only orphans are dropped: a replica that a record knows leaves by `evenkeel node disable`.\n\n"
       "Examples:\n"
       "  evenkeel shard drop t1/9 n3",
       [](const control::Snapshot& seen, const ShardId& shard, const Nodes& nodes) {
         return control::settle_orphans(seen, shard, nodes, control::Fate::drop);
       },
       "Delete what {} hold of {}? There is no way back."},
  };
}

void add_verb(CLI::App& noun, Session& session, ShardVerb verb) {
  auto* command = noun.add_subcommand(std::string(verb.name), std::string(verb.description));
  command->footer(std::string(verb.footer));
  auto options = options_of(*command, session, !verb.question.empty());
  command->add_option("NODE", options->nodes, "The nodes")->required()->type_name("");
  command->callback([&session, options, verb = std::move(verb)] {
    const std::string question =
        verb.question.empty() ? "" : fmt::format(fmt::runtime(verb.question), fmt::join(options->nodes, ", "), options->shard);
    order(session, *options, verb.decide, question);
  });
}

}  // namespace

void add_shard(CLI::App& app, Session& session) {
  auto* noun = app.add_subcommand("shard", "See single shards, and give orders about them");
  add_shard_views(*noun, session);
  add_lead(*noun, session);
  for (ShardVerb& verb : shard_verbs()) add_verb(*noun, session, std::move(verb));
  noun->require_subcommand(1);
}

}  // namespace evenkeel::cli
