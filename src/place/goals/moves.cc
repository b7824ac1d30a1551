// Few and cheap moves: a replica that is not at home costs, and the way between two nodes may cost too.

#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class Moves : public Term {
 public:
  std::string_view name() const override { return "moves"; }

  void add_delta(const State& state, const Trial& trial, Cost& total) const override {
    double sum = 0;
    for (const Trial::Step& step : trial.steps())
      sum += cost(state, step.replica, step.to) - cost(state, step.replica, step.from);
    total.tiers[Cost::level] += sum;
  }

  Cost whole(const State& state) const override {
    double sum = 0;
    for (std::uint32_t r = 0; r < state.problem().replicas(); ++r) sum += cost(state, r, state.at(r));
    return Cost::of(Cost::level, sum);
  }

 private:
  static double cost(const State& state, std::uint32_t replica, std::uint32_t node) {
    const Problem& problem = state.problem();
    const std::uint32_t home = state.home(replica);
    if (node == none || home == none) return 0;
    double sum = 0;
    if (!problem.between.empty()) sum += problem.between_weight * problem.between[std::size_t{home} * problem.nodes + node];
    if (node != home && problem.move_weight > 0) sum += problem.move_weight * problem.move_cost[replica];
    return sum;
  }
};

}  // namespace

Made make_moves(const Problem& problem) {
  return problem.move_weight > 0 || !problem.between.empty() ? std::make_unique<Moves>() : nullptr;
}

}  // namespace evenkeel::place::detail
