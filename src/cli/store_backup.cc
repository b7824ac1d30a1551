// evenkeel store backup: all keys and values of any store in a file, or a copy of an embedded store's folder.

#include "evenkeel/base/text.h"
#include "evenkeel/cli/store_access.h"
#include "evenkeel/cli/store_dump.h"
#include "evenkeel/store/backends/embedded/engine.h"

namespace evenkeel::cli {
namespace {

struct StoreBackupOptions {
  StoreReach reach;
  std::string to;
  std::string folder;
  std::string below = "/";
};

void dump_store(Session& session, Outside& outside, const StoreBackupOptions& options) {
  const auto store = open_store(session, outside, options.reach);
  if (!store) return;
  Dump dump{.below = prefix_of(options.below)};
  auto listing = store->list(dump.below);
  if (!listing) return fail_store(session, listing.error());
  dump.revision = listing->revision;
  for (store::Entry& entry : listing->entries) {
    if (!entry.ephemeral) dump.pairs.push_back({std::move(entry.key), std::move(entry.value)});
  }
  const std::size_t left_out = listing->entries.size() - dump.pairs.size();
  const std::string text = format_dump(dump);
  if (options.to == "-") {
    session.print(text);
  } else if (const auto written = session.io.write_file(options.to, text); !written) {
    return session.fail(written.error());
  }
  session.say(fmt::format("{} keys at revision {}{}", dump.pairs.size(), dump.revision.value(),
                          left_out == 0 ? "" : fmt::format("; {} ephemeral ones were left out", left_out)));
}

void copy_folder(Session& session, Outside& outside, const StoreBackupOptions& options) {
  const auto reach = settle(session, outside, options.reach);
  if (!reach) return;
  const auto url = store::parse_url(reach->url);
  if (!url) return session.fail(url.error());
  if (url->scheme != "embedded")
    return session.fail(Error{Code::invalid, fmt::format("{} has no folder here; give --store embedded:DIR, or --to FILE",
                                                         quote(store::format(*url)))});
  auto engine = store::embedded::Engine::open(url->path, {});
  if (!engine) {
    session.fail(engine.error());
    if (engine.error().code == Code::conflict)
      session.io.err("  stop its server first, or take a dump of the running one with --to\n");
    return;
  }
  const auto copied = (*engine)->backup(options.folder);
  if (!copied) return session.fail(copied.error());
  session.say(fmt::format("{} is a copy at revision {}", options.folder, (*engine)->status().revision));
}

}  // namespace

void add_store_backup(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("backup", "Write all keys and values to a file");
  command->footer(
      "--to takes any store while it serves, at one revision where the backend can (not ZooKeeper), and `evenkeel store restore` "
      "gives\n"
      "the file to any other. Revisions, history and ephemeral keys are not in it.\n"
      "--folder copies an embedded store that is not served at the moment, history included; `store serve --data` takes the "
      "copy.\n\n"
      "Examples:\n"
      "  evenkeel store backup --to backup.jsonl\n"
      "  evenkeel store backup --folder /backup/store --store embedded:/var/lib/evenkeel/store");
  auto options = std::make_shared<StoreBackupOptions>();
  auto* to = command->add_option("--to", options->to, "The file to write; - is standard output")->type_name("FILE");
  auto* folder =
      command->add_option("--folder", options->folder, "The folder to copy to; it must not be there yet")->type_name("DIR");
  for (auto* option : {to, folder}) session.hints[option] = {.words = {}, .files = true};
  command->add_option("--below", options->below, "Only the keys below this prefix; else all")->type_name("PREFIX");
  add_store_reach(*command, session, options->reach);
  command->callback([&session, options] {
    if (options->to.empty() == options->folder.empty())
      throw CLI::ValidationError("--to", "give --to FILE or --folder DIR, one of the two");
    Outside* outside = outside_of(session);
    if (outside == nullptr) return;
    if (options->folder.empty()) {
      dump_store(session, *outside, *options);
    } else {
      copy_folder(session, *outside, *options);
    }
  });
}

}  // namespace evenkeel::cli
