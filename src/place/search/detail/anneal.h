#pragma once
// Which changes a search takes: all that are better, and some that are worse, fewer and fewer of them.
//
// Only the tier of levels is annealed. A change that makes an earlier tier worse is never taken, one that makes it better always is: what
// outweighs everything is not staked on chance. In that tier a change that costs d is taken with the chance exp(-d / temperature), and
// the temperature falls from `hot` to `cold` by equal factors. Both come from the problem itself: what typical changes of it cost.

#include <cstdint>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place {

class Anneal {
 public:
  // Sets hot and cold by so many changes of the state as it is; nothing is changed. Before that, nothing that is worse is taken.
  void measure(State& state, Rng& rng, std::uint64_t looks);

  // How far the cooling is: 0 hot, 1 cold, beyond that nothing that is worse is taken.
  void set(double progress);
  void freeze() { temperature_ = 0; }
  bool takes(const Cost& delta, Rng& rng) const;

 private:
  double hot_ = 0, cold_ = 0;
  double temperature_ = 0;  // 0: nothing that is worse
};

}  // namespace evenkeel::place
