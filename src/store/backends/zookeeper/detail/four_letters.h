#pragma once
// ZooKeeper's four letter words: a member's own words about itself, on a connection of its own. "srvr" is allowed by default.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/store/store.h"

namespace evenkeel::store::zookeeper {

// Blocks for at most `timeout`, and for as long as the name takes. Code::unavailable says why there is no answer.
Result<std::string> ask(const std::string& endpoint, std::string_view word, Duration timeout);

struct Member {
  std::string version;  // "3.8.0"; empty: it does not say
  std::string mode;     // "leader", "follower", "standalone"
  Revision newest;      // that it knows of: its zxid; 0: it does not say
};
Member parse_srvr(std::string_view answer);

// Where ZooKeeper stands, if it has forgotten what is known: it was put back to an earlier state, or emptied. A leader says so, most of `count` members say
// where they stand, and none knows more: one that stood still while it was deposed takes itself for the leader too.
std::optional<Revision> went_back(const std::vector<Member>& members, std::size_t count, Revision known);

}  // namespace evenkeel::store::zookeeper
