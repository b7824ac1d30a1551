#include "evenkeel/place/search/detail/reach.h"

namespace evenkeel::place {

Reach::Reach(const State& state, std::span<const std::uint32_t> replicas, std::size_t pairs)
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
  for (const std::uint32_t r : replicas) {
    const std::uint32_t able_nodes = nodes(r);
    if (lists && nodes_.size() < lists_most) add_list(r, able_nodes);
    able_ += able_nodes;
    reached_ += nodes(r);
  }
}

// A list of the replica's own, if it leaves out a good part of those that are able.
void Reach::add_list(std::uint32_t replica, std::uint32_t able_nodes) {
  const std::size_t before = nodes_.size();
  for (std::uint32_t i = first_[list_of_[replica]]; i < first_[list_of_[replica] + 1]; ++i)
    if (could(replica, nodes_[i])) nodes_.push_back(nodes_[i]);
  if ((nodes_.size() - before) * 8 > std::size_t{able_nodes} * 7) {
    nodes_.resize(before);
    return;
  }
  list_of_[replica] = static_cast<std::uint32_t>(first_.size() - 1);
  first_.push_back(static_cast<std::uint32_t>(nodes_.size()));
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
