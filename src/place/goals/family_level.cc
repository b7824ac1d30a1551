// Each family level over the nodes by itself, so that no workload is bunched on a few of them.

#include <algorithm>

#include "evenkeel/place/detail/family_sums.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class FamilyLevel : public Term {
 public:
  std::string_view name() const override { return "family_level"; }

  void add_delta(const State& state, const Trial& trial, Cost& total) const override {
    const Problem& problem = state.problem();
    double sum = 0;
    const auto steps = trial.steps();
    // Steps of one family that share a node act on one sum: each is taken on top of those before it.
    const auto before = [&](std::size_t step, std::uint32_t family, std::uint32_t node) {
      Amount amount = sums_.at(family, node);
      for (std::size_t i = 0; i < step; ++i) {
        if (family_of(problem, steps[i].replica) != family) continue;
        const Amount measure = problem.measures[problem.replica_load[steps[i].replica]];
        if (steps[i].from == node) amount -= measure;
        if (steps[i].to == node) amount += measure;
      }
      return amount;
    };
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::uint32_t family = family_of(problem, steps[i].replica);
      const double weight = problem.families[family].own_weight;
      if (weight <= 0) continue;
      const auto& share = problem.own_shares[problem.families[family].own_share];
      const Amount measure = problem.measures[problem.replica_load[steps[i].replica]];
      const std::uint32_t from = steps[i].from, to = steps[i].to;
      if (from != none) sum += weight * square_change(before(i, family, from), -measure, share[from]);
      if (to != none) sum += weight * square_change(before(i, family, to), measure, share[to]);
    }
    total.tiers[Cost::level] += sum;
  }

  Cost whole(const State& state) const override {
    const Problem& problem = state.problem();
    double sum = 0;
    for (std::uint32_t family = 0; family < problem.families.size(); ++family) {
      const Family& own = problem.families[family];
      for (std::uint32_t node = 0; own.own_weight > 0 && node < problem.nodes; ++node)
        sum += own.own_weight * square_change(0, sums_.at(family, node), problem.own_shares[own.own_share][node]);
    }
    return Cost::of(Cost::level, sum);
  }

  void apply(const State& state, const Trial& trial) override { sums_.apply(state.problem(), trial); }
  void reset(const State& state) override { sums_.reset(state); }
  void grow(const State& state, std::uint32_t first_group) override { sums_.grow(state, first_group); }

 private:
  FamilySums sums_;
};

}  // namespace

Made make_family_level(const Problem& problem) {
  const bool any = std::ranges::any_of(problem.families, [](const Family& family) { return family.own_weight > 0; });
  return any ? std::make_unique<FamilyLevel>() : nullptr;
}

}  // namespace evenkeel::place::detail
