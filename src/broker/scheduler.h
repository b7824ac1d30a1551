#pragma once
// Scheduler: the pure core of a node's resource broker. Clients submit tasks; each is granted its resources when it is its turn,
// and gives them back when it finishes.
//
// Three nouns. A *task* of a client asks for amounts of resources (cpu, memory, …). Its *type* sends it to a *queue*, which has a
// weight and a limit. After every change one *pass* looks at the queues' first tasks, the queue that consumed least for its weight
// first, and grants what fits the node's limit and the queue's. Consumption is dominant-resource fair: a queue is charged for the
// resource of which it holds the largest share, both for the time really passed and for the time planned by the type's mean duration.
//
//   auto scheduler = Scheduler::make(default_config(), {}, Micros(0));
//   const ClientId me = scheduler->connect();
//   auto effects = scheduler->submit(me, {.task = TaskId(1), .type = "transaction", .need = need}, Micros(10));
//   for (const Event& event : effects.events) ...            // allocated me/1
//   effects = scheduler->finish(me, TaskId(1), Cancelled::no, Micros(500));
//
// Rules in full: docs/broker.md. What holds after every operation:
//   - a limit is exceeded only by a task that is alone under it, or by updates of running tasks;
//   - shares are exact fractions (values.h): no drift, and equal consumption ties exactly;
//   - the same operations at the same times give the same effects, byte for byte.
// The clock is the caller's: `now` never goes back. One thread at a time (shell/broker.h has the one for many).
// Effects point into the scheduler and into the request: they are valid until the next call.
//
// Cost, with q queues of which some wait, and m different sets of resources that first tasks need (rarely more than three):
// a grant costs O(m + log q), an operation that grants nothing O(m + log q), whatever the number of waiting tasks; inserting out of
// order O(log tasks); the death of a client O(log) for each task of its own; configure O(tasks). Memory per waiting task: below 200
// bytes beside its name and cookie. Once warm nothing is allocated.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/id.h"
#include "evenkeel/base/result.h"
#include "evenkeel/broker/config.h"
#include "evenkeel/broker/status.h"

namespace evenkeel::broker {

// Why an operation was not done. `oversized` and `queue_full` come only with the options that ask for them; `unlike` are two tasks that
// cannot be merged.
enum class Refusal : std::uint8_t {
  none,
  already_exists,
  unknown_task,
  task_in_fly,
  task_in_queue,
  oversized,
  queue_full,
  unlike
};
std::string_view name(Refusal refusal);     // ALREADY_EXISTS
std::string_view message(Refusal refusal);  // what it means and what to do

enum class Cancelled : bool { no, yes };
enum class Reply : bool { no, yes };

struct Submit {
  TaskId task{0};  // 0: the scheduler picks
  std::string_view name;
  std::string_view type;
  std::uint64_t priority = 0;           // smaller is sooner
  std::span<const std::uint64_t> need;  // by resources(); what is missing at the end is 0
  std::string_view cookie;
};

struct Update {
  TaskId task{0};
  std::string_view type;
  std::uint64_t priority = 0;
  std::span<const std::uint64_t> need;
  bool resubmit = false;
};

struct Event {
  enum class Kind : std::uint8_t { allocated, error, removed };
  Kind kind = Kind::allocated;
  Refusal refusal = Refusal::none;  // of an error
  ClientId client{0};
  TaskId task{0};
  std::string_view cookie;
};

struct Effects {
  Refusal refusal = Refusal::none;  // none: done. An instant submit that was not granted is done.
  bool granted = false;             // of an instant submit
  TaskId task{0};                   // the task meant; with id 0 the one picked
  std::span<const Event> events;    // to be delivered in this order
  bool ok() const { return refusal == Refusal::none; }
};

// Departures from the rules, all off.
struct Options {
  // A queue whose first task does not fit the queue's own limit is skipped before the total limit is looked at, so it keeps nothing
  // back for itself: work flows around it, and a large task there may starve.
  bool queue_limit_first = false;
  // A submit, or an update of a task that waits or will wait, that could only run alone (over the total or its queue's limit) is
  // refused as OVERSIZED. Tasks that become oversized by configure still run alone.
  bool refuse_oversized = false;
  // At most so many tasks wait in one queue: a submit beyond is refused as QUEUE_FULL. 0: no bound. Instant submits never stay and
  // updates never add a task to the broker, so neither is refused.
  std::uint64_t waiting_max = 0;
  friend bool operator==(const Options&, const Options&) = default;
};

class Scheduler {
 public:
  static Result<Scheduler> make(const Config& config, const Options& options, Micros now);
  // As it was when `state` was saved: the same operations from there on have the same effects. Clients keep their numbers.
  static Result<Scheduler> restore(const State& state, const Options& options);
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;
  ~Scheduler();

  // A client is a number until it dies; numbers are used again.
  ClientId connect();

  Effects submit(ClientId client, const Submit& request, Micros now);
  Effects submit_instant(ClientId client, const Submit& request, Micros now);
  Effects update(ClientId client, const Update& request, Micros now);
  Effects update_cookie(ClientId client, TaskId task, std::string_view cookie);
  Effects remove(ClientId client, TaskId task, Reply reply, Micros now);
  Effects finish(ClientId client, TaskId task, Cancelled cancelled, Micros now);
  // As finish, but without an error event.
  Effects finish_instant(ClientId client, TaskId task, Cancelled cancelled, Micros now);
  Effects reduce(ClientId client, TaskId task, std::span<const std::uint64_t> by, Micros now);
  // Refused, without an event, unless both run, are of one type name and one client, and the sums fit 64 bits.
  Effects merge(ClientId client, TaskId task, TaskId donor, Micros now);
  // Its tasks go, running ones as cancelled; its number is free.
  Effects client_died(ClientId client, Micros now);
  // Nothing changes if it is refused.
  Result<Effects> configure(const Config& config, Micros now);

  const Config& config() const;
  const Options& options() const;
  const std::vector<std::string>& resources() const;
  std::size_t tasks() const;

  // Counters, queues, types and histograms; with at most `waiting_max` waiting tasks a queue and `running_max` running ones.
  Status observe(Micros now, std::size_t waiting_max, std::size_t running_max) const;
  State save(Micros now) const;

 private:
  class Core;
  explicit Scheduler(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace evenkeel::broker
