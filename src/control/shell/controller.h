#pragma once
// Controller: the machine on a loop and a store. It stands for election; while it is not elected it follows, so that it can take over at once.
//
//   Controller controller(store, {.cluster = ClusterId("pages"), .name = "host-1"});
//   controller.on_event([](const Event& event) { … });
//
// Every write compares `controller_epoch` as this one raised it, and the bucket's record as the machine knows it. It takes its first step
// when its watch has reached the revision of its election. Several may run; one is active. Destroying one is like a crash.
// If the store is put back to an older state, nothing that it says about nodes is believed before each has joined anew, or its session is over.
// Threads and ownership are those of Store; plans are made by `planner`, which may use a thread and answers on the loop.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/base/log.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/control/machine.h"
#include "evenkeel/model/controller_address.h"
#include "evenkeel/store/store.h"

namespace evenkeel::control {

using Planner = std::function<void(Cluster problem, std::move_only_function<void(place::Plan)> answer)>;
// On the loop, at once: for tests and the simulator.
Planner plan_at_once();

struct ControllerOptions {
  ClusterId cluster;
  std::string name;           // shown to people; unique among the cluster's controllers
  std::string http, pulse;    // where this one is asked, and where nodes pulse to: told to all while it is active; may be empty
  Duration session_ttl = 3s;  // of its own session
  Planner planner = plan_at_once();
  std::optional<Rng> names;  // of its sessions, for runs that must be the same each time; none: by the system's chance
  Duration gather = 50ms;    // the machine's
  Duration follow = 500ms;   // a standby looks at what has changed so long after it did; all of it before it takes over
  MachineOptions machine;    // the cluster's name, and `gather`, are taken from above
  Log* log = nullptr;
  // For whoever measures: what a step took; what a write took, of one bucket or of several together, and what became of it.
  std::function<void(Duration)> on_step;
  std::function<void(Duration, Answered::Outcome)> on_commit;
};

class Controller {
 public:
  Controller(store::Store& store, ControllerOptions options);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  bool active() const;
  // The store has answered lately, and all that is there has been seen once: what is asked of the machine is as it is.
  bool in_touch() const;
  // Why it neither acts nor could take over, though the store answers: its name is another process's (Code::conflict), the store takes no writes
  // (refused; unknown_outcome where its answers leave it open whether one was done), or something was written that it cannot read (invalid).
  std::optional<Error> trouble() const;
  ControllerAddress active_one() const;  // as far as is known; nobody: an empty name
  ControllerEpoch epoch() const;         // of its latest election
  const Machine& machine() const;
  void on_event(std::function<void(const Event&)> handler);
  // What came over a node's connection.
  void pulse(const Pulse& pulse, Duration every);
  void pulse_broken(const NodeId& node);
  // Leaves the office and ends its session properly, for a restart of this process: it does not stand again.
  void resign(store::Answer<void> answer);

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace evenkeel::control
