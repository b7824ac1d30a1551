#pragma once
// The best arrangement a search has seen, and the way back to it.
//
// What differs from the best is listed as it is changed, so a new best costs what was changed since the last one, and never a copy of
// everything. Going back applies plain shifts; on the way rules may be broken, at its end they hold as they did.
//
// Cost: O(1) for what is touched, O(what was touched since) to keep or go back; memory O(replicas).

#include <cstdint>
#include <vector>

#include "evenkeel/place/engine.h"

namespace evenkeel::place {

class Best {
 public:
  explicit Best(const State& state);

  // A change is about to be applied, or was: the order does not matter.
  void touch(const Trial& trial);
  void touch(std::uint32_t replica) { touch(replicas_, replica_listed_, replica); }
  // What is there now is the best.
  void keep(const State& state);
  // Makes the state what it was when `keep` was called last, or at the beginning.
  void restore(State& state);

 private:
  void touch(std::vector<std::uint32_t>& list, std::vector<std::uint8_t>& listed, std::uint32_t index) {
    if (listed[index] != 0) return;
    listed[index] = 1;
    list.push_back(index);
  }

  std::vector<std::uint32_t> at_, leader_;        // the best's; leaders only where the problem has any
  std::vector<std::uint32_t> replicas_, groups_;  // where the state may differ from it
  std::vector<std::uint8_t> replica_listed_, group_listed_;
};

}  // namespace evenkeel::place
