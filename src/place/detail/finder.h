#pragma once
// Finding the best node for a replica: all of them where they are few, else from the emptiest on until enough were found that may.

#include <cstdint>
#include <span>
#include <vector>

#include "evenkeel/place/detail/board.h"

namespace evenkeel::place::detail {

class Finder {
 public:
  explicit Finder(Board& board) : board_(board), trial_(*board.state) {}

  struct Choice {
    std::uint32_t node = none;
    Cost cost;
  };
  // Where the replica costs least. Ties end with a hash of seed, shard and node name.
  Choice best(std::uint32_t replica);
  // Where it would have cost least of the nodes that limits on moves kept the last search from; or, of what is placed for the first
  // time, room that others leave.
  const Choice& barred() const { return barred_; }
  // Whether any node could take it, if limits on moves allowed it.
  bool could_go(std::uint32_t replica);
  // The nodes from the emptiest to the fullest, relative to their shares; those that take no part last.
  const std::vector<std::uint32_t>& by_level();

 private:
  static constexpr std::size_t few = 256;
  static constexpr std::size_t enough = 48;

  void refresh();
  double level(std::uint32_t node) const;
  // What every node is asked about a replica, looked up once.
  struct Asked {
    std::uint32_t replica;
    std::uint32_t at;
    const std::uint8_t* able;
    std::span<const Amount> load;
  };
  Asked ask(std::uint32_t replica) const;
  bool fits(const Asked& asked, std::uint32_t node);
  // Domains with a node that may hold replicas of a workload.
  struct Open {
    std::vector<std::uint8_t> by_domain;
    std::size_t count = 0;
  };
  const Open& open_domains(std::uint32_t family);
  bool find_taken(std::uint32_t replica);
  Choice best_of(std::uint32_t replica, bool taken);

  Board& board_;
  Trial trial_;
  std::vector<std::uint32_t> order_;
  std::size_t uses_ = 0;
  Choice barred_;
  std::vector<Open> open_;                 // by family, once asked for
  const std::uint32_t* domain_ = nullptr;  // by node, of those that the last replica is spread over
  std::vector<std::uint32_t> taken_;       // of these, by its shard's others
  std::vector<double> fair_;
  std::vector<double> some_;  // by dimension: the load of some mean replicas
};

// By dimension: Σ usage / Σ share over the nodes that take part; 0 where nothing is levelled.
std::vector<double> fair_levels(const Board& board);

}  // namespace evenkeel::place::detail
