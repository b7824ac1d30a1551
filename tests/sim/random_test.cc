// Random lives: whatever happens in whatever order, no promise is broken, and when the faults are over the cluster settles.
//
// EVENKEEL_SEED: the first life; EVENKEEL_SIM_HOURS: how many hours of lives, from that one on. A life is `evenkeel sim --random --hours 2 --seed N`.

#include <gtest/gtest.h>

#include <cstdlib>

#include "evenkeel/sim/sim.h"

namespace evenkeel::sim {
namespace {

constexpr std::uint64_t hours_of_a_life = 2;
constexpr std::uint64_t hours_by_default = 4;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

RandomOptions options_of(std::uint64_t seed) { return {.seed = seed, .hours = hours_of_a_life, .faults = draw_faults(seed)}; }

TEST(RandomLives, KeepTheirPromises) {
  const std::uint64_t hours = number_of("EVENKEEL_SIM_HOURS", hours_by_default);
  std::uint64_t seed = number_of("EVENKEEL_SEED", 0);
  for (std::uint64_t done = 0; done < hours; done += hours_of_a_life, ++seed) {
    const Outcome outcome = run(random_story(options_of(seed)), {.seed = seed});
    ASSERT_EQ(outcome.failure.value_or(""), "")
        << fmt::format("evenkeel sim --random --seed {} --hours {}", seed, hours_of_a_life);
  }
}

TEST(RandomLives, AreTheSameForTheSameSeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Story one = random_story(options_of(seed)), other = random_story(options_of(seed));
    EXPECT_EQ(one.lines, other.lines);
    EXPECT_EQ(one.cluster, other.cluster);
  }
}

// What is drawn can be written, read and played by anybody.
TEST(RandomLives, AreStories) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Story story = random_story({.seed = seed, .hours = 1});
    const std::string text = format(story);
    const auto read = parse_story(text, "random.story");
    ASSERT_TRUE(read) << seed << ": " << read.error().message << "\n" << text;
    EXPECT_EQ(read->lines, story.lines) << seed;
    EXPECT_EQ(read->cluster, story.cluster) << seed;
  }
}

}  // namespace
}  // namespace evenkeel::sim
