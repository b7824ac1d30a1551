#pragma once
// The engine's rules and goals as they are defined, computed from an arrangement alone: slow, plain, and sharing no code with them.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "evenkeel/place/engine.h"

namespace evenkeel::place {

// Where everything is. Homes are where it was when things last settled.
struct Arrangement {
  std::vector<std::uint32_t> at, home;             // by replica: a node, or none
  std::vector<std::uint32_t> leader, leader_home;  // by group: a replica, or none; a node, or none

  static Arrangement of(const State& state);
};

struct NaiveLoads {
  std::vector<Amount> usage, peak;  // nodes × dimensions
};
NaiveLoads naive_loads(const Problem& problem, const Arrangement& where);

Cost naive_cost(const Problem& problem, const Arrangement& where);

// Every single thing that a rule says, by name, and whether it holds: "spread 4", "distinct 4 5". What only a change can break (a node
// that may not receive, a frozen replica) is told from where things were before.
std::map<std::string, bool> naive_rules(const Problem& problem, const Arrangement& where, const Arrangement& before);

}  // namespace evenkeel::place
