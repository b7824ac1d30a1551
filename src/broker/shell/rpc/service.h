#pragma once
// Service: a broker for other processes of this host, over gRPC (broker.proto). shell/rpc/remote.h is the other end.
//
//   auto service = Service::start(broker, {.listen = "127.0.0.1:0"});
//   if (!service) return service.error();
//   fmt::print("{}\n", (*service)->address());       // the port really in use
//
// One stream is one client. However it ends (closed, cancelled, process killed, connection lost) the client has died then, and its
// tasks go. A peer that vanished without a word is noticed by pings within `ping_every` + `ping_wait`.
//
// Bounds: a client's next message is read only while fewer than `deliveries_max` of its deliveries wait to be sent, so one that does
// not read is soon not read from either, and costs at most that many, one message's answers and one grant for each of its tasks;
// others do not notice. Messages, clients and recordings have bounds of their own. BrokerOptions bounds tasks and texts.
//
// No thread per client: gRPC's own threads, about one for each core, run everything. A recording has a thread.
// Only addresses of this host are listened on, for there is neither encryption nor authentication.
// stop(), or the destructor, ends all streams and returns when none is left.

#include <cstddef>
#include <memory>
#include <string>

#include "evenkeel/base/quantity.h"
#include "evenkeel/base/result.h"
#include "evenkeel/base/time.h"
#include "evenkeel/broker/shell/broker.h"

namespace evenkeel::broker {

inline constexpr std::string_view default_address = "127.0.0.1:7071";

struct ServiceOptions {
  std::string listen = std::string(default_address);  // HOST:PORT, [IPV6]:PORT or unix:PATH; port 0: any free one
  std::size_t deliveries_max = 16384;
  Bytes message_max{1 << 20};
  std::size_t clients_max = 10'000;
  std::size_t recordings_max = 8;
  Duration ping_every = 10s;
  Duration ping_wait = 5s;
};

class Service {
 public:
  // Code::denied for an address that other hosts can reach, Code::conflict for one in use.
  static Result<std::unique_ptr<Service>> start(std::shared_ptr<Broker> broker, ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  const std::string& address() const;
  void stop();

 private:
  class Impl;
  explicit Service(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evenkeel::broker
