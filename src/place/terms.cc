#include "evenkeel/place/detail/terms.h"

#include <array>

namespace evenkeel::place {

std::vector<std::unique_ptr<Term>> make_terms(const Problem& problem) {
  using namespace detail;
  // Rules first, those that cost least to ask before the others.
  constexpr std::array table = {
      make_frozen,       make_able,       make_limits, make_distinct,    make_hard_spread, make_dependency,
      make_soft_spread,  make_affinity,   make_avoid,  make_soft_limits, make_level,       make_family_level,
      make_leader_level, make_free_pairs, make_moves,  make_most_moved,
  };
  std::vector<std::unique_ptr<Term>> terms;
  for (const auto& make : table) {
    if (auto term = make(problem)) terms.push_back(std::move(term));
  }
  return terms;
}

}  // namespace evenkeel::place
