// Replicas of a group are on different nodes; where it counts, also from one that a replica of the group is just leaving.

#include "evenkeel/place/detail/grid.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class Distinct : public Term {
 public:
  std::string_view name() const override { return "distinct"; }

  bool allows(const State& state, const Trial& trial) const override {
    for (const Trial::Step& step : trial.steps()) {
      if (step.to != none && taken(state, trial, step.replica, step.to)) return false;
    }
    return true;
  }

  std::string why_not(const State& state, std::uint32_t replica, std::uint32_t node) const override {
    if (state.at(replica) == node) return {};
    Trial trial(state);
    if (!taken(state, trial.shift(replica, node), replica, node)) return {};
    for (const std::uint32_t at : state.row(state.problem().replica_group[replica])) {
      if (at == node) return "it has a replica of this shard";
    }
    return "a replica of this shard is leaving it";
  }

  void apply(const State& state, const Trial& trial) override {
    for (const Trial::Step& step : trial.steps()) {
      const std::uint32_t group = state.problem().replica_group[step.replica];
      if (group >= large_.size() || large_[group] == none) continue;
      if (step.from != none) counts_.add(large_[group], step.from, -1);
      if (step.to != none) counts_.add(large_[group], step.to, 1);
    }
  }

  void reset(const State& state) override {
    const Problem& problem = state.problem();
    large_.assign(problem.groups(), none);
    if (problem.distinct_at_peak) return;  // homes count too, which the table does not have
    std::uint32_t rows = 0;
    for (std::uint32_t group = 0; group < problem.groups(); ++group) {
      if (problem.group_end(group) - problem.group_first[group] > small) large_[group] = rows++;
    }
    counts_.reset(rows, problem.nodes);
    for (std::uint32_t group = 0; group < problem.groups(); ++group) {
      if (large_[group] == none) continue;
      for (const std::uint32_t at : state.row(group)) {
        if (at != none) counts_.add(large_[group], at, 1);
      }
    }
  }

  void grow(const State&, std::uint32_t) override {}  // groups that it has not counted are looked through

 private:
  static constexpr std::uint32_t small = 8;

  bool taken(const State& state, const Trial& trial, std::uint32_t replica, std::uint32_t node) const {
    const Problem& problem = state.problem();
    const std::uint32_t group = problem.replica_group[replica];
    if (group < large_.size() && large_[group] != none) {
      int count = counts_.at(large_[group], node);
      for (const Trial::Step& step : trial.steps()) {
        if (problem.replica_group[step.replica] != group) continue;
        count += (step.to == node ? 1 : 0) - (step.from == node ? 1 : 0);
      }
      return count > 1;
    }
    for (std::uint32_t other = problem.group_first[group]; other < problem.group_end(group); ++other) {
      if (other == replica) continue;
      if (trial.will_be(other) == node) return true;
      if (problem.distinct_at_peak && state.home(other) == node) return true;
    }
    return false;
  }

  std::vector<std::uint32_t> large_;  // by group: its row of counts, or none
  Grid<int> counts_;
};

}  // namespace

Made make_distinct(const Problem&) { return std::make_unique<Distinct>(); }

}  // namespace evenkeel::place::detail
