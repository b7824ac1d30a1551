#include "evenkeel/store/memory/detail/client.h"

namespace evenkeel::store {
namespace {

Revision seen_in(const Read& read) { return read.revision; }
Revision seen_in(const Listing& listing) { return listing.revision; }
Revision seen_in(const Committed& committed) { return committed.revision; }
Revision seen_in(const Status& status) { return status.revision; }
Revision seen_in(const Revision& revision) { return revision; }

// Ends with the handle; the server may be gone before.
class MemoryWatching final : public Watching {
 public:
  explicit MemoryWatching(std::move_only_function<void()> unwatch) : unwatch_(std::move(unwatch)) {}
  ~MemoryWatching() override { unwatch_(); }
  MemoryWatching(const MemoryWatching&) = delete;
  MemoryWatching& operator=(const MemoryWatching&) = delete;

 private:
  std::move_only_function<void()> unwatch_;
};

}  // namespace

template <class T>
struct World::Client::Call final : Pending {
  Call(Answer<T> to, Code code) : answer(std::move(to)), lost(code) {}
  void give_up(const std::string& client) override { answer(fail(lost, "the memory store has not answered {} in time", client)); }
  Answer<T> answer;
  Code lost;
};

World::Client::Client(std::shared_ptr<Server> server, std::string name, Loop& loop)
    : Store(loop), server_(std::move(server)), name_(std::move(name)), owner_(server_->attach(name_, *this)) {}

World::Client::~Client() {
  server_->detach(owner_);
  loop().cancel(timer_);
}

std::unique_ptr<World::Client::Pending> World::Client::take(CallId id) {
  auto node = pending_.extract(id);
  return node.empty() ? nullptr : std::move(node.mapped());
}

void World::Client::arm(Instant due) {
  if (armed_ <= due) return;
  loop().cancel(timer_);
  armed_ = due;
  timer_ = loop().post_at(due, [this] { give_up_late(); });
}

// One at a time: an answer may destroy this client. The others follow in the same instant.
void World::Client::give_up_late() {
  armed_ = Instant::max();
  CallId late = 0;
  Instant next = Instant::max();
  for (const auto& [id, pending] : pending_) {
    if (late == 0 && pending->due <= loop().now()) {
      late = id;
    } else {
      next = std::min(next, pending->due);
    }
  }
  if (next != Instant::max()) arm(next);
  if (late != 0) take(late)->give_up(std::string(name_));
}

// An answer may destroy this client, so nothing of it is touched afterwards.
template <class T, class Work>
void World::Client::call(Code lost, Answer<T> answer, Work work) {
  const CallId id = ++calls_;
  auto pending = std::make_unique<Call<T>>(std::move(answer), lost);
  pending->due = evenkeel::later(loop().now(), server_->faults().timeout);
  arm(pending->due);
  pending_.emplace_hint(pending_.end(), id, std::move(pending));
  server_->send(owner_, [id, work = std::move(work)](Server* server, Server::Owner owner) mutable -> Server::Reply {
    return [id, result = Result<T>(work(*server, owner))](Client* client) mutable {
      const auto waiting = client->take(id);
      if (!waiting) return;  // it has given up
      if (result) client->saw(seen_in(*result));
      static_cast<Call<T>&>(*waiting).answer(std::move(result));
    };
  });
}

void World::Client::do_get(std::string key, Answer<Read> answer) {
  call<Read>(Code::unavailable, std::move(answer), [key = std::move(key)](Server& server, Server::Owner) {
    return Read{server.state().get(key), server.state().revision()};
  });
}

void World::Client::do_list(std::string prefix, Answer<Listing> answer) {
  call<Listing>(Code::unavailable, std::move(answer),
                [prefix = std::move(prefix), seen = seen_](Server& server, Server::Owner) { return server.list(prefix, seen); });
}

void World::Client::do_txn(Txn txn, Answer<Committed> answer) {
  call<Committed>(Code::unknown_outcome, std::move(answer),
                  [txn = std::move(txn)](Server& server, Server::Owner owner) { return server.commit(owner, txn); });
}

std::unique_ptr<Watching> World::Client::do_watch(std::string prefix, std::optional<Revision> after, OnChanges on_changes) {
  const auto id = server_->watch(owner_, std::move(prefix), after, std::move(on_changes));
  return std::make_unique<MemoryWatching>([id, weak = std::weak_ptr(server_)] {
    if (const auto server = weak.lock()) server->unwatch(id);
  });
}

void World::Client::do_status(Answer<Status> answer) {
  call<Status>(Code::unavailable, std::move(answer), [](Server& server, Server::Owner) {
    return Status{.backend = "memory", .revision = server.state().revision(), .members = {"memory"}};
  });
}

void World::Client::do_compact(Revision before, Answer<Revision> answer) {
  call<Revision>(Code::unknown_outcome, std::move(answer),
                 [before](Server& server, Server::Owner) { return server.compact(before); });
}

}  // namespace evenkeel::store
