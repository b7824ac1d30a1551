#pragma once
// Which replica the next change is about: any of them as often as another, or, while it is hot, more often one that is large, and later more
// often one that is away.
//
// A replica whose shifts cost far less than the temperature goes anywhere, whatever is tried with it: it is put right later, when it is
// cooler. One whose shifts cost far more has its last chance now to end where it belongs, and nothing that comes later mends it. Draws are
// worth most for those, and there are few of them; so half of the draws are theirs at first, and fewer and fewer on the way, since in
// the end there are only small things to be put right and many of them. How large a replica is, is measured: what its shifts change.
//
// In the end all that is left to be won is often what moves cost, and only who is away can win it: where few are, nearly all draws would be
// about others. So their part grows as that of the large ones shrinks, up to half, and where there is nothing else left nearly all draws are
// theirs. Who is away is looked up once in as many draws as there
// are replicas: some of those on the list may be home again, which does no harm.
//
// Cost: a few shifts a replica once, O(log replicas) for each temperature, O(1) a draw; memory O(replicas).

#include <cstdint>
#include <span>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/engine.h"
#include "evenkeel/place/search/detail/reach.h"

namespace evenkeel::place {

class Pick {
 public:
  // Picks among those that have a place, are not frozen, and, where that is said by replica, may be moved.
  Pick(const State& state, std::span<const std::uint8_t> movable);

  bool possible() const { return !movable_.empty(); }
  const std::vector<std::uint32_t>& movable() const { return movable_; }
  bool may_move(std::uint32_t replica) const { return stays_[replica] == 0; }
  std::uint32_t any(Rng& rng) const {
    const std::uint64_t dice = rng.next() % of;
    if (dice < preference_ && large_ > 0) return by_scale_[first_large_ + rng.below(large_)];
    if (of - 1 - dice < away_preference_ && !away_.empty()) return away_[rng.below(away_.size())];
    return movable_[rng.below(movable_.size())];
  }

  // One whose shifts change about as much: near it in that order, nearer ones more often. Before they are measured, any.
  std::uint32_t like(std::uint32_t replica, Rng& rng) const;

  // Sorts them by what shifts of each change, in the tier of levels. Before that all are picked alike.
  void measure(const State& state, const Reach& reach, Rng& rng);
  // How hot it is now, how far the cooling is (0 at its start, 1 at its end), and whether nothing but what moves cost is left to be won. To be
  // called every thousand draws or so.
  void set(const State& state, double temperature, double progress, bool homing = false);
  // Whether those that are away are picked more often in the end; they are unless this is said.
  void prefer_away(bool prefer) { prefers_away_ = prefer; }
  // What shifts of a replica change: the larger, the later in this order.
  const std::vector<std::uint32_t>& by_scale() const { return by_scale_; }

 private:
  static constexpr std::uint64_t of = 1024;

  std::vector<std::uint32_t> movable_;
  std::vector<std::uint8_t> stays_;      // by replica: 1 where it is none of them
  std::vector<std::uint32_t> by_scale_;  // the same, the smallest first
  std::vector<double> scale_;            // parallel
  std::vector<std::uint32_t> rank_;      // by replica: its place among them
  std::uint64_t first_large_ = 0, large_ = 0;
  std::uint64_t preference_ = 0;       // in 1024: draws that are the large ones'
  std::vector<std::uint32_t> away_;    // a while ago
  std::uint64_t away_preference_ = 0;  // in 1024: draws that are theirs
  std::uint64_t rounds_left_ = 0;      // until they are looked up again
  bool prefers_away_ = true;
};

}  // namespace evenkeel::place
