// Every story below tests/sim/stories is a test of its own: it is played, and nothing may fail.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "evenkeel/base/file.h"
#include "evenkeel/sim/run.h"

namespace evenkeel::sim {
namespace {

std::vector<std::string> story_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(EVENKEEL_TESTS_DIR "/sim/stories")) {
    if (entry.path().extension() == ".story") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class Stories : public testing::TestWithParam<std::string> {};

TEST_P(Stories, GoesAsItSays) {
  const std::string path = fmt::format("{}/sim/stories/{}.story", EVENKEEL_TESTS_DIR, GetParam());
  const auto text = read_file(path, Bytes(1 << 20));
  ASSERT_TRUE(text.has_value()) << text.error().message;
  const auto story = parse_story(*text, GetParam() + ".story");
  ASSERT_TRUE(story.has_value()) << story.error().message;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Outcome outcome = run(*story, {.seed = seed});
    EXPECT_FALSE(outcome.failure.has_value()) << *outcome.failure << "\n  evenkeel sim " << path << " --seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Stories, testing::ValuesIn(story_names()), [](const auto& each) { return each.param; });

}  // namespace
}  // namespace evenkeel::sim
