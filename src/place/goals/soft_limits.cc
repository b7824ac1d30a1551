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
    double plain = 0;
    for (std::size_t i = 0; i < trial.touched(); ++i) {
      const Trial::Touched touched = trial.touched(i);
      const Amount* soft = problem.soft.data() + touched.node * width;
      const Amount* usage = state.usage(touched.node).data();
      const Amount* change = touched.usage.data();
      for (std::size_t d = 0; d < width; ++d) {
        const Amount above = usage[d] - soft[d];
        const Amount more = std::max<Amount>(0, above + change[d]) - std::max<Amount>(0, above);
        if (one_tier_) {
          plain += weights_[d] * static_cast<double>(more);
        } else {
          sum.tiers[problem.dimensions[d].soft_tier] += weights_[d] * static_cast<double>(more);
        }
      }
    }
    if (one_tier_) sum.tiers[problem.dimensions.front().soft_tier] = plain;
    return sum;
  }

  Cost whole(const State& state) const override {
    const Problem& problem = state.problem();
    Cost sum;
    for (std::uint32_t node = 0; node < problem.nodes; ++node) {
      for (std::size_t d = 0; d < problem.width(); ++d) {
        const Dimension& dimension = problem.dimensions[d];
        const Amount above = state.usage(node)[d] - problem.soft[node * problem.width() + d];
        sum.tiers[dimension.soft_tier] += dimension.soft_weight * static_cast<double>(std::max<Amount>(0, above));
      }
    }
    return sum;
  }

 private:
  std::vector<double> weights_;  // by dimension, side by side
  bool one_tier_ = true;         // all dimensions' goals are of one tier
};

}  // namespace

Made make_soft_limits(const Problem& problem) {
  const bool any = std::ranges::any_of(problem.dimensions, [](const Dimension& dimension) { return dimension.soft_weight > 0; });
  return any ? std::make_unique<SoftLimits>(problem) : nullptr;
}

}  // namespace evenkeel::place::detail
