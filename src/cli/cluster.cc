// evenkeel cluster VERB: how a cluster stands as a whole, and what holds for all of it.

#include "evenkeel/base/write.h"
#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/cli/edit.h"
#include "evenkeel/cli/health.h"

namespace evenkeel::cli {
namespace {

struct ClusterOptions {
  ClusterReach reach;
  ChangeOptions change;
  Output output = Output::table;
  bool watch = false;
  bool keep_leaders = false;
  bool all = false;
  Duration time{0};  // none
  std::string reason;
  std::vector<std::string> words;
};

using Decide = std::function<Result<control::Changes>(const control::Snapshot&, const ClusterOptions&)>;

// 1. How it stands.

// The first line that begins so, with what follows in red.
std::string in_red(std::string text, std::string_view row) {
  const std::size_t at = text.find(fmt::format("\n{} ", row));
  if (at == std::string::npos) return text;
  const std::size_t begin = text.find_first_not_of(' ', at + 1 + row.size()), end = text.find('\n', begin);
  return text.substr(0, begin) + fmt::format("\033[31m{}\033[0m", text.substr(begin, end - begin)) + text.substr(end);
}

std::string cluster_table(const control::Snapshot& seen, const ControllerSeen& controller, const Health& health) {
  const Sums& sums = health.sums;
  Table table({"CLUSTER", seen.cluster.str()});
  table.add({"health", health.word});
  table.add({"controller", controller_text(controller)});
  if (!health.freeze.empty()) table.add({"frozen", health.freeze});
  if (!health.maintenance.empty()) table.add({"maintenance", health.maintenance});
  table.add({"nodes", fmt::format("{} of {} are there, {} under an operation", sums.there, sums.nodes, sums.operated)});
  table.add({"workloads", fmt::format("{} with {} shards", sums.workloads, sums.shards)});
  table.add({"shards", fmt::format("{} without a leader, {} below min_active, {} incomplete", sums.leaderless,
                                   sums.below_min_active, sums.incomplete)});
  table.add({"replicas", fmt::format("{} in error, {} that no record knows", sums.errors, sums.orphans)});
  table.add({"orders", fmt::format("{} wait to be carried out", sums.orders)});
  return table.format();
}

std::string cluster_as(const Session& session, const control::Snapshot& seen, const ControllerSeen& controller, Output output) {
  if (output == Output::name) return fmt::format("cluster/{}\n", seen.cluster);
  const Health health = health_of(seen, controller);
  if (output == Output::table || output == Output::wide) {
    std::string table = cluster_table(seen, controller, health);
    return session.io.out_colour && health.urgent ? in_red(std::move(table), "health") : table;
  }
  const Sums& sums = health.sums;
  Writer out(output == Output::json ? Syntax::json : Syntax::yaml);
  out.begin_map().key("cluster").text(seen.cluster.str()).key("health").text(health.word);
  out.key("reasons").begin_list();
  for (const std::string& reason : health.reasons) out.text(reason);
  out.end_list().key("controller");
  if (controller.active) {
    out.begin_map(Writer::Flow::line).key("name").text(controller.address.name);
    out.key("http").text(controller.address.http).key("pulse").text(controller.address.pulse).end_map();
  } else {
    out.null();
  }
  if (!health.freeze.empty()) out.key("freeze").text(health.freeze);
  if (!health.maintenance.empty()) out.key("maintenance").text(health.maintenance);
  out.key("nodes").number(sums.nodes).key("nodes_there").number(sums.there).key("nodes_operated").number(sums.operated);
  out.key("workloads").number(sums.workloads).key("shards").number(sums.shards).key("leaderless").number(sums.leaderless);
  out.key("below_min_active").number(sums.below_min_active).key("incomplete").number(sums.incomplete);
  out.key("errors").number(sums.errors).key("orphans").number(sums.orphans).key("orders").number(sums.orders).end_map();
  return std::move(out).take();
}

void view(Session& session, const ClusterOptions& options) {
  show(session, options.reach, options.watch, [&](OpenCluster& cluster) -> Result<std::string> {
    const auto seen = cluster.look_existing(all_kinds());
    if (!seen) return fail(seen.error());
    const auto controller = cluster.look_at_controller();
    if (!controller) return fail(controller.error());
    return cluster_as(session, *seen, *controller, options.output);
  });
}

// 2. Orphans.

std::string orphans_as(const std::vector<control::OrphanState>& orphans, Output output) {
  using control::OrphanState;
  const auto table_of = [&](bool) {
    Table table({"SHARD", "NODE", "EPOCH"});
    for (const OrphanState& orphan : orphans)
      table.add({format(orphan.shard), orphan.node.str(), fmt::format("{}", orphan.epoch)});
    return table.format();
  };
  const auto write = [](Writer& out, const OrphanState& orphan) {
    out.begin_map(Writer::Flow::line).key("shard").text(format(orphan.shard)).key("node").text(orphan.node.str());
    out.key("epoch").number(orphan.epoch.value()).end_map();
  };
  return list_as(
      orphans, output, table_of, [](const OrphanState& orphan) { return "shard/" + format(orphan.shard); }, write);
}

void adopt(Session& session, const ClusterOptions& options) {
  if (options.all) return operate(session, options.reach, options.change, workload_kinds(), control::adopt_all);
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto cluster = open_cluster(session, *outside, options.reach);
  if (!cluster) return;
  const auto seen = cluster->read_existing(workload_kinds());
  if (!seen) return;
  const auto orphans = control::orphans_of(*seen);
  session.print(orphans_as(orphans, options.change.output));
  if (!orphans.empty()) session.say("--all adopts them; `evenkeel shard adopt` and `evenkeel shard drop` decide one by one");
}

// 3. The verbs.

CLI::App* add_verb(CLI::App& noun, Session& session, const std::string& name, const std::string& description,
                   const std::string& footer, std::shared_ptr<ClusterOptions> options, Decide decide) {
  auto* command = noun.add_subcommand(name, description);
  command->footer(footer);
  add_change_options(*command, session, options->change, false);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options, decide = std::move(decide)] {
    operate(session, options->reach, options->change, node_kinds(),
            [&](const control::Snapshot& seen) { return decide(seen, *options); });
  });
  return command;
}

std::optional<Duration> time_of(const ClusterOptions& options) {
  return options.time > Duration(0) ? std::optional(options.time) : std::nullopt;
}

void add_show(CLI::App& noun, Session& session) {
  auto* command = noun.add_subcommand("show", "Show how a cluster stands");
  command->footer("Examples:\n  evenkeel cluster show --cluster pages\n  evenkeel cluster show --watch");
  auto options = std::make_shared<ClusterOptions>();
  add_output(*command, session, options->output);
  add_watch(*command, options->watch);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] { view(session, *options); });
}

void add_freeze(CLI::App& noun, Session& session) {
  auto options = std::make_shared<ClusterOptions>();
  auto* freeze = add_verb(
      noun, session, "freeze", "Stop everything that the controller does",
      "No node is told anything any more, until `evenkeel cluster unfreeze` or the time is over. Leaders that are lost are not\n"
      "followed either, unless --keep-leaders. It outlives a change of controllers.\n\n"
      "Examples:\n"
      "  evenkeel cluster freeze --reason 'new switch' --for 2h --keep-leaders",
      options, [](const control::Snapshot& seen, const ClusterOptions& given) {
        return control::freeze(seen, {.keep_leaders = given.keep_leaders, .reason = given.reason, .timeout = time_of(given)});
      });
  freeze->add_flag("--keep-leaders", options->keep_leaders, "Lost leaders are followed meanwhile");
  freeze->add_option("--reason", options->reason, "Why, for whoever looks")->required()->type_name("TEXT");
  add_duration(*freeze, "--for", options->time, "It ends by itself after this time; else by hand");
  add_verb(noun, session, "unfreeze", "Let the controller go on", "Examples:\n  evenkeel cluster unfreeze",
           std::make_shared<ClusterOptions>(),
           [](const control::Snapshot& seen, const ClusterOptions&) { return control::unfreeze(seen); });
}

void add_maintenance(CLI::App& noun, Session& session) {
  auto* maintenance = noun.add_subcommand("maintenance", "Begin or end maintenance by hand");
  auto options = std::make_shared<ClusterOptions>();
  auto* on = add_verb(*maintenance, session, "on", "Move nothing; leaders still change",
                      "What has begun is finished; nothing new is placed, moved or dropped.\n\n"
                      "Examples:\n"
                      "  evenkeel cluster maintenance on --reason 'moving house' --for 4h",
                      options, [](const control::Snapshot& seen, const ClusterOptions& given) {
                        return control::maintain(seen, Maintenance{.reason = given.reason, .timeout = time_of(given)});
                      });
  on->add_option("--reason", options->reason, "Why, for whoever looks")->required()->type_name("TEXT");
  add_duration(*on, "--for", options->time, "It ends by itself after this time; else by hand");
  add_verb(*maintenance, session, "off", "End maintenance that was begun by hand",
           "Examples:\n  evenkeel cluster maintenance off", std::make_shared<ClusterOptions>(),
           [](const control::Snapshot& seen, const ClusterOptions&) { return control::maintain(seen, std::nullopt); });
  maintenance->require_subcommand(1);
}

void add_adopt(CLI::App& noun, Session& session) {
  auto* command = noun.add_subcommand("adopt", "Show what nodes hold and no record knows, or adopt all of it");
  command->footer(
      "After a store has lost what it knew, or a disk came back. With --all an order is written for each shard; what is on "
      "nodes\n"
      "that are not there is left out, and said.\n\n"
      "Examples:\n"
      "  evenkeel cluster adopt\n"
      "  evenkeel cluster adopt --all");
  auto options = std::make_shared<ClusterOptions>();
  command->add_flag("--all", options->all, "Adopt everything that is shown without it");
  add_change_options(*command, session, options->change, false);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] { adopt(session, *options); });
}

void add_set(CLI::App& noun, Session& session) {
  auto options = std::make_shared<ClusterOptions>();
  auto* command = add_verb(noun, session, "set", "Change settings of a cluster",
                           "Those of a cluster file's `settings`; KEY- gives one its usual value again. All are checked "
                           "together, and written together.\n\n"
                           "Examples:\n"
                           "  evenkeel cluster set rebalance_delay=10m max_offline=3\n"
                           "  evenkeel cluster set recovery.copies=200 max_offline-",
                           options, [](const control::Snapshot& seen, const ClusterOptions& given) -> Result<control::Changes> {
                             const auto settings = edit_settings(seen.config.value_or(ConfigDocument{}).settings, given.words);
                             if (!settings) return fail(settings.error());
                             return control::set_settings(seen, *settings);
                           });
  command->add_option("SETTING", options->words, "KEY=VALUE, or KEY- for its usual value")->required()->type_name("");
}

}  // namespace

void add_cluster(CLI::App& app, Session& session) {
  auto* noun = app.add_subcommand("cluster", "See how a cluster stands, freeze it, change its settings");
  add_show(*noun, session);
  add_freeze(*noun, session);
  add_maintenance(*noun, session);
  add_adopt(*noun, session);
  add_set(*noun, session);
  noun->require_subcommand(1);
}

}  // namespace evenkeel::cli
