// evenkeel apply -f FILE: what a cluster file says, written where the controller reads it.

#include <algorithm>
#include <optional>

#include "evenkeel/base/text.h"
#include "evenkeel/cli/apply_file.h"
#include "evenkeel/cli/follow.h"
#include "evenkeel/control/survey.h"

namespace evenkeel::cli {

std::optional<ClusterFile> read_cluster_file(Session& session, const std::string& file) {
  const std::string shown = file == "-" ? "<stdin>" : file;
  const auto text = session.io.read_file(file);
  if (!text) return session.fail(text.error()), std::nullopt;
  auto cluster = parse_cluster(*text, shown);
  if (!cluster) return session.fail(cluster.error()), std::nullopt;
  ClusterFile out{.cluster = *std::move(cluster)};
  const auto document = Document::parse(*text, shown);
  if (!document) return out;  // it was read once, so this does not happen
  for (const auto [key, value] : document->root().pairs()) {
    out.named = out.named || key.text() == "cluster";
    out.settings = out.settings || key.text() == "settings";
  }
  return out;
}

bool name_cluster(Session& session, const Outside& outside, const ClusterFile& file, ClusterReach& reach) {
  if (!file.named) return true;
  const std::string& named = file.cluster.name.str();
  if (!reach.cluster.empty() && reach.cluster != named) {
    session.fail(
        Error{Code::invalid, fmt::format("the file is about the cluster {}, and --cluster says {}: leave one of them out",
                                         quote(named), quote(reach.cluster))});
    return false;
  }
  auto settled = settle(session, outside, reach);
  if (!settled) return false;
  if (!settled->said_by.empty() && settled->cluster != named)
    session.say(fmt::format("the file is about the cluster {}, not {} as {} says", named, settled->cluster, settled->said_by));
  reach = *std::move(settled);
  reach.cluster = named;
  return true;
}

namespace {

struct ApplyOptions {
  ClusterReach reach;
  ChangeOptions change;
  WaitOptions wait;
  std::string file;
};

// How many shards of the file's workloads have all their replicas, and a leader where they have one: "54 of 60 shards are served in full". At most so many,
// until it is all: what one lacks may be a replica, and another's a leader.
Result<Stage> serving_of(const control::Snapshot& seen, const Cluster& file) {
  const auto all = control::survey_workloads(seen);
  Stage stage;
  for (const Workload& workload : file.workloads) {
    const auto one = std::ranges::find(all, workload.name, &control::WorkloadSurvey::workload);
    if (one == all.end() || one->deleted)
      return fail(Code::conflict, "{} is deleted: it is not waited for; see `evenkeel workload list`", workload.name);
    const std::uint32_t lacking = std::max(one->incomplete, one->leads ? one->shards - std::min(one->led, one->shards) : 0);
    stage.part.all += one->shards;
    stage.part.done += one->shards - std::min(lacking, one->shards);
  }
  stage.words = fmt::format("{} of {} shards are served in full", stage.part.done, stage.part.all);
  stage.left = fmt::format("{} shards are not served in full (`evenkeel shard list` says why)", stage.part.all - stage.part.done);
  if (stage.part.done == stage.part.all) stage.finished = fmt::format("all {} shards are served in full", stage.part.all);
  return stage;
}

void apply_to(Session& session, ApplyOptions options) {
  check(options.wait);
  if (options.file == "-" && !options.change.yes && !options.change.dry_run)
    throw CLI::ValidationError("--yes", "is needed with -f -: standard input is the file, so nobody can be asked");
  const auto file = read_cluster_file(session, options.file);
  if (!file) return;
  Outside* outside = outside_of(session);
  if (outside == nullptr || !name_cluster(session, *outside, *file, options.reach)) return;
  std::optional<Interrupt> interrupt;
  if (options.wait.wait) interrupt.emplace(*outside);  // before the first thread
  const auto cluster = open_cluster(session, *outside, options.reach);
  if (!cluster) return;
  const auto seen = cluster->read(node_kinds());
  if (!seen) return;
  const auto changes = control::apply_file(*seen, file->cluster, {.settings = file->settings});
  const std::size_t count = changes ? changes->writes.size() : 0;
  const std::string question =
      fmt::format("Write {} to {}?", count == 1 ? "this document" : fmt::format("these {} documents", count), cluster->url());
  std::string written;
  if (!change(session, *outside, *cluster, changes, options.change, question, interrupt ? &written : nullptr) || !interrupt)
    return;
  if (file->cluster.workloads.empty()) return session.print(written);  // there is nothing to wait for
  follow(session, *outside, *cluster, *interrupt,
         {.kinds = workload_kinds(),
          .name = "what was written",
          .look = [&](const OpenCluster&, const control::Snapshot& now) { return serving_of(now, file->cluster); },
          .in_its_way = [](const control::Snapshot& now) { return standstill_of(now, "nothing is placed as things are:"); }},
         options.wait.within);
  if (session.status == Exit::done) session.print(written);
}

}  // namespace

void add_apply(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("apply", "Make a cluster what a file says: settings, state models, workloads, nodes");
  command->footer(
      "The same file as for `evenkeel plan`. A document that it names becomes what it says, whole: a field that is left out has "
      "its\n"
      "usual value. What it does not name stays: no workload is ever deleted by its absence. Of nodes only what operators lay "
      "over\n"
      "them is taken; where replicas are is the controller's to say. Prints what would change and asks.\n\n"
      "Examples:\n"
      "  evenkeel apply -f pages.yaml\n"
      "  evenkeel apply -f pages.yaml --dry-run\n"
      "  evenkeel apply -f pages.yaml --yes --wait --within 5m\n"
      "  cat pages.yaml | evenkeel apply -f - --yes");
  auto options = std::make_shared<ApplyOptions>();
  add_file(*command, session, options->file)->required();
  add_change_options(*command, session, options->change, true);
  add_wait(*command, options->wait, "all shards of its workloads have their replicas and leaders");
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] { apply_to(session, *options); });
}

}  // namespace evenkeel::cli
