// General search: changes drawn at random, taken by annealing, and the best that was seen put back at the end.
//
// The whole limit is one cooling, and a short rest at no temperature at all. Without a limit that is known beforehand there are coolings of
// doubling length until `stop` says so, each from the best so far. Searches side by side have a short cooling before (meet.h), to agree on a
// manner.

#include <algorithm>
#include <cmath>
#include <utility>

#include "evenkeel/base/result.h"
#include "evenkeel/place/engine.h"
#include "evenkeel/place/search/detail/anneal.h"
#include "evenkeel/place/search/detail/best.h"
#include "evenkeel/place/search/detail/draw.h"
#include "evenkeel/place/search/detail/eject.h"
#include "evenkeel/place/search/detail/meet.h"

namespace evenkeel::place {

namespace {

constexpr std::uint64_t round_changes = 1024;      // tried from one question about the limits to the next
constexpr std::uint64_t shifts_looked_at = 16384;  // shifts looked at to find the temperatures
constexpr std::uint64_t first_cooling = 1 << 20;   // changes, where the limit is not known beforehand
constexpr double cooling_part = 0.97;              // of the limit; the rest is spent at no temperature at all
// Where who leaves holds its room, and most nodes are beyond reach for it, large replicas find their places while it is hot or never: so the
// more is beyond reach, the more of the time goes to the first part of the cooling, up to more than twice as much.
constexpr double hot_part = 0.35, hot_time_more = 0.5;
// In 1024, how often an ejection chain is tried instead of a small change. A chain costs as much as twenty to a hundred of those, so that
// it pays only where small changes are tried again and again: one more for every so many times that each shift there is will be drawn.
constexpr std::uint64_t chains_least = 4, chains_most = 64, out_of = 1024;
constexpr double times_a_chain = 25;
constexpr double known_after = 0.01;  // of the limit: then it is known how many changes it has room for

class Search {
 public:
  Search(State& state, Rng& rng, const ImproveOptions& options)
      : state_(state),
        rng_(rng),
        options_(options),
        draw_(state, rng, options),
        eject_(state, rng, draw_),
        anneal_(options.manner),
        meet_(options.meet),
        best_(state),
        trial_(state) {}

  void run() {
    if (!draw_.possible()) return;
    start_ = state_.whole();
    anneal_.measure(state_, draw_, shifts_looked_at);
    draw_.pick().measure(state_, draw_.reach(), rng_);
    for (const std::uint32_t replica : draw_.pick().movable()) shifts_ += draw_.reach().nodes(replica);
    if (limited() && meet_.anybody()) pilot();
    for (std::uint64_t length = first_cooling; !over(); length *= 2) {
      cool(length, 1);
      best_.restore(state_);
      cost_ = best_cost_;
    }
    best_.restore(state_);
    ensure(state_.adds_up() && agrees(state_.whole()), "what a search adds up is what counting from nothing gives");
  }

 private:
  // Whether the best costs what was added up, but for the rounding of many small sums: a billionth of what there was to be added up.
  bool agrees(const Cost& whole) const {
    for (std::size_t tier = 0; tier < whole.tiers.size(); ++tier) {
      const double size = 1 + std::abs(start_.tiers[tier]) + std::abs(best_cost_.tiers[tier]);
      if (std::abs(start_.tiers[tier] + best_cost_.tiers[tier] - whole.tiers[tier]) > 1e-9 * size) return false;
    }
    return true;
  }

  static bool is_less(const Cost& one, const Cost& other) {
    for (std::size_t tier = 0; tier < Cost::level; ++tier)
      if (std::abs(one.tiers[tier] - other.tiers[tier]) > rounding) return one.tiers[tier] < other.tiers[tier];
    return std::pair(one.tiers[Cost::level], one.tiers[Cost::last]) <
           std::pair(other.tiers[Cost::level], other.tiers[Cost::last]);
  }

  static Cost less(Cost cost, const Cost& other) {
    for (std::size_t tier = 0; tier < cost.tiers.size(); ++tier) cost.tiers[tier] -= other.tiers[tier];
    return cost;
  }

  bool limited() const { return options_.budget > 0 || options_.spent; }
  std::uint64_t tried() const { return drawn_ + eject_.probes(); }
  // The part of the limits that is gone.
  double spent() const {
    double part = options_.budget > 0 ? static_cast<double>(tried()) / static_cast<double>(options_.budget) : 0;
    if (options_.spent) part = std::max(part, options_.spent());
    return part;
  }
  bool over() const { return spent() >= 1 || (options_.stop && options_.stop()); }

  // One round of changes at the present temperature.
  void round() {
    for (std::uint64_t i = 0; i < round_changes && (options_.budget == 0 || tried() < options_.budget); ++i) {
      ++drawn_;
      if (rng_.next() % out_of < chains_) {
        chain();
      } else {
        change();
      }
    }
  }

  // What refuses most is asked first, and what costs most last.
  void change() {
    if (!draw_.next(trial_) || !state_.has_room(trial_)) return;
    const Cost delta = state_.delta(trial_);
    int away = 0;
    for (const Trial::Step& step : trial_.steps()) away += more_away(state_, step);
    if (!anneal_.takes(delta, away, rng_) || !state_.allowed_but_for_room(trial_)) return;
    best_.touch(trial_);
    state_.apply(trial_);
    paid(delta);
  }

  void chain() {
    const auto delta = eject_.next(anneal_);
    if (!delta) return;
    for (const Trial::Step& step : eject_.steps()) best_.touch(step.replica);
    paid(*delta);
  }

  void paid(const Cost& delta) {
    cost_ += delta;
    look();
  }
  void look() {
    if (!is_less(cost_, best_cost_)) return;
    best_.keep(state_);
    best_cost_ = cost_;
  }

  // As many as small changes leave time for.
  void weigh_chains(double changes) {
    const double times = changes / static_cast<double>(std::max<std::uint64_t>(shifts_, 1));
    chains_ = std::clamp(static_cast<std::uint64_t>(std::min(times / times_a_chain, 1e6)), chains_least, chains_most);
  }

  // How far the cooling is when that part of its time is gone.
  double progress(double part) const {
    const double hot_time = hot_part + hot_time_more * draw_.reach().beyond();
    return part < hot_time ? part / hot_time * hot_part : 1 - (1 - part) / (1 - hot_time) * (1 - hot_part);
  }

  // A short cooling, after which all agree on a manner and everybody begins anew.
  void pilot() {
    const Meeting start = arrangement(state_);
    cool(0, Meet::pilot_part);
    const Manner manner = meet_.agree(options_.manner, best_cost_);
    arrange(state_, start, best_);
    cost_ = {};
    draw_.set(manner);
    anneal_.set(manner);
  }

  // From hot to cold: over so much of what is left of the limit, or over so many changes if there is none.
  void cool(std::uint64_t length, double of_the_rest) {
    const double before = spent();
    const std::uint64_t tried_before = tried();
    while (!over()) {
      const double part = limited() ? (spent() - before) / (of_the_rest * (1 - before))
                                    : static_cast<double>(tried() - tried_before) / static_cast<double>(length);
      if (part >= 1) return;
      const double far = progress(part);
      anneal_.set(far / cooling_part);
      draw_.set(anneal_.temperature(), far, anneal_.homing());
      if (meet_.exchange(state_, cost_, far, best_)) {
        cost_ = less(state_.whole(), start_);
        look();
      }
      if (part > known_after) weigh_chains(static_cast<double>(tried() - tried_before) / part);
      round();
    }
  }

  State& state_;
  Rng& rng_;
  const ImproveOptions& options_;
  ChangeDraw draw_;
  Eject eject_;
  Anneal anneal_;
  Meet meet_;
  Best best_;
  Trial trial_;
  std::uint64_t drawn_ = 0;
  std::uint64_t shifts_ = 0;  // that there are
  std::uint64_t chains_ = chains_least;
  Cost start_;
  Cost cost_, best_cost_;  // against the start
};

}  // namespace

void improve(State& state, Rng& rng, const ImproveOptions& options) { Search(state, rng, options).run(); }

}  // namespace evenkeel::place
