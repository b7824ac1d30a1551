// Room that is free in one dimension should be free in another too, in proportion.

#include <algorithm>

#include "evenkeel/place/detail/each_node.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

double cost(const FreePair& pair, const Amount* capacity, const Amount* usage, Amount more_first, Amount more_second) {
  const Amount first = capacity[pair.first] - usage[pair.first] - more_first;
  const Amount second = capacity[pair.second] - usage[pair.second] - more_second;
  return pair.weight * static_cast<double>(std::max<Amount>(0, pair.ratio * first - second));
}

class FreePairs : public Term {
 public:
  std::string_view name() const override { return "free_pairs"; }

  void add_delta(const State& state, const Trial& trial, Cost& total) const override {
    const Problem& problem = state.problem();
    double sum = 0;
    each_node(state, trial, [&](std::uint32_t node, const auto& more) {
      const Amount* capacity = problem.capacity.data() + node * problem.width();
      const Amount* usage = state.usage(node).data();
      for (const FreePair& pair : problem.free_pairs)
        sum += cost(pair, capacity, usage, more(pair.first), more(pair.second)) - cost(pair, capacity, usage, 0, 0);
    });
    total.tiers[Cost::level] += sum;
  }

  Cost whole(const State& state) const override {
    const Problem& problem = state.problem();
    double sum = 0;
    for (std::uint32_t node = 0; node < problem.nodes; ++node) {
      for (const FreePair& pair : problem.free_pairs) {
        sum += cost(pair, problem.capacity.data() + node * problem.width(), state.usage(node).data(), 0, 0);
      }
    }
    return Cost::of(Cost::level, sum);
  }
};

}  // namespace

Made make_free_pairs(const Problem& problem) { return problem.free_pairs.empty() ? nullptr : std::make_unique<FreePairs>(); }

}  // namespace evenkeel::place::detail
