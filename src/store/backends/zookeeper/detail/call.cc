#include "evenkeel/store/backends/zookeeper/detail/call.h"

#include <zookeeper/zookeeper.h>

namespace evenkeel::store::zookeeper {

Error error_of(int code, std::string_view path) {
  switch (code) {
    case ZNOAUTH:
    case ZINVALIDACL:
      return {Code::denied, fmt::format("ZooKeeper denies {}: its access list does not name this user", path)};
    case ZAUTHFAILED:
    case ZSESSIONCLOSEDREQUIRESASLAUTH:
      return {Code::denied, "ZooKeeper refuses this user and password"};
    case ZBADARGUMENTS:
      return {Code::invalid, fmt::format("ZooKeeper does not take {} as a path", path)};
    case ZNOCHILDRENFOREPHEMERALS:
      return {Code::refused, fmt::format("{} is below an ephemeral key", path)};
    default:
      return {Code::unavailable, fmt::format("ZooKeeper on {}: {}", path, zerror(code))};
  }
}

// The server's answers to a request that it understood are those from ZAPIERROR down. Above it are troubles on the way, there or back.
Error write_error_of(int code, std::string_view path) {
  Error error = error_of(code, path);
  if (error.code == Code::unavailable && code > ZAPIERROR && code != ZUNIMPLEMENTED) error.code = Code::unknown_outcome;
  return error;
}

bool passes(int code) {
  return code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT || code == ZSESSIONEXPIRED || code == ZCLOSING ||
         code == ZINVALIDSTATE || code == ZSESSIONMOVED || code == ZTHROTTLEDOP || code == ZNOTREADONLY;
}

bool is_contention(int code) {
  return code == ZBADVERSION || code == ZNONODE || code == ZNODEEXISTS || code == ZNOTEMPTY || code == ZNOCHILDRENFOREPHEMERALS;
}

// The context may be gone by now, if the answer was to destroy the store.
Call::~Call() { loop_.cancel(timer_); }

void Call::begin(std::shared_ptr<Call> call) {
  Context& context = call->context_;
  call->timer_ = context.loop.post_after(context.options.timeout, [weak = std::weak_ptr(call)] {
    if (const auto alive = weak.lock()) alive->give_up(alive->time_is_up());
  });
  context.calls.insert(call);
  call->again();
}

Error Call::time_is_up() const {
  const std::string& trouble = context_.connection->trouble();
  return {Code::unavailable, fmt::format("no answer from ZooKeeper at {} within {}{}{}", context_.servers,
                                         evenkeel::format(context_.options.timeout), trouble.empty() ? "" : ": ", trouble)};
}

void Call::start_attempt() {
  ++attempt_;
  if (context_.connection->auth_failed()) return give_up(error_of(ZAUTHFAILED, {}));
  attempt();
}

void Call::again() {
  ++attempt_;
  context_.connection->when_ready(weak_from_this(), [this] { start_attempt(); });
}

void Call::again_after(Duration delay) {
  ++attempt_;
  context_.loop.post_after(delay, [weak = weak_from_this()] {
    if (const auto alive = weak.lock()) alive->again();
  });
}

// The session may look ready for a moment longer than it is, so a failure is never answered by trying again at once.
void Call::read_failed(int code, std::string_view path) {
  if (passes(code)) return again_after(10ms);
  give_up(error_of(code, path));
}

void Call::give_up(Error error) {
  const auto alive = shared_from_this();
  forget();
  answer_error(std::move(error));
}

void Call::forget() {
  ++attempt_;
  context_.loop.cancel(timer_);
  context_.calls.erase(shared_from_this());
}

}  // namespace evenkeel::store::zookeeper
