#pragma once
// ZooKeeper's four letter words: a member's own words about itself, on a connection of its own. "srvr" is allowed by default.

#include <string>
#include <string_view>

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

}  // namespace evenkeel::store::zookeeper
