#include "tests/story/story.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

namespace evenkeel::story {

namespace {

constexpr std::string_view dashes = "----";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string without_trailing_newlines(std::string text) {
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

void append_line(std::string& text, std::string_view line) {
  text += line;
  text += '\n';
}

std::string joined(const std::vector<std::string_view>& lines) {
  std::string text;
  for (const std::string_view line : lines) append_line(text, line);
  return text;
}

bool has_blank_line(std::string_view text) { return text.starts_with('\n') || text.find("\n\n") != std::string_view::npos; }

bool has_two_dashes(const std::vector<std::string_view>& lines) {
  const auto both = [](std::string_view a, std::string_view b) { return a == dashes && b == dashes; };
  return std::adjacent_find(lines.begin(), lines.end(), both) != lines.end();
}

// Output that the story's own dashes would cut short. A last line of dashes would merge with the closing ones.
bool cannot_be_written(std::string_view output) {
  const std::vector<std::string_view> lines = lines_of(output);
  if (lines.empty()) return false;
  const bool at_an_end = lines.front() == dashes || (has_blank_line(output) && lines.back() == dashes);
  return at_an_end || has_two_dashes(lines);
}

// One pass over one story: reads lines, runs blocks, and writes the story anew as it goes.
class Runner {
 public:
  Runner(std::string_view name, std::string_view text, const Handler& handler)
      : name_(name), lines_(lines_of(text)), handler_(handler) {}

  Outcome run() {
    while (at_ < lines_.size()) {
      if (lines_[at_].empty() || lines_[at_].starts_with('#')) {
        append_line(outcome_.rewritten, lines_[at_++]);
      } else {
        run_block();
      }
    }
    return std::move(outcome_);
  }

 private:
  void run_block() {
    const std::size_t first = at_;
    const Block block = read_block();
    if (at_ == lines_.size()) {
      problem(block.line, "has no line of four dashes after it");
      copy(first, at_);
      return;
    }
    ++at_;
    const std::size_t expected_at = at_;
    const std::optional<std::string> expected = read_expected();
    if (!expected) {
      problem(block.line, "opens its expected part with two lines of dashes and does not close it with two");
      copy(first, at_);
      return;
    }
    ++outcome_.blocks;
    const std::optional<std::string> actual = answer(block);
    if (!actual) return copy(first, at_);
    if (*actual != *expected) {
      outcome_.differences.push_back(
          fmt::format("{}:{}: {}\n--- expected\n{}\n--- actual\n{}\n---", name_, block.line, lines_[first], *expected, *actual));
    }
    copy(first, expected_at);
    write_expected(*actual);
  }

  // From the command to its dashes; at the end of the text if there are none.
  Block read_block() {
    Block block;
    block.line = static_cast<int>(at_) + 1;
    std::istringstream words{std::string(lines_[at_++])};
    words >> block.command;
    for (std::string word; words >> word;) block.args.push_back(word);
    for (; at_ < lines_.size() && lines_[at_] != dashes; ++at_) append_line(block.input, lines_[at_]);
    return block;
  }

  // Up to a blank line, which is left; or between double dashes. Nothing if those are not closed.
  std::optional<std::string> read_expected() {
    std::vector<std::string_view> expected;
    const bool doubled = at_ < lines_.size() && lines_[at_] == dashes;
    if (!doubled) {
      for (; at_ < lines_.size() && !lines_[at_].empty(); ++at_) expected.push_back(lines_[at_]);
      return without_trailing_newlines(joined(expected));
    }
    for (++at_; at_ + 1 < lines_.size(); ++at_) {
      if (lines_[at_] == dashes && lines_[at_ + 1] == dashes) {
        at_ += 2;
        return without_trailing_newlines(joined(expected));
      }
      expected.push_back(lines_[at_]);
    }
    at_ = lines_.size();
    return std::nullopt;
  }

  // What the handler says, or nothing, with the problem noted.
  std::optional<std::string> answer(const Block& block) {
    std::string output;
    try {
      output = without_trailing_newlines(handler_(block));
    } catch (const std::exception& error) {
      problem(block.line, fmt::format("threw: {}", error.what()));
      return std::nullopt;
    }
    if (!cannot_be_written(output)) return output;
    problem(block.line, fmt::format("gave output with lines of dashes where a story cannot have them:\n{}", output));
    return std::nullopt;
  }

  void write_expected(std::string_view actual) {
    if (has_blank_line(actual)) {
      append_line(outcome_.rewritten, dashes);
      append_line(outcome_.rewritten, actual);
      append_line(outcome_.rewritten, dashes);
      append_line(outcome_.rewritten, dashes);
      return;
    }
    if (!actual.empty()) append_line(outcome_.rewritten, actual);
    // What was double may now be single: then the blank line that ends it must be there.
    if (at_ < lines_.size() && !lines_[at_].empty()) append_line(outcome_.rewritten, "");
  }

  void copy(std::size_t first, std::size_t end) {
    for (std::size_t at = first; at < end; ++at) append_line(outcome_.rewritten, lines_[at]);
  }

  void problem(int line, std::string_view what) {
    outcome_.problems.push_back(fmt::format("{}:{}: {} {}", name_, line, lines_[static_cast<std::size_t>(line) - 1], what));
  }

  std::string_view name_;
  std::vector<std::string_view> lines_;
  const Handler& handler_;
  std::size_t at_ = 0;
  Outcome outcome_;
};

bool rewriting() {
  const char* value = std::getenv("EVENKEEL_REWRITE");
  return value != nullptr && std::string_view(value) == "1";
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) ADD_FAILURE() << "cannot read " << path;
  return std::move(content).str();
}

void run_file(const std::filesystem::path& path, const Handler& handler) {
  const std::string text = read(path);
  const Outcome outcome = run_text(path.string(), text, handler);
  if (outcome.blocks == 0) ADD_FAILURE() << path << " has no blocks: a story that tells nothing has not passed";
  for (const std::string& problem : outcome.problems) ADD_FAILURE() << problem;
  if (!rewriting()) {
    for (const std::string& difference : outcome.differences) ADD_FAILURE() << difference;
  } else if (outcome.rewritten != text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << outcome.rewritten << std::flush;
    if (!file) ADD_FAILURE() << "cannot write " << path;
  }
}

}  // namespace

Outcome run_text(std::string_view name, std::string_view text, const Handler& handler) {
  return Runner(name, text, handler).run();
}

void run_folder(std::string_view folder, const std::function<Handler()>& make) {
  const std::filesystem::path root = std::filesystem::path(EVENKEEL_TESTS_DIR) / folder;
  std::vector<std::filesystem::path> stories;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(root, problem)) {
    if (entry.path().extension() == ".story") stories.push_back(entry.path());
  }
  if (problem) ADD_FAILURE() << "cannot list " << root << ": " << problem.message();
  if (!problem && stories.empty()) ADD_FAILURE() << root << " has no *.story file: a test that ran nothing has not passed";
  std::sort(stories.begin(), stories.end());
  for (const std::filesystem::path& story : stories) run_file(story, make());
}

}  // namespace evenkeel::story
