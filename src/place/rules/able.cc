// A node takes only what it is able to hold: it is up, has the labels asked for, and its taints are tolerated.

#include <algorithm>

#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class Able : public Term {
 public:
  std::string_view name() const override { return "able"; }
  bool allows(const State& state, const Trial& trial) const override {
    return std::ranges::all_of(trial.steps(), [&](const Trial::Step& step) {
      return step.to == none || is_able(state.problem(), step.replica, step.to);
    });
  }
  std::string why_not(const State& state, std::uint32_t replica, std::uint32_t node) const override {
    return is_able(state.problem(), replica, node) ? "" : "not able";  // who knows statuses and labels says more
  }

 private:
  static bool is_able(const Problem& problem, std::uint32_t replica, std::uint32_t node) {
    return problem.able[problem.families[problem.group_family[problem.replica_group[replica]]].able][node] != 0;
  }
};

}  // namespace

Made make_able(const Problem& problem) {
  const bool all = problem.able.size() == 1 && std::ranges::all_of(problem.able[0], [](std::uint8_t able) { return able != 0; });
  return all || problem.able.empty() ? nullptr : std::make_unique<Able>();
}

}  // namespace evenkeel::place::detail
