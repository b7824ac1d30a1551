#pragma once
// How the parts that cluster files and store documents have in common are written. A field is written only where it differs from what its
// reader (part_reader.h) would assume.

#include <optional>
#include <span>
#include <string_view>

#include "evenkeel/base/write.h"
#include "evenkeel/model/cluster.h"

namespace evenkeel::detail {

void write_count(Writer& out, std::string_view name, std::uint64_t value, std::uint64_t usual);
void write_flag(Writer& out, std::string_view name, bool value, bool usual);
void write_ratio(Writer& out, std::string_view name, std::optional<Ratio> value, std::optional<Ratio> usual);
void write_duration(Writer& out, std::string_view name, std::optional<Duration> value, std::optional<Duration> usual);

void write_amounts(Writer& out, std::string_view name, const Amounts& amounts);
void write_labels(Writer& out, std::string_view name, const Labels& labels);

// The sections `settings` and `state_models`, if there is something to say in them.
void write_settings(Writer& out, const Settings& settings);
void write_models(Writer& out, std::span<const StateModel> models);

// All of a workload but its name and its pins.
void write_workload_fields(Writer& out, const Workload& workload);

}  // namespace evenkeel::detail
