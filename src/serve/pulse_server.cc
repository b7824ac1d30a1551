#include "evenkeel/serve/pulse_server.h"

#include <grpcpp/grpcpp.h>
#include <node/shell/pulse.grpc.pb.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "evenkeel/base/address.h"
#include "evenkeel/base/later.h"
#include "evenkeel/base/text.h"
#include "evenkeel/model/documents.h"

namespace evenkeel::serve {
namespace {

constexpr int ping_every_ms = 10'000;  // on a connection that is silent
constexpr int ping_wait_ms = 5'000;
constexpr int later_field = 100;
constexpr std::uint64_t every_max_ms = 3'600'000;

class Stream;

grpc::Status elsewhere() { return {grpc::StatusCode::FAILED_PRECONDITION, "this controller is not active"}; }

// What the streams share; the maps are the loop's.
struct Shared {
  Loop& loop;
  PulseSink& sink;
  const PulseServerOptions options;
  std::atomic<std::uint32_t> connections = 0;
  std::map<std::uint64_t, std::shared_ptr<Stream>> streams = {};  // that have pulsed
  std::map<NodeId, std::uint64_t> latest = {};                    // stream on which each node was known last
  std::atomic<std::uint64_t> last_number = 0;
};

// One connection. It reads, asks the sink on the loop, answers, and reads on; so at most one of these is under way. It keeps itself until gRPC says that it
// is over. gRPC is called under the mutex: its reactions never run inside a call to it.
class Stream final : public grpc::ServerBidiReactor<node::v1::Beat, node::v1::Heard>,
                     public std::enable_shared_from_this<Stream> {
 public:
  explicit Stream(std::shared_ptr<Shared> shared) : shared_(std::move(shared)), number_(++shared_->last_number) {}

  void open() {
    self_ = shared_from_this();
    if (++shared_->connections > shared_->options.connections_max)
      return finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many nodes are connected"});
    const std::lock_guard lock(mutex_);
    StartRead(&incoming_);
  }

  // On the loop.
  void end() {
    ended_here_ = true;
    finish(elsewhere());
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return finish(grpc::Status::OK);
    if (incoming_.cluster() != shared_->options.cluster.str())
      return finish({grpc::StatusCode::FAILED_PRECONDITION,
                     fmt::format("this is a controller of the cluster {}", quote(shared_->options.cluster.str()))});
    auto pulse = parse_pulse(incoming_.pulse());
    if (!pulse) return finish({grpc::StatusCode::INVALID_ARGUMENT, pulse.error().message});
    const Duration every = std::chrono::milliseconds(std::min(incoming_.every_millis(), every_max_ms));
    if (every <= Duration{}) return finish({grpc::StatusCode::INVALID_ARGUMENT, "every_millis is at least 1"});
    shared_->loop.post([self = shared_from_this(), pulse = *std::move(pulse), every] { self->take(pulse, every); });
  }

  // On the loop.
  void take(const Pulse& pulse, Duration every) {
    if (is_over_ || ended_here_) return;
    const PulseSink::Verdict verdict = shared_->sink.pulse(pulse, every);
    if (verdict == PulseSink::Verdict::not_active) return end();
    shared_->streams.try_emplace(number_, shared_from_this());
    const bool known = verdict == PulseSink::Verdict::known;
    if (known) {
      node_ = pulse.node;
      shared_->latest[pulse.node] = number_;
    }
    answer(pulse.count, known);
  }

  void answer(std::uint64_t count, bool known) {
    const std::lock_guard lock(mutex_);
    if (finished_ || status_) return;
    outgoing_.set_count(count);
    outgoing_.set_known(known);
    if constexpr (is_later) {
      outgoing_.GetReflection()->MutableUnknownFields(&outgoing_)->Clear();
      outgoing_.GetReflection()->MutableUnknownFields(&outgoing_)->AddLengthDelimited(later_field, later_value);
    }
    writing_ = true;
    StartWrite(&outgoing_);
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (status_) return finish_when_quiet();
    if (ok && !finished_) StartRead(&incoming_);  // otherwise OnCancel comes, or came
  }

  void OnCancel() override { finish(grpc::Status::CANCELLED); }

  void finish(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (!status_) status_ = status;
    finish_when_quiet();
  }
  void finish_when_quiet() {
    if (writing_ || std::exchange(finished_, true)) return;
    Finish(*status_);
  }

  void OnDone() override {
    --shared_->connections;
    Loop& loop = shared_->loop;
    loop.post([self = std::move(self_)] { self->over(); });
  }

  // On the loop.
  void over() {
    is_over_ = true;
    shared_->streams.erase(number_);
    if (!node_) return;
    const auto latest = shared_->latest.find(*node_);
    if (latest == shared_->latest.end() || latest->second != number_) return;  // it has come again since
    shared_->latest.erase(latest);
    if (!ended_here_) shared_->sink.broken(*node_);
  }

  const std::shared_ptr<Shared> shared_;
  const std::uint64_t number_;
  std::shared_ptr<Stream> self_;
  node::v1::Beat incoming_;
  node::v1::Heard outgoing_;
  // The loop's.
  std::optional<NodeId> node_;  // that it was known as
  bool ended_here_ = false;
  bool is_over_ = false;

  std::mutex mutex_;
  bool writing_ = false, finished_ = false;
  std::optional<grpc::Status> status_;  // it is to end with it
};

class Calls final : public node::v1::Pulses::CallbackService {
 public:
  explicit Calls(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

 private:
  grpc::ServerBidiReactor<node::v1::Beat, node::v1::Heard>* Pulse(grpc::CallbackServerContext*) override {
    const auto stream = std::make_shared<Stream>(shared_);
    stream->open();
    return stream.get();
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace

class PulseServer::Impl {
 public:
  Impl(Loop& loop, PulseSink& sink, PulseServerOptions options)
      : shared_(std::make_shared<Shared>(loop, sink, std::move(options))), calls_(shared_) {}
  ~Impl() { stop(); }

  Result<> listen(Address address) {
    if (same_in_any_case(address.host, "localhost")) address.host = "127.0.0.1";
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(static_cast<int>(shared_->options.message_max.count()));
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers would share one port, and each get half of the nodes
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, ping_every_ms);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ping_wait_ms);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    // Nodes ping as well; more often than this would be taken for an attack.
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
    int port = 0;
    builder.AddListeningPort(format(address), grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&calls_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0) {
      server_.reset();
      return fail(Code::conflict,
                  "cannot listen on {}: somebody else does, or it is not this host's; choose another, or port 0 for any free one",
                  format(address));
    }
    address.port = static_cast<std::uint16_t>(port);
    address_ = format(address);
    return {};
  }

  const std::string& address() const { return address_; }
  std::size_t connections() const { return shared_->connections; }
  void end_all() {
    for (const auto& [number, stream] : std::exchange(shared_->streams, {})) stream->end();
  }
  void stop() {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());  // streams never end by themselves
    server_->Wait();
    server_.reset();
  }

 private:
  std::shared_ptr<Shared> shared_;
  Calls calls_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

PulseServer::PulseServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PulseServer::~PulseServer() = default;

Result<std::unique_ptr<PulseServer>> PulseServer::start(Loop& loop, PulseSink& sink, PulseServerOptions options) {
  const auto address = parse_address(options.listen);
  if (!address) return fail(address.error());
  if (!address->path.empty()) return fail(Code::invalid, "pulses are taken on HOST:PORT, not on {}", options.listen);
  if (!is_local(*address)) {
    return fail(Code::denied,
                "{} can be reached from other hosts, and there is no encryption or authentication yet; use 127.0.0.1:{}",
                options.listen, address->port);
  }
  auto impl = std::make_unique<Impl>(loop, sink, std::move(options));
  if (auto listening = impl->listen(*address); !listening) return fail(std::move(listening).error());
  return std::unique_ptr<PulseServer>(new PulseServer(std::move(impl)));
}

const std::string& PulseServer::address() const { return impl_->address(); }
std::size_t PulseServer::connections() const { return impl_->connections(); }
void PulseServer::end_all() { impl_->end_all(); }
void PulseServer::stop() { impl_->stop(); }

}  // namespace evenkeel::serve
