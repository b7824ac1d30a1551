#include "evenkeel/broker/scheduler.h"

#include <utility>

#include "evenkeel/broker/detail/core.h"

namespace evenkeel::broker {

std::string_view name(Refusal refusal) {
  switch (refusal) {
    case Refusal::none:
      return "OK";
    case Refusal::already_exists:
      return "ALREADY_EXISTS";
    case Refusal::unknown_task:
      return "UNKNOWN_TASK";
    case Refusal::task_in_fly:
      return "TASK_IN_FLY";
    case Refusal::task_in_queue:
      return "TASK_IN_QUEUE";
    case Refusal::oversized:
      return "OVERSIZED";
    case Refusal::queue_full:
      return "QUEUE_FULL";
    case Refusal::unlike:
      return "UNLIKE";
  }
  return "";
}

std::string_view message(Refusal refusal) {
  switch (refusal) {
    case Refusal::none:
      return "";
    case Refusal::already_exists:
      return "the client has a task of this id; finish or remove it first, or take another id";
    case Refusal::unknown_task:
      return "the client has no task of this id";
    case Refusal::task_in_fly:
      return "the task runs; finish it instead";
    case Refusal::task_in_queue:
      return "the task still waits; remove it instead";
    case Refusal::oversized:
      return "the task needs more than a limit allows, and this broker refuses such tasks; ask for less";
    case Refusal::queue_full:
      return "as many tasks wait in the queue as this broker allows; try again when some were granted";
    case Refusal::unlike:
      return "only two different tasks of one type merge, and only if what they hold together can be counted";
  }
  return "";
}

using detail::no_slot;

// --- How an operation begins and ends.

void Scheduler::Core::begin() { events_.clear(); }

Effects Scheduler::Core::end(TaskId task) const { return {.task = task, .events = events_}; }

Effects Scheduler::Core::refuse(ClientId client, TaskId task, Refusal refusal, std::string_view cookie) {
  events_.push_back({.kind = Event::Kind::error, .refusal = refusal, .client = client, .task = task, .cookie = cookie});
  return {.refusal = refusal, .task = task, .events = events_};
}

Scheduler::Core::Slot Scheduler::Core::find(ClientId client, TaskId task) const {
  return index_.find(tasks_, client.value(), task.value());
}

// --- Clients and the names of types.

ClientId Scheduler::Core::connect() {
  if (free_clients_.empty()) {
    clients_.push_back({.tasks = {}, .connected = true});
    return ClientId(static_cast<std::uint32_t>(clients_.size() - 1));
  }
  const std::uint32_t client = free_clients_.back();
  free_clients_.pop_back();
  clients_[client].connected = true;
  return ClientId(client);
}

std::uint32_t Scheduler::Core::type_named(std::string_view name) const {
  const auto found = kind_of_name_.find(name);
  return found == kind_of_name_.end() ? unknown_ : kinds_[found->second].type;
}

std::uint32_t Scheduler::Core::take_kind(std::string_view type) {
  auto found = kind_of_name_.find(type);
  if (found == kind_of_name_.end()) {
    std::uint32_t kind = static_cast<std::uint32_t>(kinds_.size());
    ensure(!free_kinds_.empty() || kind < kinds_max, "fewer than 2^29 names of types");
    if (free_kinds_.empty()) {
      kinds_.emplace_back();
    } else {
      kind = free_kinds_.back();
      free_kinds_.pop_back();
    }
    kinds_[kind] = {.name = std::string(type), .type = unknown_, .used = true};
    found = kind_of_name_.emplace(type, kind).first;
  }
  ++kinds_[found->second].tasks;
  return found->second;
}

void Scheduler::Core::drop_kind(std::uint32_t kind) {
  if (--kinds_[kind].tasks == 0) release_kind(kind);
}

void Scheduler::Core::release_kind(std::uint32_t kind) {
  if (kinds_[kind].known) return;
  kind_of_name_.erase(kinds_[kind].name);
  kinds_[kind].used = false;
  free_kinds_.push_back(kind);
}

// --- Tasks come.

bool Scheduler::Core::is_oversized(std::span<const std::uint64_t> need, std::uint32_t type) const {
  const std::uint64_t* const of_queue = &queue_limits_[types_[type].queue * resources_.size()];
  for (std::size_t i = 0; i < need.size(); ++i) {
    if (need[i] > limits_[i] || need[i] > of_queue[i]) return true;
  }
  return false;
}

Refusal Scheduler::Core::objection(const Submit& request, bool instant) const {
  if (!options_.refuse_oversized && options_.waiting_max == 0) return Refusal::none;
  const std::uint32_t type = type_named(request.type);
  if (options_.refuse_oversized && is_oversized(request.need, type)) return Refusal::oversized;
  const bool bounded = options_.waiting_max != 0 && !instant;
  if (bounded && queues_[types_[type].queue].waiting.size() >= options_.waiting_max) return Refusal::queue_full;
  return Refusal::none;
}

void Scheduler::Core::set_need(Slot slot, std::span<const std::uint64_t> need) {
  ensure(need.size() <= resources_.size(), "a need has no more amounts than there are resources");
  std::uint64_t* const own = tasks_.need(slot);
  std::ranges::fill(std::ranges::copy(need, own).out, own + resources_.size(), 0);
}

Scheduler::Core::Slot Scheduler::Core::make_task(ClientId client, TaskId id, const Submit& request, Time now) {
  const Slot slot = tasks_.take();
  auto& task = tasks_[slot];
  auto& own = clients_[client.value()].tasks;
  task = {.id = id.value(),
          .created = ++created_,
          .since = now,
          .client = client.value(),
          .position = static_cast<std::uint32_t>(own.size()),
          .kind = take_kind(request.type) & kinds_max};
  own.push_back(slot);
  auto& details = tasks_.details(slot);
  details.priority = request.priority;
  details.submitted = now;
  if (!request.name.empty() || !request.cookie.empty()) {
    task.texts = 1;
    details.name.assign(request.name);
    details.cookie.assign(request.cookie);
  }
  set_need(slot, request.need);
  index_.insert(task.client, task.id, slot);
  return slot;
}

Effects Scheduler::Core::submit(ClientId client, const Submit& request, bool instant, Time now) {
  begin();
  ensure(client.value() < clients_.size() && clients_[client.value()].connected, "only a connected client submits");
  TaskId id = request.task;
  Refusal refusal = Refusal::none;
  if (id != TaskId(0) && find(client, id) != no_slot) refusal = Refusal::already_exists;
  if (refusal == Refusal::none) refusal = objection(request, instant);
  if (refusal != Refusal::none)
    return instant ? Effects{.refusal = refusal, .task = id, .events = events_} : refuse(client, id, refusal, request.cookie);
  while (id == TaskId(0) || (request.task == TaskId(0) && find(client, id) != no_slot)) id = TaskId(next_task_++);

  const Slot slot = make_task(client, id, request, now);
  missing_types_ += !kinds_[tasks_[slot].kind].known;
  tasks_[slot].instant = instant;
  if (!grant_at_once(slot, now)) {
    enqueue(slot, Comes::from_outside, now);
    pass(now);
  }
  Effects effects = end(id);
  if (!instant) return effects;
  effects.granted = tasks_[slot].running;
  tasks_[slot].instant = false;
  if (!effects.granted) {
    dequeue(slot);
    forget_task(slot);
  }
  return effects;
}

// --- Tasks change.

// Takes over what an update gives. The task is at this moment neither waiting nor running.
void Scheduler::Core::rewrite(Slot slot, const Update& request) {
  auto& task = tasks_[slot];
  const std::uint32_t before = task.kind;
  task.kind = take_kind(request.type) & kinds_max;
  drop_kind(before);
  tasks_.details(slot).priority = request.priority;
  set_need(slot, request.need);
}

Effects Scheduler::Core::update(ClientId client, const Update& request, Time now) {
  begin();
  const Slot slot = find(client, request.task);
  if (slot == no_slot) return refuse(client, request.task, Refusal::unknown_task, {});
  auto& task = tasks_[slot];
  const bool will_wait = !task.running || request.resubmit;
  if (will_wait && options_.refuse_oversized && is_oversized(request.need, type_named(request.type)))
    return refuse(client, request.task, Refusal::oversized, tasks_.details(slot).cookie);
  const QueueIndex before = queue_of(slot);
  if (!will_wait) {
    stop_running(slot, now);
    rewrite(slot, request);
    start_running(slot, now);
  } else {
    if (task.running) {
      stop_running(slot, now);
      unlink_running(slot);
      task.since = now;
    } else {
      dequeue(slot);
    }
    rewrite(slot, request);
    enqueue(slot, queue_of(slot) == before ? Comes::within_queue : Comes::from_outside, now);
  }
  pass(now);
  return end(request.task);
}

Effects Scheduler::Core::update_cookie(ClientId client, TaskId id, std::string_view cookie) {
  begin();
  const Slot slot = find(client, id);
  if (slot == no_slot) return refuse(client, id, Refusal::unknown_task, {});
  tasks_[slot].texts = 1;
  tasks_.details(slot).cookie.assign(cookie);
  return end(id);
}

Effects Scheduler::Core::reduce(ClientId client, TaskId id, std::span<const std::uint64_t> by, Time now) {
  begin();
  const Slot slot = find(client, id);
  if (slot == no_slot) return {.refusal = Refusal::unknown_task, .task = id, .events = events_};
  ensure(by.size() <= resources_.size(), "a need has no more amounts than there are resources");
  const bool running = tasks_[slot].running;
  if (running) stop_running(slot, now);
  std::uint64_t* const need = tasks_.need(slot);
  for (std::size_t i = 0; i < by.size(); ++i) need[i] -= std::min(need[i], by[i]);
  if (running) start_running(slot, now);
  touch(queue_of(slot));
  pass(now);
  return end(id);
}

Effects Scheduler::Core::merge(ClientId client, TaskId id, TaskId donor_id, Time now) {
  begin();
  const Slot slot = find(client, id), donor = find(client, donor_id);
  const auto refusal = [&] {
    if (slot == no_slot || donor == no_slot) return Refusal::unknown_task;
    if (!tasks_[slot].running || !tasks_[donor].running) return Refusal::task_in_queue;
    if (slot == donor || tasks_[slot].kind != tasks_[donor].kind) return Refusal::unlike;
    for (std::size_t i = 0; i < resources_.size(); ++i) {
      if (tasks_.need(slot)[i] > unlimited - tasks_.need(donor)[i]) return Refusal::unlike;
    }
    return Refusal::none;
  }();
  if (refusal != Refusal::none) return {.refusal = refusal, .task = id, .events = events_};
  stop_running(slot, now);
  for (std::size_t i = 0; i < resources_.size(); ++i) tasks_.need(slot)[i] += tasks_.need(donor)[i];
  start_running(slot, now);
  finish_task(donor, Cancelled::no, now);
  pass(now);
  return end(id);
}

// --- Tasks go.

void Scheduler::Core::forget_task(Slot slot) {
  const auto& task = tasks_[slot];
  auto& own = clients_[task.client].tasks;
  own[task.position] = own.back();
  tasks_[own.back()].position = task.position;
  own.pop_back();
  index_.erase(task.client, task.id, slot);
  drop_kind(task.kind);
  tasks_.give_back(slot);
}

void Scheduler::Core::finish_task(Slot slot, Cancelled cancelled, Time now) {
  Type& type = types_[type_of(slot)];
  stop_running(slot, now);
  unlink_running(slot);
  if (cancelled == Cancelled::no) {
    const Time duration = now - tasks_[slot].since;
    type.record(duration);
    type.execution.add(duration);
  }
  ++finished_;
  ++type.finished;
  ++queues_[type.queue].finished;
  forget_task(slot);
}

Effects Scheduler::Core::remove(ClientId client, TaskId id, Reply reply, Time now) {
  begin();
  const Slot slot = find(client, id);
  if (slot == no_slot) return refuse(client, id, Refusal::unknown_task, {});
  if (tasks_[slot].running) return refuse(client, id, Refusal::task_in_fly, tasks_.details(slot).cookie);
  if (reply == Reply::yes) {
    // The record gives up its texts with its task, so the cookie goes where the event can point.
    removed_cookie_.assign(tasks_.details(slot).cookie);
    events_.push_back({.kind = Event::Kind::removed, .client = client, .task = id, .cookie = removed_cookie_});
  }
  dequeue(slot);
  forget_task(slot);
  pass(now);
  return end(id);
}

Effects Scheduler::Core::finish(ClientId client, TaskId id, Cancelled cancelled, bool instant, Time now) {
  begin();
  const Slot slot = find(client, id);
  const Refusal refusal = slot == no_slot         ? Refusal::unknown_task
                          : !tasks_[slot].running ? Refusal::task_in_queue
                                                  : Refusal::none;
  if (refusal != Refusal::none && instant) return {.refusal = refusal, .task = id, .events = events_};
  if (refusal != Refusal::none)
    return refuse(client, id, refusal, slot == no_slot ? std::string_view() : tasks_.details(slot).cookie);
  finish_task(slot, cancelled, now);
  pass(now);
  return end(id);
}

Effects Scheduler::Core::client_died(ClientId client, Time now) {
  begin();
  Client& dead = clients_[client.value()];
  ensure(dead.connected, "a client dies once");
  const bool had_tasks = !dead.tasks.empty();
  while (!dead.tasks.empty()) {
    const Slot slot = dead.tasks.back();
    if (tasks_[slot].running) {
      finish_task(slot, Cancelled::yes, now);
    } else {
      dequeue(slot);
      forget_task(slot);
    }
  }
  dead = {};
  free_clients_.push_back(client.value());
  if (had_tasks) pass(now);
  return end(TaskId(0));
}

// --- The door.

Scheduler::Scheduler(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;
Scheduler::~Scheduler() = default;

Result<Scheduler> Scheduler::make(const Config& config, const Options& options, Micros now) {
  if (auto right = check(config); !right) return fail(right.error());
  auto core = std::make_unique<Core>(options);
  core->configure(config, now.count());
  return Scheduler(std::move(core));
}

Result<Scheduler> Scheduler::restore(const State& state, const Options& options) {
  if (auto right = check(state.config); !right) return fail(right.error());
  auto core = std::make_unique<Core>(options);
  if (auto restored = core->restore(state); !restored) return fail(restored.error());
  return Scheduler(std::move(core));
}

Result<Effects> Scheduler::configure(const Config& config, Micros now) {
  if (auto right = check(config); !right) return fail(right.error());
  return core_->configure(config, now.count());
}

ClientId Scheduler::connect() { return core_->connect(); }
Effects Scheduler::submit(ClientId client, const Submit& request, Micros now) {
  return core_->submit(client, request, false, now.count());
}
Effects Scheduler::submit_instant(ClientId client, const Submit& request, Micros now) {
  return core_->submit(client, request, true, now.count());
}
Effects Scheduler::update(ClientId client, const Update& request, Micros now) {
  return core_->update(client, request, now.count());
}
Effects Scheduler::update_cookie(ClientId client, TaskId task, std::string_view cookie) {
  return core_->update_cookie(client, task, cookie);
}
Effects Scheduler::remove(ClientId client, TaskId task, Reply reply, Micros now) {
  return core_->remove(client, task, reply, now.count());
}
Effects Scheduler::finish(ClientId client, TaskId task, Cancelled cancelled, Micros now) {
  return core_->finish(client, task, cancelled, false, now.count());
}
Effects Scheduler::finish_instant(ClientId client, TaskId task, Cancelled cancelled, Micros now) {
  return core_->finish(client, task, cancelled, true, now.count());
}
Effects Scheduler::reduce(ClientId client, TaskId task, std::span<const std::uint64_t> by, Micros now) {
  return core_->reduce(client, task, by, now.count());
}
Effects Scheduler::merge(ClientId client, TaskId task, TaskId donor, Micros now) {
  return core_->merge(client, task, donor, now.count());
}
Effects Scheduler::client_died(ClientId client, Micros now) { return core_->client_died(client, now.count()); }

const Config& Scheduler::config() const { return core_->config(); }
const Options& Scheduler::options() const { return core_->options(); }
const std::vector<std::string>& Scheduler::resources() const { return core_->resources(); }
std::size_t Scheduler::tasks() const { return core_->tasks(); }
Status Scheduler::observe(Micros now, std::size_t waiting_max, std::size_t running_max) const {
  return core_->observe(now, waiting_max, running_max);
}
State Scheduler::save(Micros now) const { return core_->save(now); }

}  // namespace evenkeel::broker
