#pragma once
// Call: one get, list or txn under way. It begins when there is a session, begins again when the connection was lost before anything was
// written, and is answered exactly once: at the latest when its time is up.
//
// Calls are owned by their Context, which dies with the store; all else (timers, replies) knows them weakly, so that nothing comes afterwards.

#include <memory>
#include <set>
#include <string>

#include "evenkeel/base/rng.h"
#include "evenkeel/store/backends/zookeeper/detail/connection.h"
#include "evenkeel/store/backends/zookeeper/detail/memory.h"

namespace evenkeel::store::zookeeper {

// What an error code of the C client means to a caller, where it is not about a lost connection.
Error error_of(int code, std::string_view path);
// The same of a write that was sent: it may be done, unless the server says that it looked at it and refused it.
Error write_error_of(int code, std::string_view path);
// The connection or the session went, or the server put it off: the same read may be tried again.
bool passes(int code);
// Somebody wrote between our read and our write.
bool is_contention(int code);

// An erased key or an empty folder: what the sweeper may remove when it is old.
struct Trace {
  std::string path;
  std::int64_t modified = 0;  // of the node; 0: not known
};

class Call;

struct Context {
  Loop& loop;
  std::shared_ptr<Connection> connection;
  std::string root;
  OpenOptions options;
  std::string servers;  // for messages
  Rng rng;
  std::function<void(const Trace&)> on_trace;
  Memory memory = {};
  std::set<std::shared_ptr<Call>> calls = {};
};

class Call : public std::enable_shared_from_this<Call> {
 public:
  explicit Call(Context& context) : context_(context), loop_(context.loop) {}
  virtual ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  static void begin(std::shared_ptr<Call> call);

 protected:
  // There is a session. May be called several times; replies to earlier attempts are dropped.
  virtual void attempt() = 0;
  // The call is over, by this error.
  virtual void answer_error(Error error) = 0;
  virtual Error time_is_up() const;

  void again();
  void again_after(Duration delay);
  // A read failed: again, if that can help, else it is the answer.
  void read_failed(int code, std::string_view path);
  void give_up(Error error);
  // Forgets the call; the answer is to be given after this, and nothing to be touched after that.
  void forget();

  // A reply's handler that is dropped with the call, and with the attempt.
  template <class F>
  auto guarded(F handler) {
    return [weak = weak_from_this(), attempt = attempt_, this, handler = std::move(handler)](auto&&... arguments) mutable {
      const auto alive = weak.lock();
      if (alive && attempt == attempt_) handler(std::forward<decltype(arguments)>(arguments)...);
    };
  }

  Context& context_;
  std::uint64_t attempt_ = 0;

 private:
  void start_attempt();

  Loop& loop_;
  Timer timer_;
};

}  // namespace evenkeel::store::zookeeper
