#pragma once
// Calls of etcd's API in a few words, for tests of the server.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <store/backends/proto/etcd.grpc.pb.h>

#include <memory>
#include <string>

#include "evenkeel/store/backends/embedded/engine.h"
#include "evenkeel/store/backends/embedded/server.h"
#include "tests/store/backends/processes.h"

namespace evenkeel::test {

namespace pb = etcdserverpb;

// An engine on a folder of its own and a server on a free port.
struct OurServer {
  explicit OurServer(store::embedded::ServerOptions options = {}, const store::embedded::EngineOptions& engine_options = {}) {
    auto opened = store::embedded::Engine::open(folder.path() + "/data", engine_options);
    if (!opened) throw std::runtime_error(opened.error().message);
    engine = *std::move(opened);
    options.listen = "127.0.0.1:0";
    auto started = store::embedded::Server::start(*engine, options);
    if (!started) throw std::runtime_error(started.error().message);
    server = *std::move(started);
  }

  TempFolder folder;
  std::unique_ptr<store::embedded::Engine> engine;
  std::unique_ptr<store::embedded::Server> server;
};

// A client of one server. Every call has a deadline, so that one that hangs fails.
class Calls {
 public:
  explicit Calls(const std::string& address,
                 const std::shared_ptr<grpc::ChannelCredentials>& credentials = grpc::InsecureChannelCredentials(),
                 std::string token = {})
      : channel_(grpc::CreateCustomChannel(address, credentials, arguments())), token_(std::move(token)) {}

  std::unique_ptr<grpc::ClientContext> context() const {
    auto made = std::make_unique<grpc::ClientContext>();
    made->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    if (!token_.empty()) made->AddMetadata("token", token_);
    return made;
  }
  std::unique_ptr<pb::KV::Stub> kv() const { return pb::KV::NewStub(channel_); }
  std::unique_ptr<pb::Watch::Stub> watch() const { return pb::Watch::NewStub(channel_); }
  std::unique_ptr<pb::Lease::Stub> lease() const { return pb::Lease::NewStub(channel_); }
  std::unique_ptr<pb::Cluster::Stub> cluster() const { return pb::Cluster::NewStub(channel_); }
  std::unique_ptr<pb::Maintenance::Stub> maintenance() const { return pb::Maintenance::NewStub(channel_); }
  std::unique_ptr<pb::Auth::Stub> auth() const { return pb::Auth::NewStub(channel_); }

  grpc::Status put(const pb::PutRequest& request, pb::PutResponse* response = nullptr) const {
    pb::PutResponse ignored;
    return kv()->Put(context().get(), request, response != nullptr ? response : &ignored);
  }
  grpc::Status put(const std::string& key, const std::string& value, std::int64_t lease = 0) const {
    pb::PutRequest request;
    request.set_key(key);
    request.set_value(value);
    request.set_lease(lease);
    return put(request);
  }
  grpc::Status range(const std::string& key, const std::string& end = {}, pb::RangeResponse* response = nullptr) const {
    pb::RangeRequest request;
    request.set_key(key);
    request.set_range_end(end);
    pb::RangeResponse ignored;
    return kv()->Range(context().get(), request, response != nullptr ? response : &ignored);
  }
  grpc::Status erase(const std::string& key, const std::string& end = {}, bool previous = false) const {
    pb::DeleteRangeRequest request;
    request.set_key(key);
    request.set_range_end(end);
    request.set_prev_kv(previous);
    pb::DeleteRangeResponse response;
    return kv()->DeleteRange(context().get(), request, &response);
  }
  grpc::Status txn(const pb::TxnRequest& request) const {
    pb::TxnResponse response;
    return kv()->Txn(context().get(), request, &response);
  }

 private:
  static grpc::ChannelArguments arguments() {
    grpc::ChannelArguments made;
    made.SetMaxReceiveMessageSize(-1);
    made.SetMaxSendMessageSize(-1);
    made.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
    return made;
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::string token_;
};

// A stream of watches.
class Watches {
 public:
  explicit Watches(const Calls& calls) : stub_(calls.watch()), context_(calls.context()), stream_(stub_->Watch(context_.get())) {}
  ~Watches() { context_->TryCancel(); }

  pb::WatchRequest request_of(const std::string& key, const std::string& end = {}, std::int64_t start = 0) const {
    pb::WatchRequest request;
    request.mutable_create_request()->set_key(key);
    request.mutable_create_request()->set_range_end(end);
    request.mutable_create_request()->set_start_revision(start);
    return request;
  }
  void send(const pb::WatchRequest& request) { ASSERT_TRUE(stream_->Write(request)); }
  // Creates one and takes what is answered.
  pb::WatchResponse create(const pb::WatchRequest& request) {
    send(request);
    return next();
  }
  void cancel(std::int64_t id) {
    pb::WatchRequest request;
    request.mutable_cancel_request()->set_watch_id(id);
    send(request);
  }
  void ask_progress() {
    pb::WatchRequest request;
    request.mutable_progress_request();
    send(request);
  }
  pb::WatchResponse next() {
    pb::WatchResponse response;
    EXPECT_TRUE(stream_->Read(&response)) << "the stream ended";
    return response;
  }
  bool ended() {
    pb::WatchResponse response;
    return !stream_->Read(&response);
  }
  grpc::Status finish() { return stream_->Finish(); }

 private:
  std::unique_ptr<pb::Watch::Stub> stub_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientReaderWriter<pb::WatchRequest, pb::WatchResponse>> stream_;
};

}  // namespace evenkeel::test
