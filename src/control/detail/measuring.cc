// Loads: what pulses say of them, what placement is told, and when it is to plan for that. The rules are in detail/loads.h.

#include <algorithm>
#include <functional>

#include "evenkeel/control/detail/work.h"

namespace evenkeel::control {

using detail::Column;
using detail::NodeInfo;
using detail::ShardLoad;
using detail::Unit;

namespace {

// Made if there is none; nothing: it is no name of a resource, or there are too many.
std::optional<Column> column_of(detail::World& world, const ResourceId& resource) {
  const auto found = std::ranges::find(world.columns, resource);
  if (found == world.columns.end() && (world.columns.size() == detail::columns_max || why_not_a_name(resource.str())))
    return std::nullopt;
  const auto column = static_cast<Column>(found - world.columns.begin());
  if (found == world.columns.end()) world.columns.push_back(resource);
  return column;
}

std::optional<std::uint32_t> index_of(const detail::World& world, const std::optional<NodeId>& name) {
  const NodeInfo* node = name ? world.find_node(*name) : nullptr;
  return node == nullptr ? std::nullopt : std::optional(static_cast<std::uint32_t>(node - world.nodes.data()));
}
// Whom a placement names is known.
NodeInfo& node_of(detail::World& world, const NodeId& name) {
  return world.nodes[static_cast<std::size_t>(world.find_node(name) - world.nodes.data())];
}

Quantity leader_part(const Workload& spec, const ResourceId& resource) {
  const auto found = spec.leader_load.find(resource);
  return found == spec.leader_load.end() ? Quantity(0) : found->second;
}

}  // namespace

// 1. What is measured.

bool Machine::Work::take_load(std::uint32_t u, std::uint32_t slot, std::uint32_t n, const Amounts& load) {
  if (options_.broken == Broken::ignore_loads) return false;
  std::vector<std::pair<Column, Quantity>> said;
  said.reserve(load.size());
  for (const auto& [resource, amount] : load) {
    const auto column = amount.negative() ? std::nullopt : column_of(world_, resource);
    if (column) said.emplace_back(*column, amount);
  }
  std::ranges::sort(said);
  return detail::say(world_.units[u].loads[slot], n, world_.nodes[n].facts.incarnation, said);
}

void Machine::Work::measure(std::uint32_t u, std::uint32_t slot) {
  Unit& unit = world_.units[u];
  const detail::WorkloadInfo& workload = world_.workloads[unit.workload];
  if (!workload.document) return;
  const Workload& spec = workload.document->spec;
  detail::ShardLoadFacts facts;
  facts.counts = [&](const ShardLoad::Said& said) {
    const detail::NodeFacts& node = world_.nodes[said.node].facts;
    return node.joined && node.incarnation == said.incarnation;
  };
  facts.leader = index_of(world_, unit.views[slot].leader);
  const auto by_spec = [&](Column column) { return detail::spec_load(spec, unit.shards[slot], world_.columns[column]); };
  facts.spec = std::ref(by_spec);  // which allocates nothing
  facts.leader_part = [&](Column column) { return leader_part(spec, world_.columns[column]); };
  const auto changes = detail::measure(unit.loads[slot], facts, now_, loads_half());
  if (changes.empty()) return;
  for (const NodeId& name : detail::placement_of(unit, slot)) {
    NodeInfo& node = node_of(world_, name);
    node.loads.resize(world_.columns.size());
    for (const auto& [column, change] : changes)
      node.loads[column].off.set(node.loads[column].off.value() + change, now_, loads_half());
  }
  if (loads_look_ == Instant::max()) loads_look_ = now_ + world_.config.settings.control.loads_pause;
}

// Who came or went counts, or does not, from now on.
void Machine::Work::touch_loads(std::uint32_t n) {
  if (world_.columns.empty()) return;
  for (const auto& [u, named] : world_.nodes[n].units) {
    const auto& loads = world_.units[u].loads;
    for (std::uint32_t slot = 0; slot < loads.size(); ++slot) {
      if (std::ranges::find(loads[slot].said, n, &ShardLoad::Said::node) != loads[slot].said.end())
        world_.loads_touched.emplace(u, slot);
    }
  }
}

void Machine::Work::measure_touched() {
  for (const auto& [u, slot] : std::exchange(world_.loads_touched, {})) {
    if (slot < world_.units[u].shards.size()) measure(u, slot);
  }
}

void Machine::Work::forget_loads() {
  for (Unit& unit : world_.units) std::ranges::fill(unit.loads, ShardLoad{});
  for (NodeInfo& node : world_.nodes) {
    node.loads.clear();
    node.was_off = false;
  }
  world_.loads_touched.clear();
  loads_look_ = Instant::max();
  loads_awaited_ = loads_believed_ = loads_changed_ = planning_for_loads_ = false;
}

// 2. What nodes carry.

// From the shards themselves: differences that were added up know nothing of placements that changed since.
void Machine::Work::count_loads() {
  for (NodeInfo& node : world_.nodes) node.loads.assign(world_.columns.size(), {});
  for (const detail::WorkloadInfo& workload : world_.workloads) {
    if (!workload.usable || workload.spec.deleted || detail::is_everywhere(workload)) continue;
    const Workload& spec = workload.document->spec;
    std::vector<Quantity> usual, on_top;
    for (const ResourceId& resource : world_.columns) {
      const auto found = spec.load.find(resource);
      usual.push_back(found == spec.load.end() ? Quantity(0) : found->second);
      on_top.push_back(leader_part(spec, resource));
    }
    for (const std::uint32_t u : workload.units) {
      for (std::uint32_t slot = 0; slot < world_.units[u].shards.size(); ++slot) count_loads(u, slot, usual, on_top);
    }
  }
}

// `usual` is what the workload's spec says of shards that it does not name.
void Machine::Work::count_loads(std::uint32_t u, std::uint32_t slot, const std::vector<Quantity>& usual,
                                const std::vector<Quantity>& on_top) {
  const Unit& unit = world_.units[u];
  const Workload& spec = world_.workloads[unit.workload].document->spec;
  const bool own = spec.shard_loads.find(unit.shards[slot]).has_value();
  const Duration half = loads_half();
  std::vector<std::vector<detail::NodeLoad>*> nodes;
  for (const NodeId& name : detail::placement_of(unit, slot)) nodes.push_back(&node_of(world_, name).loads);
  for (Column column = 0; column < world_.columns.size(); ++column) {
    const ShardLoad::Level* level = unit.loads[slot].find(column);
    Quantity believed = own ? detail::spec_load(spec, unit.shards[slot], world_.columns[column]) : usual[column];
    if (level != nullptr && level->is_believed) believed = level->believed;
    const Quantity off = level != nullptr ? level->measured.value() - believed : Quantity(0);
    const Quantity smoothed = level != nullptr ? level->measured.at(now_, half) - believed : Quantity(0);
    for (auto* const loads : nodes) {
      detail::NodeLoad& load = (*loads)[column];
      load.believed += believed;
      load.off = detail::Smooth(load.off.value() + off, load.off.at(now_, half) + smoothed, now_);
    }
    if (!nodes.empty()) (*nodes.front())[column].believed += on_top[column];
  }
}

std::vector<Quantity> Machine::Work::mean_loads() const {
  std::vector<Quantity> sums(world_.columns.size());
  std::int64_t nodes = 0;
  for (const NodeInfo& node : world_.nodes) {
    nodes += node.facts.joined ? 1 : 0;
    for (Column column = 0; column < node.loads.size(); ++column) sums[column] += node.loads[column].believed;
  }
  for (Quantity& sum : sums) sum = Quantity::from_nano(sum.nano() / std::max<std::int64_t>(nodes, 1));
  return sums;
}

// The first resource of which the node carries too much more or less than is believed; as measured at last, or smoothed.
std::optional<Column> Machine::Work::off_column(const NodeInfo& node, bool smoothed, const std::vector<Quantity>& means) const {
  const Ratio margin = options_.broken == Broken::believe_every_load ? Ratio() : world_.config.settings.control.loads_margin;
  for (Column column = 0; column < node.loads.size(); ++column) {
    const detail::NodeLoad& load = node.loads[column];
    const Quantity off = smoothed ? load.off.at(now_, loads_half()) : load.off.value();
    if (detail::is_off(off, load.believed, means[column], margin)) return column;
  }
  return std::nullopt;
}

// 3. Whether that is another load.

void Machine::Work::look_at_loads() {
  measure_touched();
  if (now_ >= loads_look_) {
    loads_look_ = Instant::max();
    if (std::exchange(loads_awaited_, false)) {
      believe_loads();
    } else {
      judge_loads();
    }
    watch_loads();
  }
  if (loads_look_ != Instant::max()) wake_at(loads_look_);
}

// They are looked at again while they are not as they are believed to be; otherwise when one changes.
void Machine::Work::watch_loads() {
  const std::vector<Quantity> means = mean_loads();
  const bool moves = std::ranges::any_of(world_.nodes, [&](const NodeInfo& node) {
    return node.was_off || off_column(node, false, means) || off_column(node, true, means);
  });
  if (moves && loads_look_ == Instant::max()) loads_look_ = now_ + world_.config.settings.control.loads_pause;
}

void Machine::Work::judge_loads() {
  const auto seems_off = [&, means = mean_loads()](const NodeInfo& node) { return off_column(node, true, means).has_value(); };
  if (std::ranges::any_of(world_.nodes, seems_off)) count_loads();
  const std::vector<Quantity> means = mean_loads();
  const NodeInfo* first = nullptr;
  for (NodeInfo& node : world_.nodes) {
    const bool is_off = off_column(node, true, means).has_value();
    const bool again = std::exchange(node.was_off, is_off) || options_.broken == Broken::believe_every_load;
    if (is_off && again && (first == nullptr || node.name < first->name)) first = &node;
  }
  if (first == nullptr) return;
  const Column column = *off_column(*first, true, means);
  const detail::NodeLoad& load = first->loads[column];
  const auto roughly = [](Quantity amount) { return format(Quantity::from_nano(amount.nano() / 1'000'000 * 1'000'000)); };
  say(Event::Kind::plan, std::nullopt, first->name,
      fmt::format("carries {} of {}, and {} was planned for: loads have changed",
                  roughly(load.believed + load.off.at(now_, loads_half())), world_.columns[column], roughly(load.believed)));
  believe_loads();
}

// What nodes carry is counted anew with the plan that follows.
void Machine::Work::believe_loads() {
  loads_believed_ = false;
  for (Unit& unit : world_.units) {
    for (ShardLoad& load : unit.loads) loads_believed_ |= detail::believe(load, now_, loads_half());
  }
  for (NodeInfo& node : world_.nodes) node.was_off = false;
  loads_changed_ = true;
  world_.plan_due = true;
}

}  // namespace evenkeel::control
