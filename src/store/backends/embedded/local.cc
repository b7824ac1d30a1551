#include "evenkeel/store/backends/embedded/local.h"

#include <algorithm>
#include <mutex>

namespace evenkeel::store::embedded {
namespace {

constexpr std::string_view lease_not_found = "etcdserver: requested lease not found";
constexpr std::string_view compacted_text = "etcdserver: mvcc: required revision has been compacted";

// All keys that begin with a prefix, which ends with '/': '0' is the next character.
Span below(const std::string& prefix) { return {prefix, prefix.substr(0, prefix.size() - 1) + '0'}; }

Entry to_entry(KeyValue&& found) {
  return {.key = std::move(found.key),
          .value = std::move(found.value),
          .created = Revision(found.create_revision),
          .modified = Revision(found.mod_revision),
          .ephemeral = found.lease != 0};
}

Listing to_listing(Found&& found) {
  Listing listing{.entries = {}, .revision = Revision(found.revision)};
  for (KeyValue& entry : found.entries) listing.entries.push_back(to_entry(std::move(entry)));
  return listing;
}

void append(Changes& changes, const Events& events) {
  for (const Event& event : events.events) {
    changes.changes.push_back({event.entry.key, event.erased ? std::nullopt : std::optional(to_entry(KeyValue(event.entry)))});
    // Not events.revision: a watcher that catches up is told of the store's, and has still to hear of what lies between.
    changes.revision = std::max(changes.revision, Revision(event.entry.mod_revision));
  }
}

Condition to_condition(Compare&& compare) {
  Condition condition;
  condition.span.key = std::move(compare.key);
  switch (compare.kind) {
    case Compare::Kind::absent:
      break;  // its version is 0
    case Compare::Kind::present:
      condition.is = Condition::Is::greater;
      break;
    case Compare::Kind::unchanged:
      condition.of = Condition::Of::mod;
      condition.number = compare.modified.value();
      break;
  }
  return condition;
}

Operation to_operation(Write&& write, LeaseId lease) {
  switch (write.kind) {
    case Write::Kind::erase:
      return Erase{.span = {std::move(write.key), {}}};
    case Write::Kind::erase_below:
      return Erase{.span = below(write.key)};
    case Write::Kind::put:
      lease = 0;
      break;
    case Write::Kind::put_ephemeral:
      break;
  }
  return Put{.key = std::move(write.key), .value = std::move(write.value), .lease = lease};
}

Request to_request(Txn&& txn, LeaseId lease) {
  Request request;
  for (Compare& compare : txn.compares) request.conditions.push_back(to_condition(std::move(compare)));
  for (Write& write : txn.then) request.then.push_back(to_operation(std::move(write), lease));
  for (Write& write : txn.otherwise) request.otherwise.push_back(to_operation(std::move(write), lease));
  return request;
}

bool has_ephemeral(const Txn& txn) {
  const auto any = [](const std::vector<Write>& writes) {
    return std::ranges::find(writes, Write::Kind::put_ephemeral, &Write::kind) != writes.end();
  };
  return any(txn.then) || any(txn.otherwise);
}

// The way from the engine's threads to the loop, until its owner is gone: then nothing is posted, and nothing posted runs.
class Door {
 public:
  explicit Door(Loop& loop) : loop_(&loop) {}

  static void post(const std::shared_ptr<Door>& door, Loop::Callback callback) {
    const std::scoped_lock lock(door->mutex_);
    if (door->loop_ == nullptr) return;
    door->loop_->post([door, callback = std::move(callback)]() mutable {
      if (door->open()) callback();
    });
  }
  void close() {
    const std::scoped_lock lock(mutex_);
    loop_ = nullptr;
  }

 private:
  bool open() {
    const std::scoped_lock lock(mutex_);
    return loop_ != nullptr;
  }

  std::mutex mutex_;
  Loop* loop_;
};

// A watch: what the engine says waits in a bounded queue for the loop. All but the queue belongs to the loop's thread.
class LocalWatch final : public std::enable_shared_from_this<LocalWatch> {
 public:
  LocalWatch(Loop& loop, std::shared_ptr<Engine> engine, std::string prefix, OnChanges on_changes)
      : engine_(std::move(engine)),
        prefix_(std::move(prefix)),
        on_changes_(std::move(on_changes)),
        door_(std::make_shared<Door>(loop)) {}

  void begin(std::optional<Revision> after) {
    Door::post(door_, [self = shared_from_this(), after] {
      // A revision that is still to come is of another history, so there is nothing that could be followed.
      if (!after || after->value() > self->engine_->status().revision) return self->list();
      self->follow(*after);
    });
  }
  void close() {
    door_->close();
    if (token_) engine_->unwatch(*std::exchange(token_, std::nullopt));
    engine_.reset();  // its own thread may be the last to hold this, and must not be the one that ends it
  }

 private:
  static constexpr std::size_t queued_max = 4096;           // events
  static constexpr std::size_t queued_bytes_max = 4 << 20;  // of values; then one more may come

  // What the engine's thread and the loop share.
  struct Queue {
    std::mutex mutex;
    std::vector<Events> waiting;
    std::size_t events = 0;
    std::size_t bytes = 0;
    bool refused = false;  // the engine waits for ready()
    bool posted = false;   // drain() is on its way
  };

  void list() {
    auto found = engine_->range({.span = below(prefix_)});
    if (!found) return on_changes_(fail(std::move(found).error()));
    Changes changes{.fresh = true, .changes = {}, .revision = Revision(found->revision)};
    for (KeyValue& entry : found->entries) {
      std::string key = entry.key;
      changes.changes.push_back({std::move(key), to_entry(std::move(entry))});
    }
    follow(changes.revision);
    on_changes_(std::move(changes));
  }

  void follow(Revision after) {
    queue_ = std::make_shared<Queue>();
    const auto sink = [self = shared_from_this(), queue = queue_](const Events& events) {
      const std::scoped_lock lock(queue->mutex);
      if (queue->events >= queued_max || queue->bytes >= queued_bytes_max) {
        queue->refused = true;
        return false;
      }
      queue->events += std::max<std::size_t>(events.events.size(), 1);
      for (const Event& event : events.events) queue->bytes += event.entry.key.size() + event.entry.value.size();
      queue->waiting.push_back(events);
      if (!std::exchange(queue->posted, true)) Door::post(self->door_, [self, queue] { self->drain(queue); });
      return true;
    };
    const auto token = engine_->watch({.span = below(prefix_), .start = after.value() + 1}, sink);
    if (token) {
      token_ = *token;
    } else {
      Door::post(door_, [self = shared_from_this(), error = token.error()] { self->on_changes_(fail(error)); });
    }
  }

  void drain(const std::shared_ptr<Queue>& queue) {
    if (queue != queue_) return;  // of a watch that was given up
    std::vector<Events> taken;
    bool refused = false;
    {
      const std::scoped_lock lock(queue->mutex);
      taken.swap(queue->waiting);
      queue->events = 0;
      queue->bytes = 0;
      queue->posted = false;
      refused = std::exchange(queue->refused, false);
    }
    if (refused && token_) engine_->ready(*token_);
    Changes changes;
    for (const Events& events : taken) {
      if (events.cancelled) {
        // What was missed is compacted, and so is in a fresh list; what has been got before is, too.
        token_.reset();
        return list();
      }
      append(changes, events);
    }
    if (!changes.changes.empty()) on_changes_(std::move(changes));
  }

  std::shared_ptr<Engine> engine_;  // until close()
  const std::string prefix_;
  OnChanges on_changes_;
  const std::shared_ptr<Door> door_;
  std::shared_ptr<Queue> queue_;
  std::optional<Engine::Token> token_;
};

// What the caller holds. A callback may destroy it: the watch itself lives until that returns.
class LocalWatching final : public Watching {
 public:
  explicit LocalWatching(std::shared_ptr<LocalWatch> watch) : watch_(std::move(watch)) {}
  ~LocalWatching() override { watch_->close(); }

 private:
  std::shared_ptr<LocalWatch> watch_;
};

class LocalStore final : public Store {
 public:
  LocalStore(Loop& loop, std::shared_ptr<Engine> engine, Duration lease_ttl)
      : Store(loop), engine_(std::move(engine)), lease_ttl_(lease_ttl), door_(std::make_shared<Door>(loop)) {}

  ~LocalStore() override {
    door_->close();
    loop().cancel(renewal_);
    if (lease_ != 0) engine_->revoke(lease_, [](const Result<std::int64_t>&) {});
  }

 private:
  // A txn with ephemeral keys, kept until it is known that its lease was there.
  struct Waiting {
    Txn txn;
    Answer<Committed> answer;
    bool again = false;  // its lease was gone once already
  };

  template <class T>
  void reply(Answer<T> answer, Result<T> result) {
    Door::post(door_, [answer = std::move(answer), result = std::move(result)]() mutable { answer(std::move(result)); });
  }

  void do_get(std::string key, Answer<Read> answer) override {
    auto found = engine_->range({.span = {std::move(key), {}}});
    if (!found) return reply<Read>(std::move(answer), fail(std::move(found).error()));
    Read read{.entry = std::nullopt, .revision = Revision(found->revision)};
    if (!found->entries.empty()) read.entry = to_entry(std::move(found->entries.front()));
    reply<Read>(std::move(answer), std::move(read));
  }

  void do_list(std::string prefix, Answer<Listing> answer) override {
    auto found = engine_->range({.span = below(prefix)});
    if (!found) return reply<Listing>(std::move(answer), fail(std::move(found).error()));
    reply<Listing>(std::move(answer), to_listing(*std::move(found)));
  }

  void do_txn(Txn txn, Answer<Committed> answer) override {
    if (has_ephemeral(txn)) return submit_leased({std::move(txn), std::move(answer), false});
    submit(to_request(std::move(txn), 0), std::move(answer));
  }

  // The answer is called on the loop.
  void submit(Request request, Answer<Committed> answer) {
    // The engine copies its callbacks, an answer cannot be copied.
    auto shared = std::make_shared<Answer<Committed>>(std::move(answer));
    engine_->submit(std::move(request), [door = door_, shared](Result<Outcome> done) {
      auto result =
          done ? Result<Committed>(Committed{done->succeeded, Revision(done->revision)}) : fail(std::move(done).error());
      Door::post(door, [shared, result = std::move(result)]() mutable { (*shared)(std::move(result)); });
    });
  }

  void submit_leased(Waiting waiting) {
    if (lease_ == 0) {
      waiting_.push_back(std::move(waiting));
      if (!std::exchange(granting_, true)) grant();
      return;
    }
    Request request = to_request(Txn(waiting.txn), lease_);
    submit(std::move(request), [this, lease = lease_, waiting = std::move(waiting)](Result<Committed> done) mutable {
      const bool lost = !done && done.error().message == lease_not_found;
      if (!lost) return waiting.answer(std::move(done));
      if (lease_ == lease) lose_lease();
      if (waiting.again)
        return waiting.answer(
            fail(Code::unavailable, "the lease of this store's ephemeral keys ended twice in a row; try again"));
      waiting.again = true;
      submit_leased(std::move(waiting));
    });
  }

  void grant() {
    engine_->grant(0, lease_ttl_, [this, door = door_](const Result<Lease>& lease) {
      Door::post(door, [this, lease] {
        granting_ = false;
        if (lease) {
          lease_ = lease->id;
          renew_later();
        }
        for (Waiting& waiting : std::exchange(waiting_, {})) {
          if (lease) {
            submit_leased(std::move(waiting));
          } else {
            waiting.answer(fail(not_done(lease.error())));
          }
        }
      });
    });
  }

  // A lease that was perhaps granted is of no use, and what was to hang on it is certainly not written.
  static Error not_done(Error error) {
    if (error.code == Code::unknown_outcome) error.code = Code::unavailable;
    return error.in("granting a lease for ephemeral keys");
  }

  void renew_later() {
    renewal_ = loop().post_after(lease_ttl_ / 3, [this] {
      const auto kept = engine_->keep_alive(lease_);
      if (!kept && kept.error().code == Code::not_found) return lose_lease();
      renew_later();
    });
  }

  // Its keys are gone; the next ephemeral key gets another.
  void lose_lease() {
    lease_ = 0;
    loop().cancel(renewal_);
  }

  std::unique_ptr<Watching> do_watch(std::string prefix, std::optional<Revision> after, OnChanges on_changes) override {
    auto watch = std::make_shared<LocalWatch>(loop(), engine_, std::move(prefix), std::move(on_changes));
    watch->begin(after);
    return std::make_unique<LocalWatching>(std::move(watch));
  }

  void do_status(Answer<Status> answer) override {
    const EngineStatus seen = engine_->status();
    Status status{.backend = "embedded",
                  .version = seen.version,
                  .revision = Revision(seen.revision),
                  .bytes = seen.bytes,
                  .bytes_quota = seen.bytes_max,
                  .members = {},
                  .warnings = {}};
    if (seen.full) {
      status.warnings.push_back("there is no space left, so writes are refused: compact, delete, or give it more");
    } else if (seen.bytes_max > 0 && seen.bytes > seen.bytes_max / 5 * 4) {
      status.warnings.push_back(
          fmt::format("{} of {} bytes are used: compact, delete, or give it more", seen.bytes, seen.bytes_max));
    }
    reply<Status>(std::move(answer), std::move(status));
  }

  void do_compact(Revision before, Answer<Revision> answer) override {
    if (before.value() > engine_->status().compacted) {
      const auto done = engine_->compact(before.value(), false);
      if (!done && done.error().message != compacted_text) return reply<Revision>(std::move(answer), fail(done.error()));
    }
    reply<Revision>(std::move(answer), Revision(engine_->status().compacted));
  }

  const std::shared_ptr<Engine> engine_;
  const Duration lease_ttl_;
  const std::shared_ptr<Door> door_;
  LeaseId lease_ = 0;  // 0: none
  bool granting_ = false;
  std::vector<Waiting> waiting_;  // for the lease
  Timer renewal_;
};

}  // namespace

std::unique_ptr<Store> make_local(Loop& loop, std::shared_ptr<Engine> engine, Duration lease_ttl) {
  return std::make_unique<LocalStore>(loop, std::move(engine), lease_ttl);
}

}  // namespace evenkeel::store::embedded
