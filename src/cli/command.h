#pragma once
// What a command is made of. A command's add function declares its options on a CLI::App and sets a callback that does the work and
// leaves the exit status in the session.

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "evenkeel/base/diagnostic.h"
#include "evenkeel/base/time.h"
#include "evenkeel/cli/cli.h"
#include "evenkeel/cli/output.h"

namespace evenkeel::cli {

// How shells complete an option's value.
struct ValueHint {
  std::vector<std::string> words;
  bool files = false;
  bool contexts = false;  // the names of contexts, as their file has them
};

struct Session {
  explicit Session(Io& outside) : io(outside) {}

  Io& io;
  Exit status = Exit::done;
  std::map<const CLI::Option*, ValueHint> hints;
  bool open_line = false;  // of standard error: a bar is drawn there
  std::string context;     // that has chosen the store, for who cannot reach it; empty: none has

  // Writes data; a failure to write is a failure of the command.
  void print(std::string_view data);
  // Words for people: "evenkeel: …" in front.
  void say(std::string_view words);
  // Words begin on a line of their own, after a bar (progress.h) that is still open.
  void end_line();
  void fail(const Error& error);
  // Each problem with its place; "error" in red on a terminal.
  void fail(const Diagnostics& problems);
};

// An app's commands, but those that help does not show; and the one that a word names, or null.
std::vector<CLI::App*> commands_of(CLI::App& app);
CLI::App* find_command(CLI::App& app, const std::string& word);

// -o, the form of the output; every command has all five (output.h).
CLI::Option* add_output(CLI::App& command, Session& session, Output& output);
// -f FILE, "-" for standard input.
CLI::Option* add_file(CLI::App& command, Session& session, std::string& file);
// An option that takes one of some words, and is told which by its place among them. The words outlive the app. `what`: "a form of output".
CLI::Option* add_word(CLI::App& command, Session& session, const std::string& name, std::string_view what,
                      std::span<const std::string_view> words, std::function<void(std::size_t)> chosen,
                      const std::string& description);
// An option that takes a duration, as people write it.
CLI::Option* add_duration(CLI::App& command, const std::string& name, Duration& duration, const std::string& description);
// An option that takes a whole number from 0 on.
CLI::Option* add_count(CLI::App& command, const std::string& name, std::uint64_t& count, const std::string& description);

// The commands, each in the .cc file of its name.
void add_validate(CLI::App& app, Session& session);
void add_plan(CLI::App& app, Session& session);
void add_serve(CLI::App& app, Session& session);
void add_agent(CLI::App& app, Session& session);
void add_broker(CLI::App& app, Session& session);
void add_store(CLI::App& app, Session& session);
void add_lock(CLI::App& app, Session& session);
void add_routes(CLI::App& app, Session& session);
void add_top(CLI::App& app, Session& session);
void add_cluster(CLI::App& app, Session& session);
void add_node(CLI::App& app, Session& session);
void add_workload(CLI::App& app, Session& session);
void add_shard(CLI::App& app, Session& session);
void add_rollout(CLI::App& app, Session& session);
void add_apply(CLI::App& app, Session& session);
void add_context(CLI::App& app, Session& session);
void add_sim(CLI::App& app, Session& session);
void add_version(CLI::App& app, Session& session);
void add_completion(CLI::App& app, Session& session);
void add_man(CLI::App& app, Session& session);

// The verbs of `evenkeel broker`.
void add_broker_serve(CLI::App& app, Session& session);
void add_broker_status(CLI::App& app, Session& session);
void add_broker_top(CLI::App& app, Session& session);
void add_broker_configure(CLI::App& app, Session& session);
void add_broker_submit(CLI::App& app, Session& session);
void add_broker_record(CLI::App& app, Session& session);
void add_broker_convert(CLI::App& app, Session& session);
void add_broker_default_config(CLI::App& app, Session& session);
void add_broker_replay(CLI::App& app, Session& session);

// The verbs of `evenkeel store`.
void add_store_serve(CLI::App& app, Session& session);
void add_store_get(CLI::App& app, Session& session);
void add_store_put(CLI::App& app, Session& session);
void add_store_del(CLI::App& app, Session& session);
void add_store_list(CLI::App& app, Session& session);
void add_store_watch(CLI::App& app, Session& session);
void add_store_txn(CLI::App& app, Session& session);
void add_store_backup(CLI::App& app, Session& session);
void add_store_restore(CLI::App& app, Session& session);
void add_store_compact(CLI::App& app, Session& session);
void add_store_status(CLI::App& app, Session& session);
void add_store_password(CLI::App& app, Session& session);

// Verbs of `evenkeel node` that have files of their own.
void add_node_list(CLI::App& app, Session& session);
void add_node_show(CLI::App& app, Session& session);
void add_node_drain(CLI::App& app, Session& session);
void add_node_swap(CLI::App& app, Session& session);
void add_node_set(CLI::App& app, Session& session);
void add_node_stoppable(CLI::App& app, Session& session);
void add_node_permit(CLI::App& app, Session& session);

// The verbs of `evenkeel lock`.
void add_lock_run(CLI::App& app, Session& session);
void add_lock_list(CLI::App& app, Session& session);
void add_lock_show(CLI::App& app, Session& session);
void add_lock_break(CLI::App& app, Session& session);

// Subcommands, options and values that could follow: `words` before the cursor, `partial` at it (completion.cc).
std::string complete(CLI::App& app, const Session& session, std::span<const std::string> words, std::string_view partial);

}  // namespace evenkeel::cli
