#include "evenkeel/sim/testing/detail/process.h"

#include <exception>
#include <optional>
#include <utility>

namespace evenkeel::sim {
namespace {

// What a handler throws is its error.
template <class T, class Call>
Result<T> guarded(Call call) {
  try {
    return call();
  } catch (const std::exception& thrown) {
    return fail(Code::unavailable, "the handler threw: {}", thrown.what());
  } catch (...) {
    return fail(Code::unavailable, "the handler threw something");
  }
}

}  // namespace

// A handler that blocks, called on the loop from a callback of its own, so that it may ask its node whatever it likes.
class Process::AtOnce final : public node::AsyncHandler {
 public:
  AtOnce(Loop& loop, node::ShardHandler& handler, bool empty, Duration transition)
      : loop_(loop), handler_(handler), empty_(empty), transition_(transition) {}

  void transition(node::Transition transition, node::Turn, std::stop_token stop,
                  std::move_only_function<void(Result<>)> answer) override {
    post({}, [this, transition = std::move(transition), stop = std::move(stop), answer = std::move(answer)]() mutable {
      Result<> result = guarded<void>([&] { return handler_.transition(transition, stop); });
      post(transition_, [result = std::move(result), answer = std::move(answer)]() mutable { answer(std::move(result)); });
    });
  }
  void seal(ShardId shard, Epoch epoch, std::move_only_function<void(Result<Sealed>)> answer) override {
    post({}, [this, shard = std::move(shard), epoch, answer = std::move(answer)]() mutable {
      answer(guarded<Sealed>([&]() -> Result<Sealed> { return handler_.seal(shard, epoch); }));
    });
  }
  node::Status report(const ShardId& shard) override {
    return guarded<node::Status>([&]() -> Result<node::Status> { return handler_.report(shard); }).value_or(node::Status{});
  }
  std::vector<node::Held> inventory() override { return empty_ ? std::vector<node::Held>{} : handler_.inventory(); }

 private:
  // Nothing runs once the process is over.
  void post(Duration after, Loop::Callback callback) {
    loop_.post_after(after, [alive = std::weak_ptr(alive_), callback = std::move(callback)]() mutable {
      if (!alive.expired()) callback();
    });
  }

  Loop& loop_;
  node::ShardHandler& handler_;
  const bool empty_;
  const Duration transition_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

Process::Process(VirtualLoop& loop, store::World& world, node::ShardHandler& handler, const ProcessOptions& options)
    : loop_(loop),
      store_(world.connect(options.node.name.str())),
      handler_(std::make_unique<AtOnce>(loop, handler, options.empty, options.transition)),
      participant_(std::make_unique<node::Participant>(*store_, *handler_,
                                                       node::ParticipantOptions{.node = options.node,
                                                                                .data = options.data,
                                                                                .owns_data = true,
                                                                                .rng = options.rng,
                                                                                .send_pulse = options.send_pulse,
                                                                                .on_stuck = on_stuck(options.node.on_stuck)})) {}

// What could not step down in time ends, as its process would.
std::function<void(const node::Stuck&)> Process::on_stuck(node::OnStuck what) {
  if (what != node::OnStuck::exit) return {};
  return [this, weak = std::weak_ptr(alive_)](const node::Stuck&) {
    loop_.post([this, weak] {
      if (!weak.expired()) kill();
    });
  };
}

Process::~Process() { kill(); }

bool Process::may_lead(const ShardId& shard, Epoch epoch) const { return participant_ && participant_->may_lead(shard, epoch); }

bool Process::is_current() const { return participant_ && participant_->is_current(); }

Result<> Process::ready(Duration timeout) {
  const Instant end = later(loop_.now(), timeout);
  while (participant_ && !participant_->ready()) {
    if (loop_.idle() || loop_.next_due() > end) {
      loop_.run_until(end);
      return fail(Code::unavailable, "{} after {}", participant_->joined() ? "not everything is done" : "not joined",
                  format(timeout));
    }
    loop_.step();
  }
  if (!participant_) return fail(Code::unavailable, "the process is over");
  return {};
}

Result<> Process::leave(Duration timeout) {
  if (!participant_) return fail(Code::unavailable, "the process is over");
  std::optional<Result<>> answer;
  participant_->leave(timeout, [&](Result<> done) { answer = std::move(done); });
  while (!answer) loop_.step();
  kill();
  return *answer;
}

void Process::refused(const ShardId& shard, Epoch by) {
  if (participant_) participant_->refused(shard, by);
}

void Process::touch(const ShardId&) {
  if (participant_) participant_->pulse_now();
}

void Process::kill() {
  participant_.reset();
  handler_.reset();
  store_.reset();
}

}  // namespace evenkeel::sim
