#include "evenkeel/place/detail/board.h"

#include <algorithm>
#include <numeric>

namespace evenkeel::place::detail {

bool Board::may_move_more(std::uint32_t count) const {
  const std::uint64_t most = cluster->settings.moves_max;
  return options.all || most == 0 || in_flight.size() + moves_planned + count <= most;
}

// Room that others leave in an earlier round is not for what is placed for the first time: it is there from the start.
bool Board::fits_from_the_start(std::uint32_t replica, std::uint32_t to) const {
  if (highest_.empty()) return true;
  const std::vector<Amount> load = carried(replica);
  for (std::size_t d = 0; d < load.size(); ++d) {
    const std::size_t cell = to * load.size() + d;
    if (load[d] > 0 && highest_[cell] + load[d] > problem.limit[cell]) return false;
  }
  return true;
}

std::vector<std::uint32_t> Board::troubled_groups() const {
  std::vector<std::uint32_t> groups = groups_on_troubled_nodes();
  const auto placed = static_cast<std::ptrdiff_t>(groups.size());
  for (const Bar& bar : problem.barred) {
    if (std::ranges::find(state->row(bar.group), bar.node) == state->row(bar.group).end()) continue;
    if (static_cast<std::ptrdiff_t>(groups.size()) == placed || groups.back() != bar.group) groups.push_back(bar.group);
  }
  std::inplace_merge(groups.begin(), groups.begin() + placed, groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

std::vector<std::uint32_t> Board::groups_on_troubled_nodes() const {
  std::vector<std::uint32_t> groups;
  if (all_may_stay) return groups;
  std::vector<std::uint8_t> troubled(problem.nodes);
  for (const std::vector<Standing>& standing : standing_by) {
    for (std::uint32_t n = 0; n < problem.nodes; ++n) {
      if (standing[n] != Standing::fine) troubled[n] = 1;
    }
  }
  const std::uint32_t* at = state->places().data();
  const std::uint8_t* leaves = troubled.data();
  for (std::uint32_t r = 0, end = problem.replicas(); r < end; ++r) {
    if (at[r] == none || leaves[at[r]] == 0) continue;
    if (const std::uint32_t group = problem.replica_group[r]; groups.empty() || groups.back() != group) groups.push_back(group);
  }
  return groups;
}

std::vector<Amount> Board::carried(std::uint32_t replica) const {
  const auto own = problem.load(problem.replica_load[replica]);
  std::vector<Amount> load(own.begin(), own.end());
  const std::uint32_t group = problem.replica_group[replica], lead = problem.group_lead[group];
  if (lead == none || state->leader(group) != replica) return load;
  for (std::size_t d = 0; d < load.size(); ++d) load[d] += problem.load(lead)[d];
  return load;
}

bool Board::may_move(std::uint32_t replica, std::uint32_t to) const {
  if (options.all && !flags[problem.replica_group[replica]].fresh) return true;
  const std::uint32_t at = state->at(replica), home = state->home(replica);
  if (flags[problem.replica_group[replica]].fresh) return to == none || fits_from_the_start(replica, to);
  if (to == home) return true;
  if (at == home && !may_move_more()) return false;
  const std::uint32_t most = cluster->settings.moves_per_node_max;
  if (most == 0) return true;
  if (at == home && home != none && !is_down(home) && node_moves[home] >= most) return false;
  return to == none || node_moves[to] < most;
}

bool Board::may_swap(std::uint32_t one, std::uint32_t other) const {
  const std::uint32_t a = state->at(one), b = state->at(other);
  if (options.all) return may_move(one, b) && may_move(other, a);
  std::uint32_t count = 0;  // what is placed for the first time does not count
  for (const std::uint32_t replica : {one, other}) count += flags[problem.replica_group[replica]].fresh ? 0 : 1;
  const std::uint32_t most = cluster->settings.moves_per_node_max;
  if (count > 0 && most > 0 && (node_moves[a] + count > most || node_moves[b] + count > most)) return false;
  return (count == 0 || may_move_more(count)) && may_move(one, b) && may_move(other, a);
}

void Board::move_from_the_start(const Trial::Step& step) {
  if (highest_.empty()) return;
  const std::vector<Amount> load = carried(step.replica);
  for (std::size_t d = 0; d < load.size(); ++d) {
    if (step.from != none) highest_[step.from * load.size() + d] -= load[d];
    if (step.to != none) highest_[step.to * load.size() + d] += load[d];
  }
}

void Board::move(const Trial& trial, MoveReason reason) {
  for (const Trial::Step& step : trial.steps()) {
    if (flags[problem.replica_group[step.replica]].fresh) {
      move_from_the_start(step);
      continue;
    }
    if (reason == MoveReason::room) flags[problem.replica_group[step.replica]].made_room = true;
    const std::uint32_t home = state->home(step.replica);
    if (step.from == home) {
      touched_.emplace_back(step.replica, reason);
      ++moves_planned;
      if (home != none && !is_down(home)) ++node_moves[home];
    } else if (step.from != none) {
      --node_moves[step.from];
    }
    if (step.to == home) {
      --moves_planned;
      if (home != none && !is_down(home)) --node_moves[home];
    } else if (step.to != none) {
      ++node_moves[step.to];
    }
  }
  state->apply(trial);
}

bool Board::remember_peaks() {
  if (std::ranges::none_of(spans, [](const Span& span) { return span.fresh_count > 0; })) return false;
  highest_.resize(problem.nodes * problem.width());
  // What is placed for the first time was moved about, but only its last place counts.
  const bool any = state->settle([&](std::uint32_t group) { return flags[group].fresh; });
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    for (std::size_t d = 0; d < problem.width(); ++d) {
      Amount& highest = highest_[n * problem.width() + d];
      highest = std::max(highest, state->peak(n)[d]);
    }
  }
  return any;
}

void Board::begin_round() {
  unsettled = false;
  if (waits) std::ranges::for_each(flags, [](GroupFlags& group) { group.waits = 0; });
  waits = false;
}

bool Board::end_round() {
  // In the order in which they were decided, since a shard's second move was decided on top of its first. One that left, came back and
  // left again is there twice: the first time does not count.
  std::vector<std::uint32_t> order(touched_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::pair(touched_[i].first, i); });
  std::vector<std::uint8_t> counts(touched_.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool last = i + 1 == order.size() || touched_[order[i + 1]].first != touched_[order[i]].first;
    counts[order[i]] = last ? 1 : 0;
  }
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const auto [replica, reason] = touched_[i];
    if (counts[i] == 0 || state->at(replica) == state->home(replica)) continue;
    moves.push_back({problem.replica_group[replica], state->home(replica), state->at(replica), reason, round});
  }
  for (const auto& [replica, reason] : touched_) flags[problem.replica_group[replica]].made_room = false;
  touched_.clear();
  count_net_moves();
  const bool fresh = remember_peaks();
  ++round;
  return state->settle() || fresh;
}

std::uint32_t Board::load_row(std::uint32_t workload, std::uint32_t shard) const {
  const std::vector<ShardIndex>& own = cluster->workloads[workload].shard_loads.shards;
  if (shard < own.size() && own[shard].value() == shard)
    return rows[workload].own_first + shard;  // usual: every shard has its own
  const auto found = std::ranges::lower_bound(own, ShardIndex(shard));
  if (found == own.end() || found->value() != shard) return rows[workload].base;
  return rows[workload].own_first + static_cast<std::uint32_t>(found - own.begin());
}

std::vector<std::uint32_t> Board::moved_groups() const {
  std::vector<std::uint32_t> groups;
  for (const PlannedMove& move : moves) groups.push_back(move.group);
  std::ranges::sort(groups);
  groups.erase(std::ranges::unique(groups).begin(), groups.end());
  return groups;
}

bool Board::arrives(std::uint32_t replica) const {
  const std::uint32_t group = problem.replica_group[replica], first = problem.group_first[group];
  const auto origins = std::span(problem.origin).subspan(first, problem.group_end(group) - first);
  return std::ranges::find(origins, state->at(replica)) == origins.end();
}

// What several rounds do to a shard becomes one move for each replica that ends elsewhere (order.cc): only those count in the limits.
void Board::count_net_moves() {
  const bool limited = cluster->settings.moves_max != 0 || cluster->settings.moves_per_node_max != 0;
  if (options.all || !limited || moves.empty() || moves.front().round == moves.back().round) return;
  moves_planned = 0;
  node_moves.assign(problem.nodes, 0);
  for (const Moving& moving : in_flight) {
    if (moving.from) ++node_moves[board_node[moving.from->value()]];
    if (moving.to) ++node_moves[board_node[moving.to->value()]];
  }
  for (const std::uint32_t group : moved_groups()) {
    const auto row = state->row(group);
    std::uint64_t left = 0, came = 0;
    for (std::uint32_t r = problem.group_first[group]; r < problem.group_end(group); ++r) {
      const std::uint32_t from = problem.origin[r], to = state->at(r);
      if (from != none && std::ranges::find(row, from) == row.end()) ++left, node_moves[from] += is_down(from) ? 0 : 1;
      if (to != none && arrives(r)) ++came, ++node_moves[to];
    }
    moves_planned += std::max(left, came);
  }
}

double Board::move_cost(std::uint32_t replica) const {
  const Workload& workload = workload_of(problem.replica_group[replica]);
  if (workload.move_cost) return workload.move_cost->to_double();
  if (disk >= resources) return 1;
  const Amount load = problem.load(problem.replica_load[replica])[disk];
  return load > 0 ? static_cast<double>(load) * disk_unit : 1;
}

bool Board::may_leave(std::uint32_t replica) const {
  const std::uint32_t group = problem.replica_group[replica];
  if (!movable(group) || pinned(replica) || flags[group].made_room) return false;
  // One that moves already may go elsewhere instead, as long as no rule about the others depends on the order.
  if (state->at(replica) != state->home(replica) && !problem.families[problem.group_family[group]].spread_hard) return true;
  for (std::uint32_t r = problem.group_first[group]; r < problem.group_end(group); ++r) {
    if (r != replica && state->at(r) != state->home(r)) return false;
  }
  return true;
}

bool Board::told_to_stop() {
  stopped_ = stopped_ || (options.stop && options.stop());
  cut_short = cut_short || stopped_;
  return stopped_;
}

bool Board::out_of_budget() {
  if (stopped_) return true;
  if (budget != 0 && state->evaluated() >= budget) stopped_ = true;
  constexpr std::uint64_t asks = 64;  // calls, each of which stands for some changes looked at
  if (options.stop && ++asked_ % asks == 0 && options.stop()) stopped_ = true;
  cut_short = cut_short || stopped_;
  return stopped_;
}

}  // namespace evenkeel::place::detail
