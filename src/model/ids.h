#pragma once
// The names and numbers of things: what may stand where a thing is meant, and which texts are names.
//
// A name is 1 to 253 characters, starts with a letter, a digit or an underscore, and goes on with those and . - : @ +
// It has no slash, since names are parts of store keys and of `workload/shard`, and no brackets, since those write ranges.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evenkeel/base/id.h"
#include "evenkeel/base/result.h"

namespace evenkeel {

using ClusterId = Name<struct ClusterTag>;
using NodeId = Name<struct NodeTag>;
using WorkloadId = Name<struct WorkloadTag>;
using ResourceId = Name<struct ResourceTag>;
using StateModelId = Name<struct StateModelTag>;
using StateId = Name<struct StateTag>;

// A node's place in Cluster::nodes: what the big tables hold instead of its name.
using NodeIndex = Number<struct NodeIndexTag, std::uint32_t>;
// A shard's number within its workload, from 0.
using ShardIndex = Number<struct ShardIndexTag, std::uint32_t>;
// A core of a node, from 0.
using Core = Number<struct CoreTag, std::uint16_t>;

// A shard's number that grows with every change of leadership; 0: never led.
using Epoch = Number<struct EpochTag, std::uint64_t>;
// A shard's number that grows with every change of its replicas within one epoch.
using Change = Number<struct ChangeTag, std::uint64_t>;
// Which join of a node this is; a node obeys only what is addressed to its own. Random, so that a store that has forgotten some of them
// cannot give one twice; it is the identity of the node's session too.
using Incarnation = Number<struct IncarnationTag, std::uint64_t>;
// Raised at every election of a controller; the guard of everything it writes.
using ControllerEpoch = Number<struct ControllerEpochTag, std::uint64_t>;
// A part of a workload's shards that is stored as one document, from 0.
using Bucket = Number<struct BucketTag, std::uint32_t>;
// Random, kept in a node's data folder: tells a restart from a new machine under an old name.
using DataId = Name<struct DataTag>;

struct ShardId {
  WorkloadId workload;
  ShardIndex shard;
  friend auto operator<=>(const ShardId&, const ShardId&) = default;
};
// "t1/9", and back.
std::string format(const ShardId& id);
Result<ShardId> parse_shard_id(std::string_view text);

// As the identity of its session: 16 hexadecimal digits, and back.
std::string format(Incarnation incarnation);
Result<Incarnation> parse_incarnation(std::string_view text);

constexpr std::size_t name_bytes_max = 253;

// Why a text is not a name, or nothing if it is one. The parts of a zone path and the names of nodes, workloads, resources, states
// and levels all follow it; label and taint keys may also contain slashes.
std::optional<std::string> why_not_a_name(std::string_view text);
std::optional<std::string> why_not_a_label_key(std::string_view text);
// A label's or taint's value is any text of at most 253 bytes without control characters.
std::optional<std::string> why_not_a_label_value(std::string_view text);
// One to eight names with slashes between, outermost first: dc1/r1. The empty path is no zone.
std::optional<std::string> why_not_a_zone(std::string_view text);

}  // namespace evenkeel
