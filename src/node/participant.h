#pragma once
// Participant: the reconciler on a loop and a store. Node runs one with a pool of threads for its handler; the simulator runs thousands on
// virtual time. It opens sessions and opens new ones after one is lost, writes the inventory before `live`, watches its own targets only,
// writes reports in batches as soon as they change, and pulses.
//
// At a join: the session first; then reports of all that is held, in bounded txns that also erase those of before; then `live`, with their
// number; then targets are watched. A txn that erases reports later lowers that number with them. `live` is looked at once a ttl, and written
// again if it is not there or not ours.

#include <functional>
#include <memory>

#include "evenkeel/base/loop.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/node/node.h"
#include "evenkeel/node/reconciler.h"
#include "evenkeel/store/store.h"

namespace evenkeel::node {

struct ParticipantOptions {
  NodeOptions node;  // store, open_store, data, threads, on_stuck and broker are Node's own, and not used here
  DataId data;
  // No other process has this disk, so that a session of the name that was opened with it is over, whatever its beat says.
  bool owns_data = false;
  Rng rng{0};                 // incarnations
  std::string version = "0";  // of the software, for people; Node says the product's
  // Where pulses go; empty: nowhere. Node has a connection (shell/pulse_line.h), the simulator a network of its own.
  std::function<void(const Pulse&)> send_pulse;
  // Asked before each pulse: whether it must say everything, since the one who hears it is another one than before, or has missed some. Otherwise it says
  // what is new since the last. Empty: nobody knows, and every tenth says everything.
  std::function<bool()> pulse_all;
  Duration pulse = {};  // how often; 0: a third of the session's ttl
  // Reports are written so long after the first change that others are written with it, and up to 25 times as long while handlers are at something
  // urgent. 0: at once.
  Duration gather = {};
  // While it has no session it looks for what it waits, and says so soon and then each minute, rather than at each attempt that came to nothing. Node's does;
  // simulated runs have no requests that only people need.
  bool tells_waits = false;
  std::function<void(const Stuck&)> on_stuck;
  Broken broken = Broken::nothing;
};

class Participant {
 public:
  // Begins to join. The store, the loop's and the handler must outlive it. Destroying it is like a crash.
  Participant(store::Store& store, AsyncHandler& handler, ParticipantOptions options);
  ~Participant();
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  // As if it was destroyed, but that it can still be asked: it leads nothing, and cannot leave any more.
  void close();

  // These three from any thread.
  bool may_lead(const ShardId& shard, Epoch epoch) const;
  bool is_current() const;
  Incarnation incarnation() const;  // 0: not joined

  bool joined() const;
  bool settled() const;        // everything that it was told is done, and reported
  bool ready() const;          // the same, and for each document of what it holds it was told something
  std::size_t untold() const;  // documents for which it was not
  std::vector<Reconciler::Replica> replicas() const;
  void refused(const ShardId& shard, Epoch by);
  // Rather than when the next one is due.
  void pulse_now();
  // Permit, leaders away, replicas closed, session ended. The answer says what was not finished.
  void leave(Duration timeout, store::Answer<void> answer);

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace evenkeel::node
