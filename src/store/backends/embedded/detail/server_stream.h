#pragma once
// Duplex: a stream of requests in and responses out, as gRPC's callbacks, with a bounded queue and without a waiting thread.
//
// It owns itself until gRPC is done with it; whoever else calls it (an engine's sink) holds a shared_ptr. Reading stops while the queue is
// over its bound. Calls to the engine are made without the lock, since the engine calls back.

#include <grpcpp/support/server_callback.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>

#include "evenkeel/base/result.h"
#include "evenkeel/store/backends/embedded/detail/server_status.h"
#include "evenkeel/store/backends/embedded/detail/wire.h"

namespace evenkeel::store::embedded::detail {

class Stream {
 public:
  virtual ~Stream() = default;
  // Ends it with a status, once what is being sent has been.
  virtual void end(grpc::Status status) = 0;
};

// The streams that are open, so that they can be ended when the server stops or its users change.
class Streams {
 public:
  // Grows when all are ended. A stream reads it before it asks who calls, so that one which asked just before users changed is not open
  // after it.
  std::uint64_t round() const {
    const std::scoped_lock lock(mutex_);
    return round_;
  }
  // Null: it is open. Otherwise why it must not be.
  std::optional<grpc::Status> add(const std::shared_ptr<Stream>& stream, std::uint64_t round) {
    const std::scoped_lock lock(mutex_);
    if (stopping_ || round != round_) return ended_;
    open_.insert(stream);
    return std::nullopt;
  }
  void remove(const std::shared_ptr<Stream>& stream) {
    const std::scoped_lock lock(mutex_);
    open_.erase(stream);
  }
  void end_all(const grpc::Status& status) {
    std::set<std::shared_ptr<Stream>> open;
    {
      const std::scoped_lock lock(mutex_);
      ++round_;
      ended_ = status;
      open.swap(open_);
    }
    for (const auto& stream : open) stream->end(status);
  }
  // And no more are opened.
  void stop(const grpc::Status& status) {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    end_all(status);
  }
  // Runs it on a thread that does nothing else, in turn. (gRPC's alarms do the like, and the version of Debian 12 never frees one that rang.)
  void soon(std::function<void()> task) {
    {
      const std::scoped_lock lock(soon_mutex_);
      tasks_.push_back(std::move(task));
    }
    soon_wake_.notify_one();
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(soon_mutex_);
    while (soon_wake_.wait(lock, stop, [&] { return !tasks_.empty(); })) {
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  mutable std::mutex mutex_;
  bool stopping_ = false;
  std::uint64_t round_ = 0;
  grpc::Status ended_;  // how the last round ended
  std::set<std::shared_ptr<Stream>> open_;

  std::mutex soon_mutex_;
  std::condition_variable_any soon_wake_;
  std::deque<std::function<void()>> tasks_;
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

template <class In, class Out>
class Duplex : public grpc::ServerBidiReactor<In, Out>, public Stream, public std::enable_shared_from_this<Duplex<In, Out>> {
 public:
  static constexpr std::size_t queued_bytes_max = 1 << 20;
  static constexpr std::size_t response_bytes_min = 256;  // what one costs, however short
  static constexpr std::size_t held_bytes_max = 4 << 10;  // 16 short ones

  explicit Duplex(Streams& streams) : streams_(streams), round_(streams.round()) {}

  // With an error it ends at once.
  void begin(const Result<>& allowed) {
    self_ = this->shared_from_this();
    if (!allowed) return end(to_status(allowed.error()));
    if (auto closed = streams_.add(self_, round_)) return end(*std::move(closed));
    next_read();
  }

  void end(grpc::Status status) override { end(std::move(status), false); }

 protected:
  using Lock = std::unique_lock<std::mutex>;

  virtual void on_request(const In& request) = 0;  // one at a time
  virtual void on_requests_end() {}                // the client sends no more
  virtual void on_room() {}                        // the queue, which was over its bound or not, has room
  virtual void on_closed() {}                      // once; nothing more is sent

  Lock lock() { return Lock(mutex_); }
  // These with the lock held.
  bool closing() const { return closing_; }
  bool has_room() const { return queued_bytes_ < queued_bytes_max; }
  void push(Out response) {
    if (queue(std::move(response))) this->StartWrite(&queue_.front(), front_options());
  }
  // The same for one of many that come at once: gRPC gets it on another thread, by then with those that follow.
  void push_soon(Out response) {
    if (!queue(std::move(response))) return;
    streams_.soon([self = this->shared_from_this()] { self->write_front(); });
  }

  // With `drain`: after all that is queued.
  void end(grpc::Status status, bool drain) {
    {
      const Lock held(mutex_);
      if (closing_) return;
      closing_ = true;
      status_ = std::move(status);
      if (!drain) drop_waiting();
      if (!writing_) this->Finish(status_);
    }
    on_closed();
  }

 private:
  void OnReadDone(bool ok) final {
    if (!ok) return on_requests_end();
    on_request(request_);
    next_read();
  }

  void OnWriteDone(bool ok) final {
    const auto self = this->shared_from_this();
    if (!ok) end(grpc::Status::CANCELLED);
    const Out* next = nullptr;
    grpc::WriteOptions options;
    bool room = false, resume = false;
    {
      const Lock held(mutex_);
      writing_ = false;
      queued_bytes_ -= sizes_.front();
      queue_.pop_front();
      sizes_.pop_front();
      if (!ok) drop_waiting();
      if (queue_.empty() && closing_) return this->Finish(status_);
      if (!queue_.empty()) {
        writing_ = true;
        next = &queue_.front();
        options = front_options();
      }
      room = !closing_ && queued_bytes_ <= queued_bytes_max / 2;
      resume = room && std::exchange(read_paused_, false);
    }
    // Without the lock, so that whoever has more to queue need not wait for gRPC.
    if (next != nullptr) this->StartWrite(next, options);
    if (resume) next_read();
    if (room) on_room();
  }

  void OnCancel() final { end(grpc::Status::CANCELLED); }

  void OnDone() final {
    streams_.remove(self_);
    const auto last = std::move(self_);
  }

  void next_read() {
    const Lock held(mutex_);
    if (closing_) return;
    read_paused_ = !has_room();
    if (!read_paused_) this->StartRead(&request_);
  }

  // Whether a write has to begin, which counts as under way then.
  bool queue(Out response) {
    if (closing_) return false;
    sizes_.push_back(std::max(response.ByteSizeLong(), response_bytes_min));
    queued_bytes_ += sizes_.back();
    queue_.push_back(std::move(response));
    return !std::exchange(writing_, true);
  }

  void write_front() {
    const Lock held(mutex_);
    this->StartWrite(&queue_.front(), front_options());
  }

  // What follows at once goes out together with this; of much, a part at a time, so that the client takes one while the next is made.
  grpc::WriteOptions front_options() {
    grpc::WriteOptions options;
    held_bytes_ += sizes_.front();
    if (queue_.size() > 1 && held_bytes_ < held_bytes_max) {
      options.set_buffer_hint();
    } else {
      held_bytes_ = 0;
    }
    return options;
  }

  // All but what is being written.
  void drop_waiting() {
    while (queue_.size() > (writing_ ? 1 : 0)) {
      queued_bytes_ -= sizes_.back();
      queue_.pop_back();
      sizes_.pop_back();
    }
  }

  Streams& streams_;
  const std::uint64_t round_;
  std::shared_ptr<Stream> self_;  // until OnDone
  In request_;

  std::mutex mutex_;  // of all below
  std::deque<Out> queue_;
  std::deque<std::size_t> sizes_;
  std::size_t queued_bytes_ = 0;
  std::size_t held_bytes_ = 0;  // that gRPC was told to hold back for more
  bool writing_ = false;
  bool read_paused_ = false;
  bool closing_ = false;
  grpc::Status status_;
};

}  // namespace evenkeel::store::embedded::detail
