#pragma once
// kafka: Kafka's own files in and out. What `kcat -L -J` and `kafka-reassign-partitions` write becomes a cluster to plan for, and a plan
// becomes a file that `kafka-reassign-partitions --execute` takes.
//
//   auto read = parse_kafka({.kcat = KafkaText{text, "now.json"}});
//   if (!read) return print(read.error());                        // every problem with its line and column
//   auto whole = lay_over(*std::move(read), overlay);             // what Kafka does not tell: racks, capacities, loads, new brokers
//   auto file = format_kafka_reassign(whole->cluster, place::plan(whole->cluster));
//
// A broker is a node named by its id, a topic a workload, a partition a shard; the first of a partition's replicas is its preferred
// leader, and leads in the cluster whoever leads now. Messages use Kafka's words. Loads are not in these files, so that balance is of
// replicas until an overlay names loads.
//
// What is deliberate:
//   - A topic's partitions may differ in their number of replicas. The workload has the largest of them, so that planning adds
//     what is missing and drops nothing.
//   - A broker that holds replicas and is not among kcat's brokers, which are those alive, is a node that is down.
//   - A partition that is named twice, or missing between others, is an error: half a topic cannot be planned.
//   - Fields that are not needed are not looked at: the formats are Kafka's to extend.
//
// Cost: linear in the text, and O(n log n) in partitions where they are not in order.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/diagnostic.h"
#include "evenkeel/base/result.h"
#include "evenkeel/model/cluster.h"
#include "evenkeel/place/plan.h"

namespace evenkeel::place {

struct KafkaText {
  std::string_view text;
  std::string file;  // used in messages only
};
// At least one of them. With both, the assignment is where the partitions that it names are, and kcat tells the rest.
struct KafkaTexts {
  std::optional<KafkaText> kcat;      // brokers that are alive, and all partitions
  std::optional<KafkaText> reassign;  // {"version": 1, "partitions": [{"topic": …, "partition": …, "replicas": […]}]}
};

struct FromKafka {
  Cluster cluster;
  std::vector<std::string> notes;  // what was decided while reading, in sentences for the operator
};

Parsed<FromKafka> parse_kafka(const KafkaTexts& texts);

// A cluster file's settings, nodes and workloads over what Kafka says. Nodes and workloads replace brokers and topics of their names,
// but for the number of shards, which must agree, for `replicas: 1`, which leaves Kafka's number, and for `status: up`, which does not
// raise a broker that is down. Nodes that Kafka does not know are new brokers; topics that it does not know are an error.
Result<FromKafka> lay_over(FromKafka kafka, const Cluster& overlay);

// The partitions that the plan changes, replicas or preferred leader, in order of topic and number. Refused if a node concerned is not
// named by a broker id or a workload is no topic.
Result<std::string> format_kafka_reassign(const Cluster& cluster, const Plan& plan);

}  // namespace evenkeel::place
