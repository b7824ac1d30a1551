// evenkeel store VERB: what a cluster remembers.

#include "evenkeel/cli/command.h"

namespace evenkeel::cli {
namespace {

// Every verb, in the order of --help; each in the file store_<verb>.cc.
constexpr void (*table_of_verbs[])(CLI::App&, Session&) = {
    add_store_serve,
};

}  // namespace

void add_store(CLI::App& app, Session& session) {
  auto* noun = app.add_subcommand("store", "Serve a coordination store, and look into any");
  for (const auto add : table_of_verbs) add(*noun, session);
  noun->require_subcommand(1);
}

}  // namespace evenkeel::cli
