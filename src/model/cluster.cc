#include "evenkeel/model/cluster.h"

#include <algorithm>

namespace evenkeel {

std::string_view name(NodeStatus status) {
  switch (status) {
    case NodeStatus::up:
      return "up";
    case NodeStatus::down:
      return "down";
    case NodeStatus::draining:
      return "draining";
    case NodeStatus::cordoned:
      return "cordoned";
    case NodeStatus::no_leaders:
      break;
  }
  return "no-leaders";
}

std::string_view name(Taint::Effect effect) { return effect == Taint::Effect::refuse ? "refuse" : "avoid"; }
std::string_view name(Fencing fencing) { return fencing == Fencing::session ? "session" : "epoch"; }
std::string_view name(KeyMap map) { return map == KeyMap::hash ? "hash" : "range"; }

std::optional<std::span<const Quantity>> ShardLoads::find(ShardIndex shard) const {
  const auto found = std::ranges::lower_bound(shards, shard);
  if (found == shards.end() || *found != shard) return std::nullopt;
  return std::span(values).subspan(static_cast<std::size_t>(found - shards.begin()) * resources.size(), resources.size());
}

std::span<const NodeIndex> Pins::find(ShardIndex shard) const {
  const auto found = std::ranges::lower_bound(shards, shard);
  if (found == shards.end() || *found != shard) return {};
  return nodes[static_cast<std::size_t>(found - shards.begin())];
}

const StateModel* find_state_model(const Cluster& cluster, std::string_view name) {
  const auto own = std::ranges::find_if(cluster.state_models, [&](const StateModel& m) { return m.name().str() == name; });
  return own != cluster.state_models.end() ? &*own : find_built_in(name);
}

}  // namespace evenkeel
