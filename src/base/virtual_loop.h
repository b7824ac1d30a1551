#pragma once
// VirtualLoop: a Loop (loop.h) whose time stands still while callbacks run and jumps to the next timer in between.
//
// Deterministic: the same posts give the same order, always. One thread. A million timers run in a fraction of a second.
//
//   VirtualLoop loop;                             // now() is Instant{} = 0s
//   loop.post_after(10min, [&] { expire(); });
//   loop.run_for(1h);                             // returns at 1h, the timer having run at 10min

#include <cstdint>

#include "evenkeel/base/detail/timer_queue.h"
#include "evenkeel/base/loop.h"

namespace evenkeel {

class VirtualLoop final : public Loop {
 public:
  explicit VirtualLoop(Instant start = Instant{}) : now_(start) {}

  ~VirtualLoop() override;
  VirtualLoop(const VirtualLoop&) = delete;
  VirtualLoop& operator=(const VirtualLoop&) = delete;

  Instant now() const override { return now_; }
  Timer post_at(Instant due, Callback callback) override;
  bool cancel(Timer timer) override;

  // The three below are for whoever owns the loop, never for a callback: a callback inside a callback is a bug, and stops.
  //
  // Runs the next callback, moving time to it. False if there is none.
  bool step() noexcept;
  // Runs all that is due up to and including `until`, then sets time to it (time never goes back). Returns how many ran.
  std::uint64_t run_until(Instant until);
  std::uint64_t run_for(Duration duration) { return run_until(later(now_, duration)); }
  // Runs until nothing is left, or `most` callbacks ran (a bound, since periodic timers never end). Returns how many ran.
  std::uint64_t run_until_idle(std::uint64_t most = 1'000'000'000);

  bool idle() const { return queue_.empty(); }
  // When the next callback is due; only if not idle().
  Instant next_due() const { return queue_.next_due(); }

 private:
  Instant now_;
  detail::TimerQueue queue_;
  bool running_ = false;
};

}  // namespace evenkeel
