#include "evenkeel/base/text.h"
#include "evenkeel/model/detail/cluster_reader.h"

namespace evenkeel::detail {

void ClusterReader::index_nodes() {
  nodes_by_name_.reserve(cluster_.nodes.size());
  for (std::uint32_t i = 0; i < cluster_.nodes.size(); ++i) nodes_by_name_.emplace(cluster_.nodes[i].name.str(), i);
}

std::optional<NodeIndex> ClusterReader::find_node(Value value) {
  if (!value.is_scalar()) {
    problems_.add(value.place(), fmt::format("expected a node's name, found {}", value.describe()));
    return std::nullopt;
  }
  const auto found = nodes_by_name_.find(value.text());
  if (found != nodes_by_name_.end()) return NodeIndex(found->second);
  if (!nodes_sound_) {
    ++unsaid_;
    return std::nullopt;
  }
  std::string hint;
  if (problems_.found() < Diagnostics::most) {  // a suggestion looks at every node: not for what is not shown
    std::vector<std::string_view> names;
    for (const Node& node : cluster_.nodes) names.push_back(node.name.str());
    if (const auto near = nearest(value.text(), names)) hint = fmt::format("did you mean {}?", quote(*near));
  }
  problems_.add(value.place(), fmt::format("there is no node {}", quote(value.text())),
                hint.empty() ? "list it under nodes" : std::move(hint));
  return std::nullopt;
}

// Rows of cells under each workload: `placement` and `cores` have one shape.
template <class Cell>
void ClusterReader::read_tables(Value value, std::string_view section, std::map<WorkloadId, Rows<Cell>>& out,
                                std::string_view cells, const std::function<std::optional<Cell>(Value)>& read) {
  const auto before_all = trouble();
  expect_map(value, problems_, "workloads and their rows");
  mark_if_spoilt(before_all, section, "");
  for (const auto [key, rows] : value.pairs()) {
    const auto before = trouble();
    if (expect_list(rows, problems_, "rows, one for each shard")) {
      Rows<Cell>& table = out[WorkloadId(std::string(key.text()))];
      table.reserve(rows.size(), 0);
      for (const Value row : rows.items()) {
        expect_list(row, problems_, cells);
        for (const Value item : row.items()) {
          if (const auto cell = read(item)) table.add(*cell);
        }
        table.end_row();
      }
    }
    mark_if_spoilt(before, section, key.text());
  }
}

void ClusterReader::read_placement(Value value) {
  read_tables<NodeIndex>(value, "placement", cluster_.placement, "nodes", [&](Value v) { return find_node(v); });
}

void ClusterReader::read_cores(Value value) {
  read_tables<Core>(value, "cores", cluster_.cores, "cores", [&](Value v) {
    return read_count(v, problems_, {.most = cores_max - 1}).transform([](auto n) {
      return Core(static_cast<std::uint16_t>(n));
    });
  });
}

void ClusterReader::read_moving(Value value) {
  if (!expect_list(value, problems_, "moves")) return;
  for (const Value item : value.items()) {
    const auto before = trouble();
    FieldReader fields(item, problems_, "a move");
    Moving& move = cluster_.moving.emplace_back();
    fields.required("workload", move.workload, [&](Value v) { return read_id<WorkloadId>(v); });
    fields.required("shard", move.shard, [&](Value v) { return read_shard(v); });
    const auto end_of = [&](std::string_view side) -> std::optional<NodeIndex> {
      const auto node = fields.take_or_null(side);
      if (!node && fields.is_map()) {
        problems_.add(item.place(), fmt::format("a move lacks the field {}", quote(side)), "add it; null: there is none");
      }
      return node && node->kind() != Value::Kind::null ? find_node(*node) : std::nullopt;
    };
    move.from = end_of("from");
    move.to = end_of("to");
    fields.finish();
    mark_if_spoilt(before, "moving", std::to_string(cluster_.moving.size() - 1));
  }
}

// `recent` and `barred` have one shape too.
template <class Entry>
void ClusterReader::read_replica(Value value, std::string_view section, std::string_view what, std::vector<Entry>& out) {
  const auto before = trouble();
  FieldReader fields(value, problems_, what);
  Entry& entry = out.emplace_back();
  fields.required("workload", entry.workload, [&](Value v) { return read_id<WorkloadId>(v); });
  fields.required("shard", entry.shard, [&](Value v) { return read_shard(v); });
  fields.required("node", entry.node, [&](Value v) { return find_node(v); });
  fields.finish();
  mark_if_spoilt(before, section, std::to_string(out.size() - 1));
}

void ClusterReader::read_recent(Value value) {
  if (!expect_list(value, problems_, "replicas that moved")) return;
  for (const Value item : value.items()) read_replica(item, "recent", "a recent move", cluster_.recent);
}

void ClusterReader::read_barred(Value value) {
  if (!expect_list(value, problems_, "shards and nodes")) return;
  for (const Value item : value.items()) read_replica(item, "barred", "a barred node", cluster_.barred);
}

std::optional<ShardIndex> ClusterReader::read_shard(Value value) {
  return read_count(value, problems_, {.most = shards_max}).transform([](auto n) {
    return ShardIndex(static_cast<std::uint32_t>(n));
  });
}

}  // namespace evenkeel::detail
