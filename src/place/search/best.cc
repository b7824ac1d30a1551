#include "evenkeel/place/search/detail/best.h"

namespace evenkeel::place {

Best::Best(const State& state) {
  const Problem& problem = state.problem();
  for (std::uint32_t r = 0; r < problem.replicas(); ++r) at_.push_back(state.at(r));
  replica_listed_.assign(at_.size(), 0);
  if (problem.group_lead.empty()) return;
  for (std::uint32_t g = 0; g < problem.groups(); ++g) leader_.push_back(state.leader(g));
  group_listed_.assign(leader_.size(), 0);
}

void Best::touch(const Trial& trial) {
  for (const Trial::Step& step : trial.steps()) touch(step.replica);
  if (trial.leads()) touch(groups_, group_listed_, trial.lead_group());
}

void Best::keep(const State& state) {
  for (const auto replica : replicas_) {
    at_[replica] = state.at(replica);
    replica_listed_[replica] = 0;
  }
  for (const auto group : groups_) {
    leader_[group] = state.leader(group);
    group_listed_[group] = 0;
  }
  replicas_.clear();
  groups_.clear();
}

void Best::restore(State& state) {
  Trial trial(state);
  for (const auto replica : replicas_) {
    if (state.at(replica) != at_[replica]) state.apply(trial.shift(replica, at_[replica]));
    replica_listed_[replica] = 0;
  }
  for (const auto group : groups_) {
    if (state.leader(group) != leader_[group]) state.apply(trial.lead(group, leader_[group]));
    group_listed_[group] = 0;
  }
  replicas_.clear();
  groups_.clear();
}

}  // namespace evenkeel::place
