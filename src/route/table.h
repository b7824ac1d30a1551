#pragma once
// Table: who serves each shard, as of one moment; an immutable value. Building one from the one before costs what changed: workloads that
// did not change are shared.
// Key -> shard: hash (xxh3 of the key, modulo the number of shards) or range (the service's own split points, by key order). Both are fixed for ever for a
// hash version.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/model/documents.h"

namespace evenkeel::route {

enum class Role : std::uint8_t { leader, follower, any };

struct Endpoint {
  NodeId node;
  std::string address;
  std::string zone;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct Picked {
  ShardIndex shard;
  Version version;  // pass its epoch on with the call
  StateId state;
  NodeId node;
  std::string address;
};

// Which shard a key belongs to.
ShardIndex shard_of(std::string_view key, std::uint32_t shards, std::uint32_t hash_version = 1);

class Table {
 public:
  Table() = default;

  // The next table. Buckets whose shards are all known at the same or a higher version change nothing. O(size of the workload's bucket list).
  Table with(const ViewBucket& bucket) const;
  Table without(const WorkloadId& workload, Bucket bucket) const;
  Table with(const LiveDocument& live) const;    // an address; a node that is not live keeps the last one that was known
  Table without_live(const NodeId& node) const;  // it is picked last

  bool has(const WorkloadId& workload) const;
  std::vector<WorkloadId> workloads() const;
  std::uint32_t shards(const WorkloadId& workload) const;  // 0: no such workload
  // Nothing if the shard is not known.
  const ShardView* find(const ShardId& shard) const;
  const Endpoint* endpoint(const NodeId& node) const;

  // The best to ask, or nothing if nobody serves in that role: nearest by zone path first; among equals by a hash of `salt`, so that clients
  // spread. Role::leader is the leader as reported, never one that is only told.
  std::optional<Picked> pick(const ShardId& shard, Role role, std::string_view near = {}, std::uint64_t salt = 0) const;
  std::optional<Picked> pick(const WorkloadId& workload, std::string_view key, Role role, std::string_view near = {},
                             std::uint64_t salt = 0) const;
  // All who serve it, best first.
  std::vector<Picked> picks(const ShardId& shard, Role role, std::string_view near = {}, std::uint64_t salt = 0) const;

  // Shards of which `older` knows less: what a router tells those who follow it.
  std::vector<ShardId> changed_since(const Table& older) const;
  friend bool operator==(const Table& a, const Table& b);

 private:
  struct Part;  // one workload
  struct Nodes;
  std::map<WorkloadId, std::shared_ptr<const Part>> parts_;
  std::shared_ptr<const Nodes> nodes_;
};

}  // namespace evenkeel::route
