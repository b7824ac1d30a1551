#pragma once
// A broker's status as Prometheus text: what a scraper reads.
//
//   std::string text = format_metrics(broker->observe({.waiting_max = 0, .running_max = 0}).status);
//
// Every family is by queue (`queue="…"`, and `queue="total"` for the node) and by task type (`task="…"`); what is held also by
// `resource="…"`. Labels come from the config alone, so their number is bounded by it: a task of an unknown type counts
// as `unknown`, and clients and tasks are no labels. Names, units and YDB's names for the same: docs/broker-metrics.md.
// Pure. Cost: O(queues + types) lines, each histogram 28 of them.

#include <string>

#include "evenkeel/broker/status.h"

namespace evenkeel::broker {

std::string format_metrics(const Status& status);

}  // namespace evenkeel::broker
