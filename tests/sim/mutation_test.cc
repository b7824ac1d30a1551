// Every rule that can be switched off is missed by somebody: a checker, the ledger, or an expectation that is not met. Lives are drawn as in random_test.cc;
// the same life with all rules must be well, so that what is noticed is the broken rule and nothing else.
//
// Not here yet, for no life has shown them so far: old incarnations and old reports believed, epochs reused or forgotten, an empty replica that leads, min_active,
// a hand-over before the new one has caught up, no linger, a first step too early; and dropping by absence, which nothing does.
//
// EVENKEEL_MUTATION: only that one. EVENKEEL_MUTATION_SEEDS: how many lives are tried at most.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "evenkeel/sim/sim.h"

namespace evenkeel::sim {
namespace {

using control::Broken;

constexpr std::uint64_t seeds_max = 12;

// Which faults bring a rule into play; without any, all of them.
struct Mutation {
  Broken broken;
  std::vector<Fault> faults;
  double hours = 0.5;
  std::uint32_t nodes = 0;
};

const std::vector<Mutation>& mutations() {
  static const std::vector<Mutation> all{
      {Broken::lead_without_proof, {Fault::cut, Fault::pause}},
      {Broken::skip_seal, {Fault::crash}},
      {Broken::too_few_seals, {Fault::crash}},
      {Broken::ignore_data_id, {Fault::disks}},
      {Broken::break_before_make, {Fault::operators, Fault::crash}},
      {Broken::forget_voters_at_once, {Fault::operators, Fault::crash}},
      {Broken::change_under_seal, {Fault::crash, Fault::operators}},
      {Broken::no_delay, {Fault::crash}},
      {Broken::no_maintenance, {Fault::crash}},
      {Broken::no_throttle, {Fault::crash, Fault::operators}},
      {Broken::unguarded_writes, {Fault::controllers}},
  };
  return all;
}

std::optional<std::string> failure_of(const RandomOptions& options, Broken broken) {
  return run(random_story(options), {.seed = options.seed, .broken = broken}).failure;
}

TEST(Mutations, AreNoticed) {
  const char* only = std::getenv("EVENKEEL_MUTATION");
  const char* most = std::getenv("EVENKEEL_MUTATION_SEEDS");
  const std::uint64_t seeds = most == nullptr ? seeds_max : std::stoull(most);
  for (const auto& [broken, name] : control::all_broken()) {
    if (only != nullptr && name != only) continue;
    const auto mutation = std::ranges::find(mutations(), broken, &Mutation::broken);
    if (mutation == mutations().end()) continue;
    std::string noticed;
    for (std::uint64_t seed = 1; seed <= seeds && noticed.empty(); ++seed) {
      const RandomOptions options{.seed = seed, .hours = mutation->hours, .faults = mutation->faults, .nodes = mutation->nodes};
      const auto failure = failure_of(options, broken);
      if (!failure || failure_of(options, Broken::nothing)) continue;
      noticed = fmt::format("life {}: {}", seed, failure->substr(0, 160));
    }
    fmt::print("{:24} {}\n", name, noticed.empty() ? "-" : noticed);
    EXPECT_NE(noticed, "") << name;
  }
}

}  // namespace
}  // namespace evenkeel::sim
