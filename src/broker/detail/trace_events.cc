#include "evenkeel/broker/detail/trace_events.h"

#include <iterator>

#include "evenkeel/base/text.h"

namespace evenkeel::broker::detail {
namespace {

void write_row(std::string& out, std::string_view name, const Counters& counters, const std::vector<std::string>& resources) {
  fmt::format_to(std::back_inserter(out), "{}:{{", json_quoted(name));
  for (std::size_t r = 0; r < resources.size(); ++r)
    fmt::format_to(std::back_inserter(out), "{}:{},", json_quoted(resources[r]), counters.held[r]);
  fmt::format_to(std::back_inserter(out), R"("finished":{},"enqueued":{},"infly":{}}})", counters.finished, counters.enqueued,
                 counters.infly);
}

}  // namespace

void write_event(std::string& out, std::uint64_t now, const Event& event, std::string_view client) {
  const std::string_view cookie = event.cookie.empty() ? "null" : event.cookie;
  const auto to = std::back_inserter(out);
  switch (event.kind) {
    case Event::Kind::allocated:
    case Event::Kind::removed:
      fmt::format_to(to,
                     R"({{"ev":"{}","t":{},"client":{},"task":{},"cookie":{}}})"
                     "\n",
                     event.kind == Event::Kind::allocated ? "allocated" : "removed", now, json_quoted(client), event.task,
                     cookie);
      break;
    case Event::Kind::error:
      fmt::format_to(to,
                     R"({{"ev":"error","t":{},"client":{},"task":{},"code":"{}","message":{},"cookie":{}}})"
                     "\n",
                     now, json_quoted(client), event.task, name(event.refusal), json_quoted(message(event.refusal)), cookie);
      break;
  }
}

void write_configured(std::string& out, std::uint64_t now, bool ok, std::string_view message) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"ev":"configured","t":{},"ok":{},"message":{}}})"
                 "\n",
                 now, ok, json_quoted(message));
}

void write_result(std::string& out, std::uint64_t now, std::string_view operation, std::string_view client, TaskId task,
                  bool ok) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"ev":"result","t":{},"op":"{}","client":{},"task":{},"ok":{}}})"
                 "\n",
                 now, operation, json_quoted(client), task, ok);
}

void write_stats(std::string& out, const Status& status) {
  fmt::format_to(std::back_inserter(out), R"({{"ev":"stats","t":{},"missing_task_type":{},"queue":{{)", status.now.count(),
                 status.missing_types);
  write_row(out, "total", status.total, status.resources);
  for (const QueueStatus& queue : status.queues) write_row(out += ',', queue.name, queue.counters, status.resources);
  out += R"(},"task":{)";
  for (const TypeStatus& type : status.types) {
    if (&type != status.types.data()) out += ',';
    write_row(out, type.name, type.counters, status.resources);
  }
  out += "}}\n";
}

}  // namespace evenkeel::broker::detail
