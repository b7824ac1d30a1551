#include "evenkeel/serve/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>

#include "evenkeel/base/version.h"

namespace evenkeel::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

struct Labelled {
  std::string label;  // empty: none
  double value = 0;
};

// `name` behind the module's.
MetricFamily family_in(std::string module, const std::string& name, std::string help, MetricType type, const std::string& label,
                       const std::vector<Labelled>& values) {
  MetricFamily family{.name = std::move(module) + name, .help = std::move(help), .type = type, .metric = {}};
  for (const Labelled& each : values) {
    ClientMetric metric;
    if (!label.empty()) metric.label.push_back({label, each.label});
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = each.value;
    family.metric.push_back(std::move(metric));
  }
  return family;
}

MetricFamily family_of(const std::string& name, std::string help, MetricType type, const std::string& label,
                       const std::vector<Labelled>& values) {
  return family_in("evenkeel_control_", name, std::move(help), type, label, values);
}

MetricFamily gauge(std::string name, std::string help, double value) {
  return family_of(std::move(name), std::move(help), MetricType::Gauge, "", {{"", value}});
}

MetricFamily store_gauge(const std::string& name, std::string help, std::uint64_t value) {
  return family_in("evenkeel_store_", name, std::move(help), MetricType::Gauge, "", {{"", static_cast<double>(value)}});
}

std::vector<MetricFamily> of_store(const StoreMeasured& store) {
  return {
      store_gauge("revision", "Of the latest write.", store.revision),
      store_gauge("bytes", "What the store takes on the disk.", store.bytes),
      store_gauge("max_bytes", "Above so many writes are refused.", store.bytes_max),
      store_gauge("full", "1: writes are refused, there is no space.", store.full ? 1 : 0),
      store_gauge("keys", "Keys that are there.", store.keys),
      store_gauge("watchers", "Watches that are open.", store.watchers),
      store_gauge("leases", "Leases that are not over.", store.leases),
      family_in("evenkeel_store_", "requests_total",
                "Reads, writes (a txn is one), renewals of leases and watches begun that the store was asked for.",
                MetricType::Counter, "kind",
                {{"read", static_cast<double>(store.reads)},
                 {"write", static_cast<double>(store.writes)},
                 {"renew", static_cast<double>(store.renewals)},
                 {"watch", static_cast<double>(store.watches)}}),
  };
}

// Of the product, and of no module.
MetricFamily build_info() {
  ClientMetric metric;
  metric.label.push_back({"version", product_version()});
  metric.gauge.value = 1;
  return {.name = "evenkeel_build_info",
          .help = "1; what runs is in the labels.",
          .type = MetricType::Gauge,
          .metric = {std::move(metric)}};
}

MetricFamily histogram(std::string name, std::string help, const Histogram& histogram) {
  ClientMetric metric;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
    below += histogram.counts()[i];
    const bool last = i == Histogram::bounds.size();
    metric.histogram.bucket.push_back({below, last ? std::numeric_limits<double>::infinity() : seconds(Histogram::bounds[i])});
  }
  metric.histogram.sample_count = below;
  metric.histogram.sample_sum = seconds(histogram.sum());
  return {.name = "evenkeel_control_" + std::move(name),
          .help = std::move(help),
          .type = MetricType::Histogram,
          .metric = {std::move(metric)}};
}

MetricFamily nodes_of(const Measured& measured) {
  double joined = 0, suspect = 0, gone = 0, other = 0;
  for (const control::NodeState& node : measured.nodes)
    ++(node.gone ? gone : !node.joined ? other : node.suspect ? suspect : joined);
  return family_of("nodes", "Nodes: joined, suspect (joined, and its pulse is missed), gone, or not taken for a node yet.",
                   MetricType::Gauge, "state", {{"joined", joined}, {"suspect", suspect}, {"gone", gone}, {"other", other}});
}

MetricFamily events_of(const Counted& counted) {
  std::vector<Labelled> values;
  for (const auto& [kind, count] : counted.events) values.push_back({std::string(name(kind)), static_cast<double>(count)});
  return family_of("events_total", "What happened, by kind.", MetricType::Counter, "kind", values);
}

std::vector<MetricFamily> gauges_of(const Measured& measured) {
  const control::Overview& overview = measured.overview;
  double shards = 0;
  for (const control::WorkloadState& workload : measured.workloads) shards += workload.shards;
  return {
      gauge("active", "1: this controller is the active one.", measured.active ? 1 : 0),
      gauge("in_touch", "1: the store has answered lately.", measured.in_touch ? 1 : 0),
      gauge("epoch", "Of this controller's latest election.", static_cast<double>(measured.epoch)),
      nodes_of(measured),
      gauge("workloads", "Workloads, those that are being deleted too.", static_cast<double>(measured.workloads.size())),
      gauge("shards", "Shards of all workloads.", shards),
      gauge("leaderless_shards", "Shards that should have a leader and have none.", overview.leaderless),
      gauge("below_min_active_shards", "Shards with fewer than min_active replicas serving.", overview.below_min_active),
      gauge("failed_replicas", "Replicas in error.", overview.errors),
      gauge("orphans", "Replicas that nodes hold and no record knows; 1000 stands for as many or more.",
            static_cast<double>(overview.orphans.size())),
      gauge("copies", "Replicas that are being copied or opened.", overview.copies),
      gauge("offline_nodes", "Nodes that count as offline for maintenance; a whole zone counts as one.", overview.offline),
      gauge("maintenance", "1: in maintenance; nothing is moved.", overview.maintenance ? 1 : 0),
      gauge("frozen", "1: the operator froze the cluster.", overview.freeze ? 1 : 0),
      gauge("pulse_connections", "Nodes connected to this controller.", static_cast<double>(measured.pulse_connections)),
  };
}

}  // namespace

void Histogram::add(Duration took) {
  const auto at = std::ranges::lower_bound(bounds, took);
  ++counts_[static_cast<std::size_t>(at - bounds.begin())];
  sum_ += took;
}

std::string_view name(control::Event::Kind kind) {
  using enum control::Event::Kind;
  switch (kind) {
    case node:
      return "node";
    case leader:
      return "leader";
    case seal:
      return "seal";
    case replica:
      return "replica";
    case maintenance:
      return "maintenance";
    case plan:
      return "plan";
    case permit:
      return "permit";
    case error:
      return "error";
    case workload:
      break;
  }
  return "workload";
}

std::string format_metrics(const Measured& measured) {
  const Counted& counted = measured.counted;
  std::vector<MetricFamily> families = gauges_of(measured);
  families.insert(families.begin(), build_info());
  families.push_back(family_of("commits_total",
                               "Writes of buckets: done, moved (the record was another one), unknown (it is read again).",
                               MetricType::Counter, "outcome",
                               {{"done", static_cast<double>(counted.committed)},
                                {"moved", static_cast<double>(counted.moved)},
                                {"unknown", static_cast<double>(counted.unknown)}}));
  families.push_back(family_of("pulses_total", "Pulses of nodes that were taken.", MetricType::Counter, "",
                               {{"", static_cast<double>(counted.pulses)}}));
  families.push_back(events_of(counted));
  families.push_back(histogram("step_seconds", "What a step of the controller takes.", counted.steps));
  families.push_back(histogram("commit_seconds", "How long the store takes to answer a write of a bucket.", counted.commits));
  families.push_back(histogram("plan_seconds", "What a plan takes, on a thread of its own.", counted.plans));
  if (measured.store) std::ranges::move(of_store(*measured.store), std::back_inserter(families));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace evenkeel::serve
