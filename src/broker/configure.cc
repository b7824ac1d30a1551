// What rebuilds: a new config for the same tasks, and a scheduler from a saved state.

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "evenkeel/base/text.h"
#include "evenkeel/broker/detail/core.h"

namespace evenkeel::broker {

using detail::no_slot;

namespace {

std::vector<std::uint64_t> by_resource(const Amounts& amounts, const std::vector<std::string>& resources) {
  std::vector<std::uint64_t> values;
  for (const std::string& resource : resources) values.push_back(find_amount(amounts, resource).value_or(unlimited));
  return values;
}

}  // namespace

void Scheduler::Core::Type::fill(std::uint64_t duration) {
  durations.fill(duration);
  oldest = 0;
  sum_up();
}

void Scheduler::Core::Type::sum_up() {
  sum = std::accumulate(durations.begin(), durations.end(), UInt128{0});
  mean = static_cast<std::uint64_t>(sum / State::window);
}

void Scheduler::Core::Type::record(std::uint64_t duration) {
  sum = sum - std::exchange(durations[oldest], duration) + duration;
  oldest = static_cast<std::uint32_t>((oldest + 1) % State::window);
  // 64 bits divide without a call, and means of more than 29 000 years are rare.
  mean = (sum >> 64) == 0 ? static_cast<std::uint64_t>(sum) / State::window : static_cast<std::uint64_t>(sum / State::window);
}

// Counts go on by name, whether or not the next config has it.
void Scheduler::Core::remember() {
  for (Queue& queue : queues_)
    queue_history_[config_.queues[queue.spec].name] = {.finished = queue.finished, .in_queue = queue.in_queue};
  for (std::size_t i = 0; i < types_.size(); ++i)
    type_history_[config_.types[i].name] = {types_[i].finished, types_[i].in_queue, types_[i].execution};
}

void Scheduler::Core::build_queues(const Config& config) {
  const std::size_t count = config.queues.size();
  std::vector<std::uint32_t> ranked(count);
  std::iota(ranked.begin(), ranked.end(), 0);
  const auto weight = [&](std::uint32_t spec) { return std::max<std::uint64_t>(config.queues[spec].weight, 1); };
  std::ranges::stable_sort(ranked, [&](std::uint32_t a, std::uint32_t b) { return weight(a) > weight(b); });

  queues_.assign(count, {});
  queue_of_spec_.assign(count, 0);
  queue_limits_.clear();
  std::vector<std::uint64_t> weights;
  for (QueueIndex q = 0; q < count; ++q) {
    const QueueSpec& spec = config.queues[ranked[q]];
    queue_of_spec_[ranked[q]] = q;
    const auto limits = by_resource(spec.limit, resources_);
    queue_limits_.insert(queue_limits_.end(), limits.begin(), limits.end());
    weights.push_back(spec.weight);
    queues_[q].spec = ranked[q];
    if (const auto old = queue_history_.extract(spec.name)) {
      queues_[q].finished = old.mapped().finished;
      queues_[q].in_queue = old.mapped().in_queue;
    }
  }
  scale_ = detail::Scale(limits_, weights);
}

void Scheduler::Core::build_types(const Config& config) {
  std::map<std::string_view, QueueIndex> queues;
  for (std::size_t i = 0; i < config.queues.size(); ++i) queues[config.queues[i].name] = queue_of_spec_[i];
  types_.assign(config.types.size(), {});
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const TypeSpec& spec = config.types[i];
    types_[i].queue = queues.at(spec.queue);
    types_[i].fill(spec.default_duration.count());
    if (spec.name == "unknown") unknown_ = static_cast<std::uint32_t>(i);
    if (const auto old = type_history_.extract(spec.name)) {
      types_[i].finished = old.mapped().finished;
      types_[i].in_queue = old.mapped().in_queue;
      types_[i].execution = old.mapped().execution;
    }
  }
}

void Scheduler::Core::build_kinds(const Config& config) {
  for (Kind& kind : kinds_) {
    kind.known = false;
    kind.type = unknown_;
  }
  for (std::uint32_t i = 0; i < config.types.size(); ++i) {
    Kind& kind = kinds_[take_kind(config.types[i].name)];
    kind.type = i;
    kind.known = true;
    --kind.tasks;
  }
  for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind) {
    if (kinds_[kind].used && kinds_[kind].tasks == 0) release_kind(kind);
  }
}

void Scheduler::Core::map_needs(const std::vector<std::string>& resources) {
  if (resources == resources_) return;
  std::vector<int> from;
  for (const std::string& resource : resources) {
    const auto old = std::ranges::find(resources_, resource);
    from.push_back(old == resources_.end() ? -1 : static_cast<int>(old - resources_.begin()));
  }
  tasks_.set_resources(resources.size(), from);
}

// Everything but the tasks' own records starts anew.
void Scheduler::Core::rebuild(const Config& config, Time now) {
  remember();
  auto resources = resources_of(config);
  map_needs(resources);
  resources_ = std::move(resources);
  limits_ = by_resource(config.limit, resources_);
  used_.assign(resources_.size(), 0);
  free_ = limits_;
  over_ = 0;
  exhausted_ = 0;
  for (std::size_t i = 0; i < free_.size(); ++i) exhausted_ |= detail::ResourceSet{free_[i] == 0} << i;
  running_ = 0;
  waiting_ = 0;
  build_queues(config);
  build_types(config);
  build_kinds(config);
  const std::size_t count = queues_.size();
  lines_.assign(count, {.since = now});
  queue_used_.assign(count * resources_.size(), 0);
  type_used_.assign(types_.size() * resources_.size(), 0);
  turns_.reset(count, resources_.size());
  least_real_.reset(count);
  touched_.clear();
  stale_.clear();
  marks_.assign(count, 0);
  config_ = config;
}

// All reals are 0 and sums do not depend on the order, so slots will do for the order of creation.
void Scheduler::Core::attach_tasks(Time now) {
  for (Slot slot = 0; slot < tasks_.slots(); ++slot) {
    if (!tasks_.is_used(slot)) continue;
    if (tasks_[slot].running) {
      start_running(slot, now);
    } else {
      enqueue(slot, Comes::within_queue, now);
    }
  }
}

Effects Scheduler::Core::configure(const Config& config, Time now) {
  begin();
  rebuild(config, now);
  attach_tasks(now);
  pass(now);
  return end(TaskId(0));
}

Result<void> Scheduler::Core::restore_tasks(const State& state) {
  std::vector<Slot> running;
  Micros latest{0};
  for (const TaskStatus& saved : state.tasks) {
    const ClientId client = saved.client;
    if (client.value() >= clients_.size() || !clients_[client.value()].connected || saved.id == TaskId(0) ||
        find(client, saved.id) != no_slot)
      return fail(Code::invalid, "a task of the state has no client, no id, or the id of another");
    if (saved.need.size() > resources_.size() || saved.submitted < latest || saved.submitted > state.now ||
        saved.since > state.now)
      return fail(Code::invalid, "task {} of the state needs too many resources, or its times are out of order", saved.id);
    latest = saved.submitted;
    const Slot slot = make_task(
        client, saved.id,
        {.name = saved.name, .type = saved.type, .priority = saved.priority, .need = saved.need, .cookie = saved.cookie},
        saved.submitted.count());
    auto& task = tasks_[slot];
    task.since = saved.since.count();
    tasks_.details(slot).planned_duration = saved.planned_duration.count();
    task.running = saved.running;
    if (saved.running) running.push_back(slot);
  }
  std::ranges::stable_sort(running, {}, [&](Slot slot) { return tasks_[slot].since; });
  for (const Slot slot : running) link_running(slot);
  return {};
}

Result<void> Scheduler::Core::restore(const State& state) {
  for (const auto& [name, finished] : state.finished_by_queue) queue_history_[name].finished = finished;
  for (const auto& [name, finished] : state.finished_by_type) type_history_[name].finished = finished;
  rebuild(state.config, state.now.count());
  if (state.queues.size() != queues_.size() || state.types.size() != types_.size())
    return fail(Code::invalid, "the state has other queues or types than its config");
  constexpr std::uint32_t clients_max = 1u << 24;
  std::set<std::uint32_t> connected;
  for (const ClientId client : state.clients) connected.insert(client.value());
  if (!connected.empty() && *connected.rbegin() >= clients_max)
    return fail(Code::invalid, "a client of the state is beyond 2^24");
  clients_.resize(connected.empty() ? 0 : *connected.rbegin() + 1);
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    clients_[client].connected = connected.contains(client);
    if (!clients_[client].connected) free_clients_.push_back(client);
  }
  if (auto restored = restore_tasks(state); !restored) return restored;
  attach_tasks(state.now.count());
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    if (state.queues[i].name != config_.queues[i].name)
      return fail(Code::invalid, "queue {} of the state is not the config's", quote(state.queues[i].name));
    detail::Line& line = lines_[queue_of_spec_[i]];
    line.real = state.queues[i].real;
    line.planned = state.queues[i].planned;
    line.note_plan();
  }
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (state.types[i].name != config_.types[i].name || state.types[i].oldest >= State::window)
      return fail(Code::invalid, "type {} of the state is not the config's", quote(state.types[i].name));
    types_[i].durations = state.types[i].durations;
    types_[i].oldest = state.types[i].oldest;
    types_[i].sum_up();
  }
  next_task_ = state.next_task;
  missing_types_ = state.missing_types;
  finished_ = state.finished;
  return {};
}

}  // namespace evenkeel::broker
