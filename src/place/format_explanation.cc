#include <algorithm>
#include <array>

#include "evenkeel/base/write.h"
#include "evenkeel/place/explain.h"

namespace evenkeel::place {
namespace {

using Flow = Writer::Flow;

const std::string& node_name(const Cluster& cluster, NodeIndex node) { return cluster.nodes[node.value()].name.str(); }

void write_row(Writer& out, const Cluster& cluster, std::string_view name, const std::vector<NodeIndex>& row) {
  out.key(name).begin_list(Flow::line);
  for (const NodeIndex node : row) out.text(node_name(cluster, node));
  out.end_list();
}

std::string row_text(const Cluster& cluster, const std::vector<NodeIndex>& row) {
  std::string out;
  for (const NodeIndex node : row) out += (out.empty() ? "" : " ") + node_name(cluster, node);
  return out.empty() ? "nowhere" : out;
}

// Nodes that hold the shard first, then those that could, then the others; within each in the order given, that of names.
std::vector<const NodeVerdict*> by_kind(const Explanation& explanation) {
  std::vector<const NodeVerdict*> out;
  for (const NodeVerdict& verdict : explanation.nodes) out.push_back(&verdict);
  std::ranges::stable_sort(out, {}, &NodeVerdict::kind);
  return out;
}

}  // namespace

std::string_view name(NodeVerdict::Kind kind) {
  static constexpr std::array<std::string_view, 5> words = {"leads", "holds", "leaves", "could", "cannot"};
  return words.at(static_cast<std::size_t>(kind));
}

std::string format_explanation(const Cluster& cluster, const Explanation& explanation, Syntax syntax) {
  Writer out(syntax);
  out.begin_map().key("workload").text(explanation.shard.workload.str()).key("shard").number(explanation.shard.shard.value());
  write_row(out, cluster, "before", explanation.before);
  write_row(out, cluster, "after", explanation.after);
  out.key("summary").begin_list();
  for (const std::string& sentence : explanation.summary) out.text(sentence);
  out.end_list().key("nodes").begin_list();
  for (const NodeVerdict& verdict : explanation.nodes) {
    out.begin_map(Flow::line).key("node").text(node_name(cluster, verdict.node)).key("verdict").text(name(verdict.kind));
    out.key("reason");
    verdict.reason.empty() ? out.null() : out.text(verdict.reason);
    out.end_map();
  }
  out.end_list().end_map();
  return std::move(out).take();
}

std::string format_explanation(const Cluster& cluster, const Explanation& explanation) {
  const std::string before = row_text(cluster, explanation.before), after = row_text(cluster, explanation.after);
  std::string out = format(explanation.shard) + ": " + (before == after ? before : before + " -> " + after) + "\n";
  for (const std::string& sentence : explanation.summary) out += fmt::format("  {}\n", sentence);
  std::size_t width = 0;
  for (const NodeVerdict& verdict : explanation.nodes) width = std::max(width, node_name(cluster, verdict.node).size());
  if (!explanation.nodes.empty()) out += '\n';
  for (const NodeVerdict* verdict : by_kind(explanation)) {
    const std::string reason = verdict->reason.empty() ? "" : "  " + verdict->reason;
    std::string line = fmt::format("{:{}}  {:6}{}", node_name(cluster, verdict->node), width, name(verdict->kind), reason);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace evenkeel::place
