#pragma once
// Placing one request of an allocator, shard by shard. What it took it gives back unless it succeeds.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/place/detail/allocator_state.h"

namespace evenkeel::place::detail {

class Placing {
 public:
  Placing(AllocatorState& state, const Workload& spec, const Loads& loads, OwnCores& own);
  ~Placing();
  Placing(const Placing&) = delete;
  Placing& operator=(const Placing&) = delete;

  // Rows for so many shards from `first` on; or none, and why.
  std::optional<NotAllocated> place(ShardIndex first, std::uint32_t shards, SpotTable& rows);

  // What replaces a part of one shard's row.
  struct More {
    ShardIndex shard;
    std::vector<NodeIndex> kept;     // those that stay
    std::vector<NodeIndex> leaving;  // where not to go either
    std::uint32_t replicas = 0;      // how many
    bool leader = false;             // the first of them leads
  };
  tl::expected<std::vector<Spot>, NotAllocated> place_more(const More& more);

 private:
  enum class Lead : std::uint8_t { anyone, who_may, who_can };  // what is asked of the first
  using Leaves = std::vector<std::uint32_t>;

  bool place_in_order(ShardIndex first, std::span<const std::uint32_t> order, SpotTable& rows);
  bool place_dealt(ShardIndex first, std::uint32_t shards, SpotTable& rows);
  std::optional<Leaves> pick_row(ShardIndex shard);
  std::optional<Leaves> pick(std::uint32_t replicas, Leaves domains, std::uint64_t dice, Lead lead);
  std::optional<std::uint32_t> pick_one(std::span<const Range> without, std::uint64_t dice, Lead lead);
  bool leader_first(Leaves& row, Lead lead, std::uint64_t dice) const;
  bool can_lead(NodeIndex node, Lead lead) const;
  std::vector<Range> crowded(Leaves domains, std::uint32_t most) const;
  std::vector<Spot> settle(const Leaves& row, bool leader);
  void give_back(ShardIndex first, std::span<const std::uint32_t> placed, const SpotTable& rows);
  std::vector<std::uint32_t> by_falling_load(ShardIndex first, std::uint32_t shards) const;

  // A bound that no placement meets, in O(nodes): how many replicas are missing, and of what.
  std::optional<NotAllocated> why_impossible(std::uint64_t shards, std::uint64_t replicas, const More* more);
  std::uint64_t most_that_fit(std::uint64_t shards, const Load& load, bool in_domains, bool system, const More* more) const;
  NotAllocated refusal(RefusalReason reason, std::string detail, bool proved, const More* more) const;

  AllocatorState& state_;
  AllocatorNodes& nodes_;
  const Workload& spec_;
  const Loads& loads_;
  OwnCores& own_;
  Spread spread_;
  std::size_t depth_;
  View& view_;
  const ViewDomains& domains_;
  std::uint64_t dice_;               // of seed and workload
  bool alike_;                       // all shards have one load: who has no room once has none for the rest
  Load load_;                        // of the present shard
  std::vector<std::uint32_t> full_;  // leaves blocked for the rest of the request
};

}  // namespace evenkeel::place::detail
