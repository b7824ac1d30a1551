// What docs/simulator.md says is so: its stories run, and its tables are those of the language.

#include <gtest/gtest.h>

#include <string>

#include "evenkeel/base/file.h"
#include "evenkeel/sim/run.h"

namespace evenkeel::sim {
namespace {

std::string guide() {
  const auto text = read_file(EVENKEEL_TESTS_DIR "/../docs/simulator.md", Bytes(1 << 20));
  return text ? *text : "";
}

TEST(Guide, ItsStoriesGoAsTheySay) {
  const std::string text = guide();
  constexpr std::string_view begin = "```story\n";
  int played = 0;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    const auto story = parse_story(text.substr(from, text.find("```", from) - from), "simulator.md");
    ASSERT_TRUE(story.has_value()) << story.error().message;
    const Outcome outcome = run(*story, {.seed = 0});
    EXPECT_FALSE(outcome.failure.has_value()) << *outcome.failure;
    ++played;
  }
  EXPECT_GE(played, 2);
}

TEST(Guide, ItsTablesAreThoseOfTheLanguage) {
  const std::string text = guide();
  for (const auto& phrases : {action_phrases(), condition_phrases()}) {
    for (const Phrase& phrase : phrases) {
      const std::string row = fmt::format("| `{}` | {} |\n", phrase.pattern, phrase.meaning);
      EXPECT_TRUE(text.contains(row)) << row;
    }
  }
  for (const Fault fault : all_faults()) EXPECT_TRUE(text.contains(fmt::format("`{}`", name(fault)))) << name(fault);
}

// As the guide says of --write-story.
TEST(Guide, AStoryMadeUpIsTheSameRunAfterBeingWrittenAndRead) {
  const Story made = random_story({.seed = 7, .hours = 0.05, .nodes = 3, .shards = 2});
  const auto read = parse_story(format(made), "made.story");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(run(made, {.seed = 7}).digest, run(*read, {.seed = 7}).digest);
}

}  // namespace
}  // namespace evenkeel::sim
