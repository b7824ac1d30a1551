#pragma once
// The ordered set of pending callbacks under both loops: an indexed 4-ary heap by (due, order of posting).
//
// Slots are recycled, each with a generation, so that a stale handle cancels nothing. Cancel removes at once: a service that sets
// and cancels a time-out per request keeps no dead entries. Not thread-safe; the real loop holds its lock around it.

#include <cstddef>
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
  // 16 bytes, so that the four children of a node are 64 together: with a million pending about a tenth faster, in noisy runs, than
  // with the order of posting inside. That is asked for only where times are equal. Sinking the hole to a leaf first pays nothing here.
  struct Entry {
    Instant due;
    std::uint32_t slot;
  };
  struct Slot {
    Loop::Callback callback;  // callable exactly while pending
    std::uint32_t generation = 1;
  };

  bool before(const Entry& a, const Entry& b) const { return a.due != b.due ? a.due < b.due : orders_[a.slot] < orders_[b.slot]; }
  void put(std::size_t at, const Entry& entry);
  void sift_up(std::size_t at, const Entry& entry);
  void sift_down(std::size_t at, const Entry& entry);
  Loop::Callback take(std::size_t at);

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  // Where each slot's entry is in heap_, while it is pending. Apart from the slots, since every move inside the heap writes one of
  // these: four bytes each stay in the cache where whole slots would not.
  std::vector<std::uint32_t> heap_at_;
  std::vector<std::uint64_t> orders_;  // by slot: the count of posts when it was posted
  std::vector<std::uint32_t> free_;
  std::uint64_t order_ = 0;
};

}  // namespace evenkeel::detail
