#pragma once
// Our errors as gRPC's, and back. A code that has no like of its own comes back as one that callers treat the same.

#include <grpcpp/support/status.h>

#include "evenkeel/base/result.h"

namespace evenkeel::broker::detail {

grpc::Status to_status(const Error& error);

// What a caller should make of it. `sent_change`: the call changes something, so if its answer is lost the outcome is unknown.
Error to_error(const grpc::Status& status, bool sent_change = false);

}  // namespace evenkeel::broker::detail
