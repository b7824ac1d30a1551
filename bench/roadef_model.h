#pragma once
// The machine reassignment problem of the ROADEF/EURO challenge 2012, as a value: read, written, judged, and put to the placement engine.
//
// Machines have capacities in some resources, services have processes, and every process is on a machine at the start. Which processes go
// elsewhere so that the machines are less loaded and the moves cost little? `evaluate` recomputes the objective and the five constraints
// from their definitions and shares nothing with the engine, so that it can be the engine's judge.
//
//   const auto model = roadef::parse_model(text, "model.txt");
//   const auto start = roadef::parse_assignment(other_text, "assignment.txt", *model);
//   const roadef::Instance instance(*model, *start);
//   place::State state(instance.problem);      // then place::improve
//   const auto verdict = roadef::evaluate(*model, *start, instance.assignment(state));
//
// All amounts are whole numbers. Reading refuses what does not fit: a count out of range, a sum that would leave 62 bits.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/result.h"
#include "evenkeel/place/engine.h"

namespace roadef {

using evenkeel::Result;
using Amount = std::int64_t;
using Assignment = std::vector<std::uint32_t>;  // by process: its machine

struct Resource {
  bool transient = false;  // a process that leaves still holds it there
  Amount weight = 0;       // of each unit above a machine's safety capacity
};
struct Machine {
  std::uint32_t neighbourhood = 0;
  std::uint32_t location = 0;
  std::vector<Amount> capacity, safety;  // by resource
  std::vector<std::uint32_t> move_cost;  // by machine moved to
};
struct Service {
  std::uint32_t spread = 0;  // in at least so many locations
  std::vector<std::uint32_t> depends_on;
};
struct Process {
  std::uint32_t service = 0;
  std::vector<Amount> needs;  // by resource
  Amount move_cost = 0;
};
struct Balance {
  std::uint32_t first = 0, second = 0;
  Amount target = 0, weight = 0;
};
struct Model {
  std::vector<Resource> resources;
  std::vector<Machine> machines;
  std::vector<Service> services;
  std::vector<Process> processes;
  std::vector<Balance> balances;
  Amount process_move_weight = 0, service_move_weight = 0, machine_move_weight = 0;
};

// Errors name the file, the number of the token, counted from 1, and what was expected there.
Result<Model> parse_model(std::string_view text, std::string_view file);
Result<Assignment> parse_assignment(std::string_view text, std::string_view file, const Model& model);
std::string format_model(const Model& model);
std::string format_assignment(const Assignment& assignment);

struct Verdict {
  Amount objective = 0;
  std::vector<std::string> violations;  // what is broken, in words
};
Verdict evaluate(const Model& model, const Assignment& start, const Assignment& end);

// What no assignment is better than: all machines taken as one, and moves for nothing.
Amount lower_bound(const Model& model);

// The same as a problem of the engine. A service is a group of its own family; the engine wants its replicas side by side.
class Instance {
 public:
  Instance(const Model& model, const Assignment& start);
  evenkeel::place::Problem problem;
  Assignment assignment(const evenkeel::place::State& state) const;

 private:
  std::vector<std::uint32_t> replica_;  // by process
};

// An instance made from a seed, of the challenge's kind, and a start that keeps all constraints: for runs without any files.
struct Made {
  Model model;
  Assignment start;
};
struct Shape {
  std::uint32_t machines = 100, processes = 5000, resources = 12;
  std::uint32_t slack =
      25;  // in a hundred of what a machine uses in the mean: what is free at the start, in the mean; small is tight
};
// MACHINESxPROCESSESxRESOURCES, and xSLACK if that is not 25.
Result<Shape> parse_shape(std::string_view text);
Made make_instance(std::uint64_t seed, const Shape& shape);

}  // namespace roadef
