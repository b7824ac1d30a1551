#include "evenkeel/broker/shell/rpc/detail/line.h"

#include <algorithm>

#include "evenkeel/broker/shell/rpc/detail/status.h"
#include "evenkeel/broker/shell/rpc/wire.h"

namespace evenkeel::broker::detail {
namespace {

constexpr std::size_t batch_max = 1024;

std::chrono::steady_clock::time_point in(Duration duration) {
  constexpr Duration most = 24h * 365;
  return std::chrono::steady_clock::now() + std::min(duration, most);
}

}  // namespace

Line::Line(std::shared_ptr<grpc::Channel> channel, const RemoteOptions& options, Executor executor, SessionSink& sink)
    : channel_(std::move(channel)), stub_(v1::Broker::NewStub(channel_)), options_(options) {
  outbox_ = std::make_shared<Outbox<Delivery>>(std::move(executor), [this, &sink](Delivery& delivery) {
    const std::shared_ptr<Line> line = shared_from_this();  // the delivery may destroy the session
    delivering_ = std::this_thread::get_id();
    sink.deliver(delivery);
    delivering_ = std::thread::id();
    delivered();
  });
}

Result<void> Line::start(const std::string& name) {
  std::unique_lock lock(mutex_);
  self_ = shared_from_this();
  stub_->async()->Session(&context_, this);
  AddHold();
  held_ = true;
  outgoing_.mutable_hello()->set_client(name);
  writing_ = true;
  StartWrite(&outgoing_);
  read_next();
  StartCall();
  if (changed_.wait_until(lock, in(options_.connect_timeout), [this] { return message_max_ > 0 || over_; }) && !over_) return {};
  if (over_) return fail(over_->ok() ? Error{Code::unavailable, "it hung up"} : to_error(*over_));
  context_.TryCancel();
  return fail(Code::unavailable, "no welcome within {}", format(options_.connect_timeout));
}

Result<RequestTag> Line::send(v1::Operation operation) {
  // What gives a task back is never refused for the sake of a bound: who lets go of a grant does not try again, and the broker would
  // count it as held for as long as the line is up.
  const bool gives_back = operation.has_finish() || operation.has_remove();
  std::unique_lock lock(mutex_);
  const auto has_room = [&] { return gives_back || down_ || unsent_.size() < options_.unsent_max; };
  if (!has_room() && options_.send_wait > Duration(0)) changed_.wait_until(lock, in(options_.send_wait), has_room);
  if (down_) return fail(*down_);
  if (!has_room()) {
    return fail(Code::unavailable,
                "{} requests wait to be sent (unsent_max), since the broker does not read on; take the deliveries",
                unsent_.size());
  }
  operation.set_tag(last_tag_ + 1);
  constexpr std::size_t frame = 16;  // of an operation within its message
  if (const std::size_t size = operation.ByteSizeLong() + frame; size > message_max_)
    return fail(Code::too_large, "the request has {} bytes; the broker takes {}", size, message_max_);
  unsent_.push_back(std::move(operation));
  ++last_tag_;
  write_next();
  return last_tag_;
}

void Line::close() {
  outbox_->close();
  std::unique_lock lock(mutex_);
  closing_ = true;
  if (!down_) down_ = Error{Code::unavailable, "the session is closed"};
  read_next();  // what still comes is read and dropped: the end comes after it
  write_next();
  // From inside its own delivery, which may keep gRPC from going on, it ends by itself.
  if (delivering_ == std::this_thread::get_id()) {
    orphaned_ = true;
    return;
  }
  const auto ended = [this] { return gone_; };
  if (changed_.wait_until(lock, in(options_.close_wait), ended)) return;
  context_.TryCancel();
  changed_.wait(lock, ended);  // gRPC ends a cancelled stream without the other side
}

void Line::read_next() {
  if (reading_ || over_ || !held_) return;
  reading_ = true;
  StartRead(&incoming_);
}

void Line::write_next() {
  if (writing_ || over_ || !held_ || half_closed_) return;
  if (unsent_.empty()) {
    if (!closing_) return;
    half_closed_ = true;
    StartWritesDone();
    return;
  }
  outgoing_.Clear();
  std::size_t bytes = 0;
  while (!unsent_.empty() && outgoing_.operations_size() < static_cast<int>(batch_max)) {
    constexpr std::size_t frame = 16;
    bytes += unsent_.front().ByteSizeLong() + frame;
    if (bytes > message_max_ && outgoing_.operations_size() > 0) break;
    *outgoing_.add_operations() = std::move(unsent_.front());
    unsent_.pop_front();
  }
  writing_ = true;
  StartWrite(&outgoing_);
  changed_.notify_all();
}

void Line::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  // The read under way, or the next one, fails too, after all that the broker sent before; that brings the line down.
  if (!ok) return refuse_from_now_on({Code::unavailable, "the line to the broker broke"});
  write_next();
}

void Line::OnReadDone(bool ok) {
  if (ok) take(incoming_);
  const std::lock_guard lock(mutex_);
  reading_ = false;
  if (!ok) {
    refuse_from_now_on({Code::unavailable, "the line to the broker broke"});
    if (std::exchange(held_, false)) RemoveHold();
    return;
  }
  if (closing_ || outbox_->size() < options_.undelivered_max) read_next();
}

void Line::take(const v1::ServerMessage& message) {
  if (message.has_welcome()) {
    const std::lock_guard lock(mutex_);
    message_max_ = message.welcome().message_bytes_max();
    changed_.notify_all();
  }
  for (const v1::Delivery& sent : message.deliveries()) {
    auto delivery = wire::from_wire(sent);
    if (!delivery) {
      const std::lock_guard lock(mutex_);
      fault_ = delivery.error();
      return context_.TryCancel();
    }
    push(std::move(*delivery));
  }
}

void Line::push(Delivery delivery) {
  if (outbox_->push(std::move(delivery))) outbox_->start();
}

void Line::delivered() {
  const std::lock_guard lock(mutex_);
  if (outbox_->size() < options_.undelivered_max) read_next();
}

void Line::refuse_from_now_on(Error reason) {
  if (!down_) down_ = std::move(reason);
  unsent_.clear();
  changed_.notify_all();
}

void Line::OnDone(const grpc::Status& status) {
  Error error = fault_ ? *fault_ : status.ok() ? Error{Code::unavailable, "it ended the session"} : to_error(status);
  // gRPC's own words ("Cancelling all calls") do not say whom they are about.
  if (error.code == Code::unavailable) error.message = "the broker went away: " + error.message;
  bool tell = false;
  {
    const std::lock_guard lock(mutex_);
    if (!closing_) down_ = Error{Code::unavailable, error.message};
    tell = !closing_ && message_max_ > 0;
    over_ = status;
    changed_.notify_all();
  }
  if (tell) push({.kind = Delivery::Kind::closed, .message = error.message});
  std::shared_ptr<Line> orphan;
  {
    const std::lock_guard lock(mutex_);
    if (orphaned_)
      orphan = std::move(self_);
    else
      self_.reset();  // not the last: who has the session waits for this
    gone_ = true;
    changed_.notify_all();
  }
  if (orphan != nullptr) std::thread([last = std::move(orphan)] {}).detach();
}

}  // namespace evenkeel::broker::detail
