#include "evenkeel/base/real_loop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <utility>

#include "evenkeel/base/detail/timer_queue.h"
#include "evenkeel/base/result.h"

namespace evenkeel {

namespace {

// No timer: the loop sleeps until it is woken.
constexpr Instant never = Instant::max();

class LoopDescriptor {
 public:
  // A host that cannot give a process one more descriptor as it starts has no use for the process.
  explicit LoopDescriptor(int fd) : fd_(fd) { ensure(fd >= 0, "the system grants a loop its two descriptors"); }
  ~LoopDescriptor() { close(fd_); }
  LoopDescriptor(const LoopDescriptor&) = delete;
  LoopDescriptor& operator=(const LoopDescriptor&) = delete;

  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

struct RealLoop::State {
  BootClock clock;
  LoopDescriptor wake_fd{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  LoopDescriptor timer_fd{timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)};

  std::mutex mutex;  // over the next five
  detail::TimerQueue queue;
  bool running = false;
  bool stopping = false;
  // While the loop's thread sleeps, or is about to, and nobody has woken it yet: only then does a post cost a system call.
  bool sleeping = false;
  Instant sleeping_until = never;

  // The loop's thread alone, while it runs.
  Instant seen{};         // the clock, as last read: what was due then is due now
  Instant armed = never;  // what timer_fd is set to

  Callback take_due();
  void sleep(std::unique_lock<std::mutex>& lock);
  void arm(Instant deadline);
  void wake();
};

// Waits for the next callback that is due and takes it out; an empty one once the loop is to stop.
Loop::Callback RealLoop::State::take_due() {
  std::unique_lock lock(mutex);
  for (;;) {
    if (std::exchange(stopping, false)) return {};
    if (!queue.empty()) {
      if (queue.next_due() > seen) seen = clock.now();
      if (queue.next_due() <= seen) return queue.pop();
    }
    sleep(lock);
  }
}

// Lets go of the lock while it sleeps. Whoever posts something earlier in between sees `sleeping` and writes to wake_fd; the
// write is kept there, so it is not lost if it comes before poll does.
void RealLoop::State::sleep(std::unique_lock<std::mutex>& lock) {
  sleeping = true;
  sleeping_until = queue.empty() ? never : queue.next_due();
  const Instant deadline = sleeping_until;
  lock.unlock();
  arm(deadline);
  std::array<pollfd, 2> ready{{{wake_fd.get(), POLLIN, 0}, {timer_fd.get(), POLLIN, 0}}};
  const int count = poll(ready.data(), ready.size(), -1);
  ensure(count >= 0 || errno == EINTR, "poll on a loop's own descriptors works");
  if (count > 0 && ready[0].revents != 0) {
    eventfd_t writes = 0;
    ensure(eventfd_read(wake_fd.get(), &writes) == 0, "an event that poll announced can be read");
  }
  // An expired timer stays readable until it is set again. It will be before the next sleep, without being read: all that was due
  // at `deadline` is due now and runs first, so the next deadline is another.
  lock.lock();
  sleeping = false;
}

void RealLoop::State::arm(Instant deadline) {
  if (deadline == armed) return;
  itimerspec setting{};  // all zero: off
  if (deadline != never) {
    const Duration since_boot = deadline.time_since_epoch();
    setting.it_value.tv_sec = since_boot / 1s;
    setting.it_value.tv_nsec = (since_boot % 1s).count();
  }
  ensure(timerfd_settime(timer_fd.get(), TFD_TIMER_ABSTIME, &setting, nullptr) == 0, "a loop's timer can be set");
  armed = deadline;
}

// Under the lock: once it is released the callback may run, and may end the loop's life, so nothing may be touched after.
void RealLoop::State::wake() {
  if (!std::exchange(sleeping, false)) return;
  ensure(eventfd_write(wake_fd.get(), 1) == 0, "a loop's event can be written");
}

RealLoop::RealLoop() : state_(std::make_unique<State>()) {}

// One by one and without the lock: what a callback owns may, in its destructor, cancel other timers of this loop.
RealLoop::~RealLoop() {
  for (;;) {
    std::unique_lock lock(state_->mutex);
    ensure(!state_->running, "a loop outlives its run()");
    if (state_->queue.empty()) return;
    const Callback left = state_->queue.pop();
    lock.unlock();
  }
}

Instant RealLoop::now() const { return state_->clock.now(); }

Timer RealLoop::post_at(Instant due, Callback callback) {
  due = std::max(due, now());
  const std::scoped_lock lock(state_->mutex);
  const Timer timer = state_->queue.add(due, std::move(callback));
  if (due < state_->sleeping_until) state_->wake();
  return timer;
}

bool RealLoop::cancel(Timer timer) {
  Callback cancelled;  // outlives the lock: its destructor may post and cancel
  const std::scoped_lock lock(state_->mutex);
  cancelled = state_->queue.remove(timer);
  return static_cast<bool>(cancelled);
}

// noexcept: a callback that throws stops the process here, with its own stack still to be seen.
void RealLoop::run() noexcept {
  {
    const std::scoped_lock lock(state_->mutex);
    ensure(!std::exchange(state_->running, true), "one thread at a time runs a loop");
  }
  while (Callback callback = state_->take_due()) callback();
  const std::scoped_lock lock(state_->mutex);
  state_->running = false;
}

void RealLoop::stop() {
  const std::scoped_lock lock(state_->mutex);
  state_->stopping = true;
  state_->wake();
}

}  // namespace evenkeel
