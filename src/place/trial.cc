#include <algorithm>

#include "evenkeel/base/result.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place {

Trial::Trial(const State& state) : state_(&state), amounts_(nodes_.size() * 2 * state.problem().width()) {}

void Trial::clear() {
  size_ = 0;
  plain_ = false;
  lead_group_ = none;
  summed_ = 0;
  lead_summed_ = false;
  touched_ = 0;
}

std::size_t Trial::touch(std::uint32_t node) const {
  for (std::size_t i = 0; i < touched_; ++i) {
    if (nodes_[i] == node) return i;
  }
  const std::size_t row = 2 * state_->problem().width();
  std::fill_n(amounts_.begin() + static_cast<std::ptrdiff_t>(touched_ * row), row, Amount{0});
  nodes_[touched_] = node;
  return touched_++;
}

// A row of loads comes to a node (sign 1) or goes from it. Where it was at home its peak is there all the time.
void Trial::add_row(std::uint32_t row, std::uint32_t node, std::uint32_t home, int sign) const {
  const Problem& problem = state_->problem();
  const std::size_t width = problem.width();
  const Amount* load = problem.loads.data() + row * width;
  Amount* usage = amounts_.data() + touch(node) * 2 * width;
  Amount* peak = usage + width;
  for (std::size_t d = 0; d < width; ++d) usage[d] += sign * load[d];
  if (node != home) {
    for (std::size_t d = 0; d < width; ++d) peak[d] += sign * load[d];
  } else {
    for (std::size_t d = 0; d < width; ++d) peak[d] += problem.dimensions[d].held ? 0 : sign * load[d];
  }
}

// Whether a leader's load goes where the replica goes.
bool Trial::carries_lead(std::uint32_t replica) const {
  const Problem& problem = state_->problem();
  if (problem.group_lead.empty()) return false;
  const std::uint32_t group = problem.replica_group[replica];
  return problem.group_lead[group] != none && state_->leader(group) == replica;
}

void Trial::add(std::uint32_t replica, std::uint32_t from, std::uint32_t to) {
  ensure(size_ < steps_max, "a trial has at most steps_max steps");
  steps_[size_++] = {replica, from, to};
}

void Trial::sum() const {
  while (summed_ < size_) sum_step(steps_[summed_++]);
  if (leads() && !lead_summed_) sum_lead();
  lead_summed_ = leads();
}

void Trial::sum_step(const Step& step) const {
  const Problem& problem = state_->problem();
  const std::uint32_t row = problem.replica_load[step.replica];
  const std::uint32_t home = state_->home(step.replica);
  if (step.from != none) add_row(row, step.from, home, -1);
  if (step.to != none) add_row(row, step.to, home, 1);
  if (!carries_lead(step.replica)) return;
  const std::uint32_t group = problem.replica_group[step.replica];
  const std::uint32_t lead_home = state_->leader_home(group);
  if (step.from != none) add_row(problem.group_lead[group], step.from, lead_home, -1);
  if (step.to != none) add_row(problem.group_lead[group], step.to, lead_home, 1);
}

void Trial::sum_lead() const {
  const std::uint32_t row = state_->problem().group_lead[lead_group_];
  if (row == none) return;
  const std::uint32_t home = state_->leader_home(lead_group_);
  if (lead_from_ != none && state_->at(lead_from_) != none) add_row(row, state_->at(lead_from_), home, -1);
  if (lead_to_ != none && state_->at(lead_to_) != none) add_row(row, state_->at(lead_to_), home, 1);
}

Trial& Trial::shift(std::uint32_t replica, std::uint32_t to) {
  clear();
  add(replica, state_->at(replica), to);
  plain_ = !carries_lead(replica);
  return *this;
}

Trial& Trial::swap(std::uint32_t one, std::uint32_t other) {
  clear();
  add(one, state_->at(one), state_->at(other));
  add(other, state_->at(other), state_->at(one));
  plain_ = steps_[0].from != none && steps_[0].to != none && !carries_lead(one) && !carries_lead(other);
  return *this;
}

Trial& Trial::chain(std::span<const Step> steps) {
  clear();
  for (const Step& step : steps) add(step.replica, step.from, step.to);
  return *this;
}

Trial& Trial::also(std::uint32_t replica, std::uint32_t to) {
  plain_ = false;
  add(replica, state_->at(replica), to);
  return *this;
}

Trial& Trial::lead(std::uint32_t group, std::uint32_t replica) {
  clear();
  lead_group_ = group;
  lead_from_ = state_->leader(group);
  lead_to_ = replica;
  return *this;
}

void Trial::invert(Trial& inverse) const {
  sum();
  inverse.clear();
  inverse.size_ = size_;
  inverse.plain_ = plain_;
  for (std::size_t i = 0; i < size_; ++i) {
    const Step& step = steps_[size_ - 1 - i];
    inverse.steps_[i] = {step.replica, step.to, step.from};
  }
  inverse.touched_ = touched_;
  inverse.nodes_ = nodes_;
  const std::size_t used = touched_ * 2 * state_->problem().width();
  for (std::size_t i = 0; i < used; ++i) inverse.amounts_[i] = -amounts_[i];
  inverse.lead_group_ = lead_group_;
  inverse.lead_from_ = lead_to_;
  inverse.lead_to_ = lead_from_;
  inverse.summed_ = size_;
  inverse.lead_summed_ = lead_summed_;
}

Trial::Touched Trial::touched(std::size_t at) const {
  ensure(at < touched(), "a node that the trial touches");
  const std::size_t width = state_->problem().width();
  const Amount* row = amounts_.data() + at * 2 * width;
  return {nodes_[at], {row, width}, {row + width, width}};
}

std::uint32_t Trial::will_be(std::uint32_t replica) const {
  for (std::size_t i = 0; i < size_; ++i) {
    if (steps_[i].replica == replica) return steps_[i].to;
  }
  return state_->at(replica);
}

}  // namespace evenkeel::place
