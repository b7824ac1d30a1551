#pragma once
// Remote: a broker in another process of this host (shell/rpc/service.h), used as if it were in this one.
//
//   auto client = connect_client("127.0.0.1:7071", "compactor");                       // shell/client.h: grants that give themselves back
//   if (auto grant = (*client)->acquire({.type = "compaction_gen0", .need = {.cpu = 1}}, 10s)) compact();
//
//   auto session = connect("127.0.0.1:7071", "compactor", {}, on(loop), sink);         // or the plain layer, shell/session.h
//
//   RemoteBroker remote("127.0.0.1:7071");                                              // status, config, recordings
//   auto seen = remote.observe();
//
// A session behaves as a local one does, with these differences:
//   - A request is taken when it is queued for sending, and tags count what was taken. What the broker itself does not take (an unknown
//     resource, a bound of its own) is delivered later, as an `error` without a refusal and with the reason as its message.
//   - At most `unsent_max` requests wait to be sent: the broker stops reading from a client that does not read its deliveries. A call
//     beyond waits up to `send_wait` for room, then it is refused as unavailable. The default does not wait. Only `finish` and `remove`
//     are always queued: what a client lets go of must not stay held.
//   - Texts must be UTF-8 (cookies may be any bytes), else Code::invalid; a request larger than the broker's messages is too_large.
//   - When the line breaks (broker gone, host suspended for longer than its pings allow), `closed` is delivered: the tasks are gone.
//   - The destructor sends what is queued and waits for the broker to have seen it, at most `close_wait`; then it cuts the line.
// At most `undelivered_max` deliveries wait for the executor before no more are read.
// Threads: gRPC's own, shared by all clients of the process. Any thread may call.

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "evenkeel/base/result.h"
#include "evenkeel/base/time.h"
#include "evenkeel/broker/shell/broker.h"
#include "evenkeel/broker/shell/client.h"
#include "evenkeel/broker/shell/session.h"

namespace evenkeel::broker {

struct RemoteOptions {
  Duration connect_timeout = 5s;  // also of each question of a RemoteBroker
  std::size_t unsent_max = 65536;
  Duration send_wait{0};
  Duration close_wait = 2s;
  std::size_t undelivered_max = 65536;
  Duration ping_every = 10s;
  Duration ping_wait = 5s;
};

// Code::unavailable if nobody answers there, or no broker does; Code::denied if the address is not of this host.
Result<std::unique_ptr<Session>> connect(const std::string& address, const std::string& name, const RemoteOptions& options,
                                         Executor executor, SessionSink& sink);

Result<std::unique_ptr<Client>> connect_client(const std::string& address, const std::string& name,
                                               const RemoteOptions& options = {}, Executor executor = at_once());

// What is asked of a broker as a whole. Each call connects if need be. Threads: any.
class RemoteBroker {
 public:
  explicit RemoteBroker(const std::string& address, const RemoteOptions& options = {});
  ~RemoteBroker();
  RemoteBroker(const RemoteBroker&) = delete;
  RemoteBroker& operator=(const RemoteBroker&) = delete;

  enum class DryRun : bool { no, yes };
  struct Changed {
    Config before;
    Config after;
  };

  Result<Observed> observe(const ObserveLimits& limits = {}) const;
  Result<Config> config() const;
  // Code::refused if the broker refuses it; Code::unknown_outcome if the answer was lost.
  Result<Changed> configure(const Config& config, DryRun dry_run) const;
  Result<Changed> configure(const ConfigPatch& patch, DryRun dry_run) const;
  // The lines of a trace, from now on, until a stop is requested or `take` fails, whose error is then returned. A part may end within a
  // line. Code::too_large: they were not taken fast enough.
  Result<void> record(const std::function<Result<void>(std::string_view part)>& take, std::stop_token stop) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evenkeel::broker
