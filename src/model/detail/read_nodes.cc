#include <array>

#include "evenkeel/base/text.h"
#include "evenkeel/model/detail/cluster_reader.h"
#include "evenkeel/model/detail/range.h"

namespace evenkeel::detail {

void ClusterReader::read_nodes(Value value) {
  nodes_sound_ = expect_list(value, problems_, "nodes");
  std::uint32_t at = 0;
  for (const Value item : value.items()) read_node(item, at++);
}

void ClusterReader::read_node(Value value, std::uint32_t at) {
  static constexpr std::array<std::string_view, 5> statuses = {"up", "down", "draining", "cordoned", "no-leaders"};
  const auto before = trouble();
  FieldReader fields(value, problems_, "a node");
  Node node;
  const auto name = fields.take_required("name");
  const auto zone = fields.take("zone");
  const auto ratio = [&](Value v) { return read_ratio(v, problems_); };
  const auto amounts = [&](Value v) { return read_amounts(v); };
  fields.count("cores", node.cores, {.most = cores_max});
  fields.read("capacity", node.capacity, amounts);
  fields.read("used", node.used, amounts);
  fields.quantity("power", node.power);
  fields.read("labels", node.labels, [&](Value v) { return read_labels(v); });
  fields.read("taints", node.taints,
              [&](Value v) { return read_list<Taint>(v, "taints", [&](Value item) { return read_taint(item); }); });
  fields.read("status", node.status, [&](Value v) {
    return read_word(v, problems_, "a status", statuses).transform([](auto i) { return static_cast<NodeStatus>(i); });
  });
  fields.count("replicas_max", node.replicas_max);
  fields.read("soft_limit", node.soft_limit, ratio);
  fields.read("hard_limit", node.hard_limit, ratio);
  fields.flag("leaders", node.leaders);
  fields.finish();
  mark_if_spoilt(before, "nodes", std::to_string(at));
  mark_if_spoilt(before, "nodes", "");
  if (!name || !expand_node(node, *name, zone, at)) nodes_sound_ = false;
}

bool ClusterReader::expand_node(const Node& node, Value name, std::optional<Value> zone, std::uint32_t at) {
  const auto parse = [&](Value value) -> std::optional<Range> {
    const auto text = read_text(value, problems_);
    if (!text) return std::nullopt;
    auto range = Range::parse(*text, nodes_max);
    if (range) return *std::move(range);
    problems_.add(value.place(), range.error().message);
    return std::nullopt;
  };
  const auto names = parse(name);
  const auto zones = zone ? parse(*zone) : Range();
  if (!names || !zones) return false;
  if (!names->many() && zones->many()) {
    problems_.add(zone->place(), "a range of zones for a single node", "give the node a range too, or one zone");
    return false;
  }
  if (cluster_.nodes.size() + names->size() > nodes_max) {
    problems_.add(name.place(), fmt::format("more than {} nodes", nodes_max), "check the range");
    return false;
  }
  // A line that says little may stand for much: what it stands for is bounded, not its length.
  constexpr std::size_t parts_max = std::size_t{4} * nodes_max;
  node_parts_ += names->size() * (node.capacity.size() + node.used.size() + node.labels.size() + node.taints.size());
  if (node_parts_ > parts_max) {
    problems_.add(name.place(), fmt::format("more than {} labels, taints and amounts of all nodes together", parts_max),
                  "name fewer nodes");
    return false;
  }
  for (std::uint64_t i = 0; i < names->size(); ++i) {
    Node& added = cluster_.nodes.emplace_back(node);
    added.name = NodeId(names->at(i, Range::Order::last_fastest));
    added.zone = zones->at(i % zones->size(), Range::Order::first_fastest);
    node_entries_.push_back(at);
  }
  return true;
}

std::optional<Taint> ClusterReader::read_taint(Value value) {
  static constexpr std::array<std::string_view, 2> effects = {"refuse", "avoid"};
  FieldReader fields(value, problems_, "a taint");
  Taint taint;
  fields.required("key", taint.key, [&](Value v) { return read_text(v, problems_); });
  fields.text("value", taint.value);
  fields.read("effect", taint.effect, [&](Value v) {
    return read_word(v, problems_, "an effect", effects).transform([](auto i) { return static_cast<Taint::Effect>(i); });
  });
  finish(fields);
  return taint;
}

}  // namespace evenkeel::detail
