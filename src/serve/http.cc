#include "evenkeel/serve/http.h"

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "evenkeel/base/address.h"
#include "evenkeel/base/text.h"
#include "evenkeel/serve/detail/bounded_server.h"

namespace evenkeel::serve {
namespace {

// A fixed number of threads and no queue: whoever brings a connection waits until a thread is free. So at most one accepted connection
// waits here, and all others in the kernel, which has its own bound.
class Workers final : public httplib::TaskQueue {
 public:
  Workers(unsigned count, std::function<void()> gone) : free_(count), gone_(std::move(gone)) {
    for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }

  ~Workers() override { gone_(); }

  void enqueue(std::function<void()> job) override {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return free_ > 0 || stopping_; });
    if (free_ > 0) --free_;
    jobs_.push_back(std::move(job));
    lock.unlock();
    come_.notify_one();
  }

  // Nobody waits for room from here on.
  void stop_waiting() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    room_.notify_all();
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = ending_ = true;
    }
    come_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      come_.wait(lock, [&] { return !jobs_.empty() || ending_; });
      if (jobs_.empty()) return;
      auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
      ++free_;
      room_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable come_, room_;
  std::deque<std::function<void()>> jobs_;
  unsigned free_;
  std::function<void()> gone_;
  bool stopping_ = false, ending_ = false;
  std::vector<std::thread> threads_;
};

bool names_this_host(const httplib::Request& request) {
  const std::string host = request.get_header_value("Host");
  if (host.empty()) return request.version == "HTTP/1.0";
  const bool has_port = !host.ends_with(']') && host.find(':') != std::string::npos;
  const auto address = parse_address(has_port ? host : host + ":80");
  return address && is_local(*address);
}

bool leads_to(const std::string& route, const std::string& path) {
  if (!route.ends_with("/*")) return route == path;
  const std::string_view folder = std::string_view(route).substr(0, route.size() - 1);
  return path.size() > folder.size() && path.starts_with(folder);
}

Request taken_from(const httplib::Request& request) {
  Request taken{.method = request.method, .path = request.path, .query = {}, .body = request.body};
  for (const auto& [name, value] : request.params) taken.query.emplace(name, value);
  return taken;
}

void put_into(httplib::Response& response, Response answer) {
  response.status = answer.status;
  for (auto& [name, value] : answer.headers) response.set_header(name, value);
  response.set_content(std::move(answer.body), answer.type);
}

void limit(httplib::Server& server, const HttpOptions& options) {
  server.set_tcp_nodelay(true);  // small answers would wait for the other side's delayed acknowledgement otherwise
  server.set_payload_max_length(options.body_max.count());
  server.set_keep_alive_timeout(std::max<time_t>(1, std::chrono::duration_cast<std::chrono::seconds>(options.idle_max).count()));
  // Without the library's SO_REUSEPORT, by which two servers would share a port and each get half of the requests.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_default_headers({{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-store"}});
}

}  // namespace

Response problem(int status, std::string_view title, std::string_view detail) {
  std::string kind = "urn:evenkeel:problem:";
  for (const char c : title) kind += c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return {.status = status,
          .type = "application/problem+json",
          .body = fmt::format("{{\"type\":{},\"title\":{},\"status\":{},\"detail\":{}}}\n", json_quoted(kind), json_quoted(title),
                              status, json_quoted(detail)),
          .headers = {}};
}

Response redirect(std::string path) { return {.status = 302, .body = "", .headers = {{"Location", std::move(path)}}}; }

class HttpServer::Impl {
 public:
  Impl(std::vector<Route> routes, const HttpOptions& options) : routes_(std::move(routes)), server_(options) {
    limit(server_, options);
    // The server makes it when it starts to listen, owns it, and ends it before it returns.
    server_.new_task_queue = [this, count = std::max(1U, options.connections_max)] {
      const std::lock_guard lock(mutex_);
      return workers_ = new Workers(count, [this] {
               const std::lock_guard gone(mutex_);
               workers_ = nullptr;
             });
    };
    const auto handler = [this](const httplib::Request& request, httplib::Response& response) {
      put_into(response, answer(request));
    };
    // Before a body is read.
    server_.set_pre_routing_handler([handler](const httplib::Request& request, httplib::Response& response) {
      if (request.has_header("Content-Encoding"))
        put_into(response, problem(415, "Packed body", "Send the body as it is: what it unpacks to would have no bound."));
      else if (request.has_header("Content-Length") || request.has_header("Transfer-Encoding"))
        return httplib::Server::HandlerResponse::Unhandled;
      else
        handler(request, response);  // there is no body, and the library would wait for one until the other side hangs up
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.Get(".*", handler)
        .Post(".*", handler)
        .Put(".*", handler)
        .Patch(".*", handler)
        .Delete(".*", handler)
        .Options(".*", handler);
    server_.set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
      put_into(response, problem(500, "Internal error", "The request could not be handled; this is a fault of the server."));
    });
    server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty() && response.status == 413)
        put_into(response, problem(413, "Body too large", "Send less at once."));
      else if (response.body.empty() && response.status >= 400)
        put_into(response, problem(response.status, "Bad request", "The request was not understood."));
    });
  }

  ~Impl() { stop(); }

  Result<void> listen(const Address& address) {
    const std::string host = same_in_any_case(address.host, "localhost") ? "127.0.0.1" : address.host;
    errno = 0;
    const int port = address.port == 0                               ? server_.bind_to_any_port(host)
                     : server_.bind_to_port(host, int{address.port}) ? int{address.port}
                                                                     : -1;
    if (port < 0) {
      return fail(errno == EADDRINUSE ? Code::conflict : Code::unavailable,
                  "cannot listen on {}: {}; choose another address, or port 0 for any free one", format(address),
                  errno == 0 ? "not possible" : std::strerror(errno));
    }
    address_ = format(Address{.host = host, .port = static_cast<std::uint16_t>(port), .path = ""});
    thread_ = std::thread([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
    // A stop before the server runs would be lost, so nobody gets hold of it earlier. This takes microseconds.
    while (!server_.is_running() && !ended_) std::this_thread::yield();
    return {};
  }

  void stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      if (workers_ != nullptr) workers_->stop_waiting();
    }
    server_.stop();
    thread_.join();
  }

  const std::string& address() const { return address_; }

 private:
  Response answer(const httplib::Request& request) const {
    if (!names_this_host(request))
      return problem(403, "Not for this host", "The Host header must be localhost or an address of this host.");
    const std::string method = request.method == "HEAD" ? "GET" : request.method;
    std::vector<std::string_view> allowed;
    for (const Route& route : routes_) {
      if (!leads_to(route.path, request.path)) continue;
      if (route.method == method) return route.handler(taken_from(request));
      allowed.push_back(route.method);
    }
    if (allowed.empty()) return nothing_at(request.path);
    auto refused = problem(405, "Method not allowed", fmt::format("{} takes {}.", request.path, fmt::join(allowed, ", ")));
    refused.headers.emplace_back("Allow", fmt::format("{}", fmt::join(allowed, ", ")));
    return refused;
  }

  Response nothing_at(const std::string& path) const {
    std::vector<std::string_view> there;
    for (const Route& route : routes_) {
      if (std::ranges::find(there, route.path) == there.end()) there.push_back(route.path);
    }
    return problem(404, "Not found", fmt::format("There is nothing at {}; there is {}.", quote(path), fmt::join(there, ", ")));
  }

  std::vector<Route> routes_;
  detail::BoundedServer server_;
  std::mutex mutex_;
  Workers* workers_ = nullptr;
  std::string address_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(std::vector<Route> routes, HttpOptions options) {
  const auto address = parse_address(options.listen);
  if (!address) return fail(address.error());
  if (!address->path.empty()) return fail(Code::invalid, "HTTP is served on HOST:PORT, not on {}", options.listen);
  if (!is_local(*address)) {
    return fail(Code::denied,
                "{} can be reached from other hosts, and there is no encryption or authentication yet; use 127.0.0.1:{}",
                options.listen, address->port);
  }
  auto impl = std::make_unique<Impl>(std::move(routes), options);
  if (const auto listening = impl->listen(*address); !listening) return fail(listening.error());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

const std::string& HttpServer::address() const { return impl_->address(); }
void HttpServer::stop() { impl_->stop(); }

}  // namespace evenkeel::serve
