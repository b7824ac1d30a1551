#include "evenkeel/broker/shell/rpc/detail/session_stream.h"

#include "evenkeel/broker/shell/rpc/detail/status.h"

namespace evenkeel::broker::detail {
namespace {

// What one message to a client carries at most. A delivery is at most a cookie and a sentence longer.
constexpr std::size_t deliveries_max = 1024;
constexpr std::size_t batch_bytes_max = 256 * 1024;

// The whole of a buffer, and its parse.
Result<v1::ClientMessage> parse(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (const grpc::Status taken = buffer.DumpToSingleSlice(&slice); !taken.ok()) return fail(Code::invalid, "no message");
  return wire::parse_client_message({reinterpret_cast<const char*>(slice.begin()), slice.size()});
}

grpc::ByteBuffer bytes_of(const v1::ServerMessage& message) {
  const std::size_t size = message.ByteSizeLong();
  grpc::Slice slice(size);
  message.SerializeWithCachedSizesToArray(const_cast<std::uint8_t*>(slice.begin()));
  return {&slice, 1};
}

}  // namespace

SessionStream::SessionStream(Broker& broker, Seats& seats, const Bounds& bounds)
    : broker_(broker), seats_(seats), bounds_(bounds) {
  seated_ = seats_.take();
  if (!seated_) {
    const std::lock_guard lock(mutex_);
    status_ =
        to_status({Code::too_large, fmt::format("{} clients are connected, which is all this broker takes", seats_.most())});
    finish_when_quiet();
    return;
  }
  const std::lock_guard lock(mutex_);
  reading_ = true;
  StartRead(&incoming_);
}

SessionStream::~SessionStream() = default;

void SessionStream::OnReadDone(bool ok) {
  // The end of what the client sends: closed, cancelled or lost, it is the client's end.
  if (!ok) return end(grpc::Status::OK);
  if (auto handled = handle_message(); !handled) return end(to_status(handled.error()));
  bool cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    cancelled = cancelled_;
    reading_ = !cancelled && waiting_.size() < bounds_.deliveries_max;
    if (reading_) StartRead(&incoming_);
  }
  if (cancelled) end(grpc::Status::CANCELLED);
}

Result<void> SessionStream::handle_message() {
  auto message = parse(incoming_);
  if (!message) return fail(message.error());
  if (session_ == nullptr) {
    // Before the session is there nothing is delivered, so the welcome is the first that is sent.
    auto name = wire::take_hello(*message);
    if (!name) return fail(name.error());
    welcome();
    session_ = broker_.open(std::move(*name), at_once(), *this);
  } else if (message->has_hello()) {
    return fail(Code::invalid, "a second hello; a stream is one client");
  }
  return intake_.take(*message, *session_, [this](RequestTag tag, TaskId task, const Error& error) {
    deliver({.kind = Delivery::Kind::error, .tag = tag, .task = task, .message = error.message});
  });
}

void SessionStream::welcome() {
  v1::Welcome message;
  for (const std::string& resource : broker_.resources()) message.add_resources(resource);
  message.set_message_bytes_max(bounds_.message_max.count());
  const std::lock_guard lock(mutex_);
  welcome_ = std::move(message);
  write_next();
}

void SessionStream::deliver(const Delivery& delivery) {
  const std::lock_guard lock(mutex_);
  if (status_ || cancelled_) return;
  waiting_.push_back(delivery);
  write_next();
}

void SessionStream::write_next() {
  if (writing_ || finished_ || (!welcome_ && waiting_.empty())) return;
  v1::ServerMessage message;
  if (welcome_) *message.mutable_welcome() = *std::exchange(welcome_, std::nullopt);
  std::size_t bytes = 0;
  for (std::size_t count = 0; count < deliveries_max && bytes < batch_bytes_max && !waiting_.empty(); ++count) {
    bytes += waiting_.front().cookie.size() + waiting_.front().message.size();
    *message.add_deliveries() = wire::to_wire(waiting_.front());
    waiting_.pop_front();
  }
  outgoing_ = bytes_of(message);
  writing_ = true;
  StartWrite(&outgoing_);
}

void SessionStream::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  outgoing_.Clear();
  if (!ok) waiting_.clear();  // the call is lost: OnCancel comes, or came
  write_next();
  if (status_) return finish_when_quiet();
  if (ok && !reading_ && !cancelled_ && waiting_.size() < bounds_.deliveries_max) {
    reading_ = true;
    StartRead(&incoming_);
  }
}

void SessionStream::OnCancel() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (reading_ || status_) return;  // the read under way fails, or is being handled: that side ends it
    reading_ = true;                  // nobody else starts to
  }
  end(grpc::Status::CANCELLED);
}

void SessionStream::end(const grpc::Status& status) {
  session_.reset();
  const std::lock_guard lock(mutex_);
  status_ = status;
  if (!status.ok() || cancelled_) {
    waiting_.clear();
    welcome_.reset();
  }
  write_next();
  finish_when_quiet();
}

void SessionStream::finish_when_quiet() {
  if (writing_ || finished_) return;
  finished_ = true;
  if (std::exchange(seated_, false)) seats_.leave();  // before the client hears of its end: it may come again at once
  Finish(*status_);
}

void SessionStream::OnDone() { delete this; }

}  // namespace evenkeel::broker::detail
