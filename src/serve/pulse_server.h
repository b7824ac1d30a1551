#pragma once
// PulseServer: where nodes pulse to. Each connection is a stream of pulses (node/shell/pulse.proto); they are handed to the sink on the loop, one at a
// time from each connection, and the next is read when the last was answered. So a node that sends too fast waits.
//
//   auto server = PulseServer::start(loop, sink, {.cluster = ClusterId("pages")});
//
// A node's connection is broken when the latest one on which it was known ends, unless this side ended it.
// Only addresses of this host are listened on, since there is neither encryption nor authentication here.
// Threads: gRPC's own; the sink's calls, and end_all(), are on the loop. stop(), or the destructor, is for another thread than the loop's; the loop and the sink
// outlive it, and what was under way may still come to the sink until the loop has run what is posted.

#include <cstdint>
#include <memory>
#include <string>

#include "evenkeel/base/loop.h"
#include "evenkeel/base/quantity.h"
#include "evenkeel/base/result.h"
#include "evenkeel/model/exchange.h"

namespace evenkeel::serve {

class PulseSink {
 public:
  enum class Verdict : std::uint8_t {
    known,       // it was taken
    unknown,     // no such node yet, or another process counts under its name
    not_active,  // the node is to look for who is
  };
  virtual ~PulseSink() = default;
  virtual Verdict pulse(const Pulse& pulse, Duration every) = 0;
  virtual void broken(const NodeId& node) = 0;
};

struct PulseServerOptions {
  std::string listen = "127.0.0.1:0";
  ClusterId cluster;
  std::uint32_t connections_max = 10'000;
  Bytes message_max{64 << 20};  // a hundred thousand replicas with their loads
};

class PulseServer {
 public:
  static Result<std::unique_ptr<PulseServer>> start(Loop& loop, PulseSink& sink, PulseServerOptions options);
  ~PulseServer();
  PulseServer(const PulseServer&) = delete;
  PulseServer& operator=(const PulseServer&) = delete;

  const std::string& address() const;  // HOST:PORT, with the port really in use
  std::size_t connections() const;     // any thread
  // Every node is to look for who is active, and to say everything anew.
  void end_all();
  void stop();

 private:
  class Impl;
  explicit PulseServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evenkeel::serve
