#include "evenkeel/place/detail/room.h"

#include <algorithm>

#include "evenkeel/place/detail/finder.h"

namespace evenkeel::place::detail {
namespace {

constexpr std::size_t nodes_max = 64;
constexpr std::size_t replicas_max = 64;  // looked at on each of them

// Whether the node's limits would hold with `less` gone from what will be there, and `more` added. Sources of moves in flight count: they
// do not end with this plan.
bool fits_later(const Board& board, std::uint32_t node, std::span<const Amount> less, std::span<const Amount> more) {
  const Problem& problem = board.problem;
  for (std::size_t d = 0; d < problem.width(); ++d) {
    const std::size_t cell = node * problem.width() + d;
    const Amount gone = less.empty() ? 0 : less[d];
    if (more[d] > 0 && board.state->usage(node)[d] + problem.base_held[cell] - gone + more[d] > problem.limit[cell]) return false;
  }
  return true;
}

// Only the limits stand between the replica and the node.
bool only_full(const Board& board, Trial& trial, std::uint32_t replica, std::uint32_t node) {
  if (board.able(board.problem.replica_group[replica])[node] == 0 || node == board.state->at(replica)) return false;
  trial.shift(replica, node);
  for (const auto& term : board.state->terms()) {
    if (term->name() != "limits" && !term->allows(*board.state, trial)) return false;
  }
  return true;
}

}  // namespace

Room make_room(Board& board, Finder& finder, std::uint32_t replica) {
  State& state = *board.state;
  Trial trial(state);
  const std::vector<Amount> load = board.carried(replica);
  std::uint32_t best = none, best_to = none;
  Cost best_cost;
  std::size_t looked = 0;
  const std::vector<std::uint32_t> nodes = finder.by_level();
  for (const std::uint32_t node : nodes) {
    if (!only_full(board, trial, replica, node)) continue;
    if (fits_later(board, node, {}, load)) return Room::made;  // what leaves in this round is enough
    if (++looked > nodes_max) break;
    std::vector<std::uint32_t> there(state.replicas_on(node).begin(), state.replicas_on(node).end());
    std::ranges::sort(there);
    std::size_t tried = 0;
    for (const std::uint32_t other : there) {
      // What this plan has moved already stays: room made by turns would never end.
      if (!board.may_go(other) || state.at(other) != board.problem.origin[other] || board.is_recent(other)) continue;
      if (!fits_later(board, node, board.problem.load(board.problem.replica_load[other]), load)) continue;
      if (++tried > replicas_max) break;
      if (!board.may_move_more(2)) {
        if (!board.may_move_more() && finder.could_go(other)) return Room::waits;
        continue;
      }
      const Finder::Choice choice = finder.best(other);
      if (choice.node == none || (best != none && !(choice.cost < best_cost))) continue;
      best = other, best_to = choice.node, best_cost = choice.cost;
    }
  }
  if (best == none) return Room::none;
  board.move(trial.shift(best, best_to), MoveReason::room);
  return Room::made;
}

bool pass_leadership(Board& board, std::uint32_t group, std::uint32_t except, bool must) {
  State& state = *board.state;
  Trial trial(state);
  const bool leader_may = except != none && state.at(except) != none && board.may_lead[state.at(except)] != 0;
  std::uint32_t best = none;
  std::tuple<bool, bool, bool, bool, Cost, std::uint32_t> best_key;
  for (std::uint32_t r = board.problem.group_first[group]; r < board.problem.group_end(group); ++r) {
    if (r == except || state.at(r) == none || board.is_down(state.at(r))) continue;
    trial.lead(group, r);
    const bool should_not = board.may_lead[state.at(r)] == 0, no_room = !state.allowed(trial);
    // Where the leader was lost, one that only arrives has nothing to lead with.
    const bool empty = board.lost_leader(group) && board.arrives(r);
    if (!must && (should_not || no_room || (empty && leader_may))) continue;
    const std::tuple key(should_not, no_room, empty, board.standing(r) != Standing::fine, state.delta(trial), r);
    if (best == none || key < best_key) best = r, best_key = key;
  }
  if (best == none) return false;
  state.apply(trial.lead(group, best));
  return true;
}

void keep_leader(Board& board, std::uint32_t replica) {
  if (board.took_over(replica) && board.arrives(replica))
    pass_leadership(board, board.problem.replica_group[replica], replica, false);
}

void keep_leaders(Board& board) {
  for (std::uint32_t group = 0; group < board.problem.groups(); ++group) {
    if (board.lost_leader(group) && board.state->leader(group) != none) keep_leader(board, board.state->leader(group));
  }
}

bool any_heir(const Board& board) {
  for (std::uint32_t group = 0; group < board.problem.groups(); ++group) {
    if (board.lost_leader(group) && board.state->leader(group) != none) return true;
  }
  return false;
}

}  // namespace evenkeel::place::detail
