#include "evenkeel/store/backends/embedded/server.h"

#include <grpcpp/grpcpp.h>
#include <netdb.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>

#include "evenkeel/base/address.h"
#include "evenkeel/base/file.h"
#include "evenkeel/base/text.h"
#include "evenkeel/store/backends/embedded/detail/server_cluster.h"
#include "evenkeel/store/backends/embedded/detail/server_kv.h"
#include "evenkeel/store/backends/embedded/detail/server_lease.h"
#include "evenkeel/store/backends/embedded/detail/server_watch.h"

namespace evenkeel::store::embedded {
namespace {

constexpr Bytes pem_max{1 << 20};
constexpr Bytes users_max{16 << 20};
// Above what a request may have comes its frame, for which etcd leaves as much.
constexpr int message_bytes_max = static_cast<int>(detail::Core::request_bytes_max) + (512 << 10);
constexpr auto stop_within = std::chrono::seconds(2);  // for calls that were begun; then they are cut off

struct Pem {
  std::string certificate, key, client_authority;
};

using X509Ptr = std::unique_ptr<X509, decltype([](X509* x) { X509_free(x); })>;
using KeyPtr = std::unique_ptr<EVP_PKEY, decltype([](EVP_PKEY* k) { EVP_PKEY_free(k); })>;
using BioPtr = std::unique_ptr<BIO, decltype([](BIO* b) { BIO_free(b); })>;

X509Ptr read_certificate(const std::string& pem) {
  const BioPtr in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return X509Ptr(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
}

KeyPtr read_key(const std::string& pem) {
  const BioPtr in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const auto nobody_to_ask = [](char*, int, int, void*) { return -1; };
  return KeyPtr(PEM_read_bio_PrivateKey(in.get(), nullptr, nobody_to_ask, nullptr));
}

// gRPC only says that it cannot listen, so what is wrong with the files is found out here.
Result<Pem> read_pem(const ServerTls& tls) {
  if (tls.certificate.empty() || tls.key.empty())
    return fail(Code::invalid, "TLS needs both a certificate and its key; give the other file, too");
  Pem pem;
  for (const auto& [path, text] : {std::pair(&tls.certificate, &pem.certificate), std::pair(&tls.key, &pem.key),
                                   std::pair(&tls.client_authority, &pem.client_authority)}) {
    if (path->empty()) continue;
    auto read = read_file(*path, pem_max);
    if (!read) return fail(read.error());
    *text = *std::move(read);
  }
  ERR_clear_error();
  const X509Ptr certificate = read_certificate(pem.certificate);
  if (!certificate) return fail(Code::invalid, "{} has no certificate in PEM", quote(tls.certificate));
  const KeyPtr key = read_key(pem.key);
  if (!key)
    return fail(Code::invalid, "{} has no private key in PEM, or one with a passphrase; give one without", quote(tls.key));
  const bool fits = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!fits)
    return fail(Code::invalid, "the key in {} is not that of the certificate in {}", quote(tls.key), quote(tls.certificate));
  if (!tls.client_authority.empty() && !read_certificate(pem.client_authority))
    return fail(Code::invalid, "{} has no certificate in PEM", quote(tls.client_authority));
  return pem;
}

bool has_tls(const ServerTls& tls) { return !tls.certificate.empty() || !tls.key.empty() || !tls.client_authority.empty(); }

Result<> check_reach(const ServerOptions& options, const Address& address) {
  if (is_local(address)) return {};
  const bool encrypted = has_tls(options.tls);
  const bool authenticated = !options.users.empty() || !options.tls.client_authority.empty();
  if (encrypted && authenticated) return {};
  return fail(
      Code::refused,
      "{} can be reached from other hosts, and {}: give a certificate with its key, and users or an authority for clients' "
      "certificates; or listen on 127.0.0.1",
      options.listen, encrypted ? "anybody could read and write there" : "what is sent there could be read on the way");
}

constexpr std::string_view what_then = "choose another address, or port 0 for any free one";

// gRPC only says that it cannot listen, and prints why.
Result<> check_free(const Address& address, const std::string& listen) {
  if (!address.path.empty()) return {};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found); error != 0)
    return fail(Code::invalid, "cannot listen on {}: {}; give HOST:PORT of this host", listen, gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype([](addrinfo* list) { freeaddrinfo(list); })> all(found);
  const int socket = ::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol);
  const int on = 1;
  const bool good = socket >= 0 && setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                    bind(socket, found->ai_addr, found->ai_addrlen) == 0;
  const int error = errno;
  if (socket >= 0) close(socket);
  if (!good)
    return fail(error == EADDRINUSE ? Code::conflict : Code::unavailable, "cannot listen on {}: {}; {}", listen,
                std::strerror(error), what_then);
  return {};
}

Result<std::optional<Users>> read_users(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const auto text = read_file(path, users_max);
  if (!text) return fail(text.error());
  auto users = Users::parse(*text, path);
  if (!users) return fail(users.error());
  return std::optional<Users>(*std::move(users));
}

std::shared_ptr<grpc::ServerCredentials> credentials_of(const ServerTls& tls, const Pem& pem) {
  if (!has_tls(tls)) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(tls.client_authority.empty()
                                                ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                                : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = pem.client_authority;
  options.pem_key_cert_pairs.push_back({pem.key, pem.certificate});
  return grpc::SslServerCredentials(options);
}

void configure(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(message_bytes_max);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // else two servers could share a port, and halve the calls
  // Clients may ping every 5 s, as etcd lets them; we ping those that say nothing, so that watches of dead hosts end.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
}

class GrpcServer final : public Server {
 public:
  GrpcServer(Engine& engine, std::optional<Users> users, const ServerOptions& options)
      : core_(engine, std::move(users), options.name), users_(options.users), log_(options.log) {}
  ~GrpcServer() override { stop(); }

  Result<> listen(const ServerOptions& options, Address address, const Pem& pem) {
    grpc::ServerBuilder builder;
    configure(builder);
    int port = 0;
    builder.AddListeningPort(format(address), credentials_of(options.tls, pem), &port);
    for (grpc::Service* service : std::initializer_list<grpc::Service*>{&kv_, &watch_, &lease_, &cluster_, &maintenance_, &auth_})
      builder.RegisterService(service);
    const std::string scheme = has_tls(options.tls) ? "https" : "http";
    server_ = builder.BuildAndStart();
    if (!server_ || (address.path.empty() && port == 0))
      return fail(Code::unavailable, "cannot listen on {}: another process has the address, or this host does not; {}",
                  options.listen, what_then);
    if (address.path.empty()) address.port = static_cast<std::uint16_t>(port);
    address_ = format(address);
    core_.set_client_urls({options.advertise.empty() ? fmt::format("{}://{}", scheme, address_) : options.advertise});
    if (log_ != nullptr)
      log_->info("store served", {{"address", address_}, {"tls", scheme == "https"}, {"users", core_.access.enabled()}});
    return {};
  }

  const std::string& address() const override { return address_; }

  Result<> reload() override {
    if (users_.empty()) return fail(Code::refused, "there is no file of users to read anew");
    auto users = read_users(users_);
    if (!users) return fail(users.error());
    core_.access.replace(**std::move(users));
    core_.streams.end_all(detail::to_status({Code::unavailable, std::string(detail::words::users_changed)}));
    if (log_ != nullptr) log_->info("users read anew", {{"file", users_}});
    return {};
  }

  void stop() override {
    const std::scoped_lock lock(stopping_);
    if (!server_) return;
    core_.streams.stop(detail::to_status({Code::unavailable, std::string(detail::words::stopped)}));
    server_->Shutdown(std::chrono::system_clock::now() + stop_within);
    server_.reset();
  }

 private:
  detail::Core core_;
  detail::KvService kv_{core_};
  detail::WatchService watch_{core_};
  detail::LeaseService lease_{core_};
  detail::ClusterService cluster_{core_};
  detail::MaintenanceService maintenance_{core_};
  detail::AuthService auth_{core_};
  const std::string users_;  // the file
  Log* log_;
  std::string address_;
  std::mutex stopping_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(Engine& engine, const ServerOptions& options) {
  auto address = parse_address(options.listen);
  if (!address) return fail(address.error());
  if (const auto good = check_reach(options, *address); !good) return fail(good.error());
  if (const auto good = check_free(*address, options.listen); !good) return fail(good.error());
  auto users = read_users(options.users);
  if (!users) return fail(users.error());
  Pem pem;
  if (has_tls(options.tls)) {
    auto read = read_pem(options.tls);
    if (!read) return fail(read.error());
    pem = *std::move(read);
  }
  auto server = std::make_unique<GrpcServer>(engine, *std::move(users), options);
  if (const auto listening = server->listen(options, *std::move(address), pem); !listening) return fail(listening.error());
  return server;
}

}  // namespace evenkeel::store::embedded
