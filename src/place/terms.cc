#include "evenkeel/place/detail/terms.h"

#include <array>

namespace evenkeel::place {

namespace {

template <class Table>
std::vector<std::unique_ptr<Term>> make(const Table& table, const Problem& problem) {
  std::vector<std::unique_ptr<Term>> terms;
  for (const auto& make_one : table) {
    if (auto term = make_one(problem)) terms.push_back(std::move(term));
  }
  return terms;
}

}  // namespace

std::vector<std::unique_ptr<Term>> make_rules(const Problem& problem) {
  using namespace detail;
  // Those that cost least to ask, or refuse most, before the others.
  return make(std::array{make_frozen, make_barred, make_limits, make_able, make_distinct, make_hard_spread, make_dependency},
              problem);
}

std::vector<std::unique_ptr<Term>> make_goals(const Problem& problem) {
  using namespace detail;
  constexpr std::array table = {make_soft_spread,  make_affinity,     make_avoid,      make_soft_limits, make_level,
                                make_family_level, make_leader_level, make_free_pairs, make_moves,       make_most_moved};
  return make(table, problem);
}

}  // namespace evenkeel::place
