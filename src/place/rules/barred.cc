// A shard stays away from the nodes that it is barred from: somebody disabled it there, or it failed there for good.

#include <algorithm>

#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class BarredNodes : public Term {
 public:
  std::string_view name() const override { return "barred"; }
  bool allows(const State& state, const Trial& trial) const override {
    const Problem& problem = state.problem();
    return std::ranges::none_of(trial.steps(), [&](const Trial::Step& step) {
      return step.to != none && problem.is_barred(problem.replica_group[step.replica], step.to);
    });
  }
  std::string why_not(const State& state, std::uint32_t replica, std::uint32_t node) const override {
    const Problem& problem = state.problem();
    return problem.is_barred(problem.replica_group[replica], node) ? std::string(barred_words) : "";
  }
};

}  // namespace

Made make_barred(const Problem& problem) { return problem.bars ? std::make_unique<BarredNodes>() : nullptr; }

}  // namespace evenkeel::place::detail
