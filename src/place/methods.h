#pragma once
// Methods: placement without coordination. Whoever knows the nodes and a key computes where the key lives; nobody has to remember it.
//
//   Draw draw({{.name = NodeId("n1"), .zone = "dc1/r1"}, {.name = NodeId("n2"), .zone = "dc2/r1", .weight = 2}, …},
//             {.method = Method::rendezvous, .depth = 1, .hard = true});      // one replica per first part of the zone path
//   for (std::uint32_t node : draw.pick("user:17", 3)) connect(draw.nodes()[node].name);      // the first leads
//
//   Plan plan = plan_by_method(cluster, Method::crush);                       // a whole cluster: as `evenkeel plan --method crush`
//
// rendezvous  Every node draws a straw for the key, in proportion to its weight, and the best ones have it. O(nodes) per key, mostly
//             without a logarithm. Exactly minimal movement, with and without domains: a node that leaves moves what it held and nothing
//             else; one that comes, or gains weight, only attracts; one that loses weight only gives.
// crush       A draw from the top of the zone tree downwards, with the same straws at every fork; a subtree weighs what its nodes weigh
//             together. O(children along the path) per draw: for large trees far cheaper than rendezvous. The first draws with different
//             nodes, and different domains, have the key; draws are bounded, and what is missing then is filled as by rendezvous.
//             A node that is `out` keeps its weight in the tree and gets nothing: exactly what it held moves. A node that is added,
//             removed or reweighted changes the weights above it, so keys also move between its domain and others, in proportion to
//             the change; never between two domains whose weights did not change.
//
// Same names, zones, weights, seed and key: the same answer on every platform and in every version, whatever the order of nodes. Golden
// tests hold it. No limits are known here: evenness is that of chance, about sqrt(keys per node) either way. `plan` keeps limits, moves
// less and is far more level; these are for those who cannot ask it. A Draw does not change: any number of threads may pick from it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/model/cluster.h"
#include "evenkeel/place/plan.h"

namespace evenkeel::place {

enum class Method : std::uint8_t { rendezvous, crush };
// "rendezvous", "crush"; and back.
std::string_view name(Method method);
std::optional<Method> parse_method(std::string_view text);

struct DrawNode {
  static constexpr std::uint64_t weight_max = 1ull << 40;
  NodeId name;
  std::string zone;          // a path, outermost first; empty: none
  std::uint64_t weight = 1;  // only proportions matter; 0: gets nothing
  bool out = false;          // gets nothing, and the tree above it stays as heavy as before
  friend bool operator==(const DrawNode&, const DrawNode&) = default;
};

struct DrawOptions {
  Method method = Method::rendezvous;
  std::size_t depth = 0;  // replicas in different domains: so many parts of the zone path are one; 0: only in different nodes
  bool hard =
      false;  // never two in one domain; else as many domains as possible, and no domain gets one more before all have as many
  std::uint64_t seed = 0;  // another seed, another placement
  friend bool operator==(const DrawOptions&, const DrawOptions&) = default;
};

class Draw {
 public:
  // Node names differ. O(nodes · log nodes).
  explicit Draw(std::vector<DrawNode> nodes, DrawOptions options = {});

  // Where the key's replicas live, best first, as places in nodes(). Fewer than asked for if there are not so many nodes that take
  // anything, or with `hard` not so many domains. `kept` are replicas that stay: they come first, and the others keep away from them, as
  // from nodes that are `barred`.
  std::vector<std::uint32_t> pick(std::string_view key, std::uint32_t replicas, const std::vector<std::uint32_t>& kept = {},
                                  std::span<const std::uint32_t> barred = {}) const;
  // The key of a shard is its text, "t1/9".
  std::vector<std::uint32_t> pick(const ShardId& shard, std::uint32_t replicas) const;

  const std::vector<DrawNode>& nodes() const { return nodes_; }
  std::uint32_t takers() const { return takers_; }           // nodes that may get something
  std::uint32_t domains() const { return taking_domains_; }  // domains with such a node

 private:
  struct Row;
  struct Fork {
    std::uint64_t hash = 0;    // of its path
    std::uint64_t weight = 0;  // of all below
    std::int64_t node = -1;    // a leaf's node, else -1
    std::uint32_t first = 0;   // children, in `forks_`
    std::uint32_t count = 0;
  };

  void number_domains();
  void grow_fork(std::size_t fork, const std::vector<std::uint32_t>& below, std::size_t depth);
  std::uint32_t descend(std::uint64_t key) const;
  std::uint32_t domains_with_more_than(std::uint32_t takers) const;
  void pick_by_tree(std::uint64_t key, std::uint32_t replicas, Row& row) const;
  void pick_best(std::uint64_t key, std::uint32_t replicas, Row& row) const;
  void pick_fresh(std::uint64_t key, std::uint32_t replicas, Row& row) const;
  bool takes(std::uint32_t node) const { return nodes_[node].weight > 0 && !nodes_[node].out; }

  std::vector<DrawNode> nodes_;
  DrawOptions options_;
  std::vector<std::uint64_t> hashes_;         // by node
  std::vector<std::uint32_t> domains_;        // by node: numbers of domains, 0…
  std::vector<std::uint32_t> domain_takers_;  // how many nodes take something, a number for each domain, falling
  std::uint32_t takers_ = 0;
  std::uint32_t taking_domains_ = 0;
  std::vector<Fork> forks_;  // the root first; only for crush
};

// Where a method puts every shard of a cluster that passed check(), and what that takes from where they are.
//
// Able nodes are those that are up, have the labels and no taint that is not tolerated. In the crush tree a node that is down, draining or
// cordoned stays as one that is out, so that losing a node moves what it held and nothing else. A node weighs its power times its
// capacity in the workload's dominant resource (the one of which a replica takes the largest part of a mean node); without load, its
// power times its cores; a node that does not name its capacity, or cores, counts as the mean of those that do. Pinned replicas stay and
// come first; the first of a row that may lead leads.
//
// Moves carry the reason `repair` from a node that is down, `drain` from one that is draining, else `rules`; moves of one shard are in
// successive steps. There is no moves_max, tolerance or budget: a method knows only where things belong. Limits are not kept either; what
// exceeds them is told in `violations`, once per workload and rule (`capacity`, `count`). A new workload that has fewer able nodes, or
// domains, than replicas is refused whole; of one that is there, what has no home stays where it is, refused. A shard that lost its
// quorum is placed like any other, and told. Cores are not chosen.
Plan plan_by_method(const Cluster& cluster, Method method, std::uint64_t seed = 0);

}  // namespace evenkeel::place
