// Shards that lie in fewer domains than they could: one of those that share a domain goes to a new one.

#include <algorithm>

#include "evenkeel/place/detail/finder.h"
#include "evenkeel/place/detail/stages.h"

namespace evenkeel::place::detail {
namespace {

// The replicas of a shard that share a domain with another of it.
void find_sharers(const Board& board, std::uint32_t group, std::vector<std::uint32_t>& sharers) {
  sharers.clear();
  const Problem& problem = board.problem;
  const auto& domain = problem.partitions[problem.families[problem.group_family[group]].partition].domain;
  const std::uint32_t first = problem.group_first[group], end = problem.group_end(group);
  for (std::uint32_t r = first; r < end; ++r) {
    if (board.state->at(r) == none) continue;
    for (std::uint32_t other = first; other < end; ++other) {
      if (other == r || board.state->at(other) == none || domain[board.state->at(other)] != domain[board.state->at(r)]) continue;
      sharers.push_back(r);
      break;
    }
  }
}

// How many more domains the shard would lie in.
double gain(const Board& board, const Trial& trial, const Cost& cost) {
  const Problem& problem = board.problem;
  const Trial::Step& step = trial.steps().front();
  const std::uint32_t group = problem.replica_group[step.replica];
  const Family& family = problem.families[problem.group_family[group]];
  if (!family.spread_hard) return -cost.tiers[Cost::spread];
  const auto& domain = problem.partitions[family.partition].domain;
  for (const std::uint32_t node : board.state->row(group)) {
    if (node != none && node != step.from && domain[node] == domain[step.to]) return 0;
  }
  return 1;
}

}  // namespace

void spread_out(Board& board) {
  Finder finder(board);
  Trial trial(*board.state);
  std::vector<std::uint32_t> sharers;
  for (std::uint32_t group = 0; group < board.problem.groups(); ++group) {
    if (!board.movable(group) || !board.crowded(group)) continue;
    find_sharers(board, group, sharers);
    board.unsettled = true;
    std::uint32_t best = none;
    Finder::Choice best_choice;
    bool barred = false;  // one could go, if it were allowed now
    for (const std::uint32_t r : sharers) {
      if (!board.may_go(r) || (board.is_recent(r) && !board.problem.families[board.problem.group_family[group]].spread_hard))
        continue;
      if (board.node(board.state->at(r)).status == NodeStatus::cordoned || board.standing(r) != Standing::fine) continue;
      const Finder::Choice choice = finder.best(r);
      const Finder::Choice& other = finder.barred();
      barred = barred || (other.node != none && gain(board, trial.shift(r, other.node), other.cost) > 0);
      if (choice.node == none || gain(board, trial.shift(r, choice.node), choice.cost) <= 0) continue;
      if (best == none || choice.cost < best_choice.cost) best = r, best_choice = choice;
    }
    if (best == none) {
      if (barred) board.flags[group].fresh ? void(board.cut_short = true) : board.wait(group, Wait::spread);
      continue;
    }
    board.move(trial.shift(best, best_choice.node), MoveReason::spread);
    if (board.out_of_budget()) return;
  }
}

}  // namespace evenkeel::place::detail
