#include "evenkeel/store/backends/etcd/detail/pump.h"

#include <deque>
#include <mutex>
#include <utility>

namespace evenkeel::store::etcd::detail {

struct Pump::Event {
  std::shared_ptr<void> keep;
  grpc::ClientContext* context;  // in `keep`
  Then then;
  Pump* home;  // of the loop's thread alone; null: nobody waits for it any more
};

// What came back and has not run. It outlives the pump where a drain is still posted.
struct Pump::Inbox {
  Loop& loop;  // there until the inbox is closed
  std::mutex mutex;
  std::deque<std::pair<Event*, bool>> returned;
  bool posted = false;  // a drain is, or runs
  bool closed = false;
};

Pump::Pump(Loop& loop) : loop_(loop), inbox_(new Inbox{loop}), thread_([this] { run(); }) {}

Pump::~Pump() {
  for (Event* event : events_) {
    event->then = nullptr;  // here, so that what callers captured is destroyed on their thread
    event->home = nullptr;
    event->context->TryCancel();
  }
  {
    const std::scoped_lock lock(inbox_->mutex);
    inbox_->closed = true;
    for (auto& [event, ok] : inbox_->returned) delete event;
    inbox_->returned.clear();
  }
  queue_.Shutdown();
  thread_.join();
}

void* Pump::event(std::shared_ptr<void> keep, grpc::ClientContext* context, Then then) {
  auto* event = new Event{std::move(keep), context, std::move(then), this};
  events_.insert(event);
  return event;
}

void Pump::run() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    auto* event = static_cast<Event*>(tag);
    std::unique_lock lock(inbox_->mutex);
    if (inbox_->closed) {
      lock.unlock();
      delete event;
      continue;
    }
    inbox_->returned.emplace_back(event, ok);
    if (std::exchange(inbox_->posted, true)) continue;
    loop_.post([inbox = inbox_] { drain(inbox); });  // under the lock: the loop is there until the inbox is closed
  }
}

// What is there now; what comes meanwhile waits its turn behind the loop's other work.
void Pump::drain(const std::shared_ptr<Inbox>& inbox) {
  std::unique_lock lock(inbox->mutex);
  for (std::size_t left = inbox->returned.size(); left > 0 && !inbox->returned.empty(); --left) {
    const std::unique_ptr<Event> event(inbox->returned.front().first);
    const bool ok = inbox->returned.front().second;
    inbox->returned.pop_front();
    lock.unlock();
    event->home->events_.erase(event.get());
    event->then(ok);
    lock.lock();
  }
  inbox->posted = !inbox->returned.empty();
  if (inbox->posted) inbox->loop.post([inbox] { drain(inbox); });
}

}  // namespace evenkeel::store::etcd::detail
