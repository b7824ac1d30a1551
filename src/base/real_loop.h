#pragma once
// RealLoop: a Loop (loop.h) on the boot-time clock. One thread calls run(); any thread may post, cancel and stop.
//
// It sleeps in the kernel on a CLOCK_BOOTTIME timer, so after a suspended host wakes, overdue timers run at once. Among timers
// that are due together the order is by due time, then by posting. Idle it costs nothing.
//
//   RealLoop loop;
//   std::jthread thread([&] { loop.run(); });
//   loop.post([] { ... });
//   loop.stop();

#include <memory>

#include "evenkeel/base/loop.h"

namespace evenkeel {

class RealLoop final : public Loop {
 public:
  RealLoop();
  ~RealLoop() override;
  RealLoop(const RealLoop&) = delete;
  RealLoop& operator=(const RealLoop&) = delete;

  Instant now() const override;
  Timer post_at(Instant due, Callback callback) override;
  bool cancel(Timer timer) override;

  // Runs callbacks until stop(). Call from one thread at a time; may be called again after it returned.
  void run() noexcept;
  // Makes run() return after the callback in progress; what is posted stays. A stop before run() makes the next run() return at once.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evenkeel
