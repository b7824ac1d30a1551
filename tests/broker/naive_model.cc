#include "tests/broker/naive_model.h"

#include <algorithm>

namespace evenkeel::broker {

using naive::add;
using naive::multiply;
using naive::scaled_quotient;
using naive::subtract;

namespace naive {

constexpr UInt128 largest = ~UInt128{0};

UInt128 add(UInt128 a, UInt128 b) { return a > largest - b ? largest : a + b; }
UInt128 subtract(UInt128 a, UInt128 b) { return a < b ? 0 : a - b; }
UInt128 multiply(UInt128 a, UInt128 b) { return b != 0 && a > largest / b ? largest : a * b; }

UInt128 scaled_quotient(UInt128 value, UInt128 divisor) {
  const UInt128 whole = value / divisor;
  UInt128 rest = value % divisor;
  if (whole >> 64 != 0) return largest;
  if (rest >> 64 == 0) return (whole << 64) + (rest << 64) / divisor;
  // The rest is too wide to shift at once: one bit of the quotient after the other. Doubling it may carry out of 128 bits, and then
  // it is certainly above the divisor.
  UInt128 quotient = 0;
  for (int bit = 0; bit < 64; ++bit) {
    const bool carry = rest >> 127 != 0;
    rest <<= 1;
    quotient <<= 1;
    if (carry || rest >= divisor) {
      rest -= divisor;
      quotient |= 1;
    }
  }
  return (whole << 64) + quotient;
}

}  // namespace naive

namespace {

UInt128 greatest_common_divisor(UInt128 a, UInt128 b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

// The least common multiple, or 0 if it takes more than 128 bits or one of the two already did.
UInt128 least_common_multiple(UInt128 a, UInt128 b) {
  if (a == 0 || b == 0) return 0;
  const UInt128 factor = b / greatest_common_divisor(a, b);
  return a > naive::largest / factor ? 0 : a * factor;
}

std::vector<std::uint64_t> limits_of(const Amounts& amounts, const std::vector<std::string>& resources) {
  std::vector<std::uint64_t> limits;
  for (const std::string& resource : resources) limits.push_back(find_amount(amounts, resource).value_or(unlimited));
  return limits;
}

}  // namespace

// ---- Making one, and reconfiguring it.

Result<NaiveModel> NaiveModel::make(const Config& config, const Options& options, Micros now) {
  if (auto right = check(config); !right) return fail(right.error());
  NaiveModel model;
  model.options_ = options;
  model.at_ = now.count();
  model.adopt(config);
  return model;
}

Result<NaiveModel> NaiveModel::restore(const State& state, const Options& options) {
  auto model = make(state.config, options, state.now);
  if (!model) return model;
  model->next_task_ = state.next_task;
  model->missing_types_ = state.missing_types;
  model->finished_by_queue_ = state.finished_by_queue;
  model->finished_by_type_ = state.finished_by_type;
  model->total_.finished = state.finished;
  for (const TaskStatus& from : state.tasks) {
    const Key key{from.client, from.id};
    Task& task = model->tasks_[key];
    task = {.key = key,
            .created = model->created_++,
            .name = from.name,
            .type = from.type,
            .priority = from.priority,
            .need = model->needs_of(from.need),
            .cookie = from.cookie,
            .submitted = from.submitted.count(),
            .since = from.since.count(),
            .planned_duration = from.planned_duration.count(),
            .running = from.running};
  }
  model->clients_.insert(state.clients.begin(), state.clients.end());
  model->reattach_tasks();
  for (std::size_t q = 0; q < state.queues.size(); ++q) {
    model->queues_[q].real = state.queues[q].real;
    model->queues_[q].planned = state.queues[q].planned;
  }
  for (std::size_t t = 0; t < state.types.size(); ++t) {
    model->types_[t].durations = state.types[t].durations;
    model->types_[t].oldest = state.types[t].oldest;
  }
  return model;
}

Result<Effects> NaiveModel::configure(const Config& config, Micros now) {
  if (auto right = check(config); !right) return fail(right.error());
  start(now.count());
  const auto old_resources = resources_;
  adopt(config);
  // A need is kept by the resource's name.
  for (auto& [key, task] : tasks_) {
    Needs need(resources_.size(), 0);
    for (std::size_t r = 0; r < resources_.size(); ++r) {
      const auto old = std::ranges::find(old_resources, resources_[r]);
      if (old != old_resources.end()) need[r] = task.need[static_cast<std::size_t>(old - old_resources.begin())];
    }
    task.need = need;
  }
  reattach_tasks();
  pass();
  return done(TaskId(0));
}

// Queues and types as the config has them: nothing held, nothing consumed, windows full of the default.
void NaiveModel::adopt(const Config& config) {
  config_ = config;
  resources_ = resources_of(config);
  limit_ = limits_of(config.limit, resources_);
  const std::vector<UInt128> nothing(resources_.size(), 0);
  total_ = {.held = nothing, .finished = total_.finished};
  queues_.clear();
  for (const QueueSpec& spec : config.queues)
    queues_.push_back({.spec = spec, .limit = limits_of(spec.limit, resources_), .counters = {.held = nothing}});
  types_.clear();
  for (const TypeSpec& spec : config.types) {
    const auto queue = std::ranges::find(config.queues, spec.queue, &QueueSpec::name);
    types_.push_back(
        {.spec = spec, .queue = static_cast<std::size_t>(queue - config.queues.begin()), .counters = {.held = nothing}});
    types_.back().durations.fill(spec.default_duration.count());
  }
  choose_denominator();
}

void NaiveModel::choose_denominator() {
  constexpr UInt128 year = UInt128{365} * 24 * 60 * 60 * 1'000'000;
  limits_multiple_ = 1;
  weights_multiple_ = 1;
  for (const std::uint64_t limit : limit_) {
    if (limit != unlimited) limits_multiple_ = least_common_multiple(limits_multiple_, limit == 0 ? 1 : limit);
  }
  for (const Queue& queue : queues_) weights_multiple_ = least_common_multiple(weights_multiple_, queue.weight());
  exact_ = limits_multiple_ != 0 && weights_multiple_ != 0 && limits_multiple_ <= naive::largest / weights_multiple_ &&
           limits_multiple_ * weights_multiple_ <= naive::largest / year;
  denominator_ = exact_ ? limits_multiple_ * weights_multiple_ : UInt128{1} << 64;
}

void NaiveModel::reattach_tasks() {
  for (const Task* found : by_creation()) {
    Task& task = tasks_.at(found->key);
    if (task.running) {
      hold(task);
      enter(task);
    } else {
      wait(task);
    }
  }
}

// ---- Consumption.

template <class Vector>
UInt128 NaiveModel::rate(const Vector& amounts, std::uint64_t weight) const {
  UInt128 most = 0;
  for (std::size_t r = 0; r < amounts.size(); ++r) {
    if (limit_[r] == unlimited) continue;
    const UInt128 limit = limit_[r] == 0 ? 1 : limit_[r];
    const UInt128 share = exact_ ? multiply(amounts[r], (limits_multiple_ / limit) * (weights_multiple_ / weight))
                                 : scaled_quotient(amounts[r], limit * weight);
    most = std::max(most, share);
  }
  return most;
}

// What a running task still adds to the planned consumption: its share over the time until its planned finish.
UInt128 NaiveModel::part_left(const Task& task, const Queue& queue) const {
  const UInt128 planned_finish = UInt128{task.since} + task.planned_duration;
  return multiply(rate(task.need, queue.weight()), subtract(planned_finish, at_));
}

UInt128 NaiveModel::real_at(const Queue& queue, std::uint64_t now) const {
  return now == at_ ? queue.real : add(queue.real, multiply(rate(queue.counters.held, queue.weight()), now - at_));
}

void NaiveModel::bring_up_to(std::uint64_t now) {
  for (Queue& queue : queues_) queue.real = real_at(queue, now);
  at_ = now;
}

void NaiveModel::enter(const Task& task) {
  Queue& queue = queue_of(task);
  queue.planned = add(std::max(queue.planned, queue.real), part_left(task, queue));
}

void NaiveModel::leave(const Task& task) {
  Queue& queue = queue_of(task);
  queue.planned = std::max(subtract(queue.planned, part_left(task, queue)), queue.real);
}

std::uint64_t NaiveModel::Type::mean() const {
  UInt128 sum = 0;
  for (const std::uint64_t duration : durations) sum += duration;
  return static_cast<std::uint64_t>(sum / State::window);
}

// A task is about to wait where none waits.
void NaiveModel::activate(Queue& queue) {
  const Queue* least = nullptr;
  for (const Queue& other : queues_) {
    if (!other.waiting.empty() && (least == nullptr || other.real < least->real)) least = &other;
  }
  if (least != nullptr) queue.real = std::max(queue.real, least->real);
}

// ---- Tasks, one at a time.

std::size_t NaiveModel::type_of(std::string_view name) const {
  auto found = std::ranges::find_if(types_, [&](const Type& type) { return type.spec.name == name; });
  if (found == types_.end()) found = std::ranges::find_if(types_, [](const Type& type) { return type.spec.name == "unknown"; });
  return static_cast<std::size_t>(found - types_.begin());
}

NaiveModel::Needs NaiveModel::needs_of(std::span<const std::uint64_t> amounts) const {
  Needs need(amounts.begin(), amounts.end());
  need.resize(resources_.size(), 0);
  return need;
}

NaiveModel::Task* NaiveModel::find(ClientId client, TaskId task) {
  const auto found = tasks_.find({client, task});
  return found == tasks_.end() ? nullptr : &found->second;
}

TaskId NaiveModel::pick(ClientId client) {
  while (next_task_ == 0 || find(client, TaskId(next_task_)) != nullptr) ++next_task_;
  return TaskId(next_task_++);
}

NaiveModel::Task& NaiveModel::create(ClientId client, const Submit& request, TaskId id) {
  if (types_[type_of(request.type)].spec.name != request.type) ++missing_types_;
  Task& task = tasks_[{client, id}];
  task = {.key = {client, id},
          .created = created_++,
          .name = std::string(request.name),
          .type = std::string(request.type),
          .priority = request.priority,
          .need = needs_of(request.need),
          .cookie = std::string(request.cookie),
          .submitted = at_,
          .since = at_};
  return task;
}

void NaiveModel::wait(Task& task) {
  queue_of(task).waiting[place_of(task)] = &task;
  ++queue_of(task).counters.enqueued;
  ++type_of(task).counters.enqueued;
  ++total_.enqueued;
}

void NaiveModel::stop_waiting(Task& task) {
  queue_of(task).waiting.erase(place_of(task));
  --queue_of(task).counters.enqueued;
  --type_of(task).counters.enqueued;
  --total_.enqueued;
}

void NaiveModel::hold(const Task& task) {
  for (Counters* counters : {&queue_of(task).counters, &type_of(task).counters, &total_}) {
    ++counters->infly;
    for (std::size_t r = 0; r < task.need.size(); ++r) counters->held[r] += task.need[r];
  }
}

void NaiveModel::release(const Task& task) {
  for (Counters* counters : {&queue_of(task).counters, &type_of(task).counters, &total_}) {
    --counters->infly;
    for (std::size_t r = 0; r < task.need.size(); ++r) counters->held[r] -= task.need[r];
  }
}

void NaiveModel::run(Task& task) {
  stop_waiting(task);
  in_queue_by_queue_[queue_of(task).spec.name].add(at_ - task.since);
  in_queue_by_type_[type_of(task).spec.name].add(at_ - task.since);
  task.running = true;
  task.since = at_;
  task.planned_duration = type_of(task).mean();
  hold(task);
  enter(task);
}

void NaiveModel::stop_running(Task& task, Cancelled cancelled) {
  leave(task);
  release(task);
  Type& type = type_of(task);
  ++finished_by_queue_[queue_of(task).spec.name];
  ++finished_by_type_[type.spec.name];
  ++total_.finished;
  if (cancelled == Cancelled::yes) return;
  execution_by_type_[type.spec.name].add(at_ - task.since);
  type.durations[type.oldest] = at_ - task.since;
  type.oldest = static_cast<std::uint32_t>((type.oldest + 1) % State::window);
}

// ---- The pass.

bool NaiveModel::fits(const Needs& need, const std::vector<UInt128>& used, const Needs& limit) {
  for (std::size_t r = 0; r < need.size(); ++r) {
    if (add(need[r], used[r]) > limit[r]) return false;
  }
  return true;
}

// Looks at the first task of a queue: true if it was granted, false if the queue is to be skipped in this pass.
bool NaiveModel::look_at(Queue& queue, std::vector<bool>& blocked) {
  Task& task = *queue.waiting.begin()->second;
  for (std::size_t r = 0; r < task.need.size(); ++r) {
    if (task.need[r] != 0 && blocked[r]) return false;
  }
  const bool over_queue = queue.counters.infly > 0 && !fits(task.need, queue.counters.held, queue.limit);
  if (options_.queue_limit_first && over_queue) return false;
  if (total_.infly > 0 && !fits(task.need, total_.held, limit_)) {
    for (std::size_t r = 0; r < task.need.size(); ++r) {
      if (task.need[r] != 0) blocked[r] = true;
    }
    return false;
  }
  if (over_queue) return false;
  run(task);
  if (!task.silent) report(Event::Kind::allocated, Refusal::none, task.key, task.cookie);
  return true;
}

void NaiveModel::pass() {
  struct Candidate {
    UInt128 consumed;
    std::uint64_t weight;
    std::size_t queue;
    bool operator<(const Candidate& other) const {
      return std::tie(consumed, other.weight, queue) < std::tie(other.consumed, weight, other.queue);
    }
  };
  const auto candidate = [&](std::size_t q) {
    return Candidate{std::max(queues_[q].real, queues_[q].planned), queues_[q].weight(), q};
  };
  std::vector<bool> blocked(resources_.size(), false);
  std::set<Candidate> candidates;
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    if (!queues_[q].waiting.empty()) candidates.insert(candidate(q));
  }
  while (!candidates.empty()) {
    const std::size_t q = candidates.begin()->queue;
    candidates.erase(candidates.begin());
    if (look_at(queues_[q], blocked) && !queues_[q].waiting.empty()) candidates.insert(candidate(q));
  }
}

// ---- Operations.

void NaiveModel::start(std::uint64_t now) {
  events_.clear();
  cookies_.clear();
  bring_up_to(now);
}

void NaiveModel::report(Event::Kind kind, Refusal refusal, Key key, std::string_view cookie) {
  const std::string& kept = cookies_.emplace_back(cookie);
  events_.push_back({.kind = kind, .refusal = refusal, .client = key.first, .task = key.second, .cookie = kept});
}

Effects NaiveModel::done(TaskId task, bool granted) const { return {.granted = granted, .task = task, .events = events_}; }

Effects NaiveModel::refused(Refusal refusal, TaskId task) const { return {.refusal = refusal, .task = task, .events = events_}; }

Effects NaiveModel::failed(Refusal refusal, Key key, std::string_view cookie) {
  report(Event::Kind::error, refusal, key, cookie);
  return refused(refusal, key.second);
}

ClientId NaiveModel::connect() {
  ClientId free(0);
  while (clients_.contains(free)) ++free;
  clients_.insert(free);
  return free;
}

bool NaiveModel::oversized(std::string_view type, const Needs& need) const {
  const Needs& queue_limit = queues_[types_[type_of(type)].queue].limit;
  for (std::size_t r = 0; r < need.size(); ++r) {
    if (need[r] > limit_[r] || need[r] > queue_limit[r]) return true;
  }
  return false;
}

Refusal NaiveModel::refusal_of(ClientId client, const Submit& request, bool instant) {
  if (request.task != TaskId(0) && find(client, request.task) != nullptr) return Refusal::already_exists;
  if (options_.refuse_oversized && oversized(request.type, needs_of(request.need))) return Refusal::oversized;
  const Queue& queue = queues_[types_[type_of(request.type)].queue];
  if (!instant && options_.waiting_max != 0 && queue.waiting.size() >= options_.waiting_max) return Refusal::queue_full;
  return Refusal::none;
}

Effects NaiveModel::submit(ClientId client, const Submit& request, Micros now) {
  start(now.count());
  const Refusal refusal = refusal_of(client, request, false);
  if (refusal != Refusal::none) return failed(refusal, {client, request.task}, request.cookie);
  const TaskId id = request.task == TaskId(0) ? pick(client) : request.task;
  Task& task = create(client, request, id);
  if (queue_of(task).waiting.empty()) activate(queue_of(task));
  wait(task);
  pass();
  return done(id);
}

Effects NaiveModel::submit_instant(ClientId client, const Submit& request, Micros now) {
  start(now.count());
  const Refusal refusal = refusal_of(client, request, true);
  if (refusal != Refusal::none) return refused(refusal, request.task);
  const TaskId id = request.task == TaskId(0) ? pick(client) : request.task;
  Task& task = create(client, request, id);
  if (queue_of(task).waiting.empty()) activate(queue_of(task));
  wait(task);
  task.silent = true;
  pass();
  task.silent = false;
  const bool granted = task.running;
  if (!granted) {
    stop_waiting(task);
    erase(task);
  }
  return done(id, granted);
}

Effects NaiveModel::update(ClientId client, const Update& request, Micros now) {
  start(now.count());
  Task* task = find(client, request.task);
  if (task == nullptr) return failed(Refusal::unknown_task, {client, request.task}, "");
  const Needs need = needs_of(request.need);
  if (options_.refuse_oversized && (!task->running || request.resubmit) && oversized(request.type, need))
    return failed(Refusal::oversized, task->key, task->cookie);

  const Queue* old_queue = &queue_of(*task);
  const bool waits = !task->running || request.resubmit;
  if (!task->running) {
    stop_waiting(*task);
  } else {
    leave(*task);
    release(*task);
  }
  task->type = request.type;
  task->priority = request.priority;
  task->need = need;
  if (waits) {
    if (task->running) task->since = at_;
    task->running = false;
    Queue& queue = queue_of(*task);
    if (&queue != old_queue && queue.waiting.empty()) activate(queue);
    wait(*task);
  } else {
    hold(*task);
    enter(*task);
  }
  pass();
  return done(request.task);
}

Effects NaiveModel::update_cookie(ClientId client, TaskId task, std::string_view cookie) {
  start(at_);
  Task* found = find(client, task);
  if (found == nullptr) return failed(Refusal::unknown_task, {client, task}, "");
  found->cookie = cookie;
  return done(task);
}

Effects NaiveModel::remove(ClientId client, TaskId task, Reply reply, Micros now) {
  start(now.count());
  Task* found = find(client, task);
  if (found == nullptr) return failed(Refusal::unknown_task, {client, task}, "");
  if (found->running) return failed(Refusal::task_in_fly, found->key, found->cookie);
  if (reply == Reply::yes) report(Event::Kind::removed, Refusal::none, found->key, found->cookie);
  stop_waiting(*found);
  erase(*found);
  pass();
  return done(task);
}

Effects NaiveModel::finish(ClientId client, TaskId task, Cancelled cancelled, Micros now) {
  start(now.count());
  const Task* found = find(client, task);
  if (found == nullptr) return failed(Refusal::unknown_task, {client, task}, "");
  if (!found->running) return failed(Refusal::task_in_queue, found->key, found->cookie);
  return finish_found(client, task, cancelled);
}

Effects NaiveModel::finish_instant(ClientId client, TaskId task, Cancelled cancelled, Micros now) {
  start(now.count());
  const Task* found = find(client, task);
  if (found == nullptr) return refused(Refusal::unknown_task, task);
  if (!found->running) return refused(Refusal::task_in_queue, task);
  return finish_found(client, task, cancelled);
}

Effects NaiveModel::finish_found(ClientId client, TaskId task, Cancelled cancelled) {
  Task& found = *find(client, task);
  stop_running(found, cancelled);
  erase(found);
  pass();
  return done(task);
}

Effects NaiveModel::reduce(ClientId client, TaskId task, std::span<const std::uint64_t> by, Micros now) {
  start(now.count());
  Task* found = find(client, task);
  if (found == nullptr) return refused(Refusal::unknown_task, task);
  const Needs less = needs_of(by);
  if (found->running) {
    leave(*found);
    release(*found);
  }
  for (std::size_t r = 0; r < less.size(); ++r) found->need[r] -= std::min(found->need[r], less[r]);
  if (found->running) {
    hold(*found);
    enter(*found);
  }
  pass();
  return done(task);
}

Effects NaiveModel::merge(ClientId client, TaskId task, TaskId donor, Micros now) {
  start(now.count());
  Task* to = find(client, task);
  Task* from = find(client, donor);
  if (to == nullptr || from == nullptr || to == from) return refused(Refusal::unknown_task, task);
  if (!to->running || !from->running) return refused(Refusal::task_in_queue, task);
  if (to->type != from->type) return refused(Refusal::unknown_task, task);
  Needs sum = to->need;
  for (std::size_t r = 0; r < sum.size(); ++r) {
    if (sum[r] > unlimited - from->need[r]) return refused(Refusal::unknown_task, task);
    sum[r] += from->need[r];
  }
  leave(*to);
  release(*to);
  to->need = sum;
  hold(*to);
  enter(*to);
  stop_running(*from, Cancelled::no);
  erase(*from);
  pass();
  return done(task);
}

Effects NaiveModel::client_died(ClientId client, Micros now) {
  start(now.count());
  clients_.erase(client);
  std::vector<Task*> own;
  for (auto& [key, task] : tasks_) {
    if (key.first == client) own.push_back(&task);
  }
  for (Task* task : own) {
    if (task->running) {
      stop_running(*task, Cancelled::yes);
    } else {
      stop_waiting(*task);
    }
    erase(*task);
  }
  if (!own.empty()) pass();
  return done(TaskId(0));
}

// ---- Observing.

std::optional<std::tuple<ClientId, TaskId, bool>> NaiveModel::first_from(ClientId client, TaskId task) const {
  const auto found = tasks_.lower_bound({client, task});
  if (found == tasks_.end()) return std::nullopt;
  return std::tuple(found->first.first, found->first.second, found->second.running);
}

TaskStatus NaiveModel::status_of(const Task& task) const {
  return {.client = task.key.first,
          .id = task.key.second,
          .name = task.name,
          .type = task.type,
          .priority = task.priority,
          .need = task.need,
          .cookie = task.cookie,
          .submitted = Micros(task.submitted),
          .since = Micros(task.since),
          .planned_duration = Micros(task.running ? task.planned_duration : 0),
          .running = task.running};
}

std::vector<const NaiveModel::Task*> NaiveModel::by_creation() const {
  std::vector<const Task*> tasks;
  for (const auto& [key, task] : tasks_) tasks.push_back(&task);
  std::ranges::sort(tasks, {}, &Task::created);
  return tasks;
}

Status NaiveModel::observe(Micros now, std::size_t waiting_max, std::size_t running_max) const {
  Status status{.now = now,
                .config = config_,
                .resources = resources_,
                .limit = limit_,
                .denominator = denominator_,
                .missing_types = missing_types_,
                .total = total_};
  const auto find_in = [](const auto& map, const std::string& name) {
    const auto found = map.find(name);
    return found == map.end() ? typename std::decay_t<decltype(map)>::mapped_type{} : found->second;
  };
  for (const Queue& queue : queues_) {
    const std::string& name = queue.spec.name;
    status.queues.push_back({.name = name,
                             .weight = queue.spec.weight,
                             .limit = queue.limit,
                             .counters = queue.counters,
                             .real = real_at(queue, now.count()),
                             .planned = queue.planned,
                             .in_queue = find_in(in_queue_by_queue_, name)});
    status.queues.back().counters.finished = find_in(finished_by_queue_, name);
    for (const auto& [place, task] : queue.waiting) {
      if (status.queues.back().waiting.size() < waiting_max) status.queues.back().waiting.push_back(status_of(*task));
    }
  }
  for (const Type& type : types_) {
    const std::string& name = type.spec.name;
    status.types.push_back({.name = name,
                            .queue = type.spec.queue,
                            .mean_duration = Micros(type.mean()),
                            .counters = type.counters,
                            .in_queue = find_in(in_queue_by_type_, name),
                            .execution = find_in(execution_by_type_, name)});
    status.types.back().counters.finished = find_in(finished_by_type_, name);
  }
  for (const auto& [key, task] : tasks_) {
    if (task.running) status.running.push_back(status_of(task));
  }
  std::ranges::stable_sort(status.running, {}, &TaskStatus::since);
  if (status.running.size() > running_max) status.running.resize(running_max);
  return status;
}

State NaiveModel::save(Micros now) const {
  const Status status = observe(now, 0, 0);
  State state{.now = now,
              .config = config_,
              .next_task = next_task_,
              .missing_types = missing_types_,
              .finished = total_.finished,
              .finished_by_queue = finished_by_queue_,
              .finished_by_type = finished_by_type_};
  state.clients.assign(clients_.begin(), clients_.end());
  for (const QueueStatus& queue : status.queues)
    state.queues.push_back({.name = queue.name, .real = queue.real, .planned = queue.planned});
  for (const Type& type : types_)
    state.types.push_back({.name = type.spec.name, .durations = type.durations, .oldest = type.oldest});
  for (const Task* task : by_creation()) state.tasks.push_back(status_of(*task));
  return state;
}

}  // namespace evenkeel::broker
