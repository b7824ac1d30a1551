#pragma once
// What may block for long, on threads of its own: names are asked for, the C client is started and stopped.
//
// Nobody waits for such a thread, as it may hang in the name service for half a minute: it may outlive the store, its loop and all that they
// own. So it touches nothing of theirs, and tells what came of it through a Door, which is closed when nobody listens any more.

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "evenkeel/base/loop.h"
#include "evenkeel/base/result.h"

namespace evenkeel::store::zookeeper {

void in_background(std::move_only_function<void()> work);

// To a loop, from threads that may outlive it. Shared by them and by the one that closes it, on the loop.
class Door {
 public:
  explicit Door(Loop& loop) : loop_(&loop) {}
  // False, and the callback is dropped: nobody is there.
  bool post(Loop::Callback callback);
  void close();

 private:
  std::mutex mutex_;
  Loop* loop_;  // null: closed
};

// Whether a host's name means anything; blocks for as long as that takes. Called by several threads.
using Resolve = std::function<Result<>(const std::string& host)>;
Result<> resolve_by_system(const std::string& host);

struct Resolved {
  struct Unusable {
    std::string endpoint, why;
  };
  std::vector<std::string> usable;  // as the C client takes them: IPv6 without brackets
  std::vector<Unusable> unusable;
};

// All at once. Once one name is known the others have `patience` left.
Resolved resolve_all(const std::vector<std::string>& endpoints, const Resolve& resolve, Duration patience);

}  // namespace evenkeel::store::zookeeper
