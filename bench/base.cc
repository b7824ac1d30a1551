// Benchmarks of base. One JSON line a case: what it costs, what a plain alternative costs in the same run, and the ratio of the two
// (above 1: ours is faster). Instances and seeds are fixed; each figure is the best of three, which is what the code can do.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "evenkeel/base/hash.h"
#include "evenkeel/base/quantity.h"
#include "evenkeel/base/real_loop.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/base/virtual_loop.h"

namespace evenkeel {
namespace {

constexpr std::uint64_t seed = 20261115;
volatile std::uint64_t result_sink = 0;  // results go here, so that no loop is optimised away

// Nanoseconds per operation, the best of three runs of `run`, each of `operations`.
double ns_each(std::uint64_t operations, const std::function<std::uint64_t()>& run) {
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    result_sink = result_sink + run();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    const double each = took.count() / static_cast<double>(operations);
    if (round == 0 || each < best) best = each;
  }
  return best;
}

void report(std::string_view name, std::uint64_t operations, const std::function<std::uint64_t()>& ours,
            std::string_view baseline_name, const std::function<std::uint64_t()>& baseline) {
  const double ours_ns = ns_each(operations, ours);
  const double baseline_ns = ns_each(operations, baseline);
  fmt::print(
      R"({{"bench":"base","case":"{}","operations":{},"ns_each":{:.2f},"baseline":"{}","baseline_ns_each":{:.2f},"ratio":{:.2f}}})"
      "\n",
      name, operations, ours_ns, baseline_name, baseline_ns, baseline_ns / ours_ns);
}

// The loop that one would write first: a std::multimap from due time to callback, which keeps equal times in order of posting.
class MultimapLoop {
 public:
  using Handle = std::multimap<Instant, Loop::Callback>::iterator;

  Handle post_at(Instant due, Loop::Callback callback) { return queue_.emplace(std::max(due, now_), std::move(callback)); }
  void cancel(Handle handle) { queue_.erase(handle); }
  std::uint64_t run_until_idle() {
    std::uint64_t ran = 0;
    for (; !queue_.empty(); ++ran) {
      auto first = queue_.extract(queue_.begin());
      now_ = first.key();
      first.mapped()();
    }
    return ran;
  }
  Instant now() const { return now_; }

 private:
  std::multimap<Instant, Loop::Callback> queue_;
  Instant now_{};
};

template <class AnyLoop>
std::uint64_t post_and_run(std::uint64_t timers) {
  AnyLoop loop;
  Rng rng(seed);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < timers; ++i) {
    loop.post_at(Instant(Duration(rng.between(0, 3'600'000'000'000))), [&sum, i] { sum += i; });
  }
  loop.run_until_idle();
  return sum;
}

// A thousand periodic timers, each posting its next: heartbeats, leases, reports.
template <class AnyLoop>
std::uint64_t run_periodic(std::uint64_t fires) {
  AnyLoop loop;
  Rng rng(seed);
  std::uint64_t left = fires;
  std::function<void(Duration)> again = [&](Duration period) {
    if (left == 0) return;
    --left;
    loop.post_at(loop.now() + period, [&again, period] { again(period); });
  };
  for (int i = 0; i < 1'000; ++i) again(Duration(rng.between(1'000'000, 2'000'000)));
  return loop.run_until_idle();
}

// A time-out per request, set and cancelled, with ten thousand others pending.
template <class AnyLoop>
std::uint64_t set_and_cancel(std::uint64_t times) {
  AnyLoop loop;
  Rng rng(seed);
  for (int i = 0; i < 10'000; ++i) loop.post_at(Instant(Duration(rng.between(0, 1'000'000'000))), [] {});
  for (std::uint64_t i = 0; i < times; ++i) {
    loop.cancel(loop.post_at(Instant(Duration(rng.between(0, 1'000'000'000))), [] {}));
  }
  return times;
}

// What cross-thread posting costs at the least: a mutex, a condition variable and a queue, with neither time nor cancelling.
class PlainQueue {
 public:
  void post(Loop::Callback callback) {
    {
      const std::scoped_lock lock(mutex_);
      queue_.push_back(std::move(callback));
    }
    ready_.notify_one();
  }
  void stop() {
    post([this] { stopped_ = true; });
  }
  void run() {
    while (!stopped_) {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return !queue_.empty(); });
      Loop::Callback callback = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      callback();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Loop::Callback> queue_;
  bool stopped_ = false;
};

// Two threads post, one runs.
template <class AnyLoop>
std::uint64_t post_across(std::uint64_t posts) {
  AnyLoop loop;
  std::uint64_t ran = 0;
  std::jthread runner([&] { loop.run(); });
  const auto post_half = [&] {
    for (std::uint64_t i = 0; i < posts / 2; ++i) {
      loop.post([&] {
        if (++ran == posts) loop.stop();
      });
    }
  };
  {
    const std::jthread other(post_half);
    post_half();
  }
  runner.join();
  return ran;
}

// There and back again, one at a time: the wake-up's latency and not its throughput.
template <class AnyLoop>
std::uint64_t ping(std::uint64_t times) {
  AnyLoop loop;
  std::jthread runner([&] { loop.run(); });
  for (std::uint64_t i = 0; i < times; ++i) {
    std::promise<void> done;
    loop.post([&done] { done.set_value(); });
    done.get_future().wait();
  }
  loop.stop();
  return times;
}

void bench_loops() {
  constexpr std::uint64_t million = 1'000'000;
  report(
      "virtual_loop.post_and_run", million, [] { return post_and_run<VirtualLoop>(million); }, "std::multimap",
      [] { return post_and_run<MultimapLoop>(million); });
  report(
      "virtual_loop.periodic", million, [] { return run_periodic<VirtualLoop>(million); }, "std::multimap",
      [] { return run_periodic<MultimapLoop>(million); });
  report(
      "virtual_loop.set_and_cancel", million, [] { return set_and_cancel<VirtualLoop>(million); }, "std::multimap",
      [] { return set_and_cancel<MultimapLoop>(million); });
  report(
      "real_loop.post_across_threads", million, [] { return post_across<RealLoop>(million); }, "mutex, condition variable, deque",
      [] { return post_across<PlainQueue>(million); });
  constexpr std::uint64_t pings = 20'000;
  report(
      "real_loop.ping", pings, [] { return ping<RealLoop>(pings); }, "mutex, condition variable, deque",
      [] { return ping<PlainQueue>(pings); });
}

template <class Draw>
std::uint64_t sum_of(std::uint64_t draws, Draw draw) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < draws; ++i) sum += draw();
  return sum;
}

void bench_rng() {
  constexpr std::uint64_t draws = 20'000'000;
  const auto plain_next = [] {
    std::mt19937_64 rng(seed);
    return sum_of(draws, [&] { return rng(); });
  };
  const auto plain_below = [] {
    std::mt19937_64 rng(seed);
    std::uniform_int_distribution<std::uint64_t> below(0, 999);
    return sum_of(draws, [&] { return below(rng); });
  };
  const auto next = [] {
    Rng rng(seed);
    return sum_of(draws, [&] { return rng.next(); });
  };
  const auto below = [] {
    Rng rng(seed);
    return sum_of(draws, [&] { return rng.below(1'000); });
  };
  report("rng.next", draws, next, "std::mt19937_64", plain_next);
  report("rng.below", draws, below, "std::uniform_int_distribution", plain_below);
}

void bench_hash() {
  for (const std::size_t size : {std::size_t{16}, std::size_t{64}, std::size_t{4'096}}) {
    const std::uint64_t hashes = 64'000'000 / (size + 16);
    std::string text(size, 'k');
    // One byte changes each time, as keys do, and so that no hash can be moved out of the loop.
    const auto hash_all = [&](auto hash) {
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < hashes; ++i) {
        text[i % size] = static_cast<char>(i);
        sum += hash(text);
      }
      return sum;
    };
    report(
        fmt::format("hash64.{}_bytes", size), hashes, [&] { return hash_all([](const std::string& s) { return hash64(s); }); },
        "std::hash", [&] { return hash_all([](const std::string& s) { return std::hash<std::string>()(s); }); });
  }
}

// The baseline is strtod, which is neither exact nor knows suffixes: the price of a number's digits alone.
void bench_quantity() {
  const std::vector<std::string> texts{"0.5",     "500m", "64Gi", "1.5k", "2e3", "1048576", "0.000000001", "9223372036854775807",
                                       "12.25Ti", "3"};
  constexpr std::uint64_t rounds = 200'000;
  const auto ours = [&] {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      for (const std::string& text : texts) sum += static_cast<std::uint64_t>(Quantity::parse(text)->nano());
    }
    return sum;
  };
  const auto plain = [&] {
    double sum = 0;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      for (const std::string& text : texts) sum += std::strtod(text.c_str(), nullptr);
    }
    return static_cast<std::uint64_t>(sum / 1e10);
  };
  report("quantity.parse", rounds * texts.size(), ours, "strtod", plain);
}

}  // namespace
}  // namespace evenkeel

int main() {
  evenkeel::bench_loops();
  evenkeel::bench_rng();
  evenkeel::bench_hash();
  evenkeel::bench_quantity();
}
