#pragma once
// Rollout: a rolling restart as a step machine. It is shown the cluster's documents and says what is to be done next: which permits to ask for, and
// which nodes may be stopped now. It does nothing itself.
//
//   auto rollout = plan_rollout(seen, {.order = RolloutOptions::Order::zone_by_zone});    // who, in which order; or why not
//   for (;; seen = look()) {
//     const RolloutStep step = rollout->step(seen, now);
//     if (step.failed || step.finished) break;
//     write(step.changes);                                      // permits that are asked for; not_written() if somebody else was first
//     if (step.stop) rollout->stopped(*step.stop, now);         // and its command is run
//   }
//   write(rollout->withdraw(seen));                             // whoever ends early: what was asked for and not used
//
// A node is `waiting`, then `asked` (for its permit), then `away` once its command has run, then `done`: back with a new incarnation, and its permit has
// ended, which the controller does when all its replicas are in their states again. Who may stop is decided by the controller alone; at most at_once nodes are
// asked or away, and with zone_by_zone those are of one zone. One is asked beside others only if it could stop beside them as things are. A permit that
// somebody else has asked for is used only where its node was named, and never taken back.
//
// The controller also ends a permit when its time is over. A node that is back and not whole is noticed as such if `within` is the shorter of the two.
//
// Pure; values. Cost of a step: O(nodes); where one may be asked beside others, a machine is fed with all that was read.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/control/operate.h"

namespace evenkeel::control {

struct RolloutOptions {
  enum class Order : std::uint8_t { given, zone_by_zone, random };
  std::vector<NodeId> nodes;  // these; empty: all that are there, by name
  std::string zone;           // of those the ones in this zone, or below it; empty: any
  Order order = Order::given;
  std::uint64_t seed = 0;  // of random
  std::uint64_t at_once = 1;
  PermitWish permit;
  Duration within = 10min;  // until a node has its permit, from when it was asked for; and again until it is back and whole
  Duration pause = {};      // after a node is done, before the next is asked
};

struct RolloutNode {
  enum class Stage : std::uint8_t { waiting, asked, away, done };
  NodeId node;
  std::string zone;
  std::string address;
  Incarnation incarnation;  // that is to be stopped
  Stage stage = Stage::waiting;
  Instant since;      // of this stage
  bool ours = false;  // its permit was asked for here
};
std::string_view name(RolloutNode::Stage stage);

struct RolloutStep {
  Changes changes;
  std::optional<NodeId> stop;      // it may stop: its command is to be run. Others may too, and are looked at anew after that
  std::vector<std::string> waits;  // for people: what it waits for
  bool finished = false;
  std::optional<Error> failed;  // it cannot go on; nothing else is to be done
};

class Rollout {
 public:
  Rollout(std::vector<RolloutNode> nodes, RolloutOptions options) : nodes_(std::move(nodes)), options_(std::move(options)) {}

  RolloutStep step(const Snapshot& seen, Instant now);
  // The next step may ask for a permit beside others: it has to see records, views and reports too.
  bool asks_beside() const;
  // What the last step wanted to write was not written, since somebody else was first: it is decided anew.
  void not_written();
  // Its command runs.
  void stopped(const NodeId& node, Instant now);
  // Takes back the permits of those that were not told to stop.
  Changes withdraw(const Snapshot& seen) const;
  std::vector<NodeId> unused() const;  // whose permits those are

  const std::vector<RolloutNode>& nodes() const { return nodes_; }  // in order
  std::vector<NodeId> in(bool done) const;                          // those that are, or are not

 private:
  void look_at_asked(const RolloutNode& node, const Snapshot& seen, Instant now, RolloutStep& step) const;
  void look_at_away(RolloutNode& node, const Snapshot& seen, Instant now, RolloutStep& step);
  void ask(const Snapshot& seen, Instant now, bool beside, RolloutStep& step);
  std::optional<Error> why_not_ask(const RolloutNode& next, const Snapshot& seen) const;
  std::size_t under_way() const;

  std::vector<RolloutNode> nodes_;
  RolloutOptions options_;
  std::optional<Instant> last_done_;
  std::optional<NodeId> asked_last_;  // by the last step
};

// Refused: nobody to restart, one that was named is not there, and while nothing may stop (freeze, maintenance). Who is not there and was not named is
// left out, with a note.
struct PlannedRollout {
  Rollout rollout;
  std::vector<std::string> notes;
};
Result<PlannedRollout> plan_rollout(const Snapshot& seen, RolloutOptions options);

}  // namespace evenkeel::control
