#pragma once
// Loop: where a module's asynchronous work runs, one callback at a time, in a fixed order.
//
// Everything that waits, waits here: store answers, timers, sessions, transitions. Two implementations behind this one interface:
//   RealLoop     (real_loop.h)     a thread that sleeps until the next deadline on the boot-time clock
//   VirtualLoop  (virtual_loop.h)  time that jumps to the next timer; the simulator and most tests
// Code that takes a `Loop&` cannot tell them apart, which is what makes a month of a cluster's life a unit test.
//
//   Timer timer = loop.post_at(loop.now() + 3s, [this] { renew(); });
//   ...
//   loop.cancel(timer);
//
// Order: callbacks run by due time, and among equal times in the order in which they were posted; post(f) is due now. A callback
// posted from inside a callback never runs inside it. An instant in the past is due now.
// Threads: post, post_at and cancel of a RealLoop may be called from any thread; callbacks run on the loop's own. A VirtualLoop
// belongs to one thread. A callback must not throw.
// Ownership: the loop owns the callback from post until it has run or was cancelled; then it is destroyed at once (on the thread
// that ran or cancelled it). Destroying a loop destroys what is left without running it.
// Cost: O(log timers) for post_at and cancel, no allocation beyond the callback's own once warm.

#include <cstdint>
#include <functional>
#include <utility>

#include "evenkeel/base/clock.h"

namespace evenkeel {

// A handle to something posted. Copyable; a default one names nothing. No handle comes again within 2^32 - 1 posts of its slot.
struct Timer {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // 0: nothing
  friend bool operator==(const Timer&, const Timer&) = default;
};

class Loop : public Clock {
 public:
  using Callback = std::move_only_function<void()>;

  virtual Timer post_at(Instant due, Callback callback) = 0;
  // False if it has run, is running, was cancelled before, or never was.
  virtual bool cancel(Timer timer) = 0;

  Timer post(Callback callback) { return post_at(now(), std::move(callback)); }
  Timer post_after(Duration delay, Callback callback) { return post_at(later(now(), delay), std::move(callback)); }
};

}  // namespace evenkeel
