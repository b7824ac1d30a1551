#pragma once
// Memory: what this client's own txns have shown of nodes, so that the next one on the same nodes is decided without reading them first.
//
// All of it may be old. A multi that is decided by it compares it as one that is decided by what was just read does (decide.h), and fails
// where others have written since: then the nodes are read. All nodes are known as of one version of the root, so that rule 1 there holds
// for them too. Only txns that do nothing but put are decided by it, and only where all compares hold: nothing is answered by memory alone.
// Every new connection begins with an empty one, as the server behind it may have been put back to an older state, in which a version
// counts something else. Values are not kept. Pure.
// Bounds: `nodes_max` nodes, about 300 bytes each; then it begins anew.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/store/backends/zookeeper/detail/decide.h"

namespace evenkeel::store::zookeeper {

class Memory {
 public:
  static constexpr std::size_t nodes_max = 1 << 17;

  // What was learned over another connection is forgotten.
  void use(std::uint64_t connection);
  // All that the txn must know, or nothing.
  std::optional<View> recall(const Txn& txn, const Wanted& wanted, const std::string& root) const;
  // A multi that was decided by this view was done.
  void learn(const View& view, const Wanted& wanted, const std::vector<Operation>& operations, std::int64_t zxid);

 private:
  struct Known {
    Seen seen;
    bool with_data = false;  // else it is only known that it is there
  };
  void learn(const std::string& path, const Seen& seen, bool with_data);

  std::uint64_t connection_ = 0;
  std::map<std::string, Known> nodes_;  // no ephemeral ones, which may be others of the same version
};

}  // namespace evenkeel::store::zookeeper
