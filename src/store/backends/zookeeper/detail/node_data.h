#pragma once
// What a node's data says: a value as it is, or one of the things that are no plain value.
//
// These begin with "\0evenkeel ", which is followed by what it is and, for values, a line's end and the value:
//   folder                     there are keys below it, and it is none
//   tombstone                  a key that was erased: its data version must go on, so the node stays until it is swept
//   born                       a value where a tombstone or a folder was: created by the write that is the node's latest
//   since C                    a value created at C, where its node is older or younger than the key
//   since C modified M         the same, and its latest write is M's, not the node's
//   value                      a value that happens to begin with the mark itself
// A plain value was created when its node was. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "evenkeel/store/store.h"

namespace evenkeel::store::zookeeper {

struct NodeStat {
  std::int64_t created = 0;           // czxid
  std::int64_t modified = 0;          // mzxid
  std::int64_t children_changed = 0;  // pzxid: when a child was last made or removed
  std::int32_t version = 0;           // of the data; restarts at 0 when the node is made anew
  std::int32_t children = 0;
  bool ephemeral = false;
  friend bool operator==(const NodeStat&, const NodeStat&) = default;
};

enum class NodeKind : std::uint8_t { folder, tombstone, value };

struct NodeContent {
  NodeKind kind = NodeKind::folder;
  std::string value;
  Revision created;   // of the key, if it is a value
  Revision modified;  // of the key's latest write, or of its erasure
  friend bool operator==(const NodeContent&, const NodeContent&) = default;
};

// Code::invalid: it is marked as ours, and is nothing that this version knows.
Result<NodeContent> parse_node(std::string_view data, const NodeStat& stat);

std::string folder_data();
std::string tombstone_data();
// A value whose key is as old as its node.
std::string plain_data(std::string_view value);
// A value that begins with this very write, in a node that was there before.
std::string born_data(std::string_view value);
// A value whose key is older than its node, or younger.
std::string since_data(std::string_view value, Revision created);
// A value moved to a new node without having been written.
std::string moved_data(std::string_view value, Revision created, Revision modified);

}  // namespace evenkeel::store::zookeeper
