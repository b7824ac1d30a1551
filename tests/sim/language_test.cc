// The language of stories, text in and text out. Commands:
//   story     a story, shown in its one form, or everything that is wrong with it
//   lines     the same, behind a cluster of n1 to n3 and a workload t of 8 shards; only the lines are shown

#include <gtest/gtest.h>

#include "evenkeel/sim/story.h"
#include "tests/story/story.h"

namespace evenkeel::sim {
namespace {

constexpr std::string_view cluster_text =
    "nodes: [{name: \"n[1-3]\", zone: \"z[1-3]\"}]\nworkloads: [{name: t, shards: 8, replicas: 3}]\n---\n";

std::string show(const std::string& text, bool only_lines) {
  const auto story = read_story(text, "a.story");
  if (!story) return story.error().format();
  const std::string shown = format(*story);
  const auto again = parse_story(shown, "again");
  EXPECT_TRUE(again && *again == *story) << shown;
  return only_lines ? shown.substr(shown.find("---\n") + 4) : shown;
}

TEST(Language, Stories) {
  story::run_folder("sim/language", [] {
    return [](const story::Block& block) {
      const bool lines = block.command == "lines";
      return show(lines ? std::string(cluster_text) + block.input : block.input, lines);
    };
  });
}

}  // namespace
}  // namespace evenkeel::sim
