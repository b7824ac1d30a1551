#include <algorithm>

#include "evenkeel/base/result.h"
#include "evenkeel/place/engine.h"

namespace evenkeel::place {
namespace {

void add(std::vector<Amount>& table, std::size_t node, std::span<const Amount> load) {
  Amount* row = table.data() + node * load.size();
  for (std::size_t d = 0; d < load.size(); ++d) row[d] += load[d];
}

}  // namespace

State::State(const Problem& problem) : problem_(&problem), width_(problem.width()), terms_(make_terms(problem)) {
  resize();
  for (const auto& term : terms_) term->reset(*this);
}

State::~State() = default;

// New groups start at their origins; those that are gone again had no home.
void State::resize() {
  const std::size_t before = at_.size(), groups_before = leader_.size();
  const bool grows = problem_->replicas() >= before;
  at_.resize(problem_->replicas(), none);
  home_.resize(problem_->replicas(), none);
  leader_.resize(problem_->groups(), none);
  leader_home_.resize(problem_->groups(), none);
  if (listed_) place_in_on_.resize(problem_->replicas());
  if (!grows) return;
  std::copy(problem_->origin.begin() + static_cast<std::ptrdiff_t>(before), problem_->origin.end(),
            at_.begin() + static_cast<std::ptrdiff_t>(before));
  std::copy(at_.begin() + static_cast<std::ptrdiff_t>(before), at_.end(), home_.begin() + static_cast<std::ptrdiff_t>(before));
  for (std::size_t group = groups_before; group < leader_.size(); ++group) {
    if (problem_->group_lead.empty() || problem_->origin_leader[group] == none) continue;
    leader_home_[group] = problem_->origin_leader[group];
    for (std::uint32_t r = problem_->group_first[group]; r < problem_->group_first[group + 1]; ++r) {
      if (at_[r] == problem_->origin_leader[group]) leader_[group] = r;
    }
  }
  const bool anything = groups_before == 0 || std::any_of(at_.begin() + static_cast<std::ptrdiff_t>(before), at_.end(),
                                                          [](std::uint32_t node) { return node != none; });
  if (anything) rebuild();
}

// Usage and peak from nothing.
void State::rebuild() {
  usage_ = problem_->base;
  peak_ = problem_->base;
  if (!problem_->base_held.empty()) {
    for (std::size_t i = 0; i < peak_.size(); ++i) peak_[i] += problem_->base_held[i];
  }
  for (std::uint32_t r = 0; r < at_.size(); ++r) {
    const auto load = problem_->load(problem_->replica_load[r]);
    if (at_[r] != none) add(usage_, at_[r], load), add(peak_, at_[r], load);
    if (home_[r] == none || home_[r] == at_[r]) continue;
    for (std::size_t d = 0; d < width_; ++d) {
      if (problem_->dimensions[d].held) peak_[home_[r] * width_ + d] += load[d];
    }
  }
  for (std::uint32_t group = 0; group < leader_.size(); ++group) {
    if (problem_->group_lead.empty() || problem_->group_lead[group] == none) continue;
    const auto load = problem_->load(problem_->group_lead[group]);
    const std::uint32_t node = leader_[group] == none ? none : at_[leader_[group]];
    if (node != none) add(usage_, node, load), add(peak_, node, load);
    const std::uint32_t home = leader_home_[group];
    if (home == none || home == node) continue;
    for (std::size_t d = 0; d < width_; ++d) {
      if (problem_->dimensions[d].held) peak_[home * width_ + d] += load[d];
    }
  }
}

void State::settle() {
  home_ = at_;
  for (std::size_t group = 0; group < leader_.size(); ++group) {
    leader_home_[group] = leader_[group] == none ? none : at_[leader_[group]];
  }
  rebuild();
  for (const auto& term : terms_) term->reset(*this);
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
  if (listed_ && to != none) {
    place_in_on_[replica] = static_cast<std::uint32_t>(on_[to].size());
    on_[to].push_back(replica);
  }
}

const Term* State::forbids(const Trial& trial) const {
  for (const auto& term : terms_) {
    if (!term->allows(*this, trial)) return term.get();
  }
  return nullptr;
}

bool State::allowed(const Trial& trial) const { return forbids(trial) == nullptr; }

Cost State::delta(const Trial& trial) const {
  ++evaluated_;
  Cost sum;
  for (const auto& term : terms_) sum += term->delta(*this, trial);
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
  if (trial.leads()) leader_[trial.lead_group()] = trial.lead_to();
}

std::vector<std::string> State::why_not(std::uint32_t replica, std::uint32_t node) const {
  std::vector<std::string> reasons;
  for (const auto& term : terms_) {
    if (std::string reason = term->why_not(*this, replica, node); !reason.empty()) reasons.push_back(std::move(reason));
  }
  return reasons;
}

Cost State::whole() const {
  Cost sum;
  for (const auto& term : terms_) sum += term->whole(*this);
  return sum;
}

}  // namespace evenkeel::place
