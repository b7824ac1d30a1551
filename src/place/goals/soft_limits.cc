// Usage at or below a node's soft limit: each unit above it costs its dimension's weight.

#include <algorithm>

#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class SoftLimits : public Term {
 public:
  explicit SoftLimits(const Problem& problem) {
    for (const Dimension& dimension : problem.dimensions) {
      weights_.push_back(dimension.soft_weight);
      one_tier_ = one_tier_ && dimension.soft_tier == problem.dimensions.front().soft_tier;
    }
  }
  std::string_view name() const override { return "soft_limit"; }

  Cost delta(const State& state, const Trial& trial) const override {
    const Problem& problem = state.problem();
    const std::size_t width = problem.width();
    Cost sum;
    for (std::size_t i = 0; i < trial.touched(); ++i) {
      const Trial::Touched touched = trial.touched(i);
      const Amount* soft = problem.soft.data() + touched.node * width;
      const Amount* usage = state.usage(touched.node).data();
      const Amount* change = touched.usage.data();
      if (one_tier_) {
        double more = 0;
        for (std::size_t d = 0; d < width; ++d) more += weights_[d] * static_cast<double>(above(usage[d] - soft[d], change[d]));
        sum.tiers[problem.dimensions.front().soft_tier] += more;
        continue;
      }
      for (std::size_t d = 0; d < width; ++d)
        sum.tiers[problem.dimensions[d].soft_tier] += weights_[d] * static_cast<double>(above(usage[d] - soft[d], change[d]));
    }
    return sum;
  }

  Cost whole(const State& state) const override {
    const Problem& problem = state.problem();
    Cost sum;
    for (std::uint32_t node = 0; node < problem.nodes; ++node) {
      for (std::size_t d = 0; d < problem.width(); ++d) {
        const Dimension& dimension = problem.dimensions[d];
        const Amount over = state.usage(node)[d] - problem.soft[node * problem.width() + d];
        sum.tiers[dimension.soft_tier] += dimension.soft_weight * static_cast<double>(std::max<Amount>(0, over));
      }
    }
    return sum;
  }

 private:
  // What a change adds to the part above the limit.
  static Amount above(Amount over, Amount change) { return std::max<Amount>(0, over + change) - std::max<Amount>(0, over); }

  std::vector<double> weights_;  // by dimension, side by side
  bool one_tier_ = true;         // all dimensions' goals are of one tier
};

}  // namespace

Made make_soft_limits(const Problem& problem) {
  const bool any = std::ranges::any_of(problem.dimensions, [](const Dimension& dimension) { return dimension.soft_weight > 0; });
  return any ? std::make_unique<SoftLimits>(problem) : nullptr;
}

}  // namespace evenkeel::place::detail
