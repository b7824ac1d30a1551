// Kafka's files in and out.

#include "evenkeel/place/kafka.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "evenkeel/model/cluster_file.h"

namespace evenkeel::place {
namespace {

Parsed<FromKafka> from_reassign(std::string_view text) { return parse_kafka({.reassign = KafkaText{text, "a.json"}}); }
Parsed<FromKafka> from_kcat(std::string_view text) { return parse_kafka({.kcat = KafkaText{text, "now.json"}}); }
Parsed<FromKafka> from_both(std::string_view kcat, std::string_view reassign) {
  return parse_kafka({.kcat = KafkaText{kcat, "now.json"}, .reassign = KafkaText{reassign, "a.json"}});
}

template <class T>
std::string problems_of(const Parsed<T>& parsed) {
  return parsed ? "none" : parsed.error().format();
}

// The placement in a line a topic: "t: 1 2 | 2 3".
std::string shown(const Cluster& cluster) {
  std::string out;
  for (const auto& [workload, rows] : cluster.placement) {
    out += workload.str() + ":";
    for (std::size_t shard = 0; shard < rows.size(); ++shard) {
      out += shard == 0 ? "" : " |";
      for (const NodeIndex node : rows[shard]) out += " " + cluster.nodes[node.value()].name.str();
    }
    out += "\n";
  }
  return out;
}
std::string nodes_of(const Cluster& cluster) {
  std::string out;
  for (const Node& node : cluster.nodes) out += fmt::format("{}{} ", node.name, node.status == NodeStatus::up ? "" : "!");
  return out;
}

constexpr std::string_view kcat_text =
    R"({"originating_broker":{"id":1,"name":"k1:9092/1"},"query":{"topic":"*"},"controllerid":1,
"brokers":[{"id":10,"name":"k10:9092"},{"id":1,"name":"k1:9092"},{"id":2,"name":"k2:9092"}],
"topics":[
 {"topic":"t","partitions":[
  {"partition":1,"leader":2,"replicas":[{"id":2},{"id":1}],"isrs":[{"id":2}]},
  {"partition":0,"leader":1,"replicas":[{"id":1},{"id":2}],"isrs":[{"id":1},{"id":2}]}]},
 {"topic":"gone","error":"Broker: Unknown topic or partition","partitions":[]},
 {"topic":"__consumer_offsets","partitions":[
  {"partition":0,"error":"Broker: Leader not available","leader":-1,"replicas":[{"id":4}],"isrs":[]}]}]})";

TEST(Kafka, KcatTellsBrokersAndPlacement) {
  const auto read = from_kcat(kcat_text);
  ASSERT_TRUE(read.has_value()) << problems_of(read);
  EXPECT_EQ(nodes_of(read->cluster), "1 2 4! 10 ");
  EXPECT_EQ(shown(read->cluster), "__consumer_offsets: 4\nt: 1 2 | 2 1\n");
  EXPECT_EQ(read->notes, std::vector<std::string>{"broker 4 holds replicas and is not among the brokers: taken as down"});
  EXPECT_TRUE(check(read->cluster).empty());
}

TEST(Kafka, AnAssignmentAloneTellsPlacementAndItsBrokers) {
  const auto read = from_reassign(
      R"({"version":1,"partitions":[{"topic":"b.c-d_1","partition":0,"replicas":[3,1],"log_dirs":["any","/d"]},
          {"topic":"a","partition":0,"replicas":[7]}]})");
  ASSERT_TRUE(read.has_value()) << problems_of(read);
  EXPECT_EQ(nodes_of(read->cluster), "1 3 7 ");
  EXPECT_EQ(shown(read->cluster), "a: 7\nb.c-d_1: 3 1\n");
  EXPECT_TRUE(read->notes.empty());
}

TEST(Kafka, WithBothTheAssignmentIsWhereItsPartitionsAre) {
  const auto read = from_both(kcat_text, R"({"version":1,"partitions":[{"topic":"t","partition":1,"replicas":[10,1]}]})");
  ASSERT_TRUE(read.has_value()) << problems_of(read);
  EXPECT_EQ(shown(read->cluster), "__consumer_offsets: 4\nt: 1 2 | 10 1\n");
  EXPECT_EQ(nodes_of(read->cluster), "1 2 4! 10 ");
}

TEST(Kafka, WithBothAnAssignmentMustBeOfWhatIsThere) {
  EXPECT_EQ(problems_of(from_both(kcat_text, R"({"version":1,"partitions":[
{"topic":"t","partition":2,"replicas":[1]},
{"topic":"u","partition":0,"replicas":[1]}]})")),
            "a.json:2:1: error: topic \"t\" has no partition 2: now.json has 2 of it\n"
            "a.json:3:1: error: now.json has no topic \"u\"");
}

TEST(Kafka, TheLargestNumberOfReplicasIsPlannedForAll) {
  const auto read = from_reassign(
      R"({"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1]},{"topic":"t","partition":1,"replicas":[3,1,2]}]})");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->cluster.workloads.at(0).replicas, 3u);
  EXPECT_EQ(read->notes, std::vector<std::string>{"topic t has partitions of 1 to 3 replicas: planned for 3 each"});
}

TEST(Kafka, TopicsThatNoWorkloadMayBeNamedLikeComeAndGo) {
  const auto read = from_reassign(
      R"({"version":1,"partitions":[{"topic":"-x","partition":0,"replicas":[1]},{"topic":".y","partition":0,"replicas":[1]}]})");
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(check(read->cluster).empty());
  const Cluster other;
  Plan plan;
  plan.placement = read->cluster.placement;
  EXPECT_EQ(*format_kafka_reassign({.nodes = read->cluster.nodes}, plan), R"({
  "version": 1,
  "partitions": [
    {"topic": "-x", "partition": 0, "replicas": [1]},
    {"topic": ".y", "partition": 0, "replicas": [1]}
  ]
}
)");
}

TEST(Kafka, EveryWrongThingInAnAssignmentHasItsPlace) {
  EXPECT_EQ(problems_of(from_reassign(R"({"version":2,"partitions":[
{"topic":"t","partition":0,"replicas":[1,2,1]},
{"topic":"t","partition":1,"replicas":[]},
{"topic":"t","partition":-1,"replicas":[1]},
{"topic":"t","partition":2,"replicas":["1"]},
{"topic":"t","partition":3,"replicas":[2147483648]},
{"topic":"a/b","partition":0,"replicas":[1]},
{"topic":"..","partition":0,"replicas":[1]},
{"topic":"","partition":0,"replicas":[1]},
{"partition":0,"replicas":[1]},
{"topic":"t","replicas":[1]},
{"topic":"t","partition":4},
{"topic":"t","partition":4,"replicas":3},
{"topic":"t","partition":4,"replicas":[1],"log_dirs":["any","any"]},
{"topic":"t","partition":4,"replicas":[1],"log_dirs":"any"},
7
]})")),
            R"(a.json:1:12: error: version 2 of reassignment files is not known
  version 1 is
a.json:2:39: error: two replicas on broker 1
  name each broker once
a.json:3:39: error: a partition without replicas is nowhere
  name its brokers
a.json:4:26: error: "-1" is negative
  give zero or more
a.json:5:40: error: expected a whole number, found the text "1"
  remove the quotes
a.json:6:40: error: 2147483648 is out of range
  give a whole number from 0 to 2147483647
a.json:7:10: error: the topic "a/b" has characters other than letters, digits, points, underscores and dashes
a.json:8:10: error: ".." is no topic's name
a.json:9:10: error: a topic's name is empty
a.json:10:1: error: a partition lacks the field "topic"
  add it
a.json:11:1: error: a partition lacks the field "partition"
  add it
a.json:12:1: error: a partition lacks the field "replicas"
  add it
a.json:13:39: error: expected a list of replicas, found "3"
a.json:14:54: error: 2 log dirs for 1 replicas
  give one for each
a.json:15:54: error: expected a list of log dirs, found the text "any"
a.json:16:1: error: expected a partition with its fields, found "7")");
}

TEST(Kafka, NoPartitionTwiceAndNoneMissing) {
  EXPECT_EQ(problems_of(from_reassign(R"({"version":1,"partitions":[
{"topic":"t","partition":2,"replicas":[1]},
{"topic":"t","partition":0,"replicas":[1]},
{"topic":"t","partition":0,"replicas":[2]},
{"topic":"u","partition":1,"replicas":[2]}
]})")),
            R"(a.json:2:1: error: topic "t" has a partition 2 but none 1
  name all partitions of a topic, or give what kcat prints with --describe
a.json:4:1: error: partition 0 of topic "t" is named twice
  keep one
a.json:5:1: error: topic "u" has a partition 1 but none 0
  name all partitions of a topic, or give what kcat prints with --describe)");
}

TEST(Kafka, EveryWrongThingInWhatKcatPrintsHasItsPlace) {
  EXPECT_EQ(problems_of(from_kcat(R"({"brokers":[{"id":1},{"id":1},{"name":"x"},{"id":-1},3],
"topics":[
{"topic":"t","partitions":[{"partition":0,"replicas":[1]}]},
{"topic":"u","partitions":[{"partition":0,"replicas":[{"id":1},{"id":1}]}]},
{"topic":"v","partitions":[{"partition":0,"replicas":[{"id":1}]}]},
{"topic":"v","partitions":[{"partition":0,"replicas":[{"id":1}]}]},
{"topic":"w"},
{"partitions":[]}
]})")),
            R"(now.json:1:22: error: broker 1 is named twice
  keep one
now.json:1:31: error: a broker lacks the field "id"
  add it
now.json:1:50: error: "-1" is negative
  give zero or more
now.json:1:54: error: expected a broker with its fields, found "3"
now.json:3:55: error: expected a broker with its fields, found "1"
now.json:4:54: error: two replicas on broker 1
  name each broker once
now.json:6:1: error: topic "v" is named twice
  keep one
now.json:7:1: error: a topic lacks the field "partitions"
  add it
now.json:8:1: error: a topic lacks the field "topic"
  add it)");
  EXPECT_EQ(problems_of(from_kcat("{}")),
            R"(now.json:1:1: error: a listing of kcat -L -J lacks the field "brokers"
  add it
now.json:1:1: error: a listing of kcat -L -J lacks the field "topics"
  add it)");
  EXPECT_EQ(problems_of(from_kcat("[]")),
            R"(now.json:1:1: error: expected a listing of kcat -L -J with its fields, found a list)");
  EXPECT_EQ(problems_of(from_kcat("")),
            R"(now.json: error: the file is empty
  check its name, and that it was saved)");
  EXPECT_EQ(problems_of(from_reassign("Current partition replica assignment\n{}")),
            R"(a.json:1:1: error: not valid JSON: syntax error while parsing value - invalid literal)");
}

Result<FromKafka> laid(std::string_view yaml) {
  auto kafka = from_kcat(kcat_text);
  const auto overlay = parse_cluster(yaml, "o.yaml", Syntax::yaml);
  EXPECT_TRUE(overlay.has_value()) << overlay.error().format();
  return lay_over(*std::move(kafka), *overlay);
}

TEST(KafkaOverlay, NodesAndWorkloadsReplaceBrokersAndTopics) {
  const auto out = laid(R"(
settings: {moves_max: 7}
nodes: [{name: "10", zone: c}, {name: 3, zone: b}, {name: 4, zone: d}, {name: 1, zone: a, status: draining}]
workloads: [{name: t, shards: 2, load: {disk: 1Gi}, pinned: {1: [1]}}]
)");
  ASSERT_TRUE(out.has_value()) << out.error().message;
  EXPECT_EQ(out->cluster.settings.moves_max, 7u);
  EXPECT_EQ(nodes_of(out->cluster), "1! 2 4! 10 3 ");
  EXPECT_EQ(out->cluster.nodes[0].status, NodeStatus::draining);
  EXPECT_EQ(out->cluster.nodes[2].zone, "d");  // and still down
  EXPECT_EQ(out->cluster.nodes[3].zone, "c");
  const Workload& topic = out->cluster.workloads.at(1);
  EXPECT_EQ(topic.replicas, 2u);
  EXPECT_EQ(topic.load.size(), 1u);
  EXPECT_EQ(topic.pinned.find(ShardIndex(1)).front(), NodeIndex(0));
  EXPECT_EQ(shown(out->cluster), "__consumer_offsets: 4\nt: 1 2 | 2 1\n");
  EXPECT_EQ(out->notes.back(), "broker 3 is only in the overlay: taken as new and empty");
  EXPECT_TRUE(check(out->cluster).empty());
}

TEST(KafkaOverlay, ABrokerThatItNamesIsNotTakenAsDown) {
  const auto out = laid("nodes: [{name: 4, status: cordoned}]");
  ASSERT_TRUE(out.has_value()) << out.error().message;
  EXPECT_EQ(out->cluster.nodes[2].status, NodeStatus::cordoned);
  EXPECT_TRUE(out->notes.empty()) << out->notes.front();
}

TEST(KafkaOverlay, MoreReplicasCanBeAskedFor) {
  const auto out = laid("workloads: [{name: t, shards: 2, replicas: 3}]");
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->cluster.workloads.at(1).replicas, 3u);
}

TEST(KafkaOverlay, WhatDoesNotFitIsRefused) {
  const auto why = [](std::string_view yaml) {
    const auto out = laid(yaml);
    return out ? "none" : out.error().message;
  };
  EXPECT_EQ(why("nodes: [{name: n1}]"), "node \"n1\" is no broker: name it by its id");
  EXPECT_EQ(why("nodes: [{name: \"01\"}]"), "node \"01\" is no broker: name it by its id");
  EXPECT_EQ(why("workloads: [{name: x, shards: 2}]"), "there is no topic \"x\": create it first");
  EXPECT_EQ(why("workloads: [{name: t, shards: 3}]"), "topic t has 2 partitions, not 3");
  EXPECT_EQ(why("nodes: [{name: 1}]\nworkloads: [{name: t, shards: 2}]\nplacement: {t: [[1]]}"),
            "placement, cores, moving and recent are Kafka's to say: leave them out");
}

TEST(KafkaReassign, OnlyWhatChangesAndALeaderIsAChange) {
  const auto read = from_reassign(R"({"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2]},
    {"topic":"t","partition":1,"replicas":[1,2]},{"topic":"t","partition":2,"replicas":[1,2]},{"topic":"u","partition":0,"replicas":[3]}]})");
  ASSERT_TRUE(read.has_value());
  Plan plan;
  plan.placement = read->cluster.placement;
  EXPECT_EQ(*format_kafka_reassign(read->cluster, plan), "{\n  \"version\": 1,\n  \"partitions\": []\n}\n");
  Placement& rows = plan.placement[WorkloadId("t")] = {};
  const auto add = [&](std::uint32_t a, std::uint32_t b) { rows.add(NodeIndex(a)), rows.add(NodeIndex(b)), rows.end_row(); };
  add(0, 1), add(1, 0), add(0, 2);
  EXPECT_EQ(*format_kafka_reassign(read->cluster, plan), R"({
  "version": 1,
  "partitions": [
    {"topic": "t", "partition": 1, "replicas": [2, 1]},
    {"topic": "t", "partition": 2, "replicas": [1, 3]}
  ]
}
)");
}

TEST(KafkaReassign, NodesAndWorkloadsThatKafkaCannotHaveAreSaid) {
  const auto why = [](const std::string& node, const std::string& workload) {
    Cluster cluster;
    cluster.nodes.push_back({.name = NodeId(node)});
    Plan plan;
    Placement& rows = plan.placement[WorkloadId(workload)];
    rows.add(NodeIndex(0)), rows.end_row();
    const auto text = format_kafka_reassign(cluster, plan);
    return text ? "none" : text.error().message;
  };
  EXPECT_EQ(why("1", "t"), "none");
  EXPECT_EQ(why("n1", "t"), "node \"n1\" is not named by a broker id, a whole number");
  EXPECT_EQ(why("007", "t"), "node \"007\" is not named by a broker id, a whole number");
  EXPECT_EQ(why("2147483648", "t"), "node \"2147483648\" is not named by a broker id, a whole number");
  EXPECT_EQ(why("1", "a:b"), "the topic \"a:b\" has characters other than letters, digits, points, underscores and dashes");
}

// What is written is read back as the same placement.
RC_GTEST_PROP(KafkaReassign, SurvivesBeingWrittenAndRead, ()) {
  Cluster cluster;
  const auto brokers = *rc::gen::inRange(1u, 6u);
  for (std::uint32_t i = 0; i < brokers; ++i) cluster.nodes.push_back({.name = NodeId(fmt::format("{}", i * 7))});
  Plan plan;
  for (const char* topic : {"a", "b.c", "_@-d"}) {
    Placement& rows = plan.placement[WorkloadId(topic)];
    for (auto left = *rc::gen::inRange(1u, 4u); left > 0; --left) {
      const auto first = *rc::gen::inRange(0u, brokers), count = *rc::gen::inRange(1u, brokers + 1);
      for (std::uint32_t i = 0; i < count; ++i) rows.add(NodeIndex((first + i) % brokers));
      rows.end_row();
    }
  }
  const auto text = format_kafka_reassign(cluster, plan);
  RC_ASSERT(text.has_value());
  const auto again = from_reassign(*text);
  RC_ASSERT(again.has_value());
  cluster.placement = plan.placement;
  RC_ASSERT(shown(again->cluster) == shown(cluster));
}

}  // namespace
}  // namespace evenkeel::place
