#pragma once
// Small changes drawn at random: a shift takes one replica elsewhere, a swap exchanges two, a lead gives a group another leader.
//
// A replica that is away is often drawn to go home. There is one home and there are many other nodes: without that, chance alone keeps
// replicas away that gain nothing by it, and each of them takes room that a replica with better reasons would need; where who leaves holds
// its room until it has left, that room is what runs out first. On tight instances this one rule is worth more than all others. Swaps lead
// home as often: who finds no room there takes the place of another who is away from its own. Other swaps are mostly between replicas that
// are about as large: two that differ much seldom fit in each other's place, and of large ones an even draw finds no pair at all.
//
// Where only moves are left to be saved, everything is as full as it should be: hardly anybody finds room, and whoever wants it is in the way
// of nobody but those like him. Then most changes are swaps, and fewer are tried home again and again.
//
// Cost: O(1) a draw; memory O(replicas), and what Reach takes.

#include <cstdint>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/engine.h"
#include "evenkeel/place/search/detail/pick.h"
#include "evenkeel/place/search/detail/reach.h"

namespace evenkeel::place {

class ChangeDraw {
 public:
  ChangeDraw(State& state, Rng& rng, const ImproveOptions& options);

  // Whether there is anything to try at all.
  bool possible() const { return pick_.possible() && nodes_ > 1; }
  // Fills the trial; false: what was drawn is no change, and costs nothing but the draw.
  bool next(Trial& trial);
  bool shift(Trial& trial);
  void set(Manner manner);
  // How hot it is now, how far the cooling is, and whether nothing but what moves cost is left to be won (pick.h): to be called every
  // thousand draws or so.
  void set(double temperature, double progress, bool homing = false);
  Pick& pick() { return pick_; }
  const Pick& pick() const { return pick_; }
  const Reach& reach() const { return reach_; }

 private:
  std::uint32_t partner(std::uint32_t replica);  // itself: there is none
  bool swap(Trial& trial);
  bool lead(Trial& trial);

  State& state_;
  Rng& rng_;
  Manner manner_ = Manner::thrifty;
  std::uint64_t swaps_ = 0;       // in 1024: how often a swap is drawn
  std::uint64_t homecoming_ = 0;  // in 1024: changes of a replica that is away which lead home
  std::uint32_t nodes_ = 0;
  Pick pick_;
  Reach reach_;
  std::vector<std::uint32_t> led_;  // groups that have a leader and another replica
};

}  // namespace evenkeel::place
