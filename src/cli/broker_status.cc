// evenkeel broker status: a live broker's queues, task types and totals.

#include "evenkeel/cli/broker_view.h"
#include "evenkeel/cli/live.h"

namespace evenkeel::cli {
namespace {

struct BrokerStatusOptions {
  Reach reach;
  Output output = Output::table;
};

void status(Session& session, const BrokerStatusOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  const broker::RemoteBroker remote(address_of(*outside, options.reach), options_of(options.reach));
  const auto seen = remote.observe();
  if (!seen) return session.fail(seen.error());
  session.print(status_as(*seen, options.output));
}

}  // namespace

void add_broker_status(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("status", "Show a live broker's queues and task types");
  command->footer(
      "What is held is shown as held/limit. -o wide adds times and running tasks, -o json and -o yaml everything.\n\n"
      "Examples:\n"
      "  evenkeel broker status\n"
      "  evenkeel broker status -o json --address unix:/run/evenkeel/broker");
  auto options = std::make_shared<BrokerStatusOptions>();
  add_output(*command, session, options->output);
  add_reach(*command, session, options->reach);
  command->callback([&session, options] { status(session, *options); });
}

}  // namespace evenkeel::cli
