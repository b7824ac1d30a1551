#pragma once
// Latest: a shared value that one thread replaces and any thread reads. No reader waits: neither for the writer nor for another reader.
//
// The value is in one of a few slots, and `current_` says which. A reader marks the slot that it was told of, and looks whether it is still the
// current one: if so, the writer sees the mark before it touches that slot again; if not, the reader has touched nothing, and begins anew. That
// happens only when a value was set between two of its instructions. The writer uses slots that are neither current nor marked, and waits only
// if readers stand still in all of them.
// Not std::atomic<std::shared_ptr>: in libstdc++ 12 a reader unlocks it without a release, so on processors that reorder more than x86 it may read half
// of the next value; the thread sanitizer says so.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

namespace evenkeel::route::detail {

template <class T>
class Latest {
 public:
  explicit Latest(std::shared_ptr<const T> value) { slots_[0].value = std::move(value); }

  std::shared_ptr<const T> get() const {
    return read([](const std::shared_ptr<const T>& value) { return value; });
  }
  // Calls `use` with the value, which stays for the call: one counter less than get(). It must be short.
  template <class Use>
  auto read(const Use& use) const {
    while (true) {
      const std::uint32_t at = current_.load();
      const Slot& slot = slots_[at];
      const Mark mark(slot.readers);
      if (current_.load() == at) return use(slot.value);
    }
  }

  // One thread.
  void set(std::shared_ptr<const T> value) {
    const std::uint32_t was = current_.load();
    std::uint32_t next = was;
    while (next == was) {
      // What is not read any more is let go, so that old values do not stay.
      for (std::uint32_t at = 0; at < slots_.size(); ++at) {
        if (at == was || slots_[at].readers.load() != 0) continue;
        slots_[at].value.reset();
        next = at;
      }
      if (next == was) std::this_thread::yield();
    }
    slots_[next].value = std::move(value);
    current_.store(next);
  }

 private:
  struct alignas(64) Slot {
    mutable std::atomic<std::uint32_t> readers = 0;
    std::shared_ptr<const T> value;
  };
  // All in one order (seq_cst): either the reader sees that the slot is not current, or the writer sees the mark.
  class Mark {
   public:
    explicit Mark(std::atomic<std::uint32_t>& readers) : readers_(readers) { readers_.fetch_add(1); }
    ~Mark() { readers_.fetch_sub(1); }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    std::atomic<std::uint32_t>& readers_;
  };

  alignas(64) std::atomic<std::uint32_t> current_ = 0;
  std::array<Slot, 8> slots_;
};

}  // namespace evenkeel::route::detail
