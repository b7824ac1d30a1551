#include <algorithm>
#include <array>
#include <numeric>

#include "evenkeel/base/text.h"
#include "evenkeel/model/detail/cluster_reader.h"
#include "evenkeel/model/detail/control_fields.h"

namespace evenkeel::detail {
namespace {

constexpr std::string_view weight_resource = "weight";

std::string_view column_name(const ResourceId& resource) { return resource.str(); }

// Sorts the rows of a table by shard; `rows` are places in it.
std::vector<std::uint32_t> order_by_shard(const std::vector<ShardIndex>& shards) {
  std::vector<std::uint32_t> order(shards.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return shards[i]; });
  return order;
}

// Columns that are zero throughout say nothing: without them equal loads are equal tables.
void drop_empty_columns(ShardLoads& loads) {
  const std::size_t width = loads.resources.size();
  std::vector<std::size_t> kept;
  for (std::size_t column = 0; column < width; ++column) {
    for (std::size_t i = column; i < loads.values.size(); i += width) {
      if (loads.values[i] == Quantity()) continue;
      kept.push_back(column);
      break;
    }
  }
  if (kept.size() == width) return;
  ShardLoads out;
  for (const std::size_t column : kept) out.resources.push_back(loads.resources[column]);
  for (std::size_t row = 0; row < loads.shards.size(); ++row) {
    for (const std::size_t column : kept) out.values.push_back(loads.values[row * width + column]);
  }
  out.shards = std::move(loads.shards);
  loads = std::move(out);
}

}  // namespace

void ClusterReader::read_workloads(Value value) {
  workloads_sound_ = expect_list(value, problems_, "workloads");
  for (const Value item : value.items()) read_workload(item);
}

void ClusterReader::read_workload(Value value) {
  const auto before = trouble();
  FieldReader fields(value, problems_, "a workload");
  Workload& out = cluster_.workloads.emplace_back();
  workloads_sound_ &= fields.required("name", out.name, [&](Value v) { return read_id<WorkloadId>(v); });
  read_workload_fields(fields, out);
  fields.read("pinned", out.pinned, [&](Value v) { return read_pins(v); });
  fields.finish();
  mark_if_spoilt(before, "workloads", out.name.str());
}

void PartReader::read_workload_fields(FieldReader& fields, Workload& out) {
  const auto workload_ids = [&](Value v) {
    return read_list<WorkloadId>(v, "workloads", [&](Value item) { return read_id<WorkloadId>(item); });
  };
  fields.required("shards", out.shards, [&](Value v) { return read_count(v, problems_, {.most = shards_max}); });
  fields.count("replicas", out.replicas, {.least = 1, .most = replicas_max});
  fields.read("state_model", out.state_model, [&](Value v) -> std::optional<StateModelId> {
    auto text = read_text(v, problems_);
    if (!text) return std::nullopt;
    const StateModel* model = find_built_in(*text);  // by its own name or Helix's; a user's own has neither
    return model != nullptr ? model->name() : StateModelId(*std::move(text));
  });
  read_loads(fields, out);
  fields.read("move_cost", out.move_cost, [&](Value v) { return read_quantity(v, problems_); });
  fields.read("require", out.require, [&](Value v) { return read_labels(v); });
  fields.read("tolerate", out.tolerate, [&](Value v) {
    return read_list<Toleration>(v, "tolerations", [&](Value item) { return read_toleration(item); });
  });
  fields.read("spread", out.spread, [&](Value v) { return read_spread(v); });
  fields.read("apart_from", out.apart_from, workload_ids);
  fields.read("close_to", out.close_to, workload_ids);
  fields.flag("system", out.system);
  read_control(fields, out.control);
}

void PartReader::read_control(FieldReader& fields, WorkloadControl& out) {
  static constexpr std::array<std::string_view, 2> fencings = {"session", "epoch"}, key_maps = {"hash", "range"};
  const auto duration = [&](Value v) { return read_duration(v, problems_); };
  fields.read("min_active", out.min_active, [&](Value v) { return read_number(v); });
  fields.read("rebalance_delay", out.rebalance_delay, duration);
  fields.read("fencing", out.fencing, [&](Value v) {
    return read_word(v, problems_, "session or epoch", fencings).transform([](auto i) { return static_cast<Fencing>(i); });
  });
  fields.count("acks", out.acks);
  fields.count("lag_max", out.lag_max, {.most = std::numeric_limits<std::uint64_t>::max()});
  for (const auto& [name, member] : workload_durations) fields.read(name, out.*member, duration);
  fields.read("key_map", out.key_map, [&](Value v) {
    return read_word(v, problems_, "hash or range", key_maps).transform([](auto i) { return static_cast<KeyMap>(i); });
  });
  fields.text("metadata", out.metadata);
}

void PartReader::read_loads(FieldReader& fields, Workload& workload) {
  const auto amounts = [&](Value v) { return read_amounts(v); };
  fields.read("load", workload.load, amounts);
  fields.read("leader_load", workload.leader_load, amounts);
  fields.read("shard_loads", workload.shard_loads, [&](Value v) { return read_shard_loads(v); });
  const auto weight = fields.take("weight");
  const auto quantity = weight ? read_quantity(*weight, problems_) : std::nullopt;
  if (!quantity) return;
  if (!workload.load.emplace(ResourceId(std::string(weight_resource)), *quantity).second) {
    problems_.add(weight->place(), "weight is given twice: it is short for load: {weight: …}", "keep one of the two");
  }
}

std::optional<ShardIndex> PartReader::read_shard_key(Value key) {
  const auto number = parse_unsigned(key.text());
  if (number && *number <= shards_max) return ShardIndex(static_cast<std::uint32_t>(*number));
  problems_.add(key.place(), fmt::format("{} is not a shard's number", quote(key.text())), "shards are numbered from 0");
  return std::nullopt;
}

// Which resources the loads of single shards name, sorted. Nothing if they are not what they should be.
std::optional<std::vector<ResourceId>> PartReader::read_load_columns(Value value) {
  constexpr std::size_t columns_max = 256;
  std::vector<ResourceId> columns;
  std::size_t pairs = 0;
  for (const auto [key, loads] : value.pairs()) {
    if (!expect_map(loads, problems_, "resources and quantities")) return std::nullopt;
    pairs += loads.size();
    for (const auto [resource, amount] : loads.pairs()) {
      const auto at = std::ranges::lower_bound(columns, resource.text(), {}, &column_name);
      if (at != columns.end() && at->str() == resource.text()) continue;
      if (const auto why = why_not_a_name(resource.text())) problems_.add(resource.place(), *why);
      columns.insert(at, ResourceId(std::string(resource.text())));
      if (columns.size() <= columns_max) continue;
      problems_.add(resource.place(), fmt::format("more than {} resources in shard_loads", columns_max),
                    "check that they are not shards");
      return std::nullopt;
    }
  }
  // The table is dense. One that would be mostly empty and large besides is not what anyone means.
  constexpr std::size_t cells_always = 1u << 24;
  if (value.size() * columns.size() > std::max(cells_always, 2 * pairs)) {
    problems_.add(value.place(),
                  fmt::format("{} shards with loads in {} resources, most of them not given", value.size(), columns.size()),
                  "use fewer resources");
    return std::nullopt;
  }
  return columns;
}

std::optional<ShardLoads> PartReader::read_shard_loads(Value value) {
  if (!expect_map(value, problems_, "shards and their loads")) return std::nullopt;
  auto columns = read_load_columns(value);
  if (!columns) return std::nullopt;
  ShardLoads read{.resources = *std::move(columns)};
  const std::size_t width = read.resources.size();
  read.shards.reserve(value.size());
  read.values.reserve(value.size() * width);
  for (const auto [key, loads] : value.pairs()) {
    const auto shard = read_shard_key(key);
    if (!shard) continue;
    read.shards.push_back(*shard);
    read.values.resize(read.values.size() + width);
    for (const auto [resource, amount] : loads.pairs()) {
      const auto at = std::ranges::lower_bound(read.resources, resource.text(), {}, &column_name);
      const auto quantity = read_quantity(amount, problems_);
      if (quantity)
        read.values[(read.shards.size() - 1) * width + static_cast<std::size_t>(at - read.resources.begin())] = *quantity;
    }
  }
  sort_by_shard(value, read);
  drop_empty_columns(read);
  return read;
}

void PartReader::sort_by_shard(Value value, ShardLoads& loads) {
  if (!std::ranges::is_sorted(loads.shards)) {
    const std::size_t width = loads.resources.size();
    ShardLoads out{.resources = loads.resources};
    out.shards.reserve(loads.shards.size());
    out.values.reserve(loads.values.size());
    for (const std::uint32_t row : order_by_shard(loads.shards)) {
      out.shards.push_back(loads.shards[row]);
      const auto from = loads.values.begin() + static_cast<std::ptrdiff_t>(row * width);
      out.values.insert(out.values.end(), from, from + static_cast<std::ptrdiff_t>(width));
    }
    loads = std::move(out);
  }
  const auto twice = std::ranges::adjacent_find(loads.shards);
  if (twice != loads.shards.end()) problems_.add(value.place(), fmt::format("shard {} has two loads", *twice), "keep one");
}

std::optional<Pins> ClusterReader::read_pins(Value value) {
  if (!expect_map(value, problems_, "shards and their nodes")) return std::nullopt;
  Pins read;
  for (const auto [key, nodes] : value.pairs()) {
    const auto shard = read_shard_key(key);
    if (!shard || !expect_list(nodes, problems_, "nodes")) continue;
    for (const Value node : nodes.items()) {
      if (const auto index = find_node(node)) read.nodes.add(*index);
    }
    read.nodes.end_row();
    read.shards.push_back(*shard);
  }
  Pins out;
  for (const std::uint32_t row : order_by_shard(read.shards)) {
    if (!out.shards.empty() && out.shards.back() == read.shards[row]) {
      problems_.add(value.place(), fmt::format("shard {} is pinned twice", read.shards[row]), "keep one");
    }
    out.shards.push_back(read.shards[row]);
    out.nodes.push_back(read.nodes[row]);
  }
  return out;
}

std::optional<Toleration> PartReader::read_toleration(Value value) {
  FieldReader fields(value, problems_, "a toleration");
  Toleration out;
  fields.required("key", out.key, [&](Value v) { return read_text(v, problems_); });
  fields.read("value", out.value, [&](Value v) { return read_text(v, problems_); });
  finish(fields);
  return out;
}

}  // namespace evenkeel::detail
