#include "evenkeel/place/detail/allocator_view.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "evenkeel/base/hash.h"
#include "evenkeel/place/detail/node_rules.h"

namespace evenkeel::place::detail {
namespace {

constexpr int phase_shift = 61;
constexpr std::uint64_t fullness_max = (1ull << phase_shift) - 1;
// Quotients that should be whole may be off by their last bits; no two levels are nearer than this.
constexpr double nudge = 1 + 1.0 / (1ull << 40);

int exponent_of(Quantity amount) {
  const auto nano = static_cast<UInt128>(amount.nano());
  const auto high = static_cast<std::uint64_t>(nano >> 64);
  return high != 0 ? 127 - std::countl_zero(high) : 63 - std::countl_zero(static_cast<std::uint64_t>(nano));
}

std::uint64_t whole(double value) {
  return value * nudge < static_cast<double>(fullness_max) ? static_cast<std::uint64_t>(value * nudge) : fullness_max;
}

double nano(Quantity amount) { return static_cast<double>(amount.nano()); }

}  // namespace

Kind kind_of(const Workload& workload, const Load& load) {
  Kind kind{workload.require, workload.tolerate, {}};
  for (const auto& [resource, amount] : load) kind.sizes.emplace_back(resource, exponent_of(amount));
  return kind;
}

View::View(const AllocatorNodes& nodes, Kind kind, const Workload& workload) : nodes_(nodes), kind_(std::move(kind)) {
  std::vector<std::pair<std::vector<std::string_view>, NodeIndex>> order;
  for (const auto& [name, index] : nodes.by_name()) {
    const Node& node = nodes[index].node;
    if (takes(node.status) && is_able(node, workload)) order.emplace_back(parts_of(node.zone), index);
  }
  // Part by part, so that the domains of every depth are ranges; nodes of one zone stay in order of name.
  std::ranges::stable_sort(order, {}, [](const auto& one) -> const auto& { return one.first; });
  leaf_of_.assign(nodes.size(), static_cast<std::uint32_t>(order.size()));
  for (const auto& [parts, index] : order) {
    leaf_of_[index.value()] = size();
    leaves_.push_back(index);
  }
  own_.resize(size());
  own_leaders_.resize(size());
  measure();
  for (std::uint32_t leaf = 0; leaf < size(); ++leaf) {
    if (is_avoided(nodes[leaves_[leaf]].node, workload)) shares_[leaf] = 0;
  }
  share_sum_ = std::accumulate(shares_.begin(), shares_.end(), 0.0);
  end();
}

std::optional<std::uint32_t> View::leaf(NodeIndex node) const {
  if (node.value() >= leaf_of_.size() || leaf_of_[node.value()] == size()) return std::nullopt;
  return leaf_of_[node.value()];
}

// The measure that a replica takes the largest part of, on the mean node, gives the step and the shares.
void View::measure() {
  const bool by_count = kind_.sizes.empty();
  const std::size_t width = by_count ? 1 : kind_.sizes.size();
  for (const auto& [resource, exponent] : kind_.sizes) sizes_.push_back(std::ldexp(1.0, exponent));
  if (by_count) sizes_.push_back(1);
  double slots = 0, with_slots = 0;
  const auto slots_of_cores = [&](const Node& node) {
    const double all = static_cast<double>(node.cores) * nodes_.settings().replicas_per_core;
    return std::max(0.0, all - nodes_.settings().core0_reserve);
  };
  for (const NodeIndex index : leaves_) {
    slots += slots_of_cores(nodes_[index].node);
    with_slots += slots_of_cores(nodes_[index].node) > 0 ? 1 : 0;
  }
  const double mean_slots = with_slots > 0 ? slots / with_slots : 1;
  std::vector<double> sums(width);
  for (const NodeIndex index : leaves_) {
    const NodeState& state = nodes_[index];
    const double power = state.node.power.to_double();
    for (std::size_t i = 0; i < width; ++i) {
      const double own = slots_of_cores(state.node) > 0 ? slots_of_cores(state.node) : mean_slots;
      const double size = by_count ? own : nano(state.capacity[kind_.sizes[i].first].value_or(Quantity(1)));
      measures_.push_back(size * power);
      sums[i] += size * power;
    }
  }
  std::size_t dominant = 0;
  step_ = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const double step = sums[i] > 0 ? sizes_[i] * size() / sums[i] : 0;
    if (step <= step_) continue;
    step_ = step;
    dominant = i;
  }
  if (step_ <= 0) step_ = 1;
  for (std::uint32_t leaf = 0; leaf < size(); ++leaf) shares_.push_back(measures_[leaf * width + dominant]);
}

std::uint64_t View::fullness(std::uint32_t leaf) const {
  const NodeState& state = nodes_[leaves_[leaf]];
  double most = 0;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const double measure = measures_[leaf * sizes_.size() + i];
    if (measure <= 0) return fullness_max;
    const double held = kind_.sizes.empty() ? static_cast<double>(state.replicas)
                                            : nano(state.load[kind_.sizes[i].first] + state.unmanaged[kind_.sizes[i].first]);
    most = std::max(most, (held + sizes_[i]) / measure);
  }
  return whole(most / step_);
}

std::uint64_t View::key(std::uint32_t leaf) const {
  const std::uint32_t own = own_[leaf];
  if (shares_[leaf] <= 0) return (3ull << phase_shift) | fullness(leaf);
  if (!quotas_.empty()) {
    const std::uint32_t quota = quotas_[leaf];
    if (own < quota) return quota - own >= shards_left_ ? 0 : 1 + std::uint64_t{own} * quota_most_ / quota;
  } else if (own <= static_cast<std::uint64_t>(per_share_ * shares_[leaf])) {
    return (1ull << phase_shift) | fullness(leaf);
  }
  const double mean = share_sum_ / size();
  return (2ull << phase_shift) | whole(own * mean / shares_[leaf]);
}

void View::refresh(NodeIndex node) {
  if (const auto found = leaf(node)) tree_.set(*found, key(*found));
}

const ViewDomains& View::domains(std::size_t depth) {
  auto [found, fresh] = domains_.try_emplace(depth);
  ViewDomains& domains = found->second;
  if (!fresh) return domains;
  std::string last;
  for (std::uint32_t leaf = 0; leaf < size(); ++leaf) {
    const Node& node = nodes_[leaves_[leaf]].node;
    const std::string domain = domain_of(node.name, node.zone, depth);
    if (domains.ranges.empty() || domain != last) domains.ranges.push_back({leaf, leaf});
    domains.ranges.back().end = leaf + 1;
    domains.of.push_back(static_cast<std::uint32_t>(domains.ranges.size() - 1));
    last = domain;
  }
  return domains;
}

void View::begin(const Size& size_of, std::uint64_t dice) {
  per_share_ = share_sum_ > 0 ? static_cast<double>(size_of.shards * size_of.replicas) / share_sum_ : 0;
  if (size_of.shards * size_of.replicas < size()) return;
  set_quotas(size_of, dice);
  shards_left_ = size_of.shards;
  std::vector<std::uint64_t> keys(size()), owed(size());
  for (std::uint32_t leaf = 0; leaf < size(); ++leaf) {
    keys[leaf] = key(leaf);
    owed[leaf] = owed_key(leaf);
  }
  tree_.assign(keys);
  owed_.assign(owed);
}

// A node that is owed as much as there are shards left has to get one of each. If quotas add up and nothing else stands in the way, at
// most as many nodes as a shard has replicas are in that state, and all quotas are met to the last.
void View::next_shard(std::uint64_t left) {
  shards_left_ = left;
  if (quotas_.empty()) return;
  while (const auto leaf = owed_.least({}, 0)) {
    if (quotas_[*leaf] - own_[*leaf] < left) return;
    if (tree_.key(*leaf) != LeastTree::blocked) unblock(*leaf);
    owed_.set(*leaf, LeastTree::blocked);
  }
}

std::uint64_t View::owed_key(std::uint32_t leaf) const {
  return own_[leaf] < quotas_[leaf] ? LeastTree::blocked - 1 - (quotas_[leaf] - own_[leaf]) : LeastTree::blocked;
}

// What each node should get: in proportion to shares, but no domain more than it can have replicas of different shards. Parts of a
// replica are rounded down, and what is left over goes to the least full.
void View::set_quotas(const Size& size_of, std::uint64_t dice) {
  const ViewDomains& places = domains(size_of.depth);
  const std::size_t count = places.ranges.size();
  const std::uint64_t rounds = size_of.hard ? 1 : (size_of.replicas + count - 1) / count;
  const auto most = static_cast<double>(size_of.shards * rounds);
  std::vector<double> share(count);
  for (std::uint32_t leaf = 0; leaf < size(); ++leaf) share[places.of[leaf]] += shares_[leaf];
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::uint32_t domain) { return share[domain]; });
  std::vector<double> rate(count);  // replicas per share
  double left = static_cast<double>(size_of.shards * size_of.replicas), share_left = share_sum_;
  for (const std::uint32_t domain : order) {
    const double part = share_left > 0 ? std::min(most, left * share[domain] / share_left) : 0;
    rate[domain] = share[domain] > 0 ? part / share[domain] : 0;
    left -= part;
    share_left -= share[domain];
  }
  quotas_.assign(size(), 0);
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> in_domain(count);
  for (std::uint32_t leaf = 0; leaf < size(); ++leaf) {
    const double part = std::min(rate[places.of[leaf]] * shares_[leaf] * nudge, static_cast<double>(size_of.shards));
    quotas_[leaf] = static_cast<std::uint32_t>(part);
    sum += quotas_[leaf];
    in_domain[places.of[leaf]] += quotas_[leaf];
  }
  std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t>> by_fullness;
  for (std::uint32_t leaf = 0; leaf < size(); ++leaf) by_fullness.push_back({{fullness(leaf), mix64(dice, leaf)}, leaf});
  std::ranges::sort(by_fullness);
  for (const auto& [fullness, leaf] : by_fullness) {
    if (sum >= size_of.shards * size_of.replicas) break;
    if (shares_[leaf] <= 0 || quotas_[leaf] >= size_of.shards || static_cast<double>(in_domain[places.of[leaf]]) >= most)
      continue;
    ++quotas_[leaf];
    ++in_domain[places.of[leaf]];
    ++sum;
  }
  quota_most_ = std::ranges::max(quotas_);
}

void View::touch(std::uint32_t leaf) {
  if (own_[leaf] == 0) touched_.push_back(leaf);
}

void View::took(std::uint32_t leaf) {
  touch(leaf);
  ++own_[leaf];
  unblock(leaf);
  if (!quotas_.empty()) owed_.set(leaf, owed_key(leaf));
}

void View::end() {
  const bool all = !quotas_.empty() || tree_.size() != size();
  for (const std::uint32_t leaf : touched_) own_[leaf] = own_leaders_[leaf] = 0;
  quotas_.clear();
  per_share_ = 0;
  if (all) {
    std::vector<std::uint64_t> keys(size());
    for (std::uint32_t leaf = 0; leaf < size(); ++leaf) keys[leaf] = key(leaf);
    tree_.assign(keys);
  } else {
    for (const std::uint32_t leaf : touched_) unblock(leaf);
  }
  touched_.clear();
}

}  // namespace evenkeel::place::detail
