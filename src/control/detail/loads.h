#pragma once
// Measured loads: what replicas say over their nodes' pulses, and whether it is another load than placement was told.
//
// A spec gives a load for each replica of a shard, and one for its leader on top (model/cluster.h). What is measured takes the place of the former, shard by
// shard and resource by resource; the leader's part stays the spec's.
//
//   a shard's load  The largest that its replicas say, less the leader's part where one leads: whoever holds it may have to carry all of it. A replica counts
//                   while its node's session lasts. When nobody is left who says anything, what was said last goes on, for nothing follows from absence; a
//                   resource that those who are there do not measure is the spec's.
//   smoothed        Half of a change is known after half of `loads_pause`, so that the spike of a moment is next to nothing.
//   believed        What placement is told. It changes for all shards at once, when loads have really changed: when some node carries more or less than is
//                   believed by over `loads_margin` of that, or of what nodes carry on average if that is more, at two looks in a row; looks are
//                   `loads_pause` apart. Loads that swing within the margin change nothing, whatever else is planned meanwhile.
//
// What a node carries is the sum over the shards that are placed on it, so that a move under way is no change of load. It is kept up to date by differences;
// smoothing is linear, so that a node's smoothed sum is the sum of its shards' smoothed loads.
//
// Pure values. Cost: a replica whose load changed costs O(replicas of its shard · resources), however large the cluster is; a look O(nodes · resources); if some
// node seems to be off, and after each plan, O(replicas · resources) of all. Without measured loads nothing. Memory: some 200 bytes a shard and resource.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/model/cluster.h"

namespace evenkeel::control::detail {

// Measured resources are meant by their place in a list of all that were ever measured. That has a bound, or somebody who makes up names would fill it.
using Column = std::uint32_t;
constexpr Column columns_max = 64;
constexpr Column no_column = std::numeric_limits<Column>::max();

// A quantity as it is, and smoothed: the difference between the two halves in each `half`, and falls evenly in between.
class Smooth {
 public:
  Smooth() = default;
  explicit Smooth(Quantity value) : value_(value), past_(value) {}
  Smooth(Quantity value, Quantity smoothed, Instant now) : value_(value), past_(smoothed), since_(now) {}

  Quantity value() const { return value_; }
  Quantity at(Instant now, Duration half) const;
  void set(Quantity value, Instant now, Duration half);

 private:
  Quantity value_;
  Quantity past_;  // smoothed, when the value was set
  Instant since_;
};

struct ShardLoad {
  // What one replica said last of one resource. One that measures nothing any more has said so: a single one with no_column.
  struct Said {
    std::uint32_t node = 0;
    Incarnation incarnation;
    Column column = no_column;
    Quantity load;
    friend bool operator==(const Said&, const Said&) = default;
  };
  // Of one resource.
  struct Level {
    Column column = 0;
    Smooth measured;  // the spec's, if nobody measures it any more
    bool is_measured = true;
    Quantity believed;
    bool is_believed = false;  // else `believed` is the spec's
  };
  std::vector<Said> said;     // by each node together
  std::vector<Level> levels;  // by column

  const Level* find(Column column) const;
};

// What its replica on that node says now; columns rise. False: nothing new.
bool say(ShardLoad& load, std::uint32_t node, Incarnation incarnation, std::span<const std::pair<Column, Quantity>> said);

// What the rest of the controller knows of a shard.
struct ShardLoadFacts {
  std::function<bool(const ShardLoad::Said&)> counts;  // whether that node's session lasts
  std::optional<std::uint32_t> leader;
  std::function<Quantity(Column)> spec;         // of each replica
  std::function<Quantity(Column)> leader_part;  // on top
};
// The shard's load anew, after somebody said something, came, went or began to lead. Returns by how much it changed.
std::vector<std::pair<Column, Quantity>> measure(ShardLoad& load, const ShardLoadFacts& facts, Instant now, Duration half);
// From now on placement is told what is measured. True: of some resource.
bool believe(ShardLoad& load, Instant now, Duration half);

// What a node carries of one resource.
struct NodeLoad {
  Quantity believed;
  Smooth off;  // what is measured, less that
};
bool is_off(Quantity off, Quantity believed, Quantity mean, Ratio margin);

// The load of each replica of a shard by its workload's spec alone.
Quantity spec_load(const Workload& spec, ShardIndex shard, const ResourceId& resource);
// The workload's loads by shard, with what is believed in place of the spec's. `believed` is by shard; null: nothing.
ShardLoads believed_loads(const Workload& spec, std::span<const ResourceId> columns, std::span<const ShardLoad* const> believed);

}  // namespace evenkeel::control::detail
