#include "evenkeel/cli/live.h"

#include <algorithm>

#include "evenkeel/base/text.h"
#include "evenkeel/broker/shell/rpc/service.h"

namespace evenkeel::cli {

void add_address(CLI::App& command, Session& session, std::string& address) {
  auto* option = command.add_option("--address", address,
                                    fmt::format("Where the broker is; else EVENKEEL_BROKER, else {}", broker::default_address));
  option->type_name("ADDRESS");
  session.hints[option] = {.words = {std::string(broker::default_address)}};
}

void add_reach(CLI::App& command, Session& session, Reach& reach) {
  add_address(command, session, reach.address);
  add_duration(command, "--timeout", reach.timeout, fmt::format("How long to wait for its answer; {}", format(reach.timeout)));
}

Outside* outside_of(Session& session) {
  if (session.io.outside == nullptr) session.fail(Error{Code::unavailable, "there is no network here"});
  return session.io.outside;
}

std::string address_of(const Outside& outside, const Reach& reach) {
  if (!reach.address.empty()) return reach.address;
  const auto given = outside.variable("EVENKEEL_BROKER");
  return given && !given->empty() ? *given : std::string(broker::default_address);
}

broker::RemoteOptions options_of(const Reach& reach) { return {.connect_timeout = reach.timeout}; }

Interrupt::Interrupt(Outside& outside) {
  watch_ = outside.watch([this](Outside::Signal signal) {
    if (signal == Outside::Signal::stop) stop_.request_stop();
    const std::lock_guard lock(mutex_);
    reload_ = reload_ || signal == Outside::Signal::reload;
    heard_.notify_all();
  });
}

std::optional<Outside::Signal> Interrupt::wait(Duration most) {
  constexpr Duration longest = 24h * 365;
  std::unique_lock lock(mutex_);
  heard_.wait_for(lock, std::min(most, longest), [this] { return reload_ || stop_.stop_requested(); });
  if (stop_.stop_requested()) return Outside::Signal::stop;
  if (std::exchange(reload_, false)) return Outside::Signal::reload;
  return std::nullopt;
}

}  // namespace evenkeel::cli
