#include "evenkeel/broker/config_file.h"

#include <set>

#include "evenkeel/base/document.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"
#include "evenkeel/broker/detail/compaction_form.h"
#include "evenkeel/broker/detail/config_names.h"
#include "evenkeel/broker/detail/config_reader.h"
#include "evenkeel/broker/detail/config_tree.h"
#include "evenkeel/broker/detail/protobuf_text.h"

namespace evenkeel::broker {
namespace {

Parsed<ConfigPatch> parse(std::string_view text, std::string file, Whole whole) {
  auto tree = read_config_tree(text, std::move(file));
  if (!tree) return unexpected(std::move(tree.error()));
  auto patch = read_config(*tree, whole);
  if (!tree->problems.empty()) return unexpected(std::move(tree->problems));
  return patch;
}

Result<void> check_name(std::string_view name) {
  if (find_invalid_utf8(name)) return fail(Code::invalid, "the name {} is not valid UTF-8", quote(name));
  if (name.size() <= Document::scalar_max) return {};
  return fail(Code::invalid, "the name {} has more than {} bytes", quote(name), Document::scalar_max);
}

Result<void> check_file_amounts(const Amounts& amounts) {
  std::set<std::string_view> seen;
  for (const auto& [resource, amount] : amounts) {
    if (auto right = check_name(resource); !right) return right;
    if (is_reserved_resource(resource)) return fail(Code::invalid, "a resource may not be named {}", quote(resource));
    if (!seen.insert(resource).second) return fail(Code::invalid, "resource {} is given twice in one limit", quote(resource));
  }
  return {};
}

// Whether every form could hold it.
Result<void> check_writable(const Config& config) {
  for (const QueueSpec& queue : config.queues) {
    if (auto right = check_name(queue.name); !right) return right;
    if (auto right = check_file_amounts(queue.limit); !right) return right;
  }
  for (const TypeSpec& type : config.types) {
    if (auto right = check_name(type.name); !right) return right;
    if (auto right = check_name(type.queue); !right) return right;
  }
  return check_file_amounts(config.limit);
}

void write_amounts(Writer& out, const Amounts& amounts) {
  out.begin_map(Writer::Flow::line);
  for (const auto& [resource, amount] : amounts) out.key(resource).number(amount);
  out.end_map();
}

// Plain microseconds and bytes, though units would read better: YDB takes nothing else.
std::string format_document(const Config& config, Syntax syntax) {
  Writer out(syntax);
  out.begin_map().key("queues").begin_list();
  for (const QueueSpec& queue : config.queues) {
    out.begin_map(Writer::Flow::line).key("name").text(queue.name).key("weight").number(queue.weight);
    if (!queue.limit.empty()) write_amounts(out.key("limit"), queue.limit);
    out.end_map();
  }
  out.end_list().key("tasks").begin_list();
  for (const TypeSpec& type : config.types) {
    out.begin_map(Writer::Flow::line).key("name").text(type.name).key("queue_name").text(type.queue);
    out.key("default_duration").number(type.default_duration.count()).end_map();
  }
  out.end_list();
  write_amounts(out.key("resource_limit"), config.limit);
  out.end_map();
  return std::move(out).take();
}

std::string protobuf_amounts(const Amounts& amounts) {
  std::string out = "{";
  for (const auto& [resource, amount] : amounts) {
    const std::string name = resource == "cpu"            ? "Cpu"
                             : resource == "memory"       ? "Memory"
                             : is_protobuf_name(resource) ? resource
                                                          : protobuf_quoted(resource);
    out += fmt::format(" {}: {}", name, amount);
  }
  return out + " }";
}

std::string format_protobuf(const Config& config) {
  std::string out;
  for (const QueueSpec& queue : config.queues) {
    out += fmt::format("Queues {{\n  Name: {}\n  Weight: {}\n", protobuf_quoted(queue.name), queue.weight);
    if (!queue.limit.empty()) out += fmt::format("  Limit {}\n", protobuf_amounts(queue.limit));
    out += "}\n";
  }
  for (const TypeSpec& type : config.types) {
    out += fmt::format("Tasks {{\n  Name: {}\n  QueueName: {}\n  DefaultDuration: {}\n}}\n", protobuf_quoted(type.name),
                       protobuf_quoted(type.queue), type.default_duration.count());
  }
  return out + fmt::format("ResourceLimit {}\n", protobuf_amounts(config.limit));
}

Result<std::string> format_compaction(const Config& config) {
  const auto queues = to_compaction(config);
  if (!queues) return fail(queues.error());
  std::string out = "CompactionBroker {\n";
  for (const LegacyQueue& queue : *queues) out += fmt::format("  Queue {{ QueueID: {} Quota: {} }}\n", queue.id, queue.quota);
  return out + "}\n";
}

}  // namespace

Parsed<Config> parse_config(std::string_view text, std::string file) {
  auto patch = parse(text, std::move(file), Whole::yes);
  if (!patch) return unexpected(std::move(patch.error()));
  Config config;
  for (auto& queue : patch->queues)
    config.queues.push_back({std::move(queue.name), queue.weight.value_or(0), std::move(queue.limit)});
  for (auto& type : patch->types)
    config.types.push_back({std::move(type.name), std::move(type.queue).value_or(""), type.default_duration.value_or(Micros(0))});
  config.limit = std::move(patch->limit);
  return config;
}

Parsed<ConfigPatch> parse_patch(std::string_view text, std::string file) { return parse(text, std::move(file), Whole::no); }

bool is_protobuf_text(std::string_view text) { return is_protobuf_config(text); }

Result<std::string> format_config(const Config& config, ConfigForm form) {
  if (auto right = check_writable(config); !right) return fail(right.error());
  switch (form) {
    case ConfigForm::yaml:
      return format_document(config, Syntax::yaml);
    case ConfigForm::json:
      return format_document(config, Syntax::json);
    case ConfigForm::protobuf:
      return format_protobuf(config);
    case ConfigForm::compaction:
      break;
  }
  return format_compaction(config);
}

}  // namespace evenkeel::broker
