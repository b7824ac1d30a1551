// evenkeel store get: the value of one key.

#include <array>
#include <optional>

#include "evenkeel/base/text.h"
#include "evenkeel/cli/store_access.h"
#include "evenkeel/cli/store_view.h"

namespace evenkeel::cli {
namespace {

constexpr std::array<std::string_view, 6> forms = {"value", "table", "wide", "json", "yaml", "name"};

struct StoreGetOptions {
  StoreReach reach;
  std::string key;
  std::optional<Output> output;  // none: the value itself
};

void get(Session& session, const StoreGetOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto store = open_store(session, *outside, options.reach);
  if (!store) return;
  const auto read = store->get(options.key);
  if (!read) return fail_store(session, read.error());
  if (!read->entry) return session.fail(Error{Code::not_found, fmt::format("there is no key {}", quote(options.key))});
  if (options.output) return session.print(entry_as(*read->entry, read->revision, *options.output));
  session.print(read->entry->value);
  if (outside->terminal() && !read->entry->value.ends_with('\n')) session.print("\n");
}

}  // namespace

void add_store_get(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("get", "Print the value of a key");
  command->footer(
      "Without -o, or with -o value, the value's bytes are printed as they are, and a newline after them only on a terminal.\n"
      "In JSON and YAML a value that is not text is `base64`.\n\n"
      "Examples:\n"
      "  evenkeel store get /evenkeel/c1/config\n"
      "  evenkeel store get /evenkeel/c1/config -o json --store zk://127.0.0.1:2181");
  auto options = std::make_shared<StoreGetOptions>();
  command->add_option("KEY", options->key, "The key")->required()->type_name("");
  add_word(
      *command, session, "-o,--output", "a form of output", forms,
      [options](std::size_t at) { options->output = at == 0 ? std::nullopt : std::optional(static_cast<Output>(at - 1)); },
      "Form of the output: value, table, wide, json, yaml or name")
      ->type_name("FORM");
  add_store_reach(*command, session, options->reach);
  command->callback([&session, options] { get(session, *options); });
}

}  // namespace evenkeel::cli
