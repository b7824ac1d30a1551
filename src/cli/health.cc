#include "evenkeel/cli/health.h"

#include <algorithm>
#include <chrono>

namespace evenkeel::cli {
namespace {

using control::NodeSurvey;
using control::WorkloadSurvey;

// ", for 40m of 2h": how long it has lasted, and how long it may.
std::string lasting(const std::optional<Duration>& lasted, const std::optional<Duration>& timeout) {
  if (!lasted) return timeout ? fmt::format(", for {}", format(*timeout)) : "";
  const std::string so_far = format(std::chrono::floor<std::chrono::seconds>(*lasted));
  return timeout ? fmt::format(", for {} of {}", so_far, format(*timeout)) : fmt::format(", for {} so far", so_far);
}

std::string freeze_of(const control::Snapshot& seen) {
  const Freeze* freeze = control::freeze_in_force(seen);
  if (freeze == nullptr) return "";
  return fmt::format("{}{}{}", freeze->reason, freeze->keep_leaders ? " (leaders are kept)" : "",
                     lasting(seen.waits ? seen.waits->freeze : std::nullopt, freeze->timeout));
}

std::string maintenance_of(const control::Snapshot& seen) {
  const auto lasted = seen.waits ? seen.waits->maintenance : std::nullopt;
  if (const Maintenance* by_hand = control::maintenance_in_force(seen))
    return fmt::format("by hand: {}{}", by_hand->reason, lasting(lasted, by_hand->timeout));
  if (!seen.waits || !seen.waits->entered) return "";
  // While the config has one by hand, the time that is saved is of that.
  const bool other = seen.config && seen.config->maintenance;
  return fmt::format("entered by the controller: too many nodes are gone{}",
                     lasting(other ? std::nullopt : lasted, std::nullopt));
}

bool counts(const NodeSurvey& node) { return node.state != NodeSurvey::State::removed && node.state != NodeSurvey::State::never; }
bool is_there(const NodeSurvey& node) {
  return node.state == NodeSurvey::State::there || node.state == NodeSurvey::State::leaving;
}
// Those that are not split off yet nobody misses.
std::uint32_t leaderless(const WorkloadSurvey& one) {
  const std::uint32_t born = one.shards - one.unborn;
  return one.leads && one.led < born ? born - one.led : 0;
}

Sums sums_of(const control::Snapshot& seen, const std::vector<NodeSurvey>& nodes, const std::vector<WorkloadSurvey>& workloads) {
  Sums sums;
  for (const NodeSurvey& node : nodes) {
    if (!counts(node)) continue;
    ++sums.nodes;
    sums.there += is_there(node) ? 1 : 0;
    sums.operated += node.operation != Operation::none ? 1 : 0;
  }
  for (const WorkloadSurvey& one : workloads) {
    if (one.deleted) continue;
    ++sums.workloads;
    sums.shards += one.shards;
    sums.leaderless += leaderless(one);
    sums.below_min_active += one.below_min_active;
    sums.incomplete += one.incomplete;
    sums.errors += one.errors;
  }
  sums.orphans = control::orphans_of(seen).size();
  sums.orders = seen.orders.size();
  return sums;
}

// "n1, n2 and 3 more"
std::string gone_among(const std::vector<NodeSurvey>& nodes) {
  constexpr std::size_t named_max = 5;
  std::vector<std::string> names;
  for (const NodeSurvey& node : nodes) {
    if (counts(node) && !is_there(node)) names.push_back(node.node.str());
  }
  const std::size_t more = names.size() - std::min(names.size(), named_max);
  names.resize(names.size() - more);
  const std::string named = fmt::format("{}", fmt::join(names, ", "));
  return more == 0 ? named : fmt::format("{} and {} more", named, more);
}

}  // namespace

Health health_of(const control::Snapshot& seen, const ControllerSeen& controller) {
  const auto nodes = control::survey_nodes(seen);
  const auto workloads = control::survey_workloads(seen);
  Health health{.sums = sums_of(seen, nodes, workloads), .freeze = freeze_of(seen), .maintenance = maintenance_of(seen)};
  const auto add = [&](std::string_view word, std::string reason) {
    if (health.reasons.empty()) health.word = word;
    health.reasons.push_back(std::move(reason));
  };
  const auto add_each = [&](std::string_view word, auto count, std::string_view what) {
    for (const WorkloadSurvey& one : workloads) {
      if (!one.deleted && count(one) > 0) add(word, fmt::format("{}: {} {}", one.workload, count(one), what));
    }
  };
  if (!controller.active)
    add("no controller is active", fmt::format("nobody controls {}: nothing is placed, moved or led anew", seen.cluster));
  if (!health.freeze.empty()) add("frozen", fmt::format("frozen: {}", health.freeze));
  add_each("shards without a leader", leaderless, "shards without a leader");
  add_each(
      "shards below min_active", [](const WorkloadSurvey& one) { return one.below_min_active; }, "shards below min_active");
  if (!health.maintenance.empty()) add("in maintenance", fmt::format("maintenance: {}", health.maintenance));
  if (health.sums.there < health.sums.nodes) add("nodes are gone", fmt::format("gone: {}", gone_among(nodes)));
  add_each(
      "replicas in error", [](const WorkloadSurvey& one) { return one.errors; }, "replicas in error");
  add_each(
      "replicas are missing", [](const WorkloadSurvey& one) { return one.incomplete; }, "shards without all their replicas");
  const Sums& sums = health.sums;
  health.urgent = !controller.active || !health.freeze.empty() || sums.leaderless > 0 || sums.below_min_active > 0;
  if (health.well()) health.word = "well";
  return health;
}

std::string controller_text(const ControllerSeen& controller) {
  if (!controller.active) return "none is active";
  return controller.address.http.empty() ? controller.address.name
                                         : fmt::format("{} at http://{}", controller.address.name, controller.address.http);
}

std::string state_of(const NodeSurvey& node) {
  std::string state(name(node.state));
  if (node.gone) state += fmt::format(" for {}", format(std::chrono::floor<std::chrono::seconds>(*node.gone)));
  return state;
}

std::string operation_of(const NodeSurvey& node) {
  if (node.operation == Operation::none) return "";
  if (node.swap_with) return fmt::format("swap with {}", *node.swap_with);
  return std::string(name(node.operation));
}

std::string_view state_of(const WorkloadSurvey& one) {
  if (one.deleted) return "being deleted";
  if (one.leads && one.led < one.shards - one.unborn) return "leaders missing";
  if (one.below_min_active > 0) return "below min_active";
  if (one.errors > 0) return "errors";
  if (one.incomplete > 0) return "replicas missing";
  return one.split_from > 0 ? "being split" : "well";
}

Table workload_table(const std::vector<WorkloadSurvey>& workloads) {
  const auto text = [](std::uint32_t number) { return fmt::format("{}", number); };
  Table table({"WORKLOAD", "STATE", "SHARDS", "REPLICAS", "LED", "BELOW MIN", "INCOMPLETE", "ERRORS"});
  for (const WorkloadSurvey& one : workloads) {
    table.add({one.workload.str(), std::string(state_of(one)), text(one.shards), text(one.replicas),
               one.leads ? text(one.led) : "", text(one.below_min_active), text(one.incomplete), text(one.errors)});
  }
  return table;
}

}  // namespace evenkeel::cli
