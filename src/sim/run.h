#pragma once
// Runs: a story from beginning to end, and stories made up from a seed.
//
//   const Outcome outcome = run(story, {.seed = 7});
//   if (outcome.failure) …    // the first expectation or promise that did not hold, with its line
//
//   const Story life = random_story({.seed = 7, .hours = 2});   // faults for most of the time, then quiet, then `expect settled`

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/sim/simulation.h"
#include "evenkeel/sim/story.h"

namespace evenkeel::sim {

struct Outcome {
  std::optional<std::string> failure;  // "crash.story:12: expect … within 15s: not by 25s: t/3 has no leader"
  std::vector<Moment> timeline;
  Calm calm;
  Duration time = {};
  std::uint64_t digest = 0;
  std::vector<Sample> samples;  // each options.sample_every, and the last moment's
};

// `options.cluster` is the story's.
Outcome run(const Story& story, SimOptions options, const std::function<void(const Moment&)>& on_moment = {});

// What may go wrong in a random run; each can be left out by name.
enum class Fault : std::uint8_t {
  crash,
  pause,
  cut,
  slow,
  fail,
  store,
  expire,
  clock,
  controllers,
  twins,
  disks,
  rollback,
  operators
};
std::string_view name(Fault fault);
std::vector<Fault> all_faults();
// A few kinds, or all: one kind alone hides nothing, and many together meet.
std::vector<Fault> draw_faults(std::uint64_t seed);

struct RandomOptions {
  std::uint64_t seed = 0;
  double hours = 1;
  std::vector<Fault> faults = all_faults();
  std::uint32_t nodes = 0;   // 0: drawn, 3 to 9
  std::uint32_t shards = 0;  // 0: drawn, 1 to 24
};

// The cluster and its life are drawn from the seed. It ends with everything mended, and expects the cluster to settle.
Story random_story(const RandomOptions& options);

// For people.
std::string format(const Moment& moment);  // "     1m2.5s  n3            goes on": one line, without its end
std::string format_timeline(const Outcome& outcome);
std::string format_calm(const Calm& calm);
// Nodes by time: who runs and leads how many, what happened when. A whole SVG file that refers to nothing else.
std::string plot_svg(const Outcome& outcome);

}  // namespace evenkeel::sim
