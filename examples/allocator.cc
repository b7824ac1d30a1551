// A service that creates topics while it runs: the allocator in a program of one file. Link it with Evenkeel::place.
//
// Six nodes in three zones. A topic is created; one that does not fit is refused with reasons; a node is drained, one replica at a time.

#include <cstdio>
#include <string>
#include <vector>

#include <evenkeel/place/allocator.h>

using namespace evenkeel;
using namespace evenkeel::place;

const ResourceId disk("disk");

Cluster six_nodes() {
  Cluster cluster{.name = ClusterId("topics")};
  for (int i = 0; i < 6; ++i) {
    cluster.nodes.push_back({.name = NodeId("n" + std::to_string(i + 1)),
                             .zone = "dc" + std::to_string(i % 3 + 1),
                             .cores = 4,
                             .capacity = {{disk, Quantity(1000)}}});
  }
  return cluster;
}

std::string show(const Allocator& allocator, std::span<const Spot> row) {
  std::string text;
  for (const Spot& spot : row) text += " " + allocator.node(spot.node).name.str() + ":" + std::to_string(spot.core.value());
  return text;
}

// What the service does to create a topic: reserve, do its own part, commit. If its part fails, the reservation undoes itself.
bool create_topic(Allocator& allocator, const std::string& name, std::uint32_t shards, std::int64_t size) {
  auto reserved = allocator.allocate({.name = WorkloadId(name),
                                      .shards = shards,
                                      .replicas = 3,
                                      .load = {{disk, Quantity(size)}},
                                      .spread = Spread{.level = "zone", .hard = true}});
  if (!reserved) {
    std::printf("%s is refused: %s\n", name.c_str(), reserved.error().detail.c_str());
    for (const auto& [node, why] : reserved.error().nodes) std::printf("  %s: %s\n", node.str().c_str(), why.c_str());
    return false;
  }
  for (std::size_t shard = 0; shard < reserved->rows().size(); ++shard)
    std::printf("%s/%zu:%s\n", name.c_str(), shard, show(allocator, reserved->rows()[shard]).c_str());
  return reserved->commit().has_value();
}

// Everything leaves a node; both ends count until the commit, when the data has been copied.
bool drain(Allocator& allocator, const NodeId& name, Node node) {
  node.status = NodeStatus::draining;
  if (!allocator.change_node(node)) return false;
  for (const ShardId& shard : allocator.shards_on(name)) {
    auto move = allocator.reallocate(shard, std::vector{name});
    if (!move) return false;
    std::printf("%s moves:%s becomes%s\n", format(shard).c_str(), show(allocator, allocator.row(shard)).c_str(),
                show(allocator, move->rows()[0]).c_str());
    if (!move->commit()) return false;
  }
  return allocator.remove_node(name).has_value();
}

int main() {
  Allocator allocator(six_nodes());
  const bool created = create_topic(allocator, "clicks", 4, 50);
  const bool too_much = create_topic(allocator, "videos", 4, 600);
  const bool drained = drain(allocator, NodeId("n2"), allocator.node(NodeIndex(1)));
  for (const NodeUsage& usage : allocator.usage())
    std::printf("%s holds %llu replicas, leads %llu\n", usage.name.str().c_str(), static_cast<unsigned long long>(usage.replicas),
                static_cast<unsigned long long>(usage.leaders));
  return created && !too_much && drained ? 0 : 1;
}
