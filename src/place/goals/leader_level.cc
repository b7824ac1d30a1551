// Leadership level over the nodes, in each family and in total; and none where it should not be.

#include <array>

#include "evenkeel/place/detail/family_sums.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class LeaderLevel : public Term {
 public:
  std::string_view name() const override { return "leader_level"; }

  void add_delta(const State& state, const Trial& trial, Cost& total) const override {
    std::array<Pass, Trial::steps_max + 1> passes;
    const std::size_t size = passes_of(state, trial, passes);
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      sum += change(state.problem(), {passes.data(), i}, passes[i], passes[i].from, -1);
      sum += change(state.problem(), {passes.data(), i}, passes[i], passes[i].to, 1);
    }
    total.tiers[Cost::last] += sum;
    for (std::size_t i = 0; i < size; ++i) {
      total.tiers[Cost::affinity] += misplaced(state.problem(), passes[i].to) - misplaced(state.problem(), passes[i].from);
    }
  }

  Cost whole(const State& state) const override {
    const Problem& problem = state.problem();
    double sum = 0;
    for (std::uint32_t node = 0; node < problem.nodes; ++node) {
      sum += problem.leader_level_weight * square_change(0, total_[node], problem.leader_share[node]);
      for (std::uint32_t family = 0; family < problem.families.size(); ++family) {
        sum += problem.families[family].lead_weight * square_change(0, sums_.at(family, node), problem.leader_share[node]);
      }
    }
    Cost cost = Cost::of(Cost::last, sum);
    for (std::uint32_t group = 0; group < problem.groups(); ++group) {
      cost.tiers[Cost::affinity] += misplaced(problem, node_of(state, state.leader(group)));
    }
    return cost;
  }

  void apply(const State& state, const Trial& trial) override {
    std::array<Pass, Trial::steps_max + 1> passes;
    const std::size_t size = passes_of(state, trial, passes);
    for (std::size_t i = 0; i < size; ++i) pass(state.problem(), passes[i]);
  }

  void reset(const State& state) override {
    const Problem& problem = state.problem();
    total_.assign(problem.nodes, 0);
    sums_.reset(problem.families.size(), problem.nodes);
    grow(state, 0);
  }

  void grow(const State& state, std::uint32_t first_group) override {
    const Problem& problem = state.problem();
    for (std::uint32_t group = first_group; group < problem.groups(); ++group) {
      pass(problem, {group, none, node_of(state, state.leader(group))});
    }
  }

 private:
  // A group's leadership goes from one node to another, either of which may be none.
  struct Pass {
    std::uint32_t group;
    std::uint32_t from;
    std::uint32_t to;
  };

  // A leader on a node that has no part in leadership costs one.
  static double misplaced(const Problem& problem, std::uint32_t node) {
    return node != none && problem.leader_share[node] <= 0 ? 1 : 0;
  }

  static std::uint32_t node_of(const State& state, std::uint32_t replica) { return replica == none ? none : state.at(replica); }

  static std::size_t passes_of(const State& state, const Trial& trial, std::span<Pass> passes) {
    std::size_t size = 0;
    if (trial.leads()) {
      const std::uint32_t from = node_of(state, trial.lead_from()), to = node_of(state, trial.lead_to());
      if (from != to) passes[size++] = {trial.lead_group(), from, to};  // two of a group on one node: nothing passes
    }
    for (const Trial::Step& step : trial.steps()) {
      const std::uint32_t group = state.problem().replica_group[step.replica];
      if (state.leader(group) == step.replica) passes[size++] = {group, step.from, step.to};
    }
    return size;
  }

  // What a node's gain (sign 1) or loss of a group's leadership costs, on top of what passed earlier in the same trial.
  double change(const Problem& problem, std::span<const Pass> earlier, const Pass& now, std::uint32_t node, int sign) const {
    if (node == none) return 0;
    const std::uint32_t family = problem.group_family[now.group];
    Amount total = total_[node], own = sums_.at(family, node);
    for (const Pass& pass : earlier) {
      const Amount more = ((pass.to == node ? 1 : 0) - (pass.from == node ? 1 : 0)) * problem.lead_measures[pass.group];
      total += more;
      if (problem.group_family[pass.group] == family) own += more;
    }
    const Amount more = sign * problem.lead_measures[now.group];
    const double share = problem.leader_share[node];
    return problem.leader_level_weight * square_change(total, more, share) +
           problem.families[family].lead_weight * square_change(own, more, share);
  }

  void pass(const Problem& problem, const Pass& pass) {
    const Amount measure = problem.lead_measures[pass.group];
    const std::uint32_t family = problem.group_family[pass.group];
    if (pass.from != none) total_[pass.from] -= measure, sums_.add(family, pass.from, -measure);
    if (pass.to != none) total_[pass.to] += measure, sums_.add(family, pass.to, measure);
  }

  std::vector<Amount> total_;
  Grid<Amount> sums_;
};

}  // namespace

Made make_leader_level(const Problem& problem) {
  return problem.leader_level_weight > 0 ? std::make_unique<LeaderLevel>() : nullptr;
}

}  // namespace evenkeel::place::detail
