// evenkeel workload VERB: what there is to be placed, and how it stands.

#include "evenkeel/base/write.h"
#include "evenkeel/cli/apply_file.h"
#include "evenkeel/control/survey.h"

namespace evenkeel::cli {
namespace {

using control::WorkloadSurvey;

struct WorkloadOptions {
  ClusterReach reach;
  ChangeOptions change;
  Output output = Output::table;
  bool watch = false;
  std::string workload;
  std::string file;
};

std::string_view state_of(const WorkloadSurvey& one) {
  if (one.deleted) return "being deleted";
  if (one.leads && one.led < one.shards - one.unborn) return "leaders missing";
  if (one.below_min_active > 0) return "below min_active";
  if (one.errors > 0) return "errors";
  if (one.incomplete > 0) return "replicas missing";
  return one.split_from > 0 ? "being split" : "well";
}

std::string table_of(const std::vector<WorkloadSurvey>& workloads) {
  const auto text = [](std::uint32_t number) { return fmt::format("{}", number); };
  Table table({"WORKLOAD", "STATE", "SHARDS", "REPLICAS", "LED", "BELOW MIN", "INCOMPLETE", "ERRORS"});
  for (const WorkloadSurvey& one : workloads) {
    table.add({one.workload.str(), std::string(state_of(one)), text(one.shards), text(one.replicas),
               one.leads ? text(one.led) : "", text(one.below_min_active), text(one.incomplete), text(one.errors)});
  }
  return table.format();
}

void write_workload(Writer& out, const WorkloadSurvey& one) {
  out.begin_map(Writer::Flow::line).key("workload").text(one.workload.str()).key("state").text(state_of(one));
  out.key("shards").number(one.shards).key("replicas").number(one.replicas).key("min_active").number(one.min_active);
  if (one.leads) out.key("led").number(one.led);
  out.key("below_min_active").number(one.below_min_active).key("incomplete").number(one.incomplete);
  if (one.split_from > 0) out.key("split_from").number(one.split_from).key("unborn").number(one.unborn);
  out.key("errors").number(one.errors).key("deleted").flag(one.deleted).end_map();
}

std::string workloads_as(const std::vector<WorkloadSurvey>& workloads, Output output) {
  return list_as(
      workloads, output, [&](bool) { return table_of(workloads); },
      [](const WorkloadSurvey& one) { return fmt::format("workload/{}", one.workload); }, write_workload);
}

// How it stands, and its spec as it is written.
std::string page_of(const control::Snapshot& seen, const WorkloadSurvey& one) {
  const Workload& spec = seen.workloads.at(one.workload).spec;
  Table table({"WORKLOAD", one.workload.str()});
  table.add({"state", std::string(state_of(one))});
  table.add({"state model", spec.state_model.str()});
  table.add({"shards", fmt::format("{} with {} replicas each", one.shards, one.replicas)});
  if (one.split_from > 0)
    table.add({"split", fmt::format("{} of {} are split off", one.split_from - one.unborn, one.split_from)});
  table.add({"buckets", fmt::format("{}", seen.workloads.at(one.workload).buckets)});
  if (one.leads) table.add({"led", fmt::format("{} of {}", one.led, one.shards - one.unborn)});
  table.add({"below min_active", fmt::format("{}, of at least {} that serve", one.below_min_active, one.min_active)});
  table.add({"incomplete", fmt::format("{}", one.incomplete)});
  table.add({"in error", fmt::format("{} replicas", one.errors)});
  table.add({"fencing", fmt::format("{}, acks {}", name(spec.control.fencing), spec.control.acks)});
  std::size_t shown = 0;
  for (const Report& report : seen.reports) {
    for (const ReplicaReport& replica : report.replicas) {
      if (report.workload != one.workload || replica.error.empty() || ++shown > 10) continue;
      table.add({"error", fmt::format("{} on {}: {}", replica.shard, report.node, replica.error)});
    }
  }
  return table.format();
}

std::optional<std::string> look(Session& session, OpenCluster& cluster, const WorkloadOptions& options) {
  const auto seen = cluster.read_existing(workload_kinds());
  if (!seen) return std::nullopt;
  auto workloads = control::survey_workloads(*seen);
  if (options.workload.empty()) return workloads_as(workloads, options.output);
  std::erase_if(workloads, [&](const WorkloadSurvey& one) { return one.workload.str() != options.workload; });
  if (workloads.empty()) {
    const auto missing = control::check_workload(*seen, WorkloadId(options.workload));
    return session.fail(missing ? Error{Code::not_found, "it is gone"} : missing.error()), std::nullopt;
  }
  return options.output == Output::table || options.output == Output::wide ? page_of(*seen, workloads.front())
                                                                           : workloads_as(workloads, options.output);
}

void view(Session& session, const WorkloadOptions& options) {
  show(session, options.reach, options.watch, [&](OpenCluster& cluster) { return look(session, cluster, options); });
}

void create(Session& session, WorkloadOptions options) {
  const auto file = read_cluster_file(session, options.file);
  if (!file) return;
  if (file->cluster.workloads.empty())
    return session.fail(
        Error{Code::invalid, fmt::format("{} has no workloads: write some, as in docs/cluster-file.md", options.file)});
  Outside* outside = outside_of(session);
  if (outside == nullptr || !name_cluster(session, *outside, *file, options.reach)) return;
  const auto cluster = open_cluster(session, *outside, options.reach);
  if (!cluster) return;
  const auto seen = cluster->read_existing(node_kinds());
  if (!seen) return;
  change(session, *outside, *cluster, control::apply_file(*seen, file->cluster, {.settings = false, .only_new = true}),
         options.change);
}

void remove(Session& session, const WorkloadOptions& options) {
  operate(
      session, options.reach, options.change, node_kinds(),
      [&](const control::Snapshot& seen) { return control::delete_workload(seen, WorkloadId(options.workload)); },
      fmt::format("Delete {} with all its data? There is no way back.", options.workload));
}

void split(Session& session, const WorkloadOptions& options) {
  operate(
      session, options.reach, options.change, workload_kinds(),
      [&](const control::Snapshot& seen) { return control::split_workload(seen, WorkloadId(options.workload)); },
      fmt::format("Split the shards of {}, each into two? There is no way back.", options.workload));
}

void add_views(CLI::App& noun, Session& session) {
  auto* list = noun.add_subcommand("list", "Show the workloads of a cluster");
  list->footer(
      "LED is how many shards have a leader, BELOW MIN how many are served by fewer than min_active, INCOMPLETE how many by "
      "fewer\n"
      "than all their replicas, ERRORS how many replicas have failed.\n\n"
      "Examples:\n"
      "  evenkeel workload list --watch");
  auto* one = noun.add_subcommand("show", "Show a workload: how it stands, and what failed");
  one->footer("Examples:\n  evenkeel workload show t1");
  for (auto* command : {list, one}) {
    auto options = std::make_shared<WorkloadOptions>();
    if (command == one) command->add_option("WORKLOAD", options->workload, "The workload")->required()->type_name("");
    add_output(*command, session, options->output);
    add_watch(*command, options->watch);
    add_cluster_reach(*command, session, options->reach);
    command->callback([&session, options] { view(session, *options); });
  }
}

void add_create(CLI::App& noun, Session& session) {
  auto* command = noun.add_subcommand("create", "Create the workloads of a cluster file");
  command->footer(
      "Only its workloads are looked at; one that is there already is a conflict, exit status 4, and nothing is written.\n\n"
      "Examples:\n"
      "  evenkeel workload create -f t1.yaml\n"
      "  echo 'workloads: [{name: t1, shards: 64, replicas: 3}]' | evenkeel workload create -f -");
  auto options = std::make_shared<WorkloadOptions>();
  add_file(*command, session, options->file)->required();
  add_change_options(*command, session, options->change, false);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] { create(session, *options); });
}

void add_delete(CLI::App& noun, Session& session) {
  auto* command = noun.add_subcommand("delete", "Delete a workload with all its data");
  command->footer(
      "Its replicas are dropped wherever they are. Its highest epoch stays behind, so that a new one of its name begins above "
      "it.\n\n"
      "Examples:\n"
      "  evenkeel workload delete t1");
  auto options = std::make_shared<WorkloadOptions>();
  command->add_option("WORKLOAD", options->workload, "The workload")->required()->type_name("");
  add_change_options(*command, session, options->change, true);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] { remove(session, *options); });
}

void add_split(CLI::App& noun, Session& session) {
  auto* command = noun.add_subcommand("split", "Double the number of a workload's shards while it serves");
  command->footer(
      "Shard i of n keeps half of its keys, and shard i + n begins as a copy of it, on the same nodes; then it is placed like "
      "any "
      "other.\n"
      "One by one: a shard takes no writes while its copies are made, and counts as a copy for balance. The service must know "
      "how:\n"
      "its handler is called with the reason `split`.\n\n"
      "Examples:\n"
      "  evenkeel workload split t1\n"
      "  evenkeel workload show t1 --watch");
  auto options = std::make_shared<WorkloadOptions>();
  command->add_option("WORKLOAD", options->workload, "The workload")->required()->type_name("");
  add_change_options(*command, session, options->change, true);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] { split(session, *options); });
}

}  // namespace

void add_workload(CLI::App& app, Session& session) {
  auto* noun = app.add_subcommand("workload", "See, create, split and delete a cluster's workloads");
  add_views(*noun, session);
  add_create(*noun, session);
  add_split(*noun, session);
  add_delete(*noun, session);
  noun->require_subcommand(1);
}

}  // namespace evenkeel::cli
