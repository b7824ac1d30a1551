#include <algorithm>
#include <iterator>

#include "evenkeel/base/result.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place {
namespace {

void add(std::vector<Amount>& table, std::size_t node, std::span<const Amount> load) {
  Amount* row = table.data() + node * load.size();
  for (std::size_t d = 0; d < load.size(); ++d) row[d] += load[d];
}

}  // namespace

State::State(const Problem& problem) : problem_(&problem), width_(problem.width()), usage_(problem.base), peak_(problem.base) {
  for (std::size_t i = 0; i < problem.base_held.size(); ++i) peak_[i] += problem.base_held[i];
  start(0);
  terms_ = make_rules(problem);
  rules_ = terms_.size();
  for (const auto& rule : terms_)
    if (rule->name() == "limits") limits_ = rule.get();
  std::ranges::move(make_goals(problem), std::back_inserter(terms_));
  for (const auto& term : terms_) term->reset(*this);
}

State::~State() = default;

// Groups from the first one on come to be where they start.
void State::start(std::uint32_t first_group) {
  const std::uint32_t first = static_cast<std::uint32_t>(at_.size());
  at_.insert(at_.end(), problem_->origin.begin() + first, problem_->origin.end());
  home_.insert(home_.end(), problem_->origin.begin() + first, problem_->origin.end());
  for (std::uint32_t r = first; r < at_.size(); ++r) {
    if (at_[r] == none) continue;
    add(usage_, at_[r], problem_->load(problem_->replica_load[r]));
    add(peak_, at_[r], problem_->load(problem_->replica_load[r]));
  }
  is_displaced_.resize(at_.size());
  leader_.resize(problem_->groups(), none);
  leader_home_.resize(problem_->groups(), none);
  for (std::uint32_t group = first_group; group < problem_->groups() && !problem_->group_lead.empty(); ++group) {
    const std::uint32_t node = problem_->origin_leader[group];
    if (node == none) continue;
    leader_home_[group] = node;
    for (std::uint32_t r = problem_->group_first[group]; r < problem_->group_end(group); ++r) {
      if (at_[r] == node) leader_[group] = r;
    }
    if (problem_->group_lead[group] == none) continue;
    ensure(leader_[group] != none, "who leads at the start is there");
    add(usage_, node, problem_->load(problem_->group_lead[group]));
    add(peak_, node, problem_->load(problem_->group_lead[group]));
  }
}

void State::grow() {
  const auto first_group = static_cast<std::uint32_t>(leader_.size());
  listed_ = false;
  start(first_group);
  for (const auto& term : terms_) term->grow(*this, first_group);
}

// What was held for something that has left is free.
void State::release(std::uint32_t row, std::uint32_t node) {
  const auto load = problem_->load(row);
  for (std::size_t d = 0; d < width_; ++d) {
    if (problem_->dimensions[d].held) peak_[node * width_ + d] -= load[d];
  }
}

bool State::settle(const std::function<bool(std::uint32_t)>& which) {
  bool any = false;
  for (const std::uint32_t replica : displaced_) {
    if (!which(problem_->replica_group[replica])) continue;
    if (home_[replica] == at_[replica]) continue;
    any = true;
    if (home_[replica] != none) release(problem_->replica_load[replica], home_[replica]);
    home_[replica] = at_[replica];
  }
  for (const std::uint32_t group : displaced_leaders_) {
    if (!which(group)) continue;
    const std::uint32_t node = leader_[group] == none ? none : at_[leader_[group]];
    if (leader_home_[group] == node) continue;
    any = true;
    if (leader_home_[group] != none && problem_->group_lead[group] != none)
      release(problem_->group_lead[group], leader_home_[group]);
    leader_home_[group] = node;
  }
  std::erase_if(displaced_, [&](std::uint32_t replica) {
    const bool settled = which(problem_->replica_group[replica]);
    if (settled) is_displaced_[replica] = 0;
    return settled;
  });
  std::erase_if(displaced_leaders_, which);
  for (const auto& term : terms_) term->settle(*this);
  if (any) listed_ = false;  // listed anew, as if everything had always been where it is: a later run then sees what this one saw
  return any;
}

void State::reorder(std::uint32_t group, std::span<const std::uint32_t> row) {
  const std::uint32_t first = problem_->group_first[group];
  const std::uint32_t led = leader_[group] == none ? none : at_[leader_[group]];
  for (std::uint32_t slot = 0; slot < row.size(); ++slot) {
    at_[first + slot] = home_[first + slot] = row[slot];
    if (led != none && row[slot] == led) leader_[group] = first + slot;
  }
  listed_ = false;
}

std::span<const std::uint32_t> State::replicas_on(std::uint32_t node) {
  if (!listed_) {
    on_.assign(problem_->nodes, {});
    place_in_on_.resize(at_.size());
    std::vector<std::uint32_t> counts(problem_->nodes);
    for (const std::uint32_t at : at_) {
      if (at != none) ++counts[at];
    }
    for (std::uint32_t n = 0; n < problem_->nodes; ++n) on_[n].reserve(counts[n]);
    for (std::uint32_t r = 0; r < at_.size(); ++r) {
      if (at_[r] == none) continue;
      place_in_on_[r] = static_cast<std::uint32_t>(on_[at_[r]].size());
      on_[at_[r]].push_back(r);
    }
    listed_ = true;
  }
  return on_[node];
}

void State::move(std::uint32_t replica, std::uint32_t to) {
  if (listed_ && at_[replica] != none) {
    auto& list = on_[at_[replica]];
    const std::uint32_t hole = place_in_on_[replica];
    list[hole] = list.back();
    place_in_on_[list[hole]] = hole;
    list.pop_back();
  }
  at_[replica] = to;
  if (is_displaced_[replica] == 0) {
    is_displaced_[replica] = 1;
    displaced_.push_back(replica);
  }
  const std::uint32_t group = problem_->replica_group[replica];
  if (leader_[group] == replica) displaced_leaders_.push_back(group);
  if (listed_ && to != none) {
    place_in_on_[replica] = static_cast<std::uint32_t>(on_[to].size());
    on_[to].push_back(replica);
  }
}

const Term* State::forbids(const Trial& trial) const {
  for (std::size_t i = 0; i < rules_; ++i) {
    if (!terms_[i]->allows(*this, trial)) return terms_[i].get();
  }
  return nullptr;
}

bool State::allowed(const Trial& trial) const { return forbids(trial) == nullptr; }

bool State::allowed_but_for_room(const Trial& trial) const {
  for (std::size_t i = 0; i < rules_; ++i) {
    if (terms_[i].get() != limits_ && !terms_[i]->allows(*this, trial)) return false;
  }
  return true;
}

Cost State::delta(const Trial& trial) const {
  ++evaluated_;
  Cost sum;
  for (std::size_t i = rules_; i < terms_.size(); ++i) terms_[i]->add_delta(*this, trial, sum);
  return sum;
}

void State::apply(const Trial& trial) {
  for (const auto& term : terms_) term->apply(*this, trial);
  for (std::size_t i = 0; i < trial.touched(); ++i) {
    const Trial::Touched touched = trial.touched(i);
    add(usage_, touched.node, touched.usage);
    add(peak_, touched.node, touched.peak);
  }
  for (const Trial::Step& step : trial.steps()) move(step.replica, step.to);
  if (trial.leads()) {
    leader_[trial.lead_group()] = trial.lead_to();
    displaced_leaders_.push_back(trial.lead_group());
  }
}

std::vector<std::string> State::why_not(std::uint32_t replica, std::uint32_t node) const {
  std::vector<std::string> reasons;
  for (const auto& term : terms_) {
    if (std::string reason = term->why_not(*this, replica, node); !reason.empty()) reasons.push_back(std::move(reason));
  }
  return reasons;
}

// Goals that are made for this alone: what those that are asked all the time have counted says nothing about whether it is right.
Cost State::whole() const {
  Cost sum;
  for (const auto& goal : make_goals(*problem_)) {
    goal->reset(*this);
    sum += goal->whole(*this);
  }
  return sum;
}

bool State::adds_up() const {
  std::vector<Amount> usage = problem_->base, peak = problem_->base;
  for (std::size_t i = 0; i < problem_->base_held.size(); ++i) peak[i] += problem_->base_held[i];
  const auto count = [&](std::uint32_t row, std::uint32_t node, std::uint32_t home) {
    const auto load = problem_->load(row);
    if (node != none) add(usage, node, load);
    if (node != none) add(peak, node, load);
    for (std::size_t d = 0; home != none && home != node && d < width_; ++d)
      if (problem_->dimensions[d].held) peak[home * width_ + d] += load[d];
  };
  for (std::uint32_t r = 0; r < at_.size(); ++r) count(problem_->replica_load[r], at_[r], home_[r]);
  for (std::uint32_t g = 0; g < problem_->group_lead.size(); ++g) {
    const std::uint32_t leader = leader_[g];
    if (problem_->group_lead[g] != none && leader != none) count(problem_->group_lead[g], at_[leader], leader_home_[g]);
  }
  return usage == usage_ && peak == peak_;
}

}  // namespace evenkeel::place
