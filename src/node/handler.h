#pragma once
// What a service writes to become a node: a handler that carries replicas from state to state.
//
//   struct Pages : node::ShardHandler {
//     Result<> transition(const node::Transition& t, std::stop_token stop) override;   // open, copy, lead, step down, close, delete
//     Sealed seal(const ShardId& shard, Epoch epoch) override;                         // refuse older epochs from now on
//     node::Status report(const ShardId& shard) override;                              // progress, load, lag
//   };
//
// A transition has everything that it needs: a handler never guesses whether this is a first placement or a restart, and never reads its
// peers' states from a view that may be a moment old.
//
// Threads: transitions of one shard come one after the other, of different shards at the same time. seal() may come while a transition of its
// shard runs, but never while one runs that takes, renews or leaves leadership; those and seals never wait behind slow ones of other shards.
// report() may come at any time, and is quick. What a handler throws is its error.

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "evenkeel/base/result.h"
#include "evenkeel/base/time.h"
#include "evenkeel/model/exchange.h"

namespace evenkeel::node {

// One step of a replica's way. from == to: only the peers, the epoch or the leader to copy from have changed; a follower follows the new
// leader then.
struct Transition {
  ShardId shard;
  StateId from;
  StateId to;
  StateId final;  // where the way leads: a handler may copy less if it only passes through
  Version version;
  Reason reason = Reason::first;
  std::optional<Epoch> held_before;  // this node's data held the shard before, at that epoch
  std::vector<Peer> peers;           // with their states as of this version
  std::optional<NodeId> copy_from;
  // Reason `split`: this shard is the other half of that one, which stands still. Its data is a copy of what this node has of that one, with the same
  // `last` and progress, made before the handler returns; nothing of it may come from later.
  std::optional<ShardIndex> parent = {};
  // Not 0: the workload was split, and this shard's keys are those with hash mod `shards` equal to its number. A leader refuses others; they are of no use here.
  std::uint32_t shards = 0;
  std::string metadata;  // the workload's own
  Duration within = {};  // how long it may take, from when the handler is called; 0: as long as it likes
  Instant deadline;      // past it the transition is overdue. Out of a bounded state it counts from when that was told
  friend bool operator==(const Transition&, const Transition&) = default;
};

// How a replica is doing, now.
struct Status {
  Epoch last;                  // of the leader whose data it has taken last, or of its own leading
  std::uint64_t progress = 0;  // of its data, in the service's own measure; grows with one `last`
  std::optional<std::uint64_t> lag;
  Amounts load;
  friend bool operator==(const Status&, const Status&) = default;
};

// What a node has on disk when it joins.
struct Held {
  ShardId shard;
  Version version;  // the last that it was told, as it wrote it down with its data
  Epoch last;       // as in Status
  std::uint64_t progress = 0;
  Epoch refuses;  // it was sealed: what is older than this it refuses
  friend bool operator==(const Held&, const Held&) = default;
};

class ShardHandler {
 public:
  virtual ~ShardHandler() = default;

  // Blocks until the replica is in state `to`, or fails; it should return soon, with Code::cancelled, once it is stopped.
  virtual Result<> transition(const Transition& transition, std::stop_token stop) = 0;
  // From now on nothing of an older epoch is taken; says how far the data goes. Quick; called again it says the same.
  virtual Sealed seal(const ShardId& shard, Epoch epoch) = 0;
  // Of a shard that is not here: nothing.
  virtual Status report(const ShardId& shard) = 0;
  // What is on disk, before the node joins. Read it then: until then another process may have had the data folder.
  virtual std::vector<Held> inventory() { return {}; }
};

// How soon a transition must begin.
enum class Turn : std::uint8_t {
  slow,   // when there is room: it may copy a lot
  soon,   // from == to: not behind slow ones
  first,  // it enters, renews or leaves a bounded state: behind nothing but its like
};

// The same for those who do not block: on the node's loop, where it answers once, when it is done. The simulator's handlers are of this kind; a
// ShardHandler becomes one by a pool of threads (pool.h).
class AsyncHandler {
 public:
  virtual ~AsyncHandler() = default;

  virtual void transition(Transition transition, Turn turn, std::stop_token stop,
                          std::move_only_function<void(Result<>)> answer) = 0;
  // Whether transitions wait for their turn after they were handed over. Then it says on the loop when one begins, and counts its time from there.
  virtual bool queues() const { return false; }
  virtual void on_begun(std::function<void(const ShardId&)>) {}
  virtual void seal(ShardId shard, Epoch epoch, std::move_only_function<void(Result<Sealed>)> answer) = 0;
  virtual Status report(const ShardId& shard) = 0;
  virtual std::vector<Held> inventory() = 0;
  // The shards whose report() may say something else than at the last call, so that a pulse need not ask all; nothing: it does not know.
  virtual std::optional<std::vector<ShardId>> changed() { return std::nullopt; }
};

}  // namespace evenkeel::node
