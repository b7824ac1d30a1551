#include "evenkeel/place/detail/methods_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace evenkeel::place::detail {
namespace {

bool tolerated(const Taint& taint, const Workload& workload) {
  return std::ranges::any_of(workload.tolerate, [&](const Toleration& toleration) {
    return toleration.key == taint.key && (!toleration.value || *toleration.value == taint.value);
  });
}

}  // namespace

std::optional<std::size_t> depth_of(const Settings& settings, std::string_view level) {
  const auto found = std::ranges::find(settings.levels, level);
  if (found == settings.levels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - settings.levels.begin()) + 1;
}

std::string domain_of(const NodeId& name, std::string_view zone, std::size_t depth) {
  if (zone.empty()) return fmt::format("/{}", name);  // no zone begins with a slash
  std::size_t end = 0;
  for (std::size_t part = 0; part < depth && end < zone.size(); ++part) {
    end = std::min(zone.find('/', part == 0 ? 0 : end + 1), zone.size());
  }
  return std::string(zone.substr(0, end));
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

std::string why_not_able(const Node& node, const Workload& workload) {
  for (const auto& [key, value] : workload.require) {
    const auto found = node.labels.find(key);
    if (found == node.labels.end() || found->second != value) return fmt::format("has no label {}={}", key, value);
  }
  for (const Taint& taint : node.taints) {
    if (taint.effect == Taint::Effect::refuse && !tolerated(taint, workload))
      return fmt::format("its taint {}={} is not tolerated", taint.key, taint.value);
  }
  return "";
}

bool is_avoided(const Node& node, const Workload& workload) {
  return std::ranges::any_of(
      node.taints, [&](const Taint& taint) { return taint.effect == Taint::Effect::avoid && !tolerated(taint, workload); });
}

}  // namespace evenkeel::place::detail
