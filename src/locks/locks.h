#pragma once
// Locks: who may do it now, proved; and a number with which everybody else can tell.
//
// A lock is a path in any store. Whoever acquires it gets a `Held`: a token that grows with every acquisition, a deadline up to which it may
// be trusted without asking anybody, and a guard, a compare that makes any txn fail once somebody else has the lock.
//
//   locks.acquire("/c1/locks/nightly", {.ttl = 30min, .wait = 5s}, stop, [&](Result<std::unique_ptr<Held>> held) {
//     …work for ten minutes…
//     store.txn(Txn().compare((*held)->guard()).put("/c1/result", text), …);      // only while it is ours
//     (*held)->renew([](Result<Instant> deadline) { … });                          // no: stop gracefully
//   });
//
// Two kinds:
//   session    goes with this process' session, which is renewed for all such locks at once; `lost()` says when.
//   expiring   outlives the process and the session: it holds for ttl from each renewal, whatever becomes of the store meanwhile.
//
// Invariants:
//   - Two holders never both have valid() true. The holder's deadline counts from before its request was sent, less a margin, on the
//     boot-time clock; whoever waits takes over only after the same renewal stood still for ttl × 1.02 on its own clock, or a proper end.
//     No clocks of two hosts are compared, and no backend's lease is trusted.
//   - token() grows strictly with every acquisition of a path.
//   - Past its deadline a Held is dead, even if the store would still prolong it. Acquiring again gives a new token.
//   - A Held releases its own acquisition and no other's.
// In the store: PATH is the lock, emptied on release and never deleted; PATH.renewal is an expiring lock's beat; PATH.queue/… are those who
// wait in a fair queue (detail/record.h has their forms). Do not delete them under somebody who has the lock, other than by break_lock.
// A renewal whose answer is lost is neither done nor failed: it is tried again until the deadline. A taking whose answer is lost is looked
// for; if its caller has given up meanwhile it is undone, in the background.
// Threads and ownership are those of Store (store.h). What is decided is pure (detail/…). Destroying Locks is like a crash for those who wait
// and for what goes on in the background; a Held does not need it any more.
// Cost: taking a free lock is two round trips, one more if it is a session's that was never told its ttl, three more in a fair queue. Who
// holds or waits shares one watch of the lock's folder with all others of this Locks, and sees all that happens there: give locks that are
// renewed often a folder of their own. A session lock costs nothing while it is held.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/store/session.h"
#include "evenkeel/store/store.h"

namespace evenkeel::locks {

using Token = Number<struct LockTokenTag, std::int64_t>;

enum class Kind : std::uint8_t { session, expiring };

struct AcquireOptions {
  Kind kind = Kind::expiring;
  Duration ttl = 30s;  // of an expiring lock; a session lock has its session's
  Duration wait = {};  // how long to wait for it; 0: try once. Duration::max(): until stopped
  std::string meta;    // UTF-8, shown to whoever looks: a host, a run
  bool fair =
      false;  // those who wait get it in the order in which they came; who does not wait, or is not fair, may get it before
  Duration margin = {};  // off an expiring lock's deadline; 0: ttl/10, at most 5s
};

class Held {
 public:
  virtual ~Held() = default;  // without release(): the lock stands until it expires, as after a crash

  // path, token, deadline, valid, lost and guard may be called by any thread, as whoever does the work is on one of its own.
  virtual const std::string& path() const = 0;
  virtual Token token() const = 0;
  virtual Instant deadline() const = 0;
  // Local, no I/O: whether it may still be trusted.
  virtual bool valid() const = 0;
  // From now on for another ttl (expiring locks; a session's renews itself and answers with its deadline). Code::conflict: it is lost.
  virtual void renew(store::Answer<Instant> answer) = 0;
  // Gives it back; valid() is false from the call on. Not an error if it is no longer ours: then nothing is written. An error, which comes
  // only when the deadline or the session is over, says that others may have to wait. It goes on if the Held is destroyed, unanswered.
  virtual void release(store::Answer<void> answer) = 0;
  // Stops when the lock is lost: at the deadline, or as soon as somebody is known to have taken or broken it. Not by release().
  virtual std::stop_token lost() const = 0;
  // Holds in any txn exactly while this acquisition is the lock's latest.
  virtual store::Compare guard() const = 0;
};

struct LockState {
  std::string path;
  bool held = false;  // as far as is proved: a holder that died a moment ago still is one
  std::string owner;  // an identity
  std::string meta;
  Token token;  // of the latest acquisition
  Kind kind = Kind::expiring;
  Duration ttl = {};
  store::Revision renewed;           // revision of its latest renewal
  std::vector<std::string> waiting;  // the fair queue, in order: each one's meta, or its identity if it has none
};

class Locks {
 public:
  // `session`: for session locks; may be null if only expiring ones are taken. Both must outlive it and what is held.
  // `names`: what its owners are named by, for runs that must be the same each time; none: by the system's chance.
  Locks(store::Store& store, store::Session* session, std::optional<Rng> names = std::nullopt);
  ~Locks();
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;

  // Code::conflict: somebody has it, and `wait` is over; cancelled: stopped, by any thread; refused: the session is lost; the store's own
  // errors where they last beyond `wait`.
  void acquire(std::string path, AcquireOptions options, std::stop_token stop, store::Answer<std::unique_ptr<Held>> answer);

  void show(std::string path, store::Answer<LockState> answer);
  void list(std::string prefix, store::Answer<std::vector<LockState>> answer);
  // Takes it away from whoever holds it, at once; for operators. The holder's guard fails from then on, its valid() when it hears of it, at
  // its deadline at the latest: so for a while two may believe to have it. Answers with what was broken; if nobody had it, held is false.
  void break_lock(std::string path, store::Answer<LockState> answer);

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace evenkeel::locks
