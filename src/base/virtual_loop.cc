#include "evenkeel/base/virtual_loop.h"

#include <algorithm>
#include <utility>

#include "evenkeel/base/result.h"

namespace evenkeel {

// One by one and not by the queue's own destructor: what a callback owns may, in its destructor, cancel other timers of this loop.
VirtualLoop::~VirtualLoop() {
  while (!queue_.empty()) queue_.pop();
}

Timer VirtualLoop::post_at(Instant due, Callback callback) { return queue_.add(std::max(due, now_), std::move(callback)); }

bool VirtualLoop::cancel(Timer timer) { return static_cast<bool>(queue_.remove(timer)); }

// noexcept: a callback that throws stops the process here, with its own stack still to be seen.
bool VirtualLoop::step() noexcept {
  ensure(!running_, "a callback never runs inside another");
  if (queue_.empty()) return false;
  now_ = queue_.next_due();
  running_ = true;
  {
    Callback callback = queue_.pop();
    callback();
  }
  running_ = false;
  return true;
}

std::uint64_t VirtualLoop::run_until(Instant until) {
  std::uint64_t ran = 0;
  while (!queue_.empty() && queue_.next_due() <= until) {
    step();
    ++ran;
  }
  now_ = std::max(now_, until);
  return ran;
}

std::uint64_t VirtualLoop::run_until_idle(std::uint64_t most) {
  std::uint64_t ran = 0;
  while (ran < most && step()) ++ran;
  return ran;
}

}  // namespace evenkeel
