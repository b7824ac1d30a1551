#pragma once
// place: the placement engine. A cluster in, a plan out; nothing else.
//
// The same engine places a topic at its creation, repairs after a node is lost, drains, levels load, and solves the planning problem of
// somebody who only has a file.
//
//   Plan plan = place::plan(cluster);                      // a cluster that passed check()
//   if (!plan.met()) for (const Refusal& no : plan.refused) ...
//   Cluster next = apply(cluster, plan);                   // plan(next) is empty, unless this one was cut short
//
//   plan.h        the plan as a value, as text, applied
//   explain.h     why a shard is where it is, and why nowhere else
//   allocator.h   for services that create workloads one by one: reservations that undo themselves
//   methods.h     placement without coordination: weighted rendezvous, a draw over the zone tree
//   kafka.h       Kafka's reassignment files in and out
//   engine.h      the search core under it: problem, state, rules, goals, moves; for problems of other shapes
//
// Pure: the same cluster, seed and budget give the same plan, whatever the order of nodes. Only `stop`, if given, ends that promise.
//
// The order of things: moves in flight that lead nowhere are cancelled; replicas leave nodes that are down, draining, no longer able or
// barred to their shard; shards grow and shrink; new workloads are placed, each wholly or not at all; limits, then spread, then load are
// put right; leaders are levelled. Limits count a leaving replica until it has left and an arriving one from the start; scores count where
// everything ends.
//
// Cost: linear in the cluster to load; a repair costs what was lost; balancing is anytime, within the budget.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "evenkeel/model/cluster.h"
#include "evenkeel/place/plan.h"

namespace evenkeel::place {

enum class Only : std::uint8_t { everything, allocate, repair, balance };

struct PlanOptions {
  std::uint64_t seed = 0;
  std::uint64_t budget = 0;    // evaluated moves; 0: follows from the size of the problem
  std::function<bool()> stop;  // asked every thousand moves or so; true: the best so far is the plan
  Only only = Only::everything;
  bool force = false;             // touch shards without quorum
  bool all = false;               // ignore moves_max, and cut the plan into steps that each respect it
  bool cores = false;             // choose cores too
  std::uint32_t reasons_max = 8;  // nodes named per refusal
};

Plan plan(const Cluster& cluster, const PlanOptions& options = {});

struct Explanation;

// The same in two parts, for those who measure or ask twice. The cluster must outlive it.
class Planner {
 public:
  explicit Planner(const Cluster& cluster, const PlanOptions& options = {});
  ~Planner();

  Plan plan();
  // How it stands after plan(): why this shard is where it is (explain.h). Nothing if there is no such shard.
  std::optional<Explanation> explain(const ShardId& shard) const;

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace evenkeel::place
