#pragma once
// Ejection chains: a replica goes to a node that has no room for it, and as many of those there go elsewhere as must.
//
// This is what gets a large replica past the point where no shift and no swap fits any more. Small ones can be put right afterwards, large
// ones cannot: so large replicas are drawn more often, and those on nodes that carry too much. Every second chain goes on until the node is
// below its soft limits too. A chain is carried out step by step on the state, with a list of its steps; if it is not taken in the end,
// they are undone.
//
// Cost: O(steps × nodes looked at × what a shift costs), about twenty to a hundred shifts; memory O(replicas).

#include <cstdint>
#include <optional>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/engine.h"
#include "evenkeel/place/search/detail/anneal.h"
#include "evenkeel/place/search/detail/draw.h"

namespace evenkeel::place {

class Eject {
 public:
  Eject(State& state, Rng& rng, const ChangeDraw& draw);

  // Draws a replica and a node, and tries that chain. What it cost, if it was taken; else the state is as before.
  std::optional<Cost> next(const Anneal& anneal);
  // The same for that replica and node.
  std::optional<Cost> force(std::uint32_t replica, std::uint32_t to, const Anneal& anneal);
  // The steps of the chain that was taken last.
  const std::vector<Trial::Step>& steps() const { return steps_; }
  // Single shifts that were looked at to build chains.
  std::uint64_t probes() const { return probes_; }

 private:
  struct Excess {
    std::size_t dimension = 0;
    Amount amount = 0;  // 0: there is none
    bool hard = false;  // above the limit, not only the soft one
  };
  std::uint32_t any_replica();
  double burden(std::uint32_t node) const;
  Excess excess(std::uint32_t node, bool soft) const;
  std::uint32_t leaver(std::uint32_t node, std::uint32_t forced, const Excess& excess);
  std::uint32_t haven(std::uint32_t replica, std::uint32_t emptied);
  bool make_room(std::uint32_t node);
  bool may_stay() const;
  void take();
  void undo();

  State& state_;
  Rng& rng_;
  const Pick& pick_;
  const Reach& reach_;
  Trial probe_;
  std::uint64_t probes_ = 0;
  bool soft_ = false;                   // some dimension has a soft limit
  std::vector<double> size_;            // by replica: its parts of all there is, summed over the dimensions
  std::vector<std::uint32_t> by_size_;  // movable replicas, the largest first
  std::vector<double> part_;            // by dimension: what one unit is of all there is
  std::vector<Amount> peak_before_;     // of the node that is forced
  std::vector<Trial::Step> steps_;
  Cost cost_;              // of the steps
  int away_ = 0;           // how many more they take away from home
  double away_price_ = 0;  // and what each of these pays
  double allowance_ = 0;   // what the chain may cost
};

}  // namespace evenkeel::place
