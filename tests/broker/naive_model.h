#pragma once
// NaiveModel: the broker's rules as plain as they can be written, to judge the Scheduler by and to measure it against.
//
// The same operations, effects and observations as Scheduler (scheduler.h), and none of its care for speed: every operation brings
// every queue up to now, every pass builds its candidates anew, and shares are computed whenever they are needed. Where the two
// differ, one of them misreads the rules. Nothing here is shared with the Scheduler but the values that go in and out.
//
//   auto model = NaiveModel::make(config, {}, Micros(0));
//   auto effects = model->submit(model->connect(), {.task = TaskId(1), .type = "transaction", .need = need}, Micros(10));

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "evenkeel/base/quantity.h"
#include "evenkeel/base/result.h"
#include "evenkeel/broker/config.h"
#include "evenkeel/broker/scheduler.h"
#include "evenkeel/broker/status.h"

namespace evenkeel::broker {

// Arithmetic on unsigned 128 bits that stops at the ends.
namespace naive {
UInt128 add(UInt128 a, UInt128 b);
UInt128 subtract(UInt128 a, UInt128 b);
UInt128 multiply(UInt128 a, UInt128 b);
// floor(value * 2^64 / divisor), by school division: value * 2^64 may take 192 bits.
UInt128 scaled_quotient(UInt128 value, UInt128 divisor);
}  // namespace naive

class NaiveModel {
 public:
  static Result<NaiveModel> make(const Config& config, const Options& options, Micros now);
  static Result<NaiveModel> restore(const State& state, const Options& options);
  NaiveModel(NaiveModel&&) = default;
  NaiveModel& operator=(NaiveModel&&) = default;

  ClientId connect();

  Effects submit(ClientId client, const Submit& request, Micros now);
  Effects submit_instant(ClientId client, const Submit& request, Micros now);
  Effects update(ClientId client, const Update& request, Micros now);
  Effects update_cookie(ClientId client, TaskId task, std::string_view cookie);
  Effects remove(ClientId client, TaskId task, Reply reply, Micros now);
  Effects finish(ClientId client, TaskId task, Cancelled cancelled, Micros now);
  Effects finish_instant(ClientId client, TaskId task, Cancelled cancelled, Micros now);
  Effects reduce(ClientId client, TaskId task, std::span<const std::uint64_t> by, Micros now);
  Effects merge(ClientId client, TaskId task, TaskId donor, Micros now);
  Effects client_died(ClientId client, Micros now);
  Result<Effects> configure(const Config& config, Micros now);

  const Config& config() const { return config_; }
  const Options& options() const { return options_; }
  const std::vector<std::string>& resources() const { return resources_; }
  std::size_t tasks() const { return tasks_.size(); }

  // The first task whose client and id are not below these, for tests that want any: its client and id, and whether it runs.
  std::optional<std::tuple<ClientId, TaskId, bool>> first_from(ClientId client, TaskId task) const;
  Status observe(Micros now, std::size_t waiting_max, std::size_t running_max) const;
  State save(Micros now) const;

 private:
  using Key = std::pair<ClientId, TaskId>;
  using Needs = std::vector<std::uint64_t>;

  struct Task {
    Key key;
    std::uint64_t created = 0;  // the order of creation
    std::string name;
    std::string type;  // as submitted
    std::uint64_t priority = 0;
    Needs need;
    std::string cookie;
    std::uint64_t submitted = 0;
    std::uint64_t since = 0;             // running: its start; waiting: when it began to wait
    std::uint64_t planned_duration = 0;  // of a running one
    bool running = false;
    bool silent = false;  // its next grant is answered by submit_instant itself
  };
  // The order in a queue: priority, submit time, order of creation.
  using Place = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

  struct Queue {
    QueueSpec spec;
    Needs limit;
    std::map<Place, Task*> waiting;
    Counters counters;
    UInt128 real = 0;  // as of at_
    UInt128 planned = 0;
    std::uint64_t weight() const { return spec.weight == 0 ? 1 : spec.weight; }
  };
  struct Type {
    TypeSpec spec;
    std::size_t queue = 0;
    Counters counters;
    std::array<std::uint64_t, State::window> durations{};
    std::uint32_t oldest = 0;
    std::uint64_t mean() const;
  };

  NaiveModel() = default;
  void adopt(const Config& config);
  void choose_denominator();
  void reattach_tasks();

  // Shares. The rate is what a vector consumes in a microsecond, over denominator_, for a queue of this weight.
  template <class Vector>
  UInt128 rate(const Vector& amounts, std::uint64_t weight) const;
  UInt128 part_left(const Task& task, const Queue& queue) const;
  UInt128 real_at(const Queue& queue, std::uint64_t now) const;
  void bring_up_to(std::uint64_t now);
  void enter(const Task& task);  // a running task, into the planned consumption of its queue
  void leave(const Task& task);  // and out of it

  std::size_t type_of(std::string_view name) const;
  Type& type_of(const Task& task) { return types_[type_of(task.type)]; }
  Queue& queue_of(const Task& task) { return queues_[type_of(task).queue]; }
  static Place place_of(const Task& task) { return {task.priority, task.submitted, task.created}; }
  Needs needs_of(std::span<const std::uint64_t> amounts) const;

  Task* find(ClientId client, TaskId task);
  Task& create(ClientId client, const Submit& request, TaskId id);
  TaskId pick(ClientId client);
  void wait(Task& task);
  void stop_waiting(Task& task);
  void run(Task& task);
  void stop_running(Task& task, Cancelled cancelled);
  void erase(Task& task) { tasks_.erase(Key(task.key)); }
  void activate(Queue& queue);
  void hold(const Task& task);
  void release(const Task& task);

  static bool fits(const Needs& need, const std::vector<UInt128>& used, const Needs& limit);
  bool oversized(std::string_view type, const Needs& need) const;
  void pass();
  bool look_at(Queue& queue, std::vector<bool>& blocked);

  void start(std::uint64_t now);
  void report(Event::Kind kind, Refusal refusal, Key key, std::string_view cookie);
  Effects done(TaskId task, bool granted = false) const;
  Effects refused(Refusal refusal, TaskId task) const;
  Effects failed(Refusal refusal, Key key, std::string_view cookie);
  Refusal refusal_of(ClientId client, const Submit& request, bool instant);
  Effects finish_found(ClientId client, TaskId task, Cancelled cancelled);
  TaskStatus status_of(const Task& task) const;
  std::vector<const Task*> by_creation() const;

  Options options_;
  Config config_;
  std::vector<std::string> resources_;
  Needs limit_;
  std::vector<Queue> queues_;  // in the config's order
  std::vector<Type> types_;
  std::map<Key, Task> tasks_;
  std::set<ClientId> clients_;
  Counters total_;

  bool exact_ = true;  // the denominator is lcm(limits) * lcm(weights); else 2^64
  UInt128 limits_multiple_ = 1;
  UInt128 weights_multiple_ = 1;
  UInt128 denominator_ = 1;

  std::uint64_t at_ = 0;
  std::uint64_t created_ = 0;
  std::uint64_t next_task_ = 1;
  std::uint64_t missing_types_ = 0;
  std::map<std::string, std::uint64_t> finished_by_queue_;
  std::map<std::string, std::uint64_t> finished_by_type_;
  std::map<std::string, Histogram> in_queue_by_queue_;
  std::map<std::string, Histogram> in_queue_by_type_;
  std::map<std::string, Histogram> execution_by_type_;

  std::vector<Event> events_;
  std::deque<std::string> cookies_;  // what the events point to
};

}  // namespace evenkeel::broker
