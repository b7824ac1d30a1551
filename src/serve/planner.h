#pragma once
// PlannerThread: plans on a thread of its own, so that a controller's loop never waits for one.
//
//   PlannerThread planner(loop, [](Duration took) { … });
//   control::Controller controller(store, {…, .planner = planner.planner()});
//
// Plans are made one after the other, in the order in which they were asked for; answers come on the loop. Destroying it waits for the plan that is being made;
// those that wait are dropped, unanswered. The loop outlives it.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "evenkeel/base/loop.h"
#include "evenkeel/control/shell/controller.h"

namespace evenkeel::serve {

class PlannerThread {
 public:
  // `planned` is told on the loop what each plan took.
  PlannerThread(Loop& loop, std::function<void(Duration)> planned);
  ~PlannerThread();
  PlannerThread(const PlannerThread&) = delete;
  PlannerThread& operator=(const PlannerThread&) = delete;

  control::Planner planner();

 private:
  using Answer = std::move_only_function<void(place::Plan)>;
  void run(const std::stop_token& stop);

  Loop& loop_;
  const std::function<void(Duration)> planned_;
  std::mutex mutex_;
  std::condition_variable_any asked_;
  std::deque<std::pair<Cluster, Answer>> waiting_;
  std::jthread thread_;
};

}  // namespace evenkeel::serve
