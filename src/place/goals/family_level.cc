// Each family level over the nodes by itself, so that no workload is bunched on a few of them.

#include "evenkeel/place/detail/family_sums.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class FamilyLevel : public Term {
 public:
  std::string_view name() const override { return "family_level"; }

  Cost delta(const State& state, const Trial& trial) const override {
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
      const Amount measure = problem.measures[problem.replica_load[steps[i].replica]];
      if (steps[i].from != none)
        sum += square_change(before(i, family, steps[i].from), -measure, problem.family_share[steps[i].from]);
      if (steps[i].to != none) sum += square_change(before(i, family, steps[i].to), measure, problem.family_share[steps[i].to]);
    }
    return Cost::of(Cost::level, problem.family_level_weight * sum);
  }

  Cost whole(const State& state) const override {
    const Problem& problem = state.problem();
    double sum = 0;
    sums_.for_each(state, [&](std::uint32_t, std::uint32_t node, Amount amount) {
      sum += square_change(0, amount, problem.family_share[node]);
    });
    return Cost::of(Cost::level, problem.family_level_weight * sum);
  }

  void apply(const State& state, const Trial& trial) override { sums_.apply(state.problem(), trial); }
  void reset(const State& state) override { sums_.reset(state); }

 private:
  FamilySums sums_;
};

}  // namespace

Made make_family_level(const Problem& problem) {
  return problem.family_level_weight > 0 ? std::make_unique<FamilyLevel>() : nullptr;
}

}  // namespace evenkeel::place::detail
