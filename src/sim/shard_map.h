#pragma once
// ShardMap: something for each shard, found at every message. Its order is never to be looked at: sort what comes out.

#include <functional>
#include <unordered_map>

#include "evenkeel/model/ids.h"

namespace evenkeel::sim {

struct ShardHash {
  std::size_t operator()(const ShardId& shard) const { return std::hash<WorkloadId>()(shard.workload) + shard.shard.value(); }
};

template <class T>
using ShardMap = std::unordered_map<ShardId, T, ShardHash>;  // what is in it stays where it is

}  // namespace evenkeel::sim
