#pragma once
// Life: a few hosts with clocks of their own, on a network that delays, loses and cuts off, by a seed. For tests under faults.
//
//   struct Host : HostBase { using HostBase::HostBase; …what runs there… };
//   class Life : public LifeBase<Host> { …starts its hosts, and says in check() what may never be… };
//   on_seeds(2000, [&](std::uint64_t seed) { Life life(seed); return life.run(); });
//
// After every step of any host check() is called; the first complaint ends the life.

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/store/memory/memory.h"
#include "tests/store/host_loop.h"

namespace evenkeel::store {

struct HostBase {
  HostBase(VirtualLoop& outside, std::int64_t ppm, Duration offset, std::string id)
      : name(std::move(id)), loop(outside, ppm, offset) {}
  std::string name;
  HostLoop loop;
  bool cut = false;
};

template <class Host>
class LifeBase {
 public:
  virtual ~LifeBase() = default;
  LifeBase(const LifeBase&) = delete;
  LifeBase& operator=(const LifeBase&) = delete;

 protected:
  // `name` splits the dice, so that no two kinds of life are alike.
  LifeBase(std::uint64_t seed, std::string_view name, int hosts)
      : rng_(Rng(seed).split(name)),
        ttl_(rng_.between(400, 2000) * 1ms),
        delay_max_(Duration(rng_.between(0, ttl_.count() / 10))),
        world_(outside_, some_faults(seed)) {
    constexpr std::int64_t skew_ppm = 5000;  // so that clocks differ by at most 1 % from each other
    for (int i = 0; i < hosts; ++i) {
      hosts_.push_back(
          std::make_unique<Host>(outside_, rng_.between(-skew_ppm, skew_ppm), rng_.between(0, 3600) * 1s, fmt::format("n{}", i)));
    }
  }

  // What must hold whenever a host has done something. One that is paused sees nothing; what it sees when it goes on is checked then.
  virtual void check() = 0;

  Host& some_host() { return *hosts_[rng_.below(hosts_.size())]; }

  void run_for(Duration duration) {
    const Instant until = outside_.now() + duration;
    while (wrong_.empty() && !outside_.idle() && outside_.next_due() <= until) {
      outside_.step();
      check();
    }
    outside_.run_until(std::max(until, outside_.now()));
  }

  void pause(Host& host) { host.loop.pause(Duration(rng_.between(0, ttl_.count() * 2))); }
  void cut_or_heal(Host& host) {
    host.cut = !host.cut;
    host.cut ? world_.cut_off(host.name) : world_.heal(host.name);
  }
  void stop_store_for_a_while() {
    world_.stop();
    run_for(Duration(rng_.between(0, ttl_.count())));
    world_.resume();
  }

  // From now on there are delays only; and some time to get over it.
  void stop_faults(Duration rest) {
    world_.set_faults({.delay_min = delay_max_ / 10, .delay_max = delay_max_, .timeout = ttl_});
    for (const auto& host : hosts_) {
      host->loop.go_on();
      world_.heal(host->name);
    }
    run_for(rest);
  }

  // In so much time on a clock that may be 0.5 % slow a beat has stood still for ttl × 1.02, and so many messages have come and gone.
  Duration takeover_max(int messages) const { return ttl_ * 1020 / 995 + delay_max_ * messages + 1ms; }

  template <class... Args>
  void complain(fmt::format_string<Args...> message, Args&&... args) {
    if (!wrong_.empty()) return;
    wrong_ = fmt::format("at {} with a ttl of {}: ", format(outside_.now()), format(ttl_)) +
             fmt::format(message, std::forward<Args>(args)...);
  }
  bool good() const { return wrong_.empty(); }
  // The first thing that was wrong, or nothing.
  const std::string& wrong() const { return wrong_; }

  Rng rng_;
  Duration ttl_;
  Duration delay_max_;
  VirtualLoop outside_;
  World world_;
  std::vector<std::unique_ptr<Host>> hosts_;  // destroying one is like a crash: it calls nobody

 private:
  Faults some_faults(std::uint64_t seed) {
    const auto some = [&](std::uint64_t most) { return static_cast<std::uint32_t>(rng_.below(3) == 0 ? 0 : rng_.below(most)); };
    return {.seed = seed,
            .delay_min = delay_max_ / 10,
            .delay_max = delay_max_,
            .lost_requests = some(150'000),
            .lost_answers = some(150'000),
            .late_watch = some(150'000),
            .stale_lists = some(400'000),
            .timeout = Duration(rng_.between(ttl_.count() / 20, ttl_.count())),
            .lease = 2s,
            .history = rng_.below(2) == 0 ? 10'000U : 30U};
  }

  std::string wrong_;
};

// Runs `life` on each seed, which answers with what was wrong there, or nothing; five failures are enough to work on. EVENKEEL_SEED runs
// that one alone. Whether all were run: only then do totals say anything.
inline bool on_seeds(std::uint64_t seeds, const std::function<std::string(std::uint64_t)>& life) {
  const char* only = std::getenv("EVENKEEL_SEED");
  const std::uint64_t first = only != nullptr ? std::stoull(only) : 1;
  const std::uint64_t last = only != nullptr ? first : seeds;
  int failures = 0;
  for (std::uint64_t seed = first; seed <= last && failures < 5; ++seed) {
    const std::string wrong = life(seed);
    if (wrong.empty()) continue;
    ++failures;
    ADD_FAILURE() << "EVENKEEL_SEED=" << seed << ": " << wrong;
  }
  return only == nullptr;
}

}  // namespace evenkeel::store
