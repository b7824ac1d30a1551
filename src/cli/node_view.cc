// evenkeel node list, show: who is there, what it holds, and what operators ask of it.

#include <algorithm>

#include "evenkeel/base/write.h"
#include "evenkeel/cli/health.h"

namespace evenkeel::cli {
namespace {

using control::NodeSurvey;

struct NodeViewOptions {
  ClusterReach reach;
  Output output = Output::table;
  bool watch = false;
  std::string node;
};

KindList kinds_of_view() {
  KindList kinds = node_kinds();
  kinds.push_back(Key::Kind::report);
  kinds.push_back(Key::Kind::view);
  return kinds;
}

std::string table_of(const std::vector<NodeSurvey>& nodes, bool wide) {
  std::vector<std::string> header{"NODE", "STATE", "ZONE", "REPLICAS", "LEADERS", "ERRORS", "OPERATION", "REASON"};
  if (wide) header.insert(header.end(), {"PERMIT", "ADDRESS", "VERSION"});
  Table table(std::move(header));
  for (const NodeSurvey& node : nodes) {
    std::vector<std::string> row{node.node.str(),
                                 state_of(node),
                                 node.zone,
                                 fmt::format("{}", node.replicas),
                                 fmt::format("{}", node.leaders),
                                 fmt::format("{}", node.errors),
                                 operation_of(node),
                                 node.reason};
    if (wide) row.insert(row.end(), {node.permit ? std::string(name(*node.permit)) : "", node.address, node.version});
    table.add(std::move(row));
  }
  return table.format();
}

void write_fields(Writer& out, const NodeSurvey& node) {
  out.key("node").text(node.node.str()).key("state").text(name(node.state));
  if (node.gone) out.key("gone").text(format(*node.gone));
  out.key("zone").text(node.zone).key("address").text(node.address).key("version").text(node.version);
  out.key("operation").text(name(node.operation));
  if (node.swap_with) out.key("swap_with").text(node.swap_with->str());
  if (!node.reason.empty()) out.key("reason").text(node.reason);
  if (node.permit) out.key("permit").text(name(*node.permit));
  out.key("replicas").number(node.replicas).key("leaders").number(node.leaders).key("errors").number(node.errors);
}

void write_node(Writer& out, const NodeSurvey& node) {
  out.begin_map(Writer::Flow::line);
  write_fields(out, node);
  out.end_map();
}

std::string nodes_as(const std::vector<NodeSurvey>& nodes, Output output) {
  return list_as(
      nodes, output, [&](bool wide) { return table_of(nodes, wide); },
      [](const NodeSurvey& node) { return fmt::format("node/{}", node.node); }, write_node);
}

std::string amounts_of(const Amounts& amounts) {
  std::string out;
  for (const auto& [resource, amount] : amounts) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", resource, format(amount));
  return out;
}
std::string labels_of(const Labels& labels) {
  std::string out;
  for (const auto& [key, value] : labels) out += fmt::format("{}{}={}", out.empty() ? "" : ", ", key, value);
  return out;
}
std::string taints_of(const std::vector<Taint>& taints) {
  std::string out;
  for (const Taint& taint : taints)
    out += fmt::format("{}{}={}:{}", out.empty() ? "" : ", ", taint.key, taint.value, name(taint.effect));
  return out;
}

// What it says of itself, or what operators have laid over that.
template <class T>
std::string over(const std::optional<T>& laid, const T& own, std::string (*shown)(const T&)) {
  return laid ? shown(*laid) + " (set by an operator)" : shown(own);
}

// What a node is, from all sides.
struct NodePage {
  const NodeSurvey& node;
  NodeDocument laid;                                    // by operators
  LiveDocument own;                                     // what it says, or said last
  std::vector<std::pair<ShardId, std::string>> failed;  // with the handler's words
};

NodePage page_of(const control::Snapshot& seen, const NodeSurvey& node) {
  NodePage page{.node = node, .laid = {}, .own = {}, .failed = {}};
  if (const auto found = seen.nodes.find(node.node); found != seen.nodes.end()) page.laid = found->second;
  if (const LiveDocument* said = seen.said(node.node)) page.own = *said;
  for (const Report& report : seen.reports) {
    if (report.node != node.node) continue;
    for (const ReplicaReport& replica : report.replicas) {
      if (!replica.error.empty()) page.failed.emplace_back(ShardId{report.workload, replica.shard}, replica.error);
    }
  }
  return page;
}

// A line each.
std::string table_of(const NodePage& page) {
  const auto& [node, laid, own, failed] = page;
  Table table({"NODE", node.node.str()});
  table.add({"state", state_of(node)});
  table.add({"zone", node.zone});
  table.add({"address", node.address});
  table.add({"version", node.version});
  table.add({"operation", operation_of(node)});
  if (!node.reason.empty()) table.add({"reason", node.reason});
  if (node.permit) table.add({"permit", std::string(name(*node.permit))});
  table.add({"replicas", fmt::format("{}, leading {}, {} in error", node.replicas, node.leaders, node.errors)});
  table.add({"capacity", over(laid.capacity, own.capacity, amounts_of)});
  table.add({"power", over<Quantity>(laid.power, own.power, [](const Quantity& power) { return format(power); })});
  table.add({"labels", over(laid.labels, own.labels, labels_of)});
  table.add({"taints", over(laid.taints, own.taints, taints_of)});
  if (laid.rebalance_delay) table.add({"rebalance_delay", format(*laid.rebalance_delay)});
  for (const ShardId& shard : laid.disabled) table.add({"disabled", format(shard)});
  for (const auto& [shard, words] : failed) table.add({"error", fmt::format("{}: {}", format(shard), words)});
  return table.format();
}

void write_laid(Writer& out, const NodeDocument& laid) {
  constexpr auto line = Writer::Flow::line;
  out.key("set_by_operator").begin_list(line);
  if (laid.capacity) out.text("capacity");
  if (laid.power) out.text("power");
  if (laid.labels) out.text("labels");
  if (laid.taints) out.text("taints");
  out.end_list();
  if (laid.rebalance_delay) out.key("rebalance_delay").text(format(*laid.rebalance_delay));
  out.key("disabled").begin_list(line);
  for (const ShardId& shard : laid.disabled) out.text(format(shard));
  out.end_list();
}

// The same as one map.
std::string map_of(const NodePage& page, Syntax syntax) {
  const auto& [node, laid, own, failed] = page;
  constexpr auto line = Writer::Flow::line;
  Writer out(syntax);
  out.begin_map();
  write_fields(out, node);
  out.key("capacity").begin_map(line);
  for (const auto& [resource, amount] : laid.capacity.value_or(own.capacity)) out.key(resource.str()).number(format(amount));
  out.end_map().key("power").number(format(laid.power.value_or(own.power))).key("labels").begin_map(line);
  for (const auto& [key, value] : laid.labels.value_or(own.labels)) out.key(key).text(value);
  out.end_map().key("taints").begin_list();
  for (const Taint& taint : laid.taints.value_or(own.taints)) {
    out.begin_map(line).key("key").text(taint.key).key("value").text(taint.value);
    out.key("effect").text(name(taint.effect)).end_map();
  }
  out.end_list();
  write_laid(out, laid);
  out.key("failed").begin_list();
  for (const auto& [shard, words] : failed)
    out.begin_map(line).key("shard").text(format(shard)).key("error").text(words).end_map();
  out.end_list().end_map();
  return std::move(out).take();
}

std::string page_as(const NodePage& page, Output output) {
  if (output == Output::name) return fmt::format("node/{}\n", page.node.node);
  if (output == Output::table || output == Output::wide) return table_of(page);
  return map_of(page, output == Output::json ? Syntax::json : Syntax::yaml);
}

Result<std::string> look(OpenCluster& cluster, const NodeViewOptions& options) {
  const auto seen = cluster.look_existing(kinds_of_view());
  if (!seen) return fail(seen.error());
  const auto nodes = control::survey_nodes(*seen);
  if (options.node.empty()) return nodes_as(nodes, options.output);
  const NodeId node(options.node);
  if (const auto good = control::check_node(*seen, node); !good) return fail(good.error());
  return page_as(page_of(*seen, *std::ranges::find(nodes, node, &NodeSurvey::node)), options.output);
}

void view(Session& session, const NodeViewOptions& options) {
  show(session, options.reach, options.watch, [&](OpenCluster& cluster) { return look(cluster, options); });
}

std::shared_ptr<NodeViewOptions> view_options_of(CLI::App& command, Session& session) {
  auto options = std::make_shared<NodeViewOptions>();
  add_output(command, session, options->output);
  add_watch(command, options->watch);
  add_cluster_reach(command, session, options->reach);
  return options;
}

}  // namespace

void add_node_list(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("list", "Show the nodes of a cluster");
  command->footer(
      "REPLICAS are those that the node is told to have: what a drain has still to move. LEADERS are those that clients see "
      "lead:\n"
      "one that was told to and fails is none, and counts among ERRORS. How long one is gone is as the controller has saved it,\n"
      "every ten seconds.\n\n"
      "Examples:\n"
      "  evenkeel node list\n"
      "  evenkeel node list --cluster pages -o json --watch");
  auto options = view_options_of(*command, session);
  command->callback([&session, options] { view(session, *options); });
}

void add_node_show(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("show", "Show a node: what it is, what is asked of it, what failed there");
  command->footer(
      "Examples:\n"
      "  evenkeel node show n3\n"
      "  evenkeel node show n3 -o yaml");
  auto options = view_options_of(*command, session);
  command->add_option("NODE", options->node, "The node")->required()->type_name("");
  command->callback([&session, options] { view(session, *options); });
}

}  // namespace evenkeel::cli
