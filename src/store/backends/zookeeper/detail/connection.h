#pragma once
// Connection: ZooKeeper's C client as calls and answers on a loop.
//
// The C client calls back on threads of its own. Nothing here is touched there: what came is copied and posted. It keeps one session; when
// that has expired it begins another by itself, and says so. Calls made while there is no session fail at once, with ZCONNECTIONLOSS, as do
// those whose connection breaks: `when_ready` tells when trying again makes sense.
// The C client is started and stopped in the background (background.h), since both may wait for names: the loop never does. Only the
// destructor waits for a moment, so that a process that ends next has told the server that its session is over.
//
// `known` is the newest zxid that any answer showed. Answers and events of one session come in the order of the server's state, so whatever is
// read by a call made now is at least as new.
// Watches are one-shot, by path: whoever listens hears of every path that fired, and reads again what concerns it. The C client keeps one
// watch for each path, whoever asked, so what nobody listens to any longer costs one entry until it fires.
//
// A leader of ZooKeeper 3.8 now and then sleeps on a request until another one reaches it, and the C client does not ping while it waits for an
// answer: who is alone there lost its connection over it. So what is not answered within `nudge_every` is followed by a small read.
//
// A server that was put back to an earlier state refuses a client that has seen more, for as long as that client lives. So while nobody takes us the
// members are asked where they stand, and if it is before what is known another client begins, with what is there.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evenkeel/store/backends/open.h"
#include "evenkeel/store/backends/zookeeper/detail/background.h"
#include "evenkeel/store/backends/zookeeper/detail/decide.h"
#include "evenkeel/store/backends/zookeeper/detail/four_letters.h"

typedef struct _zhandle zhandle_t;  // NOLINT: the C client's own name for it

namespace evenkeel::store::zookeeper {

struct Reply {
  int code = 0;  // as the C client has them
  bool sent = true;
  std::string data;
  std::vector<std::string> children;
  NodeStat stat;
  std::int64_t zxid = 0;  // of a multi with a set in it
  Revision as_of;         // `known` when the answer came
};
using OnReply = std::move_only_function<void(Reply)>;

class Listener {
 public:
  enum class Event : std::uint8_t { data, children };  // removal is both
  virtual void on_node(const std::string& path, Event event) = 0;
  virtual void on_ready() = 0;    // a session, old or new, has a server again
  virtual void on_expired() = 0;  // ephemeral keys and watches are gone
  virtual void on_put_back() {}   // so is all that was written lately: revisions begin below what was known. on_expired follows

 protected:
  ~Listener() = default;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  static std::shared_ptr<Connection> open(Loop& loop, const Url& url, const OpenOptions& options,
                                          Resolve resolve = &resolve_by_system);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  enum class Watch : bool { no, yes };
  // The member that is connected has caught up with what the leader knew when this was answered.
  void sync(OnReply on_reply);
  // And the leader still led: a proposal of its own, which a majority must take. A leader that stood still and was deposed answers a sync.
  void confirm(OnReply on_reply);
  void stat(std::string path, Watch watch, OnReply on_reply);  // a watch is kept even if there is no such node
  void read(std::string path, Watch watch, OnReply on_reply);
  void children(std::string path, Watch watch, OnReply on_reply);
  void multi(const std::vector<Operation>& operations, OnReply on_reply);

  bool ready() const { return ready_; }
  std::uint64_t times_ready() const { return times_ready_; }  // grows with each server that is connected to
  // Runs once, soon if it is ready. Dropped if the owner is gone by then.
  void when_ready(std::weak_ptr<void> owner, std::move_only_function<void()> run);
  void add(Listener& listener) { listeners_.push_back(&listener); }
  void remove(Listener& listener) { std::erase(listeners_, &listener); }

  Revision known() const { return known_; }
  const std::string& trouble() const { return trouble_; }  // why there is no session, if anything is known
  bool auth_failed() const { return auth_failed_; }
  const std::shared_ptr<Door>& door() const { return door_; }

 private:
  struct Bridge;   // what the C client's threads may read: one for each session
  struct Pending;  // one for each call under way
  struct Session;  // the C client's own, with what it may call into; closes itself in the background
  struct Opened;
  struct Waiter {
    std::weak_ptr<void> owner;
    std::move_only_function<void()> run;
  };

  Connection(Loop& loop, const Url& url, const OpenOptions& options, Resolve resolve);
  void begin_session();
  static Opened start_client(const Url& url, const OpenOptions& options, const Resolve& resolve, std::unique_ptr<Bridge> bridge);
  void on_opened(std::uint64_t session, Opened opened);
  void end_session();
  void bury(std::uint64_t session);
  void on_session(std::uint64_t session, int state);
  void on_event(std::uint64_t session, const std::string& path, int type);
  void on_reply(std::uint64_t id, Reply reply);
  void become_ready();
  void expire();
  void look_back_later();
  void look_back();
  void on_members(std::uint64_t times_ready, const std::vector<Member>& members);
  // Queues a read; `start` hands it to the C client and returns its code.
  using Start = std::move_only_function<int(Pending&)>;
  void call(Start start, OnReply on_reply);
  void start(Start start, OnReply on_reply);
  void nudge_later();
  void nudge();
  void fail_soon(OnReply on_reply, int code);
  void drain();

  Loop& loop_;
  const Url url_;
  const OpenOptions options_;
  const Resolve resolve_;
  const std::shared_ptr<Door> door_;
  std::shared_ptr<Session> open_;   // null: none yet, or none any more
  std::shared_ptr<Session> ended_;  // to be closed next
  zhandle_t* handle_ = nullptr;     // its own
  std::uint64_t session_ = 0;       // counts them
  std::vector<int> early_states_;   // of a session that is not handed over yet
  std::uint64_t calls_ = 0;
  bool ready_ = false;
  std::uint64_t times_ready_ = 0;
  bool auth_failed_ = false;
  std::string trouble_;
  Revision known_;
  std::map<std::uint64_t, std::unique_ptr<Pending>> pending_;
  bool will_nudge_ = false;
  std::uint64_t oldest_ = 0;                     // of those under way, when it was last looked at
  std::deque<std::pair<Start, OnReply>> queue_;  // beyond `in_flight_max`
  std::vector<Waiter> waiters_;
  std::vector<Listener*> listeners_;
};

}  // namespace evenkeel::store::zookeeper
