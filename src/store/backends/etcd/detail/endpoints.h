#pragma once
// Endpoints: one connection to each server that the URL names, and which of them calls go to now.
//
// connect() gives an endpoint whose connection stands, so that a write handed to it counts as sent, and a write that got none was certainly
// not done. It keeps to one endpoint until that one fails, then takes the next whose connection stands; while none does it tries them all.
// An endpoint that failed a call is avoided for a while, unless there is no other.

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evenkeel/base/log.h"
#include "evenkeel/base/result.h"
#include "evenkeel/store/backends/etcd/detail/pump.h"
#include "evenkeel/store/backends/open.h"

namespace evenkeel::store::etcd::detail {

struct Endpoint {
  std::string address;
  std::shared_ptr<grpc::Channel> channel;
  bool tls = false;
  Instant avoided_until = Instant::min();
  std::string trouble;  // why it could not be connected to, when that was last tried; empty: not known
  bool asking = false;  // for that trouble
};

class Endpoints {
 public:
  using Then = std::move_only_function<void(Result<Endpoint*>)>;

  // Reads the files of TLS: an error names the one that cannot be read.
  static Result<std::vector<Endpoint>> open(const Url& url, const OpenOptions& options);

  Endpoints(Loop& loop, Log log, Pump& pump, std::vector<Endpoint> endpoints);

  // At once if a connection stands, else when one does; `unavailable`, with each endpoint's trouble, if none does by then.
  void connect(Instant deadline, Then then);
  // A call to it failed: others are tried first, for a while.
  void avoid(Endpoint& endpoint);
  // All calls to it may hang: what waits there without a deadline of its own should go elsewhere.
  void on_stuck(std::function<void(Endpoint&)> listener) { on_stuck_ = std::move(listener); }
  void stuck(Endpoint& endpoint);
  std::size_t size() const { return endpoints_.size(); }

 private:
  struct Waiting {
    Instant deadline;
    Then then;
  };

  Endpoint* best(bool avoided_too);
  bool others_failed() const;
  void poll();
  void ask_trouble(Endpoint& endpoint);
  void serve(Endpoint& endpoint);
  void expire();
  std::string troubles() const;

  Loop& loop_;
  Log log_;
  Pump& pump_;
  std::vector<Endpoint> endpoints_;
  std::size_t current_ = 0;
  std::vector<Waiting> waiting_;
  bool polling_ = false;
  Instant polling_since_;
  Duration poll_after_{};
  std::function<void(Endpoint&)> on_stuck_;
  Delays delays_;
};

}  // namespace evenkeel::store::etcd::detail
