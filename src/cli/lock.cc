// evenkeel lock VERB: who may do it now.

#include "evenkeel/cli/command.h"

namespace evenkeel::cli {
namespace {

// Every verb, in the order of --help; list, show and break are in lock_show.cc.
constexpr void (*lock_verbs[])(CLI::App&, Session&) = {add_lock_run, add_lock_list, add_lock_show, add_lock_break};

}  // namespace

void add_lock(CLI::App& app, Session& session) {
  auto* noun = app.add_subcommand("lock", "Run commands under a lock, and see who holds which");
  for (const auto add : lock_verbs) add(*noun, session);
  noun->require_subcommand(1);
}

}  // namespace evenkeel::cli
