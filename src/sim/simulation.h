#pragma once
// Simulation: a whole cluster in one thread on virtual time: real controllers, real participants, real routers over the memory store, with a service
// whose replicas keep a log of writes.
//
//   Simulation simulation({.seed = 7, .cluster = cluster});
//   simulation.run_for(10s);
//   simulation.perform({Action::Kind::kill, {.node = NodeId("n3")}});
//   simulation.run_for(1min);
//   if (const auto broken = simulation.violation()) …       // a promise that did not hold, said by a checker
//   if (simulation.holds({Condition::Kind::settled})) …
//
// Each node and controller is a host of its own: its clock begins anywhere and may run fast or slow, it can stand still, be killed, be cut off. Pulses and
// the service's own traffic go over a network with delays and cuts; everything else goes through the store.
// The service (service.h): leaders append writes of clients, followers copy, a write is acknowledged when `acks` copies have it. Nodes keep their logs on
// disks that outlive them.
// The same options and calls give the same run, byte for byte (digest()).
// One thread. Cost: an event costs what it touches; an idle node costs its beats.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/control/control.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/node/broken.h"
#include "evenkeel/sim/service_times.h"
#include "evenkeel/sim/story.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::sim {

struct SimOptions {
  std::uint64_t seed = 0;
  Cluster cluster;
  std::uint32_t controllers = 2;
  store::Faults store{.delay_max = 2ms};  // its seed is ours
  Duration network_max = 2ms;             // one way, of pulses and the service's traffic
  bool pulses = true;
  std::uint32_t writes_per_second = 20;  // by clients, over all shards
  ServiceTimes times;
  control::Broken broken = control::Broken::nothing;
  node::Broken broken_nodes = node::Broken::nothing;
  bool check = true;           // run the checkers
  Duration sample_every = {};  // for plots; 0: no samples
};

// What happened, for the timeline: said by the story, the controllers, the nodes or a checker.
struct Moment {
  Duration at = {};
  std::string who;  // "story", "controller 1", "n3", "checker"
  std::string what;
};

struct Calm {
  std::uint64_t moves = 0;  // replicas added, beside first ones
  std::uint64_t leader_changes = 0;
  std::uint64_t thrash = 0;  // replicas that were added where the shard had been dropped less than ten minutes before
  Duration leaderless = {};  // of all shards together, after each had a leader first
  Duration leaderless_longest = {};
  Duration unsettled = {};          // time in which the cluster was not settled
  std::uint64_t writes = 0;         // acknowledged
  std::uint64_t refused = 0;        // writes that no leader took
  std::uint64_t bytes_written = 0;  // to the store
};

// How it was at one moment, for plots.
struct NodeSample {
  enum class State : std::uint8_t { up, still, gone };  // its process runs, stands still, is not there
  NodeId node;
  State state = State::up;
  std::uint32_t replicas = 0;  // by the records
  std::uint32_t leaders = 0;   // by the view
  friend bool operator==(const NodeSample&, const NodeSample&) = default;
};
struct Sample {
  Duration at = {};
  std::vector<NodeSample> nodes;  // by name
  std::uint32_t unled = 0;        // shards that should have a leader and have none
};

class Simulation {
 public:
  explicit Simulation(SimOptions options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  Duration elapsed() const;
  // Both stop early at a violation.
  void run_for(Duration time);
  void run_until(Duration since_start);
  // Runs until it holds, at most so long; false: it did not.
  bool run_until_holds(const Condition& condition, Duration most);

  Result<> perform(const Action& action);  // an error: there is no such node, or it makes no sense now
  bool holds(const Condition& condition) const;
  // Why it does not hold, for people: names up to a few shards or nodes.
  std::string why_not(const Condition& condition) const;

  // The first promise that did not hold: "one leader: t/3 is led by n1 and n2 at 12.5s".
  std::optional<std::string> violation() const;
  const std::vector<Moment>& timeline() const;
  void on_moment(std::function<void(const Moment&)> handler);
  Calm calm() const;
  std::uint64_t digest() const;  // of all that was written and said
  Sample sample() const;         // O(shards)

  // For checkers, tests and FakeCluster.
  VirtualLoop& loop();
  store::World& store();
  const Keys& keys() const;
  const control::Machine* active() const;                              // of the controller that acts; null: none
  std::vector<ShardRecord> records(const WorkloadId& workload) const;  // as the store has them
  std::vector<ShardView> view(const WorkloadId& workload) const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace evenkeel::sim
