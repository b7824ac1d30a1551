// The story runner, tested on itself.

#include "tests/story/story.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace evenkeel::story {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string echo(const Block& block) { return block.input; }

TEST(Story, ABlockIsCommandArgumentsInputAndLine) {
  std::vector<Block> seen;
  const auto remember = [&](const Block& block) {
    seen.push_back(block);
    return std::string();
  };
  const Outcome outcome =
      run_text("a", "# about\n\nplace s0  replicas=2\nx\n# not a comment here\n\ny\n----\n\nlast\n----\n", remember);
  EXPECT_EQ(outcome.blocks, 2);
  ASSERT_THAT(seen, SizeIs(2));
  EXPECT_EQ(seen[0].command, "place");
  EXPECT_THAT(seen[0].args, ElementsAre("s0", "replicas=2"));
  EXPECT_EQ(seen[0].input, "x\n# not a comment here\n\ny\n");
  EXPECT_EQ(seen[0].line, 3);
  EXPECT_EQ(seen[1].command, "last");
  EXPECT_THAT(seen[1].args, IsEmpty());
  EXPECT_EQ(seen[1].input, "");
  EXPECT_EQ(seen[1].line, 10);
}

TEST(Story, WhatAgreesIsLeftAlone) {
  const std::string text = "# about\necho\na\nb\n----\na\nb\n\n\n# more\necho\n----\n\necho\nc\n----\nc\n";
  const Outcome outcome = run_text("a", text, echo);
  EXPECT_THAT(outcome.differences, IsEmpty());
  EXPECT_THAT(outcome.problems, IsEmpty());
  EXPECT_EQ(outcome.rewritten, text);
  EXPECT_EQ(outcome.blocks, 3);
}

TEST(Story, ADifferenceNamesFileLineExpectedAndActual) {
  const Outcome outcome = run_text("dir/a.story", "# about\necho\nnew\n----\nold\n\necho\nsame\n----\nsame\n", echo);
  ASSERT_THAT(outcome.differences, SizeIs(1));
  EXPECT_THAT(outcome.differences[0], HasSubstr("dir/a.story:2: echo"));
  EXPECT_THAT(outcome.differences[0], HasSubstr("expected\nold\n"));
  EXPECT_THAT(outcome.differences[0], HasSubstr("actual\nnew\n"));
  EXPECT_EQ(outcome.rewritten, "# about\necho\nnew\n----\nnew\n\necho\nsame\n----\nsame\n");
}

TEST(Story, MissingAndExtraLinesDiffer) {
  EXPECT_THAT(run_text("a", "echo\na\nb\n----\na\n", echo).differences, SizeIs(1));
  EXPECT_THAT(run_text("a", "echo\na\n----\na\nb\n", echo).differences, SizeIs(1));
  EXPECT_THAT(run_text("a", "echo\na\n----\n", echo).differences, SizeIs(1));
  EXPECT_THAT(run_text("a", "echo\n----\na\n", echo).differences, SizeIs(1));
  EXPECT_THAT(run_text("a", "echo\na\n----\na \n", echo).differences, SizeIs(1));
}

TEST(Story, TrailingNewlinesDoNotCount) {
  EXPECT_THAT(run_text("a", "echo\na\n\n\n----\na\n", echo).differences, IsEmpty());
  EXPECT_THAT(run_text("a", "echo\na\n----\na", echo).differences, IsEmpty());
}

TEST(Story, BlankLinesStandBetweenDoubleDashes) {
  const std::string text = "echo\na\n\nb\n----\n----\na\n\nb\n----\n----\n\necho\nc\n----\nc\n";
  const Outcome outcome = run_text("a", text, echo);
  EXPECT_THAT(outcome.differences, IsEmpty());
  EXPECT_EQ(outcome.rewritten, text);
  EXPECT_EQ(outcome.blocks, 2);
}

TEST(Story, RewritingChoosesTheDashes) {
  EXPECT_EQ(run_text("a", "echo\na\n\nb\n----\nold\n\necho\nc\n----\nc\n", echo).rewritten,
            "echo\na\n\nb\n----\n----\na\n\nb\n----\n----\n\necho\nc\n----\nc\n");
  // Back to single ones, where the next block followed at once: a blank line must come between.
  EXPECT_EQ(run_text("a", "echo\na\n----\n----\nx\n\ny\n----\n----\necho\nc\n----\nc\n", echo).rewritten,
            "echo\na\n----\na\n\necho\nc\n----\nc\n");
}

TEST(Story, WhatCannotBeReadOrWrittenIsAProblemAndStaysAsItIs) {
  const std::string no_dashes = "echo\na\n";
  EXPECT_THAT(run_text("a", no_dashes, echo).problems, ElementsAre(HasSubstr("a:1: echo has no line of four dashes")));
  EXPECT_EQ(run_text("a", no_dashes, echo).rewritten, no_dashes);

  const std::string unclosed = "echo\n----\n----\na\n\nb\n----\n";
  EXPECT_THAT(run_text("a", unclosed, echo).problems, SizeIs(1));
  EXPECT_EQ(run_text("a", unclosed, echo).rewritten, unclosed);

  const std::string text = "say\n----\nold\n";
  for (const char* output : {"----", "----\na", "a\n----\n----\nb", "a\n\n----"}) {
    const Outcome outcome = run_text("a", text, [&](const Block&) { return std::string(output); });
    EXPECT_THAT(outcome.problems, SizeIs(1)) << output;
    EXPECT_EQ(outcome.rewritten, text);
  }
  const Outcome thrown = run_text("a", text, [](const Block&) -> std::string { throw std::runtime_error("no such node"); });
  EXPECT_THAT(thrown.problems, ElementsAre(HasSubstr("threw: no such node")));
  EXPECT_EQ(thrown.rewritten, text);
}

TEST(Story, RewritingIsIdempotentWhateverTheOutput) {
  EXPECT_TRUE(rc::check("rewritten once, a story agrees with itself and is not rewritten again", [] {
    const auto piece = rc::gen::element<std::string>("a", "b c", "", "----", "# x", " ", "-----", "\t");
    const auto outputs =
        *rc::gen::container<std::vector<std::vector<std::string>>>(rc::gen::container<std::vector<std::string>>(piece));
    const auto old = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>("a", "b", "c"));
    std::string text;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      text += fmt::format("# about {}\nsay {}\n----\n{}\n", i, i, fmt::join(old, "\n"));
      if (!old.empty()) text += "\n";
    }
    const auto say = [&](const Block& block) {
      return fmt::format("{}", fmt::join(outputs[std::stoul(block.args.at(0))], "\n"));
    };
    const Outcome first = run_text("a", text, say);
    const Outcome second = run_text("a", first.rewritten, say);
    RC_ASSERT(first.blocks == static_cast<int>(outputs.size()));
    RC_ASSERT(second.blocks == first.blocks);
    RC_ASSERT(second.rewritten == first.rewritten);
    RC_ASSERT(second.differences.empty());
    RC_ASSERT(second.problems.size() == first.problems.size());
  }));
}

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "evenkeel-story-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
    if (const char* value = std::getenv("EVENKEEL_REWRITE")) was_ = value;
    unsetenv("EVENKEEL_REWRITE");
  }
  void TearDown() override {
    std::filesystem::remove_all(path_);
    if (!was_.empty()) setenv("EVENKEEL_REWRITE", was_.c_str(), 1);
  }

  void write(const std::string& name, std::string_view text) { std::ofstream(path_ / name) << text; }
  std::string read(const std::string& name) {
    std::ostringstream content;
    content << std::ifstream(path_ / name).rdbuf();
    return content.str();
  }
  // Kept for EXPECT_NONFATAL_FAILURE, whose statement may not name local variables.
  void run(const std::string& folder) {
    run_folder(folder, [] { return echo; });
  }

  std::filesystem::path path_;
  std::string was_;
};

TEST_F(Folder, EachStoryRunsInOrderOfNameWithAHandlerOfItsOwn) {
  write("b.story", "say\n----\nfirst\n\nsay\n----\nsecond\n");
  write("a.story", "say\n----\nfirst\n");
  write("c.txt", "say\n----\nnot a story\n");
  std::vector<std::string> made;
  run_folder(path_.string(), [&]() -> Handler {
    made.emplace_back();
    return [calls = 0](const Block&) mutable { return std::string(calls++ == 0 ? "first" : "second"); };
  });
  EXPECT_THAT(made, SizeIs(2));
}

TEST_F(Folder, DifferencesFailAndDoNotTouchTheFile) {
  write("a.story", "echo\nnew\n----\nold\n");
  EXPECT_NONFATAL_FAILURE(run(path_.string()), "a.story:1: echo");
  EXPECT_EQ(read("a.story"), "echo\nnew\n----\nold\n");
}

TEST_F(Folder, RewritingWritesTheFileInstead) {
  write("a.story", "echo\nnew\n----\nold\n");
  setenv("EVENKEEL_REWRITE", "1", 1);
  run(path_.string());
  unsetenv("EVENKEEL_REWRITE");
  EXPECT_EQ(read("a.story"), "echo\nnew\n----\nnew\n");
  run(path_.string());
}

TEST_F(Folder, RewritingDoesNotHideProblems) {
  write("a.story", "echo\na\n----\nold\n\necho\nno dashes\n");
  setenv("EVENKEEL_REWRITE", "1", 1);
  EXPECT_NONFATAL_FAILURE(run(path_.string()), "a.story:6: echo has no line of four dashes");
  unsetenv("EVENKEEL_REWRITE");
  EXPECT_EQ(read("a.story"), "echo\na\n----\na\n\necho\nno dashes\n");
}

TEST_F(Folder, NothingToRunIsAFailure) {
  EXPECT_NONFATAL_FAILURE(run(path_.string()), "has no *.story file");
  EXPECT_NONFATAL_FAILURE(run((path_ / "missing").string()), "cannot list");
  write("a.story", "# only words\n");
  EXPECT_NONFATAL_FAILURE(run(path_.string()), "has no blocks");
}

}  // namespace
}  // namespace evenkeel::story
