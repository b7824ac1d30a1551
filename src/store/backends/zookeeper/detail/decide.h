#pragma once
// What a txn comes to on ZooKeeper: from what was read, the operations of one multi, or an answer without any. Pure.
//
// The multi must fail whenever what was read and used is no longer so. Its check, set and delete compare a node's data version alone, which
// restarts when a node is made anew; four rules make that enough:
//   1. Every removal of a persistent node also writes the root's data, and every multi checks or writes the root's version. So no version
//      of a persistent node is compared across its re-creation.
//   2. A persistent node is made by create and set, and is never at version 0; an ephemeral one is only made, and always is. So the one is
//      never taken for the other. An ephemeral node made anew passes for the old one, and may: all that is asked of it is its presence.
//      (A put over an ephemeral key that went and came again in between therefore carries on the `created` of the earlier one.)
//   3. That a key is missing is guarded by making the topmost node that is missing on its path and removing it again, in the same multi: that
//      fails if it has come to be, and leaves nothing behind.
//   4. A subtree is erased by deleting its nodes, the deepest first, and the prefix's own node, which is made again if it is a key: that
//      fails if another child has come to be. The root cannot be removed, so whoever makes a child of the root writes the root too.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/store/backends/zookeeper/detail/node_data.h"
#include "evenkeel/store/store.h"

namespace evenkeel::store::zookeeper {

// One node as it was read.
struct Seen {
  bool exists = false;
  NodeStat stat;
  NodeContent content;  // of named keys and of nodes below prefixes; of others only `stat` counts
  std::string data;     // of the root: it is written as it was
  Revision as_of;       // it was like this then, or later
};

// The root, the keys that the txn names, the nodes above all these, and the subtrees that are asked for; by path. What is not in it is missing.
struct View {
  std::string root;
  std::map<std::string, Seen> nodes;

  const Seen& at(const std::string& path) const;
};

struct Operation {
  enum class Kind : std::uint8_t { check, create, create_ephemeral, set, remove };
  Kind kind = Kind::check;
  std::string path;
  std::string data;
  std::int32_t version = 0;  // to be found; not of the creates
  friend bool operator==(const Operation&, const Operation&) = default;
};

struct Decision {
  bool succeeded = false;
  Revision revision;                  // of the answer if no operation is a set, which tells it otherwise
  std::vector<Operation> operations;  // none: this is the answer
};

// All paths that must be read for a txn, but for subtrees: in this order, so that what is above is read before what is below.
struct Wanted {
  std::vector<std::string> stats;  // only whether they are there, and of what kind
  std::vector<std::string> nodes;  // with their data
};
Wanted wanted(const Txn& txn, const std::string& root);

// The nodes below which everything must be read before one can decide.
Result<std::vector<std::string>> wanted_subtrees(const Txn& txn, const View& view);

Result<Decision> decide(const Txn& txn, const View& view);

// What a request of these operations takes, about; and what a server takes by default.
std::size_t bytes_of(const std::vector<Operation>& operations);
constexpr std::size_t request_bytes_max = 1'048'575 - 4096;

}  // namespace evenkeel::store::zookeeper
