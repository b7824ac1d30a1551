#pragma once
// Errors as gRPC statuses: the code that etcd gives with each of its texts, or the nearest to ours where etcd has no words.

#include <grpcpp/support/status.h>

#include "evenkeel/base/result.h"

namespace evenkeel::store::embedded::detail {

grpc::Status to_status(const Error& error);
// As etcd writes a status where only text fits: "rpc error: code = PermissionDenied desc = …".
std::string to_text(const Error& error);

}  // namespace evenkeel::store::embedded::detail
