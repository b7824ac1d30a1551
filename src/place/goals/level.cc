// Level usage: the sum of usage² / share, which is least when usage is in proportion to shares.

#include <algorithm>

#include "evenkeel/place/detail/each_node.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class Level : public Term {
 public:
  std::string_view name() const override { return "level"; }

  void add_delta(const State& state, const Trial& trial, Cost& total) const override {
    const Problem& problem = state.problem();
    const std::size_t width = problem.width();
    double sum = 0;
    each_node(state, trial, [&](std::uint32_t node, const auto& change) {
      const double* share = problem.share.data() + node * width;
      const Amount* usage = state.usage(node).data();
      for (std::size_t d = 0; d < width; ++d) {
        if (share[d] <= 0) continue;
        const auto more = static_cast<double>(change(d));
        sum += problem.dimensions[d].level_weight * (more * (2 * static_cast<double>(usage[d]) + more) / share[d]);
      }
    });
    total.tiers[Cost::level] += sum;
  }

  Cost whole(const State& state) const override {
    const Problem& problem = state.problem();
    double sum = 0;
    for (std::uint32_t node = 0; node < problem.nodes; ++node) {
      for (std::size_t d = 0; d < problem.width(); ++d) {
        const double share = problem.share[node * problem.width() + d];
        const auto usage = static_cast<double>(state.usage(node)[d]);
        if (share > 0) sum += problem.dimensions[d].level_weight * (usage * usage / share);
      }
    }
    return Cost::of(Cost::level, sum);
  }
};

}  // namespace

Made make_level(const Problem& problem) {
  const bool any = std::ranges::any_of(problem.dimensions, [](const Dimension& dimension) { return dimension.level_weight > 0; });
  return any ? std::make_unique<Level>() : nullptr;
}

}  // namespace evenkeel::place::detail
