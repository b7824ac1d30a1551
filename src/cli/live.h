#pragma once
// What the commands that talk to a live broker have in common: where it is, how long to wait for it, and how they are interrupted.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "evenkeel/base/time.h"
#include "evenkeel/broker/shell/rpc/remote.h"
#include "evenkeel/cli/command.h"

namespace evenkeel::cli {

// --address and --timeout.
struct Reach {
  std::string address;  // empty: EVENKEEL_BROKER, else the usual one
  Duration timeout = 5s;
};
void add_reach(CLI::App& command, Session& session, Reach& reach);
// --address alone.
void add_address(CLI::App& command, Session& session, std::string& address);

// The outside, or null after the session was told that there is none.
Outside* outside_of(Session& session);

std::string address_of(const Outside& outside, const Reach& reach);
broker::RemoteOptions options_of(const Reach& reach);

// Waits and what ends them: signals, from its making to its end.
class Interrupt {
 public:
  explicit Interrupt(Outside& outside);

  // Until a signal comes, at most so long. Nothing: the time is over.
  std::optional<Outside::Signal> wait(Duration most = Duration::max());
  bool stopped() const { return stop_.stop_requested(); }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::mutex mutex_;
  std::condition_variable heard_;
  bool reload_ = false;
  std::stop_source stop_;
  std::unique_ptr<Outside::Watch> watch_;  // the last, so the first to go
};

}  // namespace evenkeel::cli
