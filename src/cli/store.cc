// evenkeel store VERB: what a cluster remembers.

#include "evenkeel/cli/command.h"

namespace evenkeel::cli {
namespace {

// Every verb, in the order of --help; each in the file store_<verb>.cc.
constexpr void (*store_verbs[])(CLI::App&, Session&) = {
    add_store_serve, add_store_get,    add_store_put,     add_store_del,     add_store_list,   add_store_watch,
    add_store_txn,   add_store_backup, add_store_restore, add_store_compact, add_store_status, add_store_password,
};

}  // namespace

void add_store(CLI::App& app, Session& session) {
  auto* noun = app.add_subcommand("store", "Serve a coordination store, and look into any");
  for (const auto add : store_verbs) add(*noun, session);
  noun->require_subcommand(1);
}

}  // namespace evenkeel::cli
