#pragma once
// A gRPC channel to a broker of this host.

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "evenkeel/base/result.h"
#include "evenkeel/broker/shell/rpc/remote.h"

namespace evenkeel::broker::detail {

Result<std::shared_ptr<grpc::Channel>> open_channel(const std::string& address, const RemoteOptions& options);

// The error of a call that failed at that address, with what to do.
Error at_address(Error error, const std::string& address);

}  // namespace evenkeel::broker::detail
