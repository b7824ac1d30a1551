#pragma once
// The same client, for tests that cannot wait an hour.

#include "evenkeel/store/backends/zookeeper/client.h"
#include "evenkeel/store/backends/zookeeper/detail/sweeper.h"

namespace evenkeel::store::zookeeper {

Result<std::unique_ptr<Store>> connect(Loop& loop, const Url& url, const OpenOptions& options, Sweeping sweeping);

}  // namespace evenkeel::store::zookeeper
