#include "evenkeel/broker/detail/config_reader.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "evenkeel/base/quantity.h"
#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/time.h"
#include "evenkeel/broker/detail/compaction_form.h"
#include "evenkeel/broker/detail/config_names.h"

namespace evenkeel::broker {
namespace {

// A field as YDB's protobuf text names it, and as its YAML does.
struct FieldName {
  std::string_view camel;
  std::string_view snake;
};
constexpr FieldName wrapper{"ResourceBrokerConfig", "resource_broker_config"};
constexpr FieldName compaction_broker{"CompactionBroker", "compaction_broker"};
constexpr FieldName queues{"Queues", "queues"};
constexpr FieldName tasks{"Tasks", "tasks"};
constexpr FieldName resource_limit{"ResourceLimit", "resource_limit"};
constexpr FieldName name{"Name", "name"};
constexpr FieldName weight{"Weight", "weight"};
constexpr FieldName limit{"Limit", "limit"};
constexpr FieldName queue_name{"QueueName", "queue_name"};
constexpr FieldName default_duration{"DefaultDuration", "default_duration"};
constexpr FieldName resource{"Resource", "resource"};
constexpr FieldName queue{"Queue", "queue"};
constexpr FieldName queue_id{"QueueID", "queue_id"};
constexpr FieldName quota{"Quota", "quota"};

struct Reading {
  bool protobuf;
  Diagnostics& problems;

  bool is(const ConfigField& field, FieldName wanted) const {
    return field.name == wanted.camel || (!protobuf && field.name == wanted.snake);
  }
  // Whether a field given twice is still to be said: keys alike in a map of YAML have been found before.
  bool is_news(bool alike) const { return protobuf || !alike; }
  std::string_view shown(FieldName field) const { return protobuf ? field.camel : field.snake; }
  void expected(const ConfigNode& node, std::string_view what, std::string hint = "") const {
    problems.add(node.place, fmt::format("expected {}, found {}", what, node.describe()), std::move(hint));
  }
};

// One message: each field is asked for by name, and what nobody asked for is reported at the end.
class Message {
 public:
  Message(const ConfigNode& node, const Reading& reading, std::string_view what) : node_(node), reading_(reading), what_(what) {
    if (node.kind != ConfigNode::Kind::message) reading.expected(node, fmt::format("{} with its fields", what));
  }

  // The one value of a field, or null.
  const ConfigNode* one(FieldName wanted) {
    const ConfigField* first = nullptr;
    for (const ConfigField& field : take(wanted)) {
      if (!reading_.is(field, wanted)) continue;
      if (first == nullptr) {
        first = &field;
      } else if (reading_.is_news(field.name == first->name)) {
        reading_.problems.add(
            field.place, fmt::format("{} of {} is given twice", quote(field.name), what_),
            fmt::format("the first is at line {}, column {}: keep one", first->place.line, first->place.column));
      }
    }
    return first != nullptr && has_value(*first) ? &first->value : nullptr;
  }
  const ConfigNode* required(FieldName wanted) {
    const auto before = reading_.problems.found();
    const ConfigNode* value = one(wanted);
    if (value == nullptr && node_.kind == ConfigNode::Kind::message && reading_.problems.found() == before)
      reading_.problems.add(node_.place, fmt::format("{} lacks the field {}", what_, quote(reading_.shown(wanted))), "add it");
    return value;
  }
  // All values of a repeated field: in protobuf text it is repeated or a list, in YAML a list.
  std::vector<const ConfigNode*> many(FieldName wanted, std::string_view of_what) {
    std::vector<const ConfigNode*> values;
    for (const ConfigField& field : take(wanted)) {
      if (!reading_.is(field, wanted) || !has_value(field)) continue;
      if (field.value.kind == ConfigNode::Kind::list) {
        for (const ConfigNode& item : field.value.items) values.push_back(&item);
      } else if (reading_.protobuf) {
        values.push_back(&field.value);
      } else {
        reading_.expected(field.value, fmt::format("a list of {}", of_what), "put it in brackets, or behind a dash");
      }
    }
    return values;
  }
  bool has(FieldName wanted) const {
    return std::ranges::any_of(node_.fields, [&](const ConfigField& field) { return reading_.is(field, wanted); });
  }

  void finish() const {
    for (const ConfigField& field : node_.fields) {
      if (std::ranges::any_of(known_, [&](FieldName known) { return reading_.is(field, known); })) continue;
      std::vector<std::string_view> names;
      // Past what is shown, a suggestion would only cost time.
      if (reading_.problems.found() < Diagnostics::most) {
        for (const FieldName known : known_) names.push_back(reading_.shown(known));
      }
      reading_.problems.add(field.place, fmt::format("unknown field {} of {}", quote(field.name), what_),
                            suggestion(field.name, names));
    }
  }

 private:
  const std::vector<ConfigField>& take(FieldName wanted) {
    known_.push_back(wanted);
    return node_.fields;
  }
  bool has_value(const ConfigField& field) const {
    if (field.value.kind != ConfigNode::Kind::nothing) return true;
    reading_.problems.add(field.value.place, fmt::format("{} of {} has no value", quote(field.name), what_),
                          "give one, or remove the field");
    return false;
  }

  const ConfigNode& node_;
  const Reading& reading_;
  std::string_view what_;
  std::vector<FieldName> known_;
};

std::optional<std::string> read_name(const ConfigNode& node, const Reading& reading) {
  const bool plain = node.kind == ConfigNode::Kind::plain && !reading.protobuf;
  if (plain || node.kind == ConfigNode::Kind::text) return node.text;
  reading.expected(node, "text", node.kind == ConfigNode::Kind::plain ? "put it in quotes" : "");
  return std::nullopt;
}

enum class Unit : std::uint8_t { none, bytes, time };

// A number with a unit, as YAML may have it.
Result<std::uint64_t> parse_with_unit(std::string_view text, Unit unit) {
  if (unit == Unit::bytes) return Bytes::parse(text).map(&Bytes::count);
  const auto duration = parse_duration(text);
  if (!duration) return fail(duration.error());
  if (duration->count() < 0) return fail(Code::invalid, "{} is negative: write 0 or more", quote(text));
  if (duration->count() % 1000 != 0) return fail(Code::invalid, "{} is no whole number of microseconds", quote(text));
  return static_cast<std::uint64_t>(duration->count()) / 1000;
}

Result<std::uint64_t> parse_yaml_number(std::string_view text, Unit unit) {
  const bool has_unit = !text.empty() && text.find_first_not_of("-+.0123456789") != std::string_view::npos;
  if (unit != Unit::none && has_unit) return parse_with_unit(text, unit);
  if (text.size() > 1 && text[0] == '0' && is_digit(text[1]))
    return fail(Code::invalid, "{} starts with a zero: some read that as octal, leave it out", quote(text));
  return parse_unsigned(text);
}

Result<std::uint64_t> parse_protobuf_number(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const bool octal = !hex && text.size() > 1 && text[0] == '0' && std::ranges::all_of(text, is_digit);
  if (!hex && !octal) return parse_unsigned(text);
  const std::string_view digits = text.substr(hex ? 2 : 1);
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 8);
  if (end != digits.data() + digits.size())
    return fail(Code::invalid, "{} is no octal number: after a leading 0 there are only the digits 0 to 7", quote(text));
  if (problem != std::errc()) return fail(Code::invalid, "{} is too large: at most {}", quote(text), unlimited);
  return number;
}

// YAML and JSON may have a number in quotes: so does protobuf's own JSON, which no double must round.
std::optional<std::uint64_t> read_number(const ConfigNode& node, const Reading& reading, Unit unit = Unit::none) {
  const bool quoted = node.kind == ConfigNode::Kind::text && !reading.protobuf;
  if (node.kind != ConfigNode::Kind::plain && !quoted) {
    const bool digits = node.kind == ConfigNode::Kind::text && parse_unsigned(node.text).has_value();
    reading.expected(node, "a whole number", digits ? "remove the quotes" : "");
    return std::nullopt;
  }
  const auto number = reading.protobuf ? parse_protobuf_number(node.text) : parse_yaml_number(node.text, unit);
  if (number) return *number;
  reading.problems.add(node.place, number.error().message);
  return std::nullopt;
}

// `Resource: 2 Resource: 17179869184`: by position.
Amounts read_positions(const ConfigNode& node, const Reading& reading) {
  Message message(node, reading, "a limit");
  const auto values = message.many(resource, "amounts");
  Amounts amounts;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (at == 2) {
      reading.problems.add(
          values[at]->place, "a limit by position has two amounts, cpu and memory",
          reading.protobuf ? "give others by name: Limit { Cpu: 2 disk: 5 }" : "give others by name: {cpu: 2, disk: 5}");
      break;
    }
    const auto amount = read_number(*values[at], reading, at == 0 ? Unit::none : Unit::bytes);
    if (amount) amounts.emplace_back(at == 0 ? "cpu" : "memory", *amount);
  }
  return amounts;
}

std::optional<std::string> read_resource_name(const ConfigField& field, const Reading& reading) {
  if (field.name == "Cpu") return "cpu";
  if (field.name == "Memory") return "memory";
  if (!is_reserved_resource(field.name)) return field.name;
  reading.problems.add(
      field.place, fmt::format("unknown resource {}", quote(field.name)),
      reading.protobuf ? "write Cpu, Memory or Resource, or rename it" : "write cpu, memory or resource, or rename it");
  return std::nullopt;
}

Amounts read_limit(const ConfigNode& node, const Reading& reading) {
  const auto positional = [&](const ConfigField& field) { return reading.is(field, resource); };
  const auto position = std::ranges::find_if(node.fields, positional);
  const auto by_name = std::ranges::find_if_not(node.fields, positional);
  if (position != node.fields.end() && by_name != node.fields.end()) {
    reading.problems.add(std::max(position->place, by_name->place), "a limit is either by position or by name, not both",
                         "give all amounts by name");
    return {};
  }
  if (position != node.fields.end() || node.kind != ConfigNode::Kind::message) return read_positions(node, reading);
  Amounts amounts;
  std::map<std::string, std::string_view> seen;
  for (const ConfigField& field : node.fields) {
    const auto found = read_resource_name(field, reading);
    if (!found) continue;
    if (const auto [first, added] = seen.emplace(*found, field.name); !added) {
      if (!reading.is_news(field.name == first->second)) continue;
      reading.problems.add(field.place, fmt::format("{} of a limit is given twice", quote(field.name)), "keep one");
      continue;
    }
    const auto amount = read_number(field.value, reading, *found == "cpu" ? Unit::none : Unit::bytes);
    if (amount) amounts.emplace_back(*found, *amount);
  }
  return amounts;
}

ConfigPatch::Queue read_queue(const ConfigNode& node, const Reading& reading) {
  Message message(node, reading, "a queue");
  ConfigPatch::Queue out;
  if (const auto* value = message.required(name)) out.name = read_name(*value, reading).value_or("");
  if (const auto* value = message.one(weight)) out.weight = read_number(*value, reading);
  if (const auto* value = message.one(limit)) out.limit = read_limit(*value, reading);
  message.finish();
  return out;
}

ConfigPatch::Type read_task(const ConfigNode& node, const Reading& reading, Whole whole) {
  Message message(node, reading, "a task");
  ConfigPatch::Type out;
  if (const auto* value = message.required(name)) out.name = read_name(*value, reading).value_or("");
  if (const auto* value = whole == Whole::yes ? message.required(queue_name) : message.one(queue_name))
    out.queue = read_name(*value, reading);
  if (const auto* value = message.one(default_duration)) {
    if (const auto micros = read_number(*value, reading, Unit::time)) out.default_duration = Micros(*micros);
  }
  message.finish();
  return out;
}

ConfigPatch read_broker(const ConfigNode& node, const Reading& reading, Whole whole) {
  Message message(node, reading, "a broker's config");
  ConfigPatch out;
  for (const auto* value : message.many(queues, "queues")) out.queues.push_back(read_queue(*value, reading));
  for (const auto* value : message.many(tasks, "tasks")) out.types.push_back(read_task(*value, reading, whole));
  if (const auto* value = message.one(resource_limit)) out.limit = read_limit(*value, reading);
  message.finish();
  return out;
}

ConfigPatch read_compaction(const ConfigNode& node, const Reading& reading) {
  Message message(node, reading, "a compaction broker");
  std::vector<LegacyQueue> legacy;
  std::set<std::uint64_t> seen;
  const auto before = reading.problems.found();
  for (const auto* value : message.many(queue, "queues")) {
    Message fields(*value, reading, "a compaction queue");
    const auto* id = fields.required(queue_id);
    const auto* amount = fields.required(quota);
    fields.finish();
    const auto number = id != nullptr ? read_number(*id, reading) : std::nullopt;
    const auto cpu = amount != nullptr ? read_number(*amount, reading) : std::nullopt;
    if (!number || !cpu) continue;
    if (!seen.insert(*number).second) {
      reading.problems.add(id->place, fmt::format("{} {} is given twice", reading.shown(queue_id), *number), "keep one");
      continue;
    }
    legacy.push_back({.id = *number, .quota = *cpu});
  }
  message.finish();
  if (reading.problems.found() > before) return {};
  if (legacy.empty()) {
    reading.problems.add(node.place, "a compaction broker without queues", "add one at least");
    return {};
  }
  auto converted = convert_compaction(legacy);
  if (!converted) reading.problems.add(node.place, converted.error().message, "make the quotas smaller");
  return converted.value_or(ConfigPatch());
}

}  // namespace

ConfigPatch read_config(ConfigTree& tree, Whole whole) {
  const Reading reading{tree.protobuf, tree.problems};
  Message top(tree.root, reading, "a config");
  if (tree.root.kind != ConfigNode::Kind::message) return {};
  for (const FieldName shape : {wrapper, compaction_broker}) {
    if (!top.has(shape)) continue;
    for (const ConfigField& field : tree.root.fields) {
      if (reading.is(field, shape)) continue;
      reading.problems.add(field.place, fmt::format("{} stands beside {}", quote(field.name), quote(reading.shown(shape))),
                           "keep only one of them in this file");
    }
    const ConfigNode* inner = top.one(shape);
    if (inner == nullptr) return {};
    return shape.camel == wrapper.camel ? read_broker(*inner, reading, whole) : read_compaction(*inner, reading);
  }
  return read_broker(tree.root, reading, whole);
}

}  // namespace evenkeel::broker
