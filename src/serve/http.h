#pragma once
// serve: the HTTP face. Routes lead to plain functions, and nothing here decides anything.
//
//   auto server = HttpServer::start({{"GET", "/healthz", [](const Request&) { return Response{.body = "ok\n"}; }}},
//                                   {.listen = "127.0.0.1:0"});
//   if (!server) return server.error();                                     // port in use, address not local, …
//   fmt::print("http://{}\n", (*server)->address());                        // the port really in use
//
// Only addresses of this host are listened on, since there is neither encryption nor authentication here. For the same reason a
// request must name this host in its Host header: a page of somebody else's, in a browser on this host, cannot read ours by giving our
// address a name of its own.
// Bounds: so many connections are served at once (`connections_max`), each by one thread; further ones wait in the kernel. A body, a
// pause while sending a request, a request with its answer, and an idle connection have theirs (`HttpOptions`); a request's line and
// headers have 64 KiB.
// Handlers run on the server's threads, several at once; one that throws answers 500. stop(), or the destructor, returns once no
// handler runs any more.
// Errors are application/problem+json, with what to do in `detail`.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evenkeel/base/quantity.h"
#include "evenkeel/base/result.h"
#include "evenkeel/base/time.h"

namespace evenkeel::serve {

struct Request {
  std::string method;
  std::string path;                          // decoded, without the query
  std::map<std::string, std::string> query;  // the first value of each name
  std::string body;
};

struct Response {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// RFC 9457: what went wrong, and what to do. Programs tell problems apart by their type, which is made of the title ("Not found":
// urn:evenkeel:problem:not-found): so a title stays as it is. docs/serve.md lists them.
Response problem(int status, std::string_view title, std::string_view detail);
Response redirect(std::string path);

struct Route {
  std::string method;  // GET, which answers HEAD as well; POST, PUT, PATCH, DELETE
  std::string path;    // exactly this; "/shards/*": all below /shards/
  std::function<Response(const Request&)> handler;
};

struct HttpOptions {
  std::string listen = "127.0.0.1:0";
  unsigned connections_max = 16;
  Bytes body_max{1 << 20};
  Duration pause_max = 5s;      // while a request comes in or an answer goes out
  Duration exchange_max = 10s;  // a request and its answer as a whole; stop() may take as long
  Duration idle_max = 2s;       // between two requests on one connection; so may it here
};

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> start(std::vector<Route> routes, HttpOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  const std::string& address() const;  // HOST:PORT
  void stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evenkeel::serve
