// The broker's scheduler beside the naive model of its rules (ordered sets rebuilt per pass, every queue touched per operation) in the
// same run. One JSON line a case.
//
//   cycle   submit one task, finish one that runs, take the grants; with 4 to 1000 queues, all of which wait, and 0 to a million waiting
//           tasks. `cycles_per_s` of one core, `p50_ns` and `p99_ns` of single cycles, `ratio` to the baseline's cycles per second,
//           allocations in the measured part, and bytes of a waiting task (without name and cookie).
//   death   a client with one task dies among 100 000 tasks of others.
//
// build/bench/broker [FILTER]: only cases whose name has FILTER in it.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/broker/scheduler.h"
#include "tests/broker/naive_model.h"

namespace {

// What the process asked for, counted here alone; the sizes are those asked for, without the allocator's own share.
std::uint64_t allocations = 0;
std::uint64_t live_bytes = 0;

// In front of every block: its size, in as much room as its alignment asks for.
constexpr std::size_t plain = 16;

void* counted(std::size_t size, std::size_t room = plain) {
  ++allocations;
  auto* const block = static_cast<std::byte*>(std::aligned_alloc(room, (size + 2 * room - 1) / room * room));
  if (block == nullptr) std::abort();
  *reinterpret_cast<std::size_t*>(block) = size;
  live_bytes += size;
  return block + room;
}

void uncounted(void* pointer, std::size_t room = plain) {
  if (pointer == nullptr) return;
  auto* const block = static_cast<std::byte*>(pointer) - room;
  live_bytes -= *reinterpret_cast<std::size_t*>(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* pointer) noexcept { uncounted(pointer); }
void operator delete[](void* pointer) noexcept { uncounted(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { uncounted(pointer); }
void operator delete[](void* pointer, std::size_t) noexcept { uncounted(pointer); }
void* operator new[](std::size_t size, std::align_val_t room) { return counted(size, std::size_t(room)); }
void operator delete[](void* pointer, std::align_val_t room) noexcept { uncounted(pointer, std::size_t(room)); }

namespace {

using namespace evenkeel;
using namespace evenkeel::broker;
using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t seed = 1;

struct Shape {
  std::size_t queues;
  std::size_t waiting;
};

// Weights, limits and durations as brokers have them: a few weights, a queue limit of a part of the node, mean runs of some
// milliseconds. The types of every second queue need memory beside cpu.
std::uint64_t memory_of(std::size_t queue) { return queue % 2 == 0 ? 0 : std::uint64_t{1} << 28; }

Config config_of(const Shape& shape) {
  constexpr std::uint64_t weights[] = {100, 30, 10, 100, 50};
  const std::uint64_t cpu = std::max<std::uint64_t>(16, shape.queues / 4);
  Config config{.limit = {{"cpu", cpu}, {"memory", cpu << 30}}};
  for (std::size_t i = 0; i < shape.queues; ++i) {
    const std::string queue = i == 0 ? "queue_default" : fmt::format("queue{}", i);
    config.queues.push_back({.name = queue, .weight = weights[i % 5], .limit = {{"cpu", i % 3 == 0 ? 2 : cpu}}});
    config.types.push_back(
        {.name = i == 0 ? "unknown" : fmt::format("type{}", i), .queue = queue, .default_duration = Micros(5'000)});
  }
  return config;
}

// The tasks that wait before the measurement starts, in every queue as many, made by restoring a state: the baseline would need minutes to
// be given them one by one.
State state_of(const Shape& shape) {
  State state{.now = Micros(1'000'000), .config = config_of(shape), .clients = {ClientId(0)}};
  for (const QueueSpec& queue : state.config.queues) state.queues.push_back({.name = queue.name});
  for (const TypeSpec& type : state.config.types) {
    State::Type& saved = state.types.emplace_back(State::Type{.name = type.name});
    saved.durations.fill(type.default_duration.count());
  }
  for (std::size_t i = 0; i < shape.waiting; ++i) {
    state.tasks.push_back({.client = ClientId(0),
                           .id = TaskId(i + 1),
                           .type = state.config.types[i % shape.queues].name,
                           .need = {1, memory_of(i % shape.queues)},
                           .submitted = Micros(i),
                           .since = Micros(i)});
  }
  return state;
}

// Submits and finishes on one broker, and knows what runs there.
template <class Broker>
class Driver {
 public:
  Driver(const Shape& shape, Broker broker) : shape_(shape), broker_(std::move(broker)) {
    client_ = shape.waiting == 0 ? broker_.connect() : ClientId(0);
    running_.reserve(1 << 16);
    queue_of_.reserve(shape.waiting + (std::size_t{4} << 20));
    for (std::size_t i = 0; i < shape.waiting; ++i) queue_of_.push_back(static_cast<std::uint16_t>(i % shape.queues));
    for (const TypeSpec& type : broker_.config().types) types_.push_back(type.name);
    // The first operation grants what the limits allow.
    if (shape.waiting != 0) cycle();
  }

  // One submit, and one finish if anything runs. A queue gets a new task when one of its own was granted, so that as many wait in each
  // as did at the start; where none wait, any queue.
  void cycle() {
    now_ += 1 + rng_.below(20);
    const std::size_t queue = shape_.waiting == 0 ? rng_.below(types_.size()) : queue_of_[granted_];
    const std::uint64_t id = queue_of_.size();
    queue_of_.push_back(static_cast<std::uint16_t>(queue));
    const std::uint64_t need[2] = {1, memory_of(queue)};
    take(broker_.submit(client_, {.task = TaskId(id), .type = types_[queue], .need = need}, Micros(now_)));
    if (running_.empty()) return;
    std::swap(running_[rng_.below(running_.size())], running_.back());
    const TaskId task = running_.back();
    running_.pop_back();
    take(broker_.finish(client_, task, Cancelled::no, Micros(now_)));
  }

  Broker& broker() { return broker_; }
  Micros now() const { return Micros(now_); }

 private:
  void take(const Effects& effects) {
    for (const Event& event : effects.events) {
      if (event.kind != Event::Kind::allocated) continue;
      running_.push_back(event.task);
      granted_ = event.task.value();
    }
  }

  Shape shape_;
  Broker broker_;
  ClientId client_;
  Rng rng_{seed};
  std::uint64_t now_ = 1'000'001;
  std::vector<std::uint16_t> queue_of_ = {0};  // by task
  std::uint64_t granted_ = 0;
  std::vector<TaskId> running_;
  std::vector<std::string> types_;
};

struct Figures {
  double cycles_per_s = 0;
  std::uint64_t p50 = 0, p99 = 0, allocated = 0;
};

std::uint64_t nanos(SteadyClock::duration duration) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

// Throughput in one stretch, without a clock in it; then single cycles, each with the two readings of the clock around it.
template <class Broker>
Figures measure(Driver<Broker>& driver, std::size_t cycles) {
  for (std::size_t i = 0; i < cycles / 4; ++i) driver.cycle();
  Figures figures;
  const std::uint64_t before = allocations;
  const auto start = SteadyClock::now();
  for (std::size_t i = 0; i < cycles; ++i) driver.cycle();
  const auto taken = SteadyClock::now() - start;
  figures.allocated = allocations - before;
  figures.cycles_per_s = static_cast<double>(cycles) * 1e9 / static_cast<double>(nanos(taken));
  std::vector<std::uint64_t> single(std::min<std::size_t>(cycles, 200'000));
  for (std::uint64_t& one : single) {
    const auto from = SteadyClock::now();
    driver.cycle();
    one = nanos(SteadyClock::now() - from);
  }
  std::ranges::sort(single);
  figures.p50 = single[single.size() / 2];
  figures.p99 = single[single.size() * 99 / 100];
  return figures;
}

template <class Broker>
Broker make(const Shape& shape) {
  // Without waiting tasks a state is no shortcut, and a fresh broker is what one starts with.
  auto broker = shape.waiting == 0 ? Broker::make(config_of(shape), {}, Micros(0)) : Broker::restore(state_of(shape), {});
  if (!broker) std::abort();
  return *std::move(broker);
}

void bench_cycles(const Shape& shape, std::size_t baseline_cycles) {
  std::uint64_t bytes = 0;
  Figures ours;
  {
    const std::uint64_t at_first = live_bytes;
    std::optional<Scheduler> empty = make<Scheduler>({shape.queues, 0});
    const std::uint64_t of_queues = live_bytes - at_first;
    empty.reset();
    auto broker = make<Scheduler>(shape);
    bytes = shape.waiting == 0 ? 0 : (live_bytes - at_first - of_queues) / shape.waiting;
    Driver<Scheduler> driver(shape, std::move(broker));
    ours = measure(driver, 1'000'000);
  }
  Driver<NaiveModel> driver(shape, make<NaiveModel>(shape));
  const Figures baseline = measure(driver, baseline_cycles);
  fmt::print(
      R"({{"bench":"broker","case":"cycle","queues":{},"waiting":{},"cycles_per_s":{:.0f},"p50_ns":{},"p99_ns":{},"allocations":{},)"
      R"("bytes_per_waiting_task":{},"baseline":"naive model","baseline_cycles_per_s":{:.0f},"baseline_p99_ns":{},"ratio":{:.1f}}})"
      "\n",
      shape.queues, shape.waiting, ours.cycles_per_s, ours.p50, ours.p99, ours.allocated, bytes, baseline.cycles_per_s,
      baseline.p99, ours.cycles_per_s / baseline.cycles_per_s);
  std::fflush(stdout);
}

// A client with one waiting task comes and dies, over and over, among the tasks of another.
template <class Broker>
std::vector<std::uint64_t> deaths(std::size_t times) {
  const Shape shape{.queues = 22, .waiting = 100'000};
  Driver<Broker> driver(shape, make<Broker>(shape));
  const std::uint64_t need[2] = {1, 0};
  std::vector<std::uint64_t> taken(times);
  for (std::uint64_t& one : taken) {
    Broker& broker = driver.broker();
    const ClientId client = broker.connect();
    broker.submit(client, {.task = TaskId(1), .type = "type7", .need = need}, driver.now());
    const auto from = SteadyClock::now();
    broker.client_died(client, driver.now());
    one = nanos(SteadyClock::now() - from);
  }
  std::ranges::sort(taken);
  return taken;
}

void bench_deaths() {
  const auto ours = deaths<Scheduler>(20'000);
  const auto baseline = deaths<NaiveModel>(200);
  fmt::print(
      R"({{"bench":"broker","case":"death","foreign_tasks":100000,"p50_ns":{},"p99_ns":{},"baseline":"naive model","baseline_p50_ns":{},)"
      R"("ratio":{:.1f}}})"
      "\n",
      ours[ours.size() / 2], ours[ours.size() * 99 / 100], baseline[baseline.size() / 2],
      static_cast<double>(baseline[baseline.size() / 2]) / static_cast<double>(ours[ours.size() / 2]));
}

}  // namespace

int main(int count, char** words) {
  const std::string filter = count > 1 ? words[1] : "";
  for (const std::size_t queues : {4u, 22u, 100u, 1000u}) {
    for (const std::size_t waiting : {0u, 10'000u, 1'000'000u}) {
      const std::string name = fmt::format("cycle/{}/{}", queues, waiting);
      if (name.find(filter) != std::string::npos) bench_cycles({queues, waiting}, 4'000'000 / (queues * 20 + 1000));
    }
  }
  if (std::string("death").find(filter) != std::string::npos) bench_deaths();
}
