#pragma once
// Exact units: quantities of one resource as whole numbers that fit 64 bits.
//
// The unit is the largest amount that divides every load and every used amount of the resource, so sums of loads are exact and a limit
// may be rounded down to whole units without refusing anything that fits. Only if the sums would still not fit is the unit larger, and
// loads are then rounded up.

#include "evenkeel/base/quantity.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place::detail {

class Unit {
 public:
  // Every load of the resource, with how often it may occur.
  void add(Quantity load, std::uint64_t times);
  // To be called once, after all loads.
  void close();

  Amount load(Quantity load) const;                   // rounded up, exact unless the sums are beyond 2^60 units
  Amount limit(Quantity capacity, Ratio part) const;  // rounded down; at most `unlimited`
  Amount capacity(Quantity capacity) const { return limit(capacity, Ratio::percent(100)); }

 private:
  Int128 nano_ = 0;   // of one unit
  Int128 total_ = 0;  // saturating
};

}  // namespace evenkeel::place::detail
