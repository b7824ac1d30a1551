#pragma once
// What gRPC needs while a call is under way. Kept alive by the pump until gRPC has let go of it.

#include <grpc/support/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <memory>
#include <string>

#include "evenkeel/base/time.h"

namespace evenkeel::store::etcd::detail {

// On the monotonic clock: no deadline moves because somebody sets the wall clock.
inline gpr_timespec deadline_in(Duration duration) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(duration.count(), GPR_TIMESPAN));
}

// One request, one response. A stream that answers each request once may be called like this, too.
template <class Response>
struct Exchange {
  grpc::ClientContext context;
  grpc::Status status;
  Response response;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;  // lives in the context's memory, so it goes first

  void set_deadline(Duration from_now) { context.set_deadline(deadline_in(from_now)); }

  template <class Request>
  void start(const std::shared_ptr<grpc::Channel>& channel, const std::string& method, const Request& request,
             grpc::CompletionQueue* queue, void* tag) {
    grpc::TemplatedGenericStub<Request, Response> stub(channel);
    reader = stub.PrepareUnaryCall(&context, method, request, queue);
    reader->StartCall();
    reader->Finish(&response, &status, tag);
  }
};

}  // namespace evenkeel::store::etcd::detail
