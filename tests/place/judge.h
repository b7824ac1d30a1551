#pragma once
// The judge: every promise that a plan breaks, as sentences.
//
// Written from the rules alone, as naively as they can be read: nothing of the planner is used but the values that go in and come out,
// all amounts are compared exactly, and speed is nobody's concern. Where the rules leave a choice the judge accepts either.
//
//   for (const std::string& broken : judge(cluster, plan(cluster, options), options)) ADD_FAILURE() << broken;

#include <string>
#include <vector>

#include "evenkeel/model/cluster.h"
#include "evenkeel/place/place.h"

namespace evenkeel::place {

std::vector<std::string> judge(const Cluster& before, const Plan& plan, const PlanOptions& options);

// What the judge knows of nodes and limits, for tests that ask the same questions.
namespace naive {

// Labels and taints; not status.
bool suits(const Node& node, const Workload& workload);
// May be given a replica: up, and labels and taints suit.
bool takes(const Node& node, const Workload& workload);
bool is_barred(const Cluster& cluster, const Workload& workload, std::uint32_t shard, std::uint32_t node);
bool may_lead(const Node& node);
// The domain of the workload's spread level. A node without a zone is its own.
std::string domain(const Cluster& cluster, const Workload& workload, std::size_t node);
bool spread_is_hard(const Cluster& cluster, const Workload& workload);
// What one replica carries.
Amounts load(const Workload& workload, std::uint32_t shard, bool leads);
// Most replicas that count: cores and replicas_max; none if unlimited.
std::optional<std::uint64_t> count_limit(const Cluster& cluster, const Node& node);

// What nodes hold: loads beside `used`, and the number of replicas that count.
class Held {
 public:
  explicit Held(const Cluster& cluster);
  void add(std::size_t node, const Workload& workload, std::uint32_t shard, bool leads);
  void remove(std::size_t node, const Workload& workload, std::uint32_t shard, bool leads);

  std::uint64_t count(std::size_t node) const { return counts_[node]; }
  Quantity load(std::size_t node, const ResourceId& resource) const;
  bool count_fits(std::size_t node) const;
  // Whether the load of one resource, or of every one, is within the limit.
  bool fits(std::size_t node, const ResourceId& resource, bool soft) const;
  bool fits(std::size_t node, bool soft) const;
  // In the resources of which something has just arrived there.
  bool fits_what_arrived(std::size_t node, const Held& arrived) const;
  // A node's capacity as a fraction: named, or the mean of those that name it; nothing if nobody does.
  struct Capacity {
    Quantity sum;
    std::int64_t over = 1;
    double value() const { return sum.to_double() / static_cast<double>(over); }
  };
  std::optional<Capacity> capacity(std::size_t node, const ResourceId& resource) const;

 private:
  const Cluster* cluster_;
  std::vector<Amounts> loads_;
  std::vector<std::uint64_t> counts_;
};

// Everything as one placement holds it, `used` included.
Held held(const Cluster& cluster, const std::map<WorkloadId, Placement>& placement);

}  // namespace naive

}  // namespace evenkeel::place
