// The status on the wire: long lists of fields, and nothing else.

#include <algorithm>

#include "evenkeel/broker/shell/rpc/wire.h"

namespace evenkeel::broker::wire {
namespace {

void put(v1::UInt128& out, UInt128 value) {
  out.set_high(static_cast<std::uint64_t>(value >> 64));
  out.set_low(static_cast<std::uint64_t>(value));
}

UInt128 whole(const v1::UInt128& value) { return (UInt128{value.high()} << 64) | value.low(); }

template <class Out>
void put_all(Out& out, const std::vector<std::uint64_t>& values) {
  out.Add(values.begin(), values.end());
}

void put(v1::Counters& out, const Counters& counters) {
  for (const UInt128 held : counters.held) put(*out.add_held(), held);
  out.set_finished(counters.finished);
  out.set_enqueued(counters.enqueued);
  out.set_infly(counters.infly);
}

Counters counters_of(const v1::Counters& given) {
  Counters counters{.held = {}, .finished = given.finished(), .enqueued = given.enqueued(), .infly = given.infly()};
  for (const v1::UInt128& held : given.held()) counters.held.push_back(whole(held));
  return counters;
}

void put(v1::Histogram& out, const Histogram& histogram) {
  out.mutable_counts()->Add(histogram.counts().begin(), histogram.counts().end());
  put(*out.mutable_sum_us(), histogram.sum());
}

Result<Histogram> histogram_of(const v1::Histogram& given) {
  std::array<std::uint64_t, Histogram::bounds.size() + 1> counts{};
  if (static_cast<std::size_t>(given.counts_size()) != counts.size())
    return fail(Code::invalid, "a histogram of {} buckets, not {}; the broker is of another version", given.counts_size(),
                counts.size());
  std::ranges::copy(given.counts(), counts.begin());
  return Histogram::from(counts, whole(given.sum_us()));
}

void put(v1::TaskStatus& out, const TaskStatus& task) {
  out.set_client(task.client.value());
  out.set_task(task.id.value());
  out.set_name(task.name);
  out.set_type(task.type);
  out.set_priority(task.priority);
  put_all(*out.mutable_need(), task.need);
  out.set_cookie(task.cookie);
  out.set_submitted_us(task.submitted.count());
  out.set_since_us(task.since.count());
  out.set_planned_duration_us(task.planned_duration.count());
  out.set_running(task.running);
}

TaskStatus task_of(const v1::TaskStatus& given) {
  return {.client = ClientId(static_cast<ClientId::rep>(given.client())),
          .id = TaskId(given.task()),
          .name = given.name(),
          .type = given.type(),
          .priority = given.priority(),
          .need = {given.need().begin(), given.need().end()},
          .cookie = given.cookie(),
          .submitted = Micros(given.submitted_us()),
          .since = Micros(given.since_us()),
          .planned_duration = Micros(given.planned_duration_us()),
          .running = given.running()};
}

void put(v1::QueueStatus& out, const QueueStatus& queue) {
  out.set_name(queue.name);
  out.set_weight(queue.weight);
  put_all(*out.mutable_limit(), queue.limit);
  put(*out.mutable_counters(), queue.counters);
  put(*out.mutable_real(), queue.real);
  put(*out.mutable_planned(), queue.planned);
  put(*out.mutable_in_queue(), queue.in_queue);
  for (const TaskStatus& task : queue.waiting) put(*out.add_waiting(), task);
}

Result<QueueStatus> queue_of(const v1::QueueStatus& given) {
  auto in_queue = histogram_of(given.in_queue());
  if (!in_queue) return fail(in_queue.error());
  QueueStatus queue{.name = given.name(),
                    .weight = given.weight(),
                    .limit = {given.limit().begin(), given.limit().end()},
                    .counters = counters_of(given.counters()),
                    .real = whole(given.real()),
                    .planned = whole(given.planned()),
                    .in_queue = *in_queue,
                    .waiting = {}};
  for (const v1::TaskStatus& task : given.waiting()) queue.waiting.push_back(task_of(task));
  return queue;
}

void put(v1::TypeStatus& out, const TypeStatus& type) {
  out.set_name(type.name);
  out.set_queue(type.queue);
  out.set_mean_duration_us(type.mean_duration.count());
  put(*out.mutable_counters(), type.counters);
  put(*out.mutable_in_queue(), type.in_queue);
  put(*out.mutable_execution(), type.execution);
}

Result<TypeStatus> type_of(const v1::TypeStatus& given) {
  auto in_queue = histogram_of(given.in_queue());
  if (!in_queue) return fail(in_queue.error());
  auto execution = histogram_of(given.execution());
  if (!execution) return fail(execution.error());
  return TypeStatus{.name = given.name(),
                    .queue = given.queue(),
                    .mean_duration = Micros(given.mean_duration_us()),
                    .counters = counters_of(given.counters()),
                    .in_queue = *in_queue,
                    .execution = *execution};
}

}  // namespace

v1::GetStatusResponse to_wire(const Observed& observed) {
  const Status& status = observed.status;
  v1::GetStatusResponse out;
  out.set_now_us(status.now.count());
  *out.mutable_config() = to_wire(status.config);
  for (const std::string& resource : status.resources) out.add_resources(resource);
  put_all(*out.mutable_limit(), status.limit);
  put(*out.mutable_denominator(), status.denominator);
  out.set_missing_types(status.missing_types);
  put(*out.mutable_total(), status.total);
  for (const QueueStatus& queue : status.queues) put(*out.add_queues(), queue);
  for (const TypeStatus& type : status.types) put(*out.add_types(), type);
  for (const TaskStatus& task : status.running) put(*out.add_running(), task);
  for (const auto& [client, name] : observed.clients) {
    v1::Client& added = *out.add_clients();
    added.set_client(client.value());
    added.set_name(name);
  }
  return out;
}

Result<Observed> from_wire(const v1::GetStatusResponse& response) {
  Observed observed;
  Status& status = observed.status;
  auto config = from_wire(response.config());
  if (!config) return fail(config.error());
  status.now = Micros(response.now_us());
  status.config = std::move(*config);
  status.resources = {response.resources().begin(), response.resources().end()};
  status.limit = {response.limit().begin(), response.limit().end()};
  status.denominator = whole(response.denominator());
  status.missing_types = response.missing_types();
  status.total = counters_of(response.total());
  for (const v1::QueueStatus& given : response.queues()) {
    auto queue = queue_of(given);
    if (!queue) return fail(queue.error());
    status.queues.push_back(std::move(*queue));
  }
  for (const v1::TypeStatus& given : response.types()) {
    auto type = type_of(given);
    if (!type) return fail(type.error());
    status.types.push_back(std::move(*type));
  }
  for (const v1::TaskStatus& task : response.running()) status.running.push_back(task_of(task));
  for (const v1::Client& client : response.clients())
    observed.clients.emplace(ClientId(static_cast<ClientId::rep>(client.client())), client.name());
  return observed;
}

}  // namespace evenkeel::broker::wire
