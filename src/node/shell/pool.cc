#include "evenkeel/node/shell/pool.h"

#include <fmt/format.h>

#include <exception>

namespace evenkeel::node {
namespace {

// Calls a handler; what it throws is its error.
template <class T, class F>
Result<T> guarded(std::string_view what, F call) {
  try {
    return call();
  } catch (const std::exception& thrown) {
    return fail(Code::unavailable, "{} threw: {}", what, thrown.what());
  } catch (...) {
    return fail(Code::unavailable, "{} threw something", what);
  }
}

// Requests a stop when any of two does.
class EitherStop {
 public:
  EitherStop(const std::stop_token& a, const std::stop_token& b) : on_a_(a, Ask{source_}), on_b_(b, Ask{source_}) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Ask {
    std::stop_source source;
    void operator()() const noexcept {
      std::stop_source copy = source;
      copy.request_stop();
    }
  };
  std::stop_source source_;
  std::stop_callback<Ask> on_a_, on_b_;
};

}  // namespace

// Threads that take work in the order in which it came. Its queue is as long as what the reconciler has started, which is bounded there.
class Pool::Lane {
 public:
  explicit Lane(std::uint32_t threads) {
    for (std::uint32_t i = 0; i < std::max(threads, 1U); ++i)
      threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
  }
  ~Lane() {
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void add(Work work) {
    {
      const std::scoped_lock lock(mutex_);
      queue_.push_back(std::move(work));
    }
    some_.notify_one();
  }

 private:
  void serve(const std::stop_token& stop) {
    while (true) {
      Work work;
      {
        std::unique_lock lock(mutex_);
        if (!some_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
        if (stop.stop_requested()) return;
        work = std::move(queue_.front());
        queue_.pop_front();
      }
      work();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any some_;
  std::deque<Work> queue_;
  std::vector<std::jthread> threads_;
};

Pool::Pool(Loop& loop, ShardHandler& handler, std::vector<Held> inventory, std::uint32_t threads, broker::Client* broker)
    : loop_(loop),
      handler_(handler),
      inventory_(std::move(inventory)),
      broker_(broker),
      urgent_(std::make_unique<Lane>(threads)),
      slow_(std::make_unique<Lane>(threads)) {}

Pool::~Pool() {
  ending_.request_stop();
  slow_.reset();
  urgent_.reset();
}

Result<> Pool::run(const Transition& transition, bool urgent, const std::stop_token& stop) {
  const EitherStop either(stop, ending_.get_token());
  broker::Grant grant;
  if (!urgent && broker_ != nullptr) {
    broker::Task task{
        .name = format(transition.shard), .type = transition.copy_from ? "bootstrap" : "transition", .need = {.cpu = 1}};
    auto granted = broker_->acquire(std::move(task), Duration::max(), either.token());
    if (!granted) return fail(std::move(granted).error().in("broker"));
    grant = *std::move(granted);
  }
  return guarded<void>("the handler", [&] { return handler_.transition(transition, either.token()); });
}

void Pool::transition(Transition transition, bool urgent, std::stop_token stop, std::move_only_function<void(Result<>)> answer) {
  Lane& lane = urgent ? *urgent_ : *slow_;
  lane.add([this, transition = std::move(transition), urgent, stop = std::move(stop), answer = std::move(answer),
            alive = std::weak_ptr(alive_)]() mutable {
    Result<> result = stop.stop_requested() ? fail(Code::cancelled, "stopped before it began") : run(transition, urgent, stop);
    loop_.post([alive = std::move(alive), answer = std::move(answer), result = std::move(result)]() mutable {
      if (!alive.expired()) answer(std::move(result));
    });
  });
}

void Pool::seal(ShardId shard, Epoch epoch, std::move_only_function<void(Result<Sealed>)> answer) {
  urgent_->add([this, shard = std::move(shard), epoch, answer = std::move(answer), alive = std::weak_ptr(alive_)]() mutable {
    Result<Sealed> result = guarded<Sealed>("the handler", [&] { return Result<Sealed>(handler_.seal(shard, epoch)); });
    loop_.post([alive = std::move(alive), answer = std::move(answer), result = std::move(result)]() mutable {
      if (!alive.expired()) answer(std::move(result));
    });
  });
}

Status Pool::report(const ShardId& shard) {
  auto status = guarded<Status>("report", [&] { return Result<Status>(handler_.report(shard)); });
  if (!status) return reported_[shard];
  reported_[shard] = *status;
  return *std::move(status);
}

Result<std::vector<Held>> inventory_of(ShardHandler& handler) {
  return guarded<std::vector<Held>>("inventory", [&] { return Result<std::vector<Held>>(handler.inventory()); });
}

}  // namespace evenkeel::node
