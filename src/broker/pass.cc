// What grants: tasks wait and run, queues are charged, and a pass gives what is free to whose turn it is.

#include "evenkeel/broker/detail/core.h"

namespace evenkeel::broker {

using detail::no_queue;
using detail::no_slot;

UInt128 Scheduler::Core::part(QueueIndex q, Slot slot, Time now) const {
  const auto& task = tasks_[slot];
  const Time passed = now - task.since;
  const std::uint64_t planned = tasks_.details(slot).planned_duration;
  if (passed >= planned) return 0;
  return detail::multiply(scale_.rate(q, tasks_.need(slot)), planned - passed);
}

// Adds a running task's need to what node, queue and type hold, or takes it away. The queue's line goes on at its new rate.
void Scheduler::Core::hold(QueueIndex q, std::uint32_t type, const std::uint64_t* need, bool more, Time now) {
  const std::size_t resources = resources_.size();
  UInt128* const of_queue = queue_used_.data() + q * resources;
  UInt128* const of_type = type_used_.data() + type * resources;
  UInt128* const of_node = used_.data();
  const std::uint64_t* const limits = limits_.data();
  std::uint64_t* const free = free_.data();
  for (std::size_t i = 0; i < resources; ++i) {
    if (need[i] == 0) continue;
    const UInt128 change = more ? UInt128{need[i]} : -UInt128{need[i]};
    of_queue[i] += change;
    of_type[i] += change;
    of_node[i] += change;
    const bool over = of_node[i] > limits[i];
    free[i] = over ? 0 : limits[i] - static_cast<std::uint64_t>(of_node[i]);
    const detail::ResourceSet others = ~(detail::ResourceSet{1} << i);
    over_ = (over_ & others) | detail::ResourceSet{over} << i;
    exhausted_ = (exhausted_ & others) | detail::ResourceSet{free[i] == 0} << i;
  }
  detail::Line& line = lines_[q];
  line.settle(now);
  line.rate = scale_.rate(q, of_queue);
  touch(q);
}

void Scheduler::Core::start_running(Slot slot, Time now) {
  const std::uint32_t type = type_of(slot);
  const QueueIndex q = types_[type].queue;
  tasks_[slot].running = true;
  ++running_;
  ++queues_[q].running;
  ++types_[type].infly;
  hold(q, type, tasks_.need(slot), true, now);
  detail::Line& line = lines_[q];
  line.planned = detail::add(std::max(line.planned, line.real), part(q, slot, now));
  line.note_plan();
}

void Scheduler::Core::stop_running(Slot slot, Time now) {
  const std::uint32_t type = type_of(slot);
  const QueueIndex q = types_[type].queue;
  tasks_[slot].running = false;
  --running_;
  --queues_[q].running;
  --types_[type].infly;
  hold(q, type, tasks_.need(slot), false, now);
  detail::Line& line = lines_[q];
  line.planned = std::max(detail::subtract(line.planned, part(q, slot, now)), line.real);
  line.note_plan();
}

void Scheduler::Core::link_running(Slot slot) {
  tasks_[slot].left = std::exchange(last_running_, slot);
  tasks_[slot].right = no_slot;
  (tasks_[slot].left == no_slot ? first_running_ : tasks_[tasks_[slot].left].right) = slot;
}

void Scheduler::Core::unlink_running(Slot slot) {
  const auto& task = tasks_[slot];
  (task.left == no_slot ? first_running_ : tasks_[task.left].right) = task.right;
  (task.right == no_slot ? last_running_ : tasks_[task.right].left) = task.left;
}

// A queue in which none waited starts level with the poorest that waits: it has no claim on the time it did not ask for.
void Scheduler::Core::lift(QueueIndex q, Time now) {
  const detail::Line* const lines = lines_.data();
  for (const QueueIndex stale : stale_) {
    least_real_.set(lines, stale, queues_[stale].waiting.size() != 0, now);
    marks_[stale] &= static_cast<std::uint8_t>(~is_stale);
  }
  stale_.clear();
  const QueueIndex poorest = least_real_.first(lines, now);
  if (poorest == no_queue) return;
  detail::Line& line = lines_[q];
  line.settle(now);
  line.real = std::max(line.real, lines[poorest].real_at(now));
  line.note_plan();
}

void Scheduler::Core::enqueue(Slot slot, Comes comes, Time now) {
  const std::uint32_t type = type_of(slot);
  const QueueIndex q = types_[type].queue;
  if (comes == Comes::from_outside && queues_[q].waiting.size() == 0) lift(q, now);
  queues_[q].waiting.insert(tasks_, slot);
  ++types_[type].enqueued;
  ++waiting_;
  if (queues_[q].waiting.first() == slot) touch(q);
}

void Scheduler::Core::dequeue(Slot slot) {
  const std::uint32_t type = type_of(slot);
  const QueueIndex q = types_[type].queue;
  if (queues_[q].waiting.first() == slot) touch(q);
  queues_[q].waiting.erase(tasks_, slot);
  --types_[type].enqueued;
  --waiting_;
}

void Scheduler::Core::touch(QueueIndex q) {
  std::uint8_t& mark = marks_[q];
  if ((mark & is_touched) == 0) touched_.push_back(q);
  if ((mark & is_stale) == 0) stale_.push_back(q);
  mark = is_touched | is_stale;
}

bool Scheduler::Core::fits(std::span<const std::uint64_t> need) const {
  if (over_ != 0) return false;
  for (std::size_t i = 0; i < need.size(); ++i) {
    if (need[i] > free_[i]) return false;
  }
  return true;
}

bool Scheduler::Core::fits_queue(QueueIndex q, std::span<const std::uint64_t> need) const {
  const UInt128* const used = queue_used_.data() + q * need.size();
  const std::uint64_t* const limits = queue_limits_.data() + q * need.size();
  for (std::size_t i = 0; i < need.size(); ++i) {
    if (need[i] + used[i] > limits[i]) return false;
  }
  return true;
}

void Scheduler::Core::arrange(QueueIndex q, Time now) {
  const Queue& queue = queues_[q];
  const Slot head = queue.waiting.first();
  if (head == no_slot) return turns_.clear(lines_.data(), q, now);
  tasks_.prefetch(tasks_[head].parent);  // most often the next
  const auto need = need_of(head);
  turns_.set(lines_.data(), q, need, queue.running != 0 && !fits_queue(q, need), now);
}

void Scheduler::Core::grant(Slot slot, Time now) {
  auto& task = tasks_[slot];
  Type& type = types_[type_of(slot)];
  queues_[type.queue].in_queue.add(now - task.since);
  type.in_queue.add(now - task.since);
  task.since = now;
  tasks_.details(slot).planned_duration = type.mean;
  link_running(slot);
  start_running(slot, now);
  if (!task.instant) {
    events_.push_back({.kind = Event::Kind::allocated,
                       .client = ClientId(task.client),
                       .task = TaskId(task.id),
                       .cookie = task.texts != 0 ? std::string_view(tasks_.details(slot).cookie) : std::string_view()});
  }
}

// Where nothing waits, a new task is the whole pass: it lifts nothing and stands in nobody's way. True if it was granted.
bool Scheduler::Core::grant_at_once(Slot slot, Time now) {
  if (waiting_ != 0) return false;
  const QueueIndex q = queue_of(slot);
  if ((running_ != 0 && !fits(need_of(slot))) || (queues_[q].running != 0 && !fits_queue(q, need_of(slot)))) return false;
  grant(slot, now);
  return true;
}

// Brings the turns of all queues that changed up to date.
void Scheduler::Core::arrange_touched(Time now) {
  for (const QueueIndex q : touched_) turns_.set_aside(lines_.data(), q, now);
  for (const QueueIndex q : touched_) {
    arrange(q, now);
    marks_[q] &= static_cast<std::uint8_t>(~is_touched);
  }
  touched_.clear();
}

// True if no waiting task can fit the node: more is used of something than there is, or every first task needs something of which
// nothing is left.
bool Scheduler::Core::nothing_fits() const { return over_ != 0 || (exhausted_ != 0 && turns_.all_need_any_of(exhausted_)); }

// Each round looks at the first queue that can change anything: its task is granted, or keeps back the resources it needs, and with them
// every queue that needs one of these. Keys and used amounts only grow in a pass: who was passed over does not come again, and a stopped
// queue that had its turn while its task still fitted the node keeps nothing back, hence the cursor.
void Scheduler::Core::pass(Time now) {
  if (waiting_ == 0) return;
  detail::ResourceSet blocked = 0;
  detail::Cursor from;
  const std::span<const std::uint64_t> free = options_.queue_limit_first ? std::span<const std::uint64_t>() : free_;
  for (;;) {
    arrange_touched(now);
    if (running_ != 0 && nothing_fits()) return;
    const QueueIndex q = turns_.first(lines_.data(), blocked, from, free, now);
    if (q == no_queue) return;
    const auto need = need_of(queues_[q].waiting.first());
    if (!turns_.stopped(q) && (running_ == 0 || fits(need))) {
      from = {lines_[q].key_at(now), q};
      const Slot head = queues_[q].waiting.first();
      dequeue(head);
      grant(head, now);
    } else {
      blocked |= detail::set_of(need);
    }
  }
}

}  // namespace evenkeel::broker
