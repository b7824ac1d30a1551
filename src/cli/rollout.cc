// evenkeel rollout: restarts nodes one after another, each with leave to stop. What is next is decided by control/rollout.h.

#include "evenkeel/control/rollout.h"

#include <sys/random.h>

#include <algorithm>
#include <array>

#include "evenkeel/base/clock.h"
#include "evenkeel/base/text.h"
#include "evenkeel/cli/permits.h"
#include "evenkeel/cli/progress.h"

namespace evenkeel::cli {
namespace {

using control::Rollout;
using control::RolloutNode;
using control::RolloutOptions;
using control::RolloutStep;
using Order = RolloutOptions::Order;

constexpr Duration rollout_look_every = 200ms;
constexpr Duration look_at_all_every = 1s;  // at records too, which may be many
constexpr Duration permit_outlasts = 30s;   // who is back and not whole is noticed before its permit ends as if it were

struct RolloutCommand {
  ClusterReach reach;
  ChangeOptions change;
  bool zone_by_zone = false;
  bool random_order = false;
  std::optional<std::uint64_t> seed;
  std::uint64_t at_once = 1;
  std::optional<std::string> nodes;
  std::optional<std::string> zone;
  bool allow_outage = false;
  Duration within = {};  // 0: as the cluster's settings say
  Duration pause = {};
  std::vector<std::string> words;
};

std::uint64_t some_seed() {
  std::uint32_t word = 0;
  ensure(getentropy(&word, sizeof word) == 0, "the system has random bytes");
  return word;
}

// "n1,n2"; of "" the one that is empty.
std::vector<std::string> parts_of(std::string_view words) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find(',', at), words.size());
    parts.emplace_back(words.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

RolloutOptions rollout_of(const RolloutCommand& options, const control::Snapshot& seen) {
  RolloutOptions rollout{.zone = options.zone.value_or(""), .at_once = options.at_once, .pause = options.pause};
  if (options.nodes) {
    for (std::string& name : parts_of(*options.nodes)) rollout.nodes.emplace_back(std::move(name));
  }
  if (options.zone_by_zone) rollout.order = Order::zone_by_zone;
  if (options.random_order) rollout.order = Order::random, rollout.seed = options.seed ? *options.seed : some_seed();
  rollout.permit.allow_outage = options.allow_outage;
  rollout.within = (seen.config ? seen.config->settings : Settings()).control.permit;
  if (options.within > Duration(0)) rollout.within = options.within;
  rollout.permit.timeout = rollout.within + permit_outlasts;
  return rollout;
}

// "n1,n2,n3"
std::string joined(const std::vector<NodeId>& nodes, std::string_view between) {
  std::string out;
  for (const NodeId& node : nodes) out += fmt::format("{}{}", out.empty() ? "" : between, node);
  return out;
}

std::string filled_in(std::string word, const RolloutNode& node) {
  const std::array<std::pair<std::string_view, std::string_view>, 3> places = {
      {{"{node}", node.node.str()}, {"{zone}", node.zone}, {"{address}", node.address}}};
  std::string out;
  for (std::size_t at = 0; at < word.size();) {
    const std::string_view rest = std::string_view(word).substr(at);
    const auto place = std::ranges::find_if(places, [&](const auto& one) { return rest.starts_with(one.first); });
    out += place == places.end() ? rest.substr(0, 1) : place->second;
    at += place == places.end() ? 1 : place->first.size();
  }
  return out;
}

Outside::Command command_for(const RolloutNode& node, const RolloutCommand& options, const ClusterId& cluster) {
  Outside::Command command;
  for (const std::string& word : options.words) command.words.push_back(filled_in(word, node));
  command.variables = {{"EVENKEEL_NODE", node.node.str()},
                       {"EVENKEEL_ZONE", node.zone},
                       {"EVENKEEL_ADDRESS", node.address},
                       {"EVENKEEL_CLUSTER", cluster.str()}};
  return command;
}

// What is shown of a rollout: its nodes in order. `now`: why each could not stop now, for a look before it begins.
std::string nodes_as(const std::vector<RolloutNode>& nodes, const std::vector<control::Stoppable>* now, Output output) {
  const auto why_not = [&](const RolloutNode& node) -> std::string {
    if (now == nullptr) return "";
    const auto& reasons = (*now)[static_cast<std::size_t>(&node - nodes.data())].nodes.front().why_not;
    return reasons.empty() ? "" : reasons.front();
  };
  const auto table_of = [&](bool) {
    Table table({"NODE", "ZONE", "ADDRESS", "STATE", "IN ITS WAY NOW"});
    for (const RolloutNode& node : nodes)
      table.add({node.node.str(), node.zone, node.address, std::string(name(node.stage)), why_not(node)});
    return table.format();
  };
  const auto write = [&](Writer& out, const RolloutNode& node) {
    out.begin_map(Writer::Flow::line).key("node").text(node.node.str()).key("zone").text(node.zone);
    out.key("address").text(node.address).key("state").text(name(node.stage));
    if (now != nullptr) out.key("in_its_way").text(why_not(node));
    out.end_map();
  };
  return list_as(
      nodes, output, table_of, [](const RolloutNode& node) { return fmt::format("node/{}", node.node); }, write);
}

class Runner {
 public:
  Runner(Session& session, Outside& outside, Interrupt& interrupt, OpenCluster& cluster, Rollout rollout,
         const RolloutCommand& options)
      : session_(session),
        outside_(outside),
        interrupt_(interrupt),
        cluster_(cluster),
        rollout_(std::move(rollout)),
        options_(options),
        progress_(session, outside) {}

  void run() {
    while (true) {
      const auto seen = look_patiently(cluster_, rollout_.asks_beside() ? all_kinds() : permit_kinds(), interrupt_);
      if (interrupt_.stopped()) return give_up(Error{Code::cancelled, "interrupted"});
      if (!seen) return give_up(seen.error());
      const RolloutStep step = rollout_.step(*seen, clock_.now());
      tell(step.waits);
      cluster_.look_after_controller();
      if (step.failed) return give_up(*step.failed);
      if (step.finished) return finish();
      if (const auto good = cluster_.check(step.changes); !good) return give_up(good.error());
      const auto done = cluster_.commit(step.changes);
      if (!done && done.error().code != Code::conflict) return give_up(done.error());
      if (!done) rollout_.not_written();
      if (step.stop) {
        if (const auto ran = stop(*step.stop); !ran) return give_up(ran.error());
        continue;
      }
      interrupt_.wait(rollout_.asks_beside() ? look_at_all_every : rollout_look_every);
    }
  }

 private:
  Result<> stop(const NodeId& name) {
    const RolloutNode& node = *std::ranges::find(rollout_.nodes(), name, &RolloutNode::node);
    tell({fmt::format("{} may stop, and its command runs", name)});
    session_.end_line();
    rollout_.stopped(name, clock_.now());
    const auto ended = outside_.run(command_for(node, options_, cluster_.name()));
    if (!ended) return fail(ended.error().in(name.str()));
    if (ended->asked) return fail(Code::cancelled, "{}: interrupted while its command ran", name);
    if (ended->killed) return fail(Code::refused, "{}: its command was killed by signal {}", name, ended->status);
    if (ended->status != 0) return fail(Code::refused, "{}: its command ended with status {}", name, ended->status);
    return {};
  }

  void tell(const std::vector<std::string>& what) {
    const std::size_t all = rollout_.nodes().size(), done = rollout_.in(true).size();
    std::string text = fmt::format("{} of {} nodes are done", done, all);
    if (!what.empty()) text += fmt::format("; {}", fmt::join(what, "; "));
    progress_.tell({.done = done, .all = all}, text);
  }

  void finish() {
    session_.say(fmt::format("{} nodes are restarted", rollout_.nodes().size()));
    session_.print(nodes_as(rollout_.nodes(), nullptr, options_.change.output));
  }

  void give_up(const Error& error) {
    session_.fail(error);
    withdraw(session_, cluster_, rollout_);
    say_how_to_go_on();
  }

  void say_how_to_go_on() {
    const auto line = [&](const std::string& text) { session_.io.err(fmt::format("  {}\n", text)); };
    const std::vector<NodeId> done = rollout_.in(true), left = rollout_.in(false);
    line(done.empty() ? "no node is done" : fmt::format("done: {}", joined(done, " ")));
    line(fmt::format("not done: {}", joined(left, " ")));
    for (const RolloutNode& node : rollout_.nodes()) {
      if (node.stage == RolloutNode::Stage::away)
        line(fmt::format("{} may be away until its permit is over; if it was not stopped, `evenkeel node permit {} --revoke`",
                         node.node, node.node));
    }
    line(fmt::format("to go on: the same with --node {}{}", joined(left, ","),
                     options_.random_order ? " and without --random-order" : ""));
  }

  Session& session_;
  Outside& outside_;
  Interrupt& interrupt_;
  OpenCluster& cluster_;
  Rollout rollout_;
  const RolloutCommand& options_;
  const BootClock clock_;
  Progress progress_;
};

void look_first(Session& session, const control::Snapshot& seen, const Rollout& rollout, Output output) {
  std::vector<std::vector<NodeId>> each;
  for (const RolloutNode& node : rollout.nodes()) each.push_back({node.node});
  const auto now = control::each_stoppable(seen, each);
  session.print(nodes_as(rollout.nodes(), &now, output));
}

void roll_out(Session& session, const RolloutCommand& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  Interrupt interrupt(*outside);  // before the first thread
  const auto cluster = open_cluster(session, *outside, options.reach);
  if (!cluster) return;
  const auto seen = cluster->read_existing(all_kinds());
  if (!seen) return;
  const RolloutOptions how = rollout_of(options, *seen);
  auto planned = control::plan_rollout(*seen, how);
  if (!planned) return session.fail(planned.error());
  for (const std::string& note : planned->notes) session.say(note);
  if (how.order == Order::random) session.say(fmt::format("the order is that of --seed {}", how.seed));
  if (options.change.dry_run) return look_first(session, *seen, planned->rollout, options.change.output);
  const std::size_t count = planned->rollout.nodes().size();
  if (!options.change.yes &&
      !agreed(session, *outside, fmt::format("Restart {} nodes of {}, {} at a time?", count, cluster->name(), options.at_once)))
    return;
  Runner(session, *outside, interrupt, *cluster, std::move(planned->rollout), options).run();
}

void check(const RolloutCommand& options) {
  if (options.zone_by_zone && options.random_order)
    throw CLI::ValidationError("--random-order", "and --zone-by-zone are two orders: give one of them");
  if (options.seed && !options.random_order) throw CLI::ValidationError("--seed", "goes with --random-order; add that");
  if (options.nodes && std::ranges::count(parts_of(*options.nodes), "") > 0)
    throw CLI::ValidationError("--node", fmt::format("{} has a name that is empty: name nodes as n1,n2, or leave it out for all",
                                                     quote(*options.nodes)));
  if (options.zone && options.zone->empty())
    throw CLI::ValidationError("--zone", "is empty: name a zone, or leave it out for all");
  if (options.at_once == 0) throw CLI::ValidationError("--max-at-once", "must be at least 1");
  if (options.words.empty() && !options.change.dry_run)
    throw CLI::ValidationError("COMMAND", "is required: what restarts a node, after --; or look first with --dry-run");
}

}  // namespace

void add_rollout(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("rollout", "Restart nodes one after another, without an outage");
  command->footer(
      "For each node: asks for leave to stop it, which the controller gives when every shard can do without it; waits until its "
      "leaders\n"
      "are handed over; runs COMMAND, which has to restart it; waits until it is back and all its replicas are in their states.\n"
      "In the words of COMMAND {node}, {zone} and {address} are filled in; EVENKEEL_NODE, EVENKEEL_ZONE, EVENKEEL_ADDRESS and\n"
      "EVENKEEL_CLUSTER are in its environment. Commands run one at a time; up to --max-at-once nodes are away together, where\n"
      "shards allow it, and with --zone-by-zone only those of one zone.\n"
      "A command that fails, a node that is not back in time, or an interrupt ends it: nothing more is asked for, and it says "
      "who "
      "is done\n"
      "and how to go on.\n\n"
      "Examples:\n"
      "  evenkeel rollout --dry-run --zone-by-zone\n"
      "  evenkeel rollout --zone-by-zone --max-at-once 3 -- ssh {node} systemctl restart pages\n"
      "  evenkeel rollout --node n3,n4 --yes -- ./restart.sh");
  auto options = std::make_shared<RolloutCommand>();
  command->add_flag("--zone-by-zone", options->zone_by_zone, "In order of zones, and never two zones at a time");
  command->add_flag("--random-order", options->random_order, "In an order by chance; else by name, or as --node has it");
  command
      ->add_option_function<std::uint64_t>(
          "--seed", [options](std::uint64_t seed) { options->seed = seed; }, "Of --random-order: the same gives the same order")
      ->type_name("NUMBER");
  add_count(*command, "--max-at-once", options->at_once, "How many nodes may be away together; 1");
  const auto text_of = [&](const std::string& name, std::optional<std::string>& into, const std::string& help) {
    return command->add_option_function<std::string>(
        name, [options, &into](const std::string& word) { into = word; }, help);
  };
  text_of("--node", options->nodes, "Only these, in this order: n1,n2; else all that are there")->type_name("NODES");
  text_of("--zone", options->zone, "Only those in this zone, or below it")->type_name("ZONE");
  command->add_flag("--allow-outage", options->allow_outage, "Even where a shard falls below min_active");
  add_duration(*command, "--within", options->within,
               "How long a node may take to get leave, and again to be back; else as the cluster's settings say (permit)");
  add_duration(*command, "--pause-between", options->pause, "Between a node that is done and the next");
  add_change_options(*command, session, options->change, true);
  add_cluster_reach(*command, session, options->reach);
  command->add_option("COMMAND", options->words, "What restarts a node, after --")->type_name("");
  command->callback([&session, options] {
    check(*options);
    roll_out(session, *options);
  });
}

}  // namespace evenkeel::cli
