#include "evenkeel/broker/detail/trace_fields.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "evenkeel/base/text.h"

namespace evenkeel::broker::detail {
namespace {

constexpr JsonText nothing{"null", 0};

// A decimal number of at most 128 bits.
std::optional<UInt128> decode_wide(std::string_view digits) {
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  UInt128 value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return std::nullopt;
    const UInt128 digit = static_cast<UInt128>(c - '0');
    if (value > (~UInt128{0} - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

}  // namespace

Fields::Fields(JsonText object, std::string_view what, std::optional<JsonFault>& fault)
    : object_(object), what_(what), fault_(fault) {
  if (object.kind() != JsonText::Kind::object) {
    this->fault(object, fmt::format("expected an object for {}, found {}", what, object.kind_name()), "write {…}");
    return;
  }
  for_each_field(object, [&](JsonText key, JsonText value) {
    // A key that has no form in UTF-8 is no name that anybody asks for.
    if (auto name = decode_text(key)) fields_.emplace_back(*std::move(name), value);
  });
}

void Fields::fault(JsonText where, std::string message, std::string hint) {
  if (!fault_) fault_ = JsonFault{where.at, std::move(message), std::move(hint)};
}

std::optional<JsonText> Fields::find(std::string_view name) const {
  const auto found = std::find_if(fields_.rbegin(), fields_.rend(), [&](const auto& field) { return field.first == name; });
  return found == fields_.rend() ? std::nullopt : std::optional(found->second);
}

JsonText Fields::any(std::string_view name) {
  if (const auto value = find(name)) return *value;
  fault(object_, fmt::format("{} lacks the field {}", what_, quote(name)), "add it");
  return nothing;
}

JsonText Fields::of_kind(std::string_view name, JsonText::Kind kind, std::string_view kind_name) {
  const JsonText value = any(name);
  if (value.kind() == kind) return value;
  fault(value, fmt::format("{} of {}: expected {}, found {}", quote(name), what_, kind_name, value.kind_name()),
        fmt::format("give {}", kind_name));
  return nothing;
}

std::string Fields::text(std::string_view name) {
  const JsonText value = of_kind(name, JsonText::Kind::text, "a text");
  if (value.kind() != JsonText::Kind::text) return {};
  auto decoded = decode_text(value);
  if (!decoded) fault(value, fmt::format("{} of {} has half a character: a surrogate without its pair", quote(name), what_), "");
  return std::move(decoded).value_or(std::string());
}

std::uint64_t Fields::whole_in(JsonText value, std::string_view name) {
  if (value.kind() == JsonText::Kind::number) {
    if (const auto whole = decode_whole(value)) return *whole;
  }
  const bool number = value.kind() == JsonText::Kind::number;
  fault(value,
        fmt::format("{} of {}: expected an integer from 0 to 2^64 - 1, found {}", quote(name), what_,
                    number ? value.raw.substr(0, 40) : value.kind_name()),
        "write it in digits alone, without quotes, sign, point or exponent");
  return 0;
}

std::uint64_t Fields::whole(std::string_view name) {
  const auto value = find(name);
  if (value) return whole_in(*value, name);
  any(name);
  return 0;
}

std::uint64_t Fields::whole_or(std::string_view name, std::uint64_t otherwise) {
  const auto value = find(name);
  return value ? whole_in(*value, name) : otherwise;
}

UInt128 Fields::wide(std::string_view name) {
  const JsonText value = of_kind(name, JsonText::Kind::text, "a text");
  if (value.kind() != JsonText::Kind::text) return 0;
  const auto decoded = decode_wide(value.raw.substr(1, value.raw.size() - 2));
  if (!decoded) fault(value, fmt::format("{} of {} is no integer from 0 to 2^128 - 1", quote(name), what_), "write its digits");
  return decoded.value_or(0);
}

bool Fields::flag_or(std::string_view name, bool otherwise) {
  const auto value = find(name);
  if (!value) return otherwise;
  if (value->kind() != JsonText::Kind::flag)
    fault(*value, fmt::format("{} of {}: expected true or false, found {}", quote(name), what_, value->kind_name()),
          "give true or false");
  return value->raw == "true";
}

Amounts Fields::amounts_or_none(std::string_view name) {
  Amounts amounts;
  if (!find(name)) return amounts;
  const JsonText value = of_kind(name, JsonText::Kind::object, "an object");
  if (value.kind() != JsonText::Kind::object) return amounts;
  Fields inner(value, name, fault_);
  std::map<std::string_view, std::size_t> places;
  for (const auto& [resource, amount] : inner.fields_) {
    const auto [place, added] = places.try_emplace(resource, amounts.size());
    if (added) amounts.emplace_back(resource, 0);
    amounts[place->second].second = inner.whole_in(amount, resource);
  }
  return amounts;
}

void for_each_object(JsonText list, std::string_view what, std::optional<JsonFault>& fault,
                     const std::function<void(Fields& fields)>& visit) {
  if (list.kind() != JsonText::Kind::list) return;
  for_each_item(list, [&](JsonText item) {
    Fields fields(item, what, fault);
    visit(fields);
  });
}

Config read_config(JsonText object, std::optional<JsonFault>& fault) {
  Config config;
  if (object.kind() != JsonText::Kind::object) return config;
  Fields fields(object, "config", fault);
  for_each_object(fields.list("queues"), "a queue", fault, [&](Fields& queue) {
    config.queues.push_back(
        {.name = queue.text("name"), .weight = queue.whole_or("weight", 0), .limit = queue.amounts_or_none("limit")});
  });
  for_each_object(fields.list("tasks"), "a task type", fault, [&](Fields& type) {
    config.types.push_back({.name = type.text("name"),
                            .queue = type.text("queue"),
                            .default_duration = Micros(type.whole_or("default_duration_us", 0))});
  });
  config.limit = fields.amounts_or_none("limit");
  return config;
}

void write_amounts(std::string& out, const Amounts& amounts) {
  char before = '{';
  for (const auto& [resource, amount] : amounts)
    fmt::format_to(std::back_inserter(out), "{}{}:{}", std::exchange(before, ','), json_quoted(resource), amount);
  out += amounts.empty() ? "{}" : "}";
}

void write_config(std::string& out, const Config& config) {
  out += R"({"queues":[)";
  for (const QueueSpec& queue : config.queues) {
    fmt::format_to(std::back_inserter(out), R"({}{{"name":{},"weight":{})", &queue == config.queues.data() ? "" : ",",
                   json_quoted(queue.name), queue.weight);
    if (!queue.limit.empty()) write_amounts(out += R"(,"limit":)", queue.limit);
    out += '}';
  }
  out += R"(],"tasks":[)";
  for (const TypeSpec& type : config.types) {
    fmt::format_to(std::back_inserter(out), R"({}{{"name":{},"queue":{},"default_duration_us":{}}})",
                   &type == config.types.data() ? "" : ",", json_quoted(type.name), json_quoted(type.queue),
                   type.default_duration.count());
  }
  out += ']';
  if (!config.limit.empty()) write_amounts(out += R"(,"limit":)", config.limit);
  out += '}';
}

}  // namespace evenkeel::broker::detail
