#pragma once
// Server: an Engine served over etcd's v3 gRPC API, so that etcdctl and every etcd client can use it, ours included.
//
//   auto server = Server::start(engine, {.listen = "127.0.0.1:2379"});
//
// Served: KV, Watch, Lease, Cluster.MemberList, Maintenance without Snapshot, Auth.Authenticate. Error texts are etcd's, since clients go
// by the text.
// Security: without TLS and authentication (users, or client certificates) it listens on this host's own addresses only. Users and what they
// may do come from a file (users.h); they say who they are by password or by a client certificate's common name. The file may be read anew
// while it serves; certificates are read once.
// A client that reads slowly, or not at all, costs at most some 2 MiB a stream, and misses nothing.
// Threads: its own and the engine's. stop(), or the destructor, ends calls and watches first.

#include <memory>
#include <string>

#include "evenkeel/base/log.h"
#include "evenkeel/base/result.h"
#include "evenkeel/store/backends/embedded/engine.h"

namespace evenkeel::store::embedded {

struct ServerTls {
  std::string certificate;  // PEM files
  std::string key;
  std::string client_authority;  // if given, clients must show a certificate that it signed
};

struct ServerOptions {
  std::string listen = "127.0.0.1:2379";  // port 0: any free one
  std::string advertise;                  // what MemberList says; empty: http(s)://listen
  std::string name = "evenkeel";
  ServerTls tls;
  std::string users;  // a file; empty: everybody may do everything
  Log* log = nullptr;
};

class Server {
 public:
  // The engine must outlive it.
  static Result<std::unique_ptr<Server>> start(Engine& engine, const ServerOptions& options);
  virtual ~Server() = default;
  virtual const std::string& address() const = 0;  // with the port really in use
  // Reads the file of users anew; with one that is wrong, users stay as they were. Streams end, and clients begin them again: so nobody goes
  // on to watch what he may not any more. refused: it was started without one.
  virtual Result<> reload() = 0;
  virtual void stop() = 0;
};

}  // namespace evenkeel::store::embedded
