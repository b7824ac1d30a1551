#include "evenkeel/serve/planner.h"

#include "evenkeel/place/place.h"

namespace evenkeel::serve {

PlannerThread::PlannerThread(Loop& loop, std::function<void(Duration)> planned)
    : loop_(loop), planned_(std::move(planned)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

PlannerThread::~PlannerThread() {
  thread_.request_stop();
  thread_.join();
}

control::Planner PlannerThread::planner() {
  return [this](Cluster problem, Answer answer) {
    const std::lock_guard lock(mutex_);
    waiting_.clear();  // of an office that is lost: nobody waits for it
    waiting_.emplace_back(std::move(problem), std::move(answer));
    asked_.notify_one();
  };
}

void PlannerThread::run(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!asked_.wait(lock, stop, [&] { return !waiting_.empty(); }) || stop.stop_requested()) return;
    auto [problem, answer] = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const Instant begun = loop_.now();
    place::Plan plan = place::plan(problem, {.stop = [&stop] { return stop.stop_requested(); }});
    if (stop.stop_requested()) return;
    loop_.post([planned = planned_, took = loop_.now() - begun, answer = std::move(answer), plan = std::move(plan)]() mutable {
      planned(took);
      answer(std::move(plan));
    });
  }
}

}  // namespace evenkeel::serve
