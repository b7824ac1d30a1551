#pragma once
// Outbox: things that wait to be handed over, in order, one at a time, by an executor, and never after close().
//
//   auto outbox = std::make_shared<Outbox<Delivery>>(executor, [&sink](Delivery& delivery) { sink.deliver(delivery); });
//   bool due = outbox->push(delivery);        // under any lock
//   if (due) outbox->start();                 // without it
//   outbox->close();                          // waits for the one in progress, and returns what was not handed over
//
// At most one run of an outbox is in flight, so an executor of many threads keeps the order too. A run goes on until nothing is
// left, taking all that waits at a time: handing over costs one lock for a batch. (A run that gave way after some would have to
// give itself to the executor again, which never ends on one that runs things at once.)
// What is handed over must not throw: the run would be left in flight for ever, and close() would wait for it. So the process ends there
// and then, as it does in the destructor of a grant, from which much is handed over.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "evenkeel/broker/shell/session.h"

namespace evenkeel::broker::detail {

template <class Item>
class Outbox : public std::enable_shared_from_this<Outbox<Item>> {
 public:
  using Hand = std::move_only_function<void(Item&)>;

  Outbox(Executor executor, Hand hand) : executor_(std::move(executor)), hand_(std::move(hand)) {}

  // True: the caller must call start(), once, when it holds no lock.
  [[nodiscard]] bool push(Item item) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    waiting_.push_back(std::move(item));
    return !std::exchange(in_flight_, true);
  }

  void start() {
    executor_([self = this->shared_from_this()] { self->run(); });
  }

  // Those that no run has taken up yet.
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  // After it nothing is handed over. Called from inside a handing over it does not wait for that one.
  std::vector<Item> close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    if (running_ != std::this_thread::get_id()) idle_.wait(lock, [this] { return running_ == std::thread::id(); });
    std::vector<Item> left;
    left.reserve(batch_.size() - next_ + waiting_.size());
    std::move(batch_.begin() + static_cast<std::ptrdiff_t>(next_), batch_.end(), std::back_inserter(left));
    std::ranges::move(waiting_, std::back_inserter(left));
    next_ = batch_.size();
    waiting_.clear();
    return left;
  }

 private:
  void run() noexcept {
    std::unique_lock lock(mutex_);
    running_ = std::this_thread::get_id();
    while (!closed_ && !waiting_.empty()) {
      batch_.clear();
      next_ = 0;
      batch_.swap(waiting_);
      lock.unlock();
      while (next_ < batch_.size() && !closed_) {
        Item item = std::move(batch_[next_++]);
        hand_(item);
      }
      lock.lock();
    }
    running_ = std::thread::id();
    in_flight_ = false;
    lock.unlock();
    idle_.notify_all();
  }

  const Executor executor_;
  Hand hand_;  // only the run calls it
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::vector<Item> waiting_;
  bool in_flight_ = false;   // a run was given to the executor and has not ended
  std::thread::id running_;  // the thread on which the run runs, if it does
  std::atomic<bool> closed_ = false;
  // The run's own, and close()'s when none runs or it is called from inside it.
  std::vector<Item> batch_;
  std::size_t next_ = 0;
};

}  // namespace evenkeel::broker::detail
