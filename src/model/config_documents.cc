// The documents that operators write and that share their text with cluster files: config and workloads.

#include <algorithm>
#include <bit>

#include "evenkeel/base/later.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"
#include "evenkeel/model/detail/codec.h"
#include "evenkeel/model/detail/part_reader.h"
#include "evenkeel/model/detail/write_parts.h"
#include "evenkeel/model/documents.h"

namespace evenkeel {
namespace {

using detail::PartReader;
using Flow = Writer::Flow;

constexpr std::uint32_t buckets_max = 1u << 26;  // of 32 shards: more than a workload can have

void write_reason(Writer& out, const std::string& reason, std::optional<Duration> timeout) {
  if (!reason.empty()) out.key("reason").text(reason);
  detail::write_duration(out, "timeout", timeout, std::nullopt);
}

void read_reason(FieldReader& fields, Diagnostics& problems, std::string& reason, std::optional<Duration>& timeout) {
  fields.text("reason", reason);
  fields.read("timeout", timeout, [&](Value v) { return read_duration(v, problems); });
}

// Adds what check() finds, at its place: `skip` parts of a path lead to the document itself.
void add_checked(PartReader& reader, const Cluster& cluster, Value root, std::size_t skip) {
  if (!reader.problems().empty()) return;
  for (const Problem& problem : check(cluster)) {
    const bool own = skip == 0 || (problem.path.size() > skip && problem.path[0] == "workloads" && problem.path[1] == "0");
    const auto path = std::span(problem.path).subspan(own ? skip : problem.path.size());
    reader.problems().add(detail::place_of(root, path, problem.at_key), problem.message, problem.hint);
  }
}

void read_pins(PartReader& reader, Value value, std::map<ShardIndex, std::vector<NodeId>>& out) {
  expect_map(value, reader.problems(), "shards and their nodes");
  for (const auto [key, nodes] : value.pairs()) {
    const auto shard = reader.read_shard_key(key);
    auto names = reader.read_list<NodeId>(nodes, "nodes", [&](Value v) { return reader.read_id<NodeId>(v); });
    if (shard && names && !out.emplace(*shard, *std::move(names)).second)
      reader.problems().add(key.place(), fmt::format("shard {} is pinned twice", *shard), "keep one");
  }
}

// The smallest cluster that this workload may be in: what it names of others is there. Its state model is known by config alone.
Cluster cluster_around(const WorkloadDocument& document) {
  Cluster out{.name = ClusterId("c")};
  Workload workload = document.spec;
  if (workload.spread) out.settings.levels = {workload.spread->level}, out.settings.spread = *workload.spread;
  std::map<NodeId, std::uint32_t> indexes;
  for (const auto& [shard, nodes] : document.pinned) {
    workload.pinned.shards.push_back(shard);
    for (const NodeId& node : nodes) {
      const auto [at, added] = indexes.try_emplace(node, static_cast<std::uint32_t>(out.nodes.size()));
      if (added) out.nodes.push_back({.name = node});
      workload.pinned.nodes.add(NodeIndex(at->second));
    }
    workload.pinned.nodes.end_row();
  }
  if (find_built_in(workload.state_model.str()) == nullptr) {
    StateModelSpec spec{.name = workload.state_model,
                        .states = {{StateId("on"), {StateCount::Kind::nodes}}, {StateId("off"), {}}},
                        .initial = StateId("off"),
                        .transitions = {{StateId("off"), StateId("on")}, {StateId("on"), StateId("off")}}};
    if (auto model = StateModel::make(std::move(spec))) out.state_models.push_back(*std::move(model));  // its name may be no name
  }
  out.workloads.push_back(workload);
  for (const auto* others : {&workload.apart_from, &workload.close_to}) {
    for (const WorkloadId& other : *others) {
      if (std::ranges::find(out.workloads, other, &Workload::name) == out.workloads.end())
        out.workloads.push_back({.name = other});
    }
  }
  return out;
}

// A setting that only a later version knows.
std::string in_settings(std::string config) {
  constexpr std::string_view before = "\"settings\": {";
  const std::size_t at = is_later ? config.find(before) : std::string::npos;
  if (at != std::string::npos) config.insert(at + before.size(), fmt::format("\"{}\": {}, ", later_key, later_value));
  return config;
}

template <class T>
Result<T> outcome(PartReader& reader, T&& value) {
  if (!reader.problems().empty()) return tl::unexpected(reader.problems().to_error());
  return std::forward<T>(value);
}

}  // namespace

std::string format(const ConfigDocument& document) {
  Writer out(Syntax::json);
  out.begin_map().key("format").number(format_written);
  detail::write_settings(out, document.settings);
  detail::write_models(out, document.state_models);
  if (document.freeze) {
    out.key("freeze").begin_map(Flow::line);
    detail::write_flag(out, "keep_leaders", document.freeze->keep_leaders, false);
    write_reason(out, document.freeze->reason, document.freeze->timeout);
    out.end_map();
  }
  if (document.maintenance) {
    out.key("maintenance").begin_map(Flow::line);
    write_reason(out, document.maintenance->reason, document.maintenance->timeout);
    out.end_map();
  }
  detail::write_flag(out, "compact", document.compact, false);
  out.end_map();
  return with_later_field(in_settings(std::move(out).take()));
}

Result<ConfigDocument> parse_config(std::string_view text, std::string_view where) {
  if (auto wrong = detail::check_format(text, where, format_written); !wrong) return tl::unexpected(std::move(wrong.error()));
  const auto document = Document::parse(text, std::string(where), Syntax::json);
  if (!document) return tl::unexpected(document.error().to_error());
  PartReader reader(document->problems(), PartReader::Unknown::overlooked);
  FieldReader fields(document->root(), reader.problems(), "a config");
  ConfigDocument out;
  if (const auto value = fields.take("settings")) reader.read_settings(*value, out.settings);
  fields.read("state_models", out.state_models, [&](Value v) {
    return reader.read_list<StateModel>(v, "state models", [&](Value item) { return reader.read_model(item); });
  });
  if (const auto value = fields.take("freeze")) {
    FieldReader parts(*value, reader.problems(), "a freeze");
    Freeze& freeze = out.freeze.emplace();
    parts.flag("keep_leaders", freeze.keep_leaders);
    read_reason(parts, reader.problems(), freeze.reason, freeze.timeout);
  }
  if (const auto value = fields.take("maintenance")) {
    FieldReader parts(*value, reader.problems(), "maintenance");
    Maintenance& maintenance = out.maintenance.emplace();
    read_reason(parts, reader.problems(), maintenance.reason, maintenance.timeout);
  }
  fields.flag("compact", out.compact);
  Cluster cluster{.name = ClusterId("c"), .settings = out.settings, .state_models = out.state_models};
  add_checked(reader, cluster, document->root(), 0);
  return outcome(reader, std::move(out));
}

std::string format(const WorkloadDocument& document) {
  Writer out(Syntax::json);
  out.begin_map()
      .key("format")
      .number(document.split_from > 0 ? format_split : format_written)
      .key("buckets")
      .number(document.buckets);
  detail::write_flag(out, "deleted", document.deleted, false);
  detail::write_count(out, "highest", document.highest.value(), 0);
  detail::write_count(out, "split_from", document.split_from, 0);
  detail::write_workload_fields(out, document.spec);
  if (!document.pinned.empty()) {
    out.key("pinned").begin_map();
    for (const auto& [shard, nodes] : document.pinned) {
      out.key(fmt::format("{}", shard)).begin_list(Flow::line);
      for (const NodeId& node : nodes) out.text(node.str());
      out.end_list();
    }
    out.end_map();
  }
  out.end_map();
  return with_later_field(std::move(out).take());
}

Result<WorkloadDocument> parse_workload(std::string_view text, const WorkloadId& workload, std::string_view where) {
  if (auto wrong = detail::check_format(text, where, format_split); !wrong) return tl::unexpected(std::move(wrong.error()));
  const auto document = Document::parse(text, std::string(where), Syntax::json);
  if (!document) return tl::unexpected(document.error().to_error());
  PartReader reader(document->problems(), PartReader::Unknown::overlooked);
  FieldReader fields(document->root(), reader.problems(), "a workload");
  WorkloadDocument out;
  out.spec.name = workload;
  fields.required("buckets", out.buckets, [&](Value v) -> std::optional<std::uint64_t> {
    const auto count = read_count(v, reader.problems(), {.least = 1, .most = buckets_max});
    if (count && !std::has_single_bit(*count))
      reader.problems().add(v.place(), fmt::format("{} buckets: their number is a power of two", *count));
    return count;
  });
  fields.flag("deleted", out.deleted);
  fields.read("highest", out.highest, [&](Value v) {
    return read_count(v, reader.problems(), {.most = std::numeric_limits<std::uint64_t>::max()}).transform([](auto n) {
      return Epoch(n);
    });
  });
  const auto split_from = fields.take("split_from");
  if (split_from) {
    if (const auto count = read_count(*split_from, reader.problems(), {.most = shards_max}))
      out.split_from = static_cast<std::uint32_t>(*count);
  }
  reader.read_workload_fields(fields, out.spec);
  if (out.split_from > 0 && std::uint64_t{out.split_from} * 2 != out.spec.shards)
    reader.problems().add(split_from->place(), fmt::format("{} shards do not come of {}: a split makes twice as many",
                                                           out.spec.shards, out.split_from));
  if (const auto value = fields.take("pinned")) read_pins(reader, *value, out.pinned);
  add_checked(reader, cluster_around(out), document->root(), 2);
  return outcome(reader, std::move(out));
}

}  // namespace evenkeel
