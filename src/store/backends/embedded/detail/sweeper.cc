#include "evenkeel/store/backends/embedded/detail/sweeper.h"

#include <algorithm>

namespace evenkeel::store::embedded::detail {
namespace {

constexpr std::size_t keys_at_once = 2000;  // about a millisecond in which nobody reads

}  // namespace

Sweeper::Sweeper(State& state, std::int64_t done) : state_(state), done_(done), thread_([this] { run(); }) {}

Sweeper::~Sweeper() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Sweeper::wake() {
  const std::lock_guard lock(mutex_);
  failed_ = 0;
  changed_.notify_all();
}

Result<> Sweeper::wait(std::int64_t compacted) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || done_ >= compacted || failed_ >= compacted; });
  if (done_ >= compacted) return {};
  return fail(Code::unavailable, "compacted, but what is old is still on the disk: {}",
              stop_ ? "the store is being closed" : why_);
}

void Sweeper::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || std::max(done_, failed_) < state_.compacted; });
    if (stop_) return;
    const std::int64_t compacted = state_.compacted;
    lock.unlock();
    const auto swept = sweep(compacted);
    lock.lock();
    if (swept) {
      done_ = compacted;
    } else {
      failed_ = compacted;
      why_ = swept.error().message;
    }
    changed_.notify_all();
  }
}

Result<> Sweeper::sweep(std::int64_t compacted) {
  std::optional<std::string> at = "";
  while (at) {
    std::vector<Stamp> removed;
    {
      const auto lock = state_.gate.write();
      at = state_.index.prune(*at, keys_at_once, compacted, removed);
    }
    if (!removed.empty())
      if (auto good = state_.disk->remove(removed); !good) return good;
    const std::lock_guard lock(mutex_);
    if (stop_) return fail(Code::cancelled, "the store is being closed");
  }
  if (auto good = state_.disk->set_removed(compacted); !good) return good;
  // Nothing is written to a store that is full, so that nothing else would bring RocksDB to give back what was removed.
  if (state_.full) return state_.disk->defragment();
  return {};
}

}  // namespace evenkeel::store::embedded::detail
