#pragma once
// Session: one client's line to a broker, in this process (shell/broker.h) or behind a socket (shell/rpc/remote.h): the same
// operations, the same deliveries. It is the plain layer; shell/client.h builds grants that give themselves back on top of it.
//
//   class Sink final : public SessionSink { void deliver(const Delivery& delivery) override { ... } };
//   std::unique_ptr<Session> session = broker->open("compactor", executor, sink);
//   session->submit({.id = TaskId(7), .type = "compaction_gen0", .need = {.cpu = 1}});      // later: allocated 7
//
// Everything is asynchronous: a call says only whether the request was taken, and what came of it is delivered, in the broker's
// order, one at a time, through the executor, never under a lock of ours and never inside the call (unless the executor runs
// things at once). A request has a tag: 1 for the first call, and one more for each after it,
// refused or not. Deliveries that answer it carry the same one.
// The session's end, by destruction or by a broken line, is the client's death: its tasks go. After a broken line one `closed` is
// delivered, with the reason, and every later call is refused as unavailable. After the destructor returned nothing is delivered.
// Threads: any may call. Destroy it from outside its own deliveries. A sink must not throw.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "evenkeel/base/result.h"
#include "evenkeel/broker/scheduler.h"

namespace evenkeel::broker {

// Amounts by name; cpu and memory without an allocation. A resource that the broker does not know makes the request Code::invalid.
struct Need {
  std::uint64_t cpu = 0;
  std::uint64_t memory = 0;
  Amounts others;
  friend bool operator==(const Need&, const Need&) = default;
};

struct Task {
  TaskId id{0};  // 0: the broker picks, and the grant says which
  std::string name;
  std::string type;
  std::uint64_t priority = 0;
  Need need;
  std::string cookie;
};

struct TaskUpdate {
  TaskId id{0};
  std::string type;
  std::uint64_t priority = 0;
  Need need;
  bool resubmit = false;
};

using RequestTag = std::uint64_t;

struct Delivery {
  enum class Kind : std::uint8_t {
    allocated,  // the task runs now; tag: of the submit or resubmit
    error,      // refused, see `refusal` and `message`
    removed,    // a waiting task is gone, as asked
    result,     // of submit_instant, finish_instant, reduce, merge: `ok`
    closed,     // the line is down: `message`
  };
  Kind kind = Kind::allocated;
  RequestTag tag = 0;
  TaskId task{0};
  Refusal refusal = Refusal::none;
  bool ok = false;
  std::string cookie;
  std::string message;
};

class SessionSink {
 public:
  virtual ~SessionSink() = default;
  virtual void deliver(const Delivery& delivery) = 0;
};

// Where deliveries run. It must run what it is given, once, in order; on any thread, at any time, also at once.
using Executor = std::function<void(std::move_only_function<void()>)>;

class Session {
 public:
  virtual ~Session() = default;

  virtual Result<RequestTag> submit(Task task) = 0;
  virtual Result<RequestTag> submit_instant(Task task) = 0;
  virtual Result<RequestTag> update(TaskUpdate update) = 0;
  virtual Result<RequestTag> update_cookie(TaskId task, std::string cookie) = 0;
  virtual Result<RequestTag> remove(TaskId task, Reply reply) = 0;
  virtual Result<RequestTag> finish(TaskId task, Cancelled cancelled) = 0;
  virtual Result<RequestTag> finish_instant(TaskId task, Cancelled cancelled) = 0;
  virtual Result<RequestTag> reduce(TaskId task, Need by) = 0;
  virtual Result<RequestTag> merge(TaskId task, TaskId donor) = 0;
};

}  // namespace evenkeel::broker
