#pragma once
// Ejection chains: a replica goes to a node that has no room for it, and as many of those there as must be go elsewhere.
//
// This is what gets a large replica past the point where no shift and no swap fits any more. The chain is one trial: rules and goals see it
// whole, so nothing has to be rolled back when it is not worth it.

#include <cstdint>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place {

class Eject {
 public:
  Eject(State& state, Rng& rng);

  // Fills the trial with the replica's shift and what makes room for it; false: no such chain was found. One without any ejection is
  // found too, where there is room.
  bool build(Trial& trial, std::uint32_t replica, std::uint32_t to);
  // Single shifts that were looked at to build chains.
  std::uint64_t probes() const { return probes_; }

 private:
  struct Overflow {
    std::size_t dimension = 0;
    Amount amount = 0;  // 0: there is room for all
  };
  Overflow overflow(const Trial& trial, std::uint32_t node, bool soft) const;
  std::uint32_t leaver(const Trial& trial, std::uint32_t node, const Overflow& overflow);
  std::uint32_t haven(const Trial& trial, std::uint32_t replica);

  State& state_;
  Rng& rng_;
  Trial probe_;
  std::uint64_t probes_ = 0;
  bool soft_ = false;                // some dimension has a soft limit
  std::vector<const Term*> others_;  // all rules but the limits: what they refuse no ejection mends
};

}  // namespace evenkeel::place
