#pragma once
// The placement benchmark's instances and what happens to them, as clusters made from a seed: the same on every machine, without files.
//
//   Cluster cluster = bench::make_instance("P6", seed);
//   bench::happen("E1", 0, cluster, seed);        // it loses a node
//
// All draws are splitmix64's. Loads are computed in doubles and rounded to whole millionths (of a core, of a gigabit per second) or MiB, so
// that a last bit in somebody's pow() does not show. docs/benchmarks-place.md says what each instance is and why.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/model/cluster.h"

namespace evenkeel::bench {

struct Instance {
  std::string id;
  bool force = false;  // its shards have one replica: a lost node leaves no quorum anywhere, and it is still to be repaired
};
const std::vector<Instance>& instances();

// Nothing is placed yet. The id is one of instances().
Cluster make_instance(std::string_view id, std::uint64_t seed);

// A hash of all capacities and loads: equal if two machines made the same instance.
std::uint64_t fingerprint(const Cluster& cluster);

struct Event {
  std::string id;
  std::uint32_t steps = 1;  // each is planned for and carried out before the next one
};
const std::vector<Event>& events();

// Changes a cluster in which everything is placed. The id is one of events().
void happen(std::string_view id, std::uint32_t step, Cluster& cluster, std::uint64_t seed);

}  // namespace evenkeel::bench
