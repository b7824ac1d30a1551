// Leadership: away from nodes that may not lead, and level over those that may.

#include <algorithm>

#include "evenkeel/place/detail/room.h"
#include "evenkeel/place/detail/stages.h"

namespace evenkeel::place::detail {
namespace {

std::uint32_t leader_node(const Board& board, std::uint32_t group) {
  const std::uint32_t leader = board.state->leader(group);
  return leader == none ? none : board.state->at(leader);
}

// Sums of leadership by node, and what is fair; who leads what is listed once somebody leads too much.
class Ledger {
 public:
  explicit Ledger(const Board& board) : board_(board), total_(board.problem.nodes) {
    for (std::uint32_t group = 0; group < board.problem.groups(); ++group) {
      if (const std::uint32_t node = leader_node(board, group); node != none) total_[node] += board.problem.lead_measures[group];
    }
    for (std::uint32_t n = 0; n < total_.size(); ++n) {
      if (board.problem.leader_share[n] > 0) sum_ += static_cast<double>(total_[n]);
    }
  }

  // How far the node is above its fair part of all leadership, in parts of that.
  double above(std::uint32_t node) const {
    const double fair = sum_ * board_.problem.leader_share[node];
    return fair <= 0 ? 0 : static_cast<double>(total_[node]) / fair - 1;
  }

  // What part of all leadership a group's is.
  double part(std::uint32_t group) const { return static_cast<double>(board_.problem.lead_measures[group]) / sum_; }

  std::vector<std::uint32_t>& groups(std::uint32_t node) {
    if (groups_.empty()) {
      groups_.resize(board_.problem.nodes);
      for (std::uint32_t group = 0; group < board_.problem.groups(); ++group) {
        if (const std::uint32_t leader = leader_node(board_, group); leader != none) groups_[leader].push_back(group);
      }
    }
    return groups_[node];
  }

  void pass(std::uint32_t group, std::uint32_t from, std::uint32_t to) {
    total_[from] -= board_.problem.lead_measures[group];
    total_[to] += board_.problem.lead_measures[group];
    std::erase(groups_[from], group);
    groups_[to].push_back(group);
  }

 private:
  const Board& board_;
  std::vector<Amount> total_;
  std::vector<std::vector<std::uint32_t>> groups_;
  double sum_ = 0;
};

struct Passing {
  std::uint32_t group = none;
  std::uint32_t replica = none;
  Cost cost;
};

// The change of one leader on this node that improves most.
Passing best_passing(Board& board, Trial& trial, std::span<const std::uint32_t> groups) {
  State& state = *board.state;
  Passing best;
  for (const std::uint32_t group : groups) {
    if (!board.movable(group)) continue;
    for (std::uint32_t r = board.problem.group_first[group]; r < board.problem.group_end(group); ++r) {
      const std::uint32_t node = state.at(r);
      if (node == none || r == state.leader(group) || board.may_lead[node] == 0 || board.is_down(node)) continue;
      // Where the leader was lost, one that is alive leads, not one that only arrives; a later run may think again.
      if (board.lost_leader(group) && board.arrives(r)) continue;
      if (!state.allowed(trial.lead(group, r))) continue;
      const Cost cost = state.delta(trial);
      if (best.group == none || std::tuple(cost, group, r) < std::tuple(best.cost, best.group, best.replica))
        best = {group, r, cost};
    }
  }
  return best;
}

// A change must be worth this part of what it moves.
constexpr double worth = 1e-3;

// Load is more important than leadership: a change that makes load less level is none, however level it makes leaders.
bool improves(const Board& board, const Ledger& ledger, const Passing& passing) {
  const Cost& cost = passing.cost;
  for (const Cost::Tier tier : {Cost::spread, Cost::affinity, Cost::soft}) {
    if (cost.tiers[tier] != 0) return cost.tiers[tier] < 0;
  }
  const double part = ledger.part(passing.group);
  const bool heavier = board.problem.group_lead[passing.group] != none && cost.tiers[Cost::level] > worth * part;
  return !heavier && cost.tiers[Cost::level] + cost.tiers[Cost::last] < -worth * part * board.leader_weight;
}

void level(Board& board) {
  const double tolerance = static_cast<double>(board.cluster->settings.tolerance.millionths()) / 1e6;
  Ledger ledger(board);
  Trial trial(*board.state);
  std::vector<std::uint32_t> hot;
  for (std::uint32_t n = 0; n < board.problem.nodes; ++n) {
    if (ledger.above(n) > tolerance) hot.push_back(n);
  }
  board.unsettled = board.unsettled || !hot.empty();
  while (!hot.empty() && !board.out_of_budget()) {
    const auto hottest =
        std::ranges::max_element(hot, {}, [&](std::uint32_t n) { return std::pair(ledger.above(n), board.salt[n]); });
    const std::uint32_t node = *hottest;
    const Passing best = best_passing(board, trial, ledger.groups(node));
    if (best.group == none || !improves(board, ledger, best) || ledger.above(node) <= 0) {
      hot.erase(hottest);
      continue;
    }
    ledger.pass(best.group, node, board.state->at(best.replica));
    board.state->apply(trial.lead(best.group, best.replica));
  }
}

}  // namespace

void fail_over(Board& board) {
  if (std::ranges::find(board.down, 1) == board.down.end()) return;
  for (const std::uint32_t group : board.troubled_groups()) {
    const std::uint32_t node = leader_node(board, group);
    if (node == none || !board.is_down(node) || board.flags[group].no_quorum) continue;
    pass_leadership(board, group, board.state->leader(group), true);
  }
}

void level_leaders(Board& board) {
  State& state = *board.state;
  for (std::uint32_t group = 0; group < board.problem.groups(); ++group) {
    const std::uint32_t node = leader_node(board, group);
    if (node == none || board.may_lead[node] != 0 || !board.movable(group)) continue;
    const bool other = std::ranges::any_of(
        state.row(group), [&](std::uint32_t n) { return n != none && n != node && board.may_lead[n] != 0 && !board.is_down(n); });
    if (other) pass_leadership(board, group, state.leader(group), false);
  }
  if (board.problem.leader_level_weight > 0) level(board);
}

}  // namespace evenkeel::place::detail
