#pragma once
// Where tasks live: records in a pool, found by (client, id), and linked into their queue's order and their client's list.
//
// A task is a slot number. Records do not move, are used again, and keep the capacity of their texts, so that a broker that is warm
// allocates nothing. What a pass looks at is apart from what it does not: of a million waiting tasks nearly all are in no cache, and a
// record with its need, one word a resource, is one line of it (for two resources).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "evenkeel/broker/detail/line.h"

namespace evenkeel::broker::detail {

using Slot = std::uint32_t;
inline constexpr Slot no_slot = ~Slot{0};

struct TaskRecord {
  std::uint64_t id = 0;
  std::uint64_t created = 0;  // counts all tasks ever made; 0: not in use
  std::uint64_t since = 0;    // running: its start; waiting: when it began to wait
  // While waiting, in the queue's order; while running, left and right in the order of starts; while not in use, left to the next.
  Slot left = no_slot;
  Slot right = no_slot;
  Slot parent = no_slot;
  std::uint32_t client = 0;
  std::uint32_t position = 0;   // in the client's list
  std::uint32_t kind : 29 = 0;  // the type's name, see Kinds
  std::uint32_t running : 1 = 0;
  std::uint32_t texts : 1 = 0;    // it has a name or a cookie; without one they are not even looked at
  std::uint32_t instant : 1 = 0;  // to be granted in this pass, without an event, or dropped
};
static_assert(sizeof(TaskRecord) == 48);

struct TaskDetails {
  std::uint64_t priority = 0;
  std::uint64_t submitted = 0;
  std::uint64_t planned_duration = 0;  // running: planned finish - start
  std::string cookie;
  std::string name;
};

class TaskPool {
 public:
  TaskPool() = default;
  TaskPool(TaskPool&&) = delete;
  ~TaskPool() { destroy_details(); }

  // For tasks of so many resources. Those there keep their slots; `from[i]` is the old index of the new resource i, or -1.
  void set_resources(std::size_t resources, std::span<const int> from);

  Slot take();  // a record with whatever it had before; its need is not set
  void give_back(Slot slot);

  TaskRecord& operator[](Slot slot) { return *record(slot); }
  const TaskRecord& operator[](Slot slot) const { return *record(slot); }
  TaskDetails& details(Slot slot) { return *detail(slot); }
  const TaskDetails& details(Slot slot) const { return *detail(slot); }
  std::uint64_t* need(Slot slot) const { return reinterpret_cast<std::uint64_t*>(record(slot) + 1); }
  // Starts to bring what a pass would look at into the caches.
  void prefetch(Slot slot) const {
    if (slot != no_slot) __builtin_prefetch(record(slot));
  }

  std::size_t size() const { return used_ - free_count_; }
  Slot slots() const { return used_; }  // all slots ever used are below
  bool is_used(Slot slot) const { return record(slot)->created != 0; }

 private:
  static constexpr std::size_t chunk_records = 1024;
  // When all tasks are gone, so much is kept for the next ones.
  static constexpr std::size_t chunks_kept = 16;
  // What a text may keep between two uses of its record.
  static constexpr std::size_t text_kept = 256;
  static constexpr std::size_t cache_line = 64;

  struct Release {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t(cache_line)); }
  };
  using Block = std::unique_ptr<std::byte[], Release>;
  static Block make_block(std::size_t bytes) { return Block(new (std::align_val_t(cache_line)) std::byte[bytes]); }

  TaskRecord* record(Slot slot) const {
    return reinterpret_cast<TaskRecord*>(records_.data()[slot / chunk_records].get() + slot % chunk_records * stride_);
  }
  TaskDetails* detail(Slot slot) const {
    return reinterpret_cast<TaskDetails*>(details_.data()[slot / chunk_records].get()) + slot % chunk_records;
  }
  void destroy_details();

  std::size_t stride_ = sizeof(TaskRecord);
  std::vector<Block> records_;
  std::vector<Block> details_;
  Slot used_ = 0;
  Slot free_ = no_slot;  // linked through `left`
  Slot free_count_ = 0;
};

// (client, id) -> slot. Open addressing without tombstones, so that no operation ever has to clean up after many others. (Keeping ids
// that follow each other in one cache line was tried: full lines collide as wholes, and long searches cost more than the misses saved.)
class TaskIndex {
 public:
  Slot find(const TaskPool& tasks, std::uint32_t client, std::uint64_t id) const {
    const Entry* const entries = entries_.data();
    for (std::size_t at = home(client, id);; ++at) {
      const Entry& entry = entries[at & mask_];
      if (entry.slot == no_slot) return no_slot;
      const TaskRecord& task = tasks[entry.slot];
      if (task.id == id && task.client == client) return entry.slot;
    }
  }
  void insert(std::uint32_t client, std::uint64_t id, Slot slot);
  void erase(std::uint32_t client, std::uint64_t id, Slot slot);

 private:
  struct Entry {
    Slot slot = no_slot;
    std::uint32_t home = 0;  // the hash: where it would be in a table of any size
  };

  static std::uint32_t home(std::uint32_t client, std::uint64_t id) {
    const std::uint64_t mixed = (id ^ (std::uint64_t{client} << 40)) * 0x9E3779B97F4A7C15u + client;
    return static_cast<std::uint32_t>((mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93u >> 32);
  }
  void put(Entry entry);
  void resize(std::size_t entries);

  static constexpr std::size_t least = 64;
  std::vector<Entry> entries_ = std::vector<Entry>(least);
  std::size_t mask_ = least - 1;
  std::size_t count_ = 0;
};

// A queue's waiting tasks in order: priority, then submit time, then creation. Tasks are made at the time of their submit, so the last
// two are one and the same order. A treap whose heap order is a mixture of the creation number. Both ends are kept at hand, so that
// what comes last and leaves first, as most tasks do, costs the same however many wait.
class WaitingOrder {
 public:
  Slot first() const { return first_; }
  std::size_t size() const { return size_; }
  void insert(TaskPool& tasks, Slot slot);
  void erase(TaskPool& tasks, Slot slot);
  // The one after, or no_slot.
  Slot next(const TaskPool& tasks, Slot slot) const;

 private:
  Slot root_ = no_slot;
  Slot first_ = no_slot;
  Slot last_ = no_slot;
  std::size_t size_ = 0;
};

}  // namespace evenkeel::broker::detail
