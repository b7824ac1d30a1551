#include "evenkeel/place/search/detail/reach.h"

#include <algorithm>
#include <functional>

namespace evenkeel::place {
namespace {

// If lists become too long for all, these need theirs most.
std::vector<std::uint32_t> largest_first(const Problem& problem, std::span<const std::uint32_t> replicas) {
  const std::size_t width = problem.width();
  std::vector<double> all(width), size(problem.replicas());
  for (const std::uint32_t r : replicas)
    for (std::size_t d = 0; d < width; ++d) all[d] += static_cast<double>(problem.load(problem.replica_load[r])[d]);
  for (const std::uint32_t r : replicas)
    for (std::size_t d = 0; d < width; ++d)
      size[r] += static_cast<double>(problem.load(problem.replica_load[r])[d]) / std::max(all[d], 1.0);
  std::vector<std::uint32_t> order(replicas.begin(), replicas.end());
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::uint32_t r) { return size[r]; });
  return order;
}

}  // namespace

Reach::Reach(const State& state, std::span<const std::uint32_t> replicas, std::size_t pairs, std::size_t most)
    : state_(state), spare_(state.problem().limit) {
  const Problem& problem = state.problem();
  const std::size_t width = problem.width();
  for (std::size_t i = 0; i < spare_.size(); ++i) spare_[i] -= problem.base[i];
  for (std::uint32_t r = 0; r < problem.replicas() && !spare_.empty(); ++r) {
    if (state.home(r) == none) continue;
    const auto load = problem.load(problem.replica_load[r]);
    for (std::size_t d = 0; d < width; ++d)
      if (problem.dimensions[d].held) spare_[state.home(r) * width + d] -= load[d];
  }
  first_.push_back(0);
  for (const auto& able : problem.able) {
    for (std::uint32_t n = 0; n < problem.nodes; ++n)
      if (able[n] != 0) nodes_.push_back(n);
    first_.push_back(static_cast<std::uint32_t>(nodes_.size()));
  }
  for (std::uint32_t r = 0; r < problem.replicas(); ++r)
    list_of_.push_back(problem.families[problem.group_family[problem.replica_group[r]]].able);
  const bool lists = !spare_.empty() && replicas.size() * problem.nodes <= pairs;
  if (!lists) return;
  for (const std::uint32_t r : largest_first(problem, replicas)) {
    const std::uint32_t able_nodes = nodes(r);
    able_ += able_nodes;
    reached_ += look(r, able_nodes, most);
  }
}

// How many of the able nodes it could be on. It has a list of its own of them if that leaves out a good part.
std::uint32_t Reach::look(std::uint32_t replica, std::uint32_t able_nodes, std::size_t most) {
  const std::size_t before = nodes_.size();
  for (std::uint32_t i = first_[list_of_[replica]]; i < first_[list_of_[replica] + 1]; ++i)
    if (could(replica, nodes_[i])) nodes_.push_back(nodes_[i]);
  const auto found = static_cast<std::uint32_t>(nodes_.size() - before);
  const bool leaves_out = std::size_t{found} * 8 <= std::size_t{able_nodes} * 7;
  if (!leaves_out || nodes_.size() > most) {
    nodes_.resize(before);
    return leaves_out ? found : able_nodes;
  }
  list_of_[replica] = static_cast<std::uint32_t>(first_.size() - 1);
  first_.push_back(static_cast<std::uint32_t>(nodes_.size()));
  return found;
}

bool Reach::could(std::uint32_t replica, std::uint32_t node) const {
  if (spare_.empty() || state_.home(replica) == node) return true;
  const Problem& problem = state_.problem();
  const Amount* load = problem.load(problem.replica_load[replica]).data();
  const Amount* spare = spare_.data() + node * problem.width();
  for (std::size_t d = 0; d < problem.width(); ++d)
    if (load[d] > 0 && load[d] > spare[d]) return false;
  return true;
}

}  // namespace evenkeel::place
