// evenkeel broker replay [FILE]: plays a trace of commands on a broker with a virtual clock, and prints what it would do.

#include "evenkeel/broker/trace.h"
#include "evenkeel/cli/command.h"

namespace evenkeel::cli {
namespace {

// Events are written in pieces of about this size, so that a long trace needs no memory for them.
constexpr std::size_t piece_bytes = std::size_t{64} << 10;

void replay(Session& session, const std::string& file) {
  const auto text = session.io.read_file(file);
  if (!text) return session.fail(text.error());
  broker::TraceRunner runner;
  std::string events;
  std::string_view rest = *text;
  while (!rest.empty() && session.status == Exit::done) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const auto done = runner.line(rest.substr(0, end), events);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (events.size() >= piece_bytes) {
      session.print(events);
      events.clear();
    }
    if (done) continue;
    if (!events.empty()) session.print(events);
    Diagnostics problems(file == "-" ? "<stdin>" : file);
    problems.add(done.error().place, done.error().message, done.error().hint);
    return session.fail(problems);
  }
  if (!events.empty() && session.status == Exit::done) session.print(events);
}

}  // namespace

void add_broker_replay(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("replay", "Play a trace of commands, and print what a broker would do");
  command->footer(
      "A trace is one JSON object a line: configure first, then submit, finish, advance and so on; docs/broker-trace.md has "
      "them\n"
      "all. Every grant, error and answer is printed as one JSON object a line. The clock is virtual and starts at 0: the same\n"
      "trace gives the same output, byte for byte.\n"
      "Errors and refusals of the broker are events, and the exit status is 0. A line that cannot be read ends the replay with\n"
      "status 2; unlike in other commands, what came before it has been printed.\n\n"
      "Examples:\n"
      "  evenkeel broker replay trace.jsonl\n"
      "  evenkeel broker replay < trace.jsonl | grep allocated");
  auto file = std::make_shared<std::string>("-");
  auto* option = command->add_option("FILE", *file, "The trace; - or nothing is standard input");
  option->type_name("");
  session.hints[option] = {.words = {}, .files = true};
  command->callback([&session, file] { replay(session, *file); });
}

}  // namespace evenkeel::cli
