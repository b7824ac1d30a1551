// Repair: what is on nodes that are down, draining or no longer able, or that it is barred from, goes elsewhere; and nothing else moves.

#include <algorithm>

#include "evenkeel/place/detail/finder.h"
#include "evenkeel/place/detail/room.h"
#include "evenkeel/place/detail/stages.h"

namespace evenkeel::place::detail {
namespace {

struct Leaver {
  std::uint32_t replica;
  Standing standing;
  std::uint32_t alive;  // replicas of its shard that are not down
  Amount measure;
};

std::vector<Leaver> find_leavers(const Board& board) {
  const Problem& problem = board.problem;
  std::vector<Leaver> leavers;
  for (const std::uint32_t group : board.troubled_groups()) {
    if (!board.movable(group)) continue;
    const std::size_t before = leavers.size();
    std::uint32_t alive = 0;
    for (std::uint32_t r = problem.group_first[group]; r < problem.group_end(group); ++r) {
      if (board.state->at(r) == none) continue;
      const Standing standing = board.standing(r);
      alive += standing != Standing::down ? 1 : 0;
      if (standing != Standing::fine && !board.pinned(r))
        leavers.push_back({r, standing, 0, problem.measures[problem.replica_load[r]]});
    }
    for (std::size_t i = before; i < leavers.size(); ++i) leavers[i].alive = alive;
  }
  // Lost ones first, those of the shards with fewest left before others; large ones while there is room.
  std::ranges::sort(leavers, {}, [](const Leaver& leaver) {
    return std::tuple(leaver.standing, leaver.alive, -leaver.measure, leaver.replica);
  });
  return leavers;
}

// No node has room for it now: a chain of moves makes some, or would if it did not wait for a limit on moves, or it is refused.
void find_room(Board& board, Finder& finder, std::uint32_t replica, Wait what) {
  constexpr std::size_t refused_most = 100;  // once so many found no room, chains are not tried any more
  switch (board.homeless.size() < refused_most ? make_room(board, finder, replica) : Room::none) {
    case Room::made:
      return board.hopeful.push_back(replica);
    case Room::waits:
      return board.wait(board.problem.replica_group[replica], what);
    case Room::none:
      return board.homeless.push_back(replica);
  }
}

// Where it goes in this round. None: it waits, or finds room in a later one, or is refused.
std::uint32_t find_home(Board& board, Finder& finder, std::uint32_t replica, bool may, Wait what) {
  const std::uint32_t node = may ? finder.best(replica).node : none;
  if (node != none) return node;
  if (may ? finder.barred().node != none : finder.could_go(replica))
    board.wait(board.problem.replica_group[replica], what);
  else
    find_room(board, finder, replica, what);
  return none;
}

// A replica that should be on a node and is not: the one that costs least to send there.
void fetch_pinned(Board& board, Trial& trial, std::uint32_t group, std::uint32_t node) {
  const Problem& problem = board.problem;
  const bool full = board.placed(group) >= board.workload_of(group).replicas;
  std::uint32_t best = none;
  Cost best_cost;
  for (std::uint32_t r = problem.group_first[group]; r < problem.group_end(group); ++r) {
    const bool absent = board.state->at(r) == none;
    if ((absent && (full || board.state->home(r) != none)) || !board.may_leave(r)) continue;
    if (!board.state->allowed(trial.shift(r, node))) continue;
    if (!board.may_move(r, node)) {
      board.wait(group, Wait::pin);
      continue;
    }
    const Cost cost = board.state->delta(trial);
    // A missing replica is better added there than another one moved.
    const bool better = best == none || (board.state->at(r) == none && board.state->at(best) != none) || cost < best_cost;
    if (better) best = r, best_cost = cost;
  }
  if (best == none) return;
  board.unsettled = true;
  const bool grows = board.state->at(best) == none;
  board.move(trial.shift(best, node), grows ? MoveReason::grow : MoveReason::rules);
  keep_leader(board, best);
}

void keep_pins(Board& board) {
  Trial trial(*board.state);
  for (std::uint32_t w = 0; w < board.cluster->workloads.size(); ++w) {
    const Pins& pins = board.cluster->workloads[w].pinned;
    for (std::size_t i = 0; i < pins.shards.size(); ++i) {
      if (pins.shards[i].value() >= board.spans[w].count) continue;
      const std::uint32_t group = board.spans[w].first + pins.shards[i].value();
      if (!board.movable(group)) continue;
      for (const NodeIndex pinned : pins.nodes[i]) {
        const std::uint32_t node = board.board_node[pinned.value()];
        if (std::ranges::find(board.state->row(group), node) == board.state->row(group).end())
          fetch_pinned(board, trial, group, node);
      }
    }
  }
}

// Pinned ones stay, and so does the last one alive: then a pinned one that is lost goes, for there is nothing left to keep there.
bool may_drop(const Board& board, std::uint32_t replica) {
  const auto is_alive = [&](std::uint32_t node) { return node != none && !board.is_down(node); };
  const auto alive = std::ranges::count_if(board.state->row(board.problem.replica_group[replica]), is_alive);
  return is_alive(board.state->at(replica)) ? alive > 1 && !board.pinned(replica) : alive == 1 || !board.pinned(replica);
}

}  // namespace

MoveReason reason_of(Standing standing) {
  switch (standing) {
    case Standing::down:
      return MoveReason::repair;
    case Standing::draining:
      return MoveReason::drain;
    case Standing::unable:
    case Standing::barred:
    case Standing::fine:
      break;
  }
  return MoveReason::rules;
}

void repair(Board& board) {
  Finder finder(board);
  Trial trial(*board.state);
  const std::vector<Leaver> leavers = find_leavers(board);
  for (const Leaver& leaver : leavers) {
    const bool may = board.may_move(leaver.replica, none);
    const std::uint32_t node = find_home(board, finder, leaver.replica, may, Wait::leave);
    if (node != none) board.move(trial.shift(leaver.replica, node), reason_of(leaver.standing));
  }
  for (const Leaver& leaver : leavers) keep_leader(board, leaver.replica);
  keep_pins(board);
}

void grow(Board& board) {
  const Problem& problem = board.problem;
  Finder finder(board);
  Trial trial(*board.state);
  for (std::uint32_t w = 0; w < board.spans.size(); ++w) {
    const std::uint32_t wanted = board.cluster->workloads[w].replicas;
    for (std::uint32_t group = board.spans[w].first; group < board.spans[w].first + board.spans[w].count; ++group) {
      if (!board.movable(group)) continue;
      const std::uint32_t placed = board.placed(group);
      if (placed >= wanted) continue;
      std::uint32_t missing = wanted - placed;
      for (std::uint32_t r = problem.group_first[group]; r < problem.group_end(group) && missing > 0; ++r) {
        if (board.state->at(r) != none || board.state->home(r) != none) continue;
        --missing;
        const std::uint32_t node = find_home(board, finder, r, board.may_move_more(), Wait::count);
        if (node == none) continue;
        board.move(trial.shift(r, node), MoveReason::grow);
        if (board.state->leader(group) == none) board.state->apply(trial.lead(group, r));
      }
    }
  }
}

// The worst placed go: those that must leave anyway, then those whose absence costs least; never the leader or a pinned one if another
// can go.
void shrink(Board& board) {
  const Problem& problem = board.problem;
  Trial trial(*board.state);
  for (std::uint32_t w = 0; w < board.spans.size(); ++w) {
    const std::uint32_t wanted = board.cluster->workloads[w].replicas;
    for (std::uint32_t group = board.spans[w].first; group < board.spans[w].first + board.spans[w].count; ++group) {
      if (problem.group_end(group) - problem.group_first[group] <= wanted || !board.movable(group)) continue;
      std::uint32_t placed = board.placed(group);
      for (; placed > wanted; --placed) {
        std::uint32_t worst = none;
        std::tuple<bool, bool, Cost> worst_key;
        for (std::uint32_t r = problem.group_first[group]; r < problem.group_end(group); ++r) {
          if (board.state->at(r) == none || !may_drop(board, r)) continue;
          const std::tuple key(board.standing(r) == Standing::fine, board.state->leader(group) == r,
                               board.state->delta(trial.shift(r, none)));
          if (worst == none || key < worst_key) worst = r, worst_key = key;
        }
        board.unsettled = true;
        if (worst == none) break;
        if (!board.may_move(worst, none)) {
          board.wait(group, Wait::count);
          break;
        }
        if (board.state->leader(group) == worst) pass_leadership(board, group, worst, true);
        board.move(trial.shift(worst, none), MoveReason::shrink);
      }
    }
  }
}

}  // namespace evenkeel::place::detail
