#include "evenkeel/place/detail/node_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace evenkeel::place::detail {
namespace {

// The first of the labels asked for that the node has not; null if it has all.
const Labels::value_type* missing_label(const Node& node, const Workload& workload) {
  for (const auto& label : workload.require) {
    const auto found = node.labels.find(label.first);
    if (found == node.labels.end() || found->second != label.second) return &label;
  }
  return nullptr;
}

// The first taint of this effect that the workload does not tolerate; null if there is none.
const Taint* untolerated(const Node& node, const Workload& workload, Taint::Effect effect) {
  for (const Taint& taint : node.taints) {
    if (taint.effect != effect) continue;
    const bool tolerated = std::ranges::any_of(workload.tolerate, [&](const Toleration& toleration) {
      return toleration.key == taint.key && (!toleration.value || *toleration.value == taint.value);
    });
    if (!tolerated) return &taint;
  }
  return nullptr;
}

}  // namespace

std::optional<std::size_t> depth_of(const Settings& settings, std::string_view level) {
  const auto found = std::ranges::find(settings.levels, level);
  if (found == settings.levels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - settings.levels.begin()) + 1;
}

const Spread& spread_of(const Settings& settings, const Workload& workload) {
  return workload.spread ? *workload.spread : settings.spread;
}

std::string domain_of(const NodeId& name, std::string_view zone, std::size_t depth) {
  if (zone.empty()) return fmt::format("/{}", name);  // no zone begins with a slash
  std::size_t end = 0;
  for (std::size_t part = 0; part < depth && end < zone.size(); ++part) {
    end = std::min(zone.find('/', part == 0 ? 0 : end + 1), zone.size());
  }
  return std::string(zone.substr(0, end));
}

std::string domain_name(const Settings& settings, const Workload& workload, const Node& node) {
  if (node.zone.empty()) return node.name.str();
  return domain_of(node.name, node.zone, depth_of(settings, spread_of(settings, workload).level).value_or(1));
}

std::vector<std::string_view> parts_of(std::string_view zone) {
  std::vector<std::string_view> parts;
  while (!zone.empty()) {
    const std::size_t end = std::min(zone.find('/'), zone.size());
    parts.push_back(zone.substr(0, end));
    zone.remove_prefix(std::min(end + 1, zone.size()));
  }
  return parts;
}

bool is_able(const Node& node, const Workload& workload) {
  return missing_label(node, workload) == nullptr && untolerated(node, workload, Taint::Effect::refuse) == nullptr;
}

std::string why_not_able(const Node& node, const Workload& workload) {
  if (const auto* label = missing_label(node, workload)) {
    const auto other = node.labels.find(label->first);
    if (other == node.labels.end()) return fmt::format("has no label {}={}", label->first, label->second);
    return fmt::format("has label {}={}, not {}", label->first, other->second, label->second);
  }
  if (const Taint* taint = untolerated(node, workload, Taint::Effect::refuse))
    return fmt::format("has taint {}{}{}, which is not tolerated", taint->key, taint->value.empty() ? "" : "=", taint->value);
  return "";
}

std::string why_takes_none(const Node& node, const Workload& workload) {
  return takes(node.status) ? why_not_able(node, workload) : std::string(name(node.status));
}

bool is_avoided(const Node& node, const Workload& workload) {
  return untolerated(node, workload, Taint::Effect::avoid) != nullptr;
}

}  // namespace evenkeel::place::detail
