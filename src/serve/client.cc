#include "evenkeel/serve/client.h"

#include <httplib.h>

#include <limits>

#include "evenkeel/base/read.h"

namespace evenkeel::serve {
namespace {

constexpr std::size_t answer_bytes_max = 4 << 20;

// A field without a value is as good as none.
std::optional<Value> value_of(FieldReader& fields, std::string_view name) {
  const auto value = fields.take_or_null(name);
  return value && value->kind() != Value::Kind::null ? value : std::nullopt;
}

void read_text_of(FieldReader& fields, std::string_view name, std::string& out, Diagnostics& problems) {
  const auto value = value_of(fields, name);
  if (auto text = value ? read_text(*value, problems) : std::nullopt) out = *std::move(text);
}

// What it does not know it overlooks: the daemon may be a later one.
ToldEvent read_event(Value value, Diagnostics& problems) {
  ToldEvent event;
  FieldReader fields(value, problems, "an event");
  fields.count("number", event.number, {.most = std::numeric_limits<std::uint64_t>::max()});
  read_text_of(fields, "time", event.time, problems);
  read_text_of(fields, "kind", event.kind, problems);
  read_text_of(fields, "shard", event.shard, problems);
  read_text_of(fields, "node", event.node, problems);
  read_text_of(fields, "text", event.text, problems);
  return event;
}

}  // namespace

Result<ToldEvents> parse_events(std::string_view text) {
  const auto document = Document::parse(text, "its answer", Syntax::json);
  if (!document) return fail(Code::invalid, "{}", document.error().format());
  Diagnostics problems = document->problems();
  ToldEvents told;
  FieldReader fields(document->root(), problems, "a daemon's answer");
  fields.text("cluster", told.cluster);
  fields.flag("active", told.active);
  if (const auto controller = value_of(fields, "controller"))
    FieldReader(*controller, problems, "a controller").text("name", told.controller);
  if (const auto events = fields.take_required("events"); events && expect_list(*events, problems, "events")) {
    for (const Value event : events->items()) told.events.push_back(read_event(event, problems));
  }
  if (!problems.empty()) return fail(Code::invalid, "{}", problems.format());
  return told;
}

Result<ToldEvents> ask_events(const std::string& address, const AskEvents& options) {
  httplib::Client client("http://" + address);
  client.set_connection_timeout(options.within);
  client.set_read_timeout(options.within);
  std::string body;
  const auto got = client.Get(fmt::format("/api/v1/events?limit={}", options.most), [&](const char* bytes, std::size_t size) {
    body.append(bytes, size);
    return body.size() <= answer_bytes_max;
  });
  if (!got) return fail(Code::unavailable, "http://{} does not answer: {}", address, httplib::to_string(got.error()));
  if (got->status != 200) return fail(Code::unavailable, "http://{} answers with status {}", address, got->status);
  return parse_events(body);
}

}  // namespace evenkeel::serve
