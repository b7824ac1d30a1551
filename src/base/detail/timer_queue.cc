#include "evenkeel/base/detail/timer_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "evenkeel/base/result.h"

namespace evenkeel::detail {

namespace {

// Four children a node: half the levels of a binary heap, and the children's entries (64 bytes) lie in one or two cache lines.
constexpr std::size_t arity = 4;
constexpr std::size_t slots_max = std::numeric_limits<std::uint32_t>::max();

std::size_t parent(std::size_t at) { return (at - 1) / arity; }
std::size_t first_child(std::size_t at) { return at * arity + 1; }

}  // namespace

Timer TimerQueue::add(Instant due, Loop::Callback callback) {
  ensure(static_cast<bool>(callback), "what is posted can be called");
  if (free_.empty()) {
    ensure(slots_.size() < slots_max, "at most 2^32 - 1 timers are pending");
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
    heap_at_.push_back(0);
    orders_.push_back(0);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot].callback = std::move(callback);
  orders_[slot] = order_++;
  heap_.emplace_back();
  sift_up(heap_.size() - 1, Entry{due, slot});
  return Timer{slot, slots_[slot].generation};
}

Loop::Callback TimerQueue::remove(Timer timer) {
  if (timer.slot >= slots_.size()) return {};
  const Slot& slot = slots_[timer.slot];
  if (slot.generation != timer.generation || !slot.callback) return {};
  return take(heap_at_[timer.slot]);
}

Loop::Callback TimerQueue::pop() {
  ensure(!empty(), "pop is called on a queue that has something");
  return take(0);
}

// Takes the entry at `at` out: the last one fills the hole and finds its place, above or below.
Loop::Callback TimerQueue::take(std::size_t at) {
  const std::uint32_t index = heap_[at].slot;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (at < heap_.size()) {
    if (at > 0 && before(last, heap_[parent(at)])) {
      sift_up(at, last);
    } else {
      sift_down(at, last);
    }
  }
  Slot& slot = slots_[index];
  if (++slot.generation == 0) slot.generation = 1;  // 0 is the handle that names nothing
  free_.push_back(index);
  return std::exchange(slot.callback, nullptr);
}

void TimerQueue::put(std::size_t at, const Entry& entry) {
  heap_[at] = entry;
  heap_at_[entry.slot] = static_cast<std::uint32_t>(at);
}

void TimerQueue::sift_up(std::size_t at, const Entry& entry) {
  while (at > 0 && before(entry, heap_[parent(at)])) {
    put(at, heap_[parent(at)]);
    at = parent(at);
  }
  put(at, entry);
}

void TimerQueue::sift_down(std::size_t at, const Entry& entry) {
  for (std::size_t child = first_child(at); child < heap_.size(); child = first_child(at)) {
    const std::size_t end = std::min(child + arity, heap_.size());
    std::size_t least = child;
    for (std::size_t other = child + 1; other < end; ++other) {
      if (before(heap_[other], heap_[least])) least = other;
    }
    if (!before(heap_[least], entry)) break;
    put(at, heap_[least]);
    at = least;
  }
  put(at, entry);
}

}  // namespace evenkeel::detail
