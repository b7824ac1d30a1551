#pragma once
// HostLoop: the loop of one host in a test with several, on a VirtualLoop. Its clock runs a little fast or slow and begins anywhere, and the
// host can be paused: then none of its callbacks run, while time, its clock's too, goes on.

#include <algorithm>
#include <map>
#include <utility>

#include "evenkeel/base/virtual_loop.h"

namespace evenkeel::store {

class HostLoop final : public Loop {
 public:
  // Every million nanoseconds outside are a million and `ppm` here.
  HostLoop(VirtualLoop& outside, std::int64_t ppm, Duration offset) : outside_(outside), ppm_(ppm), offset_(offset) {}
  ~HostLoop() override { outside_.cancel(armed_); }
  HostLoop(const HostLoop&) = delete;
  HostLoop& operator=(const HostLoop&) = delete;

  Instant now() const override {
    const std::int64_t passed = outside_.now().time_since_epoch().count();
    return Instant(offset_ + Duration(passed + passed / 1'000'000 * ppm_ + passed % 1'000'000 * ppm_ / 1'000'000));
  }

  Timer post_at(Instant due, Callback callback) override {
    ++posts_;
    const Timer timer{static_cast<std::uint32_t>(posts_), static_cast<std::uint32_t>(posts_ >> 32) + 1};
    const Key key{std::max(due, now()), posts_};
    queue_.emplace(key, std::move(callback));
    due_.emplace(posts_, key.first);
    arm();
    return timer;
  }

  bool cancel(Timer timer) override {
    const auto found = timer.generation == 0 ? due_.end() : due_.find((std::uint64_t{timer.generation - 1} << 32) | timer.slot);
    if (found == due_.end()) return false;
    const auto gone = queue_.extract({found->second, found->first});
    due_.erase(found);
    arm();
    return true;
  }

  void pause(Duration outside) {
    paused_until_ = std::max(paused_until_, later(outside_.now(), outside));
    arm();
  }
  void go_on() {
    paused_until_ = Instant::min();
    arm();
  }
  bool paused() const { return outside_.now() < paused_until_; }

 private:
  using Key = std::pair<Instant, std::uint64_t>;

  void arm() {
    outside_.cancel(std::exchange(armed_, {}));
    if (queue_.empty()) return;
    // A little too early is put right when it runs.
    const Duration left = std::clamp(queue_.begin()->first.first - now(), Duration{}, Duration(1h));
    const Duration wait = left > 2us ? left - left * ppm_ / 1'000'000 - 1us : left;
    armed_ = outside_.post_at(std::max(outside_.now() + wait, paused_until_), [this] {
      armed_ = {};
      run_one();
    });
  }

  void run_one() {
    if (!queue_.empty() && queue_.begin()->first.first <= now()) {
      auto node = queue_.extract(queue_.begin());
      due_.erase(node.key().second);
      node.mapped()();
    }
    arm();
  }

  VirtualLoop& outside_;
  std::int64_t ppm_;
  Duration offset_;
  Instant paused_until_ = Instant::min();
  std::uint64_t posts_ = 0;
  std::map<Key, Callback> queue_;
  std::map<std::uint64_t, Instant> due_;
  Timer armed_;
};

}  // namespace evenkeel::store
