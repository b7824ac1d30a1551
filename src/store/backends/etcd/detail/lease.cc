#include "evenkeel/store/backends/etcd/detail/lease.h"

#include <algorithm>

namespace evenkeel::store::etcd::detail {

void Lease::with(Then then) {
  if (id_ != 0) return then(id_);
  waiting_.push_back(std::move(then));
  if (waiting_.size() == 1) grant();
}

void Lease::lost(std::int64_t id) {
  if (id != id_) return;
  core_.log.warn("the lease of ephemeral keys was lost", {{"lease", id}});
  id_ = 0;
}

void Lease::grant() {
  using Granted = etcdserverpb::LeaseGrantResponse;
  etcdserverpb::LeaseGrantRequest request;
  request.set_ttl(std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(ttl_).count(), 1));
  core_.caller.call<Granted>(methods::lease_grant, request, core_.deadline(), [this](Result<Granted> answer) {
    if (!answer) return granted(fail(std::move(answer).error().in("lease")));
    if (!answer->error().empty()) return granted(fail(Code::refused, "lease: {}", answer->error()));
    granted(answer->id());
  });
}

void Lease::granted(Result<std::int64_t> id) {
  if (id) {
    id_ = *id;
    keep_alive_after(ttl_ / 3);
  }
  const auto alive = delays_.alive();
  for (Then& one : std::exchange(waiting_, {})) {
    one(id);
    if (alive.expired()) return;
  }
}

void Lease::keep_alive_after(Duration delay) {
  delays_.after(delay, [this, id = id_] {
    if (id == id_) keep_alive();
  });
}

void Lease::keep_alive() {
  using Kept = etcdserverpb::LeaseKeepAliveResponse;
  etcdserverpb::LeaseKeepAliveRequest request;
  request.set_id(id_);
  core_.caller.call<Kept>(methods::lease_keep_alive, request, core_.deadline(), [this, id = id_](Result<Kept> kept) {
    if (id != id_) return;
    if ((kept && kept->ttl() <= 0) || (!kept && kept.error().code == Code::not_found)) return lost(id);
    keep_alive_after(kept ? ttl_ / 3 : std::min<Duration>(ttl_ / 10, 1s));
  });
}

}  // namespace evenkeel::store::etcd::detail
