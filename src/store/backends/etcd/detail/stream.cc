#include "evenkeel/store/backends/etcd/detail/stream.h"

namespace evenkeel::store::etcd::detail {

struct Stream::Wire {
  grpc::ClientContext context;
  etcdserverpb::WatchRequest request;
  Message message;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<etcdserverpb::WatchRequest, Message>>
      stream;  // in the context's memory: goes first
};

namespace {

constexpr Method watch{"/etcdserverpb.Watch/Watch"};

}  // namespace

Stream::Stream(Pump& pump, Handlers handlers) : pump_(pump), handlers_(std::move(handlers)), wire_(std::make_shared<Wire>()) {}

std::shared_ptr<Stream> Stream::open(Pump& pump, Endpoint& endpoint, const Token& token, etcdserverpb::WatchRequest request,
                                     Handlers handlers) {
  std::shared_ptr<Stream> made(new Stream(pump, std::move(handlers)));
  Wire& wire = *made->wire_;
  wire.request = std::move(request);
  Caller::prepare(wire.context, watch, token);
  grpc::TemplatedGenericStub<etcdserverpb::WatchRequest, Message> stub(endpoint.channel);
  wire.stream = stub.PrepareCall(&wire.context, watch.path, pump.queue());
  wire.stream->StartCall(pump.event(made->wire_, &wire.context, [made](bool ok) { made->started(ok); }));
  return made;
}

void Stream::started(bool ok) {
  if (!ok) return finish();
  // Whether it could be written shows in what is read.
  wire_->stream->Write(wire_->request, pump_.event(wire_, &wire_->context, [](bool) {}));
  next();
}

void Stream::next() {
  wire_->message.Clear();
  wire_->stream->Read(&wire_->message, pump_.event(wire_, &wire_->context, [self = shared_from_this()](bool ok) {
    if (!ok) return self->finish();
    if (!self->cancelled_) self->handlers_.on_message(self->wire_->message);
  }));
}

void Stream::finish() {
  wire_->stream->Finish(&wire_->status, pump_.event(wire_, &wire_->context, [self = shared_from_this()](bool) {
    if (!self->cancelled_) self->handlers_.on_end(self->wire_->status);
  }));
}

// A handler may be running, so they stay until the stream goes.
void Stream::cancel() {
  cancelled_ = true;
  wire_->context.TryCancel();
}

}  // namespace evenkeel::store::etcd::detail
