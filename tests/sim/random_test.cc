// Random lives: whatever happens in whatever order, no promise is broken, and when the faults are over the cluster settles.
//
// EVENKEEL_SIM_HOURS: how many hours in all; EVENKEEL_SEED: only that life; EVENKEEL_FAULTS: only those, with commas between. EVENKEEL_SHOW prints
// the life's timeline.

#include <gtest/gtest.h>

#include <cstdlib>

#include "evenkeel/base/rng.h"
#include "evenkeel/sim/sim.h"

namespace evenkeel::sim {
namespace {

constexpr std::uint64_t hours_by_default = 3;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

std::vector<Fault> faults_named(std::string_view names) {
  std::vector<Fault> faults;
  for (const Fault fault : all_faults()) {
    if (fmt::format(",{},", names).find(fmt::format(",{},", name(fault))) != std::string::npos) faults.push_back(fault);
  }
  return faults;
}

// A life has a few kinds of fault, or all: one kind alone hides nothing, many together meet.
RandomOptions options_of(std::uint64_t seed) {
  RandomOptions options{.seed = seed, .hours = 1};
  std::erase_if(options.faults, [](Fault fault) { return fault == Fault::operators || fault == Fault::rollback; });
  Rng rng = Rng(seed).split("kinds");
  if (const char* names = std::getenv("EVENKEEL_FAULTS")) {
    options.faults = faults_named(names);
  } else if (rng.chance(3, 4)) {
    rng.shuffle(std::span(options.faults));
    options.faults.resize(1 + rng.below(4));
  }
  return options;
}

std::string command_of(const RandomOptions& options) {
  std::vector<std::string_view> names;
  for (const Fault fault : options.faults) names.push_back(name(fault));
  return fmt::format("evenkeel sim --random --seed {} --hours {} --faults {}", options.seed, options.hours,
                     fmt::join(names, ","));
}

TEST(RandomLives, KeepTheirPromises) {
  const bool one = std::getenv("EVENKEEL_SEED") != nullptr;
  const std::uint64_t first = number_of("EVENKEEL_SEED", 0);
  const std::uint64_t end = one ? first + 1 : number_of("EVENKEEL_SIM_HOURS", hours_by_default);
  for (std::uint64_t seed = first; seed < end; ++seed) {
    const RandomOptions options = options_of(seed);
    const Story story = random_story(options);
    const bool show = std::getenv("EVENKEEL_SHOW") != nullptr;
    if (show) fmt::print("{}\n", format(story));
    const Outcome outcome = run(story, {.seed = seed}, [&](const Moment& moment) {
      if (show) fmt::print("{:>14} {:14} {}\n", format(moment.at), moment.who, moment.what);
    });
    EXPECT_EQ(outcome.failure.value_or(""), "") << command_of(options) << "\n" << format(outcome.time);
    if (outcome.failure && number_of("EVENKEEL_KEEP_GOING", 0) == 0) return;
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
