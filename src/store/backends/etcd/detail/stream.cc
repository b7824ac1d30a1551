#include "evenkeel/store/backends/etcd/detail/stream.h"

#include <mutex>
#include <utility>

namespace evenkeel::store::etcd::detail {
namespace {

constexpr Method watch{"/etcdserverpb.Watch/Watch"};
constexpr std::size_t ahead_bytes_max = 256 << 10;

}  // namespace

// What gRPC needs, and how much was read that the loop has not seen. The latter is of two threads.
struct Stream::Wire {
  grpc::ClientContext context;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<etcdserverpb::WatchRequest, Message>>
      stream;  // in the context's memory: goes first

  std::mutex mutex;
  std::size_t ahead_bytes = 0;
  bool paused = false;

  // Both: whether to read on.
  bool came(std::size_t bytes) {
    const std::scoped_lock lock(mutex);
    ahead_bytes += bytes;
    paused = ahead_bytes > ahead_bytes_max;
    return !paused;
  }
  bool taken(std::size_t bytes) {
    const std::scoped_lock lock(mutex);
    ahead_bytes -= bytes;
    return ahead_bytes <= ahead_bytes_max / 2 && std::exchange(paused, false);
  }
};

struct Stream::Member {
  std::uint64_t number;
  Create create;
  Handlers handlers;
  std::optional<std::int64_t> id;  // while the server has the watch
  bool left = false;
};

Stream::Stream(Loop& loop, Pump& pump, Endpoint& endpoint, const Token& token, Duration timeout)
    : pump_(pump), endpoint_(endpoint), token_(token), timeout_(timeout), wire_(std::make_shared<Wire>()), delays_(loop) {}

void Stream::open() {
  Caller::prepare(wire_->context, watch, token_);
  grpc::TemplatedGenericStub<etcdserverpb::WatchRequest, Message> stub(endpoint_.channel);
  wire_->stream = stub.PrepareCall(&wire_->context, watch.path, pump_.queue());
  wire_->stream->StartCall(pump_.event(wire_, &wire_->context, [self = shared_from_this()](bool ok) {
    if (!ok) return self->finish();
    self->started_ = true;
    self->write();
    self->read();
  }));
}

bool Stream::is_open_to(const Endpoint& endpoint, const Token& token) const {
  return !ended_ && &endpoint_ == &endpoint && token_.number == token.number;
}

std::unique_ptr<Stream::Place> Stream::join(Create create, Handlers handlers) {
  auto member = std::make_shared<Member>(++last_number_, std::move(create), std::move(handlers));
  members_.emplace(member->number, member);
  waiting_.push_back(member);
  if (waiting_.size() == 1) create_next();
  return std::make_unique<Place>(shared_from_this(), std::move(member));
}

// One that the server was asked for and has not answered is cancelled in answered().
void Stream::leave(Member& member) {
  if (std::exchange(member.left, true) || ended_) return;
  members_.erase(member.number);
  if (members_.empty()) return end({});
  if (!member.id) return;
  etcdserverpb::WatchRequest request;
  request.mutable_cancel_request()->set_watch_id(*member.id);
  by_id_.erase(*member.id);
  send(std::move(request));
}

void Stream::create_next() {
  while (!waiting_.empty() && waiting_.front()->left) waiting_.pop_front();
  if (waiting_.empty()) return;
  etcdserverpb::WatchRequest request;
  *request.mutable_create_request() = std::move(waiting_.front()->create);
  send(std::move(request));
  await_answer();
}

// A server that is paused takes the request and says nothing. One that says something may have much to say before the answer.
void Stream::await_answer() {
  delays_.after(timeout_, [this, member = waiting_.front(), taken = taken_] {
    if (waiting_.empty() || waiting_.front() != member) return;
    if (taken != taken_) return await_answer();
    end({grpc::StatusCode::DEADLINE_EXCEEDED, {}});
  });
}

void Stream::send(etcdserverpb::WatchRequest request) {
  out_.push_back(std::move(request));
  write();
}

// One at a time. Whether it could be written shows in what is read.
void Stream::write() {
  if (!started_ || ended_ || out_.empty() || std::exchange(writing_, true)) return;
  wire_->stream->Write(out_.front(), pump_.event(wire_, &wire_->context, [self = shared_from_this()](bool) {
    self->writing_ = false;
    self->write();
  }));
  out_.pop_front();
}

// On the loop's thread or the pump's.
void Stream::read() {
  const auto message = std::make_shared<Message>();
  const auto self = shared_from_this();
  auto* event = pump_.event(
      wire_, &wire_->context, [self, message](bool ok) { ok ? self->take(*message) : self->finish(); },
      [self, message] {
        if (self->wire_->came(message->ByteSizeLong())) self->read();
      });
  wire_->stream->Read(message.get(), event);
}

// Handlers come last: after one the stream may have ended, and the client be gone.
void Stream::take(Message& message) {
  if (ended_) return;
  ++taken_;
  if (wire_->taken(message.ByteSizeLong())) read();
  if (message.created()) return answered(message);
  const auto found = by_id_.find(message.watch_id());
  if (found == by_id_.end()) return;  // of one that was cancelled meanwhile
  const auto member = found->second;
  if (message.canceled()) {
    member->id.reset();
    by_id_.erase(found);
  }
  member->handlers.on_message(message);
}

void Stream::answered(Message& message) {
  if (waiting_.empty()) return;
  const auto member = std::exchange(waiting_.front(), nullptr);
  waiting_.pop_front();
  create_next();
  if (!message.canceled()) {
    if (member->left) {
      etcdserverpb::WatchRequest request;
      request.mutable_cancel_request()->set_watch_id(message.watch_id());
      return send(std::move(request));
    }
    member->id = message.watch_id();
    by_id_[message.watch_id()] = member;
  }
  if (!member->left) member->handlers.on_message(message);
}

void Stream::finish() {
  wire_->stream->Finish(&wire_->status, pump_.event(wire_, &wire_->context, [self = shared_from_this()](bool) {
    if (!self->ended_) self->end(self->wire_->status);
  }));
}

void Stream::end(const grpc::Status& status) {
  const auto self = shared_from_this();  // its places may go
  ended_ = true;
  wire_->context.TryCancel();
  waiting_.clear();
  by_id_.clear();
  for (const auto& [_, member] : std::exchange(members_, {})) {
    if (!member->left) member->handlers.on_end(status);
  }
}

std::unique_ptr<Stream::Place> Streams::join(Endpoint& endpoint, const Token& token, Stream::Create create,
                                             Stream::Handlers handlers) {
  std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
  for (const auto& one : streams_) {
    if (const auto stream = one.lock(); stream && stream->is_open_to(endpoint, token))
      return stream->join(std::move(create), std::move(handlers));
  }
  const auto stream = std::make_shared<Stream>(loop_, pump_, endpoint, token, timeout_);
  streams_.push_back(stream);
  stream->open();
  return stream->join(std::move(create), std::move(handlers));
}

}  // namespace evenkeel::store::etcd::detail
