#pragma once
// A view: the nodes that may hold one kind of request, in order of zones, with a tournament over how full they are. It is made once per
// kind and then follows every change, so that a request finds its nodes in O(log nodes).
//
// While a request is being placed, keys also hold what it has put where. The key of a node is, first, its phase: 0, the request still
// owes it a part of its quota; 1, it may take one more; 2, it has had its share; 3, it has none, since a taint asks to avoid it. Then, in phase 0, how much of the quota it has; in
// phase 1 how full it is, in steps of one replica of the kind on a mean node; in phase 2 how much more than its share it has.
// Small requests (fewer replicas than nodes) have no quotas: nodes begin in phase 1.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/place/detail/allocator_nodes.h"
#include "evenkeel/place/detail/allocator_tree.h"

namespace evenkeel::place::detail {

// What requests have in common that share an order of nodes. Loads within a factor of two count as one size.
struct Kind {
  Labels require;
  std::vector<Toleration> tolerate;
  std::vector<std::pair<std::uint32_t, int>> sizes;  // resource, and the power of two at or below the load in billionths
  friend bool operator==(const Kind&, const Kind&) = default;
};
Kind kind_of(const Workload& workload, const Load& load);

// The domains of one depth; each is a range of leaves.
struct ViewDomains {
  std::vector<std::uint32_t> of;  // by leaf
  std::vector<Range> ranges;      // by domain
};

class View {
 public:
  View(const AllocatorNodes& nodes, Kind kind, const Workload& workload);

  const Kind& kind() const { return kind_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(leaves_.size()); }
  NodeIndex node(std::uint32_t leaf) const { return leaves_[leaf]; }
  std::optional<std::uint32_t> leaf(NodeIndex node) const;
  double share(std::uint32_t leaf) const { return shares_[leaf]; }
  const ViewDomains& domains(std::size_t depth);

  // The node's usage changed, and no request is being placed.
  void refresh(NodeIndex node);

  // A request of so many shards and replicas; `dice` ends ties between those that get one more than others.
  struct Size {
    std::uint64_t shards = 0;
    std::uint64_t replicas = 0;
    std::size_t depth = 1;
    bool hard = false;
  };
  void begin(const Size& size, std::uint64_t dice);
  void end();
  void next_shard(std::uint64_t left);  // so many are left, this one included
  std::optional<std::uint32_t> least(std::span<const Range> without, std::uint64_t dice) const {
    return tree_.least(without, dice);
  }
  void block(std::uint32_t leaf) { tree_.set(leaf, LeastTree::blocked); }
  void unblock(std::uint32_t leaf) { tree_.set(leaf, key(leaf)); }
  void took(std::uint32_t leaf);  // one more replica is there; its usage counts it already
  void leads(std::uint32_t leaf) { ++own_leaders_[leaf]; }
  std::uint32_t own_leaders(std::uint32_t leaf) const { return own_leaders_[leaf]; }

 private:
  void measure();
  std::uint64_t fullness(std::uint32_t leaf) const;
  std::uint64_t key(std::uint32_t leaf) const;
  std::uint64_t owed_key(std::uint32_t leaf) const;
  void touch(std::uint32_t leaf);
  void set_quotas(const Size& size, std::uint64_t dice);

  const AllocatorNodes& nodes_;
  Kind kind_;
  std::vector<NodeIndex> leaves_;       // in order of zone, then name
  std::vector<std::uint32_t> leaf_of_;  // by node; size() if it has none
  std::vector<double> sizes_;           // of a replica, in billionths, by resource of the kind; without any: 1 replica
  std::vector<double> measures_;        // capacity times power, leaf by leaf; of replicas: slots times power
  double step_ = 1;                     // what a replica adds to the fullness of a mean node
  std::vector<double> shares_;          // by leaf, of what a replica takes most of
  double share_sum_ = 0;
  std::map<std::size_t, ViewDomains> domains_;  // by depth
  LeastTree tree_;

  // Of the request that is being placed.
  double per_share_ = 0;               // replicas per share
  std::vector<std::uint32_t> quotas_;  // by leaf; empty: small
  std::uint32_t quota_most_ = 0;
  std::uint64_t shards_left_ = 0;
  LeastTree owed_;                          // what is missing of the quotas, the most first
  std::vector<std::uint32_t> own_;          // by leaf; zero between requests
  std::vector<std::uint32_t> own_leaders_;  // likewise
  std::vector<std::uint32_t> touched_;
};

}  // namespace evenkeel::place::detail
