#include "evenkeel/broker/page.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "evenkeel/base/text.h"
#include "evenkeel/base/time.h"
#include "evenkeel/broker/config_file.h"

namespace evenkeel::broker {
namespace {

constexpr std::string_view opening = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Resource broker</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 1.5em; max-width: 80em; color: #222; background: #fff; }
table { border-collapse: collapse; margin: 0.5em 0 1.5em; }
caption { text-align: left; font-weight: bold; }
th, td { border-bottom: 1px solid #ddd; padding: 0.2em 0.8em 0.2em 0; text-align: left; vertical-align: top; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
.late { font-weight: bold; }
pre { background: #f5f5f5; padding: 0.8em; overflow: auto; }
</style>
</head>
<body>
<h1>Resource broker</h1>
)";

// A text of ours or theirs, as HTML: control characters and invalid bytes are written out first, as in JSON.
std::string escaped(std::string_view text, std::size_t most = 200) {
  const std::string quoted = quote(text, most);
  const bool cut = !quoted.ends_with('"');
  std::string_view inside = quoted;
  inside.remove_prefix(1);
  inside = inside.substr(0, inside.rfind('"'));
  std::string html;
  // What quote() escaped for the sake of its own quotes is shown as it is.
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '\\' && i + 1 < inside.size() && (inside[i + 1] == '"' || inside[i + 1] == '\\')) ++i;
    switch (inside[i]) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += inside[i];
    }
  }
  if (cut) html += "…";
  return html;
}

// The same, line by line, of a text that we wrote ourselves.
std::string escaped_lines(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    html += escaped(text.substr(0, end), end);
    html += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return html;
}

std::string decimal(UInt128 value) {
  std::string digits;
  do digits += static_cast<char>('0' + static_cast<int>(value % 10));
  while ((value /= 10) != 0);
  std::ranges::reverse(digits);
  return digits;
}

// To the millisecond where there are seconds.
std::string for_people(std::uint64_t micros) {
  const std::uint64_t rounded = micros < 1'000'000 ? micros : micros / 1000 * 1000;
  constexpr std::uint64_t years = 9'000'000'000'000'000;  // 285 of them, which fit a Duration
  if (rounded > years) return "over 285 years";
  return format(std::chrono::duration_cast<Duration>(std::chrono::microseconds(static_cast<std::int64_t>(rounded))));
}

// Real and planned consumption: seconds of the whole node, divided by the weight.
std::string node_seconds(UInt128 value, UInt128 denominator) {
  return fmt::format("{:.3f}", static_cast<double>(value) / static_cast<double>(std::max(denominator, UInt128{1})) / 1e6);
}

class Page {
 public:
  Page(const Status& status, const std::map<ClientId, std::string>& clients) : status_(status), clients_(clients) {}

  std::string write() {
    html_ += opening;
    summary();
    counters("By queue", "Queue", {{"total", &status_.total}}, status_.queues);
    counters("By task type", "Type", {}, status_.types);
    queues();
    types();
    running();
    for (const QueueStatus& queue : status_.queues) waiting(queue);
    config();
    html_ += "</body>\n</html>\n";
    return std::move(html_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(html_), text, std::forward<Args>(args)...);
  }

  void head(std::string_view caption, std::initializer_list<std::string_view> columns, bool with_resources) {
    add("<table>\n<caption>{}</caption>\n<tr>", escaped(caption));
    for (const std::string_view column : columns) add("<th>{}</th>", column);
    if (with_resources)
      for (const std::string& resource : status_.resources) add("<th class=\"n\">{}</th>", escaped(resource));
    html_ += "</tr>\n";
  }

  void summary() {
    add("<p>Up for {}. {} tasks run, {} wait, {} finished. Tasks of types that the config does not know: {}.</p>\n",
        for_people(status_.now.count()), status_.total.infly, status_.total.enqueued, status_.total.finished,
        status_.missing_types);
  }

  template <class Row>
  void counters(std::string_view caption, std::string_view column,
                const std::vector<std::pair<std::string_view, const Counters*>>& first, const std::vector<Row>& others) {
    auto rows = first;
    for (const Row& row : others) rows.emplace_back(row.name, &row.counters);
    head(caption, {column, "Enqueued", "In flight", "Finished"}, true);
    for (const auto& [name, counts] : rows) {
      add("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>", escaped(name), counts->enqueued,
          counts->infly, counts->finished);
      for (const UInt128 held : counts->held) add("<td class=\"n\">{}</td>", decimal(held));
      html_ += "</tr>\n";
    }
    html_ += "</table>\n";
  }

  // What is held of the limit, by resource.
  void shares(std::span<const UInt128> held, std::span<const std::uint64_t> limit) {
    for (std::size_t i = 0; i < held.size() && i < limit.size(); ++i)
      add("<td class=\"n\">{} of {}</td>", decimal(held[i]), limit[i] == unlimited ? "∞" : fmt::to_string(limit[i]));
  }

  void queues() {
    head("Queues: consumption in seconds of the whole node over weight, and what is held of the limit",
         {"Queue", "Weight", "Real", "Planned"}, true);
    add("<tr><td>total</td><td></td><td></td><td></td>");
    shares(status_.total.held, status_.limit);
    html_ += "</tr>\n";
    for (const QueueStatus& queue : status_.queues) {
      add("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>", escaped(queue.name),
          queue.weight, node_seconds(queue.real, status_.denominator), node_seconds(queue.planned, status_.denominator));
      shares(queue.counters.held, queue.limit);
      html_ += "</tr>\n";
    }
    html_ += "</table>\n";
  }

  void types() {
    head("Task types", {"Type", "Queue", "Mean duration"}, false);
    for (const TypeStatus& type : status_.types)
      add("<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td></tr>\n", escaped(type.name), escaped(type.queue),
          for_people(type.mean_duration.count()));
    html_ += "</table>\n";
  }

  // The columns that running and waiting tasks share.
  void task(const TaskStatus& task) {
    const auto client = clients_.find(task.client);
    add("<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td>",
        client == clients_.end() ? fmt::format("client {}", task.client) : escaped(client->second), task.id, escaped(task.name),
        escaped(task.type), task.priority, escaped(task.cookie));
  }
  void needs(const TaskStatus& task) {
    for (const std::uint64_t need : task.need) add("<td class=\"n\">{}</td>", need);
    html_ += "</tr>\n";
  }
  void more(std::uint64_t all, std::size_t shown) {
    html_ += "</table>\n";
    if (all > shown) add("<p>and {} more</p>\n", all - shown);
  }

  void running() {
    head("Running tasks", {"Client", "Id", "Name", "Type", "Priority", "Cookie", "Runs for", "Planned finish"}, true);
    for (const TaskStatus& each : status_.running) {
      task(each);
      const std::uint64_t runs = status_.now.count() - std::min(each.since, status_.now).count();
      const std::uint64_t planned = each.planned_duration.count();
      add("<td class=\"n\">{}</td>", for_people(runs));
      if (planned >= runs)
        add("<td>in {}</td>", for_people(planned - runs));
      else
        add("<td class=\"late\">overrun by {}</td>", for_people(runs - planned));
      needs(each);
    }
    more(status_.total.infly, status_.running.size());
  }

  void waiting(const QueueStatus& queue) {
    if (queue.counters.enqueued == 0) return;
    head(fmt::format("Waiting in {}", queue.name), {"Client", "Id", "Name", "Type", "Priority", "Cookie", "Waits for"}, true);
    for (const TaskStatus& each : queue.waiting) {
      task(each);
      add("<td class=\"n\">{}</td>", for_people(status_.now.count() - std::min(each.since, status_.now).count()));
      needs(each);
    }
    more(queue.counters.enqueued, queue.waiting.size());
  }

  void config() {
    const Result<std::string> text = format_config(status_.config, ConfigForm::protobuf);
    add("<h2>Current config</h2>\n<pre>{}</pre>\n", escaped_lines(text ? *text : text.error().message));
  }

  const Status& status_;
  const std::map<ClientId, std::string>& clients_;
  std::string html_;
};

}  // namespace

std::string format_page(const Status& status, const std::map<ClientId, std::string>& clients) {
  return Page(status, clients).write();
}

}  // namespace evenkeel::broker
