#include "evenkeel/base/write.h"
#include "evenkeel/model/cluster_file.h"
#include "evenkeel/model/detail/fold.h"

namespace evenkeel {
namespace {

using Flow = Writer::Flow;

// Writes a field only where it differs from what the reader would assume.
void write_count(Writer& out, std::string_view name, std::uint32_t value, std::uint32_t usual) {
  if (value != usual) out.key(name).number(value);
}
void write_flag(Writer& out, std::string_view name, bool value, bool usual) {
  if (value != usual) out.key(name).flag(value);
}
void write_ratio(Writer& out, std::string_view name, std::optional<Ratio> value, std::optional<Ratio> usual) {
  if (value && value != usual) out.key(name).number(format(*value));
}

void write_amounts(Writer& out, std::string_view name, const Amounts& amounts) {
  if (amounts.empty()) return;
  out.key(name).begin_map(Flow::line);
  for (const auto& [resource, amount] : amounts) out.key(resource.str()).number(format(amount));
  out.end_map();
}

void write_labels(Writer& out, std::string_view name, const Labels& labels) {
  if (labels.empty()) return;
  out.key(name).begin_map(Flow::line);
  for (const auto& [key, value] : labels) out.key(key).text(value);
  out.end_map();
}

void write_spread(Writer& out, const Spread& spread) {
  out.key("spread").begin_map(Flow::line).key("level").text(spread.level).key("hard").flag(spread.hard).end_map();
}

void write_settings(Writer& out, const Settings& settings) {
  const Settings usual;
  if (settings == usual) return;
  out.key("settings").begin_map();
  write_count(out, "replicas_per_core", settings.replicas_per_core, usual.replicas_per_core);
  write_count(out, "core0_reserve", settings.core0_reserve, usual.core0_reserve);
  write_ratio(out, "soft_limit", settings.soft_limit, usual.soft_limit);
  write_ratio(out, "hard_limit", settings.hard_limit, usual.hard_limit);
  write_ratio(out, "tolerance", settings.tolerance, usual.tolerance);
  write_count(out, "moves_max", settings.moves_max, usual.moves_max);
  write_count(out, "moves_per_node_max", settings.moves_per_node_max, usual.moves_per_node_max);
  if (settings.levels != usual.levels) {
    out.key("levels").begin_list(Flow::line);
    for (const std::string& level : settings.levels) out.text(level);
    out.end_list();
  }
  if (settings.spread != usual.spread) write_spread(out, settings.spread);
  out.end_map();
}

void write_state(Writer& out, const State& state) {
  out.begin_map(Flow::line).key("name").text(state.name.str());
  if (state.count.kind == StateCount::Kind::number)
    out.key("count").number(state.count.number);
  else if (state.count.kind != StateCount::Kind::none)
    out.key("count").text(format(state.count));
  write_flag(out, "data", state.data, true);
  out.end_map();
}

void write_models(Writer& out, const std::vector<StateModel>& models) {
  if (models.empty()) return;
  out.key("state_models").begin_list();
  for (const StateModel& model : models) {
    out.begin_map().key("name").text(model.name().str()).key("states").begin_list();
    for (const State& state : model.states()) write_state(out, state);
    out.end_list().key("initial").text(model.initial().str()).key("transitions").begin_list(Flow::line);
    for (const StateEdge& edge : model.transitions())
      out.begin_list(Flow::line).text(edge.from.str()).text(edge.to.str()).end_list();
    out.end_list().end_map();
  }
  out.end_list();
}

void write_node(Writer& out, const Node& node, const detail::Fold& fold) {
  out.begin_map(Flow::line).key("name").text(fold.name);
  if (!fold.zone.empty()) out.key("zone").text(fold.zone);
  write_count(out, "cores", node.cores, 0);
  write_amounts(out, "capacity", node.capacity);
  write_amounts(out, "used", node.used);
  if (node.power != Quantity(1)) out.key("power").number(format(node.power));
  write_labels(out, "labels", node.labels);
  if (!node.taints.empty()) {
    out.key("taints").begin_list(Flow::line);
    for (const Taint& taint : node.taints) {
      out.begin_map(Flow::line).key("key").text(taint.key);
      if (!taint.value.empty()) out.key("value").text(taint.value);
      out.key("effect").text(taint.effect == Taint::Effect::refuse ? "refuse" : "avoid").end_map();
    }
    out.end_list();
  }
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
    const auto fold = detail::fold_first(nodes);
    write_node(out, nodes.front(), fold);
    nodes = nodes.subspan(fold.count);
  }
  out.end_list();
}

class WorkloadWriter {
 public:
  WorkloadWriter(Writer& out, const std::vector<Node>& nodes) : out_(out), nodes_(nodes) {}

  void write(const Workload& workload) {
    out_.begin_map().key("name").text(workload.name.str()).key("shards").number(workload.shards);
    write_count(out_, "replicas", workload.replicas, 1);
    if (workload.state_model.str() != "leader-follower") out_.key("state_model").text(workload.state_model.str());
    write_amounts(out_, "load", workload.load);
    write_amounts(out_, "leader_load", workload.leader_load);
    write_shard_loads(workload.shard_loads);
    if (workload.move_cost) out_.key("move_cost").number(format(*workload.move_cost));
    write_labels(out_, "require", workload.require);
    write_tolerations(workload.tolerate);
    if (workload.spread) write_spread(out_, *workload.spread);
    write_workloads("apart_from", workload.apart_from);
    write_workloads("close_to", workload.close_to);
    write_pins(workload.pinned);
    write_flag(out_, "system", workload.system, false);
    out_.end_map();
  }

  void write_row(std::span<const NodeIndex> row) {
    out_.begin_list(Flow::line);
    for (const NodeIndex node : row) out_.text(nodes_[node.value()].name.str());
    out_.end_list();
  }

 private:
  void write_shard_loads(const ShardLoads& loads) {
    if (loads.empty()) return;
    out_.key("shard_loads").begin_map();
    for (std::size_t row = 0; row < loads.shards.size(); ++row) {
      out_.key(fmt::format("{}", loads.shards[row])).begin_map(Flow::line);
      for (std::size_t column = 0; column < loads.resources.size(); ++column) {
        const Quantity value = loads.values[row * loads.resources.size() + column];
        if (value != Quantity()) out_.key(loads.resources[column].str()).number(format(value));
      }
      out_.end_map();
    }
    out_.end_map();
  }
  void write_tolerations(const std::vector<Toleration>& tolerations) {
    if (tolerations.empty()) return;
    out_.key("tolerate").begin_list(Flow::line);
    for (const Toleration& toleration : tolerations) {
      out_.begin_map(Flow::line).key("key").text(toleration.key);
      if (toleration.value) out_.key("value").text(*toleration.value);
      out_.end_map();
    }
    out_.end_list();
  }
  void write_workloads(std::string_view name, const std::vector<WorkloadId>& workloads) {
    if (workloads.empty()) return;
    out_.key(name).begin_list(Flow::line);
    for (const WorkloadId& workload : workloads) out_.text(workload.str());
    out_.end_list();
  }
  void write_pins(const Pins& pins) {
    if (pins.shards.empty()) return;
    out_.key("pinned").begin_map();
    for (std::size_t i = 0; i < pins.shards.size(); ++i) {
      out_.key(fmt::format("{}", pins.shards[i]));
      write_row(pins.nodes[i]);
    }
    out_.end_map();
  }

  Writer& out_;
  const std::vector<Node>& nodes_;
};

void write_tables(Writer& out, const Cluster& cluster, WorkloadWriter& workloads) {
  if (!cluster.placement.empty()) {
    out.key("placement").begin_map();
    for (const auto& [workload, rows] : cluster.placement) {
      out.key(workload.str()).begin_list();
      for (std::size_t shard = 0; shard < rows.size(); ++shard) workloads.write_row(rows[shard]);
      out.end_list();
    }
    out.end_map();
  }
  if (!cluster.cores.empty()) {
    out.key("cores").begin_map();
    for (const auto& [workload, rows] : cluster.cores) {
      out.key(workload.str()).begin_list();
      for (std::size_t shard = 0; shard < rows.size(); ++shard) {
        out.begin_list(Flow::line);
        for (const Core core : rows[shard]) out.number(core.value());
        out.end_list();
      }
      out.end_list();
    }
    out.end_map();
  }
}

void write_moves(Writer& out, const Cluster& cluster) {
  const auto write_shard = [&](const WorkloadId& workload, ShardIndex shard) {
    out.begin_map(Flow::line).key("workload").text(workload.str()).key("shard").number(shard.value());
  };
  const auto write_end = [&](std::string_view side, std::optional<NodeIndex> node) {
    out.key(side);
    node ? out.text(cluster.nodes[node->value()].name.str()) : out.null();
  };
  if (!cluster.moving.empty()) {
    out.key("moving").begin_list();
    for (const Moving& move : cluster.moving) {
      write_shard(move.workload, move.shard);
      write_end("from", move.from);
      write_end("to", move.to);
      out.end_map();
    }
    out.end_list();
  }
  if (!cluster.recent.empty()) {
    out.key("recent").begin_list();
    for (const Recent& recent : cluster.recent) {
      write_shard(recent.workload, recent.shard);
      write_end("node", recent.node);
      out.end_map();
    }
    out.end_list();
  }
}

}  // namespace

std::string format_cluster(const Cluster& cluster, Syntax syntax) {
  Writer out(syntax);
  out.begin_map().key("cluster").text(cluster.name.str());
  write_settings(out, cluster.settings);
  write_models(out, cluster.state_models);
  write_nodes(out, cluster.nodes);
  WorkloadWriter workloads(out, cluster.nodes);
  if (!cluster.workloads.empty()) {
    out.key("workloads").begin_list();
    for (const Workload& workload : cluster.workloads) workloads.write(workload);
    out.end_list();
  }
  write_tables(out, cluster, workloads);
  write_moves(out, cluster);
  out.end_map();
  return std::move(out).take();
}

}  // namespace evenkeel
