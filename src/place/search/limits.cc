// Nodes above a hard limit give replicas away until they are below, or nobody can take more.

#include <algorithm>

#include "evenkeel/place/detail/finder.h"
#include "evenkeel/place/detail/room.h"
#include "evenkeel/place/detail/stages.h"

namespace evenkeel::place::detail {
namespace {

// How far the node is above a limit, in parts of it, where it is furthest; nothing if it is not.
std::optional<std::size_t> worst_dimension(const Board& board, std::uint32_t node) {
  const Problem& problem = board.problem;
  std::optional<std::size_t> worst;
  double worst_part = 0;
  for (std::size_t d = 0; d < problem.width(); ++d) {
    const Amount limit = problem.limit[node * problem.width() + d];
    const Amount above = board.state->usage(node)[d] - limit;
    const double part = static_cast<double>(above) / static_cast<double>(std::max<Amount>(1, limit));
    if (above > 0 && (!worst || part > worst_part)) worst = d, worst_part = part;
  }
  return worst;
}

// The smallest replica that is enough alone, else the largest: so that few move. Those that took over from a lost leader come last.
std::vector<std::uint32_t> givers(Board& board, std::uint32_t node, std::size_t dimension) {
  const Problem& problem = board.problem;
  const Amount above = board.state->usage(node)[dimension] - problem.limit[node * problem.width() + dimension];
  std::vector<std::uint32_t> found;
  for (const std::uint32_t r : board.state->replicas_on(node)) {
    if (board.may_leave(r) && problem.load(problem.replica_load[r])[dimension] > 0) found.push_back(r);
  }
  std::ranges::sort(found, {}, [&](std::uint32_t r) {
    const Amount load = problem.load(problem.replica_load[r])[dimension];
    return std::tuple(board.took_over(r), load < above, load < above ? -load : load,
                      board.state->leader(problem.replica_group[r]) == r, r);
  });
  return found;
}

// Every shard that is part of what is too much waits.
void wait_all(Board& board, std::uint32_t node, std::size_t dimension) {
  for (const std::uint32_t r : board.state->replicas_on(node)) {
    if (board.carried(r)[dimension] > 0) board.wait(board.problem.replica_group[r], Wait::limit);
  }
}

bool relieve(Board& board, Finder& finder, Trial& trial, std::uint32_t node, std::size_t dimension) {
  bool waits = false;
  for (const std::uint32_t replica : givers(board, node, dimension)) {
    if (waits && !board.may_move_more()) break;
    if (!board.may_move(replica, none)) {
      waits = waits || finder.could_go(replica);
      continue;
    }
    const Finder::Choice choice = finder.best(replica);
    waits = waits || finder.barred().node != none;
    if (choice.node == none) continue;
    board.move(trial.shift(replica, choice.node), MoveReason::limit);
    keep_leader(board, replica);
    return true;
  }
  if (waits) wait_all(board, node, dimension);
  return false;
}

}  // namespace

void keep_limits(Board& board) {
  Finder finder(board);
  Trial trial(*board.state);
  for (std::uint32_t node = 0; node < board.problem.nodes; ++node) {
    if (board.node(node).status == NodeStatus::down || board.node(node).status == NodeStatus::draining) continue;
    board.unsettled = board.unsettled || worst_dimension(board, node);
    for (auto dimension = worst_dimension(board, node); dimension; dimension = worst_dimension(board, node)) {
      if (!relieve(board, finder, trial, node, *dimension)) break;
    }
  }
}

}  // namespace evenkeel::place::detail
