#pragma once
// The scheduler's state and its parts: scheduler.cc has the operations, pass.cc what grants, configure.cc what rebuilds, observe.cc
// what is shown.
//
// Queues are numbered by rank (larger weight first, then the config's order), so that of two equal keys the smaller number is first.
// An operation changes tasks and lines, notes the queues it touched, and ends with one pass, which first brings their turns up to date.

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "evenkeel/broker/detail/tasks.h"
#include "evenkeel/broker/detail/turns.h"
#include "evenkeel/broker/scheduler.h"

namespace evenkeel::broker {

class Scheduler::Core {
 public:
  using Slot = detail::Slot;
  using QueueIndex = detail::QueueIndex;
  using Time = std::uint64_t;  // microseconds

  explicit Core(const Options& options) : options_(options) {}

  ClientId connect();
  Effects submit(ClientId client, const Submit& request, bool instant, Time now);
  Effects update(ClientId client, const Update& request, Time now);
  Effects update_cookie(ClientId client, TaskId task, std::string_view cookie);
  Effects remove(ClientId client, TaskId task, Reply reply, Time now);
  Effects finish(ClientId client, TaskId task, Cancelled cancelled, bool instant, Time now);
  Effects reduce(ClientId client, TaskId task, std::span<const std::uint64_t> by, Time now);
  Effects merge(ClientId client, TaskId task, TaskId donor, Time now);
  Effects client_died(ClientId client, Time now);
  Effects configure(const Config& config, Time now);  // of a config that was checked
  Result<void> restore(const State& state);
  Status observe(Micros now, std::size_t waiting_max, std::size_t running_max) const;
  State save(Micros now) const;

  const Config& config() const { return config_; }
  const Options& options() const { return options_; }
  const std::vector<std::string>& resources() const { return resources_; }
  std::size_t tasks() const { return tasks_.size(); }

 private:
  struct Queue {
    std::uint32_t spec = 0;  // its place in the config
    detail::WaitingOrder waiting;
    std::uint64_t running = 0;
    std::uint64_t finished = 0;
    Histogram in_queue;
  };
  struct Type {
    QueueIndex queue = 0;
    std::array<std::uint64_t, State::window> durations{};
    std::uint32_t oldest = 0;
    UInt128 sum = 0;         // of durations
    std::uint64_t mean = 0;  // rounded down
    std::uint64_t enqueued = 0;
    std::uint64_t infly = 0;
    std::uint64_t finished = 0;
    Histogram in_queue;
    Histogram execution;

    void fill(std::uint64_t duration);
    void record(std::uint64_t duration);
    void sum_up();
  };
  // The name of a type as tasks give it. A name that the config does not know counts as `unknown` and goes with its last task.
  static constexpr std::uint32_t kinds_max = (1u << 29) - 1;
  struct Kind {
    std::string name;
    std::uint32_t type = 0;
    bool known = false;
    bool used = false;
    std::uint64_t tasks = 0;
  };
  struct Client {
    std::vector<Slot> tasks;  // each knows its position here
    bool connected = false;
  };
  // What outlives a queue or type that leaves the config.
  struct History {
    std::uint64_t finished = 0;
    Histogram in_queue;
    Histogram execution;
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  // scheduler.cc: tasks come, change and go.
  void begin();
  Effects end(TaskId task) const;
  Effects refuse(ClientId client, TaskId task, Refusal refusal, std::string_view cookie);
  Slot find(ClientId client, TaskId task) const;
  std::uint32_t take_kind(std::string_view type);
  void drop_kind(std::uint32_t kind);
  void release_kind(std::uint32_t kind);
  Refusal objection(const Submit& request, bool instant) const;
  bool is_oversized(std::span<const std::uint64_t> need, std::uint32_t type) const;
  std::uint32_t type_named(std::string_view name) const;
  Slot make_task(ClientId client, TaskId id, const Submit& request, Time now);
  void forget_task(Slot slot);
  void rewrite(Slot slot, const Update& request);
  void set_need(Slot slot, std::span<const std::uint64_t> need);
  void finish_task(Slot slot, Cancelled cancelled, Time now);

  // pass.cc: waiting, running, and how the one becomes the other.
  enum class Comes : bool { within_queue, from_outside };
  void enqueue(Slot slot, Comes comes, Time now);
  void dequeue(Slot slot);
  void lift(QueueIndex q, Time now);
  void start_running(Slot slot, Time now);  // charges it; its start and planned duration are set
  void stop_running(Slot slot, Time now);
  void link_running(Slot slot);
  void unlink_running(Slot slot);
  void hold(QueueIndex q, std::uint32_t type, const std::uint64_t* need, bool more, Time now);
  UInt128 part(QueueIndex q, Slot slot, Time now) const;  // of the task in its queue's plan
  void touch(QueueIndex q);
  void arrange(QueueIndex q, Time now);
  void arrange_touched(Time now);
  void pass(Time now);
  bool nothing_fits() const;
  bool grant_at_once(Slot slot, Time now);
  void grant(Slot slot, Time now);
  bool fits(std::span<const std::uint64_t> need) const;
  bool fits_queue(QueueIndex q, std::span<const std::uint64_t> need) const;

  // configure.cc
  void remember();
  void build_queues(const Config& config);
  void build_types(const Config& config);
  void map_needs(const std::vector<std::string>& resources);
  void build_kinds(const Config& config);
  void rebuild(const Config& config, Time now);
  void attach_tasks(Time now);
  Result<void> restore_tasks(const State& state);

  // observe.cc
  TaskStatus status_of(Slot slot) const;
  Counters counters_of_queue(QueueIndex q) const;
  Counters counters_of_type(std::uint32_t type) const;

  std::span<const std::uint64_t> need_of(Slot slot) const { return {tasks_.need(slot), resources_.size()}; }
  std::uint32_t type_of(Slot slot) const { return kinds_[tasks_[slot].kind].type; }
  QueueIndex queue_of(Slot slot) const { return types_[type_of(slot)].queue; }

  Options options_;
  Config config_;
  std::vector<std::string> resources_;
  detail::Scale scale_;

  // The node, by resource.
  std::vector<std::uint64_t> limits_;
  std::vector<UInt128> used_;
  std::vector<std::uint64_t> free_;    // limit - used, at least 0
  detail::ResourceSet over_ = 0;       // of which more is used than the limit
  detail::ResourceSet exhausted_ = 0;  // of which nothing is free
  std::uint64_t running_ = 0;
  // The running tasks in order of their start, linked by `left` and `right`.
  Slot first_running_ = detail::no_slot;
  Slot last_running_ = detail::no_slot;
  std::uint64_t waiting_ = 0;

  // By queue; limits and used also by resource: [queue * resources + resource].
  std::vector<Queue> queues_;
  std::vector<detail::Line> lines_;
  std::vector<std::uint64_t> queue_limits_;
  std::vector<UInt128> queue_used_;
  std::vector<QueueIndex> queue_of_spec_;

  std::vector<Type> types_;         // as in the config
  std::vector<UInt128> type_used_;  // [type * resources + resource]
  std::uint32_t unknown_ = 0;       // the type of that name
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> free_kinds_;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> kind_of_name_;

  detail::TaskPool tasks_;
  detail::TaskIndex index_;
  std::vector<Client> clients_;
  std::vector<std::uint32_t> free_clients_;

  detail::Turns turns_;
  detail::Tournament<detail::ByReal> least_real_;  // of the queues that wait; brought up to date when a queue is lifted
  // Queues that changed since their turns, or their place in least_real_, were brought up to date.
  std::vector<QueueIndex> touched_;
  std::vector<QueueIndex> stale_;
  static constexpr std::uint8_t is_touched = 1, is_stale = 2;
  std::vector<std::uint8_t> marks_;  // which of the two lists have it

  std::vector<Event> events_;
  std::string removed_cookie_;  // of the event of a remove
  std::uint64_t next_task_ = 1;
  std::uint64_t created_ = 0;
  std::uint64_t missing_types_ = 0;
  std::uint64_t finished_ = 0;
  std::map<std::string, History> queue_history_;  // of those not in the config
  std::map<std::string, History> type_history_;
};

}  // namespace evenkeel::broker
