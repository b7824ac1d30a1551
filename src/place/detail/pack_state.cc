#include "evenkeel/place/detail/pack_state.h"

#include <algorithm>

namespace evenkeel::place::detail {
namespace {

double as_double(Amount amount) { return static_cast<double>(amount); }

}  // namespace

Packing::Packing(const Pack& request) : request_(&request) {
  has_lead_ = std::ranges::any_of(request.lead, [](Amount amount) { return amount != 0; });
  find_able();
  find_levels();
  find_limits();
  find_parts();
  clear();
}

void Packing::find_able() {
  rank_.assign(nodes(), 0);
  for (std::uint32_t n = 0; n < nodes(); ++n) {
    domains_ = std::max(domains_, request_->domains[n] + 1);
    if (request_->able[n] == 0) continue;
    able_.push_back(n);
    if (!request_->avoid.empty() && request_->avoid[n] != 0) rank_[n] += avoided;
  }
}

void Packing::find_levels() {
  const Pack& request = *request_;
  std::vector<std::size_t> dimensions;
  for (std::size_t d = 0; d < request.width; ++d) {
    if (request.weight[d] > 0) dimensions.push_back(d);
  }
  const bool own = request.own_weight > 0;
  levels_ = dimensions.size() + (own ? 1 : 0);
  sizes_.reserve(std::size_t{shards()} * levels_);
  for (std::size_t s = 0; s < shards(); ++s) {
    for (const std::size_t d : dimensions) sizes_.push_back(as_double(request.loads[s * request.width + d]));
    if (own) sizes_.push_back(as_double(request.measures[s]));
  }
  for (const std::size_t d : dimensions) {
    weight_.push_back(request.weight[d]);
    lead_.push_back(as_double(request.lead[d]));
  }
  if (own) {
    weight_.push_back(request.own_weight);
    lead_.push_back(0);
  }
  totals_.resize(levels_);
  for (std::size_t i = 0; i < sizes_.size(); ++i) totals_[i % levels_] += sizes_[i] * replicas();
  for (std::size_t l = 0; l < levels_; ++l) totals_[l] += lead_[l] * shards();
  level_at_start_.resize(nodes() * levels_);
  for (std::uint32_t n = 0; n < nodes(); ++n) {
    for (std::size_t l = 0; l < levels_; ++l) {
      const bool is_own = l == dimensions.size();
      const double share = is_own ? request.own_share[n] : request.share[n * request.width + dimensions[l]];
      Level& level = level_at_start_[n * levels_ + l];
      level.factor = share > 0 ? weight_[l] / share : 0;
      level.usage = is_own ? 0 : as_double(request.usage[n * request.width + dimensions[l]]);
      if (share <= 0 && totals_[l] > 0) rank_[n] |= outside;
    }
  }
}

// A dimension matters as a limit if some node could be filled up in it by one replica of every shard.
void Packing::find_limits() {
  const Pack& request = *request_;
  for (std::size_t d = 0; d < request.width; ++d) {
    Amount most = 0;
    for (std::size_t s = 0; s < shards() && most < unlimited; ++s) most += request.loads[s * request.width + d] + request.lead[d];
    const auto binds = [&](std::span<const Amount> room) {
      return most > 0 && std::ranges::any_of(able_, [&](std::uint32_t n) { return room[n * request.width + d] < most; });
    };
    if (binds(request.room)) limits_.push_back(d);
    if (binds(request.soft_room)) soft_limits_.push_back(d);
  }
}

// Up to which height usage / share rises if the request were poured onto the nodes like water.
double Packing::water(std::size_t l) const {
  const auto poured = [&](double height) {
    double sum = 0;
    for (const std::uint32_t n : able_) {
      const Level& level = level_at_start_[n * levels_ + l];
      if (level.factor > 0) sum += std::max(0.0, height * weight_[l] / level.factor - level.usage);
    }
    return sum;
  };
  double low = 0, high = 0, shares = 0;
  for (const std::uint32_t n : able_) {
    const Level& level = level_at_start_[n * levels_ + l];
    if (level.factor <= 0) continue;
    high = std::max(high, level.usage * level.factor / weight_[l]);
    shares += weight_[l] / level.factor;
  }
  high += totals_[l] / shares;
  for (int i = 0; i < 40; ++i) {
    const double middle = low + (high - low) / 2;
    (poured(middle) < totals_[l] ? low : high) = middle;
  }
  return high;
}

void Packing::find_parts() {
  part_.assign(nodes(), 0);
  for (std::size_t l = 0; l < levels_; ++l) {
    const bool any = std::ranges::any_of(able_, [&](std::uint32_t n) { return level_at_start_[n * levels_ + l].factor > 0; });
    if (totals_[l] <= 0 || !any) continue;
    const double height = water(l);
    for (const std::uint32_t n : able_) {
      const Level& level = level_at_start_[n * levels_ + l];
      if (level.factor > 0) part_[n] += std::max(0.0, height * weight_[l] / level.factor - level.usage) / totals_[l];
    }
  }
  const auto make_parts = [&](std::vector<double>& part) {
    double sum = 0;
    for (const double p : part) sum += p;
    if (sum <= 0) {
      for (const std::uint32_t n : able_) part[n] = 1 / static_cast<double>(able_.size());
    } else {
      for (double& p : part) p /= sum;
    }
  };
  make_parts(part_);
  lead_part_.assign(nodes(), 0);
  for (const std::uint32_t n : able_) {
    if (may_lead(n)) lead_part_[n] = request_->own_share.empty() ? part_[n] : request_->own_share[n];
  }
  make_parts(lead_part_);
}

void Packing::clear() {
  level_ = level_at_start_;
  reserved_ = false;
  at_.assign(std::size_t{shards()} * replicas(), none);
  leaders_.assign(nodes(), 0);
  held_.assign(nodes(), 0);
  left_.clear();
  soft_left_.clear();
  for (std::uint32_t n = 0; n < nodes(); ++n) {
    for (const std::size_t d : limits_) left_.push_back(request_->room[n * request_->width + d]);
    for (const std::size_t d : soft_limits_) soft_left_.push_back(request_->soft_room[n * request_->width + d]);
  }
}

Packing::Standing Packing::standing() const {
  Standing standing;
  for (std::uint32_t s = 0; s < shards(); ++s) {
    const auto nodes = row(s);
    if (!may_lead(nodes[0])) ++standing.mute;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      standing.ranks += rank_[nodes[i]];
      const auto same = [&](std::uint32_t other) { return domain(other) == domain(nodes[i]); };
      if (std::any_of(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i), same)) ++standing.domains_lost;
    }
  }
  for (std::size_t i = 0; i < soft_left_.size(); ++i) {
    const auto start = static_cast<double>(std::max<Amount>(
        1, request_->soft_room[i / soft_limits_.size() * request_->width + soft_limits_[i % soft_limits_.size()]]));
    if (soft_left_[i] < 0) standing.above_soft -= as_double(soft_left_[i]) / start;
  }
  for (const Level& level : level_) standing.cost += level.factor * level.usage * level.usage;
  return standing;
}

bool Packing::fits(std::uint32_t node, std::uint32_t shard, bool with_lead) const {
  if (is_barred(shard, node)) return false;
  const Amount* load = request_->loads.data() + std::size_t{shard} * request_->width;
  const Amount* left = left_.data() + node * limits_.size();
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const Amount more = load[limits_[i]] + (with_lead ? request_->lead[limits_[i]] : 0);
    if (more > 0 && more > left[i]) return false;
  }
  return true;
}

bool Packing::fits_softly(std::uint32_t node, std::uint32_t shard, bool with_lead) const {
  const Amount* load = request_->loads.data() + std::size_t{shard} * request_->width;
  const Amount* left = soft_left_.data() + node * soft_limits_.size();
  for (std::size_t i = 0; i < soft_limits_.size(); ++i) {
    const Amount more = load[soft_limits_[i]] + (with_lead ? request_->lead[soft_limits_[i]] : 0);
    if (more > 0 && more > left[i]) return false;
  }
  return true;
}

bool Packing::fits_lead(std::uint32_t node) const {
  if (!has_lead_) return true;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    if (request_->lead[limits_[i]] > std::max<Amount>(0, left_[node * limits_.size() + i])) return false;
  }
  for (std::size_t i = 0; i < soft_limits_.size(); ++i) {
    if (request_->lead[soft_limits_[i]] > std::max<Amount>(0, soft_left_[node * soft_limits_.size() + i])) return false;
  }
  return true;
}

bool Packing::fits_instead(std::uint32_t node, std::uint32_t in, std::uint32_t out) const {
  const std::size_t width = request_->width;
  const auto more = [&](std::size_t d) {
    Amount sum = request_->loads[shard_of(in) * width + d] + (leads(in) ? request_->lead[d] : 0);
    if (out != none) sum -= request_->loads[shard_of(out) * width + d] + (leads(out) ? request_->lead[d] : 0);
    return sum;
  };
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const Amount net = more(limits_[i]);
    if (net > 0 && net > left_[node * limits_.size() + i]) return false;
  }
  for (std::size_t i = 0; i < soft_limits_.size(); ++i) {
    const Amount net = more(soft_limits_[i]);
    if (net > 0 && net > soft_left_[node * soft_limits_.size() + i]) return false;
  }
  return true;
}

bool Packing::spreads(std::uint32_t replica, std::uint32_t to) const {
  const std::uint32_t from = at_[replica];
  bool lost = false, there = false;
  if (is_barred(shard_of(replica), to)) return false;
  for (const std::uint32_t node : row(shard_of(replica))) {
    if (node == to) return false;
    if (node == from || node == none) continue;
    there = there || domain(node) == domain(to);
    lost = lost || domain(node) == domain(from);
  }
  return !there || (lost && !request_->hard) || domain(from) == domain(to);
}

std::uint32_t Packing::repeats(std::uint32_t shard, std::uint32_t node) const {
  std::uint32_t count = 0;
  if (is_barred(shard, node)) return replicas();
  for (const std::uint32_t other : row(shard)) {
    if (other == node) return replicas();
    if (other != none && domain(other) == domain(node)) ++count;
  }
  return count;
}

void Packing::add_lead(std::uint32_t node, int sign) {
  if (!has_lead_) return;
  for (std::size_t i = 0; i < limits_.size(); ++i) left_[node * limits_.size() + i] -= sign * request_->lead[limits_[i]];
  for (std::size_t i = 0; i < soft_limits_.size(); ++i) {
    soft_left_[node * soft_limits_.size() + i] -= sign * request_->lead[soft_limits_[i]];
  }
  if (reserved_) return;
  for (std::size_t l = 0; l < levels_; ++l) level_[node * levels_ + l].usage += sign * lead_[l];
}

void Packing::put(std::uint32_t replica, std::uint32_t node) {
  const std::uint32_t shard = shard_of(replica);
  at_[replica] = node;
  ++held_[node];
  const Amount* load = request_->loads.data() + std::size_t{shard} * request_->width;
  for (std::size_t i = 0; i < limits_.size(); ++i) left_[node * limits_.size() + i] -= load[limits_[i]];
  for (std::size_t i = 0; i < soft_limits_.size(); ++i) soft_left_[node * soft_limits_.size() + i] -= load[soft_limits_[i]];
  for (std::size_t l = 0; l < levels_; ++l) level_[node * levels_ + l].usage += size(shard)[l];
  if (!leads(replica)) return;
  ++leaders_[node];
  add_lead(node, 1);
}

void Packing::take(std::uint32_t replica) {
  const std::uint32_t shard = shard_of(replica);
  const std::uint32_t node = at_[replica];
  at_[replica] = none;
  --held_[node];
  const Amount* load = request_->loads.data() + std::size_t{shard} * request_->width;
  for (std::size_t i = 0; i < limits_.size(); ++i) left_[node * limits_.size() + i] += load[limits_[i]];
  for (std::size_t i = 0; i < soft_limits_.size(); ++i) soft_left_[node * soft_limits_.size() + i] += load[soft_limits_[i]];
  for (std::size_t l = 0; l < levels_; ++l) level_[node * levels_ + l].usage -= size(shard)[l];
  if (!leads(replica)) return;
  --leaders_[node];
  add_lead(node, -1);
}

void Packing::lead(std::uint32_t shard, std::uint32_t slot) {
  if (slot == 0) return;
  std::uint32_t* row = at_.data() + std::size_t{shard} * replicas();
  --leaders_[row[0]];
  add_lead(row[0], -1);
  ++leaders_[row[slot]];
  add_lead(row[slot], 1);
  std::swap(row[0], row[slot]);
}

void Packing::reserve_leads() {
  reserved_ = true;
  if (!has_lead_) return;
  for (const std::uint32_t n : able_) {
    for (std::size_t l = 0; l < levels_; ++l) level_[n * levels_ + l].usage += lead_part_[n] * shards() * lead_[l];
  }
}

void Packing::settle_leads() {
  reserved_ = false;
  if (!has_lead_) return;
  for (const std::uint32_t n : able_) {
    for (std::size_t l = 0; l < levels_; ++l) {
      level_[n * levels_ + l].usage += (leaders_[n] - lead_part_[n] * shards()) * lead_[l];
    }
  }
}

}  // namespace evenkeel::place::detail
