// The order of moves: what several rounds have done to a shard becomes the fewest moves that lead to the same nodes, in steps in which
// every limit holds although all arrive before any leaves. Moves that no such step can hold are left out, and the report says so: the
// rounds' own moves would be safe, but take a replica to one place and then to another.

#include <algorithm>
#include <set>
#include <span>

#include "evenkeel/place/detail/stages.h"

namespace evenkeel::place::detail {
namespace {

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

struct PendingMove {
  std::uint32_t replica;
  PlannedMove move;
  MoveReason otherwise;  // than spread: its reason if it shares no domain when its turn comes
  MoveReason strongest;  // of its shard's moves
};

// The round and the reason of the shard's move that was most like it; one that grew or shrank is like none that goes from somewhere to
// somewhere.
PendingMove net_move(const Board& board, std::span<const PlannedMove> of_shard, std::uint32_t replica) {
  const std::uint32_t group = board.problem.replica_group[replica];
  const std::uint32_t from = board.problem.origin[replica], to = board.state->at(replica);
  PendingMove net{
      replica, {group, from, to, MoveReason::balance, of_shard.back().round}, MoveReason::balance, MoveReason::balance};
  int best = -1, best_otherwise = -1;
  for (const PlannedMove& move : of_shard) {
    if (move.to == none || move.from == none) continue;
    const int likeness = (move.from == from ? 2 : 0) + (move.to == to ? 1 : 0);
    if (likeness > best) net.move.reason = move.reason, net.move.round = move.round, best = likeness;
    if (move.reason != MoveReason::spread && likeness > best_otherwise) net.otherwise = move.reason, best_otherwise = likeness;
  }
  const Standing standing = from == none ? Standing::fine : board.standing(group, from);
  if (standing != Standing::fine) net.move.reason = reason_of(standing);
  if (from == none) net.move.reason = MoveReason::grow;
  if (to == none) net.move.reason = MoveReason::shrink;
  return net;
}

bool shares_domain(const State& state, std::uint32_t replica) {
  const Problem& problem = state.problem();
  const std::uint32_t group = problem.replica_group[replica];
  const auto& domain = problem.partitions[problem.families[problem.group_family[group]].partition].domain;
  return std::ranges::count_if(state.row(group),
                               [&](std::uint32_t node) { return node != none && domain[node] == domain[state.at(replica)]; }) > 1;
}

// Leadership passes as soon as its new holder is where it will be; where the leader is lost, whether or not there is room for it.
void pass_leads(const Board& board, State& state, Trial& trial, std::vector<std::uint32_t>& groups) {
  std::erase_if(groups, [&](std::uint32_t group) {
    const std::uint32_t leader = board.state->leader(group);
    if (state.at(leader) != board.state->at(leader)) return false;
    const std::uint32_t led = state.leader(group) == none ? none : state.at(state.leader(group));
    const bool lost = led != none && board.is_down(led);
    if (!state.allowed(trial.lead(group, leader)) && !lost) return false;
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

struct Ordered {
  std::vector<PlannedMove> moves;                                // in steps
  std::vector<PendingMove> left_out;                             // those that no step can hold
  std::vector<std::pair<std::uint32_t, std::uint32_t>> leaders;  // groups whose leadership could not pass, and who leads
};

// Steps in which these moves can be done from the start, as far as they can.
Ordered in_steps(const Board& board, std::vector<PendingMove> pending) {
  State state(board.problem);
  Trial trial(state);
  Ordered result;
  std::vector<std::uint32_t> leads = groups_that_change_leaders(board, state);
  pass_leads(board, state, trial, leads);
  for (std::uint32_t step = 1; !pending.empty(); ++step) {
    std::vector<PendingMove> later;
    std::set<std::uint32_t> busy;  // shards with a move in this step
    for (const PendingMove& one : pending) {
      if (busy.contains(one.move.group) || !state.allowed(trial.shift(one.replica, one.move.to))) {
        later.push_back(one);
        continue;
      }
      result.moves.push_back(one.move);
      result.moves.back().round = step;
      if (one.move.reason == MoveReason::spread && !shares_domain(state, one.replica)) result.moves.back().reason = one.otherwise;
      state.apply(trial);
      busy.insert(one.move.group);
    }
    const bool stuck = later.size() == pending.size();
    pending = std::move(later);
    if (stuck) break;
    state.settle();
    pass_leads(board, state, trial, leads);
  }
  for (const std::uint32_t group : leads) result.leaders.emplace_back(group, state.leader(group));
  result.left_out = std::move(pending);
  return result;
}

// What is left out stays where it was, and so does leadership that then could not pass.
void stay(Board& board, const Ordered& ordered) {
  State& state = *board.state;
  Trial trial(state);
  for (const PendingMove& one : ordered.left_out) {
    state.apply(trial.shift(one.replica, board.problem.origin[one.replica]));
    board.left_out.push_back(one.move.group);
  }
  for (const auto& [group, leader] : ordered.leaders) {
    if (leader != none && state.at(leader) != none && !board.is_down(state.at(leader))) state.apply(trial.lead(group, leader));
  }
  state.settle();
  std::ranges::sort(board.left_out);
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
  std::vector<PendingMove> pending;
  for (const std::uint32_t group : board.moved_groups()) {
    const auto of_shard = std::ranges::equal_range(by_shard, group, {}, &PlannedMove::group);
    board.state->reorder(group, fewest_moves(board, group));
    const std::size_t before = pending.size();
    MoveReason strongest = MoveReason::shrink;
    for (std::uint32_t r = board.problem.group_first[group]; r < board.problem.group_end(group); ++r) {
      if (board.problem.origin[r] == board.state->at(r)) continue;
      pending.push_back(net_move(board, of_shard, r));
      strongest = std::min(strongest, pending.back().move.reason);
    }
    for (PendingMove& one : std::span(pending).subspan(before)) one.strongest = strongest;
  }
  // Shards that must leave some node go first, each in the order of its rounds; if that leads nowhere, all in the order of rounds.
  std::ranges::stable_sort(pending, {}, [](const PendingMove& one) { return std::pair(one.strongest, one.move.round); });
  Ordered ordered = in_steps(board, pending);
  if (!ordered.left_out.empty()) {
    std::ranges::stable_sort(pending, {}, [](const PendingMove& one) { return one.move.round; });
    Ordered by_round = in_steps(board, std::move(pending));
    if (by_round.left_out.size() < ordered.left_out.size()) ordered = std::move(by_round);
  }
  board.moves = std::move(ordered.moves);
  if (!ordered.left_out.empty()) stay(board, ordered);
}

}  // namespace evenkeel::place::detail
