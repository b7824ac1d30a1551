// Nodes that a family had better not use: every replica there costs one.

#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class Avoid : public Term {
 public:
  std::string_view name() const override { return "avoid"; }

  void add_delta(const State& state, const Trial& trial, Cost& total) const override {
    double sum = 0;
    for (const Trial::Step& step : trial.steps()) {
      sum += cost(state.problem(), step.replica, step.to) - cost(state.problem(), step.replica, step.from);
    }
    total.tiers[Cost::affinity] += sum;
  }

  Cost whole(const State& state) const override {
    double sum = 0;
    for (std::uint32_t r = 0; r < state.problem().replicas(); ++r) sum += cost(state.problem(), r, state.at(r));
    return Cost::of(Cost::affinity, sum);
  }

 private:
  static double cost(const Problem& problem, std::uint32_t replica, std::uint32_t node) {
    if (node == none) return 0;
    const auto& avoid = problem.avoid[problem.families[problem.group_family[problem.replica_group[replica]]].able];
    return avoid.empty() ? 0 : avoid[node];
  }
};

}  // namespace

Made make_avoid(const Problem& problem) {
  for (const auto& avoid : problem.avoid) {
    if (!avoid.empty()) return std::make_unique<Avoid>();
  }
  return nullptr;
}

}  // namespace evenkeel::place::detail
