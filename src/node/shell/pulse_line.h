#pragma once
// PulseLine: a node's light connection to the active controller.
//
//   PulseLine line(store, {.cluster = ClusterId("pages"), .every = 3s, .on_open = [&] { participant->pulse_now(); }});
//   participant_options.send_pulse = [&](const Pulse& pulse) { line.send(pulse); };
//   participant_options.pulse_all = [&] { return line.must_say_all(); };
//
// It asks the store who is active, connects there, and sends what it is given. When that cannot be done, or ends, it asks again after a pause. None of it
// disturbs the node: what cannot be sent is dropped. After that, and on every new connection, pulses are to say everything until one that did was
// heard by a controller that knows this process.
// That nobody is active for a while is said once: a cluster's name that is wrong is noticed by nobody else.
// The store is asked only while there is no connection: a controller that is not active any more ends it.
// Threads: all on the store's loop. Destroying it waits until gRPC has let go, for which the other side is not needed. The store outlives it.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "evenkeel/base/log.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/locks/locks.h"
#include "evenkeel/model/documents.h"
#include "evenkeel/store/store.h"

namespace evenkeel::node {

struct PulseLineOptions {
  ClusterId cluster;
  std::string store = {};         // its URL, for what is said
  Duration every = 3s;            // how often the node pulses
  Duration pause_min = 100ms;     // after a connection that failed; doubling to
  Duration pause_max = 5s;        // this, and each time up to half as long again, so that nodes do not all come at once
  Duration idle_patience = 3s;    // without anybody active, before that is said: an office changes hands in less
  Rng rng{0};                     // for that
  std::function<void()> on_open;  // there is a new connection: a pulse is welcome
  Log* log = nullptr;
};

class PulseLine {
 public:
  PulseLine(store::Store& store, PulseLineOptions options);
  ~PulseLine();
  PulseLine(const PulseLine&) = delete;
  PulseLine& operator=(const PulseLine&) = delete;

  // The next pulse is to say everything. Asked before each.
  bool must_say_all();
  void send(const Pulse& pulse);

 private:
  class Stream;

  void look();
  void look_later();
  void connect(const std::string& address);
  void heard(std::uint64_t count, bool known);
  void over(const std::string& why);
  void tell_if_idle();
  template <class F>
  auto guarded(F f);

  store::Store& store_;
  Loop& loop_;
  const PulseLineOptions options_;
  const Keys keys_;
  Rng rng_;
  locks::Locks locks_;
  std::shared_ptr<Stream> stream_;
  Timer timer_;
  Duration pause_;
  bool was_heard_ = false;       // on this connection
  std::optional<Instant> idle_;  // since when nobody is active, as far as this has looked
  bool said_idle_ = false;

  Incarnation incarnation_;                // of what was sent last
  bool says_all_ = false;                  // the pulse that is being made does
  std::optional<std::uint64_t> all_sent_;  // the first that did on this connection, and was sent
  bool all_heard_ = false;
  std::shared_ptr<const void> alive_ = std::make_shared<char>();
};

}  // namespace evenkeel::node
