#pragma once
// Which changes a search takes: all that are better, and some that are worse, fewer and fewer of them.
//
// Only the tier of levels is annealed. A change that makes an earlier tier worse is never taken, one that makes it better always is: what
// outweighs everything is not staked on chance. In that tier a change that costs d is taken with the chance exp(-d / temperature), and
// the temperature falls from `hot` to `cold` by equal factors. Both come from the problem itself: what typical shifts of it cost.
//
// In the thrifty manner a change also pays for every replica that it takes away from home, some temperatures each, and is paid for each
// that it brings home. There are many nodes away and one at home: the price outweighs what chance alone would do, so that away are those
// who have a reason, and while it is hot only the large ones have.
//
// Cost: O(1) a change; `measure` looks at so many shifts once.

#include <cmath>
#include <cstdint>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place {

class ChangeDraw;

// Less is what rounding leaves of sums that are nothing: tiers before that of levels are compared but for so much.
inline constexpr double rounding = 1e-12;

// Whether a change may be taken that may cost so much in the tier of levels.
inline bool takes(const Cost& delta, double allowance) {
  for (std::size_t tier = 0; tier < Cost::level; ++tier)
    if (std::abs(delta.tiers[tier]) > rounding) return delta.tiers[tier] < 0;
  const double worse = delta.tiers[Cost::level];
  return worse == 0 ? delta.tiers[Cost::last] <= 0 : worse < 0 || worse <= allowance;
}

// How many more replicas are away from home after the step.
inline int more_away(const State& state, const Trial::Step& step) {
  const std::uint32_t home = state.home(step.replica);
  return (step.to != home ? 1 : 0) - (step.from != home ? 1 : 0);
}

class Anneal {
 public:
  // Of the cooling: its end, which is for what moves cost, where everything is within reach. Where nodes are beyond it the time is needed before.
  static constexpr double homing_part = 0.2;

  explicit Anneal(Manner manner) : manner_(manner) {}

  // Sets hot and cold by so many shifts of the state as it is, or by how uneven that is; nothing is changed. Before that, nothing that is worse is taken.
  void measure(const State& state, ChangeDraw& draw, std::uint64_t looks);

  void set(Manner manner) { manner_ = manner; }
  // How far the cooling is: 0 hot, 1 cold, beyond that nothing that is worse is taken.
  void set(double progress);
  // The end of the cooling, where there is one for what moves cost.
  bool homing() const { return homing_; }
  double temperature() const { return temperature_; }
  // What being away from home costs at this temperature.
  double away_price() const;
  // What the next change may cost, the price of being away included: drawn so that the chance is as said above.
  double allowance(Rng& rng) const;
  // The same for a change that is there already, and takes so many more replicas away: draws only where it matters.
  bool takes(const Cost& delta, int away, Rng& rng) const;

 private:
  Manner manner_;
  double typical_ = 0;      // what a worsening shift costs
  double move_ = 0;         // what it costs to be away; 0: nothing
  double beyond_ = 0;       // the part of the nodes that is beyond reach
  double temperature_ = 0;  // 0: nothing that is worse
  bool homing_ = false;
};

}  // namespace evenkeel::place
