// evenkeel validate -f FILE: is a cluster file right, and what does it say?

#include <algorithm>
#include <set>

#include "evenkeel/base/text.h"
#include "evenkeel/cli/command.h"
#include "evenkeel/model/cluster_file.h"

namespace evenkeel::cli {
namespace {

std::string format_amounts(const Amounts& amounts) {
  std::vector<std::string> parts;
  for (const auto& [resource, amount] : amounts) parts.push_back(fmt::format("{}={}", resource, format(amount)));
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string outermost(const std::string& zone) { return zone.substr(0, zone.find('/')); }

std::string workloads_table(const Cluster& cluster, bool wide) {
  std::vector<std::string> header = {"WORKLOAD", "SHARDS", "REPLICAS", "PLACED", "LOAD"};
  if (wide) header.insert(header.end(), {"LEADER LOAD", "STATE MODEL", "SPREAD", "REQUIRES"});
  Table table(header);
  for (const Workload& workload : cluster.workloads) {
    const auto placed = cluster.placement.find(workload.name);
    std::vector<std::string> row = {workload.name.str(), fmt::format("{}", workload.shards), fmt::format("{}", workload.replicas),
                                    fmt::format("{}", placed == cluster.placement.end() ? 0 : placed->second.size()),
                                    format_amounts(workload.load)};
    if (wide) {
      const Spread& spread = workload.spread ? *workload.spread : cluster.settings.spread;
      std::vector<std::string> labels;
      for (const auto& [key, value] : workload.require) labels.push_back(fmt::format("{}={}", key, value));
      row.insert(row.end(), {format_amounts(workload.leader_load), workload.state_model.str(),
                             fmt::format("{} ({})", spread.level, spread.hard ? "hard" : "soft"),
                             fmt::format("{}", fmt::join(labels, " "))});
    }
    table.add(std::move(row));
  }
  return table.format();
}

// Nodes by their outermost zone: how many, how many of them up, and what they offer together.
std::string zones_table(const Cluster& cluster) {
  std::set<ResourceId> resources;
  std::map<std::string, std::vector<const Node*>> zones;
  for (const Node& node : cluster.nodes) {
    zones[outermost(node.zone)].push_back(&node);
    for (const auto& [resource, amount] : node.capacity) resources.insert(resource);
  }
  std::vector<std::string> header = {"ZONE", "NODES", "UP", "CORES"};
  for (const ResourceId& resource : resources) {
    header.push_back(resource.str());
    std::ranges::transform(header.back(), header.back().begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  }
  Table table(header);
  for (const auto& [zone, nodes] : zones) {
    std::uint64_t up = 0, cores = 0;
    Amounts sum;
    for (const Node* node : nodes) {
      up += node->status == NodeStatus::up ? 1 : 0;
      cores += node->cores;
      for (const auto& [resource, amount] : node->capacity) sum[resource] += amount;
    }
    std::vector<std::string> row = {zone, fmt::format("{}", nodes.size()), fmt::format("{}", up),
                                    cores == 0 ? "" : fmt::format("{}", cores)};
    for (const ResourceId& resource : resources) row.push_back(sum.contains(resource) ? format(sum[resource]) : "");
    table.add(std::move(row));
  }
  return table.format();
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string summary(const Cluster& cluster, const std::string& file) {
  std::set<std::string> zones;
  for (const Node& node : cluster.nodes) {
    if (!node.zone.empty()) zones.insert(outermost(node.zone));
  }
  std::uint64_t shards = 0, replicas = 0;
  for (const Workload& workload : cluster.workloads) {
    shards += workload.shards;
    replicas += std::uint64_t{workload.shards} * workload.replicas;
  }
  const std::vector<std::string> parts = {
      counted(cluster.nodes.size(), "node") + (zones.empty() ? "" : " in " + counted(zones.size(), "zone")),
      counted(cluster.workloads.size(), "workload"), counted(shards, "shard"), counted(replicas, "replica")};
  return fmt::format("{} is valid: cluster {}, {}", file == "-" ? "standard input" : file, cluster.name, fmt::join(parts, ", "));
}

std::string cluster_as(const Cluster& cluster, Output output) {
  switch (output) {
    case Output::table:
      return workloads_table(cluster, false);
    case Output::wide:
      return zones_table(cluster) + "\n" + workloads_table(cluster, true);
    case Output::json:
      return format_cluster(cluster, Syntax::json);
    case Output::yaml:
      return format_cluster(cluster, Syntax::yaml);
    case Output::name:
      break;
  }
  return fmt::format("cluster/{}\n", cluster.name);
}

void validate(Session& session, const std::string& file, Output output) {
  auto text = session.io.read_file(file);
  if (!text) return session.fail(text.error());
  const auto cluster = parse_cluster(*text, file == "-" ? "<stdin>" : file);
  *text = {};
  if (!cluster) return session.fail(cluster.error());
  session.say(summary(*cluster, file));
  session.print(cluster_as(*cluster, output));
}

}  // namespace

void add_validate(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("validate", "Check a cluster file, and print what it says");
  command->footer(
      "Every error is printed with its line and column, all of them at once.\n"
      "-o yaml and -o json print the whole file in its one canonical form, so they also convert.\n\n"
      "Examples:\n"
      "  evenkeel validate -f pages.yaml\n"
      "  evenkeel validate -f pages.yaml -o json > pages.json");
  struct Options {
    std::string file;
    Output output = Output::table;
  };
  auto options = std::make_shared<Options>();
  add_file(*command, session, options->file)->required();
  add_output(*command, session, options->output);
  command->callback([&session, options] { validate(session, options->file, options->output); });
}

}  // namespace evenkeel::cli
