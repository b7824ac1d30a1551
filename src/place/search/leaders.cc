// Leadership: away from nodes that may not lead, and level over those that may.

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

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
  // Of so many the best is passed on. All of them each time would be better by little, and slow where a node leads many thousands.
  static constexpr std::size_t groups_at_once = 256;

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

  std::size_t led(std::uint32_t node) {
    if (groups_.empty()) list();
    return groups_[node].size();
  }

  // The next few of the groups that a node leads, round and round.
  std::span<const std::uint32_t> some(std::uint32_t node) {
    const std::vector<std::uint32_t>& groups = groups_[node];
    const bool from_start = next_[node] >= groups.size() || groups.size() <= groups_at_once;
    const std::size_t first = from_start ? 0 : next_[node];
    const std::size_t count = std::min(groups.size() - first, groups_at_once);
    next_[node] = first + count;
    return std::span(groups).subspan(first, count);
  }

  void pass(std::uint32_t group, std::uint32_t from, std::uint32_t to) {
    total_[from] -= board_.problem.lead_measures[group];
    total_[to] += board_.problem.lead_measures[group];
    const std::uint32_t last = groups_[from].back();
    groups_[from][place_[group]] = last;
    place_[last] = place_[group];
    groups_[from].pop_back();
    add(group, to);
  }

 private:
  void list() {
    groups_.resize(board_.problem.nodes);
    next_.resize(board_.problem.nodes);
    place_.resize(board_.problem.groups());
    for (std::uint32_t group = 0; group < board_.problem.groups(); ++group) {
      if (const std::uint32_t leader = leader_node(board_, group); leader != none) add(group, leader);
    }
  }

  void add(std::uint32_t group, std::uint32_t node) {
    place_[group] = static_cast<std::uint32_t>(groups_[node].size());
    groups_[node].push_back(group);
  }

  const Board& board_;
  std::vector<Amount> total_;
  std::vector<std::vector<std::uint32_t>> groups_;  // by node, in no order that means anything
  std::vector<std::size_t> next_;                   // by node: where the next look at its groups begins
  std::vector<std::uint32_t> place_;                // by group: where it is among its node's
  double sum_ = 0;
};

struct Passing {
  std::uint32_t group = none;
  std::uint32_t replica = none;
  Cost cost;
};

// A change must be worth this part of what it moves.
constexpr double passing_worth = 1e-3;

// Load is more important than leadership: a change that makes load less level is none, however level it makes leaders. `dear` is the part
// of what it moves that load may become less level by.
bool improves(const Board& board, const Ledger& ledger, const Passing& passing, double dear) {
  const Cost& cost = passing.cost;
  for (const Cost::Tier tier : {Cost::spread, Cost::affinity, Cost::soft}) {
    if (cost.tiers[tier] != 0) return cost.tiers[tier] < 0;
  }
  const double part = ledger.part(passing.group);
  const bool heavier = board.problem.group_lead[passing.group] != none && cost.tiers[Cost::level] > dear * part;
  return !heavier && cost.tiers[Cost::level] + cost.tiers[Cost::last] < -passing_worth * part * board.leader_weight;
}

// The best change of one of these groups' leaders, of those that `counts` says yes to.
template <class F>
Passing best_passing(Board& board, Trial& trial, std::span<const std::uint32_t> groups, const F& counts) {
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
      const Passing passing{group, r, state.delta(trial)};
      if (!counts(passing)) continue;
      if (best.group == none || std::tuple(passing.cost, group, r) < std::tuple(best.cost, best.group, best.replica))
        best = passing;
    }
  }
  return best;
}

Passing best_of_all(Board& board, Ledger& ledger, Trial& trial, std::uint32_t node) {
  const Passing best = best_passing(board, trial, ledger.some(node), [](const Passing&) { return true; });
  return best.group != none && improves(board, ledger, best, passing_worth) ? best : Passing{};
}

// Of a node that leads too many for one look. What a look sees depends on where it begins, which is elsewhere in the next run, and that
// must find at rest what this one leaves so: the node's leaders rest only if no change at all improves. Since many more do than if only
// the best of all is asked, load pays nothing for them.
Passing best_of_some(Board& board, Ledger& ledger, Trial& trial, std::uint32_t node) {
  const auto counts = [&](const Passing& passing) { return improves(board, ledger, passing, 0); };
  for (std::size_t seen = 0; seen < ledger.led(node) && !board.out_of_budget();) {
    const std::span<const std::uint32_t> groups = ledger.some(node);
    seen += groups.size();
    if (const Passing best = best_passing(board, trial, groups, counts); best.group != none) return best;
  }
  return {};
}

// None: the node's leaders rest.
Passing find_passing(Board& board, Ledger& ledger, Trial& trial, std::uint32_t node) {
  if (ledger.above(node) <= 0) return {};
  return ledger.led(node) <= Ledger::groups_at_once ? best_of_all(board, ledger, trial, node)
                                                    : best_of_some(board, ledger, trial, node);
}

void level(Board& board) {
  const double tolerance = static_cast<double>(board.cluster->settings.tolerance.millionths()) / 1e6;
  Ledger ledger(board);
  Trial trial(*board.state);
  std::set<std::tuple<double, std::uint64_t, std::uint32_t>> hot;  // the hottest last
  const auto key = [&](std::uint32_t n) { return std::tuple(ledger.above(n), board.salt[n], n); };
  for (std::uint32_t n = 0; n < board.problem.nodes; ++n) {
    if (ledger.above(n) > tolerance) hot.insert(key(n));
  }
  board.unsettled = board.unsettled || !hot.empty();
  while (!hot.empty() && !board.out_of_budget()) {
    const std::uint32_t node = std::get<2>(*hot.rbegin());
    const Passing best = find_passing(board, ledger, trial, node);
    hot.erase(key(node));
    if (best.group == none) continue;
    const std::uint32_t to = board.state->at(best.replica);
    const bool also = hot.erase(key(to)) > 0;
    ledger.pass(best.group, node, to);
    hot.insert(key(node));
    if (also) hot.insert(key(to));
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
