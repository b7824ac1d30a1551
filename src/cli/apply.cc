// evenkeel apply -f FILE: what a cluster file says, written where the controller reads it.

#include "evenkeel/base/text.h"
#include "evenkeel/cli/apply_file.h"

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
  std::string file;
};

void apply_to(Session& session, ApplyOptions options) {
  if (options.file == "-" && !options.change.yes && !options.change.dry_run)
    throw CLI::ValidationError("--yes", "is needed with -f -: standard input is the file, so nobody can be asked");
  const auto file = read_cluster_file(session, options.file);
  if (!file) return;
  Outside* outside = outside_of(session);
  if (outside == nullptr || !name_cluster(session, *outside, *file, options.reach)) return;
  const auto cluster = open_cluster(session, *outside, options.reach);
  if (!cluster) return;
  const auto seen = cluster->read(node_kinds());
  if (!seen) return;
  const auto changes = control::apply_file(*seen, file->cluster, {.settings = file->settings});
  const std::size_t count = changes ? changes->writes.size() : 0;
  change(session, *outside, *cluster, changes, options.change,
         fmt::format("Write {} to {}?", count == 1 ? "this document" : fmt::format("these {} documents", count), cluster->url()));
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
      "  cat pages.yaml | evenkeel apply -f - --yes");
  auto options = std::make_shared<ApplyOptions>();
  add_file(*command, session, options->file)->required();
  add_change_options(*command, session, options->change, true);
  add_cluster_reach(*command, session, options->reach);
  command->callback([&session, options] { apply_to(session, *options); });
}

}  // namespace evenkeel::cli
