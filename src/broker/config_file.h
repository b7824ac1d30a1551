#pragma once
// A broker's config as text, in four forms, read by one function that tells them apart, and written in any of them.
//
//   auto config = parse_config(text, "broker.yaml");                       // or broker.txt, as YDB writes it
//   std::string text = format_config(*config, ConfigForm::protobuf);
//
//   yaml, json   queues: [{name, weight, limit: {cpu, memory, …}}], tasks: [{name, queue_name, default_duration}],
//                resource_limit: {…}; durations in microseconds or with a unit ("30s"); a limit also as {resource: [2, 1073741824]}
//   protobuf     YDB's text: Queues { Name: "q" Weight: 30 Limit { Cpu: 2 } } Tasks { … QueueName … DefaultDuration … } ResourceLimit { … }
//   compaction   the old CompactionBroker { Queue { QueueID: 0 Quota: 10 } … }, turned into queues `queue_legacyN`
//
// What is wrong is said with its line and column, all of it at once. Reading does not check what `check(config)` does: that is
// configure's to refuse. parse(format(c)) == c for every config and form, but for `compaction`, which can say only what it
// could have said: the others are refused with the reason.

#include <cstdint>
#include <string>
#include <string_view>

#include "evenkeel/base/diagnostic.h"
#include "evenkeel/broker/config.h"

namespace evenkeel::broker {

enum class ConfigForm : std::uint8_t { yaml, json, protobuf, compaction };

// `file` is for messages; the form is told from the text itself.
Parsed<Config> parse_config(std::string_view text, std::string file);
Parsed<ConfigPatch> parse_patch(std::string_view text, std::string file);

// Whether a text is read as protobuf text, and not as YAML or JSON.
bool is_protobuf_text(std::string_view text);

// Code::invalid for a name that no form can hold: not UTF-8, above 64 KiB, or a resource that would be read as cpu or memory.
Result<std::string> format_config(const Config& config, ConfigForm form);

}  // namespace evenkeel::broker
