// General search: changes drawn at random, taken by annealing, and the best that was seen put back at the end.
//
// A first stretch takes nothing that is worse, which brings any start quickly to where annealing pays. Then the rest of the limit is one
// cooling. Without a limit that is known beforehand there are coolings of doubling length until `stop` says so, each from the best so far.

#include <algorithm>

#include "evenkeel/place/engine.h"
#include "evenkeel/place/search/detail/anneal.h"
#include "evenkeel/place/search/detail/best.h"
#include "evenkeel/place/search/detail/draw.h"

namespace evenkeel::place {

namespace {

constexpr std::uint64_t round_changes = 1024;     // tried from one question about the limits to the next
constexpr std::uint64_t looks = 4096;             // changes looked at to find the temperatures
constexpr std::uint64_t first_cooling = 1 << 20;  // changes, where the limit is not known beforehand
constexpr double descent_part = 0.05;             // of the limit, at most, is spent on the descent
constexpr double cooling_part = 0.97;             // of what is left then; the rest is spent at no temperature at all
constexpr std::uint64_t descent_yield = 500;      // the descent ends when less than one change in so many is taken

class Search {
 public:
  Search(State& state, Rng& rng, const ImproveOptions& options)
      : state_(state), rng_(rng), options_(options), draw_(state, rng), best_(state), trial_(state) {}

  void run() {
    if (!draw_.possible()) return;
    descend();
    anneal_.measure(state_, rng_, looks);
    for (std::uint64_t length = first_cooling; !over(); length *= 2) {
      cool(length);
      best_.restore(state_);
      cost_ = best_cost_;
    }
    best_.restore(state_);
  }

 private:
  bool limited() const { return options_.budget > 0 || options_.spent; }
  std::uint64_t tried() const { return drawn_ + draw_.probes(); }
  // The part of the limits that is gone.
  double spent() const {
    double part = options_.budget > 0 ? static_cast<double>(tried()) / static_cast<double>(options_.budget) : 0;
    if (options_.spent) part = std::max(part, options_.spent());
    return part;
  }
  bool over() const { return spent() >= 1 || (options_.stop && options_.stop()); }

  // One round of changes at the present temperature; how many of them were taken and not for nothing.
  std::uint64_t round() {
    std::uint64_t taken = 0;
    for (std::uint64_t i = 0; i < round_changes && (options_.budget == 0 || tried() < options_.budget); ++i) {
      ++drawn_;
      if (!draw_.next(trial_) || !state_.allowed(trial_)) continue;
      const Cost delta = state_.delta(trial_);
      if (!anneal_.takes(delta, rng_)) continue;
      take(delta);
      taken += delta != Cost{} ? 1 : 0;
    }
    return taken;
  }

  void take(const Cost& delta) {
    best_.touch(trial_);
    state_.apply(trial_);
    cost_ += delta;
    if (!(cost_ < best_cost_)) return;
    best_.keep(state_);
    best_cost_ = cost_;
  }

  // Only what is better, until little of what is tried is.
  void descend() {
    anneal_.freeze();
    const std::uint64_t rounds = 16 + state_.problem().replicas() / round_changes;
    while (!over() && spent() < descent_part) {
      std::uint64_t taken = 0;
      for (std::uint64_t i = 0; i < rounds && !over(); ++i) taken += round();
      if (taken * descent_yield < rounds * round_changes) return;
    }
  }

  // From hot to cold: over what is left of the limit, or over so many changes if there is none.
  void cool(std::uint64_t length) {
    const double before = spent();
    const std::uint64_t tried_before = tried();
    while (!over()) {
      const double part = limited() ? (spent() - before) / (1 - before)
                                    : static_cast<double>(tried() - tried_before) / static_cast<double>(length);
      if (part >= 1) return;
      anneal_.set(part / cooling_part);
      round();
    }
  }

  State& state_;
  Rng& rng_;
  const ImproveOptions& options_;
  ChangeDraw draw_;
  Anneal anneal_;
  Best best_;
  Trial trial_;
  std::uint64_t drawn_ = 0;
  Cost cost_, best_cost_;  // against the start
};

}  // namespace

void improve(State& state, Rng& rng, const ImproveOptions& options) { Search(state, rng, options).run(); }

}  // namespace evenkeel::place
