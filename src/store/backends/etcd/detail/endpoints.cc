#include "evenkeel/store/backends/etcd/detail/endpoints.h"

#include <fmt/ranges.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <store/backends/proto/etcd.pb.h>

#include <algorithm>
#include <utility>

#include "evenkeel/base/file.h"
#include "evenkeel/store/backends/etcd/detail/exchange.h"

namespace evenkeel::store::etcd::detail {
namespace {

// While no connection stands, their states are looked at by a timer that slows down to this. gRPC can also tell of a change, but that wait
// cannot be cancelled, and would hold up whoever destroys the store.
constexpr Duration poll_first = 1ms;
constexpr Duration poll_max = 50ms;
// How long one endpoint is waited for before the others are connected to as well.
constexpr Duration patience = 250ms;
constexpr Duration avoided_for = 5s;
// etcd closes connections of clients that ping more often than every 5 s.
constexpr int ping_every_ms = 6'000;
constexpr int ping_answer_ms = 3'000;
constexpr int connect_ms = 3'000;
constexpr Bytes pem_bytes_max(1 << 20);

Result<std::shared_ptr<grpc::ChannelCredentials>> credentials(const Url& url, const Tls& tls) {
  if (url.scheme != "etcds") {
    if (!tls.authority.empty() || !tls.certificate.empty() || !tls.key.empty())
      return fail(Code::invalid, "files for TLS are given, and {} is without TLS: write etcds://", format(url));
    return grpc::InsecureChannelCredentials();
  }
  if (tls.certificate.empty() != tls.key.empty())
    return fail(Code::invalid, "TLS: a client's certificate and its key are given together, or neither");
  grpc::SslCredentialsOptions options;
  for (const auto& [path, into] : {std::pair{&tls.authority, &options.pem_root_certs},
                                   {&tls.certificate, &options.pem_cert_chain},
                                   {&tls.key, &options.pem_private_key}}) {
    if (path->empty()) continue;
    auto text = read_file(*path, pem_bytes_max);
    if (!text) return fail(std::move(text).error().in("TLS"));
    *into = *std::move(text);
  }
  return grpc::SslCredentials(options);
}

grpc::ChannelArguments arguments(const Tls& tls) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);             // a write is sent once
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // each store has connections of its own
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // the environment does not say where the store is
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ping_every_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ping_answer_ms);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // also while a watch is silent
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, connect_ms);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2'000);
  arguments.SetMaxReceiveMessageSize(-1);
  if (!tls.server_name.empty()) arguments.SetSslTargetNameOverride(tls.server_name);
  return arguments;
}

grpc_connectivity_state state_of(const Endpoint& endpoint, bool connect) { return endpoint.channel->GetState(connect); }

// What gRPC says of a connection it could not make, without its own preface. That a server closes it at once says little by itself.
std::string trouble_of(const grpc::Status& status, bool tls) {
  std::string text = status.error_message();
  for (const std::string_view preface : {"last error: ", "UNKNOWN: ", "UNAVAILABLE: "}) {
    if (const std::size_t at = text.find(preface); at != std::string::npos) text.erase(0, at + preface.size());
  }
  if (text.ends_with("Endpoint read failed") || text.ends_with("Socket closed"))
    text += tls ? "; it may ask for another client certificate, or be without TLS" : "; it may ask for TLS: etcds://";
  return text;
}

}  // namespace

Result<std::vector<Endpoint>> Endpoints::open(const Url& url, const OpenOptions& options) {
  if (url.endpoints.empty()) return fail(Code::invalid, "{} names no server", format(url));
  const auto made = credentials(url, options.access.tls);
  if (!made) return fail(made.error());
  std::vector<Endpoint> endpoints;
  for (const std::string& address : url.endpoints) {
    const std::string target = address.starts_with("unix:") ? address : "dns:///" + address;
    endpoints.push_back(
        {address, grpc::CreateCustomChannel(target, *made, arguments(options.access.tls)), url.scheme == "etcds"});
  }
  return endpoints;
}

Endpoints::Endpoints(Loop& loop, Log log, Pump& pump, std::vector<Endpoint> endpoints)
    : loop_(loop), log_(std::move(log)), pump_(pump), endpoints_(std::move(endpoints)), delays_(loop) {}

void Endpoints::connect(Instant deadline, Then then) {
  if (Endpoint* endpoint = best(endpoints_.size() == 1)) return then(endpoint);
  waiting_.push_back({deadline, std::move(then)});
  if (std::exchange(polling_, true)) return;
  polling_since_ = loop_.now();
  poll_after_ = poll_first;
  poll();
}

void Endpoints::avoid(Endpoint& endpoint) { endpoint.avoided_until = later(loop_.now(), avoided_for); }

void Endpoints::stuck(Endpoint& endpoint) {
  avoid(endpoint);
  if (endpoints_.size() > 1 && on_stuck_) on_stuck_(endpoint);
}

// The first from the current one on whose connection stands, which is the current one then.
Endpoint* Endpoints::best(bool avoided_too) {
  const Instant now = loop_.now();
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    const std::size_t at = (current_ + i) % endpoints_.size();
    Endpoint& endpoint = endpoints_[at];
    if (!avoided_too && endpoint.avoided_until > now) continue;
    if (state_of(endpoint, false) != GRPC_CHANNEL_READY) continue;
    if (at != current_)
      log_.info("calls to etcd go to another server", {{"from", endpoints_[current_].address}, {"to", endpoint.address}});
    current_ = at;
    return &endpoint;
  }
  return nullptr;
}

// Whether there is nobody left to hope for but those that are avoided.
bool Endpoints::others_failed() const {
  return std::ranges::all_of(endpoints_, [now = loop_.now()](const Endpoint& endpoint) {
    return endpoint.avoided_until > now || state_of(endpoint, false) == GRPC_CHANNEL_TRANSIENT_FAILURE;
  });
}

void Endpoints::poll() {
  const Instant now = loop_.now();
  Endpoint& current = endpoints_[current_];
  const bool impatient = now - polling_since_ >= patience;
  const bool all = impatient || current.avoided_until > now || state_of(current, true) == GRPC_CHANNEL_TRANSIENT_FAILURE;
  for (Endpoint& endpoint : endpoints_) {
    if (all && state_of(endpoint, true) == GRPC_CHANNEL_TRANSIENT_FAILURE) ask_trouble(endpoint);
  }
  if (Endpoint* endpoint = best(impatient || others_failed())) return serve(*endpoint);
  const auto alive = delays_.alive();
  expire();
  if (alive.expired()) return;
  polling_ = !waiting_.empty();
  if (!polling_) return;
  delays_.after(poll_after_, [this] { poll(); });
  poll_after_ = std::min(2 * poll_after_, poll_max);
}

// gRPC tells why a connection failed only to a call, which ends at once in that state.
void Endpoints::ask_trouble(Endpoint& endpoint) {
  if (std::exchange(endpoint.asking, true)) return;
  auto exchange = std::make_shared<Exchange<etcdserverpb::StatusResponse>>();
  exchange->set_deadline(1s);
  auto* tag = pump_.event(exchange, &exchange->context, [&endpoint, exchange](bool) {
    endpoint.asking = false;
    if (!exchange->status.ok()) endpoint.trouble = trouble_of(exchange->status, endpoint.tls);
  });
  exchange->start(endpoint.channel, "/etcdserverpb.Maintenance/Status", etcdserverpb::StatusRequest(), pump_.queue(), tag);
}

void Endpoints::serve(Endpoint& endpoint) {
  polling_ = false;
  endpoint.trouble.clear();
  const auto alive = delays_.alive();
  for (Waiting& one : std::exchange(waiting_, {})) {
    one.then(&endpoint);
    if (alive.expired()) return;
  }
}

void Endpoints::expire() {
  const Instant now = loop_.now();
  const auto over = std::ranges::stable_partition(waiting_, [now](const Waiting& one) { return one.deadline > now; });
  std::vector<Waiting> late(std::make_move_iterator(over.begin()), std::make_move_iterator(over.end()));
  waiting_.erase(over.begin(), over.end());
  const auto alive = delays_.alive();
  const Error error{Code::unavailable, "no server could be reached: " + troubles()};
  for (Waiting& one : late) {
    one.then(fail(error));
    if (alive.expired()) return;
  }
}

std::string Endpoints::troubles() const {
  std::vector<std::string> all;
  for (const Endpoint& endpoint : endpoints_) {
    all.push_back(fmt::format("{} ({})", endpoint.address, endpoint.trouble.empty() ? "no answer" : endpoint.trouble));
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace evenkeel::store::etcd::detail
