#pragma once
// Sweeper: takes what a compaction made superfluous out of memory and off the disk, a little at a time, on a thread of its own. If the process
// ends before it is done, it goes on after the next open.

#include <condition_variable>
#include <mutex>
#include <thread>

#include "evenkeel/store/backends/embedded/detail/state.h"

namespace evenkeel::store::embedded::detail {

class Sweeper {
 public:
  // `done`: the compaction that was swept before.
  Sweeper(State& state, std::int64_t done);
  ~Sweeper();
  void wake();
  // Until all up to a compaction is swept.
  Result<> wait(std::int64_t compacted);

 private:
  void run();
  Result<> sweep(std::int64_t compacted);

  State& state_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::int64_t done_;
  std::int64_t failed_ = 0;  // a compaction that could not be swept; the next one takes it along
  std::string why_;
  std::thread thread_;
};

}  // namespace evenkeel::store::embedded::detail
