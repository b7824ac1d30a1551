#include "evenkeel/node/shell/pool.h"

#include <fmt/format.h>

#include <algorithm>
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

// Threads that take work in the order in which it came, but what must not wait before all else, for which the first `apart` of them are alone. Its
// queues are as long as what the reconciler has started, which is bounded there. A piece of work wakes one thread: hundreds come at once, and if each woke
// all of them to find nothing, that would cost more than the work.
class Pool::Lane {
 public:
  Lane(std::uint32_t threads, std::uint32_t apart) {
    for (std::uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this, alone = i < apart] { serve(alone); });
  }
  ~Lane() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    alone_.some.notify_all();
    others_.some.notify_all();
    threads_.clear();
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void add(Work work, bool first) {
    Idle* idle = nullptr;
    {
      const std::scoped_lock lock(mutex_);
      (first ? first_ : queue_).push_back(std::move(work));
      idle = first && alone_.threads > 0 ? &alone_ : others_.threads > 0 ? &others_ : nullptr;
      if (idle != nullptr) --idle->threads, ++idle->woken;
    }
    if (idle != nullptr) idle->some.notify_one();
  }

 private:
  struct Idle {
    std::condition_variable some;
    std::uint32_t threads = 0;  // that wait
    std::uint32_t woken = 0;    // that are to look, and have not yet
  };

  // Whoever is done looks for more before it waits, so that no work is left while a thread that takes it waits.
  void serve(bool alone) {
    Idle& idle = alone ? alone_ : others_;
    const auto has_some = [this, alone] { return !first_.empty() || (!alone && !queue_.empty()); };
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (!has_some()) {
        ++idle.threads;
        idle.some.wait(lock, [&] { return stopping_ || idle.woken > 0; });
        if (!stopping_) --idle.woken;
        continue;
      }
      std::deque<Work>& from = first_.empty() ? queue_ : first_;
      Work work = std::move(from.front());
      from.pop_front();
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;  // over all but the threads
  Idle alone_, others_;
  std::deque<Work> first_, queue_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

Pool::Pool(Loop& loop, ShardHandler& handler, std::vector<Held> inventory, std::uint32_t threads, broker::Client* broker)
    : loop_(loop),
      handler_(handler),
      inventory_(std::move(inventory)),
      broker_(broker),
      urgent_(std::make_unique<Lane>(std::max(threads, 2U), 1)),
      slow_(std::make_unique<Lane>(std::max(threads, 1U), 0)) {}

Pool::~Pool() {
  ending_.request_stop();
  slow_.reset();
  urgent_.reset();
}

Result<> Pool::run(Transition& transition, Turn turn, const std::stop_token& stop) {
  const EitherStop either(stop, ending_.get_token());
  broker::Grant grant;
  if (turn == Turn::slow && broker_ != nullptr) {
    broker::Task task{
        .name = format(transition.shard), .type = transition.copy_from ? "bootstrap" : "transition", .need = {.cpu = 1}};
    auto granted = broker_->acquire(std::move(task), Duration::max(), either.token());
    if (!granted) return fail(std::move(granted).error().in("broker"));
    grant = *std::move(granted);
  }
  if (transition.within > Duration{}) transition.deadline = std::min(transition.deadline, later(loop_.now(), transition.within));
  if (begun_) loop_.post([begun = begun_, shard = transition.shard] { (*begun)(shard); });
  return guarded<void>("the handler", [&] { return handler_.transition(transition, either.token()); });
}

void Pool::transition(Transition transition, Turn turn, std::stop_token stop, std::move_only_function<void(Result<>)> answer) {
  Lane& lane = turn == Turn::slow ? *slow_ : *urgent_;
  Work work = [this, transition = std::move(transition), turn, stop = std::move(stop), answer = std::move(answer),
               alive = std::weak_ptr(alive_)]() mutable {
    Result<> result = stop.stop_requested() ? fail(Code::cancelled, "stopped before it began") : run(transition, turn, stop);
    loop_.post([alive = std::move(alive), answer = std::move(answer), result = std::move(result)]() mutable {
      if (!alive.expired()) answer(std::move(result));
    });
  };
  lane.add(std::move(work), turn == Turn::first);
}

void Pool::seal(ShardId shard, Epoch epoch, std::move_only_function<void(Result<Sealed>)> answer) {
  Work work = [this, shard = std::move(shard), epoch, answer = std::move(answer), alive = std::weak_ptr(alive_)]() mutable {
    Result<Sealed> result = guarded<Sealed>("the handler", [&] { return Result<Sealed>(handler_.seal(shard, epoch)); });
    loop_.post([alive = std::move(alive), answer = std::move(answer), result = std::move(result)]() mutable {
      if (!alive.expired()) answer(std::move(result));
    });
  };
  urgent_->add(std::move(work), true);
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
