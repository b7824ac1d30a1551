#include "evenkeel/place/search/detail/draw.h"

namespace evenkeel::place {

namespace {

// In 1024: how often each kind is drawn. A chain costs as much as a dozen shifts and is worth it: on tight instances nearly all shifts and
// swaps are refused, and with chains 8, 32, 128 and 300 times in 1024 ever better ends were found for as many draws.
constexpr std::uint64_t of = 1024, swaps = 400, chains = 300, leads = 64;
constexpr std::uint64_t homecoming = 32;  // one shift in so many goes home, if it is not there

}  // namespace

ChangeDraw::ChangeDraw(State& state, Rng& rng) : state_(state), rng_(rng), eject_(state, rng), nodes_(state.problem().nodes) {
  const Problem& problem = state.problem();
  for (std::uint32_t r = 0; r < problem.replicas(); ++r)
    if (state.at(r) != none && (problem.frozen.empty() || problem.frozen[r] == 0)) movable_.push_back(r);
  for (const auto& able : problem.able) {
    auto& nodes = able_nodes_.emplace_back();
    for (std::uint32_t n = 0; n < problem.nodes; ++n)
      if (able[n] != 0) nodes.push_back(n);
  }
  if (problem.group_lead.empty()) return;
  for (std::uint32_t g = 0; g < problem.groups(); ++g)
    if (problem.group_lead[g] != none && state.leader(g) != none && state.row(g).size() > 1) led_.push_back(g);
}

bool ChangeDraw::next(Trial& trial) {
  const std::uint64_t kind = rng_.next() % of;
  if (kind < chains) return chain(trial);
  if (kind < chains + leads && !led_.empty()) return lead(trial);
  if (kind < chains + leads + swaps) return swap(trial);
  return shift(trial);
}

std::uint32_t ChangeDraw::any_movable() { return movable_[rng_.below(movable_.size())]; }

std::uint32_t ChangeDraw::any_node(std::uint32_t replica) {
  const Problem& problem = state_.problem();
  const auto& nodes = able_nodes_[problem.families[problem.group_family[problem.replica_group[replica]]].able];
  return nodes.empty() ? none : nodes[rng_.below(nodes.size())];
}

bool ChangeDraw::shift(Trial& trial) {
  const std::uint32_t replica = any_movable();
  const std::uint32_t at = state_.at(replica), home = state_.home(replica);
  std::uint32_t to = any_node(replica);
  if (home != at && home != none && rng_.below(homecoming) == 0) to = home;
  if (to == none || to == at) return false;
  trial.shift(replica, to);
  return true;
}

bool ChangeDraw::swap(Trial& trial) {
  const std::uint32_t one = any_movable(), other = any_movable();
  if (state_.at(one) == state_.at(other)) return false;
  trial.swap(one, other);
  return true;
}

bool ChangeDraw::chain(Trial& trial) {
  const std::uint32_t replica = any_movable();
  const std::uint32_t to = any_node(replica);
  if (to == none || to == state_.at(replica)) return false;
  return eject_.build(trial, replica, to);
}

bool ChangeDraw::lead(Trial& trial) {
  const std::uint32_t group = led_[rng_.below(led_.size())];
  const auto row = state_.row(group);
  const auto place = static_cast<std::uint32_t>(rng_.below(row.size()));
  const std::uint32_t replica = state_.problem().group_first[group] + place;
  if (replica == state_.leader(group) || row[place] == none) return false;
  trial.lead(group, replica);
  return true;
}

}  // namespace evenkeel::place
