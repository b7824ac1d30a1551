// Any words, one a line, after `evenkeel`: an exit status of the table, and nothing on standard output if it is not 0, but for a plan that
// does not meet everything.

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "evenkeel/cli/cli.h"
#include "tests/fuzz/bounds.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (names_many(text)) return 0;
  std::istringstream lines(text);
  std::vector<std::string> words;
  for (std::string line; std::getline(lines, line);) words.push_back(line);
  std::string out, err;
  cli::Io io{
      .out = [&](std::string_view text) -> Result<void> { return out += text, Result<void>(); },
      .err = [&](std::string_view text) { err += text; },
      .read_file = [](const std::string& path) -> Result<std::string> { return path; },  // a file that holds its own name
  };
  const int status = cli::run(words, io);
  ensure(status >= 0 && status <= 6, "an exit status is one of the table");
  const bool unmet_plan = status == 1 && !words.empty() && words[0] == "plan";
  ensure(status == 0 || ((out.empty() || unmet_plan) && !err.empty()), "a failure writes no data, and says why");
  return 0;
}
