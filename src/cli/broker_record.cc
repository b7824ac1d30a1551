// evenkeel broker record: what a live broker is asked, as a trace that replays to the same grants.

#include <algorithm>
#include <thread>

#include "evenkeel/cli/live.h"

namespace evenkeel::cli {
namespace {

struct BrokerRecordOptions {
  Reach reach;
  Duration length = Duration::max();
  std::string output;
};

void record(Session& session, const BrokerRecordOptions& options) {
  Outside* outside = outside_of(session);
  if (outside == nullptr) return;
  Interrupt interrupt(*outside);
  Outside::Writer write = session.io.out;
  if (!options.output.empty()) {
    auto created = outside->create(options.output);
    if (!created) return session.fail(created.error());
    write = std::move(*created);
  }
  // The clock of --for, beside the thread that reads: whichever comes first ends both.
  std::stop_source ended;
  const std::stop_callback interrupted(interrupt.token(), [&] { ended.request_stop(); });
  std::jthread timer([&](const std::stop_token& done) {
    std::mutex mutex;
    std::condition_variable_any over;
    std::unique_lock lock(mutex);
    constexpr Duration longest = 24h * 365;
    over.wait_for(lock, done, std::min(options.length, longest), [] { return false; });
    ended.request_stop();
  });
  const broker::RemoteBroker remote(address_of(*outside, options.reach), options_of(options.reach));
  const auto recorded = remote.record(write, ended.get_token());
  if (!recorded) session.fail(recorded.error());
}

}  // namespace

void add_broker_record(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("record", "Write down what a live broker is asked, until interrupted");
  command->footer(
      "The lines are a trace: `evenkeel broker replay` makes the same grants of them.\n"
      "The first one holds the broker as it is when the recording starts, so it may be long.\n\n"
      "Examples:\n"
      "  evenkeel broker record --for 1m --output minute.trace\n"
      "  evenkeel broker record | evenkeel broker replay");
  auto options = std::make_shared<BrokerRecordOptions>();
  add_duration(*command, "--for", options->length, "How long; else until interrupted");
  auto* output = command->add_option("--output", options->output, "The file to write; else standard output");
  output->type_name("FILE");
  session.hints[output] = {.words = {}, .files = true};
  add_reach(*command, session, options->reach);
  command->callback([&session, options] { record(session, *options); });
}

}  // namespace evenkeel::cli
