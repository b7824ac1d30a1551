#include "evenkeel/place/detail/levels.h"

#include <algorithm>

#include "evenkeel/place/detail/finder.h"

namespace evenkeel::place::detail {

Levels::Levels(const Board& board) : board_(board), fair_(fair_levels(board)), totals_(fair_.size()), key_(board.problem.nodes) {
  const Problem& problem = board.problem;
  for (std::size_t d = 0; d < fair_.size(); ++d) {
    for (std::uint32_t n = 0; n < problem.nodes; ++n) totals_[d] += fair_[d] * problem.share[n * problem.width() + d];
  }
  for (const Partition& partition : problem.partitions) domains_.emplace_back(partition.domains);
  for (std::uint32_t n = 0; n < problem.nodes; ++n) {
    if (board.takes_part[n] == 0) continue;
    key_[n] = highest(n);
    const Key key(key_[n], board.salt[n], n);
    order_.insert(key);
    for (std::size_t p = 0; p < domains_.size(); ++p) domains_[p][problem.partitions[p].domain[n]].insert(key);
  }
  has_families_ = std::ranges::any_of(problem.families, [](const Family& family) { return family.own_weight > 0; });
  if (has_families_) families_.reset(*board.state);
}

double Levels::highest(std::uint32_t node) const {
  const Problem& problem = board_.problem;
  double highest = -1;
  for (std::size_t d = 0; d < fair_.size(); ++d) {
    const double share = problem.share[node * fair_.size() + d];
    if (fair_[d] <= 0 || share <= 0) continue;
    highest = std::max(highest, static_cast<double>(board_.state->usage(node)[d]) / (share * fair_[d]) - 1);
  }
  return highest;
}

std::size_t Levels::fullest_dimension(std::uint32_t node) const {
  std::size_t fullest = 0;
  double highest = -2;
  for (std::size_t d = 0; d < fair_.size(); ++d) {
    const double share = board_.problem.share[node * fair_.size() + d];
    if (fair_[d] <= 0 || share <= 0) continue;
    const double level = above_fair(node, d) / (share * fair_[d]);
    if (level > highest) highest = level, fullest = d;
  }
  return fullest;
}

double Levels::above_fair(std::uint32_t node, std::size_t dimension) const {
  const double share = board_.problem.share[node * fair_.size() + dimension];
  return static_cast<double>(board_.state->usage(node)[dimension]) - share * fair_[dimension];
}

double Levels::lowest(std::uint32_t node) const {
  const Problem& problem = board_.problem;
  double lowest = 0;
  for (std::size_t d = 0; d < fair_.size(); ++d) {
    const double share = problem.share[node * fair_.size() + d];
    if (fair_[d] <= 0 || share <= 0) continue;
    lowest = std::min(lowest, static_cast<double>(board_.state->usage(node)[d]) / (share * fair_[d]) - 1);
  }
  return lowest;
}

double Levels::above_soft(std::uint32_t node) const {
  const Problem& problem = board_.problem;
  double above = -1;
  for (std::size_t d = 0; d < board_.resources; ++d) {
    const auto soft = static_cast<double>(std::max<Amount>(1, problem.soft[node * fair_.size() + d]));
    above = std::max(above, static_cast<double>(board_.state->usage(node)[d]) / soft - 1);
  }
  return above;
}

void Levels::take(const std::set<Key>& from, std::uint32_t node, std::size_t most, bool fullest,
                  std::vector<std::uint32_t>& found) const {
  const auto add = [&](const Key& key) {
    const std::uint32_t n = std::get<2>(key);
    if (n != node && std::ranges::find(found, n) == found.end()) found.push_back(n), --most;
    return most > 0;
  };
  if (fullest) {
    for (auto it = from.rbegin(); it != from.rend() && add(*it); ++it) {
    }
  } else {
    for (auto it = from.begin(); it != from.end() && add(*it); ++it) {
    }
  }
}

void Levels::emptiest(std::uint32_t node, std::size_t most, std::vector<std::uint32_t>& found) const {
  found.clear();
  take(order_, node, most, false, found);
  for (std::size_t p = 0; p < domains_.size(); ++p)
    take(domains_[p][board_.problem.partitions[p].domain[node]], node, most, false, found);
}

void Levels::fullest(std::uint32_t node, std::size_t most, std::vector<std::uint32_t>& found) const {
  found.clear();
  take(order_, node, most, true, found);
  for (std::size_t p = 0; p < domains_.size(); ++p)
    take(domains_[p][board_.problem.partitions[p].domain[node]], node, most, true, found);
}

void Levels::update(const Trial& trial) {
  for (std::size_t i = 0; i < trial.touched(); ++i) {
    const std::uint32_t n = trial.touched(i).node;
    if (board_.takes_part[n] == 0) continue;
    const Key before(key_[n], board_.salt[n], n);
    key_[n] = highest(n);
    const Key after(key_[n], board_.salt[n], n);
    const auto replace = [&](std::set<Key>& order) { order.erase(before), order.insert(after); };
    replace(order_);
    for (std::size_t p = 0; p < domains_.size(); ++p) replace(domains_[p][board_.problem.partitions[p].domain[n]]);
  }
  if (has_families_) families_.apply(board_.problem, trial);
}

Amount Levels::load(std::uint32_t replica, std::size_t dimension) const {
  const Problem& problem = board_.problem;
  const Amount own = problem.load(problem.replica_load[replica])[dimension];
  const std::uint32_t group = problem.replica_group[replica], lead = problem.group_lead[group];
  return lead == none || board_.state->leader(group) != replica ? own : own + problem.load(lead)[dimension];
}

double Levels::family_change(std::uint32_t replica, std::uint32_t node, int sign) const {
  if (!has_families_) return 0;
  const Problem& problem = board_.problem;
  const std::uint32_t f = family_of(problem, replica);
  const Family& family = problem.families[f];
  const Amount measure = sign * problem.measures[problem.replica_load[replica]];
  return family.own_weight * square_change(families_.at(f, node), measure, problem.own_shares[family.own_share][node]);
}

double Levels::shift_gain(std::uint32_t replica, std::uint32_t from, std::uint32_t to) const {
  const Problem& problem = board_.problem;
  const Amount *usage_from = board_.state->usage(from).data(), *usage_to = board_.state->usage(to).data();
  const double *share_from = problem.share.data() + from * fair_.size(), *share_to = problem.share.data() + to * fair_.size();
  double sum = 0;
  for (std::size_t d = 0; d < fair_.size(); ++d) {
    const auto more = static_cast<double>(load(replica, d));
    if (more <= 0 || fair_[d] <= 0) continue;
    const double weight = problem.dimensions[d].level_weight;
    if (share_from[d] > 0) sum += weight * (more * (more - 2 * static_cast<double>(usage_from[d])) / share_from[d]);
    if (share_to[d] > 0) sum += weight * (more * (more + 2 * static_cast<double>(usage_to[d])) / share_to[d]);
  }
  return -(sum + family_change(replica, from, -1) + family_change(replica, to, 1));
}

double Levels::swap_gain(std::uint32_t one, std::uint32_t other) const {
  const Problem& problem = board_.problem;
  const std::uint32_t a = board_.state->at(one), b = board_.state->at(other);
  double sum = 0;
  for (std::size_t d = 0; d < fair_.size(); ++d) {
    const double share_a = problem.share[a * fair_.size() + d], share_b = problem.share[b * fair_.size() + d];
    if (share_a <= 0 || share_b <= 0) continue;
    const auto more = static_cast<double>(load(other, d) - load(one, d));  // for a
    const double usage_a = static_cast<double>(board_.state->usage(a)[d]),
                 usage_b = static_cast<double>(board_.state->usage(b)[d]);
    sum += problem.dimensions[d].level_weight * (more * (2 * usage_a + more) / share_a - more * (2 * usage_b - more) / share_b);
  }
  if (family_of(problem, one) == family_of(problem, other)) return -sum;
  return -(sum + family_change(one, a, -1) + family_change(one, b, 1) + family_change(other, b, -1) + family_change(other, a, 1));
}

double Levels::size(std::uint32_t replica) const {
  double sum = 0;
  for (std::size_t d = 0; d < fair_.size(); ++d) {
    if (totals_[d] > 0) sum += static_cast<double>(load(replica, d)) / totals_[d];
  }
  return sum;
}

}  // namespace evenkeel::place::detail
