#include "evenkeel/store/backends/zookeeper/detail/connection.h"

#include <fmt/ranges.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <future>
#include <utility>

#include "evenkeel/store/backends/zookeeper/detail/paths.h"

namespace evenkeel::store::zookeeper {
namespace {

constexpr std::size_t in_flight_max = 512;  // servers stop reading from clients at 1,000 requests under way
constexpr std::size_t waiters_kept = 256;   // above it, those whose owner is gone are forgotten
constexpr Duration reopen_after = 1s;       // when no server's name could be resolved
constexpr Duration name_patience = 500ms;   // for other servers' names, once there is one
constexpr Duration close_patience = 1s;     // of the destructor
constexpr Duration look_back_every = 3s;    // while no server takes us
constexpr Duration member_patience = 1s;
constexpr Duration nudge_every = 250ms;  // far above what a busy server takes, far below what a caller or a session bears

NodeStat stat_of(const Stat* stat) {
  if (!stat) return {};
  return {stat->czxid, stat->mzxid, stat->pzxid, stat->version, stat->numChildren, stat->ephemeralOwner != 0};
}

}  // namespace

struct Connection::Bridge {
  std::shared_ptr<Door> door;
  std::weak_ptr<Connection> connection;
  std::uint64_t session = 0;

  static void on_session(zhandle_t* handle, int type, int state, const char*, void*) {
    if (type != ZOO_SESSION_EVENT) return;
    const auto* bridge = static_cast<const Bridge*>(zoo_get_context(handle));
    bridge->door->post([weak = bridge->connection, session = bridge->session, state] {
      if (const auto alive = weak.lock()) alive->on_session(session, state);
    });
  }
  static void on_node(zhandle_t* handle, int type, int, const char* path, void*) {
    if (type == ZOO_SESSION_EVENT) return;
    const auto* bridge = static_cast<const Bridge*>(zoo_get_context(handle));
    bridge->door->post([weak = bridge->connection, session = bridge->session, path = std::string(path), type] {
      if (const auto alive = weak.lock()) alive->on_event(session, path, type);
    });
  }
};

// Owned by the connection, on the loop's thread, until its reply was taken there; the C client's thread reads what never changes, and fills
// in `results` and `stats` before it calls.
struct Connection::Pending {
  std::shared_ptr<Door> door;
  std::weak_ptr<Connection> connection;
  std::uint64_t id = 0;
  std::uint64_t session = 0;
  OnReply on_reply;
  std::vector<zoo_op_result_t> results;
  std::vector<Stat> stats;

  void post(Reply reply) const {
    door->post([weak = connection, which = id, reply = std::move(reply)]() mutable {
      if (const auto alive = weak.lock()) alive->on_reply(which, std::move(reply));
    });
  }
  static void on_stat(int code, const Stat* stat, const void* data) {
    Reply reply;
    reply.code = code;
    if (code == ZOK) reply.stat = stat_of(stat);
    static_cast<const Pending*>(data)->post(std::move(reply));
  }
  static void on_data(int code, const char* value, int length, const Stat* stat, const void* data) {
    Reply reply;
    reply.code = code;
    if (code == ZOK) reply.stat = stat_of(stat);
    if (code == ZOK && length > 0) reply.data.assign(value, static_cast<std::size_t>(length));
    static_cast<const Pending*>(data)->post(std::move(reply));
  }
  static void on_children(int code, const String_vector* names, const Stat* stat, const void* data) {
    Reply reply;
    reply.code = code;
    if (code == ZOK) {
      reply.stat = stat_of(stat);
      for (int i = 0; i < names->count; ++i) reply.children.emplace_back(names->data[i]);
    }
    static_cast<const Pending*>(data)->post(std::move(reply));
  }
  static void on_path(int code, const char*, const void* data) {
    Reply reply;
    reply.code = code;
    static_cast<const Pending*>(data)->post(std::move(reply));
  }
  // A multi that failed has the failed operation's code there, and a filler at those that were not tried.
  static void on_multi(int code, const void* data) {
    const auto* pending = static_cast<const Pending*>(data);
    Reply reply;
    reply.code = code;
    for (const zoo_op_result_t& result : pending->results) {
      if (result.err != ZOK && result.err != ZRUNTIMEINCONSISTENCY && code != ZOK) reply.code = result.err;
    }
    if (code == ZOK) {
      for (const Stat& stat : pending->stats) reply.zxid = std::max(reply.zxid, stat.mzxid);
    }
    pending->post(std::move(reply));
  }
};

// Closing joins the C client's threads, of which one may be asking for a name; after it nothing is called.
struct Connection::Session {
  explicit Session(std::unique_ptr<Bridge> to) : bridge(std::move(to)) {}
  ~Session() { close(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  std::future<void> close() {
    std::promise<void> closed;
    std::future<void> future = closed.get_future();
    if (!handle) {
      closed.set_value();
      return future;
    }
    in_background([handle = std::exchange(handle, nullptr), bridge = std::move(bridge), unanswered = std::move(unanswered),
                   closed = std::move(closed)]() mutable {
      zookeeper_close(handle);
      closed.set_value();
    });
    return future;
  }

  zhandle_t* handle = nullptr;
  std::unique_ptr<Bridge> bridge;
  std::vector<std::unique_ptr<Pending>> unanswered;  // whose answers nobody wants any more
};

struct Connection::Opened {
  std::shared_ptr<Session> session;  // null: there is none
  std::vector<Resolved::Unusable> unusable;
};

std::shared_ptr<Connection> Connection::open(Loop& loop, const Url& url, const OpenOptions& options, Resolve resolve) {
  std::shared_ptr<Connection> connection(new Connection(loop, url, options, std::move(resolve)));
  connection->begin_session();
  return connection;
}

Connection::Connection(Loop& loop, const Url& url, const OpenOptions& options, Resolve resolve)
    : loop_(loop), url_(url), options_(options), resolve_(std::move(resolve)), door_(std::make_shared<Door>(loop)) {}

Connection::~Connection() {
  door_->close();
  for (auto& [_, pending] : pending_) {
    pending->on_reply = nullptr;
    const auto& owner = open_ && pending->session == session_ ? open_ : ended_;
    owner->unanswered.push_back(std::move(pending));
  }
  if (open_) open_->close().wait_for(close_patience);
}

// In the background. The C client gives up on all servers if one name cannot be resolved, so those are left out here; and it resolves the
// others again.
Connection::Opened Connection::start_client(const Url& url, const OpenOptions& options, const Resolve& resolve,
                                            std::unique_ptr<Bridge> bridge) {
  Resolved resolved = resolve_all(url.endpoints, resolve, name_patience);
  Opened opened{.session = nullptr, .unusable = std::move(resolved.unusable)};
  if (resolved.usable.empty()) return opened;
  auto session = std::make_shared<Session>(std::move(bridge));
  const std::string servers = fmt::format("{}", fmt::join(resolved.usable, ","));
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options.lease_ttl).count();
  session->handle = zookeeper_init2(servers.c_str(), &Bridge::on_session, static_cast<int>(timeout), nullptr,
                                    session->bridge.get(), ZOO_NO_LOG_CLIENTENV, [](const char*) {});
  if (!session->handle) return opened;
  // Otherwise it resolves all names each time it looks whether there is something to read, which takes most of its time; when a connection is lost it does so
  // anyway.
  zoo_set_servers_resolution_delay(session->handle, -1);
  if (!options.access.user.empty()) {
    const std::string login = fmt::format("{}:{}", options.access.user, options.access.password);
    // Failure comes as an event.
    zoo_add_auth(session->handle, "digest", login.data(), static_cast<int>(login.size()), nullptr, nullptr);
  }
  opened.session = std::move(session);
  return opened;
}

void Connection::begin_session() {
  ++session_;
  early_states_.clear();
  // The client's log has no context by which it could find ours, and it is one for the process; what matters it also tells as events.
  zoo_set_debug_level(static_cast<ZooLogLevel>(0));
  in_background([door = door_, weak = weak_from_this(), session = session_, url = url_, options = options_, resolve = resolve_,
                 bridge = std::make_unique<Bridge>(Bridge{door_, weak_from_this(), session_})]() mutable {
    Opened opened = start_client(url, options, resolve, std::move(bridge));
    door->post([weak, session, opened = std::move(opened)]() mutable {
      if (const auto alive = weak.lock()) alive->on_opened(session, std::move(opened));
    });
  });
}

void Connection::on_opened(std::uint64_t session, Opened opened) {
  if (session != session_) return;
  for (const auto& [server, why] : opened.unusable) {
    trouble_ = fmt::format("{}: {}", server, why);
    if (options_.log) options_.log->warn("a ZooKeeper server's name cannot be resolved", {{"server", server}, {"why", why}});
  }
  if (!opened.session) {
    if (trouble_.empty()) trouble_ = "the client could not be started";
    loop_.post_after(reopen_after, [weak = weak_from_this(), session] {
      if (const auto alive = weak.lock(); alive && alive->session_ == session) alive->begin_session();
    });
    return;
  }
  open_ = std::move(opened.session);
  handle_ = open_->handle;
  for (const int state : std::exchange(early_states_, {})) on_session(session, state);
}

// What was posted is still taken, then the rest is failed, and the C client closed.
void Connection::end_session() {
  ready_ = false;
  handle_ = nullptr;
  ended_ = std::move(open_);
  loop_.post([weak = weak_from_this(), session = session_] {
    if (const auto alive = weak.lock()) alive->bury(session);
  });
}

void Connection::bury(std::uint64_t session) {
  std::vector<OnReply> left;
  for (auto& [_, pending] : pending_) {
    if (pending->session != session) continue;
    left.push_back(std::exchange(pending->on_reply, nullptr));
    ended_->unanswered.push_back(std::move(pending));
  }
  std::erase_if(pending_, [](const auto& one) { return one.second == nullptr; });
  ended_.reset();
  for (OnReply& on_reply : left) {
    Reply reply;
    reply.code = ZCLOSING;
    reply.as_of = known_;
    if (on_reply) on_reply(std::move(reply));
  }
  drain();
}

void Connection::on_session(std::uint64_t session, int state) {
  if (session != session_) return;
  if (!handle_) return early_states_.push_back(state);
  if (state == ZOO_CONNECTED_STATE) {
    become_ready();
  } else if (state == ZOO_EXPIRED_SESSION_STATE) {
    if (options_.log) options_.log->warn("the ZooKeeper session expired; a new one begins");
    expire();
  } else {
    auth_failed_ |= state == ZOO_AUTH_FAILED_STATE;
    if (ready_ && options_.log) options_.log->warn("the connection to ZooKeeper is lost");
    if (std::exchange(ready_, false)) look_back_later();
    drain();
    if (auth_failed_) become_ready();  // whoever waits is told
  }
}

void Connection::expire() {
  end_session();
  for (Listener* listener : std::vector(listeners_)) {
    if (std::ranges::find(listeners_, listener) != listeners_.end()) listener->on_expired();
  }
  begin_session();
}

void Connection::look_back_later() {
  loop_.post_after(look_back_every, [weak = weak_from_this(), session = session_, times = times_ready_] {
    const auto alive = weak.lock();
    if (alive && alive->session_ == session && alive->times_ready_ == times) alive->look_back();
  });
}

void Connection::look_back() {
  in_background([door = door_, weak = weak_from_this(), endpoints = url_.endpoints, times = times_ready_] {
    std::vector<Member> members;
    for (const std::string& endpoint : endpoints) {
      if (const auto answer = ask(endpoint, "srvr", member_patience)) members.push_back(parse_srvr(*answer));
    }
    door->post([weak, times, members = std::move(members)] {
      if (const auto alive = weak.lock()) alive->on_members(times, members);
    });
  });
}

void Connection::on_members(std::uint64_t times_ready, const std::vector<Member>& members) {
  if (times_ready != times_ready_ || !handle_) return;
  const auto newest = went_back(members, url_.endpoints.size(), known_);
  if (!newest) return look_back_later();
  if (options_.log)
    options_.log->warn("ZooKeeper was put back to an earlier state, and is read anew", {{"from", known_}, {"to", *newest}});
  known_ = *newest;
  for (Listener* listener : std::vector(listeners_)) {
    if (std::ranges::find(listeners_, listener) != listeners_.end()) listener->on_put_back();
  }
  expire();
}

void Connection::become_ready() {
  ++times_ready_;
  ready_ = !auth_failed_;
  if (ready_) trouble_.clear();
  if (ready_ && options_.log) options_.log->info("connected to ZooKeeper");
  for (Waiter& waiter : std::exchange(waiters_, {})) {
    if (const auto owner = waiter.owner.lock()) waiter.run();
  }
  for (Listener* listener : std::vector(listeners_)) {
    if (std::ranges::find(listeners_, listener) != listeners_.end()) listener->on_ready();
  }
}

void Connection::on_event(std::uint64_t session, const std::string& path, int type) {
  if (session != session_) return;
  const auto tell = [&](Listener::Event event) {
    for (Listener* listener : std::vector(listeners_)) {
      if (std::ranges::find(listeners_, listener) != listeners_.end()) listener->on_node(path, event);
    }
  };
  if (type != ZOO_CHILD_EVENT) tell(Listener::Event::data);
  if (type == ZOO_CHILD_EVENT || type == ZOO_DELETED_EVENT) tell(Listener::Event::children);
}

void Connection::when_ready(std::weak_ptr<void> owner, std::move_only_function<void()> run) {
  if (ready_ || auth_failed_) {
    loop_.post([owner = std::move(owner), run = std::move(run)]() mutable {
      if (const auto alive = owner.lock()) run();
    });
    return;
  }
  if (waiters_.size() >= waiters_kept) std::erase_if(waiters_, [](const Waiter& waiter) { return waiter.owner.expired(); });
  waiters_.push_back({std::move(owner), std::move(run)});
}

void Connection::on_reply(std::uint64_t id, Reply reply) {
  const auto it = pending_.find(id);
  if (it == pending_.end()) return;
  const std::unique_ptr<Pending> pending = std::move(it->second);
  pending_.erase(it);
  const std::int64_t newest = std::max({reply.stat.created, reply.stat.modified, reply.stat.children_changed, reply.zxid});
  if (reply.code == ZOK) known_ = std::max(known_, Revision(newest));
  reply.as_of = known_;
  drain();
  if (pending->on_reply) pending->on_reply(std::move(reply));
}

void Connection::fail_soon(OnReply on_reply, int code) {
  loop_.post([weak = weak_from_this(), on_reply = std::move(on_reply), code]() mutable {
    const auto alive = weak.lock();
    if (!alive) return;
    Reply reply;
    reply.code = code;
    reply.sent = false;
    reply.as_of = alive->known_;
    on_reply(std::move(reply));
  });
}

void Connection::call(Start start_call, OnReply on_reply) {
  if (!ready_) return fail_soon(std::move(on_reply), auth_failed_ ? ZAUTHFAILED : ZCONNECTIONLOSS);
  queue_.emplace_back(std::move(start_call), std::move(on_reply));
  drain();
}

void Connection::drain() {
  while (!queue_.empty() && (!ready_ || pending_.size() < in_flight_max)) {
    auto [start_call, on_reply] = std::move(queue_.front());
    queue_.pop_front();
    if (ready_)
      start(std::move(start_call), std::move(on_reply));
    else
      fail_soon(std::move(on_reply), ZCONNECTIONLOSS);
  }
}

void Connection::start(Start start_call, OnReply on_reply) {
  auto pending = std::make_unique<Pending>();
  pending->door = door_;
  pending->connection = weak_from_this();
  pending->id = ++calls_;
  pending->session = session_;
  Pending& borrowed = *pending;
  pending_.emplace(pending->id, std::move(pending));
  const int code = start_call(borrowed);
  if (code == ZOK) {
    borrowed.on_reply = std::move(on_reply);  // taken on this thread only, so not before we return
    return nudge_later();
  }
  pending_.erase(borrowed.id);
  fail_soon(std::move(on_reply), code);
}

void Connection::nudge_later() {
  if (std::exchange(will_nudge_, true)) return;
  loop_.post_after(nudge_every, [weak = weak_from_this()] {
    if (const auto alive = weak.lock()) alive->nudge();
  });
}

void Connection::nudge() {
  will_nudge_ = false;
  if (pending_.empty()) return;
  const bool waits = std::exchange(oldest_, pending_.begin()->first) == oldest_;
  if (!waits || !ready_ || pending_.size() >= in_flight_max) return nudge_later();
  start([this](Pending& pending) { return zoo_awexists(handle_, "/", nullptr, nullptr, &Pending::on_stat, &pending); },
        [](const Reply&) {});
}

// The path is looked at by the member that is connected; what counts is that it has caught up.
void Connection::sync(OnReply on_reply) {
  call([this](Pending& pending) { return zoo_async(handle_, "/", &Pending::on_path, &pending); }, std::move(on_reply));
}

// What it says of the node does not matter, if there is one that this user may read: that it was agreed on does.
void Connection::confirm(OnReply on_reply) {
  const auto send = [this](Pending& pending) {
    zoo_op_t check{};
    zoo_check_op_init(&check, "/", -1);
    pending.results.resize(1);
    return zoo_amulti(handle_, 1, &check, pending.results.data(), &Pending::on_multi, &pending);
  };
  call(send, [on_reply = std::move(on_reply)](Reply reply) mutable {
    if (reply.code == ZNONODE || reply.code == ZNOAUTH) reply.code = ZOK;
    on_reply(std::move(reply));
  });
}

void Connection::stat(std::string path, Watch watch, OnReply on_reply) {
  const watcher_fn watcher = watch == Watch::yes ? &Bridge::on_node : nullptr;
  call([this, path = std::move(path),
        watcher](Pending& pending) { return zoo_awexists(handle_, path.c_str(), watcher, nullptr, &Pending::on_stat, &pending); },
       std::move(on_reply));
}

void Connection::read(std::string path, Watch watch, OnReply on_reply) {
  const watcher_fn watcher = watch == Watch::yes ? &Bridge::on_node : nullptr;
  call([this, path = std::move(path),
        watcher](Pending& pending) { return zoo_awget(handle_, path.c_str(), watcher, nullptr, &Pending::on_data, &pending); },
       std::move(on_reply));
}

void Connection::children(std::string path, Watch watch, OnReply on_reply) {
  const watcher_fn watcher = watch == Watch::yes ? &Bridge::on_node : nullptr;
  call(
      [this, path = std::move(path), watcher](Pending& pending) {
        return zoo_awget_children2(handle_, path.c_str(), watcher, nullptr, &Pending::on_children, &pending);
      },
      std::move(on_reply));
}

// Not queued: a write is sent now or not at all. The C client copies the operations before it returns; results and stats are written later.
void Connection::multi(const std::vector<Operation>& operations, OnReply on_reply) {
  if (!ready_) return fail_soon(std::move(on_reply), ZCONNECTIONLOSS);
  const auto send = [this, &operations](Pending& pending) {
    const ACL_vector* acl = options_.access.user.empty() ? &ZOO_OPEN_ACL_UNSAFE : &ZOO_CREATOR_ALL_ACL;
    std::vector<zoo_op_t> ops(operations.size());
    pending.results.resize(operations.size());
    pending.stats.resize(operations.size());
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& from = operations[i];
      const int length = static_cast<int>(from.data.size());
      using Kind = Operation::Kind;
      if (from.kind == Kind::check) zoo_check_op_init(&ops[i], from.path.c_str(), from.version);
      if (from.kind == Kind::remove) zoo_delete_op_init(&ops[i], from.path.c_str(), from.version);
      if (from.kind == Kind::set)
        zoo_set_op_init(&ops[i], from.path.c_str(), from.data.data(), length, from.version, &pending.stats[i]);
      if (from.kind == Kind::create || from.kind == Kind::create_ephemeral)
        zoo_create_op_init(&ops[i], from.path.c_str(), from.data.data(), length, acl,
                           from.kind == Kind::create ? ZOO_PERSISTENT : ZOO_EPHEMERAL, nullptr, 0);
    }
    return zoo_amulti(handle_, static_cast<int>(ops.size()), ops.data(), pending.results.data(), &Pending::on_multi, &pending);
  };
  start(send, std::move(on_reply));
}

}  // namespace evenkeel::store::zookeeper
