// The group that moves most replicas costs by their number: moves should not all hit one group.

#include <algorithm>

#include "evenkeel/place/detail/spread_count.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

class MostMoved : public Term {
 public:
  std::string_view name() const override { return "most_moved"; }

  void add_delta(const State& state, const Trial& trial, Cost& total) const override {
    const Problem& problem = state.problem();
    std::uint32_t most = 0, leaving_top = 0;
    bool change = false;
    for_groups(problem, trial, [&](std::uint32_t group) {
      const std::uint32_t before = moved_[group];
      const auto after = static_cast<std::uint32_t>(static_cast<int>(before) + more(state, trial, group));
      change = change || after != before;
      most = std::max(most, after);
      leaving_top += before == most_ ? 1 : 0;
    });
    if (!change) return;
    // The largest of the others: those at the top if any is left there, else the next count that some group has.
    std::uint32_t others = most_;
    if (groups_with_[most_] == leaving_top) {
      while (others > most && !has_other(problem, trial, others)) --others;
    }
    most = std::max(most, others);
    total.tiers[Cost::level] += problem.most_moved_weight * (static_cast<double>(most) - static_cast<double>(most_));
  }

  Cost whole(const State& state) const override {
    std::uint32_t most = 0;
    for (std::uint32_t group = 0; group < state.problem().groups(); ++group) most = std::max(most, count(state, group));
    return Cost::of(Cost::level, state.problem().most_moved_weight * most);
  }

  void apply(const State& state, const Trial& trial) override {
    for_groups(state.problem(), trial, [&](std::uint32_t group) {
      --groups_with_[moved_[group]];
      moved_[group] = static_cast<std::uint32_t>(static_cast<int>(moved_[group]) + more(state, trial, group));
      ++groups_with_[moved_[group]];
      most_ = std::max(most_, moved_[group]);
    });
    while (most_ > 0 && groups_with_[most_] == 0) --most_;
  }

  void reset(const State& state) override {
    const Problem& problem = state.problem();
    moved_.resize(problem.groups());
    groups_with_.assign(std::size_t{problem.replicas()} + 1, 0);
    most_ = 0;
    for (std::uint32_t group = 0; group < problem.groups(); ++group) {
      moved_[group] = count(state, group);
      ++groups_with_[moved_[group]];
      most_ = std::max(most_, moved_[group]);
    }
  }

  void settle(const State& state) override { reset(state); }

 private:
  static std::uint32_t count(const State& state, std::uint32_t group) {
    std::uint32_t moved = 0;
    for (std::uint32_t r = state.problem().group_first[group]; r < state.problem().group_end(group); ++r) {
      moved += state.at(r) != state.home(r) ? 1 : 0;
    }
    return moved;
  }

  static int more(const State& state, const Trial& trial, std::uint32_t group) {
    int change = 0;
    for (const Trial::Step& step : trial.steps()) {
      if (state.problem().replica_group[step.replica] != group) continue;
      const std::uint32_t home = state.home(step.replica);
      change += (step.to != home ? 1 : 0) - (step.from != home ? 1 : 0);
    }
    return change;
  }

  // Whether a group that the trial does not touch has so many.
  bool has_other(const Problem& problem, const Trial& trial, std::uint32_t moved) const {
    std::uint32_t touched = 0;
    for_groups(problem, trial, [&](std::uint32_t group) { touched += moved_[group] == moved ? 1 : 0; });
    return groups_with_[moved] > touched;
  }

  std::vector<std::uint32_t> moved_;        // by group
  std::vector<std::uint32_t> groups_with_;  // by count
  std::uint32_t most_ = 0;
};

}  // namespace

Made make_most_moved(const Problem& problem) { return problem.most_moved_weight > 0 ? std::make_unique<MostMoved>() : nullptr; }

}  // namespace evenkeel::place::detail
