#pragma once
// What a search may try: replicas that may move, nodes that may take them, and a change drawn at random from one of a few kinds.
//
// A shift takes one replica elsewhere; a swap exchanges two; a chain forces one onto a node that has no room for it and moves others out of
// there (eject.cc); a lead gives a group another leader.

#include <array>
#include <cstdint>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/engine.h"
#include "evenkeel/place/search/detail/eject.h"

namespace evenkeel::place {

class ChangeDraw {
 public:
  ChangeDraw(State& state, Rng& rng);

  // Whether there is anything to try at all.
  bool possible() const { return !movable_.empty() && nodes_ > 1; }
  // Fills the trial; false: what was drawn is no change, and costs nothing but the draw.
  bool next(Trial& trial);
  // Changes that were looked at on the way to those drawn.
  std::uint64_t probes() const { return eject_.probes(); }

 private:
  bool shift(Trial& trial);
  bool swap(Trial& trial);
  bool chain(Trial& trial);
  bool lead(Trial& trial);
  std::uint32_t any_movable();
  std::uint32_t any_node(std::uint32_t replica);

  State& state_;
  Rng& rng_;
  Eject eject_;
  std::uint32_t nodes_ = 0;
  std::vector<std::uint32_t> movable_;                  // replicas that have a home and are not frozen
  std::vector<std::vector<std::uint32_t>> able_nodes_;  // by class of families
  std::vector<std::uint32_t> led_;                      // groups that have a leader and another replica
};

}  // namespace evenkeel::place
