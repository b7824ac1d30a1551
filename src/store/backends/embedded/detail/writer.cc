#include "evenkeel/store/backends/embedded/detail/writer.h"

#include <algorithm>
#include <random>

#include "evenkeel/base/overloaded.h"
#include "evenkeel/store/backends/embedded/detail/check.h"

namespace evenkeel::store::embedded::detail {
namespace {

constexpr std::size_t tasks_max = 1 << 16;              // that wait
constexpr std::size_t group_tasks_max = 1024;           // so that the first of many is not answered too late
constexpr std::uint64_t measure_every_bytes = 1 << 20;  // of what was written
constexpr Duration wait_max = 500ms;                    // for leases: the boot clock may jump when a host wakes up
constexpr std::uint64_t bytes_max_by_default = 8ULL << 30;

// The answer when the group's write failed: only who wrote does not know.
template <class T>
void answer(T& task, const Result<>& durable) {
  if (!durable && task.wrote) task.result = fail(durable.error());
  // What it saw was the failed group's, perhaps.
  if (!durable && !task.wrote && task.result) task.result = fail(Code::unavailable, "{}", durable.error().message);
  if (task.done) task.done(std::move(task.result));
}

}  // namespace

Writer::Writer(State& state, Watchers& watchers, Sweeper& sweeper)
    : state_(state),
      watchers_(watchers),
      sweeper_(sweeper),
      bytes_max_(state.options.bytes_max != 0 ? state.options.bytes_max : bytes_max_by_default),
      lease_ids_(std::uint64_t{std::random_device{}()} << 32 | std::random_device{}()) {
  measure();
  thread_ = std::thread([this] { run(); });
}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

bool Writer::submit(Task&& task) {
  const std::lock_guard lock(mutex_);
  if (tasks_.size() >= tasks_max || stop_) return false;
  tasks_.push_back(std::move(task));
  if (tasks_.size() == 1) wake_.notify_one();
  return true;
}

void Writer::run() {
  for (;;) {
    auto tasks = wait_for_tasks();
    const bool last = tasks.empty() && [&] {
      const std::lock_guard lock(mutex_);
      return stop_ && tasks_.empty();
    }();
    if (last) return;
    if (state_.options.clock == nullptr) add_expired(tasks);
    run_tasks(tasks);
  }
}

// With a clock of the test's own, only tick() ends leases.
std::vector<Task> Writer::wait_for_tasks() {
  std::unique_lock lock(mutex_);
  const auto due = [&] { return stop_ || !tasks_.empty(); };
  if (state_.options.clock != nullptr) {
    wake_.wait(lock, due);
  } else if (!due()) {
    const auto next = state_.leases.next();
    const auto left = next ? std::max(*next - state_.clock.now(), Duration{}) : wait_max;
    // One that could not be ended since the disk fails is tried again, but not without a pause.
    wake_.wait_for(lock, state_.disk->failed() ? wait_max : std::min(left, wait_max), due);
  }
  return std::exchange(tasks_, {});
}

void Writer::add_expired(std::vector<Task>& tasks) {
  for (const auto id : state_.leases.take_over(state_.clock.now()))
    tasks.push_back(Revoking{.id = id, .guard = {}, .done = nullptr, .result = std::int64_t{0}});
}

void Writer::run_tasks(std::vector<Task>& tasks) {
  const auto alone = [](const Task& task) {
    return std::holds_alternative<Compacting>(task) || std::holds_alternative<Ticking>(task);
  };
  auto at = tasks.begin();
  while (at != tasks.end()) {
    if (auto* compacting = std::get_if<Compacting>(&*at)) {
      compact(*compacting);
      ++at;
    } else if (auto* ticking = std::get_if<Ticking>(&*at)) {
      std::vector<Task> expired;
      add_expired(expired);
      run_tasks(expired);
      ticking->done.set_value();
      ++at;
    } else {
      const auto most = std::min<std::ptrdiff_t>(tasks.end() - at, group_tasks_max);
      const auto end = std::find_if(at, at + most, alone);
      run_group({at, end});
      at = end;
    }
  }
}

void Writer::run_group(std::span<Task> tasks) {
  (void)state_.disk->recover();  // whether it did is asked where it matters
  if (bytes_since_ > measure_every_bytes || state_.full) measure();
  answer_reads(tasks);
  auto group = make_group();
  for (auto& task : tasks) {
    std::visit(Overloaded{[&](Compacting&) {}, [&](Ticking&) {}, [&](auto& one) { evaluate(one, group); }}, task);
  }
  const auto durable = group.empty() ? Result<>() : commit(group);
  if (durable && !group.empty()) show(group);
  for (auto& task : tasks) {
    if (auto* revoking = std::get_if<Revoking>(&task)) state_.leases.give_back(revoking->id);
    std::visit(Overloaded{[&](Compacting&) {}, [&](Ticking&) {}, [&](auto& one) { answer(one, durable); }}, task);
  }
}

Group Writer::make_group() const {
  return Group(state_.index, state_.revision, state_.compacted,
               {.has = [this](LeaseId id) { return state_.leases.has(id); },
                .keys = [this](LeaseId id) { return state_.leases.keys(id); }},
               [this](Stamp stamp) { return state_.fetch(stamp, stamp.revision); });
}

// What cannot write need not wait for the disk: it sees what is there already.
void Writer::answer_reads(std::span<Task> tasks) const {
  for (auto& task : tasks) {
    auto* submitted = std::get_if<Submitted>(&task);
    if (submitted == nullptr || may_write(submitted->request)) continue;
    if (submitted->result) submitted->result = make_group().run(submitted->request, {});
    std::exchange(submitted->done, nullptr)(std::move(submitted->result));
  }
}

Result<> Writer::writable() const {
  if (state_.disk->failed()) return fail(state_.disk->failure());
  return {};
}

void Writer::measure() {
  state_.full = state_.disk->bytes() > bytes_max_;
  bytes_since_ = 0;
}

void Writer::evaluate(Submitted& task, Group& group) {
  if (!task.result || !task.done) return;  // refused before it came here, or answered
  if (const auto able = writable(); !able) {
    task.result = fail(able.error());
  } else if (state_.full && may_put(task.request)) {
    task.result = fail(full_error());
  } else {
    const auto before = group.overlay().changes().size();
    task.result = group.run(task.request, task.guard);
    task.wrote = group.overlay().changes().size() > before;
  }
}

void Writer::evaluate(Granting& task, Group& group) {
  if (const auto able = writable(); !able) return void(task.result = fail(able.error()));
  if (state_.full) return void(task.result = fail(full_error()));
  if (task.id == 0) task.id = draw_lease(group);
  if (group.has_lease(task.id)) return void(task.result = fail(Code::conflict, "etcdserver: lease already exists"));
  task.ttl = std::max(task.ttl, state_.options.lease_ttl_min);
  group.grant(task.id, task.ttl);
  task.result = Lease{task.id, task.ttl, task.ttl, {}};
  task.wrote = true;
}

void Writer::evaluate(Revoking& task, Group& group) {
  if (const auto able = writable(); !able) return void(task.result = fail(able.error()));
  if (!group.has_lease(task.id)) return void(task.result = fail(lease_error()));
  const auto keys = group.keys_of(task.id);
  if (task.guard)
    if (const auto good = task.guard(keys); !good) return void(task.result = fail(good.error()));
  group.revoke(task.id);
  task.result = group.erase_keys(keys);
  task.wrote = true;
}

LeaseId Writer::draw_lease(const Group& group) {
  for (;;) {
    const auto id = static_cast<LeaseId>(lease_ids_.next() >> 1);
    if (id != 0 && !group.has_lease(id)) return id;
  }
}

Result<> Writer::commit(const Group& group) {
  rocksdb::WriteBatch batch;
  for (const auto& change : group.overlay().changes())
    batch.Put(record_key(change.stamp.revision, change.stamp.sub), format_record(change.entry));
  for (const auto& [id, ttl] : group.leases()) {
    if (ttl) {
      batch.Put(lease_key(id), format_ttl(*ttl));
    } else {
      batch.Delete(lease_key(id));
    }
  }
  bytes_since_ += batch.GetDataSize();
  return state_.disk->commit(batch);
}

// From now on it is there for all to see.
void Writer::show(Group& group) {
  const bool watched = watchers_.count() > 0;
  const std::int64_t before = state_.revision;
  auto& changes = group.overlay().changes();
  {
    const auto lock = state_.gate.write();
    for (const auto& [id, ttl] : group.leases())
      if (ttl) state_.leases.add(id, *ttl, state_.clock.now());
    for (auto& change : changes) {
      state_.index.apply(change, watched);
      state_.leases.move_key(change.entry.key, change.previous ? change.previous->lease : 0, change.entry.lease);
    }
    for (const auto& [id, ttl] : group.leases())
      if (!ttl) state_.leases.remove(id);
    state_.revision = group.revision();
  }
  if (changes.empty()) return;
  watchers_.publish(before + 1, group.revision(), watched ? std::make_shared<Watchers::Changes>(std::move(changes)) : nullptr);
}

void Writer::compact(Compacting& task) {
  const auto refuse = [&](Error error) { task.done.set_value(fail(std::move(error))); };
  if (task.revision <= state_.compacted) return refuse(compacted_error());
  if (task.revision > state_.revision) return refuse(future_error());
  if (auto able = state_.disk->recover(); !able) return refuse(std::move(able).error());
  rocksdb::WriteBatch batch;
  Disk::put_compacted(batch, task.revision);
  if (auto durable = state_.disk->commit(batch); !durable) return refuse(std::move(durable).error());
  {
    const auto lock = state_.gate.write();
    state_.compacted = task.revision;
  }
  sweeper_.wake();
  task.done.set_value(std::int64_t{state_.revision});
}

}  // namespace evenkeel::store::embedded::detail
