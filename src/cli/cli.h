#pragma once
// cli: the command line, `evenkeel …`, as a function: words in, an exit status and text out.
//
//   Io io = …;                                      // where text goes and comes from; main() binds it to the process
//   int status = cli::run({"validate", "-f", "pages.yaml"}, io);
//
// Conventions, the same for every command: data goes to standard output and words to standard error; `-o table|wide|json|yaml|name`;
// colour only on a terminal and never with NO_COLOR; the exit status says what happened:
//   0 done   1 failed or refused   2 wrong usage or input   3 not found   4 conflict   5 unreachable or timed out   6 denied
// If a command fails, nothing is written to standard output. Every refusal says what to do next.
//
// Adding a command: one file that defines `void add_NAME(CLI::App&, Session&)` (command.h), one line in the table in cli.cc.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/result.h"

namespace evenkeel::cli {

enum class Exit : int { done = 0, failed = 1, usage = 2, not_found = 3, conflict = 4, unreachable = 5, denied = 6 };

Exit exit_of(Code code);

// The outside world of one run.
struct Io {
  std::function<Result<void>(std::string_view)> out;                      // standard output; an error if it cannot be written
  std::function<void(std::string_view)> err;                              // standard error
  std::function<Result<std::string>(const std::string& path)> read_file;  // "-": standard input
  bool colour = false;                                                    // standard error takes colours
};

// `args`: the words after the program's name.
int run(const std::vector<std::string>& args, Io& io);

}  // namespace evenkeel::cli
