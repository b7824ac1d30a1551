#include "evenkeel/broker/detail/trace_state.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "evenkeel/base/text.h"

namespace evenkeel::broker::detail {
namespace {

using Counts = std::map<std::string, std::uint64_t>;

Counts read_counts(Fields& fields, std::string_view name) {
  Counts counts;
  for (auto& [key, count] : fields.amounts_or_none(name)) counts[key] = count;
  return counts;
}

std::vector<std::uint64_t> by_resource(const Amounts& amounts, const std::vector<std::string>& resources) {
  std::vector<std::uint64_t> need;
  for (const std::string& resource : resources) need.push_back(find_amount(amounts, resource).value_or(0));
  return need;
}

State::Type read_type(Fields& fields, std::optional<JsonFault>& fault) {
  State::Type type{.name = fields.text("name")};
  std::vector<std::uint64_t> durations;
  const JsonText list = fields.list("durations");
  if (list.kind() == JsonText::Kind::list) {
    for_each_item(list, [&](JsonText item) {
      const auto whole = item.kind() == JsonText::Kind::number ? decode_whole(item) : std::nullopt;
      if (!whole) fields.fault(item, "a duration is no integer from 0 to 2^64 - 1", "give microseconds");
      durations.push_back(whole.value_or(0));
    });
  }
  const std::uint64_t oldest = fields.whole("oldest");
  if (!fault && (durations.size() != State::window || oldest >= State::window))
    fields.fault(list, "a type has 20 durations, the oldest of them from 0 to 19", "restore what a broker has saved");
  if (fault) return type;
  std::ranges::copy(durations, type.durations.begin());
  type.oldest = static_cast<std::uint32_t>(oldest);
  return type;
}

TaskStatus read_task(Fields& fields, const std::vector<std::string>& resources) {
  return {.id = TaskId(fields.whole("task")),
          .name = fields.text("name"),
          .type = fields.text("type"),
          .priority = fields.whole("priority"),
          .need = by_resource(fields.amounts_or_none("need"), resources),
          .cookie = std::string(fields.any("cookie").raw),
          .submitted = Micros(fields.whole("submitted")),
          .since = Micros(fields.whole("since")),
          .planned_duration = Micros(fields.whole("planned_duration")),
          .running = fields.flag_or("running", false)};
}

// The clients by name, each with its number.
std::map<std::string, ClientId> read_clients(Fields& fields, trace::Restore& restore) {
  std::map<std::string, ClientId> numbers;
  const JsonText list = fields.list("clients");
  if (list.kind() != JsonText::Kind::list) return numbers;
  for_each_item(list, [&](JsonText item) {
    const auto name = item.kind() == JsonText::Kind::text ? decode_text(item) : std::nullopt;
    const ClientId number(static_cast<std::uint32_t>(numbers.size()));
    if (!name || !numbers.try_emplace(*name, number).second) {
      fields.fault(item, "a client is no text, or is named twice", "restore what a broker has saved");
      return;
    }
    restore.clients[number] = *name;
    restore.state.clients.push_back(number);
  });
  return numbers;
}

// What is wrong with a state that reads well, or nothing. A config that is refused is said by whoever restores.
std::string_view contradiction(const State& state) {
  const auto same_names = [](const auto& a, const auto& b) {
    return std::ranges::equal(
        a, b, {}, [](const auto& x) { return x.name; }, [](const auto& x) { return x.name; });
  };
  if (!same_names(state.queues, state.config.queues)) return "its queues are not those of its config";
  if (!same_names(state.types, state.config.types)) return "its types are not those of its config";
  if (state.next_task == 0) return "its next task is 0";
  std::set<std::pair<ClientId, TaskId>> keys;
  std::uint64_t last = 0;
  for (const TaskStatus& task : state.tasks) {
    if (task.id == TaskId(0)) return "a task has no id";
    if (!keys.emplace(task.client, task.id).second) return "two tasks of a client have one id";
    if (task.submitted.count() < last) return "its tasks are not in order of creation";
    if (task.since < task.submitted || task.since > state.now) return "a task's times are not in order";
    if (!task.running && task.planned_duration.count() != 0) return "a task that waits has a planned duration";
    last = task.submitted.count();
  }
  return "";
}

void write_counts(std::string& out, const Counts& counts) {
  char before = '{';
  for (const auto& [name, count] : counts)
    fmt::format_to(std::back_inserter(out), "{}{}:{}", std::exchange(before, ','), json_quoted(name), count);
  out += counts.empty() ? "{}" : "}";
}

std::string_view name_of(ClientId client, const trace::Restore& restore) {
  const auto found = restore.clients.find(client);
  return found == restore.clients.end() ? "" : std::string_view(found->second);
}

void write_task(std::string& out, const TaskStatus& task, const trace::Restore& restore,
                const std::vector<std::string>& resources) {
  Amounts need;
  for (std::size_t r = 0; r < task.need.size() && r < resources.size(); ++r) {
    if (task.need[r] != 0) need.emplace_back(resources[r], task.need[r]);
  }
  fmt::format_to(std::back_inserter(out), R"({{"client":{},"task":{},"name":{},"type":{},"priority":{},"need":)",
                 json_quoted(name_of(task.client, restore)), task.id, json_quoted(task.name), json_quoted(task.type),
                 task.priority);
  write_amounts(out, need);
  fmt::format_to(std::back_inserter(out), R"(,"cookie":{},"submitted":{},"since":{},"planned_duration":{},"running":{}}})",
                 task.cookie.empty() ? "null" : task.cookie, task.submitted.count(), task.since.count(),
                 task.planned_duration.count(), task.running);
}

}  // namespace

trace::Restore read_state(JsonText object, std::optional<JsonFault>& fault) {
  trace::Restore restore;
  if (object.kind() != JsonText::Kind::object) return restore;
  Fields fields(object, "state", fault);
  State& state = restore.state;
  state = {.now = Micros(fields.whole("now")),
           .config = read_config(fields.object("config"), fault),
           .next_task = fields.whole("next_task"),
           .missing_types = fields.whole("missing_types"),
           .finished = fields.whole("finished"),
           .finished_by_queue = read_counts(fields, "finished_by_queue"),
           .finished_by_type = read_counts(fields, "finished_by_type")};
  for_each_object(fields.list("queues"), "a queue", fault, [&](Fields& queue) {
    state.queues.push_back({.name = queue.text("name"), .real = queue.wide("real"), .planned = queue.wide("planned")});
  });
  for_each_object(fields.list("types"), "a task type", fault,
                  [&](Fields& type) { state.types.push_back(read_type(type, fault)); });
  const auto resources = resources_of(state.config);
  const auto numbers = read_clients(fields, restore);
  for_each_object(fields.list("tasks"), "a task", fault, [&](Fields& task) {
    state.tasks.push_back(read_task(task, resources));
    const auto client = numbers.find(task.text("client"));
    if (client != numbers.end()) {
      state.tasks.back().client = client->second;
    } else if (!fault) {
      task.fault(task.any("client"), "a task's client is not among the clients", "restore what a broker has saved");
    }
  });
  if (fault) return restore;
  if (const auto wrong = contradiction(state); !wrong.empty())
    fields.fault(object, fmt::format("this state contradicts itself: {}", wrong), "restore what a broker has saved");
  return restore;
}

void write_state(std::string& out, const trace::Restore& restore) {
  const State& state = restore.state;
  fmt::format_to(std::back_inserter(out), R"({{"now":{},"config":)", state.now.count());
  write_config(out, state.config);
  fmt::format_to(std::back_inserter(out), R"(,"next_task":{},"missing_types":{},"finished":{},"finished_by_queue":)",
                 state.next_task, state.missing_types, state.finished);
  write_counts(out, state.finished_by_queue);
  write_counts(out += R"(,"finished_by_type":)", state.finished_by_type);
  out += R"(,"clients":[)";
  for (const ClientId& client : state.clients) {
    if (&client != state.clients.data()) out += ',';
    out += json_quoted(name_of(client, restore));
  }
  out += ']';
  out += R"(,"queues":[)";
  for (const State::Queue& queue : state.queues) {
    fmt::format_to(std::back_inserter(out), R"({}{{"name":{},"real":"{}","planned":"{}"}})",
                   &queue == state.queues.data() ? "" : ",", json_quoted(queue.name), queue.real, queue.planned);
  }
  out += R"(],"types":[)";
  for (const State::Type& type : state.types) {
    fmt::format_to(std::back_inserter(out), R"({}{{"name":{},"durations":[{}],"oldest":{}}})",
                   &type == state.types.data() ? "" : ",", json_quoted(type.name), fmt::join(type.durations, ","), type.oldest);
  }
  out += R"(],"tasks":[)";
  const auto resources = resources_of(state.config);
  for (const TaskStatus& task : state.tasks) {
    if (&task != state.tasks.data()) out += ',';
    write_task(out, task, restore, resources);
  }
  out += "]}";
}

}  // namespace evenkeel::broker::detail
