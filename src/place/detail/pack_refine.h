#pragma once
// Refining a packing: from the node that stands out most inwards, replicas are exchanged with, or moved to, a node that stands out the
// other way, whichever pair comes nearest to what the two should hand each other. Leaders are only exchanged for leaders.

#include <cstdint>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/detail/pack_lists.h"
#include "evenkeel/place/detail/pack_state.h"

namespace evenkeel::place::detail {

class PackRefine {
 public:
  PackRefine(Packing& packing, PackLists& lists, Rng& rng) : packing_(packing), lists_(lists), rng_(rng) { find_domains(); }

  // Looks at about so many exchanges, fewer if nothing stands out any more.
  void run(std::uint64_t budget);

 private:
  struct Window {
    std::vector<std::uint32_t> replicas;  // the last is none: nothing is given
    std::vector<double> sizes;            // replicas × levels
  };
  struct Exchange {
    std::uint32_t one = none, other = none;
    double delta = 0;
  };

  void find_domains();
  std::vector<std::uint32_t> standing_out() const;
  bool mend(std::uint32_t node);
  std::uint32_t partner(std::uint32_t node);
  double hope(std::uint32_t one, std::uint32_t other) const;
  void open(Window& window, std::uint32_t node);
  Exchange best_exchange(std::uint32_t one, std::uint32_t other);
  bool may(std::uint32_t one, std::uint32_t a, std::uint32_t other, std::uint32_t b) const;
  bool may_go(std::uint32_t replica, std::uint32_t from, std::uint32_t to) const;

  Packing& packing_;
  PackLists& lists_;
  Rng& rng_;
  std::uint64_t looked_at_ = 0;
  std::uint32_t round_ = 0;
  std::vector<std::uint32_t> fails_, rests_until_;     // by node: a node that cannot be mended rests longer each time
  std::vector<std::vector<std::uint32_t>> by_domain_;  // able nodes
  Window window_, other_window_;
  std::vector<double> wanted_, bend_;
};

}  // namespace evenkeel::place::detail
