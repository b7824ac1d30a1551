// Families apart from each other: every pair of their replicas on one node costs one. Families close to others: every replica on a node
// without any of them costs one.

#include <set>
#include <tuple>

#include "evenkeel/place/detail/grid.h"
#include "evenkeel/place/detail/terms.h"

namespace evenkeel::place::detail {
namespace {

struct Edge {
  std::uint32_t one;
  std::uint32_t other;
  bool apart;
};

double cost_of(bool apart, int one, int other) {
  if (apart) return static_cast<double>(one) * other;
  return other == 0 ? one : 0;
}

class Affinity : public Term {
 public:
  explicit Affinity(const Problem& problem) : edges_of_(problem.families.size()), row_(problem.families.size(), none) {
    Known known;
    for (std::uint32_t family = 0; family < problem.families.size(); ++family) {
      for (const std::uint32_t other : problem.families[family].apart_from) add(family, other, true, known);
      for (const std::uint32_t other : problem.families[family].close_to) add(family, other, false, known);
    }
  }

  bool empty() const { return edges_.empty(); }
  std::string_view name() const override { return "affinity"; }

  void add_delta(const State& state, const Trial& trial, Cost& total) const override {
    double sum = 0;
    for (const Trial::Step& step : trial.steps()) {
      const std::uint32_t family = family_of(state, step.replica);
      for (const std::uint32_t edge : edges_of_[family]) {
        if (counted_before(state, trial, step, edge)) continue;
        for (std::size_t i = 0; i < trial.touched(); ++i) sum += change(state, trial, edges_[edge], trial.touched(i).node);
      }
    }
    total.tiers[Cost::affinity] += sum;
  }

  Cost whole(const State& state) const override {
    double sum = 0;
    for (const Edge& edge : edges_) {
      for (std::uint32_t node = 0; node < state.problem().nodes; ++node) {
        sum += cost_of(edge.apart, counts_.at(row_[edge.one], node), counts_.at(row_[edge.other], node));
      }
    }
    return Cost::of(Cost::affinity, sum);
  }

  void apply(const State& state, const Trial& trial) override {
    for (const Trial::Step& step : trial.steps()) {
      const std::uint32_t row = row_[family_of(state, step.replica)];
      if (row == none) continue;
      if (step.from != none) counts_.add(row, step.from, -1);
      if (step.to != none) counts_.add(row, step.to, 1);
    }
  }

  void reset(const State& state) override {
    counts_.reset(rows_, state.problem().nodes);
    grow(state, 0);
  }

  void grow(const State& state, std::uint32_t first_group) override {
    for (std::uint32_t r = state.problem().group_first[first_group]; r < state.problem().replicas(); ++r) {
      const std::uint32_t row = row_[family_of(state, r)];
      if (row != none && state.at(r) != none) counts_.add(row, state.at(r), 1);
    }
  }

 private:
  using Known = std::set<std::tuple<std::uint32_t, std::uint32_t, bool>>;

  // Being apart is mutual: whoever says it first says it for both.
  void add(std::uint32_t one, std::uint32_t other, bool apart, Known& known) {
    if (one == other || (apart && known.contains({other, one, true})) || !known.emplace(one, other, apart).second) return;
    const auto edge = static_cast<std::uint32_t>(edges_.size());
    edges_.push_back({one, other, apart});
    for (const std::uint32_t family : {one, other}) {
      edges_of_[family].push_back(edge);
      if (row_[family] == none) row_[family] = rows_++;
    }
  }

  static std::uint32_t family_of(const State& state, std::uint32_t replica) {
    return state.problem().group_family[state.problem().replica_group[replica]];
  }

  // Whether an earlier step of the trial has this edge too.
  bool counted_before(const State& state, const Trial& trial, const Trial::Step& step, std::uint32_t edge) const {
    for (const Trial::Step& earlier : trial.steps()) {
      if (&earlier == &step) return false;
      const std::uint32_t family = family_of(state, earlier.replica);
      if (family == edges_[edge].one || family == edges_[edge].other) return true;
    }
    return false;
  }

  double change(const State& state, const Trial& trial, const Edge& edge, std::uint32_t node) const {
    const int one = counts_.at(row_[edge.one], node), other = counts_.at(row_[edge.other], node);
    int one_after = one, other_after = other;
    for (const Trial::Step& step : trial.steps()) {
      const int more = (step.to == node ? 1 : 0) - (step.from == node ? 1 : 0);
      const std::uint32_t family = family_of(state, step.replica);
      if (family == edge.one) one_after += more;
      if (family == edge.other) other_after += more;
    }
    return cost_of(edge.apart, one_after, other_after) - cost_of(edge.apart, one, other);
  }

  std::vector<Edge> edges_;
  std::vector<std::vector<std::uint32_t>> edges_of_;  // by family
  std::vector<std::uint32_t> row_;                    // by family: its row of counts, or none
  std::uint32_t rows_ = 0;
  Grid<int> counts_;
};

}  // namespace

Made make_affinity(const Problem& problem) {
  auto made = std::make_unique<Affinity>(problem);
  return made->empty() ? nullptr : std::move(made);
}

}  // namespace evenkeel::place::detail
