#pragma once
// One stream of a watch: a request out, messages in, one at a time. The next message is taken only when asked for, so what a slow consumer
// has not taken stays with the server, whose flow control bounds what is kept here.

#include <store/backends/proto/etcd.pb.h>

#include <functional>
#include <memory>

#include "evenkeel/store/backends/etcd/detail/caller.h"

namespace evenkeel::store::etcd::detail {

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  using Message = etcdserverpb::WatchResponse;
  struct Handlers {
    std::function<void(Message&)> on_message;
    std::function<void(const grpc::Status&)> on_end;  // nothing comes after it
  };

  static std::shared_ptr<Stream> open(Pump& pump, Endpoint& endpoint, const Token& token, etcdserverpb::WatchRequest request,
                                      Handlers handlers);
  // The next message, or the end. After on_message, once.
  void next();
  // Ends it; no handler is called any more.
  void cancel();

 private:
  struct Wire;

  Stream(Pump& pump, Handlers handlers);
  void started(bool ok);
  void finish();

  Pump& pump_;
  Handlers handlers_;
  std::shared_ptr<Wire> wire_;
  bool cancelled_ = false;
};

}  // namespace evenkeel::store::etcd::detail
