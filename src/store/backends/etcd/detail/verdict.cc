#include "evenkeel/store/backends/etcd/detail/verdict.h"

#include <array>
#include <optional>
#include <string_view>

namespace evenkeel::store::etcd::detail {
namespace {

using Next = Verdict::Next;

struct Known {
  std::string_view text;
  Next next;
  Code code;
  bool done_too = false;  // a write may be done all the same
};

// Texts that say for certain that nothing was done, but one. Those with `elsewhere` come from checks that are made before a request is proposed
// to the cluster. "leader changed", "request timed out…" and "server stopped" are not here: they may come after. A full etcd looks at its
// quota before it proposes a write and once more when it applies it, and what it finds too much the second time is written, and answered so.
constexpr std::array knowns{
    Known{"etcdserver: no leader", Next::elsewhere, Code::unavailable},
    Known{"etcdserver: not capable", Next::elsewhere, Code::unavailable},
    Known{"etcdserver: rpc not supported for learner", Next::elsewhere, Code::unavailable},
    Known{"etcdserver: too many requests", Next::elsewhere, Code::unavailable},
    Known{"etcdserver: invalid auth token", Next::authenticate, Code::denied},
    Known{"etcdserver: user name is empty", Next::authenticate, Code::denied},
    Known{"etcdserver: revision of auth store is old", Next::authenticate, Code::denied},
    Known{"auth: revision in header is old", Next::authenticate, Code::denied},
    Known{"etcdserver: authentication failed", Next::answer, Code::denied},
    Known{"etcdserver: permission denied", Next::answer, Code::denied},
    Known{"etcdserver: user name not found", Next::answer, Code::denied},
    Known{"etcdserver: request is too large", Next::answer, Code::too_large},
    Known{"etcdserver: too many operations in txn request", Next::answer, Code::too_large},
    Known{"grpc: received message larger than max", Next::answer, Code::too_large},
    Known{"etcdserver: mvcc: database space exceeded", Next::answer, Code::refused, true},
    Known{"etcdserver: corrupt cluster", Next::answer, Code::refused},
    Known{"etcdserver: mvcc: required revision has been compacted", Next::answer, Code::conflict},
    Known{"etcdserver: mvcc: required revision is a future revision", Next::answer, Code::invalid},
    Known{"etcdserver: requested lease not found", Next::answer, Code::not_found},
};

// Codes that only a server gives, having looked at the request and refused it.
std::optional<Code> refusal(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:
      return Code::invalid;
    case grpc::StatusCode::NOT_FOUND:
      return Code::not_found;
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::UNIMPLEMENTED:
      return Code::refused;
    case grpc::StatusCode::PERMISSION_DENIED:
      return Code::denied;
    default:
      return {};
  }
}

std::string text_of(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) return "no answer in time";
  return status.error_message().empty() ? "the connection was lost" : status.error_message();
}

}  // namespace

Verdict judge(const grpc::Status& status, Effect effect) {
  if (status.ok()) return {};
  const std::string text = text_of(status);
  for (const Known& known : knowns) {
    if (!text.starts_with(known.text)) continue;
    const bool doubtful = known.done_too && effect == Effect::write;
    return {known.next, false, {doubtful ? Code::unknown_outcome : known.code, text}};
  }
  if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED) return {Next::authenticate, false, {Code::denied, text}};
  if (const auto code = refusal(status.error_code())) return {Next::answer, false, {*code, text}};
  const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  if (effect == Effect::write) return {Next::answer, late, {Code::unknown_outcome, text}};
  return {Next::elsewhere, late, {Code::unavailable, text}};
}

}  // namespace evenkeel::store::etcd::detail
