#pragma once
// Our errors and durations as gRPC's, and errors back. A code that has no like of its own comes back as one that callers treat the same.

#include <grpcpp/support/status.h>

#include "evenkeel/base/result.h"
#include "evenkeel/base/time.h"

namespace evenkeel::broker::detail {

grpc::Status to_status(const Error& error);

// What a caller should make of it. `sent_change`: the call changes something, so if its answer is lost the outcome is unknown.
Error to_error(const grpc::Status& status, bool sent_change = false);

// For channel arguments, which are ints: a day at most.
int to_milliseconds(Duration duration);

}  // namespace evenkeel::broker::detail
