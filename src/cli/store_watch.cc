// evenkeel store watch: what changes below a prefix, as it changes.

#include <atomic>
#include <future>
#include <limits>
#include <optional>

#include "evenkeel/base/text.h"
#include "evenkeel/cli/store_access.h"
#include "evenkeel/cli/store_view.h"

namespace evenkeel::cli {
namespace {

struct StoreWatchOptions {
  StoreReach reach;
  std::string prefix = "/";
  std::optional<std::uint64_t> after;
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
  Output output = Output::table;
};

std::string row_of(const store::Change& change, bool wide) {
  if (!change.entry) return fmt::format("delete {}\n", change.key);
  const auto& value = change.entry->value;
  return fmt::format(
      "put {} revision {} {}\n", change.key, change.entry->modified.value(),
      find_invalid_utf8(value) ? fmt::format("({} bytes, not text)", value.size()) : quote(value, wide ? 400 : 60));
}

std::string map_of(const store::Change& change, Syntax syntax, std::optional<store::Revision> upto) {
  Writer out(syntax);
  out.begin_map(Writer::Flow::line).key("type").text(change.entry ? "put" : "delete").key("key").text(change.key);
  if (change.entry) {
    write_value(out, change.entry->value);
    out.key("created").number(fmt::format("{}", change.entry->created.value()));
    out.key("revision").number(fmt::format("{}", change.entry->modified.value()));
    if (change.entry->ephemeral) out.key("ephemeral").flag(true);
  }
  if (upto) out.key("upto").number(fmt::format("{}", upto->value()));
  out.end_map();
  return std::move(out).take();
}

std::string fresh_as(const store::Changes& changes, Output output) {
  const std::size_t entries = changes.changes.size();
  if (output == Output::name) return "";
  if (output == Output::table || output == Output::wide)
    return fmt::format("fresh: {} keys at revision {}; what is not among them is gone\n", entries, changes.revision.value());
  Writer out(output == Output::json ? Syntax::json : Syntax::yaml);
  out.begin_map(Writer::Flow::line).key("type").text("fresh").key("entries").number(entries);
  if (entries == 0) out.key("upto").number(fmt::format("{}", changes.revision.value()));
  out.end_map();
  return std::move(out).take();
}

std::string change_as(const store::Change& change, Output output, std::optional<store::Revision> upto) {
  if (output == Output::name) return change.key + '\n';
  if (output == Output::table || output == Output::wide) return row_of(change, output == Output::wide);
  const std::string text = map_of(change, output == Output::json ? Syntax::json : Syntax::yaml, upto);
  return output == Output::yaml ? "- " + text : text;
}

// One watch, printed as it comes. All but its making and the waiting is on the loop.
class Printer {
 public:
  Printer(Session& session, const StoreWatchOptions& options) : session_(session), options_(options), left_(options.count) {}

  void take(const Result<store::Changes>& seen) {
    if (over_) return;
    if (!seen) {
      fail_store(session_, seen.error());
      return end();
    }
    if (seen->fresh) session_.print(fresh_as(*seen, options_.output));
    for (std::size_t at = 0; at < seen->changes.size() && left_ > 0; ++at, --left_) {
      const bool last = at + 1 == seen->changes.size();
      session_.print(change_as(seen->changes[at], options_.output, last ? std::optional(seen->revision) : std::nullopt));
    }
    if (left_ == 0 || session_.status != Exit::done) end();
  }

  // From any thread.
  void end() {
    if (!over_.exchange(true)) ended_.set_value();
  }
  void wait() { ended_.get_future().get(); }

 private:
  Session& session_;
  const StoreWatchOptions& options_;
  std::uint64_t left_;
  std::atomic<bool> over_ = false;
  std::promise<void> ended_;
};

void watch(Session& session, const StoreWatchOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  Interrupt interrupt(*outside);
  const auto store = open_store(session, *outside, options.reach);
  if (!store) return;
  Printer printer(session, options);
  std::unique_ptr<store::Watching> watching;
  std::optional<store::Revision> after;
  if (options.after) after = store::Revision(static_cast<std::int64_t>(*options.after));
  const auto on_loop = [&](const std::function<void(store::Store&)>& work) {
    return store->run<bool>([&](store::Store& on, store::Answer<bool> answer) {
      work(on);
      answer(true);
    });
  };
  // A server that nobody can reach is said at once; later the watch waits for it.
  if (const auto there = store->status(); !there) return fail_store(session, there.error());
  const auto begun = on_loop([&](store::Store& on) {
    watching = on.watch(prefix_of(options.prefix), after, [&](const Result<store::Changes>& seen) { printer.take(seen); });
  });
  const std::stop_callback interrupted(interrupt.token(), [&] { printer.end(); });
  printer.wait();
  const auto ended = on_loop([&](store::Store&) { watching.reset(); });
  ensure(begun && ended, "what runs on the loop comes to its end");
}

}  // namespace

void add_store_watch(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("watch", "Show changes below a prefix, until interrupted");
  command->footer(
      "First comes all that is there, as `fresh`, unless --after says from where on. A `fresh` list comes again if the store no "
      "longer\n"
      "knows what was in between; what is not in it is gone. Values in between may be left out, the latest one never.\n"
      "In JSON, one object a line; `upto` is what a later --after may be given.\n\n"
      "Examples:\n"
      "  evenkeel store watch /evenkeel/c1/live\n"
      "  evenkeel store watch /evenkeel/c1 --after 1040 -o json --count 1");
  auto options = std::make_shared<StoreWatchOptions>();
  command->add_option("PREFIX", options->prefix, "The prefix; else /")->type_name("");
  command
      ->add_option_function<std::string>(
          "--after",
          [options](const std::string& word) {
            const auto parsed = parse_integer(word);
            if (!parsed) throw CLI::ValidationError("--after", parsed.error().message);
            if (*parsed < 0) throw CLI::ValidationError("--after", "a revision is 0 or more");
            options->after = static_cast<std::uint64_t>(*parsed);
          },
          "Only what changed after this revision")
      ->type_name("REVISION");
  add_count(*command, "--count", options->count, "How many changes; else without end");
  add_output(*command, session, options->output);
  add_store_reach(*command, session, options->reach);
  command->callback([&session, options] {
    if (options->count == 0) throw CLI::ValidationError("--count", "must be 1 or more");
    watch(session, *options);
  });
}

}  // namespace evenkeel::cli
