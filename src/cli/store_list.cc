// evenkeel store list: what is below a prefix.

#include "evenkeel/cli/store_access.h"
#include "evenkeel/cli/store_view.h"

namespace evenkeel::cli {
namespace {

struct StoreListOptions {
  StoreReach reach;
  std::string prefix = "/";
  bool keys = false;
  Output output = Output::table;
};

void list(Session& session, const StoreListOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto store = open_store(session, *outside, options.reach);
  if (!store) return;
  const auto listing = store->list(prefix_of(options.prefix));
  if (!listing) return fail_store(session, listing.error());
  session.print(entries_as(listing->entries, listing->revision, options.output, !options.keys));
}

}  // namespace

void add_store_list(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("list", "Show the keys below a prefix");
  command->footer(
      "Long values are cut in tables; -o json and -o yaml have all of them, -o name has the keys, one a line.\n\n"
      "Examples:\n"
      "  evenkeel store list /evenkeel/c1/nodes\n"
      "  evenkeel store list / --keys -o json");
  auto options = std::make_shared<StoreListOptions>();
  command->add_option("PREFIX", options->prefix, "The prefix; else /")->type_name("");
  command->add_flag("--keys", options->keys, "Without values");
  add_output(*command, session, options->output);
  add_store_reach(*command, session, options->reach);
  command->callback([&session, options] { list(session, *options); });
}

}  // namespace evenkeel::cli
