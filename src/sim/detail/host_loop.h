#pragma once
// HostLoop: the loop of one process on a VirtualLoop that all share. Its clock begins anywhere and runs a little fast or slow; it can stand still for a
// while, when none of its callbacks run while time, its clock's too, goes on. Destroying it forgets what it was to do.
//
// Each timer is one of the shared loop's, so cost and order are that one's.

#include <cstdint>
#include <vector>

#include "evenkeel/base/virtual_loop.h"

namespace evenkeel::sim {

struct HostClock {
  Duration offset = {};  // what it shows at the shared loop's beginning
  std::int64_t ppm = 0;  // every million nanoseconds outside are a million and so many here

  Instant at(Instant outside) const;
  // The first moment outside at which it shows `here`.
  Instant outside(Instant here) const;
};

class HostLoop final : public Loop {
 public:
  HostLoop(VirtualLoop& outside, HostClock clock) : outside_(outside), clock_(clock) {}
  ~HostLoop() override;
  HostLoop(const HostLoop&) = delete;
  HostLoop& operator=(const HostLoop&) = delete;

  Instant now() const override { return clock_.at(outside_.now()); }
  Timer post_at(Instant due, Callback callback) override;
  bool cancel(Timer timer) override;

  // By the shared loop's time.
  void stand_still(Duration time);
  bool stands_still() const { return outside_.now() < still_until_; }
  // How many callbacks have run in this very moment.
  std::uint64_t ran_now() const { return ran_at_ == outside_.now() ? ran_ : 0; }

 private:
  struct Slot {
    Callback callback;
    Timer outside;
    std::uint32_t generation = 0;
    bool used = false;
  };

  void fire(std::uint32_t slot);
  Callback release(std::uint32_t slot);

  VirtualLoop& outside_;
  const HostClock clock_;
  Instant still_until_ = Instant::min();
  Instant ran_at_ = Instant::min();
  std::uint64_t ran_ = 0;  // at `ran_at_`
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace evenkeel::sim
