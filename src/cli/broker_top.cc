// evenkeel broker top: a live broker, looked at again and again.

#include "evenkeel/cli/broker_view.h"
#include "evenkeel/cli/live.h"

namespace evenkeel::cli {
namespace {

struct BrokerTopOptions {
  Reach reach;
  Duration interval = 1s;
  std::uint64_t count = 0;  // 0: until interrupted
};

void top(Session& session, const BrokerTopOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  Interrupt interrupt(*outside);
  const broker::RemoteBroker remote(address_of(*outside, options.reach), options_of(options.reach));
  const std::string before_picture = outside->terminal() ? "\033[H\033[J" : "";  // the upper left corner, and nothing below it
  std::optional<broker::Observed> before;
  for (std::uint64_t shown = 1;; ++shown) {
    auto seen = remote.observe({.waiting_max = 0, .running_max = 10});
    if (!seen) return session.fail(seen.error());
    session.print(before_picture + top_of(*seen, before ? &*before : nullptr));
    if (session.status != Exit::done || shown == options.count) return;
    before = std::move(*seen);
    if (interrupt.wait(options.interval) == Outside::Signal::stop) return;
    if (!outside->terminal()) session.print("\n");
  }
}

}  // namespace

void add_broker_top(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("top", "Watch a live broker");
  command->footer(
      "Redrawn in place on a terminal, one block after the other elsewhere.\n\n"
      "Examples:\n"
      "  evenkeel broker top\n"
      "  evenkeel broker top --interval 10s --count 6 > minute.txt");
  auto options = std::make_shared<BrokerTopOptions>();
  add_duration(*command, "--interval", options->interval, "How long between two looks; 1s");
  add_count(*command, "--count", options->count, "How many looks; else until interrupted");
  add_reach(*command, session, options->reach);
  command->callback([&session, options] { top(session, *options); });
}

}  // namespace evenkeel::cli
