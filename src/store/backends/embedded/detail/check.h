#pragma once
// Whether a request can be taken at all, whatever the state is: as etcd checks it, with its words. Pure.

#include "evenkeel/store/backends/embedded/engine.h"

namespace evenkeel::store::embedded::detail {

Error compacted_error();
Error future_error();
Error lease_error();
Error full_error();
Error empty_key_error();

Result<> check(const Range& range);
Result<> check(const Request& request, const EngineOptions& options);

// Whether any branch of it could change something, and whether any could add something.
bool may_write(const Request& request);
bool may_put(const Request& request);

}  // namespace evenkeel::store::embedded::detail
