#pragma once
// Session: an identity that is alive as long as it can prove it, and whose end can be proved by others.
//
// A holder writes a beat, one persistent key, every ttl/3. It trusts itself until its deadline: when it *sent* the last write that was
// answered, plus ttl, less a margin. Others take it for dead only after they have ended it themselves: an observer that has seen the same
// beat stand still for ttl × 1.02 on its own clock writes `ended`, comparing the beat's revision. So there is never a moment in which the
// holder believes in its session and somebody else has proof of its end, whatever is slow, paused, cut off or restarted. No clocks of
// two hosts are compared, and no backend's lease is trusted.
//
//   Session::open(store, {.key = "/c1/beats/n1", .ttl = 10s}, 30s, [&](Result<std::unique_ptr<Session>> session) {
//     (*session)->on_event([](Session::Event event) { … });        // expiring: no answer for a while; lost: stop, now
//   });
//   if (session->valid()) act();                                    // local, no I/O
//
//   Observer observer(store, "/c1/beats/n1", Observer::Mode::end_it,
//                     [](Result<Ended> ended) { … });               // calls once that identity is over, with proof
//   Beats beats(store, "/c1/beats/");                               // one watch for the observers of a thousand of them
//   Observer another(beats, "/c1/beats/n2", Observer::Mode::end_it, …);
//
// Lost is final: a new session is a new identity, and may take over the key only once the one before it is ended. valid() never comes back.
// Do not delete a beat unless it is ended: its holder trusts itself until its deadline. (An observer that has seen it waits that out;
// somebody who opens a session on the empty key cannot know.)
// Threads are those of Store. A session, an observer and Beats are destroyed before their store; an open that is under way goes with it, unanswered.
// The beat is JSON: {"format":1,"identity":"…","count":7,"ttl":"10s","meta":"…","ended":false}.
// The same code runs on every backend: it needs nothing but get, txn and watch. What is decided is pure (detail/beat.h).
// Cost: a session writes its key every ttl/3. An observer reads once, and then only what its watch brings: all that changes beside the key,
// so where there are many, share one through Beats.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "evenkeel/store/store.h"

namespace evenkeel::store {

namespace detail {
class Hub;
}

using Identity = Name<struct IdentityTag>;

struct SessionOptions {
  std::string key;       // of the beat
  Duration ttl = 10s;    // at least 300ms
  Duration margin = {};  // off the holder's deadline; 0: ttl/10; at most ttl/2
  std::string meta;      // UTF-8 of the caller's own, readable in the beat: an address, an incarnation; at most 16 KiB
  Identity identity;     // never used before; empty: a random one of 128 bits
};

class Session {
 public:
  enum class Event : std::uint8_t {
    expiring,  // two thirds of the time to the deadline have gone without an answer
    renewed,   // after expiring: it is well again
    lost,      // past its deadline, or ended by somebody: final
  };

  // Takes the key if there is none or its last holder is ended; ends that holder first if it stands still for its ttl × 1.02, which is what
  // this may wait for. Code::conflict: somebody else's session is alive after `wait`. 0: it tries once.
  static void open(Store& store, SessionOptions options, Duration wait, Answer<std::unique_ptr<Session>> answer);

  virtual ~Session() = default;  // without end(): the beat just stops, as in a crash

  virtual const Identity& identity() const = 0;
  // These three from any thread.
  virtual Instant deadline() const = 0;
  bool valid() const { return clock().now() < deadline(); }
  virtual const Clock& clock() const = 0;
  // Called on the loop; several handlers are called in the order in which they came. After `lost`, which end() brings too, nothing more
  // comes; who asks after that is told `lost`.
  virtual void on_event(std::function<void(Event)> handler) = 0;
  // Of the beat. Its revision moves with every renewal, so it is no guard: what is to be fenced compares a key that only its taker writes (locks).
  virtual const std::string& key() const = 0;
  // The proper end: others need not wait. The session is lost from the call on. The answer is the revision from which on that can be seen;
  // an error, which comes only when the deadline has passed, says that others will have to wait.
  virtual void end(Answer<Revision> answer) = 0;
};

// What a session's key says; for those who follow many.
struct Beat {
  Identity identity;
  std::uint64_t count = 0;  // of the writes of this identity that were sent: no two have the same
  Duration ttl = {};
  std::string meta;
  bool ended = false;
  friend bool operator==(const Beat&, const Beat&) = default;
};
// Code::invalid, with the key, if it is something else.
Result<Beat> parse_session_beat(const Entry& entry);

// The proof that an identity is over.
struct Ended {
  Identity identity;
  Revision revision;  // of the write that says so; or of a newer identity's beat in its place
};

// One watch for all beats below a prefix, shared by their observers.
class Beats {
 public:
  Beats(Store& store, std::string prefix);
  ~Beats();
  Beats(const Beats&) = delete;
  Beats& operator=(const Beats&) = delete;

 private:
  friend class Observer;
  std::shared_ptr<detail::Hub> hub_;
};

// Watches one beat and ends its session once it has stood still for ttl × 1.02 on this clock.
class Observer {
 public:
  enum class Mode : std::uint8_t { end_it, only_watch };  // only_watch: somebody else ends it, this one waits for that

  // Calls once, on the loop, when the identity that was there at the first look is over; at once if there is none (then with an empty one).
  // An error only where waiting cannot help: denied, or the key holds no beat.
  Observer(Store& store, std::string key, Mode mode, std::function<void(Result<Ended>)> over);
  Observer(Beats& beats, std::string key, Mode mode, std::function<void(Result<Ended>)> over);  // of a key below its prefix
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace evenkeel::store
