#pragma once
// A packing in the making: a request in the few numbers that choosing needs, and where every replica is so far.
//
// Levels are dimensions that have a weight, and the request's own measure as one more. Limits are dimensions whose room some node could
// run out of; the others are not looked at. Slot 0 of a row is the leader's and carries the lead on top.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "evenkeel/place/detail/pack.h"

namespace evenkeel::place::detail {

class Packing {
 public:
  struct Level {
    double factor = 0;  // weight / share; 0: the node takes no part
    double usage = 0;
  };

  explicit Packing(const Pack& request);

  // What is better kept away from, the worse the higher; 0: nothing is wrong with the node.
  static constexpr std::uint8_t outside = 1, avoided = 2;

  const Pack& request() const { return *request_; }
  std::uint32_t shards() const { return request_->shards; }
  std::uint32_t replicas() const { return request_->replicas; }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(request_->able.size()); }
  std::uint32_t domains() const { return domains_; }
  std::uint32_t domain(std::uint32_t node) const { return request_->domains[node]; }
  const std::vector<std::uint32_t>& able() const { return able_; }
  std::uint8_t rank(std::uint32_t node) const { return rank_[node]; }
  bool may_lead(std::uint32_t node) const { return request_->leads[node] != 0; }
  bool is_barred(std::uint32_t shard, std::uint32_t node) const {
    return !request_->barred.empty() && std::ranges::binary_search(request_->barred, Bar{shard, node});
  }
  bool has_lead() const { return has_lead_; }

  std::size_t levels() const { return levels_; }
  const Level* level(std::uint32_t node) const { return level_.data() + node * levels_; }
  double weight(std::size_t level) const { return weight_[level]; }
  const double* size(std::uint32_t shard) const { return sizes_.data() + shard * levels_; }
  // Shards are visited in no order that memory knows: their numbers are fetched a few shards ahead.
  void prefetch(std::uint32_t shard) const {
    __builtin_prefetch(size(shard));
    __builtin_prefetch(request_->loads.data() + std::size_t{shard} * request_->width);
    __builtin_prefetch(at_.data() + std::size_t{shard} * replicas(), 1);
  }
  // What the leader carries on top; levels() zeros if nothing.
  const double* lead() const { return lead_.data(); }
  double total(std::size_t level) const { return totals_[level]; }
  // A node's part of the request if all were level, as far as that can be; the parts of able nodes add up to 1.
  double part(std::uint32_t node) const { return part_[node]; }
  double lead_part(std::uint32_t node) const { return lead_part_[node]; }

  std::uint32_t at(std::uint32_t replica) const { return at_[replica]; }
  std::span<const std::uint32_t> row(std::uint32_t shard) const {
    return std::span(at_).subspan(std::size_t{shard} * replicas(), replicas());
  }
  std::uint32_t shard_of(std::uint32_t replica) const { return replica / replicas(); }
  bool leads(std::uint32_t replica) const { return replica % replicas() == 0; }
  std::uint32_t leaders(std::uint32_t node) const { return leaders_[node]; }
  std::uint32_t held(std::uint32_t node) const { return held_[node]; }

  // The change of Σ factor · usage² if so much more were there.
  double delta(std::uint32_t node, const double* more) const {
    const Level* levels = level(node);
    double sum = 0;
    for (std::size_t l = 0; l < levels_; ++l) sum += levels[l].factor * more[l] * (2 * levels[l].usage + more[l]);
    return sum;
  }
  // How good a whole packing is: what matters more comes first.
  struct Standing {
    std::uint64_t domains_lost = 0;  // by rows that lie in fewer than they have replicas
    std::uint64_t ranks = 0;
    double above_soft = 0;
    std::uint64_t mute = 0;  // rows led from where no leader should be
    double cost = 0;
    friend auto operator<=>(const Standing&, const Standing&) = default;
  };
  Standing standing() const;

  // Whether a replica of the shard may be there and fits under the hard limits, under the soft ones; with or without the lead.
  bool fits(std::uint32_t node, std::uint32_t shard, bool leads) const;
  bool fits_softly(std::uint32_t node, std::uint32_t shard, bool leads) const;
  // Whether the lead fits on top of what is there.
  bool fits_lead(std::uint32_t node) const;
  // Whether `in` fits where `out` is now, and whether the soft excess does not grow by that; `out` may be none.
  bool fits_instead(std::uint32_t node, std::uint32_t in, std::uint32_t out) const;
  // Whether the shard of a replica may have it there: the node is free of it, and no domain is lost.
  bool spreads(std::uint32_t replica, std::uint32_t to) const;
  // How many other replicas of the row are in that domain; `replicas` if one is on that very node, or none may be there.
  std::uint32_t repeats(std::uint32_t shard, std::uint32_t node) const;
  Amount need(std::uint32_t replica, std::size_t limit) const {
    const std::size_t d = limits_[limit];
    return request_->loads[std::size_t{shard_of(replica)} * request_->width + d] + (leads(replica) ? request_->lead[d] : 0);
  }
  std::size_t limits() const { return limits_.size(); }
  Amount left(std::uint32_t node, std::size_t limit) const { return left_[node * limits_.size() + limit]; }

  void put(std::uint32_t replica, std::uint32_t node);
  void take(std::uint32_t replica);
  // Another slot of the row becomes the first one.
  void lead(std::uint32_t shard, std::uint32_t slot);

  // Before leaders are known their load is counted as if they were spread ideally; settle() counts them where they are.
  void reserve_leads();
  void settle_leads();
  void clear();

  std::uint64_t evaluated = 0;

 private:
  void find_able();
  void find_levels();
  void find_limits();
  void find_parts();
  double water(std::size_t level) const;
  void add_lead(std::uint32_t node, int sign);

  const Pack* request_;
  std::uint32_t domains_ = 0;
  bool has_lead_ = false;
  bool reserved_ = false;
  std::vector<std::uint32_t> able_;
  std::vector<std::uint8_t> rank_;
  std::size_t levels_ = 0;
  std::vector<Level> level_, level_at_start_;
  std::vector<double> sizes_, weight_, lead_, totals_, part_, lead_part_;
  std::vector<std::size_t> limits_, soft_limits_;  // dimensions of the request
  std::vector<Amount> left_, soft_left_;           // nodes × limits
  std::vector<std::uint32_t> at_, leaders_, held_;
};

}  // namespace evenkeel::place::detail
