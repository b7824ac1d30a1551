#pragma once
// First places: large shards first, each replica on the one of some drawn nodes where it does least harm to the level.
//
// Nodes are drawn by lot, in proportion to what they should get, from every domain; the draw keeps groups of nodes from closing. All able
// nodes are looked at where they are few, and where no drawn one will do.

#include <cstdint>
#include <span>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/place/detail/pack_state.h"

namespace evenkeel::place::detail {

// By which size shards are sorted: the largest or the sum of their parts of the levels, or of the limits.
enum class PackOrder : std::uint8_t { largest, sum, tightest };

class PackGreedy {
 public:
  PackGreedy(Packing& packing, Rng& rng);

  // Places what it can, and returns the replicas that found no home. `jitter` in [0, 1) blurs the order.
  std::vector<std::uint32_t> run(PackOrder order, double jitter);

 private:
  struct Candidate {
    std::uint32_t node;
    std::uint32_t domain;
    std::uint8_t rank;
    double cost;
    double unit;  // what one count of a pair is worth
  };

  void find_tickets();
  std::vector<double> tickets_of_nodes() const;
  std::vector<std::uint32_t> sorted(PackOrder order, double jitter);
  void draw(std::uint32_t shard, std::uint32_t per);
  void add_candidate(std::uint32_t shard, std::uint32_t node);
  void place(std::uint32_t shard, std::vector<std::uint32_t>& homeless);
  bool choose(std::uint32_t shard, std::uint32_t replica);
  bool acceptable(const Candidate& candidate, std::uint32_t shard) const;
  std::uint32_t scan(std::uint32_t shard, bool leads);
  void take_up(std::uint32_t replica, std::uint32_t node);
  void choose_leader(std::uint32_t shard);

  Packing& packing_;
  Rng& rng_;
  bool whole_ = false;      // candidates are all able nodes
  bool by_domain_ = false;  // so many are drawn from each domain, else from all together
  std::uint32_t per_draw_ = 0;
  std::uint32_t able_domains_ = 0;
  std::vector<std::uint32_t> tickets_, first_ticket_;  // nodes, as often as they are to be drawn; by domain, or one lot of all
  std::vector<Candidate> candidates_;
  std::vector<std::uint32_t> node_used_, domain_used_;  // by which shard + 1 last
  std::uint32_t row_domains_ = 0;                       // that the row in hand lies in
  std::vector<std::uint16_t> pairs_;  // nodes × nodes: shards that they share; empty if there are too many nodes
  double pair_weight_ = 0;
  std::uint64_t scans_left_ = 0;
};

}  // namespace evenkeel::place::detail
