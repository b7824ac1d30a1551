// evenkeel workload VERB: what there is to be placed, and how it stands.

#include <algorithm>
#include <ranges>

#include "evenkeel/base/write.h"
#include "evenkeel/cli/apply_file.h"
#include "evenkeel/cli/follow.h"
#include "evenkeel/cli/health.h"

namespace evenkeel::cli {
namespace {

using control::WorkloadSurvey;

struct WorkloadOptions {
  ClusterReach reach;
  ChangeOptions change;
  WaitOptions wait;
  Output output = Output::table;
  bool watch = false;
  std::string workload;
  std::string file;
};

void write_fields(Writer& out, const WorkloadSurvey& one) {
  out.key("workload").text(one.workload.str()).key("state").text(state_of(one));
  out.key("shards").number(one.shards).key("replicas").number(one.replicas).key("min_active").number(one.min_active);
  if (one.leads) out.key("led").number(one.led);
  out.key("below_min_active").number(one.below_min_active).key("incomplete").number(one.incomplete);
  if (one.split_from > 0) out.key("split_from").number(one.split_from).key("unborn").number(one.unborn);
  out.key("errors").number(one.errors).key("deleted").flag(one.deleted);
}

void write_workload(Writer& out, const WorkloadSurvey& one) {
  out.begin_map(Writer::Flow::line);
  write_fields(out, one);
  out.end_map();
}

std::string workloads_as(const std::vector<WorkloadSurvey>& workloads, Output output) {
  return list_as(
      workloads, output, [&](bool) { return workload_table(workloads).format(); },
      [](const WorkloadSurvey& one) { return fmt::format("workload/{}", one.workload); }, write_workload);
}

// Its replicas that have failed, and whose report says so. Pointers into the snapshot.
std::vector<std::pair<const Report*, const ReplicaReport*>> failed_of(const control::Snapshot& seen, const WorkloadId& workload) {
  std::vector<std::pair<const Report*, const ReplicaReport*>> failed;
  for (const Report& report : seen.reports) {
    if (report.workload != workload) continue;
    for (const ReplicaReport& replica : report.replicas) {
      if (!replica.error.empty()) failed.emplace_back(&report, &replica);
    }
  }
  return failed;
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
  constexpr std::size_t shown_max = 10;
  const auto failed = failed_of(seen, one.workload);
  for (const auto& [report, replica] : failed | std::views::take(shown_max))
    table.add({"error", fmt::format("{} on {}: {}", replica->shard, report->node, replica->error)});
  if (failed.size() > shown_max) table.add({"error", fmt::format("and {} more", failed.size() - shown_max)});
  return table.format();
}

// The same as one map.
std::string map_of(const control::Snapshot& seen, const WorkloadSurvey& one, Syntax syntax) {
  const WorkloadDocument& document = seen.workloads.at(one.workload);
  const Workload& spec = document.spec;
  Writer out(syntax);
  out.begin_map();
  write_fields(out, one);
  out.key("state_model").text(spec.state_model.str()).key("buckets").number(document.buckets);
  out.key("fencing").text(name(spec.control.fencing)).key("acks").number(spec.control.acks).key("failed").begin_list();
  for (const auto& [report, replica] : failed_of(seen, one.workload)) {
    out.begin_map(Writer::Flow::line).key("shard").text(format(ShardId{one.workload, replica->shard}));
    out.key("node").text(report->node.str()).key("error").text(replica->error).end_map();
  }
  out.end_list().end_map();
  return std::move(out).take();
}

std::string page_as(const control::Snapshot& seen, const WorkloadSurvey& one, Output output) {
  if (output == Output::name) return fmt::format("workload/{}\n", one.workload);
  if (output == Output::table || output == Output::wide) return page_of(seen, one);
  return map_of(seen, one, output == Output::json ? Syntax::json : Syntax::yaml);
}

Result<std::string> look(OpenCluster& cluster, const WorkloadOptions& options) {
  const auto seen = cluster.look_existing(workload_kinds());
  if (!seen) return fail(seen.error());
  const auto workloads = control::survey_workloads(*seen);
  if (options.workload.empty()) return workloads_as(workloads, options.output);
  const WorkloadId workload(options.workload);
  const auto found = std::ranges::find(workloads, workload, &WorkloadSurvey::workload);
  if (found != workloads.end()) return page_as(*seen, *found, options.output);
  const auto missing = control::check_workload(*seen, workload);
  return missing ? fail(Code::not_found, "{} is gone; `evenkeel workload list` shows those that are there", workload)
                 : fail(missing.error());
}

void view(Session& session, const WorkloadOptions& options) {
  show(session, options.reach, options.watch, [&](OpenCluster& cluster) { return look(cluster, options); });
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

std::optional<WorkloadSurvey> survey_of(const control::Snapshot& seen, const WorkloadId& workload) {
  const auto all = control::survey_workloads(seen);
  const auto found = std::ranges::find(all, workload, &WorkloadSurvey::workload);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

// How far the deletion is: "12 of 192 replicas of t1 are dropped". `most`: that were there.
Stage deletion_of(const control::Snapshot& seen, const WorkloadId& workload, std::uint64_t& most) {
  std::uint64_t left = 0;
  for (const auto& [key, bucket] : seen.records) {
    if (key.first != workload) continue;
    for (const ShardRecord& record : bucket.shards) left += record.holders.size();
  }
  most = std::max(most, left);
  Stage stage{.part = {.done = most - left, .all = most},
              .words = fmt::format("{} of {} replicas of {} are dropped", most - left, most, workload),
              .left = fmt::format("{} replicas of {} are not dropped", left, workload)};
  if (!survey_of(seen, workload)) stage.finished = fmt::format("{} is gone", workload);
  return stage;
}

// How far the split is: "3 of 8 shards of t1 are split". `all`: that were to be.
Result<Stage> split_of(const control::Snapshot& seen, const WorkloadId& workload, std::uint32_t& all) {
  const auto one = survey_of(seen, workload);
  if (!one || one->deleted)
    return fail(Code::conflict, "{} is deleted: it is not split any more; see `evenkeel workload list`", workload);
  all = std::max(all, one->split_from);
  const std::uint32_t left = one->split_from == 0 ? 0 : one->unborn;
  Stage stage{.part = {.done = all - left, .all = all},
              .words = fmt::format("{} of {} shards of {} are split", all - left, all, workload),
              .left = fmt::format("{} shards of {} are not split", left, workload)};
  if (one->split_from == 0) stage.finished = fmt::format("{} is split: it has {} shards", workload, one->shards);
  return stage;
}

void remove(Session& session, const WorkloadOptions& options) {
  const WorkloadId workload(options.workload);
  std::uint64_t most = 0;
  operate_and_follow(session, options.reach, options.change, options.wait,
                     [&](const control::Snapshot& seen) { return control::delete_workload(seen, workload); },
                     fmt::format("Delete {} with all its data? There is no way back.", workload),
                     {.kinds = workload_kinds(),
                      .name = "the deletion",
                      .look = [&](const OpenCluster& cluster, const control::Snapshot& seen) -> Result<Stage> {
                        if (const auto error = cluster.unreadable(Key::Kind::shards))  // what it says may be of this workload
                          return fail(error->code, "what is left of {} is not known: {}", workload, error->message);
                        return deletion_of(seen, workload, most);
                      },
                      .in_its_way =
                          [&](const control::Snapshot& seen) {
                            return standstill_of(seen, fmt::format("{} is not dropped anywhere as things are:", workload));
                          }});
}

void split(Session& session, const WorkloadOptions& options) {
  const WorkloadId workload(options.workload);
  std::uint32_t all = 0;
  operate_and_follow(session, options.reach, options.change, options.wait,
                     [&](const control::Snapshot& seen) { return control::split_workload(seen, workload); },
                     fmt::format("Split the shards of {}, each into two? There is no way back.", workload),
                     {.kinds = workload_kinds(),
                      .name = "the split",
                      .look = [&](const OpenCluster&, const control::Snapshot& seen) { return split_of(seen, workload, all); },
                      .in_its_way =
                          [&](const control::Snapshot& seen) {
                            return standstill_of(seen, fmt::format("{} is not split as things are:", workload));
                          }});
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
      "  evenkeel workload delete t1\n"
      "  evenkeel workload delete t1 --yes --wait --within 10m");
  auto options = std::make_shared<WorkloadOptions>();
  command->add_option("WORKLOAD", options->workload, "The workload")->required()->type_name("");
  add_wait(*command, options->wait, "nothing of it is left");
  add_change_options(*command, session, options->change, true);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] {
    check(options->wait);
    remove(session, *options);
  });
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
      "  evenkeel workload split t1 --wait\n"
      "  evenkeel workload show t1 --watch");
  auto options = std::make_shared<WorkloadOptions>();
  command->add_option("WORKLOAD", options->workload, "The workload")->required()->type_name("");
  add_wait(*command, options->wait, "all its shards are split");
  add_change_options(*command, session, options->change, true);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] {
    check(options->wait);
    split(session, *options);
  });
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
