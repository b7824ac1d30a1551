// The stories of base: small parsers and formatters, one line in, one line out.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "evenkeel/base/log.h"
#include "evenkeel/base/quantity.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/time.h"
#include "tests/story/story.h"

namespace evenkeel {
namespace {

std::vector<std::string> lines_of(const std::string& input) {
  std::vector<std::string> lines;
  std::istringstream stream(input);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

template <class T>
std::string shown(const Result<T>& result) {
  return result ? format(*result) : fmt::format("{}", result.error());
}

// "<text>: <what became of it>", so that inputs and answers can be read side by side.
template <class Parse>
std::string parse_each(const std::string& input, Parse parse) {
  std::string output;
  for (const std::string& line : lines_of(input)) output += fmt::format("{:<12} {}\n", line + ":", shown(parse(line)));
  return output;
}

// "1e3", "true" and "nan" in the fields of a story stand for values of their kinds; all else, and what is in quotes, for text.
Field field_of(const std::string& key, const std::string& value) {
  if (value.starts_with('\'')) return {key, value.substr(1, value.size() - 2)};
  if (value == "true" || value == "false") return {key, value == "true"};
  if (value == "nan" || value == "inf" || value.find('.') != std::string::npos) {
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (*end == '\0') return {key, number};
  }
  if (const auto number = parse_integer(value)) return {key, *number};
  return {key, value};
}

std::string unescaped(std::string text) {
  const std::vector<std::pair<std::string, char>> escapes{{"\\n", '\n'}, {"\\e", '\x1b'}, {"\\xff", '\xff'}, {"\\s", ' '}};
  for (const auto& [written, meant] : escapes) {
    for (std::size_t at = text.find(written); at != std::string::npos; at = text.find(written)) {
      text.replace(at, written.size(), 1, meant);
    }
  }
  return text;
}

// log <level>: the message on the first line, then one `key=value` a line; `with` after the level puts them all in a child.
std::string log_both(const story::Block& block) {
  std::string output;
  const std::vector<std::string> lines = lines_of(block.input);
  for (const Log::Format format : {Log::Format::text, Log::Format::json}) {
    const auto sink = [&](Level, std::string_view line) { output += fmt::format("{}\n", line); };
    Log log = Log::to(sink, {.level = Level::debug, .format = format},
                      [] { return WallTime(std::chrono::microseconds(1'794'732'595'000'123)); });
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::size_t equals = lines[i].find('=');
      log = log.with({field_of(unescaped(lines[i].substr(0, equals)), unescaped(lines[i].substr(equals + 1)))});
    }
    log.write(parse_level(block.args.at(0)).value(), lines.empty() ? "" : unescaped(lines[0]));
  }
  return output;
}

std::string nearest_each(const story::Block& block) {
  const std::vector<std::string_view> candidates(block.args.begin(), block.args.end());
  std::string output;
  for (const std::string& word : lines_of(block.input)) {
    const auto found = nearest(word, candidates);
    output += fmt::format("{}: {}\n", word, found ? fmt::format("did you mean {}?", *found) : "nothing near");
  }
  return output;
}

std::string handle(const story::Block& block) {
  if (block.command == "duration") return parse_each(block.input, parse_duration);
  if (block.command == "quantity") return parse_each(block.input, Quantity::parse);
  if (block.command == "bytes") return parse_each(block.input, Bytes::parse);
  if (block.command == "ratio") return parse_each(block.input, Ratio::parse);
  if (block.command == "nearest") return nearest_each(block);
  if (block.command == "log") return log_both(block);
  if (block.command == "quoted") {
    std::string output;
    for (const std::string& line : lines_of(block.input)) output += quote(unescaped(line), 16) + "\n";
    return output;
  }
  return "unknown command " + block.command;
}

TEST(Stories, Base) {
  story::run_folder("base/stories", [] { return handle; });
}

}  // namespace
}  // namespace evenkeel
