#pragma once
// A Store over etcd's v3 gRPC API: etcd 3.4 and later, and our own server.
//
// Several endpoints: a call goes to one, and to the next if that one certainly did not do it; a write whose answer was lost is
// `unknown_outcome` at once. Watches resume after the last revision they delivered, at another endpoint if need be; a compacted revision
// becomes a fresh list. The lease of ephemeral keys is kept alive here, and granted anew once lost (its keys are gone then).
// User and password are exchanged for a token, which is renewed when the server has forgotten it.

#include <memory>

#include "evenkeel/store/backends/open.h"

namespace evenkeel::store::etcd {

Result<std::unique_ptr<Store>> connect(Loop& loop, const Url& url, const OpenOptions& options);

}  // namespace evenkeel::store::etcd
