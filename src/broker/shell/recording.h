#pragma once
// Recording: a copy of everything a broker is asked from one moment on, as the commands of a trace (trace.h): what replays to the
// same grants.
//
//   auto recording = broker->record();
//   while (auto commands = recording->read(stop))                  // waits for more
//     for (const trace::Command& command : *commands) out << trace::format(command) << '\n';
//
// The first command restores the scheduler as it was; `advance` stands between commands where time passed. The broker never waits for
// a recording: one that is not read fast enough ends, with an error that says so. Destroying it ends it.
// Requests that never reached the scheduler (over a bound, an unknown resource) are not in it, nor is a config that was refused.
// A cookie is a text there; bytes that are no UTF-8 become U+FFFD. Threads: one reads.

#include <memory>
#include <stop_token>
#include <vector>

#include "evenkeel/base/result.h"
#include "evenkeel/broker/trace.h"

namespace evenkeel::broker {

class Recording {
 public:
  class Buffer;
  explicit Recording(std::shared_ptr<Buffer> buffer);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // What came since the last call, at least one, waiting for it; nothing once `stop` was requested. Code::too_large when more came
  // than the buffer keeps, after all that came before was read.
  Result<std::vector<trace::Command>> read(std::stop_token stop);
  // The same without waiting: possibly nothing.
  Result<std::vector<trace::Command>> read_now();

 private:
  std::shared_ptr<Buffer> buffer_;
};

}  // namespace evenkeel::broker
