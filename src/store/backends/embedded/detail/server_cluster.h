#pragma once
// etcd's Cluster, Maintenance and Auth services, as far as one member without peers has them.

#include <store/backends/proto/etcd.grpc.pb.h>

#include "evenkeel/store/backends/embedded/detail/server_core.h"

namespace evenkeel::store::embedded::detail {

class ClusterService final : public pb::Cluster::CallbackService {
 public:
  explicit ClusterService(Core& core) : core_(core) {}

  Reactor* MemberList(grpc::CallbackServerContext* context, const pb::MemberListRequest* request,
                      pb::MemberListResponse* response) override;

 private:
  Core& core_;
};

class MaintenanceService final : public pb::Maintenance::CallbackService {
 public:
  explicit MaintenanceService(Core& core) : core_(core) {}

  Reactor* Alarm(grpc::CallbackServerContext* context, const pb::AlarmRequest* request, pb::AlarmResponse* response) override;
  Reactor* Status(grpc::CallbackServerContext* context, const pb::StatusRequest* request, pb::StatusResponse* response) override;
  Reactor* Defragment(grpc::CallbackServerContext* context, const pb::DefragmentRequest* request,
                      pb::DefragmentResponse* response) override;
  Reactor* HashKV(grpc::CallbackServerContext* context, const pb::HashKVRequest* request, pb::HashKVResponse* response) override;

 private:
  Core& core_;
};

class AuthService final : public pb::Auth::CallbackService {
 public:
  explicit AuthService(Core& core) : core_(core) {}

  Reactor* Authenticate(grpc::CallbackServerContext* context, const pb::AuthenticateRequest* request,
                        pb::AuthenticateResponse* response) override;

 private:
  Core& core_;
};

}  // namespace evenkeel::store::embedded::detail
