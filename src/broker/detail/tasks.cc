#include "evenkeel/broker/detail/tasks.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "evenkeel/base/result.h"
#include "evenkeel/broker/detail/treap.h"

namespace evenkeel::broker::detail {

TaskPool::TaskPool(TaskPool&& other) noexcept { *this = std::move(other); }

TaskPool& TaskPool::operator=(TaskPool&& other) noexcept {
  std::swap(stride_, other.stride_);
  std::swap(chunks_, other.chunks_);
  std::swap(used_, other.used_);
  std::swap(free_, other.free_);
  std::swap(free_count_, other.free_count_);
  return *this;
}

TaskPool::~TaskPool() { destroy_records(); }

void TaskPool::destroy_records() {
  for (Slot slot = 0; slot < used_; ++slot) std::destroy_at(record(slot));
  used_ = free_count_ = 0;
  free_ = no_slot;
}

void TaskPool::add_chunk() { chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_records * stride_)); }

void TaskPool::set_resources(std::size_t resources, std::span<const int> from) {
  TaskPool moved;
  moved.stride_ = sizeof(TaskRecord) + resources * sizeof(std::uint64_t);
  while (moved.chunks_.size() * chunk_records < used_) moved.add_chunk();
  for (Slot slot = 0; slot < used_; ++slot) {
    new (moved.record(slot)) TaskRecord(std::move(*record(slot)));
    for (std::size_t i = 0; i < resources; ++i) {
      moved.need(slot)[i] = from[i] < 0 ? 0 : need(slot)[from[i]];
    }
  }
  moved.used_ = used_;
  moved.free_ = free_;
  moved.free_count_ = free_count_;
  *this = std::move(moved);
}

Slot TaskPool::take() {
  if (free_ != no_slot) {
    const Slot slot = free_;
    TaskRecord& task = (*this)[slot];
    free_ = std::exchange(task.next, no_slot);
    --free_count_;
    return slot;
  }
  ensure(used_ != no_slot, "fewer than 2^32 tasks");
  if (used_ == chunks_.size() * chunk_records) add_chunk();
  new (record(used_)) TaskRecord();
  return used_++;
}

void TaskPool::give_back(Slot slot) {
  TaskRecord& task = (*this)[slot];
  for (std::string* text : {&task.name, &task.cookie}) {
    if (text->capacity() > text_kept) std::string().swap(*text);
  }
  task.created = 0;
  task.next = std::exchange(free_, slot);
  ++free_count_;
  if (size() == 0 && chunks_.size() > chunks_kept) {
    destroy_records();
    chunks_.resize(chunks_kept);
  }
}

void TaskIndex::put(Entry entry) {
  std::size_t at = entry.home & mask_;
  while (entries_[at].slot != no_slot) at = (at + 1) & mask_;
  entries_[at] = entry;
}

void TaskIndex::resize(std::size_t entries) {
  std::vector<Entry> old(entries);
  std::swap(old, entries_);
  mask_ = entries - 1;
  for (const Entry& entry : old) {
    if (entry.slot != no_slot) put(entry);
  }
}

void TaskIndex::insert(std::uint32_t client, std::uint64_t id, Slot slot) {
  if (++count_ * 4 > entries_.size() * 3) resize(entries_.size() * 2);
  put({slot, home(client, id)});
}

void TaskIndex::erase(std::uint32_t client, std::uint64_t id, Slot slot) {
  std::size_t hole = home(client, id) & mask_;
  while (entries_[hole].slot != slot) hole = (hole + 1) & mask_;
  // Those after the hole move into it, unless they would come to lie before their home.
  for (std::size_t at = (hole + 1) & mask_; entries_[at].slot != no_slot; at = (at + 1) & mask_) {
    if (((at - entries_[at].home) & mask_) >= ((at - hole) & mask_)) {
      entries_[hole] = entries_[at];
      hole = at;
    }
  }
  entries_[hole] = {};
  if (--count_ == 0 && entries_.size() > (std::size_t{1} << 16)) resize(least);
}

namespace {

struct WaitingNodes {
  static constexpr bool sums = false;
  TaskPool* tasks;

  Slot& left(Slot slot) const { return (*tasks)[slot].left; }
  Slot& right(Slot slot) const { return (*tasks)[slot].right; }
  Slot& parent(Slot slot) const { return (*tasks)[slot].parent; }
  std::uint64_t height(Slot slot) const {
    std::uint64_t mixed = (*tasks)[slot].created * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93u;
    return mixed ^ (mixed >> 29);
  }
};

bool before(const TaskRecord& a, const TaskRecord& b) {
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.submitted != b.submitted) return a.submitted < b.submitted;
  return a.created < b.created;
}

}  // namespace

Slot WaitingOrder::next(const TaskPool& tasks, Slot slot) const {
  Slot root = root_;
  return Treap<WaitingNodes>({const_cast<TaskPool*>(&tasks)}, root).next(slot);  // it only reads
}

void WaitingOrder::insert(TaskPool& tasks, Slot slot) {
  const TaskRecord& task = tasks[slot];
  Slot at = root_;
  if (root_ == no_slot) {
    first_ = last_ = slot;
  } else if (before(tasks[last_], task)) {
    at = std::exchange(last_, slot);
  } else if (before(task, tasks[first_])) {
    at = std::exchange(first_, slot);
  } else {
    for (Slot down = root_; down != no_slot; down = before(task, tasks[at]) ? tasks[at].left : tasks[at].right) at = down;
  }
  ++size_;
  Treap<WaitingNodes>({&tasks}, root_).insert(slot, at, at != no_slot && before(task, tasks[at]));
}

void WaitingOrder::erase(TaskPool& tasks, Slot slot) {
  Treap<WaitingNodes> treap({&tasks}, root_);
  if (slot == first_) first_ = treap.next(slot);
  if (slot == last_) last_ = treap.previous(slot);
  --size_;
  treap.erase(slot);
}

}  // namespace evenkeel::broker::detail
