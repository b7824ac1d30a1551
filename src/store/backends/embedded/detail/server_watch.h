#pragma once
// etcd's Watch service: many watches share a stream.
//
// All watches of a stream fill one bounded queue. One that finds it full waits, is called again when there is room, and gets what it missed
// from the engine's history: a client that does not read costs no memory, and misses nothing.

#include <store/backends/proto/etcd.grpc.pb.h>

#include "evenkeel/store/backends/embedded/detail/server_core.h"

namespace evenkeel::store::embedded::detail {

class WatchService final : public pb::Watch::CallbackService {
 public:
  explicit WatchService(Core& core) : core_(core) {}

  grpc::ServerBidiReactor<pb::WatchRequest, pb::WatchResponse>* Watch(grpc::CallbackServerContext* context) override;

 private:
  Core& core_;
};

}  // namespace evenkeel::store::embedded::detail
