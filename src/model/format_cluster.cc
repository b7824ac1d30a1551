#include "evenkeel/base/write.h"
#include "evenkeel/model/cluster_file.h"
#include "evenkeel/model/detail/fold.h"
#include "evenkeel/model/detail/write_parts.h"

namespace evenkeel {
namespace {

using Flow = Writer::Flow;
using namespace detail;

void write_taints(Writer& out, std::span<const Taint> taints) {
  out.key("taints").begin_list(Flow::line);
  for (const Taint& taint : taints) {
    out.begin_map(Flow::line).key("key").text(taint.key);
    if (!taint.value.empty()) out.key("value").text(taint.value);
    out.key("effect").text(name(taint.effect)).end_map();
  }
  out.end_list();
}

void write_node(Writer& out, const Node& node, const Fold& fold) {
  out.begin_map(Flow::line).key("name").text(fold.name);
  if (!fold.zone.empty()) out.key("zone").text(fold.zone);
  write_count(out, "cores", node.cores, 0);
  write_amounts(out, "capacity", node.capacity);
  write_amounts(out, "used", node.used);
  if (node.power != Quantity(1)) out.key("power").number(format(node.power));
  write_labels(out, "labels", node.labels);
  if (!node.taints.empty()) write_taints(out, node.taints);
  if (node.status != NodeStatus::up) out.key("status").text(name(node.status));
  write_count(out, "replicas_max", node.replicas_max, 0);
  write_ratio(out, "soft_limit", node.soft_limit, std::nullopt);
  write_ratio(out, "hard_limit", node.hard_limit, std::nullopt);
  write_flag(out, "leaders", node.leaders, true);
  out.end_map();
}

void write_nodes(Writer& out, std::span<const Node> nodes) {
  if (nodes.empty()) return;
  out.key("nodes").begin_list();
  while (!nodes.empty()) {
    const auto fold = fold_first(nodes);
    write_node(out, nodes.front(), fold);
    nodes = nodes.subspan(fold.count);
  }
  out.end_list();
}

class ClusterWriter {
 public:
  ClusterWriter(Writer& out, const Cluster& cluster) : out_(out), cluster_(cluster) {}

  void write_workloads() {
    if (cluster_.workloads.empty()) return;
    out_.key("workloads").begin_list();
    for (const Workload& workload : cluster_.workloads) {
      out_.begin_map().key("name").text(workload.name.str());
      write_workload_fields(out_, workload);
      write_pins(workload.pinned);
      out_.end_map();
    }
    out_.end_list();
  }

  void write_placement() {
    write_rows("placement", cluster_.placement, [&](NodeIndex node) { out_.text(name_of(node)); });
    write_rows("cores", cluster_.cores, [&](Core core) { out_.number(core.value()); });
  }

  void write_moves() {
    if (!cluster_.moving.empty()) {
      out_.key("moving").begin_list();
      for (const Moving& move : cluster_.moving) {
        write_shard(move.workload, move.shard);
        write_end("from", move.from);
        write_end("to", move.to);
        out_.end_map();
      }
      out_.end_list();
    }
    write_replicas("recent", cluster_.recent);
    write_replicas("barred", cluster_.barred);
  }

 private:
  const std::string& name_of(NodeIndex node) const { return cluster_.nodes[node.value()].name.str(); }

  template <class Cell, class WriteCell>
  void write_row(std::span<const Cell> row, const WriteCell& write_cell) {
    out_.begin_list(Flow::line);
    for (const Cell cell : row) write_cell(cell);
    out_.end_list();
  }
  template <class Cell, class WriteCell>
  void write_rows(std::string_view section, const std::map<WorkloadId, Rows<Cell>>& tables, const WriteCell& write_cell) {
    if (tables.empty()) return;
    out_.key(section).begin_map();
    for (const auto& [workload, rows] : tables) {
      out_.key(workload.str()).begin_list();
      for (std::size_t shard = 0; shard < rows.size(); ++shard) write_row(rows[shard], write_cell);
      out_.end_list();
    }
    out_.end_map();
  }
  void write_pins(const Pins& pins) {
    if (pins.shards.empty()) return;
    out_.key("pinned").begin_map();
    for (std::size_t i = 0; i < pins.shards.size(); ++i) {
      out_.key(fmt::format("{}", pins.shards[i]));
      write_row(pins.nodes[i], [&](NodeIndex node) { out_.text(name_of(node)); });
    }
    out_.end_map();
  }
  void write_shard(const WorkloadId& workload, ShardIndex shard) {
    out_.begin_map(Flow::line).key("workload").text(workload.str()).key("shard").number(shard.value());
  }
  void write_end(std::string_view side, std::optional<NodeIndex> node) {
    out_.key(side);
    node ? out_.text(name_of(*node)) : out_.null();
  }
  template <class Entry>
  void write_replicas(std::string_view section, const std::vector<Entry>& entries) {
    if (entries.empty()) return;
    out_.key(section).begin_list();
    for (const Entry& entry : entries) {
      write_shard(entry.workload, entry.shard);
      write_end("node", entry.node);
      out_.end_map();
    }
    out_.end_list();
  }

  Writer& out_;
  const Cluster& cluster_;
};

}  // namespace

std::string format_cluster(const Cluster& cluster, Syntax syntax) {
  Writer out(syntax);
  out.begin_map().key("cluster").text(cluster.name.str());
  write_settings(out, cluster.settings);
  write_models(out, cluster.state_models);
  write_nodes(out, cluster.nodes);
  ClusterWriter writer(out, cluster);
  writer.write_workloads();
  writer.write_placement();
  writer.write_moves();
  out.end_map();
  return std::move(out).take();
}

}  // namespace evenkeel
