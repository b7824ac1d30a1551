#pragma once
// Traces: what was asked of a broker, one JSON object a line, and what came of it, one event a line.
//
// A *command* is a line read: configure, submit, finish, advance and so on, as values that survive parse(format(c)). A *runner*
// plays commands on a scheduler of its own with a virtual clock that starts at 0 and moves only by `advance`. The same text gives
// the same events, byte for byte; a recording of a live broker (commands written by `format`, with `advance` between them, from a
// `restore` on) replays to the same grants.
//
//   TraceRunner runner;
//   std::string events;
//   for (std::string_view line : lines)
//     if (auto read = runner.line(line, events); !read) return print(read.error());    // line and column, what to do
//
// Cookies here are JSON text, kept as written. The format for people is docs/broker-trace.md.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "evenkeel/base/diagnostic.h"
#include "evenkeel/broker/config.h"
#include "evenkeel/broker/scheduler.h"
#include "evenkeel/broker/status.h"

namespace evenkeel::broker {

namespace trace {

struct Configure {
  Config config;
  friend bool operator==(const Configure&, const Configure&) = default;
};
// In place of the first configure: go on from here. `clients` has a name for every client of the state; cookies are JSON.
struct Restore {
  State state;
  std::map<ClientId, std::string> clients;
  friend bool operator==(const Restore&, const Restore&) = default;
};
struct Submit {
  std::string client;
  TaskId task{0};
  std::string type;
  std::uint64_t priority = 0;
  Amounts need;  // in the order of the broker's resources
  std::string cookie = "null";
  bool instant = false;
  friend bool operator==(const Submit&, const Submit&) = default;
};
struct Update {
  std::string client;
  TaskId task{0};
  std::string type;
  std::uint64_t priority = 0;
  Amounts need;
  bool resubmit = false;
  friend bool operator==(const Update&, const Update&) = default;
};
struct UpdateCookie {
  std::string client;
  TaskId task{0};
  std::string cookie = "null";
  friend bool operator==(const UpdateCookie&, const UpdateCookie&) = default;
};
struct Remove {
  std::string client;
  TaskId task{0};
  bool reply = false;
  friend bool operator==(const Remove&, const Remove&) = default;
};
struct Finish {
  std::string client;
  TaskId task{0};
  bool cancel = false;
  bool instant = false;
  friend bool operator==(const Finish&, const Finish&) = default;
};
struct Reduce {
  std::string client;
  TaskId task{0};
  Amounts by;
  friend bool operator==(const Reduce&, const Reduce&) = default;
};
struct Merge {
  std::string client;
  TaskId task{0};
  TaskId donor{0};
  friend bool operator==(const Merge&, const Merge&) = default;
};
struct ClientDied {
  std::string client;
  friend bool operator==(const ClientDied&, const ClientDied&) = default;
};
struct Advance {
  Micros by{0};
  friend bool operator==(const Advance&, const Advance&) = default;
};
struct Stats {
  friend bool operator==(const Stats&, const Stats&) = default;
};
struct Note {
  std::string text;
  friend bool operator==(const Note&, const Note&) = default;
};

using Command = std::variant<Configure, Restore, Submit, Update, UpdateCookie, Remove, Finish, Reduce, Merge, ClientDied, Advance,
                             Stats, Note>;

// A line as a command. Amounts are read by the names in `resources`; other fields that the command does not have are ignored.
// The place's column is right, its line is 1.
tl::expected<Command, Diagnostic> parse(std::string_view line, std::span<const std::string> resources);

// A command as a line, without the newline. Fields that have their default are left out.
std::string format(const Command& command);

// Bytes as a cookie in JSON: a text; invalid UTF-8 becomes U+FFFD.
std::string cookie_of(std::string_view bytes);
// What a live broker saved, whose cookies are bytes, as the command that goes on from there.
Restore restore_of(State state, std::map<ClientId, std::string> clients);

}  // namespace trace

class TraceRunner {
 public:
  explicit TraceRunner(const Options& options = {});
  TraceRunner(TraceRunner&&) noexcept;
  TraceRunner& operator=(TraceRunner&&) noexcept;
  ~TraceRunner();

  // Runs one line (without its newline) and appends the events, each with a newline. An error ends the trace: it has the number of
  // the line, counted from 1; what was appended before it stays.
  tl::expected<void, Diagnostic> line(std::string_view text, std::string& out);

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace evenkeel::broker
