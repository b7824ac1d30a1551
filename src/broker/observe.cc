// What a scheduler shows of itself.

#include <algorithm>
#include <tuple>

#include "evenkeel/broker/detail/core.h"

namespace evenkeel::broker {

using detail::no_slot;

TaskStatus Scheduler::Core::status_of(Slot slot) const {
  const auto& task = tasks_[slot];
  const auto& details = tasks_.details(slot);
  const auto need = need_of(slot);
  return {.client = ClientId(task.client),
          .id = TaskId(task.id),
          .name = details.name,
          .type = kinds_[task.kind].name,
          .priority = details.priority,
          .need = {need.begin(), need.end()},
          .cookie = details.cookie,
          .submitted = Micros(details.submitted),
          .since = Micros(task.since),
          .planned_duration = Micros(task.running ? details.planned_duration : 0),
          .running = task.running != 0};
}

Counters Scheduler::Core::counters_of_queue(QueueIndex q) const {
  const auto held = queue_used_.begin() + static_cast<std::ptrdiff_t>(q * resources_.size());
  const Queue& queue = queues_[q];
  return {.held = {held, held + static_cast<std::ptrdiff_t>(resources_.size())},
          .finished = queue.finished,
          .enqueued = queue.waiting.size(),
          .infly = queue.running};
}

Counters Scheduler::Core::counters_of_type(std::uint32_t type) const {
  const auto held = type_used_.begin() + static_cast<std::ptrdiff_t>(type * resources_.size());
  return {.held = {held, held + static_cast<std::ptrdiff_t>(resources_.size())},
          .finished = types_[type].finished,
          .enqueued = types_[type].enqueued,
          .infly = types_[type].infly};
}

Status Scheduler::Core::observe(Micros now, std::size_t waiting_max, std::size_t running_max) const {
  Status status{.now = now,
                .config = config_,
                .resources = resources_,
                .limit = limits_,
                .denominator = scale_.denominator(),
                .missing_types = missing_types_,
                .total = {.held = used_, .finished = finished_, .enqueued = waiting_, .infly = running_}};
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const QueueIndex q = queue_of_spec_[i];
    const auto limit = queue_limits_.begin() + static_cast<std::ptrdiff_t>(q * resources_.size());
    QueueStatus& shown =
        status.queues.emplace_back(QueueStatus{.name = config_.queues[i].name,
                                               .weight = config_.queues[i].weight,
                                               .limit = {limit, limit + static_cast<std::ptrdiff_t>(resources_.size())},
                                               .counters = counters_of_queue(q),
                                               .real = lines_[q].real_at(now.count()),
                                               .planned = lines_[q].planned,
                                               .in_queue = queues_[q].in_queue});
    Slot slot = queues_[q].waiting.first();
    for (; slot != no_slot && shown.waiting.size() < waiting_max; slot = queues_[q].waiting.next(tasks_, slot))
      shown.waiting.push_back(status_of(slot));
  }
  for (std::uint32_t type = 0; type < types_.size(); ++type) {
    status.types.push_back({.name = config_.types[type].name,
                            .queue = config_.types[type].queue,
                            .mean_duration = Micros(types_[type].mean),
                            .counters = counters_of_type(type),
                            .in_queue = types_[type].in_queue,
                            .execution = types_[type].execution});
  }
  for (Slot slot = first_running_; slot != no_slot && status.running.size() < running_max; slot = tasks_[slot].right)
    status.running.push_back(status_of(slot));
  std::ranges::sort(status.running, {}, [](const TaskStatus& task) { return std::tuple(task.since, task.client, task.id); });
  return status;
}

State Scheduler::Core::save(Micros now) const {
  State state{.now = now, .config = config_, .next_task = next_task_, .missing_types = missing_types_, .finished = finished_};
  for (const auto& [name, history] : queue_history_) state.finished_by_queue[name] = history.finished;
  for (const auto& [name, history] : type_history_) state.finished_by_type[name] = history.finished;
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    if (clients_[client].connected) state.clients.emplace_back(client);
  }
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const std::string& name = config_.queues[i].name;
    const QueueIndex q = queue_of_spec_[i];
    state.finished_by_queue[name] = queues_[q].finished;
    state.queues.push_back({name, lines_[q].real_at(now.count()), lines_[q].planned});
  }
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const std::string& name = config_.types[i].name;
    state.finished_by_type[name] = types_[i].finished;
    state.types.push_back({name, types_[i].durations, types_[i].oldest});
  }
  std::vector<Slot> slots;
  for (Slot slot = 0; slot < tasks_.slots(); ++slot) {
    if (tasks_.is_used(slot)) slots.push_back(slot);
  }
  std::ranges::sort(slots, {}, [&](Slot slot) { return tasks_[slot].created; });
  for (const Slot slot : slots) state.tasks.push_back(status_of(slot));
  return state;
}

}  // namespace evenkeel::broker
