#pragma once
// Stories: tests that are text in, text out.
//
// A story file is a sequence of blocks. Lines that start with '#' before a block tell what it is about. A block is a command with
// arguments on its first line, any number of input lines, a line of four dashes, and what is expected, up to a blank line:
//
//   # A binary suffix is kept where it divides.
//   quantity
//   64Gi
//   ----
//   64Gi
//
// Where the expected text itself has blank lines, it stands between a second line of four dashes and two closing ones:
//
//   validate
//   ----
//   ----
//   first part
//
//   second part
//   ----
//   ----
//
// Run a test with EVENKEEL_REWRITE=1 in the environment (`make rewrite MODULE=base`) and the expected parts are written anew, for
// review with git diff. Output is compared with trailing newlines removed.
//
// A '#' or a blank line inside a block's input is input. Output that has two lines of four dashes in a row, or starts with one, cannot
// be written down here; it is reported, as is a command without its dashes, whether rewriting or not.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::story {

struct Block {
  std::string command;            // the first word
  std::vector<std::string> args;  // the others
  std::string input;              // the lines between command and dashes, each with its newline
  int line = 0;                   // of the command, for messages
};

using Handler = std::function<std::string(const Block&)>;

// Runs every *.story file in the folder tests/<folder>, in order of name, each from a handler of its own (`make` is called per file,
// so that state does not leak between files). Differences are gtest failures that show file, line, expected and actual. An empty or
// missing folder is a failure: a test that ran nothing has not passed.
void run_folder(std::string_view folder, const std::function<Handler()>& make);

// One story as text: the same text with the expected parts replaced by what the handler said, and the differences found.
struct Outcome {
  std::string rewritten;
  std::vector<std::string> differences;
  std::vector<std::string> problems;  // what no rewriting mends
  int blocks = 0;
};
Outcome run_text(std::string_view name, std::string_view text, const Handler& handler);

}  // namespace evenkeel::story
