#include "evenkeel/broker/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <utility>
#include <vector>

namespace evenkeel::broker {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// A row of sensors: the total, a queue or a type.
struct Row {
  ClientMetric::Label label;
  const Counters* counters;
};

std::vector<Row> rows_of(const Status& status) {
  std::vector<Row> rows{{{"queue", "total"}, &status.total}};
  for (const QueueStatus& queue : status.queues) rows.push_back({{"queue", queue.name}, &queue.counters});
  for (const TypeStatus& type : status.types) rows.push_back({{"task", type.name}, &type.counters});
  return rows;
}

ClientMetric value_of(MetricType type, std::vector<ClientMetric::Label> labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  return metric;
}

MetricFamily family_of(const std::vector<Row>& rows, std::string name, std::string help, MetricType type,
                       std::uint64_t Counters::*field) {
  MetricFamily family{.name = std::move(name), .help = std::move(help), .type = type, .metric = {}};
  for (const Row& row : rows) family.metric.push_back(value_of(type, {row.label}, static_cast<double>(row.counters->*field)));
  return family;
}

MetricFamily held_of(const std::vector<Row>& rows, const std::vector<std::string>& resources) {
  MetricFamily family{.name = "evenkeel_broker_held_amount",
                      .help = "What running tasks hold, by resource: cpu in its own units, memory in bytes.",
                      .type = MetricType::Gauge,
                      .metric = {}};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < resources.size() && i < row.counters->held.size(); ++i)
      family.metric.push_back(
          value_of(MetricType::Gauge, {row.label, {"resource", resources[i]}}, static_cast<double>(row.counters->held[i])));
  return family;
}

double seconds(UInt128 micros) { return static_cast<double>(micros) / 1e6; }

ClientMetric histogram_of(ClientMetric::Label label, const Histogram& histogram) {
  ClientMetric metric;
  metric.label = {std::move(label)};
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
    below += histogram.counts()[i];
    const bool last = i == Histogram::bounds.size();
    metric.histogram.bucket.push_back({below, last ? std::numeric_limits<double>::infinity() : seconds(Histogram::bounds[i])});
  }
  metric.histogram.sample_count = below;
  metric.histogram.sample_sum = seconds(histogram.sum());
  return metric;
}

MetricFamily in_queue_of(const Status& status) {
  MetricFamily family{.name = "evenkeel_broker_in_queue_seconds",
                      .help = "How long granted tasks had waited.",
                      .type = MetricType::Histogram,
                      .metric = {}};
  for (const QueueStatus& queue : status.queues) family.metric.push_back(histogram_of({"queue", queue.name}, queue.in_queue));
  for (const TypeStatus& type : status.types) family.metric.push_back(histogram_of({"task", type.name}, type.in_queue));
  return family;
}

MetricFamily execution_of(const Status& status) {
  MetricFamily family{.name = "evenkeel_broker_execution_seconds",
                      .help = "How long finished tasks had run, cancelled ones left out.",
                      .type = MetricType::Histogram,
                      .metric = {}};
  for (const TypeStatus& type : status.types) family.metric.push_back(histogram_of({"task", type.name}, type.execution));
  return family;
}

}  // namespace

std::string format_metrics(const Status& status) {
  const std::vector<Row> rows = rows_of(status);
  std::vector<MetricFamily> families{
      family_of(rows, "evenkeel_broker_enqueued_tasks", "Tasks that wait for their turn.", MetricType::Gauge,
                &Counters::enqueued),
      family_of(rows, "evenkeel_broker_in_flight_tasks", "Tasks that run.", MetricType::Gauge, &Counters::infly),
      family_of(rows, "evenkeel_broker_finished_tasks_total", "Tasks that ended after they ran, cancelled ones too.",
                MetricType::Counter, &Counters::finished),
      held_of(rows, status.resources),
      in_queue_of(status),
      execution_of(status),
  };
  families.push_back({.name = "evenkeel_broker_missing_task_types_total",
                      .help = "Submitted tasks whose type the config does not know; they ran as type unknown.",
                      .type = MetricType::Counter,
                      .metric = {value_of(MetricType::Counter, {}, static_cast<double>(status.missing_types))}});
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace evenkeel::broker
