#pragma once
// cli: the command line, `evenkeel …`, as a function: words in, an exit status and text out.
//
//   Io io = …;                                      // where text goes and comes from; main() binds it to the process
//   int status = cli::run({"validate", "-f", "pages.yaml"}, io);
//
// Conventions, the same for every command: data goes to standard output and words to standard error; `-o table|wide|json|yaml|name`;
// colour only where that very stream is a terminal, and never with NO_COLOR; the exit status says what happened:
//   0 done   1 failed or refused   2 wrong usage or input   3 not found   4 conflict   5 unreachable or timed out   6 denied
// If a command fails, nothing is written to standard output; but a plan that does not meet everything is a plan, and printed. Every
// refusal says what to do next.
//
// Adding a command: one file that defines `void add_NAME(CLI::App&, Session&)` (command.h), one line in the table in cli.cc.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/result.h"

namespace evenkeel::cli {

enum class Exit : int { done = 0, failed = 1, usage = 2, not_found = 3, conflict = 4, unreachable = 5, denied = 6 };

Exit exit_of(Code code);

// What commands that live for a while ask of the process they run in: main() has a real one (process.h), tests their own.
class Outside {
 public:
  enum class Signal : std::uint8_t { stop, reload };  // an interrupt or a polite end; a hang-up
  class Watch {
   public:
    virtual ~Watch() = default;
  };
  // How a command that was run came to its end.
  struct Ended {
    int status = 0;
    bool killed = false;  // by the signal of that number, `status`
    bool asked = false;   // to end, by a signal that was meant for it and us
  };
  using Writer = std::function<Result<void>(std::string_view)>;

  virtual ~Outside() = default;
  virtual std::optional<std::string> variable(const std::string& name) const = 0;
  enum class Stream : std::uint8_t { out, err };
  struct Screen {
    std::size_t rows = 24, columns = 80;
    friend bool operator==(const Screen&, const Screen&) = default;
  };
  // How large the terminal is, as it is now, that a standard stream goes to; nothing: it goes elsewhere.
  virtual std::optional<Screen> screen(Stream stream) const = 0;
  bool terminal() const { return screen(Stream::out).has_value(); }
  // Signals come to `heard`, on a thread of their own, until the watch is destroyed. Before the first other thread is started.
  virtual std::unique_ptr<Watch> watch(std::function<void(Signal)> heard) = 0;
  struct Command {
    std::vector<std::string> words;
    std::vector<std::pair<std::string, std::string>> variables = {};  // of its environment, beside ours
    bool adopt = false;  // what it started and left behind becomes ours, so that end_command() reaches it too
  };
  enum class End : std::uint8_t { politely, at_once };
  // Runs a command with our standard streams and waits for its end. An error: it was not started.
  virtual Result<Ended> run(const Command& command) = 0;
  // Asks the command that runs to end, or kills it, with all that was adopted. From any thread.
  virtual void end_command(End how) = 0;
  // A line that is typed at the terminal; nothing if standard input is no terminal, or is at its end.
  virtual Result<std::optional<std::string>> ask(std::string_view prompt) = 0;
  // What is typed at the terminal, unseen; nothing if standard input is no terminal.
  virtual Result<std::optional<std::string>> ask_secret(std::string_view prompt) = 0;
  // Tells whoever started us that we serve, if he wants to know (systemd's NOTIFY_SOCKET).
  virtual void tell_ready() = 0;
  // A file, made anew, to be written part by part.
  virtual Result<Writer> create(const std::string& path) = 0;
};

// The outside world of one run.
struct Io {
  std::function<Result<void>(std::string_view)> out;                      // standard output; an error if it cannot be written
  std::function<void(std::string_view)> err;                              // standard error
  std::function<Result<std::string>(const std::string& path)> read_file;  // "-": standard input
  // Puts a file in place, whole or not at all; absent: commands that write files are refused.
  std::function<Result<void>(const std::string& path, std::string_view content)> write_file = {};
  // The same for what is the user's alone: nobody else may read it, and folders that are missing are made.
  std::function<Result<void>(const std::string& path, std::string_view content)> write_private = {};
  bool out_colour = false;     // standard output takes colours
  bool err_colour = false;     // standard error does
  Outside* outside = nullptr;  // null: commands that need it are refused
};

// `args`: the words after the program's name.
int run(const std::vector<std::string>& args, Io& io);

}  // namespace evenkeel::cli
