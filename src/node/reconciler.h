#pragma once
// Reconciler: the node's core. Target documents, handlers' answers and session events in; transitions, seals and reports out, as values.
//
// For each shard it knows where the replica is and where it should be, and walks the state model's way there, one transition at a time. What
// is newer replaces what is older; what was begun is finished or stopped first. An entry that is not in a document means nothing.
//
// Rules:
//   - Only documents of its own incarnation are read, and none with a lower number than one read before.
//   - An entry of a lower version than the one taken up is ignored.
//   - Leading ends when an entry that says so is read (may_lead false, at once, as an effect that the shell performs first), then by a transition.
//   - A seal is asked of the handler at once, in whatever state the replica is, between transitions of its shard; what it says is reported.
//   - A failing transition is tried again, with pauses of 1 s doubling to 1 min, `tries` times; then it is given up and reported with the
//     handler's words, until an entry of a newer version comes.
//   - A transition past its deadline is asked to stop and counts as failed when it has answered. One that takes leadership away and is not done
//     in time is an effect of its own (stuck).
// Pure: no clock, store or thread. One thread. Cost: O(entries of the document) for a document, O(log shards) for the rest.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/node/handler.h"

namespace evenkeel::node {

struct ReconcilerOptions {
  NodeId name;
  DataId data;
  Duration session_ttl = 10s;
  std::uint32_t transitions_at_once = 64;
  std::uint32_t tries = 5;
};

// Inputs.
struct Joined {  // a session is open; the inventory is what there is on disk now, or the states that replicas are in
  Incarnation incarnation;
};
struct SessionLost {};
struct TargetRead {
  Target target;
};
struct TargetGone {  // the document was removed: nothing follows from it but that its report may go, once nothing is held there
  WorkloadId workload;
  Bucket bucket;
};
struct Transitioned {
  ShardId shard;
  std::uint64_t run = 0;  // which start this answers
  Result<> result;
};
struct SealDone {
  ShardId shard;
  Epoch epoch;
  Result<Sealed> result;
};
struct Leaving {};  // close everything that is not in a bounded state; targets are not obeyed any more
struct Tick {};
using Input = std::variant<Joined, SessionLost, TargetRead, TargetGone, Transitioned, SealDone, Leaving, Tick>;

// Effects, in the order in which they are to be performed.
struct Start {
  Transition transition;
  std::uint64_t run = 0;
  bool urgent = false;  // leadership: must not wait behind others
};
struct Stop {  // ask a running transition to stop
  ShardId shard;
  std::uint64_t run = 0;
};
struct AskSeal {
  ShardId shard;
  Epoch epoch;
};
struct Lead {  // from now on may_lead(shard, epoch) may be true; epoch 0: it is false for all
  ShardId shard;
  Epoch epoch;
  Fencing fencing = Fencing::session;
};
struct Stuck {  // did not step down in time
  ShardId shard;
  std::string what;
};
using Effect = std::variant<Start, Stop, AskSeal, Lead, Stuck>;

struct Output {
  std::vector<Effect> effects;
  std::vector<Report> reports;  // documents that changed, whole; one without replicas is to be erased
  Instant wake = Instant::max();
};

class Reconciler {
 public:
  Reconciler(ReconcilerOptions options, std::vector<Held> inventory);
  ~Reconciler();

  Output step(Input input, Instant now);

  struct Replica {
    ShardId shard;
    StateId state;
    StateId target;
    Version version;
    bool running = false;
    std::string error;
  };
  std::vector<Replica> replicas() const;  // in order, for people and checkers
  // Nothing is running, failing or waiting: every entry read so far is carried out.
  bool settled() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace evenkeel::node
