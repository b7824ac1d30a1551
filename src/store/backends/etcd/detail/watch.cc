#include "evenkeel/store/backends/etcd/detail/watch.h"

#include <algorithm>
#include <utility>

namespace evenkeel::store::etcd::detail {
namespace {

constexpr Duration watch_pause_first = 20ms;
constexpr Duration watch_pause_max = 1s;

}  // namespace

Watch::Watch(Core& core, std::string prefix, std::optional<Revision> after, OnChanges on_changes)
    : core_(core), prefix_(std::move(prefix)), after_(after), on_changes_(std::move(on_changes)) {}

void Watch::start() {
  core_.watches.emplace(this, weak_from_this());
  run();
}

void Watch::close() {
  if (std::exchange(closed_, true)) return;
  leave_stream();
  core_.watches.erase(this);
}

void Watch::leave(const Endpoint& endpoint) {
  if (endpoint_ != &endpoint) return;
  leave_stream();
  core_.loop.post(guarded([](Watch& self) { self.run(); }));
}

void Watch::run() {
  leave_stream();
  if (after_) {
    open();
  } else {
    list();
  }
}

// What came for an earlier turn is not heard any more.
void Watch::leave_stream() {
  ++turn_;
  held_.clear();
  endpoint_ = nullptr;
  place_.reset();
}

void Watch::list() {
  list_all(core_, prefix_, guarded([](Watch& self, Result<Listing> listing) {
             if (!listing) return self.failed({Verdict::Next::answer, false, std::move(listing).error()});
             Changes fresh{.fresh = true, .changes = {}, .revision = listing->revision};
             for (Entry& entry : listing->entries) {
               std::string key = entry.key;
               fresh.changes.push_back({std::move(key), std::move(entry)});
             }
             self.after_ = listing->revision;
             if (self.deliver(std::move(fresh))) self.open();
           }));
}

void Watch::open() {
  const Instant deadline = core_.deadline();
  core_.caller.with_token(deadline, guarded([deadline](Watch& self, Result<Token> token) {
                            if (!token) return self.failed({Verdict::Next::answer, false, std::move(token).error()});
                            self.core_.endpoints.connect(deadline,
                                                         self.guarded([token = *token](Watch& me, Result<Endpoint*> endpoint) {
                                                           if (!endpoint) return me.again();
                                                           me.join(**endpoint, token);
                                                         }));
                          }));
}

void Watch::join(Endpoint& endpoint, const Token& token) {
  Stream::Create create;
  create.set_key(core_.keys.full(prefix_));
  create.set_range_end(core_.keys.full(end_of(prefix_)));
  // From the revision that is known already, and not from the one after it: a server that was compacted to exactly that one has dropped the
  // deletes of it, and some versions of etcd say nothing. So they refuse, and a fresh list follows.
  create.set_start_revision(std::max(after_->value(), std::int64_t{1}));
  create.set_progress_notify(true);
  create.set_fragment(true);
  endpoint_ = &endpoint;
  token_ = token;
  place_ = core_.streams.join(endpoint, token, std::move(create),
                              {guarded([](Watch& self, Stream::Message& message) { self.take(message); }),
                               guarded([](Watch& self, const grpc::Status& status) { self.ended(status); })});
}

void Watch::take(Stream::Message& message) {
  if (message.canceled()) return cancelled_by_server(message);
  if (!message.created()) return take_events(message);
  token_refused_ = false;
  failures_ = 0;
  if (Revision(message.header().revision()) < *after_) check_history();
}

// A server that is not as far as we have been is a member that lags, and will come there; or it was put back to an older state, and never
// comes there with the same history. All members together say which.
void Watch::check_history() {
  list_all(core_, prefix_, guarded([seen = *after_](Watch& self, const Result<Listing>& listing) {
             if (!listing || listing->revision >= seen) return;
             self.core_.log.warn("the server's history is older than what was seen, and a watch begins with a fresh list",
                                 {{"prefix", self.prefix_}});
             self.after_.reset();
             self.run();
           }));
}

// Only a revision whose events are all here is delivered, and a later stream begins after it: so a message that goes on in another keeps
// the events of its last revision back.
void Watch::take_events(Stream::Message& message) {
  if (message.events().empty()) {
    // How far the server is, without events.
    const Revision revision(message.header().revision());
    if (held_.empty() && revision > *after_) {
      after_ = revision;
      deliver({.fresh = false, .changes = {}, .revision = revision});
    }
    return;
  }
  auto& events = *message.mutable_events();
  const std::int64_t last = events.rbegin()->kv().mod_revision();
  Changes whole{.fresh = false, .changes = std::exchange(held_, {}), .revision = Revision(message.fragment() ? last - 1 : last)};
  for (mvccpb::Event& event : events) {
    const std::int64_t revision = event.kv().mod_revision();
    if (revision <= after_->value()) continue;
    auto& into = message.fragment() && revision == last ? held_ : whole.changes;
    into.push_back(change_of(event, core_.keys));
  }
  // A fragment that is all of one revision: what was held may be of the same, and waits with it.
  if (message.fragment() && events.begin()->kv().mod_revision() == last) {
    held_.insert(held_.begin(), std::make_move_iterator(whole.changes.begin()), std::make_move_iterator(whole.changes.end()));
    return;
  }
  if (whole.revision <= *after_) return;
  after_ = whole.revision;
  if (!whole.changes.empty()) deliver(std::move(whole));
}

void Watch::cancelled_by_server(const Stream::Message& message) {
  if (message.compact_revision() != 0) {
    core_.log.info("a watch fell behind what the server remembers, and begins with a fresh list", {{"prefix", prefix_}});
    after_.reset();
    return run();
  }
  // Some versions write the reason as Go prints an error: "rpc error: code = PermissionDenied desc = etcdserver: permission denied".
  constexpr std::string_view preface = "desc = ";
  std::string reason = message.cancel_reason();
  if (const std::size_t at = reason.find(preface); at != std::string::npos) reason.erase(0, at + preface.size());
  failed(judge({grpc::StatusCode::UNKNOWN, reason}, Effect::none));
}

void Watch::ended(const grpc::Status& status) {
  const Verdict verdict = judge(status, Effect::none);
  if (verdict.late) {
    Endpoint& silent = *endpoint_;
    again();
    return core_.endpoints.stuck(silent);
  }
  // A server that ends a stream in good order is about to stop.
  if (status.ok() || verdict.error.code == Code::unavailable) core_.endpoints.avoid(*endpoint_);
  if (status.ok()) return again();
  failed(verdict);
}

// A refused token may be an old one: 3.4 says no more than "permission denied" then.
void Watch::failed(const Verdict& verdict) {
  const bool refused = verdict.next == Verdict::Next::authenticate || verdict.error.code == Code::denied;
  if (refused && place_ && core_.caller.has_user() && !std::exchange(token_refused_, true)) {
    core_.caller.refuse(token_);
    return run();
  }
  if (refused || verdict.error.code == Code::invalid) return end_with(verdict.error);
  if (verdict.error.code == Code::conflict) after_.reset();
  again();
}

void Watch::again() {
  leave_stream();
  const Duration pause = std::min(watch_pause_first * (1 << std::min(failures_, 6)), watch_pause_max);
  const bool first = failures_++ == 0;
  core_.delays.after(first ? Duration{} : pause, guarded([](Watch& self) { self.run(); }));
}

bool Watch::deliver(Changes changes) {
  const auto self = shared_from_this();  // the consumer may destroy it
  const std::uint64_t turn = turn_;
  on_changes_(std::move(changes));
  return !closed_ && turn_ == turn;
}

void Watch::end_with(Error error) {
  const auto self = shared_from_this();
  close();
  on_changes_(fail(std::move(error).in(prefix_)));
}

}  // namespace evenkeel::store::etcd::detail
