#pragma once
// Reconciler: the node's core. Target documents, handlers' answers and session events in; transitions, seals and reports out, as values.
//
// For each shard it knows where the replica is and where it should be, and walks the state model's way there, one transition at a time. What
// is newer replaces what is older; what was begun is finished or stopped first. An entry that is not in a document means nothing.
//
// Rules:
//   - Only documents of its own incarnation are read, and of one bucket none with a lower number than one read before.
//   - An entry of a lower version than the one taken up in this incarnation is ignored.
//   - Leading ends when an entry that says so is read (may_lead false, at once, as an effect that the shell performs first), then by a transition.
//     It begins, at the entry's epoch, when the transition into it starts.
//   - A seal is asked of the handler at once, in whatever state the replica is, also while a copy runs; never beside a transition that enters,
//     renews or leaves a bounded state. Leading at an older epoch ends when the seal is read. What the handler says is reported.
//   - A peer's refusal ends leading at an older epoch at once, as a seal does; without a session the replica steps down too.
//   - The version that is reported is that of the entry taken up; but while the replica is in a bounded state, or something of an earlier
//     entry that has to do with one runs, it is that of the latest entry that was carried out. So a leader that reports a version has left
//     if it was to leave, and counts its peers as of that version.
//   - In a state that serves, new peers, a new epoch, a new source or new metadata are a transition with from == to.
//   - A transition that is not on the way any more, or that copies from somebody who does not hold the shard any more, is asked to stop, but
//     never one that leaves a bounded state. The way goes on from where the handler's answer says that the replica is; a failure leaves it
//     where it was.
//   - A failing transition is tried again, with pauses of 1 s doubling to 1 min, `tries` times; then it is given up and reported with the
//     handler's words, until an entry of a newer version comes. A leader that cannot take up its new peers or epoch steps down then. Leaving a
//     bounded state is never given up, nor is dropping.
//   - A transition past its deadline, which counts from when its handler is called, is asked to stop and counts as failed unless it was done after all. Not out
//     of a bounded state half a ttl after it was told, or after the session was lost: an effect of its own, once (stuck).
//   - Without a session, and in a new one before it is told anything, replicas in bounded states step down (with Fencing::epoch they stay), the
//     others stay; what runs is finished; nothing else is begun, no data dropped.
//   - What was dropped is reported until no document names it any more.
// Pure: no clock, store or thread. One thread. Cost: O(entries of the document) for a document, O(log shards) for the rest.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/node/broken.h"
#include "evenkeel/node/handler.h"

namespace evenkeel::node {

struct ReconcilerOptions {
  NodeId name;
  DataId data;
  Duration session_ttl = 10s;
  std::uint32_t transitions_at_once = 64;
  std::uint32_t tries = 5;
  bool queues = false;  // a transition begins when Begun says so, not when it is started
  Broken broken = Broken::nothing;
};

// Inputs.
struct Joined {  // a session is open; all that is held is reported anew, in the states in which it is
  Incarnation incarnation;
  std::map<WorkloadId, std::uint32_t> buckets;  // of the workloads of which something is held; 1 where nobody knows
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
  Epoch last;  // of the replica, after it
  std::uint64_t progress = 0;
};
struct Begun {  // the handler is called for what was started
  ShardId shard;
};
struct SealDone {
  ShardId shard;
  Epoch epoch;
  Result<Sealed> result;
};
struct Refused {  // a peer refuses what is older than this epoch
  ShardId shard;
  Epoch by;
};
struct Leaving {};  // close everything that is not in a bounded state; targets are not obeyed any more
struct Tick {};
using Input = std::variant<Joined, SessionLost, TargetRead, TargetGone, Begun, Transitioned, SealDone, Refused, Leaving, Tick>;

// Effects, in the order in which they are to be performed.
struct Start {
  Transition transition;
  std::uint64_t run = 0;
  Turn turn = Turn::slow;
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
  std::vector<ShardId> shards() const;    // the same, only which
  bool holds(const ShardId& shard) const;
  bool may_lead(const ShardId& shard, Epoch epoch) const;  // as the effects so far say
  // Nothing is running, failing or waiting: every entry read so far is carried out. O(1).
  bool settled() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace evenkeel::node
