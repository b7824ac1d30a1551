#include "evenkeel/broker/shell/rpc/service.h"

#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>

#include "broker/shell/rpc/broker.grpc.pb.h"

#include "evenkeel/base/address.h"
#include "evenkeel/base/text.h"
#include "evenkeel/broker/shell/rpc/detail/record_stream.h"
#include "evenkeel/broker/shell/rpc/detail/session_stream.h"
#include "evenkeel/broker/shell/rpc/detail/status.h"
#include "evenkeel/broker/shell/rpc/wire.h"

namespace evenkeel::broker {
namespace {

// Session comes as bytes, so that what is no message can be told from the end of the stream.
using Methods =
    v1::Broker::WithRawCallbackMethod_Session<v1::Broker::WithCallbackMethod_GetStatus<v1::Broker::WithCallbackMethod_Configure<
        v1::Broker::WithCallbackMethod_GetConfig<v1::Broker::WithCallbackMethod_Record<v1::Broker::Service>>>>>;

// What a change asked for would make of the config.
Result<Config> changed(const v1::ConfigureRequest& request, const Config& before) {
  if (request.has_whole()) return wire::from_wire(request.whole());
  if (!request.has_merge()) return fail(Code::invalid, "the request has neither a whole config nor one to merge");
  const auto patch = wire::from_wire(request.merge());
  if (!patch) return fail(patch.error());
  return merge(before, *patch);
}

Result<v1::ConfigureResponse> configure(Broker& broker, const v1::ConfigureRequest& request) {
  const Config before = broker.config();
  auto after = changed(request, before);
  if (!after) return fail(after.error());
  Result<void> done;
  if (request.dry_run()) {
    done = check(*after);
  } else if (request.has_merge()) {
    // Merged under the broker's lock: two patches at a time do not undo each other.
    done = broker.configure(*wire::from_wire(request.merge()));
  } else {
    done = broker.configure(*after);
  }
  if (!done) return fail(done.error());
  v1::ConfigureResponse response;
  *response.mutable_before() = wire::to_wire(before);
  *response.mutable_after() = wire::to_wire(request.dry_run() ? *after : broker.config());
  return response;
}

class Calls final : public Methods {
 public:
  Calls(std::shared_ptr<Broker> broker, const ServiceOptions& options)
      : broker_(std::move(broker)), options_(options), sessions_(options.clients_max), recordings_(options.recordings_max) {}

 private:
  using Reactor = grpc::ServerUnaryReactor;

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Session(grpc::CallbackServerContext*) override {
    return new detail::SessionStream(*broker_, sessions_,
                                     {.deliveries_max = options_.deliveries_max, .message_max = options_.message_max});
  }

  grpc::ServerWriteReactor<v1::RecordResponse>* Record(grpc::CallbackServerContext*, const v1::RecordRequest*) override {
    return new detail::RecordStream(*broker_, recordings_);
  }

  Reactor* GetStatus(grpc::CallbackServerContext* context, const v1::GetStatusRequest* request,
                     v1::GetStatusResponse* response) override {
    constexpr std::uint64_t most = 10'000;  // of each list: a task takes some 200 bytes on the wire
    *response = wire::to_wire(broker_->observe(
        {.waiting_max = std::min(request->waiting_max(), most), .running_max = std::min(request->running_max(), most)}));
    return finish(context, {});
  }

  Reactor* Configure(grpc::CallbackServerContext* context, const v1::ConfigureRequest* request,
                     v1::ConfigureResponse* response) override {
    auto done = configure(*broker_, *request);
    if (!done) return finish(context, fail(done.error()));
    *response = std::move(*done);
    return finish(context, {});
  }

  Reactor* GetConfig(grpc::CallbackServerContext* context, const v1::GetConfigRequest*,
                     v1::GetConfigResponse* response) override {
    *response->mutable_config() = wire::to_wire(broker_->config());
    return finish(context, {});
  }

  static Reactor* finish(grpc::CallbackServerContext* context, const Result<void>& done) {
    Reactor* reactor = context->DefaultReactor();
    reactor->Finish(done ? grpc::Status::OK : detail::to_status(done.error()));
    return reactor;
  }

  std::shared_ptr<Broker> broker_;
  ServiceOptions options_;
  detail::Seats sessions_, recordings_;
};

// gRPC says only that it cannot, and it removes a socket that is in its way, also one on which somebody listens: that one is left alone.
Result<void> check_free(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // what cannot be looked at is not what is looked for
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
  if (!fs::is_directory(folder, ignored))
    return fail(Code::not_found, "there is no folder {} for the socket; make it first", quote(folder.string()));
  if (access(folder.c_str(), W_OK) != 0)
    return fail(Code::denied, "nothing may be made in the folder {}; choose another for the socket", quote(folder.string()));
  if (const auto there = fs::symlink_status(path, ignored); fs::exists(there) && !fs::is_socket(there))
    return fail(Code::conflict, "{} is there already, and is no socket; choose another path", quote(path));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);  // parse_address bounds it
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return fail(Code::unavailable, "no socket: {}", std::strerror(errno));
  const bool answered = connect(probe, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
  close(probe);
  if (answered) return fail(Code::conflict, "somebody listens on unix:{} already; choose another path", path);
  return {};
}

void limit(grpc::ServerBuilder& builder, const ServiceOptions& options) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.message_max.count()));
  // Without it two servers would share one port, and each get half of the clients.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, detail::to_milliseconds(options.ping_every));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, detail::to_milliseconds(options.ping_wait));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Clients ping as well; more often than this would be taken for an attack.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
}

}  // namespace

class Service::Impl {
 public:
  Impl(std::shared_ptr<Broker> broker, const ServiceOptions& options) : calls_(std::move(broker), options) {}
  ~Impl() { stop(); }

  Result<void> listen(Address address, const ServiceOptions& options) {
    if (!address.path.empty()) {
      if (auto free = check_free(address.path); !free) return free;
    } else if (same_in_any_case(address.host, "localhost")) {
      address.host = "127.0.0.1";
    }
    grpc::ServerBuilder builder;
    limit(builder, options);
    int port = 0;
    builder.AddListeningPort(format(address), grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&calls_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || (address.path.empty() && port == 0)) {
      return fail(Code::conflict,
                  "cannot listen on {}: somebody else does, or it is not this host's; choose another, or port 0 for any free one",
                  format(address));
    }
    if (address.path.empty()) address.port = static_cast<std::uint16_t>(port);
    address_ = format(address);
    return {};
  }

  const std::string& address() const { return address_; }

  void stop() {
    if (server_ == nullptr) return;
    // Streams never end by themselves, so there is nothing to wait for: they are cancelled at once.
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_.reset();
  }

 private:
  Calls calls_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

Service::Service(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Service::~Service() = default;

Result<std::unique_ptr<Service>> Service::start(std::shared_ptr<Broker> broker, ServiceOptions options) {
  const auto address = parse_address(options.listen);
  if (!address) return fail(address.error());
  if (!is_local(*address)) {
    return fail(Code::denied,
                "{} can be reached from other hosts, and there is no encryption or authentication yet; use 127.0.0.1:{}",
                options.listen, address->port);
  }
  auto impl = std::make_unique<Impl>(std::move(broker), options);
  if (auto listening = impl->listen(*address, options); !listening) return fail(listening.error());
  return std::unique_ptr<Service>(new Service(std::move(impl)));
}

const std::string& Service::address() const { return impl_->address(); }
void Service::stop() { impl_->stop(); }

}  // namespace evenkeel::broker
