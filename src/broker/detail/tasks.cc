#include "evenkeel/broker/detail/tasks.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "evenkeel/base/result.h"
#include "evenkeel/broker/detail/treap.h"

namespace evenkeel::broker::detail {

void TaskPool::destroy_details() {
  for (Slot slot = 0; slot < used_; ++slot) std::destroy_at(detail(slot));
  used_ = free_count_ = 0;
  free_ = no_slot;
}

void TaskPool::set_resources(std::size_t resources, std::span<const int> from) {
  const std::size_t stride = sizeof(TaskRecord) + resources * sizeof(std::uint64_t);
  std::vector<Block> moved;
  for (std::size_t i = 0; i < records_.size(); ++i) moved.push_back(make_block(chunk_records * stride));
  for (Slot slot = 0; slot < used_; ++slot) {
    std::byte* const to = moved[slot / chunk_records].get() + slot % chunk_records * stride;
    auto* const needs = reinterpret_cast<std::uint64_t*>(new (to) TaskRecord(*record(slot)) + 1);
    for (std::size_t i = 0; i < resources; ++i) needs[i] = from[i] < 0 ? 0 : need(slot)[from[i]];
  }
  records_ = std::move(moved);
  stride_ = stride;
}

Slot TaskPool::take() {
  if (free_ != no_slot) {
    --free_count_;
    return std::exchange(free_, (*this)[free_].left);
  }
  ensure(used_ != no_slot, "fewer than 2^32 tasks");
  if (used_ == records_.size() * chunk_records) {
    records_.push_back(make_block(chunk_records * stride_));
    details_.push_back(make_block(chunk_records * sizeof(TaskDetails)));
  }
  new (record(used_)) TaskRecord();
  new (detail(used_)) TaskDetails();
  return used_++;
}

void TaskPool::give_back(Slot slot) {
  TaskRecord& task = (*this)[slot];
  if (task.texts != 0) {
    for (std::string* text : {&details(slot).name, &details(slot).cookie}) {
      text->clear();
      if (text->capacity() > text_kept) text->shrink_to_fit();
    }
  }
  task.created = 0;
  task.left = std::exchange(free_, slot);
  ++free_count_;
  if (size() == 0 && records_.size() > chunks_kept) {
    destroy_details();
    records_.resize(chunks_kept);
    details_.resize(chunks_kept);
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
  if (++count_ * 8 > entries_.size() * 5) resize(entries_.size() * 2);
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

bool before(const TaskPool& tasks, Slot a, Slot b) {
  const std::uint64_t priority_a = tasks.details(a).priority, priority_b = tasks.details(b).priority;
  return priority_a != priority_b ? priority_a < priority_b : tasks[a].created < tasks[b].created;
}

}  // namespace

Slot WaitingOrder::next(const TaskPool& tasks, Slot slot) const {
  Slot root = root_;
  return Treap<WaitingNodes>({const_cast<TaskPool*>(&tasks)}, root).next(slot);  // it only reads
}

void WaitingOrder::insert(TaskPool& tasks, Slot slot) {
  Slot at = root_;
  bool as_left = false;
  if (root_ == no_slot) {
    first_ = last_ = slot;
  } else if (before(tasks, last_, slot)) {
    at = std::exchange(last_, slot);
  } else if (before(tasks, slot, first_)) {
    at = std::exchange(first_, slot);
    as_left = true;
  } else {
    for (Slot down = root_; down != no_slot; down = as_left ? tasks[at].left : tasks[at].right) {
      at = down;
      as_left = before(tasks, slot, at);
    }
  }
  ++size_;
  Treap<WaitingNodes>({&tasks}, root_).insert(slot, at, as_left);
}

void WaitingOrder::erase(TaskPool& tasks, Slot slot) {
  Treap<WaitingNodes> treap({&tasks}, root_);
  if (slot == first_) first_ = treap.next(slot);
  if (slot == last_) last_ = treap.previous(slot);
  --size_;
  treap.erase(slot);
}

}  // namespace evenkeel::broker::detail
