#pragma once
// ZooKeeper's four letter words: a member's own words about itself, on a connection of its own. "srvr" is allowed by default.

#include <stop_token>
#include <string>
#include <string_view>

#include "evenkeel/base/time.h"

namespace evenkeel::store::zookeeper {

// Blocks for at most `timeout`, and not much longer than it takes to see the stop. Code::unavailable says why there is no answer.
Result<std::string> ask(const std::string& endpoint, std::string_view word, Duration timeout, const std::stop_token& stop);

struct Member {
  std::string version;  // "3.8.0"; empty: it does not say
  std::string mode;     // "leader", "follower", "standalone"
};
Member parse_srvr(std::string_view answer);

}  // namespace evenkeel::store::zookeeper
