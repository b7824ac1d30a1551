#include "evenkeel/place/detail/finder.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "evenkeel/base/hash.h"

namespace evenkeel::place::detail {

std::vector<double> fair_levels(const Board& board) {
  const Problem& problem = board.problem;
  std::vector<double> fair(problem.width());
  for (std::size_t d = 0; d < problem.width(); ++d) {
    if (problem.dimensions[d].level_weight <= 0) continue;
    double usage = 0, share = 0;
    for (std::uint32_t n = 0; n < problem.nodes; ++n) {
      if (problem.share[n * problem.width() + d] <= 0) continue;
      usage += static_cast<double>(board.state->usage(n)[d]);
      share += problem.share[n * problem.width() + d];
    }
    fair[d] = share > 0 ? usage / share : 0;
  }
  return fair;
}

// How full a node would be with a replica of some size on top, where it would be fullest: so that among nodes that are about equally
// full the large ones come first.
double Finder::level(std::uint32_t node) const {
  const Problem& problem = board_.problem;
  double highest = -1;
  for (std::size_t d = 0; d < problem.width(); ++d) {
    const double share = problem.share[node * problem.width() + d];
    if (fair_[d] <= 0 || share <= 0) continue;
    highest = std::max(highest, (static_cast<double>(board_.state->usage(node)[d]) + some_[d]) / (share * fair_[d]) - 1);
  }
  return highest;
}

void Finder::refresh() {
  const Problem& problem = board_.problem;
  fair_ = fair_levels(board_);
  constexpr double several = 4;  // mean replicas
  some_.assign(fair_.size(), 0);
  for (std::size_t d = 0; d < fair_.size(); ++d) {
    for (std::uint32_t n = 0; n < problem.nodes; ++n) some_[d] += fair_[d] * problem.share[n * fair_.size() + d];
    some_[d] *= several / std::max(1.0, static_cast<double>(problem.replicas()));
  }
  order_.resize(problem.nodes);
  std::iota(order_.begin(), order_.end(), 0);
  std::vector<std::tuple<bool, double, std::uint64_t>> keys(order_.size());
  for (std::uint32_t n = 0; n < order_.size(); ++n) keys[n] = {board_.takes_part[n] == 0, level(n), board_.salt[n]};
  std::ranges::sort(order_, {}, [&](std::uint32_t n) { return std::pair(keys[n], n); });
  uses_ = 0;
}

const std::vector<std::uint32_t>& Finder::by_level() {
  // Sorting costs as much as a few hundred looks per node in the list; after so many placements it has changed enough to be worth it.
  if (order_.empty() || uses_ > order_.size() / 8) refresh();
  return order_;
}

Finder::Asked Finder::ask(std::uint32_t replica) const {
  const Problem& problem = board_.problem;
  return {replica, board_.state->at(replica), board_.able(problem.replica_group[replica]).data(),
          problem.load(problem.replica_load[replica])};
}

// Whether every rule allows it there; if so, the trial is that move. Room is asked before anything else is worked out: in a full cluster
// it is the answer for most nodes.
bool Finder::fits(const Asked& asked, std::uint32_t node) {
  if (asked.able[node] == 0 || node == asked.at) return false;
  const Amount* peak = board_.state->peak(node).data();
  const Amount* limit = board_.problem.limit.data() + node * asked.load.size();
  for (std::size_t d = 0; d < asked.load.size(); ++d) {
    if (asked.load[d] > 0 && peak[d] + asked.load[d] > limit[d]) return false;
  }
  return board_.state->allowed(trial_.shift(asked.replica, node));
}

bool Finder::could_go(std::uint32_t replica) {
  const Asked asked = ask(replica);
  return std::ranges::any_of(by_level(), [&](std::uint32_t node) { return fits(asked, node); });
}

const Finder::Open& Finder::open_domains(std::uint32_t family) {
  const Problem& problem = board_.problem;
  open_.resize(problem.families.size());
  Open& open = open_[family];
  if (!open.by_domain.empty()) return open;
  const Partition& partition = problem.partitions[problem.families[family].partition];
  open.by_domain.resize(partition.domains);
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    if (problem.able[problem.families[family].able][n] != 0) open.by_domain[partition.domain[n]] = 1;
  }
  open.count = static_cast<std::size_t>(std::ranges::count(open.by_domain, 1));
  return open;
}

// The domains that the shard's other replicas are in; in small clusters every node is asked anyway. False: no other has a node for it.
bool Finder::find_taken(std::uint32_t replica) {
  const Problem& problem = board_.problem;
  const std::uint32_t group = problem.replica_group[replica], family = problem.group_family[group];
  taken_.clear();
  if (problem.families[family].partition == none || problem.nodes <= few) return true;
  const Open& open = open_domains(family);
  domain_ = problem.partitions[problem.families[family].partition].domain.data();
  for (std::uint32_t r = problem.group_first[group]; r < problem.group_end(group); ++r) {
    const std::uint32_t at = r == replica ? none : board_.state->at(r);
    if (at != none && open.by_domain[domain_[at]] != 0 && std::ranges::find(taken_, domain_[at]) == taken_.end())
      taken_.push_back(domain_[at]);
  }
  return taken_.size() < open.count;
}

Finder::Choice Finder::best(std::uint32_t replica) {
  (void)by_level();
  ++uses_;
  barred_ = {};
  // Whatever else speaks for a node, spread comes first. Nodes of domains that are taken are often the emptiest: where a zone is lost and
  // the others are not alike, thousands of them would be asked before the first of another domain.
  Choice best;
  if (find_taken(replica)) best = best_of(replica, false);
  if (best.node == none && !taken_.empty()) best = best_of(replica, true);
  return best;
}

// Of the nodes in domains that are taken, or of the others.
Finder::Choice Finder::best_of(std::uint32_t replica, bool taken) {
  const std::uint32_t group = board_.problem.replica_group[replica];
  Choice best;
  std::uint64_t best_tie = 0;
  std::size_t good = 0;
  const Asked asked = ask(replica);
  for (const std::uint32_t node : order_) {
    if (!taken_.empty() && (std::ranges::find(taken_, domain_[node]) != taken_.end()) != taken) continue;
    if (!fits(asked, node)) continue;
    const Cost cost = board_.state->delta(trial_);
    if (!board_.may_move(replica, node)) {
      if (barred_.node == none || cost < barred_.cost) barred_ = {node, cost};
      continue;
    }
    const std::uint64_t tie = mix64(board_.salt[node], group);
    if (best.node == none || std::pair(cost, tie) < std::pair(best.cost, best_tie)) best = {node, cost}, best_tie = tie;
    // Those that neither spread nor affinity minds are good; the emptiest of them are enough. To spread, domains that are taken are alike.
    if ((taken || cost.tiers[Cost::spread] <= 0) && cost.tiers[Cost::affinity] <= 0 && ++good >= enough && order_.size() > few)
      break;
  }
  return best;
}

}  // namespace evenkeel::place::detail
