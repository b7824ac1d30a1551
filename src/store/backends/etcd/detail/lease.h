#pragma once
// The lease of this client's ephemeral keys: granted when one is first written, kept alive at a third of its time, granted anew once lost.

#include <cstdint>
#include <vector>

#include "evenkeel/store/backends/etcd/detail/core.h"

namespace evenkeel::store::etcd::detail {

class Lease {
 public:
  using Then = std::move_only_function<void(Result<std::int64_t>)>;

  Lease(Core& core, Duration ttl) : core_(core), ttl_(ttl), delays_(core.loop) {}

  void with(Then then);
  // The server does not know it: its keys are gone.
  void lost(std::int64_t id);

 private:
  void grant();
  void granted(Result<std::int64_t> id);
  void keep_alive();
  void keep_alive_after(Duration delay);

  Core& core_;
  const Duration ttl_;
  std::int64_t id_ = 0;        // 0: none
  std::vector<Then> waiting_;  // while it is asked for
  Delays delays_;
};

}  // namespace evenkeel::store::etcd::detail
