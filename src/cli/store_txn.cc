// evenkeel store txn: compares and writes from a document, all or nothing.

#include "evenkeel/cli/store_access.h"
#include "evenkeel/cli/store_document.h"
#include "evenkeel/cli/store_view.h"

namespace evenkeel::cli {
namespace {

struct StoreTxnOptions {
  StoreReach reach;
  std::string file = "-";
  bool dry_run = false;
  Output output = Output::table;
};

std::string committed_as(const store::Committed& done, Output output) {
  if (output == Output::name) return revision_as(done.revision, output);
  if (output == Output::table || output == Output::wide)
    return fmt::format("{} at revision {}\n", done.succeeded ? "then" : "else", done.revision.value());
  Writer out(output == Output::json ? Syntax::json : Syntax::yaml);
  out.begin_map(Writer::Flow::line).key("succeeded").flag(done.succeeded);
  out.key("revision").number(fmt::format("{}", done.revision.value())).end_map();
  return std::move(out).take();
}

void run_txn(Session& session, const StoreTxnOptions& options) {
  const auto text = session.io.read_file(options.file);
  if (!text) return session.fail(text.error());
  auto txn = parse_txn(*text, options.file == "-" ? "<stdin>" : options.file);
  if (!txn) return session.fail(txn.error());
  if (options.dry_run) return session.print(format_txn(*txn, options.output == Output::json ? Syntax::json : Syntax::yaml));
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto store = open_store(session, *outside, options.reach);
  if (!store) return;
  const bool has_else = !txn->otherwise.empty();
  const auto done = store->txn(*std::move(txn));
  if (!done) return fail_store(session, done.error());
  if (!done->succeeded && !has_else)
    return session.fail(Error{
        Code::conflict, fmt::format("the compares do not hold at revision {}; nothing was written", done->revision.value())});
  session.print(committed_as(*done, options.output));
}

}  // namespace

void add_store_txn(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("txn", "Compare and write several keys, all or nothing");
  command->footer(
      "The document, YAML or JSON:\n"
      "  compare: [{key: /a, absent: true}, {key: /b, present: true}, {key: /c, unchanged: 7}]\n"
      "  then: [{put: /a, value: text}, {put: /d, base64: AAE=}, {erase: /b}, {erase_below: /old/}]\n"
      "  else: [{put: /busy, value: \"yes\"}]\n"
      "If the compares do not hold and there is no else, that is a conflict, exit status 4.\n\n"
      "Examples:\n"
      "  evenkeel store txn -f change.yaml\n"
      "  echo '{compare: [{key: /lock, absent: true}], then: [{put: /lock, value: me}]}' | evenkeel store txn");
  auto options = std::make_shared<StoreTxnOptions>();
  add_file(*command, session, options->file)->description("The document; else standard input");
  command->add_flag("--dry-run", options->dry_run, "Only check the document, and print it as it was understood");
  add_output(*command, session, options->output);
  add_store_reach(*command, session, options->reach);
  command->callback([&session, options] { run_txn(session, *options); });
}

}  // namespace evenkeel::cli
