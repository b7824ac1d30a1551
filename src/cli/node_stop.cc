// evenkeel node stoppable, permit: whether nodes could stop, and the leave to do so.

#include "evenkeel/base/clock.h"
#include "evenkeel/cli/permits.h"

namespace evenkeel::cli {
namespace {

using control::Stoppable;

constexpr Duration stop_look_every = 200ms;

// 1. Whether they could.

struct AskOptions {
  ClusterReach reach;
  Output output = Output::table;
  std::vector<std::string> nodes;
};

std::string answer_as(const Stoppable& answer, Output output) {
  if (output == Output::name) {
    std::string out;
    for (const Stoppable::Node& one : answer.nodes) out += one.why_not.empty() ? fmt::format("node/{}\n", one.node) : "";
    return out;
  }
  if (output == Output::table || output == Output::wide) {
    Table table({"NODE", "STOPPABLE", "WHY NOT"});
    for (const Stoppable::Node& one : answer.nodes) {
      table.add({one.node.str(), one.why_not.empty() ? "yes" : "no", one.why_not.empty() ? "" : one.why_not.front()});
      for (std::size_t i = 1; i < one.why_not.size(); ++i) table.add({one.node.str(), "no", one.why_not[i]});
    }
    return table.format();
  }
  Writer out(output == Output::json ? Syntax::json : Syntax::yaml);
  out.begin_map().key("all").flag(answer.all).key("nodes").begin_list();
  for (const Stoppable::Node& one : answer.nodes) {
    out.begin_map().key("node").text(one.node.str()).key("stoppable").flag(one.why_not.empty()).key("why_not").begin_list();
    for (const std::string& why : one.why_not) out.text(why);
    out.end_list().end_map();
  }
  out.end_list().end_map();
  return std::move(out).take();
}

void ask(Session& session, const AskOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto cluster = open_cluster(session, *outside, options.reach);
  if (!cluster) return;
  const auto seen = cluster->read_existing(all_kinds());
  if (!seen) return;
  std::vector<NodeId> nodes;
  for (const std::string& word : options.nodes) {
    nodes.emplace_back(word);
    if (const auto good = control::check_node(*seen, nodes.back()); !good) return session.fail(good.error());
  }
  if (const auto error = why_not_known(*cluster)) return session.fail(*error);
  const Stoppable answer = control::stoppable(*seen, nodes);
  session.print(answer_as(answer, options.output));
  if (!answer.all && session.status == Exit::done) session.status = Exit::failed;
}

// 2. Leave to stop.

struct PermitOptions {
  ClusterReach reach;
  ChangeOptions change;
  std::string node;
  bool allow_outage = false;
  Duration holds = {};  // 0: as the cluster's settings say
  bool revoke = false;
  bool wait = false;
  Duration within = {};  // 0: as long as it takes
};

control::PermitWish wish_of(const PermitOptions& options) {
  return {.allow_outage = options.allow_outage,
          .timeout = options.holds > Duration(0) ? std::optional(options.holds) : std::nullopt};
}

std::string gone_as(const NodeId& node, Output output) {
  if (output == Output::name) return fmt::format("permit/{}\n", node);
  if (output == Output::table || output == Output::wide) return fmt::format("node/{} may stop\n", node);
  Writer out(output == Output::json ? Syntax::json : Syntax::yaml);
  out.begin_map().key("node").text(node.str()).key("permit").text(name(PermitDocument::Stage::go)).end_map();
  return std::move(out).take();
}

// Asks, and looks until it may stop. Who stops waiting does not want it any more.
void ask_and_wait(Session& session, OpenCluster& cluster, Interrupt& interrupt, const PermitOptions& options) {
  const NodeId node(options.node);
  const Duration within = options.within > Duration(0) ? options.within : Duration::max();
  control::Rollout rollout({{.node = node}}, {.nodes = {node}, .permit = wish_of(options), .within = within});
  const BootClock clock;
  std::string told;
  const auto give_up = [&](const Error& error) {
    session.fail(error);
    withdraw(session, cluster, rollout);
  };
  while (true) {
    const auto seen = look_patiently(cluster, permit_kinds(), interrupt);
    if (!seen) return give_up(seen.error());
    if (const auto good = control::check_node(*seen, node); !good) return give_up(good.error());
    const control::RolloutStep step = rollout.step(*seen, clock.now());
    if (step.failed) return give_up(*step.failed);
    if (step.stop) return session.print(gone_as(node, options.change.output));
    cluster.look_after_controller();
    if (const auto good = cluster.check(step.changes); !good) return give_up(good.error());
    const auto done = cluster.commit(step.changes);
    if (!done && done.error().code != Code::conflict) return give_up(done.error());
    if (!done) rollout.not_written();
    for (const std::string& what : step.waits) {
      if (std::exchange(told, what) != what) session.say(what);
    }
    if (interrupt.wait(stop_look_every) == Outside::Signal::stop)
      return give_up(Error{Code::cancelled, fmt::format("interrupted; the permit of {} is taken back", node)});
  }
}

void permit(Session& session, const PermitOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  std::optional<Interrupt> interrupt;
  if (options.wait) interrupt.emplace(*outside);  // before the first thread
  const auto cluster = open_cluster(session, *outside, options.reach);
  if (!cluster) return;
  const auto seen = cluster->read_existing(permit_kinds());
  if (!seen) return;
  if (options.wait) return ask_and_wait(session, *cluster, *interrupt, options);
  const NodeId node(options.node);
  if (!options.revoke)
    return void(change(session, *outside, *cluster, control::ask_permit(*seen, node, wish_of(options)), options.change));
  const auto found = seen->permits.find(node);
  const bool late = found != seen->permits.end() && found->second.stage == PermitDocument::Stage::go;
  change(session, *outside, *cluster, control::revoke_permit(*seen, node), options.change,
         late ? fmt::format("Take back a permit that {} has?", node) : "");
}

void check(const PermitOptions& options) {
  if (options.revoke && (options.wait || options.allow_outage || options.holds > Duration(0)))
    throw CLI::ValidationError("--revoke", "takes a permit back, and needs no --wait, --allow-outage or --for: leave those out");
  if (options.within > Duration(0) && !options.wait) throw CLI::ValidationError("--within", "goes with --wait; add that");
  if (options.wait && options.change.dry_run)
    throw CLI::ValidationError("--dry-run", "writes nothing to wait for: leave out --wait");
}

}  // namespace

void add_node_stoppable(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("stoppable", "Say whether nodes could stop now, all of them together");
  command->footer(
      "Beside those that have a permit: every shard must keep min_active serving, and one that may lead. Nothing is given or "
      "promised;\n"
      "`evenkeel node permit` asks for leave. Exit status 1: not all of them could. They are shown with the reasons.\n\n"
      "Examples:\n"
      "  evenkeel node stoppable n3\n"
      "  evenkeel node stoppable n3 n4 n5 -o json");
  auto options = std::make_shared<AskOptions>();
  command->add_option("NODE", options->nodes, "The nodes")->required()->type_name("");
  add_output(*command, session, options->output);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] { ask(session, *options); });
}

void add_node_permit(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("permit", "Ask for leave to stop a node, or take it back");
  command->footer(
      "The controller lets the node's leaders move to others, takes it out of what clients see, and then lets it stop: --wait "
      "waits for\n"
      "that. From then on the node is expected back within --for, and nothing is made anew elsewhere meanwhile. Nodes that leave "
      "cleanly\n"
      "ask by themselves, and find this permit. It ends when the node is back with all its replicas, or at its time.\n"
      "With --wait, exit status 1 says that it may never stop, 5 that the time was over; the permit is taken back then.\n\n"
      "Examples:\n"
      "  evenkeel node permit n3 --wait && ssh n3 reboot\n"
      "  evenkeel node permit n3 --revoke");
  auto options = std::make_shared<PermitOptions>();
  command->add_option("NODE", options->node, "The node")->required()->type_name("");
  command->add_flag("--allow-outage", options->allow_outage, "Even if a shard falls below min_active");
  add_duration(*command, "--for", options->holds, "How long it may be away; else as the cluster's settings say (permit)");
  command->add_flag("--wait", options->wait, "Wait until it may stop");
  add_duration(*command, "--within", options->within, "With --wait: how long; else as long as it takes");
  command->add_flag("--revoke", options->revoke, "Take the permit back; asks if the node may stop already");
  add_change_options(*command, session, options->change, true);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] {
    check(*options);
    permit(session, *options);
  });
}

}  // namespace evenkeel::cli
