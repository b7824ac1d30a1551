#include "evenkeel/store/backends/embedded/detail/server_watch.h"

#include <algorithm>
#include <limits>
#include <map>

namespace evenkeel::store::embedded::detail {
namespace {

using embedded::Watch;

class WatchStream final : public Duplex<pb::WatchRequest, pb::WatchResponse> {
 public:
  explicit WatchStream(Core& core) : Duplex(core.streams), core_(core) {}
  // Who may not watch is told so for each watch, as etcd does: some clients take the end of a stream for a lost connection.
  void begin_for(Result<Who> who) {
    who_ = std::move(who);
    begin({});
  }

 private:
  // A watch of the stream. All under the stream's lock.
  struct Watcher {
    std::int64_t id = 0;
    std::optional<Engine::Token> token;  // once the engine has said it
    bool closed = false;                 // nothing of it is to be sent any more
    bool waits_for_room = false;
    bool asked_progress = false;  // of the engine, for the round
  };
  using WatcherPtr = std::shared_ptr<Watcher>;

  // A client's question how far all watches of the stream are: answered when each has said it.
  struct Round {
    std::size_t missing = 0;
    std::int64_t revision = 0;  // the least of all
    bool again = false;         // it was asked anew meanwhile
  };

  void on_request(const pb::WatchRequest& request) override {
    switch (request.request_union_case()) {
      case pb::WatchRequest::kCreateRequest:
        return create(request.create_request());
      case pb::WatchRequest::kCancelRequest:
        return cancel(request.cancel_request().watch_id());
      case pb::WatchRequest::kProgressRequest:
        return ask_progress();
      case pb::WatchRequest::REQUEST_UNION_NOT_SET:
        return;  // of a later version: as etcd does
    }
  }

  void create(const pb::WatchCreateRequest& request) {
    Watch watch = from_wire(request);
    const std::int64_t revision = core_.revision();
    Result<> good = who_ ? check(*who_, watch) : Result<>(fail(who_.error()));
    if (!good) return refuse(request.watch_id(), revision, to_text(good.error()));
    const Span& span = watch.span;
    if (!span.end.empty() && span.end != std::string_view("\0", 1) && span.key >= span.end)
      return refuse(-1, revision, std::string(words::empty_watch));
    const WatcherPtr watcher = add(request.watch_id(), revision);
    if (!watcher) return refuse(-1, revision, std::string(words::duplicate_watch));
    // The client takes the revision of `created` for where it is, so "from now" is from there.
    if (watch.start == 0) watch.start = revision + 1;
    const auto self = std::static_pointer_cast<WatchStream>(shared_from_this());
    const auto token = core_.engine.watch(watch, [self, watcher](const Events& events) { return self->take(watcher, events); });
    open(watcher, token, revision);
  }

  pb::WatchResponse response_of(std::int64_t id, std::int64_t revision) const {
    pb::WatchResponse response;
    core_.fill(response.mutable_header(), revision);
    response.set_watch_id(id);
    return response;
  }

  void refuse(std::int64_t id, std::int64_t revision, std::string reason) {
    pb::WatchResponse response = response_of(id, revision);
    response.set_created(true);
    response.set_canceled(true);
    response.set_cancel_reason(std::move(reason));
    const auto held = lock();
    push(std::move(response));
  }

  // Gives it an id and says `created`, before any event can come. Null: the id is taken.
  WatcherPtr add(std::int64_t id, std::int64_t revision) {
    const auto held = lock();
    if (id == 0) {
      while (watchers_.contains(next_id_)) ++next_id_;
      id = next_id_++;
    }
    auto watcher = std::make_shared<Watcher>(Watcher{.id = id});
    if (!watchers_.emplace(id, watcher).second) return nullptr;
    pb::WatchResponse created = response_of(id, revision);
    created.set_created(true);
    push(std::move(created));
    return watcher;
  }

  // The engine's answer has come; events may have, too.
  void open(const WatcherPtr& watcher, const Result<Engine::Token>& token, std::int64_t revision) {
    bool ready = false, drop = false;
    {
      const auto held = lock();
      if (!token) {
        pb::WatchResponse response = response_of(watcher->id, revision);
        response.set_canceled(true);
        response.set_cancel_reason(to_text(token.error()));
        close(*watcher);
        return push(std::move(response));
      }
      watcher->token = *token;
      drop = closing() || watcher->closed;
      // If there is no room now, a write is under way, and on_room() comes after it.
      if (!drop && watcher->waits_for_room) {
        ready = has_room();
        watcher->waits_for_room = !ready;
        if (!ready) waiting_.push_back(watcher);
      }
    }
    if (drop) core_.engine.unwatch(*token);
    if (ready) core_.engine.ready(*token);
  }

  void cancel(std::int64_t id) {
    std::optional<Engine::Token> token;
    const std::int64_t revision = core_.revision();
    {
      const auto held = lock();
      const auto found = watchers_.find(id);
      if (found == watchers_.end()) return;
      const WatcherPtr watcher = found->second;
      token = watcher->token;
      close(*watcher);
      pb::WatchResponse response = response_of(id, revision);
      response.set_canceled(true);
      push(std::move(response));
    }
    if (token) core_.engine.unwatch(*token);
  }

  // On an engine's thread.
  bool take(const WatcherPtr& watcher, const Events& events) {
    const auto held = lock();
    if (closing() || watcher->closed) return true;
    if (!has_room()) {
      if (!std::exchange(watcher->waits_for_room, true)) waiting_.push_back(watcher);
      return false;
    }
    if (events.progress && watcher->asked_progress) {
      count(*watcher, events.revision);
      return true;
    }
    pb::WatchResponse response = response_of(watcher->id, events.revision);
    for (const Event& event : events.events) to_wire(event, *response.add_events());
    response.set_fragment(events.fragment);
    response.set_canceled(events.cancelled);
    response.set_compact_revision(events.compacted);
    push_soon(std::move(response));
    if (events.cancelled) close(*watcher);
    return true;
  }

  void ask_progress() {
    {
      const auto held = lock();
      round_.again = round_.missing > 0;
      if (round_.again) return;
    }
    begin_round();
  }

  void begin_round() {
    std::vector<Engine::Token> asked;
    const std::int64_t revision = core_.revision();
    {
      const auto held = lock();
      round_ = {.missing = 0, .revision = std::numeric_limits<std::int64_t>::max(), .again = false};
      for (const auto& [id, watcher] : watchers_) {
        if (!watcher->token) continue;
        watcher->asked_progress = true;
        asked.push_back(*watcher->token);
        ++round_.missing;
      }
      if (asked.empty()) push(response_of(-1, revision));
    }
    for (const Engine::Token token : asked) core_.engine.progress(token);
  }

  // With the lock: a watch has said how far it is, or is no more.
  void count(Watcher& watcher, std::int64_t revision) {
    watcher.asked_progress = false;
    round_.revision = std::min(round_.revision, revision);
    if (--round_.missing > 0) return;
    const bool nobody = round_.revision == std::numeric_limits<std::int64_t>::max();  // all were closed meanwhile
    if (!nobody) push(response_of(-1, round_.revision));
    round_due_ = round_.again || nobody;
  }

  // With the lock, and with the caller's own hold on the watcher.
  void close(Watcher& watcher) {
    watcher.closed = true;
    watchers_.erase(watcher.id);
    if (watcher.asked_progress) count(watcher, round_.revision);
  }

  void on_room() override {
    std::vector<Engine::Token> ready;
    bool ask = false;
    {
      const auto held = lock();
      // In the order in which they came to wait, so that each has its turn. One whose token is still to come is seen to in open().
      for (const WatcherPtr& watcher : std::exchange(waiting_, {})) {
        if (!watcher->token || !std::exchange(watcher->waits_for_room, false) || watcher->closed) continue;
        ready.push_back(*watcher->token);
      }
      ask = std::exchange(round_due_, false);
    }
    for (const Engine::Token token : ready) core_.engine.ready(token);
    if (ask) begin_round();
  }

  void on_closed() override {
    std::vector<Engine::Token> open;
    {
      const auto held = lock();
      for (const auto& [id, watcher] : watchers_) {
        watcher->closed = true;
        if (watcher->token) open.push_back(*watcher->token);
      }
      watchers_.clear();
    }
    for (const Engine::Token token : open) core_.engine.unwatch(token);
  }

  Core& core_;
  Result<Who> who_ = fail(Error{Code::denied, std::string(words::user_empty)});  // until it is asked
  std::map<std::int64_t, WatcherPtr> watchers_;
  std::vector<WatcherPtr> waiting_;  // for room
  std::int64_t next_id_ = 0;
  Round round_;
  bool round_due_ = false;  // another begins at the next chance
};

}  // namespace

grpc::ServerBidiReactor<pb::WatchRequest, pb::WatchResponse>* WatchService::Watch(grpc::CallbackServerContext* context) {
  const auto stream = std::make_shared<WatchStream>(core_);
  stream->begin_for(core_.access.who(*context));
  return stream.get();
}

}  // namespace evenkeel::store::embedded::detail
