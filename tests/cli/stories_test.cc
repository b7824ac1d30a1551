// The stories of the command line, run in this process. Commands:
//   file NAME       keeps the input as a file that later commands may read ("-" is standard input)
//   show NAME       shows a file, kept or written by a command
//   run WORD…       runs `evenkeel WORD…`; shows standard output, then standard error behind "! ", then the exit status if it is not 0
//   colour WORD…    the same on a terminal with colours; escapes are shown as ^[
//   full WORD…      the same with a standard output that cannot be written
//   variable N V    from here on there is an outside, without a network but with an environment in which N is V; without V it is not set
//   answer TEXT     what is typed when the next command asks; without it nobody can be asked
// Files below /locked/ can neither be read nor written; other absolute paths only by commands that write what is the user's alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "evenkeel/cli/cli.h"
#include "tests/story/story.h"

namespace evenkeel::cli {
namespace {

// How long planning took is the one thing that differs from run to run.
std::string without(std::string out, std::string_view field) {
  for (std::size_t at = out.find(field); at != std::string::npos; at = out.find(field, at + 1)) {
    const std::size_t begin = out.find_first_not_of("\": ", at + field.size());
    const std::size_t end = out.find_first_not_of("0123456789.", begin);
    if (begin < end && begin > at + field.size() && out.substr(at + field.size(), begin - at - field.size()).contains(':'))
      out.replace(begin, end - begin, "…");
  }
  return out;
}
std::string without_seconds(std::string out) { return without(without(std::move(out), "seconds"), "evaluated_moves"); }

// Of a simulated run only what the story decides: not what each controller and node said, nor sums and digests that any change to them changes.
std::string without_details(const std::string& out) {
  constexpr std::string_view story_said = "  story         ";
  std::istringstream lines(out);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const bool moment = line.starts_with("  ") && line.size() > 28 && line.substr(12, 2) == "  " && line[13] == ' ';
    if (moment && line.substr(12, story_said.size()) != story_said) continue;
    for (const std::string_view what : {"moves", "leader changes", "without a leader", "unsettled", "writes", "to the store"}) {
      if (line.starts_with(what)) line = fmt::format("{}  …", what);
    }
    if (line.starts_with("seed ")) line = line.substr(0, line.find("  ", line.find("  ") + 2)) + "  …";
    for (const std::string_view field : {"\"digest\": ", "\"calm\": "}) {
      if (const std::size_t at = line.find(field); at != std::string::npos) line.resize(at + field.size()), line += "…";
    }
    kept += line + '\n';
  }
  return kept;
}

// An environment, and somebody who answers once.
class Surroundings final : public Outside {
 public:
  std::map<std::string, std::string> variables;
  std::optional<std::string> answer;

  std::optional<std::string> variable(const std::string& name) const override {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<Screen> screen(Stream) const override { return std::nullopt; }
  std::unique_ptr<Watch> watch(std::function<void(Signal)>) override { return nullptr; }
  Result<Ended> run(const Command&) override { return fail(Code::refused, "nothing can be run here"); }
  void end_command(End) override {}
  Result<std::optional<std::string>> ask(std::string_view) override { return std::exchange(answer, std::nullopt); }
  Result<std::optional<std::string>> ask_secret(std::string_view) override { return std::nullopt; }
  void tell_ready() override {}
  Result<Writer> create(const std::string&) override { return fail(Code::refused, "nothing can be written here"); }
};

class Shell {
 public:
  std::string handle(const story::Block& block) {
    if (block.command == "variable") {
      if (!outside_) outside_.emplace();
      outside_->variables.erase(block.args.at(0));
      if (block.args.size() > 1) outside_->variables[block.args[0]] = block.args[1];
      return "";
    }
    if (block.command == "answer") return outside_->answer = block.args.at(0), "";
    if (block.command == "file") {
      files_[block.args.at(0)] = block.input;
      return "kept";
    }
    if (block.command == "show") return files_.at(block.args.at(0));
    std::string out, err;
    Io io{
        .out = [&](std::string_view text) -> Result<void> {
          if (block.command == "full") return fail(Code::refused, "No space left on device");
          out += text;
          return {};
        },
        .err = [&](std::string_view text) { err += text; },
        .read_file = [&](const std::string& path) -> Result<std::string> {
          if (path.starts_with("/locked/")) return fail(Code::denied, "cannot read {}: Permission denied", path);
          const auto found = files_.find(path);
          if (found == files_.end()) return fail(Code::not_found, "cannot read {}: No such file or directory", path);
          return found->second;
        },
        .write_file = [&](const std::string& path, std::string_view content) -> Result<void> {
          if (path.starts_with("/")) return fail(Code::denied, "cannot write {}: Permission denied", path);
          files_[path] = content;
          return {};
        },
        .write_private = [&](const std::string& path, std::string_view content) -> Result<void> {
          if (path.starts_with("/locked/")) return fail(Code::denied, "cannot write {}: Permission denied", path);
          files_[path] = content;
          return {};
        },
        .out_colour = block.command == "colour",
        .err_colour = block.command == "colour",
        .outside = outside_ ? &*outside_ : nullptr,
    };
    const int status = run(block.args, io);
    const bool replays = block.args.size() > 1 && block.args[1] == "replay";
    const bool streams = replays || (!block.args.empty() && block.args[0] == "sim");  // prints as it goes
    const bool unmet_plan = status == 1 && block.args[0] == "plan";                   // a plan all the same
    EXPECT_TRUE(status == 0 || out.empty() || streams || unmet_plan) << "a failed command wrote data: " << out;
    out = without_seconds(out);
    const bool run_shown = !block.args.empty() && block.args[0] == "sim" && !std::ranges::count(block.args, "--phrases");
    if (run_shown) out = without_details(out);
    std::istringstream words(err);
    for (std::string line; std::getline(words, line);) out += "! " + line + "\n";
    for (auto at = out.find('\033'); at != std::string::npos; at = out.find('\033')) out.replace(at, 1, "^[");
    return status == 0 ? out : out + fmt::format("exit {}\n", status);
  }

 private:
  std::map<std::string, std::string> files_;
  std::optional<Surroundings> outside_;
};

TEST(Cli, Stories) {
  story::run_folder("cli/stories", [] {
    auto shell = std::make_shared<Shell>();
    return [shell](const story::Block& block) { return shell->handle(block); };
  });
}

TEST(Cli, ExitStatusFollowsTheCode) {
  EXPECT_EQ(exit_of(Code::refused), Exit::failed);
  EXPECT_EQ(exit_of(Code::cancelled), Exit::failed);
  EXPECT_EQ(exit_of(Code::invalid), Exit::usage);
  EXPECT_EQ(exit_of(Code::too_large), Exit::usage);
  EXPECT_EQ(exit_of(Code::not_found), Exit::not_found);
  EXPECT_EQ(exit_of(Code::conflict), Exit::conflict);
  EXPECT_EQ(exit_of(Code::unavailable), Exit::unreachable);
  EXPECT_EQ(exit_of(Code::unknown_outcome), Exit::unreachable);
  EXPECT_EQ(exit_of(Code::denied), Exit::denied);
}

}  // namespace
}  // namespace evenkeel::cli
