// Every domain that holds a replica of a family holds one of each family that it depends on.

#include <algorithm>

#include "evenkeel/place/detail/grid.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class Dependency : public Term {
 public:
  explicit Dependency(const Problem& problem) : depended_by_(problem.families.size()) {
    for (std::uint32_t family = 0; family < problem.families.size(); ++family) {
      for (const std::uint32_t on : problem.families[family].depends_on) depended_by_[on].push_back(family);
    }
  }

  std::string_view name() const override { return "dependency"; }

  bool allows(const State& state, const Trial& trial) const override {
    const Problem& problem = state.problem();
    const auto& domain = problem.partitions[problem.dependency_partition].domain;
    for (const Trial::Step& step : trial.steps()) {
      const std::uint32_t family = problem.group_family[problem.replica_group[step.replica]];
      const std::uint32_t out = step.from == none ? none : domain[step.from];
      const std::uint32_t in = step.to == none ? none : domain[step.to];
      if (out == in) continue;
      if (out != none && !may_leave(problem, trial, family, out)) return false;
      if (in != none && !may_enter(problem, trial, family, in)) return false;
    }
    return true;
  }

  std::string why_not(const State& state, std::uint32_t replica, std::uint32_t node) const override {
    if (state.at(replica) == node) return {};
    Trial trial(state);
    return allows(state, trial.shift(replica, node)) ? "" : "what depends on it, or what it depends on, is not there";
  }

  void apply(const State& state, const Trial& trial) override {
    const Problem& problem = state.problem();
    const auto& domain = problem.partitions[problem.dependency_partition].domain;
    for (const Trial::Step& step : trial.steps()) {
      const std::uint32_t family = problem.group_family[problem.replica_group[step.replica]];
      if (step.from != none) counts_.add(family, domain[step.from], -1);
      if (step.to != none) counts_.add(family, domain[step.to], 1);
    }
  }

  void reset(const State& state) override {
    const Problem& problem = state.problem();
    const Partition& partition = problem.partitions[problem.dependency_partition];
    counts_.reset(problem.families.size(), partition.domains);
    for (std::uint32_t r = 0; r < problem.replicas(); ++r) {
      if (state.at(r) != none) counts_.add(problem.group_family[problem.replica_group[r]], partition.domain[state.at(r)], 1);
    }
  }

 private:
  // How many of the family the domain will hold.
  int after(const Problem& problem, const Trial& trial, std::uint32_t family, std::uint32_t in) const {
    const auto& domain = problem.partitions[problem.dependency_partition].domain;
    int count = counts_.at(family, in);
    for (const Trial::Step& step : trial.steps()) {
      if (problem.group_family[problem.replica_group[step.replica]] != family) continue;
      if (step.from != none && domain[step.from] == in) --count;
      if (step.to != none && domain[step.to] == in) ++count;
    }
    return count;
  }

  bool may_leave(const Problem& problem, const Trial& trial, std::uint32_t family, std::uint32_t out) const {
    if (depended_by_[family].empty() || after(problem, trial, family, out) > 0) return true;
    return std::ranges::none_of(depended_by_[family], [&](std::uint32_t by) { return after(problem, trial, by, out) > 0; });
  }

  bool may_enter(const Problem& problem, const Trial& trial, std::uint32_t family, std::uint32_t in) const {
    const auto& needs = problem.families[family].depends_on;
    if (needs.empty() || counts_.at(family, in) > 0) return true;
    return std::ranges::all_of(needs, [&](std::uint32_t on) { return after(problem, trial, on, in) > 0; });
  }

  std::vector<std::vector<std::uint32_t>> depended_by_;
  Grid<int> counts_;  // family × domain
};

}  // namespace

Made make_dependency(const Problem& problem) {
  if (problem.dependency_partition == none) return nullptr;
  return std::make_unique<Dependency>(problem);
}

}  // namespace evenkeel::place::detail
