#pragma once
// Pump: brings gRPC's events to the loop.
//
// gRPC's asynchronous calls hand back a tag when something is done. One thread of ours waits for tags and does nothing else: what is to
// happen then runs on the loop. So all of the client's state belongs to the loop's thread, without a lock. Only a stream's reader asks for its
// next message on that thread, before the loop has seen the last: else each message would cost two threads a turn.
//
//   pump.event(exchange, &exchange->context, [this](bool ok) { … })        // the tag to hand to gRPC
//
// Destroyed, on the loop's thread, it cancels the calls under way and waits until gRPC has let go of them, which takes no answer of any
// server; nothing is called any more. A callback may destroy it.

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "evenkeel/base/loop.h"

namespace evenkeel::store::etcd::detail {

class Pump {
 public:
  using Then = std::move_only_function<void(bool ok)>;
  using Ahead = std::move_only_function<void()>;

  explicit Pump(Loop& loop);
  ~Pump();
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  // What gRPC hands back once. `keep` lives until then: the call's context, and where its answer is written. `ahead` runs before `then`, on
  // the pump's thread, if it is handed back as good; it may ask for another event. All three are destroyed on the loop's thread.
  void* event(std::shared_ptr<void> keep, grpc::ClientContext* context, Then then, Ahead ahead = {});
  grpc::CompletionQueue* queue() { return &queue_; }

 private:
  struct Event;
  struct Inbox;
  void run();
  static void drain(const std::shared_ptr<Inbox>& inbox);

  Loop& loop_;
  grpc::CompletionQueue queue_;
  std::mutex gate_;  // held by the thread while it may call anybody
  bool closed_ = false;
  std::shared_ptr<Inbox> inbox_;
  std::jthread thread_;
};

// Delays that end with their owner: what is posted by one runs only while it lives.
class Delays {
 public:
  explicit Delays(Loop& loop) : loop_(loop), alive_(std::make_shared<char>()) {}
  Timer after(Duration delay, Loop::Callback callback) {
    return loop_.post_after(delay, [alive = std::weak_ptr(alive_), callback = std::move(callback)]() mutable {
      if (alive.lock()) callback();
    });
  }
  // For callbacks of other kinds: expired once the owner is gone.
  std::weak_ptr<char> alive() const { return alive_; }

 private:
  Loop& loop_;
  std::shared_ptr<char> alive_;
};

}  // namespace evenkeel::store::etcd::detail
