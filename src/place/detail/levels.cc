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

double Levels::change(std::uint32_t node, std::span<const Amount> load, double sign) const {
  const Problem& problem = board_.problem;
  const Amount* usage = board_.state->usage(node).data();
  const double* share = problem.share.data() + node * fair_.size();
  double sum = 0;
  for (std::size_t d = 0; d < fair_.size(); ++d) {
    if (load[d] == 0 || share[d] <= 0) continue;
    const double more = sign * static_cast<double>(load[d]);
    sum += problem.dimensions[d].level_weight * (more * (2 * static_cast<double>(usage[d]) + more) / share[d]);
  }
  return sum;
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
  const auto load = board_.problem.load(board_.problem.replica_load[replica]);
  return -(change(from, load, -1) + change(to, load, 1) + family_change(replica, from, -1) + family_change(replica, to, 1));
}

double Levels::swap_gain(std::uint32_t one, std::uint32_t other) const {
  const Problem& problem = board_.problem;
  const std::uint32_t a = board_.state->at(one), b = board_.state->at(other);
  const auto load_one = problem.load(problem.replica_load[one]), load_other = problem.load(problem.replica_load[other]);
  double sum = 0;
  for (std::size_t d = 0; d < fair_.size(); ++d) {
    const double share_a = problem.share[a * fair_.size() + d], share_b = problem.share[b * fair_.size() + d];
    if (share_a <= 0 || share_b <= 0) continue;
    const auto more = static_cast<double>(load_other[d] - load_one[d]);  // for a
    const double usage_a = static_cast<double>(board_.state->usage(a)[d]),
                 usage_b = static_cast<double>(board_.state->usage(b)[d]);
    sum += problem.dimensions[d].level_weight * (more * (2 * usage_a + more) / share_a - more * (2 * usage_b - more) / share_b);
  }
  return -sum;
}

double Levels::size(std::uint32_t replica) const {
  const auto load = board_.problem.load(board_.problem.replica_load[replica]);
  double sum = 0;
  for (std::size_t d = 0; d < fair_.size(); ++d) {
    if (totals_[d] > 0) sum += static_cast<double>(load[d]) / totals_[d];
  }
  return sum;
}

}  // namespace evenkeel::place::detail
