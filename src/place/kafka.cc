#include "evenkeel/place/kafka.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"

namespace evenkeel::place {
namespace {

using BrokerId = Number<struct BrokerTag, std::uint32_t>;
constexpr std::uint32_t broker_id_max = std::numeric_limits<std::int32_t>::max();

// A workload's name starts with a letter, a digit or an underscore, a topic's may also start with a point or a dash. Those get this in
// front, which no topic contains.
constexpr std::string_view odd_topic_prefix = "_@";

std::optional<std::string> why_not_a_topic(std::string_view text) {
  constexpr std::size_t topic_bytes_max = 249;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '.' || c == '_' || c == '-';
  };
  if (text.empty()) return "a topic's name is empty";
  if (text == "." || text == "..") return fmt::format("{} is no topic's name", quote(text));
  if (text.size() > topic_bytes_max)
    return fmt::format("the topic {} has {} characters; Kafka allows {}", quote(text, 20), text.size(), topic_bytes_max);
  if (!std::ranges::all_of(text, allowed))
    return fmt::format("the topic {} has characters other than letters, digits, points, underscores and dashes", quote(text));
  return std::nullopt;
}

WorkloadId workload_of(std::string_view topic) {
  const bool odd = topic.front() == '.' || topic.front() == '-';
  return WorkloadId(std::string(odd ? odd_topic_prefix : "") + std::string(topic));
}

Result<std::string> topic_of(const WorkloadId& workload) {
  std::string_view text = workload.str();
  if (text.starts_with(odd_topic_prefix)) text.remove_prefix(odd_topic_prefix.size());
  if (auto why = why_not_a_topic(text)) return fail(Code::invalid, "{}", *why);
  return std::string(text);
}

std::optional<BrokerId> broker_of(const NodeId& node) {
  const auto number = parse_unsigned(node.str());
  if (!number || *number > broker_id_max || node.str() != fmt::format("{}", *number)) return std::nullopt;
  return BrokerId(static_cast<std::uint32_t>(*number));
}

struct KafkaPartition {
  std::uint32_t number = 0;
  Place place;
  std::size_t begin = 0, size = 0;  // its replicas, in Topics::replicas
};
struct Topics {
  std::map<std::string, std::vector<KafkaPartition>, std::less<>> partitions;  // by number, once sorted
  std::vector<BrokerId> replicas;

  std::span<const BrokerId> row(const KafkaPartition& partition) const {
    return std::span(replicas).subspan(partition.begin, partition.size);
  }
};

// One of Kafka's files, read into Topics.
class KafkaReader {
 public:
  explicit KafkaReader(const Document& document) : root_(document.root()), problems_(document.problems()) {}

  void read_kcat() {
    FieldReader fields(root_, problems_, "a listing of kcat -L -J");
    const auto brokers = fields.take_required("brokers");
    if (brokers && expect_list(*brokers, problems_, "brokers")) {
      for (const Value item : brokers->items()) read_broker(item);
    }
    const auto topics = fields.take_required("topics");
    if (!topics || !expect_list(*topics, problems_, "topics")) return;
    for (const Value item : topics->items()) read_topic(item);
  }

  void read_reassign() {
    FieldReader fields(root_, problems_, "a reassignment file");
    std::uint64_t version = 1;
    const auto count = [&](Value v) { return read_count(v, problems_, {}); };
    if (fields.required("version", version, count) && version != 1)
      problems_.add(fields.take("version")->place(), fmt::format("version {} of reassignment files is not known", version),
                    "version 1 is");
    const auto partitions = fields.take_required("partitions");
    if (!partitions || !expect_list(*partitions, problems_, "partitions")) return;
    for (const Value item : partitions->items()) {
      FieldReader entry(item, problems_, "a partition");
      std::string topic;
      if (!entry.required("topic", topic, [&](Value v) { return read_topic_name(v); })) topic.clear();
      read_partition(item, entry, topic, [&](Value replica) { return read_broker_id(replica); });
    }
  }

  // In order of their numbers; each once, and, where the file tells of whole topics, none missing. One that seems to be missing may only
  // have been wrong, which was said.
  void sort(bool whole) {
    whole = whole && problems_.empty();
    for (auto& [topic, partitions] : topics_.partitions) {
      std::ranges::stable_sort(partitions, {}, &KafkaPartition::number);
      for (std::size_t i = 0; i < partitions.size(); ++i) {
        const std::uint32_t number = partitions[i].number, expected = i == 0 ? 0 : partitions[i - 1].number + 1;
        if (i > 0 && number == partitions[i - 1].number) {
          problems_.add(partitions[i].place, fmt::format("partition {} of topic {} is named twice", number, quote(topic)),
                        "keep one");
        } else if (whole && number != expected) {
          problems_.add(partitions[i].place,
                        fmt::format("topic {} has a partition {} but none {}", quote(topic), number, expected),
                        "name all partitions of a topic, or give what kcat prints with --describe");
        }
      }
    }
  }

  // Every partition is one that `known` has.
  void expect_in(const Topics& known, const std::string& kcat) {
    for (const auto& [topic, partitions] : topics_.partitions) {
      const auto found = known.partitions.find(topic);
      const std::size_t size = found == known.partitions.end() ? 0 : found->second.size();
      for (const KafkaPartition& partition : partitions) {
        if (partition.number < size) continue;
        problems_.add(partition.place, size == 0 ? fmt::format("{} has no topic {}", kcat, quote(topic))
                                                 : fmt::format("topic {} has no partition {}: {} has {} of it", quote(topic),
                                                               partition.number, kcat, size));
      }
    }
  }

  Diagnostics& problems() { return problems_; }
  Topics& topics() { return topics_; }
  std::set<BrokerId>& brokers() { return brokers_; }

 private:
  std::optional<BrokerId> read_broker_id(Value value) {
    const auto number = read_count(value, problems_, {.most = broker_id_max});
    return number ? std::optional(BrokerId(static_cast<std::uint32_t>(*number))) : std::nullopt;
  }
  // {"id": 1}, perhaps with more.
  std::optional<BrokerId> read_broker_entry(Value value) {
    FieldReader fields(value, problems_, "a broker");
    const auto id = fields.take_required("id");
    return id ? read_broker_id(*id) : std::nullopt;
  }
  void read_broker(Value value) {
    const auto id = read_broker_entry(value);
    if (!id) return;
    if (!brokers_.insert(*id).second) problems_.add(value.place(), fmt::format("broker {} is named twice", *id), "keep one");
  }

  std::optional<std::string> read_topic_name(Value value) {
    auto text = read_text(value, problems_);
    if (!text) return std::nullopt;
    if (auto why = why_not_a_topic(*text)) {
      problems_.add(value.place(), *std::move(why));
      return std::nullopt;
    }
    return text;
  }
  void read_topic(Value value) {
    FieldReader fields(value, problems_, "a topic");
    std::string topic;
    if (!fields.required("topic", topic, [&](Value v) { return read_topic_name(v); })) return;
    const auto partitions = fields.take_required("partitions");
    if (!partitions || !expect_list(*partitions, problems_, "partitions")) return;
    if (topics_.partitions.contains(topic))
      return problems_.add(value.place(), fmt::format("topic {} is named twice", quote(topic)), "keep one");
    for (const Value item : partitions->items()) {
      FieldReader entry(item, problems_, "a partition");
      read_partition(item, entry, topic, [&](Value replica) { return read_broker_entry(replica); });
    }
  }

  // An empty topic is one that was wrong: what else is wrong is still said.
  template <class ReadReplica>
  void read_partition(Value value, FieldReader& fields, const std::string& topic, const ReadReplica& read_replica) {
    KafkaPartition partition{.place = value.place(), .begin = topics_.replicas.size()};
    const auto before = problems_.found();
    fields.required("partition", partition.number, [&](Value v) { return read_count(v, problems_, {.most = shards_max - 1}); });
    const auto replicas = fields.take_required("replicas");
    if (replicas && expect_list(*replicas, problems_, "replicas")) {
      for (const Value item : replicas->items()) {
        if (const auto broker = read_replica(item)) topics_.replicas.push_back(*broker);
      }
      partition.size = topics_.replicas.size() - partition.begin;
      expect_distinct(*replicas, topics_.row(partition));
      if (replicas->size() == 0) problems_.add(replicas->place(), "a partition without replicas is nowhere", "name its brokers");
    }
    if (const auto dirs = fields.take("log_dirs"); dirs && expect_list(*dirs, problems_, "log dirs")) {
      for (const Value item : dirs->items()) read_text(item, problems_);
      if (replicas && dirs->size() != replicas->size())
        problems_.add(dirs->place(), fmt::format("{} log dirs for {} replicas", dirs->size(), replicas->size()),
                      "give one for each");
    }
    if (problems_.found() == before && !topic.empty()) topics_.partitions[topic].push_back(partition);
  }
  void expect_distinct(Value list, std::span<const BrokerId> row) {
    std::vector<BrokerId> sorted(row.begin(), row.end());
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end())
      problems_.add(list.place(), fmt::format("two replicas on broker {}", *twice), "name each broker once");
  }

  Value root_;
  Diagnostics problems_;
  Topics topics_;
  std::set<BrokerId> brokers_;  // those that kcat lists
};

// The rows of an assignment in place of those that kcat shows.
void replace_rows(Topics& topics, const Topics& assigned) {
  for (const auto& [topic, partitions] : assigned.partitions) {
    auto& present = topics.partitions.find(topic)->second;
    for (const KafkaPartition& partition : partitions) {
      const auto row = assigned.row(partition);
      present[partition.number] = {partition.number, partition.place, topics.replicas.size(), row.size()};
      topics.replicas.insert(topics.replicas.end(), row.begin(), row.end());
    }
  }
}

std::string taken_as_down(const NodeId& broker) {
  return fmt::format("broker {} holds replicas and is not among the brokers: taken as down", broker);
}

class ClusterBuilder {
 public:
  ClusterBuilder(const Topics& topics, const std::set<BrokerId>* alive) : topics_(topics), alive_(alive) {}

  FromKafka build() {
    out_.cluster.name = ClusterId("kafka");
    add_nodes();
    for (const auto& [topic, partitions] : topics_.partitions) add_topic(topic, partitions);
    return std::move(out_);
  }

 private:
  // Without kcat nobody tells which brokers are alive, and all that are named are.
  void add_nodes() {
    std::map<BrokerId, bool> brokers;
    for (const auto& [topic, partitions] : topics_.partitions) {
      for (const KafkaPartition& partition : partitions) {
        for (const BrokerId broker : topics_.row(partition)) brokers.emplace(broker, alive_ == nullptr);
      }
    }
    if (alive_ != nullptr) {
      for (const BrokerId broker : *alive_) brokers[broker] = true;
    }
    for (const auto& [broker, alive] : brokers) {
      indexes_.emplace(broker, NodeIndex(static_cast<std::uint32_t>(out_.cluster.nodes.size())));
      out_.cluster.nodes.push_back(
          {.name = NodeId(fmt::format("{}", broker)), .status = alive ? NodeStatus::up : NodeStatus::down});
      if (!alive) out_.notes.push_back(taken_as_down(out_.cluster.nodes.back().name));
    }
  }

  void add_topic(const std::string& topic, const std::vector<KafkaPartition>& partitions) {
    const auto [least, most] = std::ranges::minmax(partitions, {}, &KafkaPartition::size);
    if (least.size != most.size) {
      out_.notes.push_back(fmt::format("topic {} has partitions of {} to {} replicas: planned for {} each", topic, least.size,
                                       most.size, most.size));
    }
    const WorkloadId workload = workload_of(topic);
    out_.cluster.workloads.push_back({.name = workload,
                                      .shards = static_cast<std::uint32_t>(partitions.size()),
                                      .replicas = static_cast<std::uint32_t>(most.size)});
    Placement& rows = out_.cluster.placement[workload];
    rows.reserve(partitions.size(), 0);
    for (const KafkaPartition& partition : partitions) {
      for (const BrokerId broker : topics_.row(partition)) rows.add(indexes_.find(broker)->second);
      rows.end_row();
    }
  }

  const Topics& topics_;
  const std::set<BrokerId>* alive_;
  std::map<BrokerId, NodeIndex> indexes_;
  FromKafka out_;
};

// One file, read and found right.
struct Read {
  Topics topics;
  std::set<BrokerId> brokers;
};
Parsed<Read> read_text_of(const KafkaText& text, const std::function<void(KafkaReader&)>& read) {
  const auto document = Document::parse(text.text, text.file, Syntax::json);
  if (!document) return tl::unexpected(document.error());
  KafkaReader reader(*document);
  read(reader);
  if (!reader.problems().empty()) return tl::unexpected(std::move(reader.problems()));
  return Read{std::move(reader.topics()), std::move(reader.brokers())};
}

// An overlay's parts put in place of Kafka's, one kind of thing a function.
class Layer {
 public:
  Layer(FromKafka& kafka, const Cluster& overlay) : kafka_(kafka), cluster_(kafka.cluster), overlay_(overlay) {}

  Result<void> lay() {
    if (!overlay_.placement.empty() || !overlay_.cores.empty() || !overlay_.moving.empty() || !overlay_.recent.empty())
      return fail(Code::invalid, "placement, cores, moving and recent are Kafka's to say: leave them out");
    if (overlay_.name.str() != "default") cluster_.name = overlay_.name;
    cluster_.settings = overlay_.settings;
    cluster_.state_models = overlay_.state_models;
    for (const Node& node : overlay_.nodes) {
      if (const auto laid = lay_node(node); !laid) return laid;
    }
    for (const Workload& workload : overlay_.workloads) {
      if (const auto laid = lay_workload(workload); !laid) return laid;
    }
    for (const evenkeel::Problem& problem : check(cluster_, 1))
      return fail(Code::invalid, "{}: {}", fmt::join(problem.path, "."), problem.message);
    return {};
  }

 private:
  Result<void> lay_node(const Node& node) {
    if (!broker_of(node.name)) return fail(Code::invalid, "node {} is no broker: name it by its id", quote(node.name.str()));
    const auto [at, added] = index_of(node.name);
    Node& present = cluster_.nodes[at.value()];
    const bool down = !added && present.status == NodeStatus::down;
    present = node;
    if (down && node.status == NodeStatus::up) present.status = NodeStatus::down;
    if (down && present.status != NodeStatus::down) std::erase(kafka_.notes, taken_as_down(node.name));
    if (added) kafka_.notes.push_back(fmt::format("broker {} is only in the overlay: taken as new and empty", node.name));
    indexes_.push_back(at);
    return {};
  }
  std::pair<NodeIndex, bool> index_of(const NodeId& name) {
    if (by_name_.empty()) {
      for (std::uint32_t i = 0; i < cluster_.nodes.size(); ++i) by_name_.emplace(cluster_.nodes[i].name, i);
    }
    const auto [found, added] = by_name_.emplace(name, static_cast<std::uint32_t>(cluster_.nodes.size()));
    if (added) cluster_.nodes.push_back({.name = name});
    return {NodeIndex(found->second), added};
  }

  Result<void> lay_workload(const Workload& workload) {
    if (topics_.empty()) {
      for (Workload& topic : cluster_.workloads) topics_.emplace(topic.name, &topic);
    }
    const auto known = topics_.find(workload.name);
    if (known == topics_.end()) return fail(Code::invalid, "there is no topic {}: create it first", quote(workload.name.str()));
    Workload* const found = known->second;
    if (workload.shards != found->shards)
      return fail(Code::invalid, "topic {} has {} partitions, not {}", workload.name, found->shards, workload.shards);
    const std::uint32_t replicas = workload.replicas == 1 ? found->replicas : workload.replicas;
    *found = workload;
    found->replicas = replicas;
    found->pinned.nodes = {};
    for (std::size_t i = 0; i < workload.pinned.shards.size(); ++i) {
      for (const NodeIndex node : workload.pinned.nodes[i]) found->pinned.nodes.add(indexes_[node.value()]);
      found->pinned.nodes.end_row();
    }
    return {};
  }

  FromKafka& kafka_;
  Cluster& cluster_;
  const Cluster& overlay_;
  std::map<NodeId, std::uint32_t> by_name_;
  std::map<WorkloadId, Workload*> topics_;
  std::vector<NodeIndex> indexes_;  // of the overlay's nodes in the cluster
};

bool changed(const Cluster& cluster, const WorkloadId& workload, std::size_t shard, std::span<const NodeIndex> row) {
  const auto before = cluster.placement.find(workload);
  return before == cluster.placement.end() || shard >= before->second.size() || !std::ranges::equal(before->second[shard], row);
}

// `{"topic": "t", "partition": 0, "replicas": [1, 2]}` on a line of its own.
Result<void> write_entry(Writer& out, const Cluster& cluster, const std::string& topic, std::size_t shard,
                         std::span<const NodeIndex> row) {
  out.begin_map(Writer::Flow::line)
      .key("topic")
      .text(topic)
      .key("partition")
      .number(shard)
      .key("replicas")
      .begin_list(Writer::Flow::line);
  for (const NodeIndex node : row) {
    const NodeId& name = cluster.nodes[node.value()].name;
    const auto broker = broker_of(name);
    if (!broker) return fail(Code::invalid, "node {} is not named by a broker id, a whole number", quote(name.str()));
    out.number(broker->value());
  }
  out.end_list().end_map();
  return {};
}

}  // namespace

Parsed<FromKafka> parse_kafka(const KafkaTexts& texts) {
  ensure(texts.kcat || texts.reassign, "something is read");
  Read all;
  if (texts.kcat) {
    auto kcat = read_text_of(*texts.kcat, [](KafkaReader& reader) {
      reader.read_kcat();
      reader.sort(true);
    });
    if (!kcat) return tl::unexpected(std::move(kcat.error()));
    all = *std::move(kcat);
  }
  if (texts.reassign) {
    auto assigned = read_text_of(*texts.reassign, [&](KafkaReader& reader) {
      reader.read_reassign();
      reader.sort(!texts.kcat);
      if (texts.kcat) reader.expect_in(all.topics, texts.kcat->file);
    });
    if (!assigned) return tl::unexpected(std::move(assigned.error()));
    if (texts.kcat)
      replace_rows(all.topics, assigned->topics);
    else
      all = *std::move(assigned);
  }
  FromKafka out = ClusterBuilder(all.topics, texts.kcat ? &all.brokers : nullptr).build();
  if (out.cluster.nodes.size() <= nodes_max) return out;
  Diagnostics problems((texts.reassign ? *texts.reassign : *texts.kcat).file);
  problems.add({}, fmt::format("{} brokers are too many", out.cluster.nodes.size()),
               fmt::format("at most {} are allowed", nodes_max));
  return tl::unexpected(std::move(problems));
}

Result<FromKafka> lay_over(FromKafka kafka, const Cluster& overlay) {
  if (const auto laid = Layer(kafka, overlay).lay(); !laid) return fail(laid.error());
  return kafka;
}

Result<std::string> format_kafka_reassign(const Cluster& cluster, const Plan& plan) {
  Writer out(Syntax::json);
  out.begin_map().key("version").number(1).key("partitions").begin_list();
  for (const auto& [workload, rows] : plan.placement) {
    std::optional<std::string> topic;
    for (std::size_t shard = 0; shard < rows.size(); ++shard) {
      if (!changed(cluster, workload, shard, rows[shard])) continue;
      if (!topic) {
        auto named = topic_of(workload);
        if (!named) return fail(named.error());
        topic = *std::move(named);
      }
      if (const auto written = write_entry(out, cluster, *topic, shard, rows[shard]); !written) return fail(written.error());
    }
  }
  out.end_list().end_map();
  return std::move(out).take();
}

}  // namespace evenkeel::place
