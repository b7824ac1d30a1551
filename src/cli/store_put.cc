// evenkeel store put: writes one key, if asked only if nobody was quicker.

#include <limits>
#include <optional>

#include "evenkeel/base/text.h"
#include "evenkeel/cli/store_access.h"
#include "evenkeel/cli/store_view.h"

namespace evenkeel::cli {
namespace {

struct StorePutOptions {
  StoreReach reach;
  std::string key;
  std::optional<std::string> value;  // "-": standard input
  std::string file;
  bool if_absent = false;
  std::uint64_t if_revision = 0;  // 0: whatever is there
  Output output = Output::table;
};

Result<std::string> value_of(Session& session, const StorePutOptions& options) {
  if (!options.file.empty()) return session.io.read_file(options.file);
  return *options.value == "-" ? session.io.read_file("-") : Result<std::string>(*options.value);
}

// Why the compare did not hold, as far as one can see afterwards.
Error conflict_of(store::Blocking& store, const StorePutOptions& options) {
  const auto read = store.get(options.key);
  const std::string now = !read          ? "and what is there now cannot be read"
                          : !read->entry ? "and it is not there now"
                                         : fmt::format("it is at revision {}", read->entry->modified.value());
  return {Code::conflict, options.if_absent
                              ? fmt::format("{} is there already: {}", quote(options.key), now)
                              : fmt::format("{} is not at revision {}: {}", quote(options.key), options.if_revision, now)};
}

void put(Session& session, const StorePutOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  auto value = value_of(session, options);
  if (!value) return session.fail(value.error());
  store::Txn txn;
  if (options.if_absent) txn.compare(store::absent(options.key));
  if (options.if_revision != 0)
    txn.compare(store::unchanged(options.key, store::Revision(static_cast<std::int64_t>(options.if_revision))));
  txn.put(options.key, *std::move(value));
  if (const auto good = store::check_txn(txn); !good) return session.fail(good.error());
  const auto store = open_store(session, *outside, options.reach);
  if (!store) return;
  const auto done = store->txn(std::move(txn));
  if (!done) return fail_store(session, done.error());
  if (!done->succeeded) return session.fail(conflict_of(*store, options));
  session.print(revision_as(done->revision, options.output));
}

void check(const StorePutOptions& options) {
  if (!options.value == options.file.empty())
    throw CLI::ValidationError("VALUE", "give a value, - for standard input, or --file; and only one of them");
  if (options.if_absent && options.if_revision != 0)
    throw CLI::ValidationError("--if-absent", "and --if-revision cannot both hold; give one");
  if (options.if_revision > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw CLI::ValidationError("--if-revision", "too large");
}

}  // namespace

void add_store_put(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("put", "Write a key");
  command->footer(
      "A value has at most 512 KiB. What others in this host's process list must not see comes from a file or standard input.\n"
      "--if-absent and --if-revision make it a conflict, exit status 4, if somebody was quicker.\n\n"
      "Examples:\n"
      "  evenkeel store put /evenkeel/c1/note 'under repair'\n"
      "  evenkeel store put /evenkeel/c1/config --file config.json --if-revision 17\n"
      "  date | evenkeel store put /evenkeel/c1/since - --if-absent");
  auto options = std::make_shared<StorePutOptions>();
  command->add_option("KEY", options->key, "The key")->required()->type_name("");
  command
      ->add_option_function<std::string>(
          "VALUE", [options](const std::string& word) { options->value = word; }, "The value; - reads it from standard input")
      ->type_name("");
  auto* file = command->add_option("-f,--file", options->file, "The file that has the value")->type_name("FILE");
  session.hints[file] = {.words = {}, .files = true};
  command->add_flag("--if-absent", options->if_absent, "Only if the key is not there");
  add_count(*command, "--if-revision", options->if_revision, "Only if its latest write is still that one")->type_name("REVISION");
  add_output(*command, session, options->output);
  add_store_reach(*command, session, options->reach);
  command->callback([&session, options] {
    check(*options);
    put(session, *options);
  });
}

}  // namespace evenkeel::cli
