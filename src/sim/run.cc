#include "evenkeel/sim/run.h"

#include <algorithm>
#include <utility>

#include "evenkeel/base/overloaded.h"

namespace evenkeel::sim {
namespace {

constexpr Duration look_every = 10ms;  // at what is expected

// A story being played. Expectations that take time are looked at while the story goes on.
class Play {
 public:
  Play(const Story& story, Simulation& simulation, Duration sample_every)
      : story_(story), simulation_(simulation), sample_every_(sample_every) {}

  std::vector<Sample> take_samples() {
    if (sample_every_ > Duration(0)) samples_.push_back(simulation_.sample());
    return std::move(samples_);
  }

  // The first thing that went wrong.
  std::optional<std::string> play() {
    for (const Line& line : story_.lines) {
      if (!go_to(line.at) || !take(line)) return failure_;
    }
    while (!pending_.empty()) {
      if (!go_to(simulation_.elapsed() + look_every)) return failure_;
    }
    return failure_;
  }

 private:
  struct Pending {
    const Line* line;
    const Expectation* expectation;
    Duration end;
  };

  bool go_to(Duration at) {
    while (true) {
      if (!look()) return false;
      const Duration now = simulation_.elapsed();
      if (now >= at) return true;
      Duration next = pending_.empty() ? at : std::min(at, now + look_every);
      if (sample_every_ > Duration(0)) {
        if (now >= next_sample_) samples_.push_back(simulation_.sample()), next_sample_ = now + sample_every_;
        next = std::min(next, next_sample_);
      }
      simulation_.run_until(next);
      if (const auto broken = simulation_.violation()) {
        failure_ = fmt::format("a promise is broken: {}", *broken);
        return false;
      }
    }
  }

  bool fail_at(const Line& line, const std::string& what) {
    failure_ = line.line > 0 ? fmt::format("{}:{}: {}", story_.name, line.line, what) : what;
    return false;
  }
  bool fail_at(const Line& line, const Expectation& expectation, std::string_view when) {
    return fail_at(line, fmt::format("{}: not {}: {}", format(expectation), when, simulation_.why_not(expectation.condition)));
  }

  bool take(const Line& line) {
    return std::visit(Overloaded{[&](const Action& action) {
                                   const auto done = simulation_.perform(action);
                                   return done || fail_at(line, fmt::format("{}: {}", format(action), done.error().message));
                                 },
                                 [&](const Expectation& expectation) {
                                   if (expectation.when != Expectation::When::now) {
                                     pending_.push_back({&line, &expectation, line.at + expectation.time});
                                     return look();
                                   }
                                   return simulation_.holds(expectation.condition) ||
                                          fail_at(line, expectation, fmt::format("at {}", format(simulation_.elapsed())));
                                 }},
                      line.what);
  }

  bool look() {
    const Duration now = simulation_.elapsed();
    for (auto at = pending_.begin(); at != pending_.end();) {
      const bool holds = simulation_.holds(at->expectation->condition);
      const bool throughout = at->expectation->when == Expectation::When::throughout;
      if (throughout && !holds) return fail_at(*at->line, *at->expectation, fmt::format("at {}", format(now)));
      if (!throughout && !holds && now >= at->end) return fail_at(*at->line, *at->expectation, fmt::format("by {}", format(now)));
      at = (throughout ? now >= at->end : holds) ? pending_.erase(at) : std::next(at);
    }
    return true;
  }

  const Story& story_;
  Simulation& simulation_;
  const Duration sample_every_;
  Duration next_sample_ = {};
  std::vector<Sample> samples_;
  std::vector<Pending> pending_;
  std::optional<std::string> failure_;
};

}  // namespace

Outcome run(const Story& story, SimOptions options, const std::function<void(const Moment&)>& on_moment) {
  options.cluster = story.cluster;
  const Duration sample_every = options.sample_every;
  Simulation simulation(std::move(options));
  if (on_moment) simulation.on_moment(on_moment);
  Outcome outcome;
  Play play(story, simulation, sample_every);
  outcome.failure = play.play();
  outcome.samples = play.take_samples();
  outcome.timeline = simulation.timeline();
  outcome.calm = simulation.calm();
  outcome.time = simulation.elapsed();
  outcome.digest = simulation.digest();
  return outcome;
}

}  // namespace evenkeel::sim
