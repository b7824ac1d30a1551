// What goes somewhere in any case is searched over once more: replicas that are placed for the first time, or must leave their nodes. Greedy
// steps find each of them the best node of the moment; which of them would rather have had another's is only seen once all have one. The
// general search (engine.h) changes and exchanges their destinations, beginning cool, from what is there.
//
// Nobody else moves, and nothing moves that would not have moved anyway. So it costs no moves, and it saves those that balancing would
// otherwise need to put right what greedy steps left beyond the tolerance.
//
// Cost: some hundred changes for each such replica, and some millions at most; nothing where all is level already.

#include <algorithm>
#include <vector>

#include "evenkeel/place/detail/finder.h"
#include "evenkeel/place/detail/stages.h"

namespace evenkeel::place::detail {
namespace {

// How much is tried, and what for: nothing if the fullest of their nodes is no further above its fair share than `enough`, as a part of it.
struct Effort {
  double enough;
  std::uint64_t each;  // changes for each replica
  std::uint64_t most;  // for all of them
};
// With fewer changes than that for each nothing is found. And a search looks at every replica there is before it begins, which costs about as
// much as one change does for so many of them: that is to be less than a good part of it.
constexpr std::uint64_t each_least = 8, replicas_a_change = 64;
// Greedy steps look at the fullest node first, and level a great many new replicas as well as this would, and quicker.
constexpr Effort for_fresh{.enough = 1e-3, .each = 400, .most = 10'000'000};
constexpr std::uint64_t fresh_most = for_fresh.most / for_fresh.each;
constexpr std::uint64_t movers_each = 100, movers_most = 2'000'000;

bool has_pins(const Board& board, std::uint32_t group) {
  const Pins& pins = board.workload_of(group).pinned;
  return std::ranges::binary_search(pins.shards, ShardIndex(board.group_shard[group]));
}

// It has left a node that it must leave, or is one more than the shard had; and no pin says where it goes.
bool must_move(const Board& board, std::uint32_t replica) {
  const std::uint32_t at = board.state->at(replica), home = board.state->home(replica);
  if (at == none || at == home) return false;
  const std::uint32_t group = board.problem.replica_group[replica];
  if (board.flags[group].fresh || !board.may_leave(replica) || has_pins(board, group)) return false;
  return home == none || board.standing(group, home) != Standing::fine;
}

// For room: then destinations stay as they are, for he counts on what they leave free.
bool somebody_waits(const Board& board) { return !board.homeless.empty() || !board.hopeful.empty(); }

// The fullest of these nodes above its fair share, as a part of it, in any dimension.
double highest(const Board& board, const std::vector<std::uint8_t>& among) {
  const Problem& problem = board.problem;
  const std::vector<double> fair = fair_levels(board);
  double highest = -1;
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    for (std::size_t d = 0; d < fair.size() && among[n] != 0 && board.takes_part[n] != 0; ++d) {
      const double share = problem.share[n * fair.size() + d] * fair[d];
      if (share > 0) highest = std::max(highest, static_cast<double>(board.state->usage(n)[d]) / share - 1);
    }
  }
  return highest;
}

// Replicas that are all alike are dealt out evenly by greedy steps: whoever has another's place changes nothing.
bool all_alike(const Board& board, const std::vector<std::uint32_t>& replicas) {
  const auto load = [&](std::uint32_t r) { return board.problem.load(board.problem.replica_load[r]); };
  return std::ranges::all_of(replicas, [&](std::uint32_t r) { return std::ranges::equal(load(r), load(replicas.front())); });
}

// Whether one of these nodes is above a soft limit. What all of them are above it together outweighs how level they are, so that the search would rather have
// one node far above than two a little, and nothing that comes later mends that.
bool above_soft(const Board& board, const std::vector<std::uint8_t>& among) {
  const Problem& problem = board.problem;
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    for (std::size_t d = 0; d < problem.width() && among[n] != 0; ++d)
      if (problem.dimensions[d].soft_weight > 0 && board.state->usage(n)[d] > problem.soft[n * problem.width() + d]) return true;
  }
  return false;
}

void search(Board& board, const std::vector<std::uint32_t>& replicas, const Effort& effort) {
  if (replicas.empty() || all_alike(board, replicas) || board.out_of_budget()) return;
  State& state = *board.state;
  // Others they leave as they are, however full.
  std::vector<std::uint8_t> theirs(board.problem.nodes);
  for (const std::uint32_t replica : replicas) theirs[state.at(replica)] = 1;
  const double before = highest(board, theirs);
  if (before <= effort.enough) return;
  ImproveOptions options{.manner = Manner::fine};
  if (board.options.stop) options.stop = [&board] { return board.told_to_stop(); };
  options.movable.resize(board.problem.replicas());
  std::vector<std::uint32_t> places;
  for (const std::uint32_t replica : replicas) {
    options.movable[replica] = 1;
    places.push_back(state.at(replica));
  }
  options.budget = std::min(effort.each * replicas.size(), effort.most);
  // Limits, spread and balance are still to come.
  if (board.budget != 0)
    options.budget = std::min(options.budget, std::max<std::uint64_t>(1, (board.budget - state.evaluated()) / 2));
  if (options.budget < each_least * replicas.size() || options.budget * replicas_a_change < board.problem.replicas()) return;
  Rng rng = Rng(board.options.seed).split("refine").split(board.round);
  improve(state, rng, options);
  for (const std::uint32_t replica : replicas) theirs[state.at(replica)] = 1;
  if (highest(board, theirs) <= before && !above_soft(board, theirs)) return;
  // More level as a whole, but less where it stood out most.
  Trial trial(state);
  for (std::size_t i = 0; i < replicas.size(); ++i)
    if (state.at(replicas[i]) != places[i]) state.apply(trial.shift(replicas[i], places[i]));
}

}  // namespace

void refine_fresh(Board& board) {
  if (somebody_waits(board)) return;
  const Problem& problem = board.problem;
  std::vector<std::uint32_t> fresh;
  for (const Span& span : board.spans) {
    if (span.fresh_count == 0) continue;
    const std::uint32_t end = problem.group_first[span.fresh_first + span.fresh_count];
    if (end - problem.group_first[span.fresh_first] + fresh.size() > fresh_most) return;
    for (std::uint32_t r = problem.group_first[span.fresh_first]; r < end; ++r)
      if (board.may_go(r)) fresh.push_back(r);
  }
  search(board, fresh, for_fresh);
  board.state->settle([&](std::uint32_t group) { return board.flags[group].fresh; });
}

void refine_movers(Board& board) {
  // How many come to and leave each node is not counted again here.
  if (somebody_waits(board) || board.cluster->settings.moves_per_node_max != 0) return;
  std::vector<std::uint32_t> movers;
  for (const auto& [replica, reason] : board.moved())
    if (must_move(board, replica)) movers.push_back(replica);
  std::ranges::sort(movers);
  movers.erase(std::ranges::unique(movers).begin(), movers.end());
  const double tolerance = static_cast<double>(board.cluster->settings.tolerance.millionths()) / 1e6;
  search(board, movers, {.enough = tolerance, .each = movers_each, .most = movers_most});
}

}  // namespace evenkeel::place::detail
