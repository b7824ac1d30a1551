// Usage at or below a node's soft limit: each unit above it costs its dimension's weight.

#include <algorithm>
#include <cmath>

#include "evenkeel/place/detail/each_node.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class SoftLimits : public Term {
 public:
  explicit SoftLimits(const Problem& problem) {
    for (const Dimension& dimension : problem.dimensions) weights_.push_back(dimension.soft_weight);
  }

  // Where weights are whole numbers of one tier and no sum can overflow, sums are of whole numbers: that is twice as fast.
  void reset(const State& state) override {
    const Problem& problem = state.problem();
    whole_ = std::ranges::all_of(problem.dimensions,
                                 [&](const Dimension& dimension) {
                                   return dimension.soft_weight == std::floor(dimension.soft_weight) &&
                                          dimension.soft_tier == problem.dimensions.front().soft_tier;
                                 }) &&
             most(problem) < 1e18;
    whole_weights_.clear();
    for (const double weight : weights_) whole_weights_.push_back(whole_ ? static_cast<Amount>(weight) : 0);
  }
  std::string_view name() const override { return "soft_limit"; }

  Cost delta(const State& state, const Trial& trial) const override {
    const Problem& problem = state.problem();
    const std::size_t width = problem.width();
    Cost sum;
    if (whole_) {
      Amount more = 0;
      each_node(state, trial, [&](std::uint32_t node, const auto& change) {
        const Amount* soft = problem.soft.data() + node * width;
        const Amount* usage = state.usage(node).data();
        for (std::size_t d = 0; d < width; ++d) more += whole_weights_[d] * above(usage[d] - soft[d], change(d));
      });
      return Cost::of(problem.dimensions.front().soft_tier, static_cast<double>(more));
    }
    each_node(state, trial, [&](std::uint32_t node, const auto& change) {
      const Amount* soft = problem.soft.data() + node * width;
      const Amount* usage = state.usage(node).data();
      for (std::size_t d = 0; d < width; ++d)
        sum.tiers[problem.dimensions[d].soft_tier] += weights_[d] * static_cast<double>(above(usage[d] - soft[d], change(d)));
    });
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
  // What everything together would cost if it were above the limits.
  double most(const Problem& problem) const {
    double sum = 0;
    const auto add = [&](const Amount* row) {
      for (std::size_t d = 0; d < weights_.size(); ++d) sum += weights_[d] * static_cast<double>(row[d]);
    };
    for (std::uint32_t node = 0; node < problem.nodes; ++node) add(problem.base.data() + node * problem.width());
    for (const std::uint32_t row : problem.replica_load) add(problem.load(row).data());
    for (const std::uint32_t row : problem.group_lead)
      if (row != none) add(problem.load(row).data());
    return sum;
  }
  // What a change adds to the part above the limit.
  static Amount above(Amount over, Amount change) { return std::max<Amount>(0, over + change) - std::max<Amount>(0, over); }

  std::vector<double> weights_;  // by dimension, side by side
  std::vector<Amount> whole_weights_;
  bool whole_ = false;
};

}  // namespace

Made make_soft_limits(const Problem& problem) {
  const bool any = std::ranges::any_of(problem.dimensions, [](const Dimension& dimension) { return dimension.soft_weight > 0; });
  return any ? std::make_unique<SoftLimits>(problem) : nullptr;
}

}  // namespace evenkeel::place::detail
