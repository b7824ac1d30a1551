// evenkeel store status: what a store says of itself.

#include <fmt/ranges.h>

#include "evenkeel/base/quantity.h"
#include "evenkeel/cli/store_access.h"
#include "evenkeel/cli/store_view.h"

namespace evenkeel::cli {
namespace {

struct StoreStatusOptions {
  StoreReach reach;
  Output output = Output::table;
};

std::string table_of(const store::Status& status) {
  Table table({"BACKEND", "VERSION", "REVISION", "SIZE", "QUOTA", "MEMBERS"});
  const auto size = [](std::uint64_t bytes) { return bytes == 0 ? "" : format(Bytes(bytes)); };
  table.add({status.backend, status.version, fmt::format("{}", status.revision.value()), size(status.bytes),
             size(status.bytes_quota), fmt::format("{}", fmt::join(status.members, " "))});
  return table.format();
}

std::string map_of(const store::Status& status, Syntax syntax) {
  Writer out(syntax);
  out.begin_map().key("backend").text(status.backend).key("version").text(status.version);
  out.key("revision").number(fmt::format("{}", status.revision.value()));
  out.key("bytes").number(status.bytes).key("bytes_quota").number(status.bytes_quota);
  for (const auto& [name, texts] : {std::pair("members", &status.members), std::pair("warnings", &status.warnings)}) {
    out.key(name).begin_list();
    for (const std::string& text : *texts) out.text(text);
    out.end_list();
  }
  out.end_map();
  return std::move(out).take();
}

void show(Session& session, const StoreStatusOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto store = open_store(session, *outside, options.reach);
  if (!store) return;
  const auto status = store->status();
  if (!status) return fail_store(session, status.error());
  switch (options.output) {
    case Output::table:
    case Output::wide:
      session.print(table_of(*status));
      for (const std::string& warning : status->warnings) session.say(warning);
      break;
    case Output::name:
      session.print(fmt::format("store/{}\n", status->backend));
      break;
    case Output::json:
    case Output::yaml:
      session.print(map_of(*status, options.output == Output::json ? Syntax::json : Syntax::yaml));
      break;
  }
}

}  // namespace

void add_store_status(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("status", "Show a store's version, revision, size and members");
  command->footer(
      "What deserves attention is said on standard error: a quota nearly reached, a server that is too old.\n\n"
      "Examples:\n"
      "  evenkeel store status\n"
      "  evenkeel store status -o json --store etcd://10.0.0.1:2379,10.0.0.2:2379");
  auto options = std::make_shared<StoreStatusOptions>();
  add_output(*command, session, options->output);
  add_store_reach(*command, session, options->reach);
  command->callback([&session, options] { show(session, *options); });
}

}  // namespace evenkeel::cli
