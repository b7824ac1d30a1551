#include "evenkeel/store/backends/etcd/detail/pump.h"

#include <deque>
#include <unordered_set>
#include <utility>

namespace evenkeel::store::etcd::detail {

struct Pump::Event {
  std::shared_ptr<void> keep;
  grpc::ClientContext* context;  // in `keep`
  Then then;
  Ahead ahead;
  bool ok = false;
};

// What is under way and what came back. It outlives the pump where a drain is still posted.
struct Pump::Inbox {
  Loop& loop;  // there until the pump is gone, and with it all that could be posted
  std::mutex mutex;
  std::unordered_set<Event*> with_grpc;
  std::deque<std::unique_ptr<Event>> returned;
  bool posted = false;  // a drain is, or runs

  std::deque<std::unique_ptr<Event>> running;  // of the loop's thread alone: what a drain has taken out
};

Pump::Pump(Loop& loop) : loop_(loop), inbox_(new Inbox{loop}), thread_([this] { run(); }) {}

Pump::~Pump() {
  {
    const std::scoped_lock gate(gate_);
    closed_ = true;
  }
  // From here on the thread only empties the queue.
  for (Event* event : inbox_->with_grpc) event->context->TryCancel();
  queue_.Shutdown();
  thread_.join();
  for (Event* event : inbox_->with_grpc) delete event;
  inbox_->with_grpc.clear();
  inbox_->returned.clear();
  inbox_->running.clear();
}

void* Pump::event(std::shared_ptr<void> keep, grpc::ClientContext* context, Then then, Ahead ahead) {
  auto* event = new Event{std::move(keep), context, std::move(then), std::move(ahead)};
  const std::scoped_lock lock(inbox_->mutex);
  inbox_->with_grpc.insert(event);
  return event;
}

void Pump::run() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    const std::scoped_lock gate(gate_);
    if (closed_) continue;
    auto* event = static_cast<Event*>(tag);
    event->ok = ok;
    if (ok && event->ahead) event->ahead();
    {
      const std::scoped_lock lock(inbox_->mutex);
      inbox_->with_grpc.erase(event);
      inbox_->returned.emplace_back(event);
      if (std::exchange(inbox_->posted, true)) continue;
    }
    loop_.post([inbox = inbox_] { drain(inbox); });
  }
}

// What is there now; what comes meanwhile waits its turn behind the loop's other work. A callback may destroy the pump, and what is left.
void Pump::drain(const std::shared_ptr<Inbox>& inbox) {
  {
    const std::scoped_lock lock(inbox->mutex);
    inbox->running.swap(inbox->returned);
  }
  while (!inbox->running.empty()) {
    const auto event = std::move(inbox->running.front());
    inbox->running.pop_front();
    event->then(event->ok);
  }
  const std::scoped_lock lock(inbox->mutex);
  inbox->posted = !inbox->returned.empty();
  if (inbox->posted) inbox->loop.post([inbox] { drain(inbox); });
}

}  // namespace evenkeel::store::etcd::detail
