#pragma once
// A Store on an Engine in this process: what embedded:DIR opens. Keys here are the same bytes that etcd clients see through a Server on the
// same engine.

#include <memory>

#include "evenkeel/store/backends/embedded/engine.h"
#include "evenkeel/store/store.h"

namespace evenkeel::store::embedded {

// Several stores may share an engine. Ephemeral keys hang on a lease of `lease_ttl` that the store keeps alive.
std::unique_ptr<Store> make_local(Loop& loop, std::shared_ptr<Engine> engine, Duration lease_ttl);

}  // namespace evenkeel::store::embedded
