#include "evenkeel/node/shell/pulse_line.h"

#include <grpcpp/grpcpp.h>
#include <node/shell/pulse.grpc.pb.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <mutex>
#include <utility>

#include "evenkeel/base/later.h"
#include "evenkeel/model/controller_address.h"

namespace evenkeel::node {
namespace {

constexpr int ping_every_ms = 10'000;  // on a connection that is silent
constexpr int ping_wait_ms = 5'000;
constexpr int later_field = 100;

std::shared_ptr<grpc::Channel> open_channel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A connection of its own: its end is this node's end, to the one who hears it.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ping_every_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ping_wait_ms);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

// One connection. Kept by whoever uses it, and by itself until gRPC says that it is over. It is never destroyed on a thread of gRPC's: with the last
// channel gRPC ends those threads and waits for them, so one would wait for itself.
class PulseLine::Stream final : public grpc::ClientBidiReactor<v1::Beat, v1::Heard>, public std::enable_shared_from_this<Stream> {
 public:
  struct Handlers {  // called on the loop
    std::function<void(std::uint64_t count, bool known)> heard;
    std::function<void(const std::string& why)> over;
  };
  Stream(Loop& loop, const std::string& address, Handlers handlers)
      : loop_(loop), channel_(open_channel(address)), stub_(v1::Pulses::NewStub(channel_)), handlers_(std::move(handlers)) {}

  void open() {
    self_ = shared_from_this();
    stub_->async()->Pulse(&context_, this);
    AddHold();  // so that the loop's thread may begin writes, until there is nothing more to read
    StartRead(&incoming_);
    StartCall();
  }

  // False: it is over, or the last one is still being sent.
  bool write(v1::Beat beat) {
    const std::lock_guard lock(mutex_);
    if (down_ || writing_) return false;
    outgoing_ = std::move(beat);
    writing_ = true;
    StartWrite(&outgoing_);
    return true;
  }

  // Nothing is called after this.
  void close() {
    handlers_ = {};
    context_.TryCancel();
    gone_->get_future().wait();
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) {
      const std::lock_guard lock(mutex_);
      down_ = true;
      RemoveHold();
      return;
    }
    loop_.post([self = shared_from_this(), count = incoming_.count(), known = incoming_.known()] {
      if (const auto handler = self->handlers_.heard) handler(count, known);
    });
    StartRead(&incoming_);
  }

  void OnWriteDone(bool) override {  // if it failed, so does the read
    const std::lock_guard lock(mutex_);
    writing_ = false;
  }

  void OnDone(const grpc::Status& status) override {
    const auto gone = gone_;
    loop_.post([self = std::move(self_), why = status.error_message()] {
      if (const auto handler = self->handlers_.over) handler(why);
    });
    gone->set_value();
  }

  Loop& loop_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::Pulses::Stub> stub_;
  Handlers handlers_;  // the loop's
  grpc::ClientContext context_;
  v1::Heard incoming_;
  v1::Beat outgoing_;
  std::shared_ptr<Stream> self_;  // until OnDone
  const std::shared_ptr<std::promise<void>> gone_ = std::make_shared<std::promise<void>>();
  std::mutex mutex_;
  bool writing_ = false, down_ = false;
};

template <class F>
auto PulseLine::guarded(F f) {
  return [alive = std::weak_ptr(alive_), f = std::move(f)](auto&&... args) {
    if (!alive.expired()) f(std::forward<decltype(args)>(args)...);
  };
}

PulseLine::PulseLine(store::Store& store, PulseLineOptions options)
    : store_(store),
      loop_(store.loop()),
      options_(std::move(options)),
      keys_(options_.cluster),
      rng_(options_.rng),
      locks_(store, nullptr),
      pause_(options_.pause_min) {
  look();
}

PulseLine::~PulseLine() {
  alive_.reset();
  loop_.cancel(timer_);
  if (stream_) stream_->close();
}

void PulseLine::look() {
  locks_.show(keys_.controller(), guarded([this](const Result<locks::LockState>& state) {
                if (!state) return look_later();  // the store does not answer
                if (!state->held) {
                  tell_if_idle();
                  return look_later();
                }
                idle_.reset();
                said_idle_ = false;
                const ControllerAddress active = parse_controller_address(state->meta);
                if (active.pulse.empty()) return look_later();
                connect(active.pulse);
              }));
}

void PulseLine::tell_if_idle() {
  if (!idle_) idle_ = loop_.now();
  if (loop_.now() - *idle_ < options_.idle_patience || std::exchange(said_idle_, true) || options_.log == nullptr) return;
  options_.log->warn("nobody controls the cluster; is its name right? Else start `evenkeel serve` for it",
                     {{"cluster", options_.cluster}, {"store", options_.store.empty() ? "its own" : options_.store}});
}

void PulseLine::look_later() {
  const Duration pause = pause_ + Duration(rng_.between(0, pause_.count() / 2));
  pause_ = std::min(pause_ * 2, options_.pause_max);
  timer_ = loop_.post_after(pause, [this] { look(); });
}

void PulseLine::connect(const std::string& address) {
  was_heard_ = all_heard_ = false;
  all_sent_.reset();
  stream_ = std::make_shared<Stream>(loop_, address,
                                     Stream::Handlers{[this](std::uint64_t count, bool known) { heard(count, known); },
                                                      [this](const std::string& why) { over(why); }});
  stream_->open();
  if (options_.on_open) loop_.post(guarded([this] { options_.on_open(); }));
}

bool PulseLine::must_say_all() {
  says_all_ = !all_heard_;
  return says_all_;
}

void PulseLine::send(const Pulse& pulse) {
  if (std::exchange(incarnation_, pulse.incarnation) != pulse.incarnation) {
    all_heard_ = false;
    all_sent_.reset();
  }
  v1::Beat beat;
  if (stream_) {
    beat.set_pulse(format(pulse));
    beat.set_cluster(options_.cluster.str());
    beat.set_every_millis(
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(options_.every).count()));
    if constexpr (is_later) beat.GetReflection()->MutableUnknownFields(&beat)->AddLengthDelimited(later_field, later_value);
  }
  if (!stream_ || !stream_->write(std::move(beat))) {
    all_heard_ = false;
    all_sent_.reset();
  } else if (says_all_ && !all_sent_) {
    all_sent_ = pulse.count;
  }
}

void PulseLine::heard(std::uint64_t count, bool known) {
  pause_ = options_.pause_min;
  if (!std::exchange(was_heard_, true) && options_.log != nullptr) options_.log->debug("the active controller hears the pulse");
  if (known && all_sent_ && count >= *all_sent_) all_heard_ = true;
  if (!known) all_sent_.reset();  // it will know soon
}

void PulseLine::over(const std::string& why) {
  stream_.reset();
  if (was_heard_ && options_.log != nullptr) options_.log->info("the pulse's connection ended", {{"why", why}});
  look_later();
}

}  // namespace evenkeel::node
