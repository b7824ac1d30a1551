#pragma once
// State: what the engine's threads share. Readers hold the gate shared, who changes it holds it alone; only the writer changes the index's
// latest values and the revision, so the writer itself may read them without.

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "evenkeel/store/backends/embedded/detail/disk.h"
#include "evenkeel/store/backends/embedded/detail/evaluate.h"
#include "evenkeel/store/backends/embedded/detail/leases.h"

namespace evenkeel::store::embedded::detail {

// A shared mutex where readers queue up behind a writer that waits: the standard's may let them pass for ever.
class Gate {
 public:
  std::shared_lock<std::shared_mutex> read() const {
    const std::lock_guard turn(turn_);
    return std::shared_lock(mutex_);
  }
  std::unique_lock<std::shared_mutex> write() const {
    const std::lock_guard turn(turn_);
    return std::unique_lock(mutex_);
  }

 private:
  mutable std::mutex turn_;
  mutable std::shared_mutex mutex_;
};

struct State {
  EngineOptions options;
  BootClock boot_clock;
  const Clock& clock;
  std::unique_ptr<Disk> disk;
  Gate gate;
  Index index;
  std::atomic<std::int64_t> revision = 1;
  std::atomic<std::int64_t> compacted = 0;
  std::atomic<bool> full = false;
  Leases leases;
  std::uint64_t cluster_id = 0, member_id = 0;
  bool opened = false;  // it has been read from the disk

  explicit State(const EngineOptions& given) : options(given), clock(given.clock != nullptr ? *given.clock : boot_clock) {}

  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  // A record that was there when the index said so may be gone by now, if it was compacted.
  Result<KeyValue> fetch(Stamp stamp, std::int64_t wanted) const;
  std::optional<KeyValue> at(const std::string& key, std::int64_t wanted) const;
};

}  // namespace evenkeel::store::embedded::detail
