#pragma once
// Histories: random views of a small cluster and how they change, as a controller would write them. For the properties of tables and routers.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/route/table.h"

namespace evenkeel::route {

inline NodeId random_node(Rng& rng) { return NodeId(fmt::format("n{}", rng.below(7))); }

inline LiveDocument random_live(Rng& rng) {
  const NodeId node = random_node(rng);
  static constexpr std::string_view zones[] = {"", "dc1", "dc1/r1", "dc1/r2", "dc2/r1", "dc2/r1/u3"};
  return {.node = node,
          .incarnation = Incarnation(rng.next()),
          .data = DataId("d"),
          .address = fmt::format("10.0.0.{}:{}", node.str().substr(1), 9000 + rng.below(2)),
          .version = "1",
          .zone = std::string(zones[rng.below(std::size(zones))])};
}

inline ShardView random_view(Rng& rng, ShardIndex shard, Version version) {
  ShardView view{.shard = shard, .version = version};
  if (rng.chance(3, 4)) view.leader = random_node(rng);
  if (rng.chance(1, 4)) view.next = random_node(rng);
  for (int node = 0; node < 7; ++node) {
    const NodeId name(fmt::format("n{}", node));
    if (view.leader == name || !rng.chance(1, 3)) continue;
    view.others.push_back({name, StateId(rng.chance(1, 2) ? "follower" : "online")});
  }
  return view;
}

inline Version later_than(Version version, Rng& rng) {
  if (rng.chance(1, 3)) return {version.epoch.next(), Change(0)};
  return {version.epoch, Change(version.change.value() + 1 + rng.below(3))};
}

// The documents of one bucket, in the order in which they were written: the same shards, some of them at a later version each time.
inline std::vector<ViewBucket> random_bucket(Rng& rng, const WorkloadId& workload, std::uint32_t bucket, std::uint32_t buckets,
                                             std::uint32_t shards) {
  ViewBucket document{.workload = workload, .bucket = Bucket(bucket), .shards_in_all = shards};
  for (std::uint32_t shard = bucket; shard < shards; shard += buckets) {
    document.shards.push_back(random_view(rng, ShardIndex(shard), {Epoch(rng.below(3)), Change(rng.below(3))}));
  }
  std::vector<ViewBucket> written = {document};
  for (auto more = rng.below(5); more > 0 && !document.shards.empty(); --more) {
    const std::uint64_t sure = rng.below(document.shards.size());  // a document that changes nothing is not written
    for (std::size_t i = 0; i < document.shards.size(); ++i) {
      ShardView& view = document.shards[i];
      if (i == sure || rng.chance(1, 3)) view = random_view(rng, view.shard, later_than(view.version, rng));
    }
    written.push_back(document);
  }
  return written;
}

}  // namespace evenkeel::route
