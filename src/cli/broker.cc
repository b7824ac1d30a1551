// evenkeel broker VERB: a node's resource broker.

#include "evenkeel/cli/command.h"

namespace evenkeel::cli {
namespace {

// Every verb, in the order of --help; each in the file broker_<verb>.cc.
constexpr void (*broker_verbs[])(CLI::App&, Session&) = {
    add_broker_serve,   add_broker_status,         add_broker_top,    add_broker_configure, add_broker_submit, add_broker_record,
    add_broker_convert, add_broker_default_config, add_broker_replay,
};

}  // namespace

void add_broker(CLI::App& app, Session& session) {
  auto* noun = app.add_subcommand("broker", "Work with a node's resource broker");
  for (const auto add : broker_verbs) add(*noun, session);
  noun->require_subcommand(1);
}

}  // namespace evenkeel::cli
