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

  // Where weights are whole numbers of one tier and no sum can overflow, sums are of whole numbers, and everything is kept multiplied by
  // its weight: then a shift is two rows added up without a branch or a product, several numbers at a time.
  void reset(const State& state) override {
    const Problem& problem = state.problem();
    whole_ = std::ranges::all_of(problem.dimensions,
                                 [&](const Dimension& dimension) {
                                   return dimension.soft_weight == std::floor(dimension.soft_weight) &&
                                          dimension.soft_tier == problem.dimensions.front().soft_tier;
                                 }) &&
             most(problem) < 1e18;
    if (whole_) weigh(state);
  }
  void apply(const State& state, const Trial& trial) override {
    for (std::size_t i = 0; whole_ && i < trial.touched(); ++i) {
      const Trial::Touched touched = trial.touched(i);
      weigh_node(state, touched.node, touched.usage.data());
    }
  }
  std::string_view name() const override { return "soft_limit"; }

  void add_delta(const State& state, const Trial& trial, Cost& total) const override {
    const Problem& problem = state.problem();
    const std::size_t width = problem.width();
    if (whole_) {
      total.tiers[problem.dimensions.front().soft_tier] += static_cast<double>(more(problem, trial));
      return;
    }
    Cost sum;
    each_node(state, trial, [&](std::uint32_t node, const auto& change) {
      const Amount* soft = problem.soft.data() + node * width;
      const Amount* usage = state.usage(node).data();
      for (std::size_t d = 0; d < width; ++d)
        sum.tiers[problem.dimensions[d].soft_tier] += weights_[d] * static_cast<double>(above(usage[d] - soft[d], change(d)));
    });
    total += sum;
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
  // What a change adds, in whole numbers.
  Amount more(const Problem& problem, const Trial& trial) const {
    const std::size_t width = weights_.size();
    const auto steps = trial.steps();
    Amount sum = 0;
    if (!trial.plain()) {
      for (std::size_t i = 0; i < trial.touched(); ++i) {
        const Trial::Touched touched = trial.touched(i);
        const Amount* over = over_.data() + touched.node * width;
        sum -= paid_[touched.node];
        for (std::size_t d = 0; d < width; ++d) sum += positive(over[d] + whole_weights_[d] * touched.usage[d]);
      }
      return sum;
    }
    const Amount* coming = rows_.data() + problem.replica_load[steps[0].replica] * width;
    const Amount* going = steps.size() == 2 ? rows_.data() + problem.replica_load[steps[1].replica] * width : nothing_.data();
    if (steps[0].to != none) sum += paid_more(steps[0].to, coming, going);
    if (steps[0].from != none) sum += paid_more(steps[0].from, going, coming);
    return sum;
  }

  Amount paid_more(std::uint32_t node, const Amount* coming, const Amount* going) const {
    const std::size_t width = weights_.size();
    const Amount* over = over_.data() + node * width;
    Amount sum = -paid_[node];
    for (std::size_t d = 0; d < width; ++d) sum += positive(over[d] + coming[d] - going[d]);
    return sum;
  }

  void weigh(const State& state) {
    const Problem& problem = state.problem();
    const std::size_t width = weights_.size();
    whole_weights_.assign(weights_.begin(), weights_.end());
    nothing_.assign(width, 0);
    rows_ = problem.loads;
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] *= whole_weights_[i % width];
    all_.assign(width, 1);
    for (std::size_t i = 0; i < problem.base.size(); ++i) all_[i % width] += problem.base[i];
    for (const std::uint32_t row : problem.replica_load)
      for (std::size_t d = 0; d < width; ++d) all_[d] += problem.load(row)[d];
    for (const std::uint32_t row : problem.group_lead)
      for (std::size_t d = 0; row != none && d < width; ++d) all_[d] += problem.load(row)[d];
    over_.assign(problem.soft.size(), 0);
    paid_.assign(problem.nodes, 0);
    for (std::uint32_t node = 0; node < problem.nodes; ++node) weigh_node(state, node, nothing_.data());
  }

  // A limit further away than all there is may be as far as that: so nothing overflows.
  void weigh_node(const State& state, std::uint32_t node, const Amount* more) {
    const std::size_t width = weights_.size();
    const Amount* usage = state.usage(node).data();
    const Amount* soft = state.problem().soft.data() + node * width;
    Amount* over = over_.data() + node * width;
    Amount paid = 0;
    for (std::size_t d = 0; d < width; ++d) {
      over[d] = whole_weights_[d] * std::max(usage[d] + more[d] - soft[d], -all_[d]);
      paid += positive(over[d]);
    }
    paid_[node] = paid;
  }

  static Amount positive(Amount amount) { return std::max<Amount>(0, amount); }
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
  bool whole_ = false;           // and only then there is the rest, all of it multiplied by weights
  std::vector<Amount> whole_weights_, nothing_;
  std::vector<Amount> all_;   // by dimension: more than all there is, and not multiplied
  std::vector<Amount> rows_;  // the problem's loads
  std::vector<Amount> over_;  // nodes × dimensions: usage without the soft limit
  std::vector<Amount> paid_;  // by node: what is above, summed up
};

}  // namespace

Made make_soft_limits(const Problem& problem) {
  const bool any = std::ranges::any_of(problem.dimensions, [](const Dimension& dimension) { return dimension.soft_weight > 0; });
  return any ? std::make_unique<SoftLimits>(problem) : nullptr;
}

}  // namespace evenkeel::place::detail
