// evenkeel store del: deletes one key, or all below a prefix.

#include "evenkeel/base/text.h"
#include "evenkeel/cli/store_access.h"
#include "evenkeel/cli/store_view.h"

namespace evenkeel::cli {
namespace {

struct StoreDelOptions {
  StoreReach reach;
  std::string key;
  std::string below;
  Output output = Output::table;
};

void erase(Session& session, const StoreDelOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  store::Txn txn;
  if (options.below.empty()) {
    txn.compare(store::present(options.key)).erase(options.key);
  } else {
    txn.erase_below(options.below);
  }
  if (const auto good = store::check_txn(txn); !good) return session.fail(good.error());
  const auto store = open_store(session, *outside, options.reach);
  if (!store) return;
  const auto done = store->txn(std::move(txn));
  if (!done) return fail_store(session, done.error());
  if (!done->succeeded) return session.fail(Error{Code::not_found, fmt::format("there is no key {}", quote(options.key))});
  session.print(revision_as(done->revision, options.output));
}

}  // namespace

void add_store_del(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("del", "Delete a key, or all keys below a prefix");
  command->footer(
      "A prefix ends with '/', so that /c1/ never takes /c10 along.\n\n"
      "Examples:\n"
      "  evenkeel store del /evenkeel/c1/note\n"
      "  evenkeel store del --below /evenkeel/c1/");
  auto options = std::make_shared<StoreDelOptions>();
  command->add_option("KEY", options->key, "The key")->type_name("");
  command->add_option("--below", options->below, "Delete all keys below this prefix instead")->type_name("PREFIX");
  add_output(*command, session, options->output);
  add_store_reach(*command, session, options->reach);
  command->callback([&session, options] {
    if (options->key.empty() == options->below.empty())
      throw CLI::ValidationError("KEY", "give a key or --below, one of the two");
    erase(session, *options);
  });
}

}  // namespace evenkeel::cli
