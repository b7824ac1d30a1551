#pragma once
// The allocator's nodes: what each holds, how much more fits, and which core comes next. Sums are exact, so what is added and taken away
// again leaves no trace.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/model/cluster.h"

namespace evenkeel::place::detail {

// A replica's load by the numbers of resources, none of it zero. In order of names: numbers follow the order in which resources were seen,
// and nothing may depend on that.
using Load = std::vector<std::pair<std::uint32_t, Quantity>>;

struct NodeState {
  struct OnCore {
    std::uint32_t all = 0;
    std::uint32_t counted = 0;  // by the count limit
  };
  Node node;
  bool there = true;           // false: removed, and its number is not given again
  std::vector<Quantity> load;  // by resource, of replicas
  std::vector<OnCore> cores;   // at least one
  std::uint64_t replicas = 0;
  std::uint64_t counted = 0;
  std::uint64_t leaders = 0;
  // What follows from the node and the others' capacities.
  std::vector<Quantity> unmanaged;                // by resource
  std::vector<std::optional<Quantity>> capacity;  // its own, or the mean; nothing: no node names any
  std::optional<std::uint64_t> slots;
};

class AllocatorNodes {
 public:
  explicit AllocatorNodes(Settings settings) : settings_(std::move(settings)) {}

  const Settings& settings() const { return settings_; }
  std::size_t size() const { return nodes_.size(); }
  const NodeState& operator[](NodeIndex index) const { return nodes_[index.value()]; }
  std::optional<NodeIndex> find(const NodeId& name) const;
  const std::map<NodeId, NodeIndex>& by_name() const { return by_name_; }
  const ResourceId& resource(std::uint32_t number) const { return resources_[number]; }

  void add_all(const std::vector<Node>& nodes);  // to none
  NodeIndex add(Node node);
  void change(NodeIndex index, Node node);
  void remove(NodeIndex index);

  // Resources are numbered as they are seen.
  Load numbered(const Amounts& amounts);

  // Adds or takes away (times: 1 or -1) a replica, or what leading takes on top.
  void add_replica(NodeIndex index, Core core, const Load& load, bool system, int times);
  void add_leader(NodeIndex index, const Load& leader_load, int times);

  // Whether a replica fits; why not, as text ("disk 96%+1% > 95%", "7000 of 7000 replicas"); how many do, at most `most`.
  bool fits(NodeIndex index, const Load& load, bool system) const;
  bool fits_on_top(NodeIndex index, const Load& load, const Load& more) const;
  std::string why_not(NodeIndex index, const Load& load, bool system) const;
  std::uint64_t room(NodeIndex index, const Load& load, bool system, std::uint64_t most) const;
  std::uint64_t slots_left(NodeIndex index, bool system, std::uint64_t most) const;

  // `own` is how many replicas of the workload each core holds; where it ends, none.
  Core choose_core(NodeIndex index, bool system, std::span<const std::uint32_t> own) const;

 private:
  void know_resource(const ResourceId& resource);
  void put(NodeIndex index, Node node);
  void follow();  // means, limits and slots anew
  bool has_room(NodeIndex index, std::uint32_t resource, Quantity more) const;

  Settings settings_;
  std::vector<ResourceId> resources_;
  std::map<ResourceId, std::uint32_t> numbers_;
  std::vector<NodeState> nodes_;
  std::map<NodeId, NodeIndex> by_name_;  // those that are there
};

}  // namespace evenkeel::place::detail
