#pragma once
// etcd's KV service: reads answer at once, writes from the engine's thread when they are durable.

#include <store/backends/proto/etcd.grpc.pb.h>

#include "evenkeel/store/backends/embedded/detail/server_core.h"

namespace evenkeel::store::embedded::detail {

class KvService final : public pb::KV::CallbackService {
 public:
  explicit KvService(Core& core) : core_(core) {}

  Reactor* Range(grpc::CallbackServerContext* context, const pb::RangeRequest* request, pb::RangeResponse* response) override;
  Reactor* Put(grpc::CallbackServerContext* context, const pb::PutRequest* request, pb::PutResponse* response) override;
  Reactor* DeleteRange(grpc::CallbackServerContext* context, const pb::DeleteRangeRequest* request,
                       pb::DeleteRangeResponse* response) override;
  Reactor* Txn(grpc::CallbackServerContext* context, const pb::TxnRequest* request, pb::TxnResponse* response) override;
  Reactor* Compact(grpc::CallbackServerContext* context, const pb::CompactionRequest* request,
                   pb::CompactionResponse* response) override;

 private:
  template <class Message, class Response, class Answer>
  Reactor* submit(grpc::CallbackServerContext* context, const Message& message, Response* response, Answer answer);

  Core& core_;
};

}  // namespace evenkeel::store::embedded::detail
