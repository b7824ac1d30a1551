#pragma once
// A question of another thread to a loop, with a time-out.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "evenkeel/base/loop.h"

namespace evenkeel::serve::detail {

// What `work` says, run on the loop. False too if the loop did not come to it in time: then it never runs, so that it may use what the caller has.
inline bool ask(Loop& loop, Duration wait, std::function<bool()> work) {
  struct Question {
    std::mutex mutex;
    std::condition_variable answered;
    bool given_up = false, done = false, answer = false;
  };
  const auto question = std::make_shared<Question>();
  loop.post([question, work = std::move(work)] {
    const std::lock_guard lock(question->mutex);  // who gives up meanwhile waits for this
    if (question->given_up) return;
    question->answer = work();
    question->done = true;
    question->answered.notify_all();
  });
  std::unique_lock lock(question->mutex);
  question->answered.wait_for(lock, wait, [&] { return question->done; });
  question->given_up = true;
  return question->done && question->answer;
}

}  // namespace evenkeel::serve::detail
