#pragma once
// Client and Grant: the pleasant way to use a broker, in this process or behind a socket. A grant gives itself back.
//
//   auto client = broker->client("compactor");
//   if (auto grant = client->acquire({.type = "compaction_gen0", .need = {.cpu = 1, .memory = 512 << 20}}, 10s)) {
//     compact();
//     grant->reduce({.memory = 256 << 20});         // others may have half of it from here on
//     upload();
//   }                                               // finished; `grant->cancel()` instead if the run says nothing of its duration
//
//   client->submit({.type = "transaction"}, [](Result<Grant> grant) { ... });        // without waiting
//   if (auto grant = client->try_acquire(task); grant && *grant) ...                 // at once or not at all
//
// What holds:
//   - A call that returned an error, or gave up, holds nothing: a grant that came too late is given back, as cancelled.
//   - A callback runs exactly once, on the client's executor, in the broker's order; or inside the client's destructor, with
//     Code::cancelled, if it had not run by then. After the destructor nothing runs. It must not throw.
//   - A client that dies before its grants takes their tasks with it: the grants are then inert, and every call on them harmless.
//   - When the line to the broker breaks, all that waits ends with Code::unavailable, and so does every later call. The tasks
//     are gone: connect anew.
// Errors: Code::cancelled the caller's own timeout or stop; Code::conflict the task's id is in use; Code::refused a bound or an option of
// the broker; Code::invalid an unknown resource; Code::unavailable no line.
// Ids: with id 0 the client picks one that it does not use.
// Threads: any may use a client; a grant belongs to one at a time. `acquire`, `try_acquire` and `reacquire` wait, so inside a callback
// that runs on the thread of the delivery itself (executor `at_once`) they are refused.
// Cost: that of the session, one lock, one hash table entry for each task.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "evenkeel/base/result.h"
#include "evenkeel/base/time.h"
#include "evenkeel/broker/shell/executor.h"
#include "evenkeel/broker/shell/session.h"

namespace evenkeel::broker {

class ClientCore;

// What an update overwrites: all three.
struct Change {
  std::string type;
  std::uint64_t priority = 0;
  Need need;
};

// The right to use what a task asked for, until it is destroyed or given back.
class [[nodiscard]] Grant {
 public:
  Grant() = default;  // of nothing
  Grant(Grant&& other) noexcept;
  Grant& operator=(Grant&& other) noexcept;
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;
  ~Grant() { finish(); }

  TaskId id() const { return id_; }
  const std::string& cookie() const { return cookie_; }
  // Whether it still holds something: false once given back, moved from, merged, or when its client or the line is gone.
  bool active() const;

  // Gives everything back. The time it took counts for the type's mean duration.
  void finish();
  // Gives everything back; the time says nothing of the type.
  void cancel();
  // Gives some of it back, at most what is held.
  Result<void> reduce(const Need& by);
  // Takes over what the donor holds; the donor is finished. Both must be of one client and one type; refused, both stay as they are.
  Result<void> merge(Grant&& donor);
  // Holds what is said from now on, more or less than before, whatever the limits.
  Result<void> update(Change change);
  // For the next grant of the task, after a resubmit.
  Result<void> update_cookie(std::string cookie);

 private:
  friend class ClientCore;
  friend class Client;
  Grant(std::shared_ptr<ClientCore> core, TaskId id, std::string cookie);
  void give_back(Cancelled cancelled);

  std::shared_ptr<ClientCore> core_;  // null: of nothing
  TaskId id_{0};
  std::string cookie_;
};

// How a client gets its session: local (Broker::client does it) or remote.
using SessionMaker = std::function<Result<std::unique_ptr<Session>>(Executor, SessionSink&)>;

class Client {
 public:
  using Callback = std::move_only_function<void(Result<Grant>)>;

  // Callbacks run on `executor`.
  static Result<std::unique_ptr<Client>> connect(const SessionMaker& maker, Executor executor = at_once());
  // The end of the session. Waits for a callback that another thread runs just now.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Waits for the grant, at most so long (Duration::max(): without end), or until a stop is requested.
  Result<Grant> acquire(Task task, Duration timeout, std::stop_token stop = {});
  // What can be had at once, or nothing. Behind a socket it waits for the broker's answer.
  Result<std::optional<Grant>> try_acquire(Task task);
  // The callback gets the grant or the reason why there is none. An error here: nothing was submitted, and it is not called.
  Result<TaskId> submit(Task task, Callback callback);
  // A submitted task that still waits goes, and its callback gets Code::cancelled. False: it does not wait.
  bool withdraw(TaskId task);

  // A running task waits once more, with other needs, in its old place in the order. The grant is over in any case.
  Result<Grant> reacquire(Grant grant, Change change, Duration timeout, std::stop_token stop = {});
  Result<TaskId> resubmit(Grant grant, Change change, Callback callback);

 private:
  explicit Client(std::shared_ptr<ClientCore> core);
  std::shared_ptr<ClientCore> core_;
};

}  // namespace evenkeel::broker
