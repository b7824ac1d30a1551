#include "evenkeel/store/backends/embedded/engine.h"

#include <atomic>

#include "evenkeel/store/backends/embedded/detail/check.h"
#include "evenkeel/store/backends/embedded/detail/hash.h"
#include "evenkeel/store/backends/embedded/detail/state.h"
#include "evenkeel/store/backends/embedded/detail/sweeper.h"
#include "evenkeel/store/backends/embedded/detail/watchers.h"
#include "evenkeel/store/backends/embedded/detail/writer.h"

namespace evenkeel::store::embedded {
namespace {

using namespace detail;

constexpr auto lease_ttl_max = std::chrono::seconds(9'000'000'000);  // as etcd
Error busy_error() { return {Code::unavailable, "etcdserver: too many requests"}; }

// Members are destroyed from the last to the first: the writer ends what was submitted while all it needs is there.
class EngineOnDisk final : public Engine {
 public:
  EngineOnDisk(std::unique_ptr<State> state, std::int64_t removed)
      : state_(std::move(state)),
        watchers_(past(), state_->clock, state_->options.clock == nullptr, state_->options.request_bytes_max, state_->revision),
        sweeper_(*state_, removed),
        writer_(*state_, watchers_, sweeper_) {}

  Result<Found> range(const Range& range) const override;
  void submit(Request request, std::function<void(Result<Outcome>)> done, LeaseGuard guard) override;
  void grant(LeaseId id, Duration ttl, std::function<void(Result<Lease>)> done) override;
  void revoke(LeaseId id, std::function<void(Result<std::int64_t>)> done, LeaseGuard guard) override;
  Result<Lease> keep_alive(LeaseId id) override {
    ++renewals_;
    return state_->leases.keep_alive(id, state_->clock.now());
  }
  Result<Lease> lease(LeaseId id) const override { return state_->leases.get(id, state_->clock.now()); }
  std::vector<LeaseId> leases() const override { return state_->leases.all(); }
  Result<Token> watch(const Watch& watch, Sink sink) override;
  void ready(Token watcher) override { watchers_.ready(watcher); }
  void progress(Token watcher) override { watchers_.progress(watcher); }
  void unwatch(Token watcher) override { watchers_.remove(watcher); }
  Result<std::int64_t> compact(std::int64_t revision, bool physical) override;
  Result<> defragment() override { return state_->disk->defragment(); }
  Result<std::pair<std::uint32_t, std::int64_t>> hash(std::int64_t revision) const override { return hash_of(*state_, revision); }
  EngineStatus status() const override;
  Result<> backup(const std::string& to) const override { return state_->disk->backup(to); }
  void tick() override;

 private:
  Past past() const;

  mutable std::atomic<std::uint64_t> reads_ = 0;
  std::atomic<std::uint64_t> writes_ = 0, renewals_ = 0, watches_ = 0;
  std::unique_ptr<State> state_;
  Watchers watchers_;
  Sweeper sweeper_;
  Writer writer_;
};

Past EngineOnDisk::past() const {
  return {.compacted = [state = state_.get()] { return state->compacted.load(); },
          .scan = [state = state_.get()](std::int64_t from, std::int64_t to,
                                         const auto& use) { return state->disk->scan(from, to, use); },
          .at = [state = state_.get()](const std::string& key, std::int64_t revision) { return state->at(key, revision); }};
}

Result<Found> EngineOnDisk::range(const Range& range) const {
  ++reads_;
  if (auto good = check(range); !good) return fail(std::move(good).error());
  Reading reading(range);
  std::int64_t wanted = 0;
  {
    const auto lock = state_->gate.read();
    if (auto good = check_revision(range.revision, state_->compacted, state_->revision); !good)
      return fail(std::move(good).error());
    wanted = range.revision > 0 ? range.revision : state_->revision.load();
    reading.collect(View{state_->index}, state_->revision);
  }
  return std::move(reading).finish([&](Stamp stamp) { return state_->fetch(stamp, wanted); });
}

void EngineOnDisk::submit(Request request, std::function<void(Result<Outcome>)> done, LeaseGuard guard) {
  ++(may_write(request) ? writes_ : reads_);
  Submitted task{.request = std::move(request), .guard = std::move(guard), .done = std::move(done), .result = Outcome{}};
  if (auto good = check(task.request, state_->options); !good) task.result = fail(std::move(good).error());
  Task taken(std::move(task));
  if (!writer_.submit(std::move(taken))) std::get<Submitted>(taken).done(fail(busy_error()));
}

void EngineOnDisk::grant(LeaseId id, Duration ttl, std::function<void(Result<Lease>)> done) {
  if (ttl > lease_ttl_max) return done(fail(Code::invalid, "etcdserver: too large lease TTL"));
  Task task(Granting{.id = id, .ttl = ttl, .done = std::move(done), .result = Lease{}});
  if (!writer_.submit(std::move(task))) std::get<Granting>(task).done(fail(busy_error()));
}

void EngineOnDisk::revoke(LeaseId id, std::function<void(Result<std::int64_t>)> done, LeaseGuard guard) {
  Task task(Revoking{.id = id, .guard = std::move(guard), .done = std::move(done), .result = std::int64_t{0}});
  if (!writer_.submit(std::move(task))) std::get<Revoking>(task).done(fail(busy_error()));
}

// As etcd: a watch of no key begins with the first there can be.
Result<Engine::Token> EngineOnDisk::watch(const Watch& watch, Sink sink) {
  ++watches_;
  auto asked = watch;
  if (asked.span.key.empty()) asked.span.key = std::string(1, '\0');
  if (!asked.span.end.empty() && !is_open(asked.span) && asked.span.end <= asked.span.key)
    return fail(Code::invalid, "mvcc: watcher range is empty");
  const auto next = asked.start > 0 ? asked.start : state_->revision + 1;
  return watchers_.add(asked, std::move(sink), next);
}

Result<std::int64_t> EngineOnDisk::compact(std::int64_t revision, bool physical) {
  Compacting task{.revision = revision, .done = {}};
  auto answer = task.done.get_future();
  if (!writer_.submit(std::move(task))) return fail(busy_error());
  auto done = answer.get();
  if (done && physical)
    if (auto swept = sweeper_.wait(revision); !swept) return fail(std::move(swept).error());
  return done;
}

EngineStatus EngineOnDisk::status() const {
  EngineStatus status;
  {
    const auto lock = state_->gate.read();
    status.revision = state_->revision;
    status.compacted = state_->compacted;
    status.keys = state_->index.live();
  }
  status.bytes = state_->disk->bytes();
  status.bytes_in_use = std::min(state_->disk->bytes_in_use(), status.bytes);
  status.bytes_max = state_->options.bytes_max;
  status.watchers = watchers_.count();
  status.leases = state_->leases.count();
  status.reads = reads_;
  status.writes = writes_;
  status.renewals = renewals_;
  status.watches = watches_;
  status.cluster_id = state_->cluster_id;
  status.member_id = state_->member_id;
  status.full = state_->full || state_->disk->failed();
  status.version = format_number;
  return status;
}

void EngineOnDisk::tick() {
  Ticking task;
  auto done = task.done.get_future();
  if (writer_.submit(std::move(task))) done.get();
  watchers_.tick();
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(const std::string& folder, const EngineOptions& options) {
  auto state = std::make_unique<State>(options);
  if (state->options.bytes_max == 0) state->options.bytes_max = 8ULL << 30;
  auto disk = Disk::open(folder, options);
  if (!disk) return fail(std::move(disk).error());
  state->disk = *std::move(disk);
  auto contents = state->disk->load();
  if (!contents) return fail(std::move(contents).error());
  state->index = std::move(contents->index);
  state->revision = contents->revision;
  state->compacted = contents->compacted;
  state->cluster_id = contents->cluster_id;
  state->member_id = contents->member_id;
  state->opened = true;
  const auto now = state->clock.now();
  for (const auto& [id, ttl] : contents->leases) state->leases.add(id, ttl, now);
  for (const auto& [key, item] : state->index.items())
    if (item.lease != 0) state->leases.move_key(key, 0, item.lease);
  return std::make_unique<EngineOnDisk>(std::move(state), contents->removed);
}

}  // namespace evenkeel::store::embedded
