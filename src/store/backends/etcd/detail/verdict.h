#pragma once
// What a server's answer means: was it done, certainly not done, or is that not known; and what to do next.
//
// etcd's errors are told apart by their text, as all its clients do. Only a text that etcd sends before a request enters its log counts as
// "certainly not done" for a write; whatever else goes wrong after a write was sent leaves it unknown.

#include <grpcpp/support/status.h>

#include <cstdint>

#include "evenkeel/base/result.h"

namespace evenkeel::store::etcd::detail {

enum class Effect : std::uint8_t {
  none,   // a read, or something that may as well happen twice
  write,  // must not happen twice
};

struct Verdict {
  enum class Next : std::uint8_t {
    answer,        // with `error`, or the response if the status was good
    elsewhere,     // not done, or harmless to repeat: another endpoint may do better. `error` is for when the time is up.
    authenticate,  // the token is not, or no longer, good: get another. Not done.
  };
  Next next = Next::answer;
  bool late = false;  // no answer came in time: the server may be paused or cut off
  Error error;
};

// Of a call that was sent. Compacted revisions are Code::conflict here, unknown leases Code::not_found.
Verdict judge(const grpc::Status& status, Effect effect);

}  // namespace evenkeel::store::etcd::detail
