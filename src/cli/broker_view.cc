#include "evenkeel/cli/broker_view.h"

#include <algorithm>

#include "evenkeel/base/text.h"
#include "evenkeel/base/time.h"
#include "evenkeel/base/write.h"

namespace evenkeel::cli {
namespace {

using broker::Counters;
using broker::Micros;
using broker::Observed;
using broker::QueueStatus;
using broker::Status;
using broker::TaskStatus;
using broker::TypeStatus;

std::string amount_of(const Status& status, std::size_t resource, UInt128 amount) {
  constexpr std::uint64_t most = broker::unlimited;
  if (status.resources[resource] == "memory" && amount <= most) return format(Bytes(static_cast<std::uint64_t>(amount)));
  return fmt::format("{}", amount);
}

// What is held of what may be: "3/10".
std::string held_of(const Status& status, const Counters& counters, std::size_t resource, std::uint64_t limit) {
  const std::string held = amount_of(status, resource, counters.held[resource]);
  return held + "/" + (limit == broker::unlimited ? "-" : amount_of(status, resource, limit));
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string duration_of(std::uint64_t micros) {
  constexpr std::uint64_t most = 1'000'000'000'000'000;  // thirty years: beyond it the nanoseconds would overflow
  return micros > most ? ">11574d" : format(std::chrono::duration_cast<Duration>(std::chrono::microseconds(micros)));
}

// The bound below which that share of the values lies.
std::string below(const broker::Histogram& histogram, unsigned percent) {
  const std::uint64_t count = histogram.count();
  if (count == 0) return "";
  UInt128 seen = 0;
  for (std::size_t i = 0; i < broker::Histogram::bounds.size(); ++i) {
    seen += histogram.counts()[i];
    if (seen * 100 >= UInt128{count} * percent) return duration_of(broker::Histogram::bounds[i]);
  }
  return ">" + duration_of(broker::Histogram::bounds.back());
}

// A share of the whole node for so long.
std::string consumed(const Status& status, UInt128 value) {
  const UInt128 micros = value / std::max<UInt128>(1, status.denominator);
  return micros > broker::unlimited ? "-" : duration_of(static_cast<std::uint64_t>(micros));
}

std::vector<std::string> cells_of(const Status& status, const Counters& counters, const std::vector<std::uint64_t>& limit) {
  std::vector<std::string> cells = {fmt::format("{}", counters.enqueued), fmt::format("{}", counters.infly),
                                    fmt::format("{}", counters.finished)};
  for (std::size_t i = 0; i < status.resources.size(); ++i) cells.push_back(held_of(status, counters, i, limit[i]));
  return cells;
}

void append(std::vector<std::string>& cells, std::vector<std::string> more) {
  cells.insert(cells.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string queues_table(const Status& status, bool wide) {
  std::vector<std::string> header = {"QUEUE", "WEIGHT", "WAITING", "RUNNING", "FINISHED"};
  for (const std::string& resource : status.resources) header.push_back(upper(shown(resource)));
  if (wide) append(header, {"CONSUMED", "PLANNED", "WAIT P50", "WAIT P99"});
  Table table(header);
  for (const QueueStatus& queue : status.queues) {
    std::vector<std::string> row = {shown(queue.name), fmt::format("{}", queue.weight)};
    append(row, cells_of(status, queue.counters, queue.limit));
    if (wide)
      append(row, {consumed(status, queue.real), consumed(status, queue.planned), below(queue.in_queue, 50),
                   below(queue.in_queue, 99)});
    table.add(std::move(row));
  }
  std::vector<std::string> total = {"total", ""};
  append(total, cells_of(status, status.total, status.limit));
  if (wide) append(total, {"", "", "", ""});
  table.add(std::move(total));
  return table.format();
}

std::string types_table(const Status& status, bool wide) {
  std::vector<std::string> header = {"TASK", "QUEUE", "WAITING", "RUNNING", "FINISHED", "MEAN"};
  if (wide) append(header, {"WAIT P50", "WAIT P99", "RUN P50", "RUN P99"});
  Table table(header);
  for (const TypeStatus& type : status.types) {
    const Counters& counters = type.counters;
    std::vector<std::string> row = {shown(type.name),
                                    shown(type.queue),
                                    fmt::format("{}", counters.enqueued),
                                    fmt::format("{}", counters.infly),
                                    fmt::format("{}", counters.finished),
                                    duration_of(type.mean_duration.count())};
    if (wide)
      append(row, {below(type.in_queue, 50), below(type.in_queue, 99), below(type.execution, 50), below(type.execution, 99)});
    table.add(std::move(row));
  }
  return table.format();
}

std::string client_of(const Observed& seen, const TaskStatus& task) {
  const auto found = seen.clients.find(task.client);
  return found != seen.clients.end() ? shown(found->second) : fmt::format("#{}", task.client);
}

std::string running_table(const Observed& seen, std::size_t most) {
  const Status& status = seen.status;
  std::vector<std::string> header = {"CLIENT", "TASK", "NAME", "TYPE", "RUNS FOR"};
  for (const std::string& resource : status.resources) header.push_back(upper(shown(resource)));
  Table table(header);
  for (const TaskStatus& task : status.running) {
    if (most-- == 0) break;
    std::vector<std::string> row = {client_of(seen, task), fmt::format("{}", task.id), shown(task.name), shown(task.type),
                                    duration_of((status.now - task.since).count())};
    for (std::size_t i = 0; i < status.resources.size(); ++i) row.push_back(amount_of(status, i, task.need[i]));
    table.add(std::move(row));
  }
  return table.format();
}

// ------------------------------------------------------------------------------------------------------------------- as documents

void write(Writer& out, const Status& status, const Counters& counters, const std::vector<std::uint64_t>* limit) {
  out.key("waiting").number(counters.enqueued).key("running").number(counters.infly).key("finished").number(counters.finished);
  out.key("held").begin_map(Writer::Flow::line);
  for (std::size_t i = 0; i < status.resources.size(); ++i)
    out.key(status.resources[i]).number(fmt::format("{}", counters.held[i]));
  out.end_map();
  if (limit == nullptr) return;
  out.key("limit").begin_map(Writer::Flow::line);
  for (std::size_t i = 0; i < status.resources.size(); ++i)
    if ((*limit)[i] != broker::unlimited) out.key(status.resources[i]).number((*limit)[i]);
  out.end_map();
}

void write(Writer& out, const Observed& seen, const TaskStatus& task) {
  const auto found = seen.clients.find(task.client);
  out.begin_map(Writer::Flow::line);
  out.key("client").text(found != seen.clients.end() ? found->second : fmt::format("#{}", task.client));
  out.key("id").number(task.id.value()).key("name").text(task.name).key("type").text(task.type);
  out.key("priority").number(task.priority);
  for (std::size_t i = 0; i < seen.status.resources.size(); ++i) out.key(seen.status.resources[i]).number(task.need[i]);
  out.key("since_us").number(task.since.count()).end_map();
}

std::string document_of(const Observed& seen, Syntax syntax) {
  const Status& status = seen.status;
  const auto micros = [&](UInt128 value) { return fmt::format("{}", value / std::max<UInt128>(1, status.denominator)); };
  Writer out(syntax);
  out.begin_map().key("now_us").number(status.now.count()).key("missing_task_types").number(status.missing_types);
  out.key("total").begin_map();
  write(out, status, status.total, &status.limit);
  out.end_map().key("queues").begin_list();
  for (const QueueStatus& queue : status.queues) {
    out.begin_map().key("name").text(queue.name).key("weight").number(queue.weight);
    write(out, status, queue.counters, &queue.limit);
    out.key("consumed_us").number(micros(queue.real)).key("planned_us").number(micros(queue.planned));
    out.key("waiting_tasks").begin_list();
    for (const TaskStatus& task : queue.waiting) write(out, seen, task);
    out.end_list().end_map();
  }
  out.end_list().key("tasks").begin_list();
  for (const TypeStatus& type : status.types) {
    out.begin_map().key("name").text(type.name).key("queue").text(type.queue).key("mean_us").number(type.mean_duration.count());
    write(out, status, type.counters, nullptr);
    out.end_map();
  }
  out.end_list().key("running_tasks").begin_list();
  for (const TaskStatus& task : status.running) write(out, seen, task);
  out.end_list().end_map();
  return std::move(out).take();
}

}  // namespace

std::string shown(const std::string& name) {
  const std::string quoted = quote(name);
  return quoted.size() == name.size() + 2 && name.find(' ') == std::string::npos ? name : quoted;
}

std::string status_as(const Observed& seen, Output output) {
  const Status& status = seen.status;
  switch (output) {
    case Output::table:
      return queues_table(status, false) + "\n" + types_table(status, false);
    case Output::wide:
      return queues_table(status, true) + "\n" + types_table(status, true) + "\n" + running_table(seen, status.running.size());
    case Output::json:
      return document_of(seen, Syntax::json);
    case Output::yaml:
      return document_of(seen, Syntax::yaml);
    case Output::name:
      break;
  }
  std::string names;
  for (const QueueStatus& queue : status.queues) names += fmt::format("queue/{}\n", shown(queue.name));
  for (const TypeStatus& type : status.types) names += fmt::format("task/{}\n", shown(type.name));
  return names;
}

std::string top_of(const Observed& seen, const Observed* before) {
  const Status& status = seen.status;
  std::string speed;
  if (before != nullptr && status.now > before->status.now && status.total.finished >= before->status.total.finished) {
    const double seconds = std::chrono::duration<double>(status.now - before->status.now).count();
    speed = fmt::format(", {:.1f} finished a second",
                        static_cast<double>(status.total.finished - before->status.total.finished) / seconds);
  }
  constexpr std::size_t tasks = 10;
  return fmt::format("up {}, {} waiting, {} running{}\n\n{}\n{}", duration_of(status.now.count() / 1'000'000 * 1'000'000),
                     status.total.enqueued, status.total.infly, speed, queues_table(status, true), running_table(seen, tasks));
}

}  // namespace evenkeel::cli
