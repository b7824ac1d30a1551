// Commands of a trace, read and written.

#include <algorithm>
#include <array>
#include <iterator>

#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"
#include "evenkeel/broker/detail/trace_fields.h"
#include "evenkeel/broker/detail/trace_state.h"
#include "evenkeel/broker/trace.h"

namespace evenkeel::broker::trace {
namespace {

using detail::Fields;
using detail::JsonFault;
using detail::JsonText;

// What a reader of one command has: its fields, the names of resources, and where to put what is wrong.
struct Line {
  Fields& fields;
  std::span<const std::string> resources;
  std::optional<JsonFault>& fault;

  std::string client() const { return fields.text("client"); }
  TaskId task() const { return TaskId(fields.whole("task")); }
  Amounts amounts() const {
    Amounts amounts;
    for (const std::string& resource : resources) {
      if (fields.find(resource)) amounts.emplace_back(resource, fields.whole(resource));
    }
    return amounts;
  }
};

Command read_submit(const Line& line, bool instant) {
  Submit submit{.client = line.client(),
                .task = TaskId(line.fields.whole_or("task", 0)),
                .type = line.fields.text("type"),
                .priority = line.fields.whole_or("priority", 0),
                .need = line.amounts(),
                .instant = instant};
  if (const auto cookie = line.fields.find("cookie")) submit.cookie = cookie->raw;
  return submit;
}

Command read_update(const Line& line) {
  return Update{.client = line.client(),
                .task = line.task(),
                .type = line.fields.text("type"),
                .priority = line.fields.whole_or("priority", 0),
                .need = line.amounts(),
                .resubmit = line.fields.flag_or("resubmit", false)};
}

Command read_finish(const Line& line, bool instant) {
  return Finish{.client = line.client(), .task = line.task(), .cancel = line.fields.flag_or("cancel", false), .instant = instant};
}

struct Reader {
  std::string_view name;
  Command (*read)(const Line& line);
};

// Every command by its name.
constexpr std::array<Reader, 15> readers = {{
    {"configure", [](const Line& l) -> Command { return Configure{read_config(l.fields.object("config"), l.fault)}; }},
    {"submit", [](const Line& l) { return read_submit(l, false); }},
    {"submit_instant", [](const Line& l) { return read_submit(l, true); }},
    {"update", read_update},
    {"update_cookie",
     [](const Line& l) -> Command {
       return UpdateCookie{l.client(), l.task(), std::string(l.fields.any("cookie").raw)};
     }},
    {"remove",
     [](const Line& l) -> Command {
       return Remove{l.client(), l.task(), l.fields.flag_or("reply", false)};
     }},
    {"finish", [](const Line& l) { return read_finish(l, false); }},
    {"finish_instant", [](const Line& l) { return read_finish(l, true); }},
    {"reduce",
     [](const Line& l) -> Command {
       return Reduce{l.client(), l.task(), l.amounts()};
     }},
    {"merge",
     [](const Line& l) -> Command {
       return Merge{l.client(), l.task(), TaskId(l.fields.whole("donor"))};
     }},
    {"client_died", [](const Line& l) -> Command { return ClientDied{l.client()}; }},
    {"advance", [](const Line& l) -> Command { return Advance{Micros(l.fields.whole("us"))}; }},
    {"stats", [](const Line&) -> Command { return Stats{}; }},
    {"note", [](const Line& l) -> Command { return Note{l.fields.text("text")}; }},
    {"restore", [](const Line& l) -> Command { return detail::read_state(l.fields.object("state"), l.fault); }},
}};

// Columns count characters: bytes that go on with one do not.
Diagnostic at_column(std::string_view line, JsonFault fault) {
  const auto before = line.substr(0, fault.at);
  const auto goes_on = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  const auto characters = before.size() - static_cast<std::size_t>(std::ranges::count_if(before, goes_on));
  return {.place = {.line = 1, .column = static_cast<std::uint32_t>(characters + 1)},
          .message = std::move(fault.message),
          .hint = std::move(fault.hint)};
}

Command read_command(JsonText object, std::span<const std::string> resources, std::optional<JsonFault>& fault) {
  Fields envelope(object, "a command", fault);
  const std::string name = envelope.text("cmd");
  if (fault) return Stats{};
  const auto reader = std::ranges::find(readers, name, &Reader::name);
  if (reader == readers.end()) {
    std::array<std::string_view, readers.size()> names;
    std::ranges::transform(readers, names.begin(), &Reader::name);
    const auto near = nearest(name, names);
    envelope.fault(envelope.any("cmd"), fmt::format("unknown command {}", quote(name)),
                   near ? fmt::format("did you mean {}?", quote(*near)) : fmt::format("known are {}", fmt::join(names, ", ")));
    return Stats{};
  }
  Fields fields(object, reader->name, fault);
  return reader->read({fields, resources, fault});
}

// Writes one line, field after field; what has its default is left out.
class LineWriter {
 public:
  explicit LineWriter(std::string_view command) { out_ = fmt::format(R"({{"cmd":"{}")", command); }

  LineWriter& text(std::string_view name, std::string_view value) { return raw(name, json_quoted(value)); }
  LineWriter& whole(std::string_view name, std::uint64_t value) { return raw(name, fmt::format("{}", value)); }
  LineWriter& whole_or_none(std::string_view name, std::uint64_t value) { return value == 0 ? *this : whole(name, value); }
  LineWriter& flag(std::string_view name, bool value) { return value ? raw(name, "true") : *this; }
  LineWriter& cookie(std::string_view cookie) { return cookie == "null" ? *this : raw("cookie", cookie); }
  LineWriter& task(std::string_view client, TaskId task) { return text("client", client).whole("task", task.value()); }
  LineWriter& amounts(const Amounts& amounts) {
    for (const auto& [resource, amount] : amounts) whole(resource, amount);
    return *this;
  }
  LineWriter& raw(std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(out_), ",{}:{}", json_quoted(name), value);
    return *this;
  }
  std::string take() { return std::move(out_) + "}"; }

 private:
  std::string out_;
};

std::string format_of(const Configure& command) {
  std::string config;
  detail::write_config(config, command.config);
  return LineWriter("configure").raw("config", config).take();
}
std::string format_of(const Restore& command) {
  std::string state;
  detail::write_state(state, command);
  return LineWriter("restore").raw("state", state).take();
}
std::string format_of(const Submit& c) {
  return LineWriter(c.instant ? "submit_instant" : "submit")
      .task(c.client, c.task)
      .text("type", c.type)
      .whole_or_none("priority", c.priority)
      .amounts(c.need)
      .cookie(c.cookie)
      .take();
}
std::string format_of(const Update& c) {
  return LineWriter("update")
      .task(c.client, c.task)
      .text("type", c.type)
      .whole_or_none("priority", c.priority)
      .amounts(c.need)
      .flag("resubmit", c.resubmit)
      .take();
}
std::string format_of(const UpdateCookie& c) {
  return LineWriter("update_cookie").task(c.client, c.task).raw("cookie", c.cookie).take();
}
std::string format_of(const Remove& c) { return LineWriter("remove").task(c.client, c.task).flag("reply", c.reply).take(); }
std::string format_of(const Finish& c) {
  return LineWriter(c.instant ? "finish_instant" : "finish").task(c.client, c.task).flag("cancel", c.cancel).take();
}
std::string format_of(const Reduce& c) { return LineWriter("reduce").task(c.client, c.task).amounts(c.by).take(); }
std::string format_of(const Merge& c) {
  return LineWriter("merge").task(c.client, c.task).whole("donor", c.donor.value()).take();
}
std::string format_of(const ClientDied& c) { return LineWriter("client_died").text("client", c.client).take(); }
std::string format_of(const Advance& c) { return LineWriter("advance").whole("us", c.by.count()).take(); }
std::string format_of(const Stats&) { return LineWriter("stats").take(); }
std::string format_of(const Note& c) { return LineWriter("note").text("text", c.text).take(); }

}  // namespace

tl::expected<Command, Diagnostic> parse(std::string_view line, std::span<const std::string> resources) {
  const auto object = detail::scan_json(line);
  if (!object) return tl::unexpected(at_column(line, object.error()));
  std::optional<JsonFault> fault;
  if (object->kind() != JsonText::Kind::object) {
    return tl::unexpected(at_column(line, {object->at, fmt::format("expected an object, found {}", object->kind_name()),
                                           R"(write a command as {"cmd":"…",…})"}));
  }
  Command command = read_command(*object, resources, fault);
  if (fault) return tl::unexpected(at_column(line, *std::move(fault)));
  return command;
}

std::string format(const Command& command) {
  return std::visit([](const auto& one) { return format_of(one); }, command);
}

std::string cookie_of(std::string_view bytes) { return json_quoted(bytes); }

Restore restore_of(State state, std::map<ClientId, std::string> clients) {
  for (TaskStatus& task : state.tasks) task.cookie = cookie_of(task.cookie);
  return {std::move(state), std::move(clients)};
}

}  // namespace evenkeel::broker::trace
