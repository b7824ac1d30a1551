// evenkeel store restore: what `store backup --to` wrote, into any store.

#include "evenkeel/base/text.h"
#include "evenkeel/cli/store_access.h"
#include "evenkeel/cli/store_dump.h"
#include "evenkeel/cli/store_view.h"

namespace evenkeel::cli {
namespace {

struct StoreRestoreOptions {
  StoreReach reach;
  std::string from;
  bool overwrite = false;
};

constexpr std::size_t batch_bytes_max = 800'000;  // of store::txn_bytes_max; the keys stand in the compares a second time

// The next writes that fit one txn, from `at` on, which moves behind them.
store::Txn next_batch(const Dump& dump, std::size_t& at, bool overwrite) {
  store::Txn txn;
  std::size_t bytes = 0;
  while (at < dump.pairs.size() && txn.then.size() < store::operations_max) {
    const Dump::Pair& pair = dump.pairs[at];
    bytes += 2 * pair.key.size() + pair.value.size();
    if (bytes > batch_bytes_max && !txn.then.empty()) break;
    if (!overwrite) txn.compare(store::absent(pair.key));
    txn.put(pair.key, pair.value);
    ++at;
  }
  return txn;
}

// Nothing is written where there is something already, unless told to.
Result<> check_room(store::Blocking& store, const Dump& dump, bool overwrite) {
  if (overwrite) return {};
  const auto listing = store.list(dump.below);
  if (!listing) return fail(listing.error());
  if (listing->entries.empty()) return {};
  return fail(Code::conflict,
              "there are {} keys below {} already; --overwrite writes over those that are in the file, and leaves others",
              listing->entries.size(), dump.below);
}

void restore(Session& session, const StoreRestoreOptions& options) {
  const auto text = session.io.read_file(options.from);
  if (!text) return session.fail(text.error());
  const auto dump = parse_dump(*text, options.from == "-" ? "<stdin>" : options.from);
  if (!dump) return session.fail(dump.error());
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const auto store = open_store(session, *outside, options.reach, Folder::may_be_made);
  if (!store) return;
  if (const auto room = check_room(*store, *dump, options.overwrite); !room) return fail_store(session, room.error());
  store::Revision revision;
  for (std::size_t at = 0; at < dump->pairs.size();) {
    const std::size_t before = at;
    auto done = store->txn(next_batch(*dump, at, options.overwrite));
    if (done && !done->succeeded) done = fail(Code::conflict, "somebody else writes the same keys");
    if (!done) {
      return fail_store(session, done.error().in(fmt::format("{} of {} keys are restored; repeat with --overwrite", before,
                                                             dump->pairs.size())));
    }
    revision = done->revision;
  }
  session.say(fmt::format("{} keys restored, up to revision {}", dump->pairs.size(), revision.value()));
}

}  // namespace

void add_store_restore(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("restore", "Write what a backup holds into a store");
  command->footer(
      "The whole file is checked first. Then keys are written in txns of up to 128, so a reader may see a part of it "
      "meanwhile.\n\n"
      "Examples:\n"
      "  evenkeel store restore --from backup.jsonl\n"
      "  evenkeel store restore --from backup.jsonl --store zk://127.0.0.1:2181");
  auto options = std::make_shared<StoreRestoreOptions>();
  auto* from = command->add_option("--from", options->from, "The file that `store backup --to` wrote; - is standard input");
  from->required()->type_name("FILE");
  session.hints[from] = {.words = {}, .files = true};
  command->add_flag("--overwrite", options->overwrite, "Write over keys that are there");
  add_store_reach(*command, session, options->reach);
  command->callback([&session, options] { restore(session, *options); });
}

}  // namespace evenkeel::cli
