#pragma once
// Table: who serves each shard, as of one moment; an immutable value. Building one from the one before costs what changed, and shares the rest.
//
//   Table table = Table().with(bucket).with(live);
//   if (const auto to = table.pick(WorkloadId("t1"), "user-17", Role::leader)) call(to->address, to->shard, to->version.epoch);
//
// Key -> shard, fixed for ever for a hash version:
//   hash   xxh3 (64 bits, seed 0) of the key, modulo the number of shards. Twice as many shards: what was in i is in i or i + shards.
//   range  the key's first 8 bytes, with zeros behind where it is shorter, as a big-endian number x: x * shards / 2^64, rounded down. Shards are
//          even ranges of the key space in byte order; keys that share their first 8 bytes share their shard. Twice as many shards: what was in i
//          is in 2i or 2i + 1, so every shard but the first changes its place; the number of a range workload's shards is for life.
// While n shards are split into 2n, a key's shard is the one of 2n if that one is in the view, else the one of n. So each shard is split when it is its
// turn, and routers and leaders need no common moment.
//
// A shard's version never goes back: of two documents that name a shard the higher version counts, whichever comes first, and a document
// that is older than what is known is ignored whole. A bucket says how many shards its workload has; the highest count that any of them says
// is the workload's, and shards beyond it are not known.
// Values: all calls are const, any thread. pick is O(log workloads + replicas) and allocates nothing but its answer's texts, if they are long.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evenkeel/model/documents.h"
#include "evenkeel/model/exchange.h"

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

// What holds for all shards of a workload: how keys find them, and who of those that a view names does not serve.
struct Sharding {
  std::uint32_t shards = 0;
  KeyMap key_map = KeyMap::hash;
  std::uint32_t hash_version = 1;
  std::uint32_t split_from =
      0;  // so many are becoming `shards`; those that are not in the view yet are part of one of these. 0: all are there
  std::vector<StateId> idle = {};  // in which replicas wait and are not asked: a standby's
  friend bool operator==(const Sharding&, const Sharding&) = default;
};

constexpr std::uint32_t hash_version_max = 1;  // that this program knows

// Which shard a key belongs to. There is at least one shard, and the hash version is known.
ShardIndex shard_of(std::string_view key, std::uint32_t shards, KeyMap key_map = KeyMap::hash, std::uint32_t hash_version = 1);

// What changed between two moments: documents that are there now, and what is gone. What is gone is taken away first.
struct TableUpdate {
  std::vector<std::pair<WorkloadId, Bucket>> gone;
  std::vector<ViewBucket> buckets;
  std::vector<NodeId> not_live;
  std::vector<LiveDocument> live;
};

class Table {
 public:
  Table() = default;

  // The next table. O(size of the bucket + buckets of the workload / 64); O(shards of the workload) if other shards are in it than before.
  Table with(const ViewBucket& bucket) const;
  Table without(const WorkloadId& workload, Bucket bucket) const;
  Table with(const LiveDocument& live) const;    // an address; a node that is not live keeps the last one that was known
  Table without_live(const NodeId& node) const;  // it is picked last
  // Many at once, at little more than the cost of one: 100k shards in a fraction of a second.
  Table with(const TableUpdate& update) const;
  // Whether both share everything, so that they are equal. A table does with the one it was made from, if nothing changed. O(workloads).
  bool shares_all(const Table& other) const;

  bool has(const WorkloadId& workload) const;
  std::vector<WorkloadId> workloads() const;
  std::uint32_t shards(const WorkloadId& workload) const;  // 0: no such workload
  std::optional<Sharding> sharding(const WorkloadId& workload) const;
  // Nothing for a workload that is not known, or has a hash version that this program does not know.
  std::optional<ShardIndex> shard(const WorkloadId& workload, std::string_view key) const;
  // Nothing if the shard is not known. What is pointed to is there as long as the table.
  const ShardView* find(const ShardId& shard) const;
  std::vector<const ShardView*> views(const WorkloadId& workload) const;  // of the shards that are known, by shard
  const Endpoint* endpoint(const NodeId& node) const;
  bool live(const NodeId& node) const;
  // Those that are live, or that serve a shard and whose address is known; by name.
  std::vector<NodeId> nodes() const;

  // The best to ask, or nothing if nobody serves in that role: those that are live first, then the nearest by zone path, and among equals by a
  // hash of `salt` and the node, so that clients spread. Whose address nobody has ever said is not picked.
  //   leader    the leader as reported, never one that is only told
  //   follower  who serves and does not lead; in a model without leaders, anybody
  //   any       anybody who serves
  // Standbys, that is, replicas in an idle state of the view, do not serve.
  // The state of a leader is called `leader`, whatever its model calls it.
  std::optional<Picked> pick(const ShardId& shard, Role role, std::string_view near = {}, std::uint64_t salt = 0) const;
  std::optional<Picked> pick(const WorkloadId& workload, std::string_view key, Role role, std::string_view near = {},
                             std::uint64_t salt = 0) const;
  // All who serve it, best first.
  std::vector<Picked> picks(const ShardId& shard, Role role, std::string_view near = {}, std::uint64_t salt = 0) const;

  // Shards of which `older` knows less: newer here, or gone. What a router tells those who follow it. Sorted; what both share costs nothing.
  std::vector<ShardId> changed_since(const Table& older) const;
  // The same shards with the same views, and the same addresses of the nodes that count (see nodes); in whichever buckets they came.
  friend bool operator==(const Table& a, const Table& b);

 private:
  struct Part;   // one workload
  struct Piece;  // one bucket of it
  struct Row;    // one shard
  class Pieces;
  struct Nodes;
  class Edit;
  struct Choice;

  const Part* part(const WorkloadId& workload) const;
  static std::optional<ShardIndex> shard_by(const Part& part, std::string_view key);
  template <class Take>
  void choices(const Part& part, std::uint32_t piece, std::uint32_t row, Role role, std::string_view near, std::uint64_t salt,
               const Take& take) const;
  std::optional<Picked> pick(const Part& part, ShardIndex shard, Role role, std::string_view near, std::uint64_t salt) const;

  std::vector<std::shared_ptr<const Part>> parts_;  // by name
  std::shared_ptr<const Nodes> nodes_;              // null: none
};

}  // namespace evenkeel::route
