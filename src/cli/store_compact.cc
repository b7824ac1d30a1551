// evenkeel store compact: forgets history.

#include "evenkeel/base/text.h"
#include "evenkeel/cli/store_access.h"
#include "evenkeel/cli/store_view.h"

namespace evenkeel::cli {
namespace {

struct StoreCompactOptions {
  StoreReach reach;
  std::uint64_t revision = 0;  // 0: the latest
  Output output = Output::table;
};

void compact(Session& session, const StoreCompactOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto store = open_store(session, *outside, options.reach);
  if (!store) return;
  store::Revision before(static_cast<std::int64_t>(options.revision));
  if (options.revision == 0) {
    const auto status = store->status();
    if (!status) return fail_store(session, status.error());
    before = status->revision;
  }
  const auto done = store->compact(before);
  if (!done) return fail_store(session, done.error());
  session.print(revision_as(*done, options.output));
}

}  // namespace

void add_store_compact(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("compact", "Forget what keys were before a revision");
  command->footer(
      "Latest values stay. A watch that was further behind gets a fresh list. ZooKeeper keeps no history, so there nothing is "
      "done.\n\n"
      "Examples:\n"
      "  evenkeel store compact\n"
      "  evenkeel store compact 10400");
  auto options = std::make_shared<StoreCompactOptions>();
  command
      ->add_option_function<std::string>(
          "REVISION",
          [options](const std::string& word) {
            const auto parsed = parse_integer(word);
            if (!parsed) throw CLI::ValidationError("REVISION", parsed.error().message);
            if (*parsed < 1) throw CLI::ValidationError("REVISION", "must be 1 or more");
            options->revision = static_cast<std::uint64_t>(*parsed);
          },
          "The first one to keep; else the latest")
      ->type_name("");
  add_output(*command, session, options->output);
  add_store_reach(*command, session, options->reach);
  command->callback([&session, options] { compact(session, *options); });
}

}  // namespace evenkeel::cli
