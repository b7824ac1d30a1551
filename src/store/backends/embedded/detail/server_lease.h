#pragma once
// etcd's Lease service.

#include <store/backends/proto/etcd.grpc.pb.h>

#include "evenkeel/store/backends/embedded/detail/server_core.h"

namespace evenkeel::store::embedded::detail {

class LeaseService final : public pb::Lease::CallbackService {
 public:
  explicit LeaseService(Core& core) : core_(core) {}

  Reactor* LeaseGrant(grpc::CallbackServerContext* context, const pb::LeaseGrantRequest* request,
                      pb::LeaseGrantResponse* response) override;
  Reactor* LeaseRevoke(grpc::CallbackServerContext* context, const pb::LeaseRevokeRequest* request,
                       pb::LeaseRevokeResponse* response) override;
  grpc::ServerBidiReactor<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse>* LeaseKeepAlive(
      grpc::CallbackServerContext* context) override;
  Reactor* LeaseTimeToLive(grpc::CallbackServerContext* context, const pb::LeaseTimeToLiveRequest* request,
                           pb::LeaseTimeToLiveResponse* response) override;
  Reactor* LeaseLeases(grpc::CallbackServerContext* context, const pb::LeaseLeasesRequest* request,
                       pb::LeaseLeasesResponse* response) override;

 private:
  Core& core_;
};

}  // namespace evenkeel::store::embedded::detail
