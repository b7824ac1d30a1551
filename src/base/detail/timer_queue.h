#pragma once
// The ordered set of pending callbacks under both loops: an indexed 4-ary heap by (due, order of posting).
//
// Slots are recycled, each with a generation, so that a stale handle cancels nothing. Cancel removes at once: a service that sets
// and cancels a time-out per request keeps no dead entries. Not thread-safe; the real loop holds its lock around it.

#include <cstdint>
#include <vector>

#include "evenkeel/base/loop.h"

namespace evenkeel::detail {

class TimerQueue {
 public:
  Timer add(Instant due, Loop::Callback callback);
  // The callback if it was still pending (so that the caller destroys it where it wants), else an empty one.
  Loop::Callback remove(Timer timer);

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  Instant next_due() const { return heap_.front().due; }
  // Takes the first callback out. Only if not empty().
  Loop::Callback pop();

 private:
  struct Entry {
    Instant due;
    std::uint64_t order;
    std::uint32_t slot;
    bool before(const Entry& other) const { return due != other.due ? due < other.due : order < other.order; }
  };
  struct Slot {
    Loop::Callback callback;
    std::uint32_t generation = 1;
    std::uint32_t heap_at = 0;  // where its entry is in heap_, while pending
    bool pending = false;
  };

  void place(std::size_t at, Entry entry);
  void sift_up(std::size_t at, Entry entry);
  void sift_down(std::size_t at, Entry entry);
  Loop::Callback take(std::size_t at);

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t order_ = 0;
};

}  // namespace evenkeel::detail
