// Replicas that stay where they are.

#include <algorithm>

#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class Frozen : public Term {
 public:
  std::string_view name() const override { return "pinned"; }
  bool allows(const State& state, const Trial& trial) const override {
    return std::ranges::none_of(trial.steps(), [&](const Trial::Step& step) { return is_frozen(state, step.replica); });
  }
  std::string why_not(const State& state, std::uint32_t replica, std::uint32_t) const override {
    return is_frozen(state, replica) ? "the replica is pinned where it is" : "";
  }

 private:
  static bool is_frozen(const State& state, std::uint32_t replica) {
    const Problem& problem = state.problem();
    return replica < problem.frozen.size() && problem.frozen[replica] != 0;
  }
};

}  // namespace

Made make_frozen(const Problem& problem) { return problem.frozen.empty() ? nullptr : std::make_unique<Frozen>(); }

}  // namespace evenkeel::place::detail
