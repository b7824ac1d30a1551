#include "evenkeel/model/detail/write_parts.h"

#include "evenkeel/model/detail/control_fields.h"

namespace evenkeel::detail {
namespace {

using Flow = Writer::Flow;

void write_spread(Writer& out, const Spread& spread) {
  out.key("spread").begin_map(Flow::line).key("level").text(spread.level).key("hard").flag(spread.hard).end_map();
}

void write_throttle(Writer& out, std::string_view name, const Throttle& throttle, const Throttle& usual) {
  if (throttle == usual) return;
  out.key(name).begin_map(Flow::line);
  write_count(out, "copies", throttle.copies, usual.copies);
  if (throttle.bytes_per_second != usual.bytes_per_second) out.key("bytes_per_second").number(format(throttle.bytes_per_second));
  out.end_map();
}

void write_control(Writer& out, const ControlSettings& control) {
  const ControlSettings usual;
  for (const auto& [name, member] : settings_durations) write_duration(out, name, control.*member, usual.*member);
  if (control.max_offline) out.key("max_offline").number(*control.max_offline);
  if (control.resume_offline) out.key("resume_offline").number(*control.resume_offline);
  write_count(out, "extra_replicas", control.extra_replicas, usual.extra_replicas);
  for (const auto& [name, member] : settings_throttles) write_throttle(out, name, control.*member, usual.*member);
  write_ratio(out, "errors_max", control.errors_max, usual.errors_max);
  write_ratio(out, "loads_margin", control.loads_margin, usual.loads_margin);
}

void write_control(Writer& out, const WorkloadControl& control) {
  const WorkloadControl usual;
  if (control.min_active) out.key("min_active").number(*control.min_active);
  write_duration(out, "rebalance_delay", control.rebalance_delay, std::nullopt);
  if (control.fencing != usual.fencing) out.key("fencing").text(name(control.fencing));
  write_count(out, "acks", control.acks, usual.acks);
  write_count(out, "lag_max", control.lag_max, usual.lag_max);
  for (const auto& [name, member] : workload_durations) write_duration(out, name, control.*member, usual.*member);
  if (control.key_map != usual.key_map) out.key("key_map").text(name(control.key_map));
  if (!control.metadata.empty()) out.key("metadata").text(control.metadata);
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

void write_shard_loads(Writer& out, const ShardLoads& loads) {
  if (loads.empty()) return;
  out.key("shard_loads").begin_map();
  for (std::size_t row = 0; row < loads.shards.size(); ++row) {
    out.key(fmt::format("{}", loads.shards[row])).begin_map(Flow::line);
    for (std::size_t column = 0; column < loads.resources.size(); ++column) {
      const Quantity value = loads.values[row * loads.resources.size() + column];
      if (value != Quantity()) out.key(loads.resources[column].str()).number(format(value));
    }
    out.end_map();
  }
  out.end_map();
}

void write_tolerations(Writer& out, std::span<const Toleration> tolerations) {
  if (tolerations.empty()) return;
  out.key("tolerate").begin_list(Flow::line);
  for (const Toleration& toleration : tolerations) {
    out.begin_map(Flow::line).key("key").text(toleration.key);
    if (toleration.value) out.key("value").text(*toleration.value);
    out.end_map();
  }
  out.end_list();
}

void write_workloads(Writer& out, std::string_view name, std::span<const WorkloadId> workloads) {
  if (workloads.empty()) return;
  out.key(name).begin_list(Flow::line);
  for (const WorkloadId& workload : workloads) out.text(workload.str());
  out.end_list();
}

}  // namespace

void write_count(Writer& out, std::string_view name, std::uint64_t value, std::uint64_t usual) {
  if (value != usual) out.key(name).number(value);
}
void write_flag(Writer& out, std::string_view name, bool value, bool usual) {
  if (value != usual) out.key(name).flag(value);
}
void write_ratio(Writer& out, std::string_view name, std::optional<Ratio> value, std::optional<Ratio> usual) {
  if (value && value != usual) out.key(name).number(format(*value));
}
void write_duration(Writer& out, std::string_view name, std::optional<Duration> value, std::optional<Duration> usual) {
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
  write_control(out, settings.control);
  out.end_map();
}

void write_models(Writer& out, std::span<const StateModel> models) {
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

void write_workload_fields(Writer& out, const Workload& workload) {
  out.key("shards").number(workload.shards);
  write_count(out, "replicas", workload.replicas, 1);
  if (workload.state_model != Workload().state_model) out.key("state_model").text(workload.state_model.str());
  write_amounts(out, "load", workload.load);
  write_amounts(out, "leader_load", workload.leader_load);
  write_shard_loads(out, workload.shard_loads);
  if (workload.move_cost) out.key("move_cost").number(format(*workload.move_cost));
  write_labels(out, "require", workload.require);
  write_tolerations(out, workload.tolerate);
  if (workload.spread) write_spread(out, *workload.spread);
  write_workloads(out, "apart_from", workload.apart_from);
  write_workloads(out, "close_to", workload.close_to);
  write_flag(out, "system", workload.system, false);
  write_control(out, workload.control);
}

}  // namespace evenkeel::detail
