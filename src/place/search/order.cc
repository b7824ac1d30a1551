// The order of moves: what several rounds have done to a shard becomes the fewest moves that lead to the same nodes, in steps in which
// every limit holds although all arrive before any leaves. Where no such steps are found, the rounds stay as they were: they are safe.

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "evenkeel/place/detail/stages.h"

namespace evenkeel::place::detail {
namespace {

std::vector<std::uint32_t> moved_groups(const Board& board) {
  std::vector<std::uint32_t> groups;
  for (const PlannedMove& move : board.moves) groups.push_back(move.group);
  std::ranges::sort(groups);
  groups.erase(std::ranges::unique(groups).begin(), groups.end());
  return groups;
}

// Whoever can stay where it was does; the others go where they went, or take what nodes are left, in order.
std::vector<std::uint32_t> fewest_moves(const Board& board, std::uint32_t group) {
  const Problem& problem = board.problem;
  std::vector<std::uint32_t> ends;
  for (const std::uint32_t node : board.state->row(group)) {
    if (node != none) ends.push_back(node);
  }
  std::vector<std::uint32_t> row(board.state->row(group).size(), none);
  for (std::size_t slot = 0; slot < row.size(); ++slot) {
    const auto found = std::ranges::find(ends, problem.origin[problem.group_first[group] + slot]);
    if (found != ends.end()) row[slot] = *found, ends.erase(found);
  }
  for (std::size_t slot = 0; slot < row.size(); ++slot) {
    const auto found = std::ranges::find(ends, board.state->row(group)[slot]);
    if (row[slot] == none && found != ends.end()) row[slot] = *found, ends.erase(found);
  }
  auto next = ends.begin();
  for (const bool had_home : {true, false}) {
    for (std::size_t slot = 0; slot < row.size() && next != ends.end(); ++slot) {
      const bool home = problem.origin[problem.group_first[group] + slot] != none;
      if (row[slot] == none && home == had_home) row[slot] = *next++;
    }
  }
  return row;
}

// The reason of the shard's move that was most like it; one that grew or shrank is like none that goes from somewhere to somewhere.
MoveReason reason_of(const Board& board, std::span<const PlannedMove> of_shard, const PlannedMove& net) {
  if (net.to == none) return MoveReason::shrink;
  if (net.from == none) return MoveReason::grow;
  const Standing standing = board.standing_by[board.problem.families[board.problem.group_family[net.group]].able][net.from];
  if (standing == Standing::down) return MoveReason::repair;
  if (standing == Standing::draining) return MoveReason::drain;
  MoveReason reason = standing == Standing::unable ? MoveReason::rules : MoveReason::balance;
  int best = -1;
  for (const PlannedMove& move : of_shard) {
    if (move.to == none || move.from == none) continue;
    const int likeness = (move.from == net.from ? 2 : 0) + (move.to == net.to ? 1 : 0);
    if (likeness > best) reason = move.reason, best = likeness;
  }
  return reason;
}

struct Pending {
  std::uint32_t replica;
  PlannedMove move;
};

// Leadership passes as soon as its new holder is where it will be.
void pass_leads(const Board& board, State& state, Trial& trial, std::vector<std::uint32_t>& groups) {
  std::erase_if(groups, [&](std::uint32_t group) {
    const std::uint32_t leader = board.state->leader(group);
    if (state.at(leader) != board.state->at(leader) || !state.allowed(trial.lead(group, leader))) return false;
    state.apply(trial);
    return true;
  });
  state.settle();
}

std::vector<std::uint32_t> groups_that_change_leaders(const Board& board, const State& start) {
  std::vector<std::uint32_t> groups;
  for (std::uint32_t group = 0; group < board.problem.groups(); ++group) {
    const std::uint32_t leader = board.state->leader(group);
    if (leader != none && leader != start.leader(group)) groups.push_back(group);
  }
  return groups;
}

// Steps in which all these moves can be done from the start; nothing if some cannot.
std::optional<std::vector<PlannedMove>> in_steps(const Board& board, std::vector<Pending> pending) {
  State state(board.problem);
  Trial trial(state);
  std::vector<PlannedMove> moves;
  std::vector<std::uint32_t> leads = groups_that_change_leaders(board, state);
  for (std::uint32_t step = 1; !pending.empty(); ++step) {
    pass_leads(board, state, trial, leads);
    std::vector<Pending> later;
    std::set<std::uint32_t> busy;  // shards with a move in this step
    for (const Pending& one : pending) {
      if (busy.contains(one.move.group) || !state.allowed(trial.shift(one.replica, one.move.to))) {
        later.push_back(one);
        continue;
      }
      state.apply(trial);
      busy.insert(one.move.group);
      moves.push_back(one.move);
      moves.back().round = step;
    }
    if (later.size() == pending.size()) return std::nullopt;
    pending = std::move(later);
    state.settle();
  }
  return moves;
}

}  // namespace

void order(Board& board) {
  if (board.moves.empty() || board.moves.front().round == board.moves.back().round) return;
  // What is placed for the first time is where it ends from the start.
  for (const Span& span : board.spans) {
    const std::uint32_t first = board.problem.group_first[span.fresh_first];
    const std::uint32_t end = board.problem.group_first[span.fresh_first + span.fresh_count];
    for (std::uint32_t r = first; r < end; ++r) board.problem.origin[r] = board.state->at(r);
    for (std::uint32_t group = span.fresh_first; group < span.fresh_first + span.fresh_count; ++group) {
      const std::uint32_t leader = board.state->leader(group);
      board.problem.origin_leader[group] = leader == none ? none : board.state->at(leader);
    }
  }
  std::vector<PlannedMove> by_shard = board.moves;
  std::ranges::stable_sort(by_shard, {}, &PlannedMove::group);
  std::vector<Pending> pending;
  for (const std::uint32_t group : moved_groups(board)) {
    const auto of_shard = std::ranges::equal_range(by_shard, group, {}, &PlannedMove::group);
    board.state->reorder(group, fewest_moves(board, group));
    const std::uint32_t first = board.problem.group_first[group];
    for (std::uint32_t r = first; r < board.problem.group_end(group); ++r) {
      if (board.problem.origin[r] == board.state->at(r)) continue;
      PlannedMove net{group, board.problem.origin[r], board.state->at(r), MoveReason::balance, 1};
      net.reason = reason_of(board, of_shard, net);
      pending.push_back({r, net});
    }
  }
  // What must leave goes first; if that leads nowhere, then in the order in which the rounds came to each shard's last move.
  std::ranges::stable_sort(pending, {}, [](const Pending& one) { return one.move.reason; });
  if (auto moves = in_steps(board, pending)) {
    board.moves = *std::move(moves);
    return;
  }
  std::map<std::uint32_t, std::uint32_t> last_round;
  for (const PlannedMove& move : board.moves) last_round[move.group] = move.round;
  std::ranges::stable_sort(pending, {}, [&](const Pending& one) { return last_round[one.move.group]; });
  if (auto moves = in_steps(board, std::move(pending))) board.moves = *std::move(moves);
}

}  // namespace evenkeel::place::detail
