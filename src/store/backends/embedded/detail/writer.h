#pragma once
// Writer: the one thread that changes the store. It takes all that was submitted, evaluates it in order as a group, writes the group with one
// synchronous batch, and then shows it, hands it to the watchers and answers. Leases that are over end here too.

#include <condition_variable>
#include <future>
#include <mutex>
#include <span>
#include <thread>
#include <variant>
#include <vector>

#include "evenkeel/base/rng.h"
#include "evenkeel/store/backends/embedded/detail/state.h"
#include "evenkeel/store/backends/embedded/detail/sweeper.h"
#include "evenkeel/store/backends/embedded/detail/watchers.h"

namespace evenkeel::store::embedded::detail {

// What to do, how to answer, and, once evaluated, the answer if all goes well.
struct Submitted {
  Request request;
  LeaseGuard guard;
  std::function<void(Result<Outcome>)> done;
  Result<Outcome> result;
  bool wrote = false;
};
struct Granting {
  LeaseId id = 0;
  Duration ttl = {};
  std::function<void(Result<Lease>)> done;
  Result<Lease> result;
  bool wrote = false;
};
struct Revoking {
  LeaseId id = 0;
  LeaseGuard guard;
  std::function<void(Result<std::int64_t>)> done;  // none: its time was over
  Result<std::int64_t> result;
  bool wrote = false;
};
struct Compacting {
  std::int64_t revision = 0;
  std::promise<Result<std::int64_t>> done;
};
struct Ticking {
  std::promise<void> done;
};
using Task = std::variant<Submitted, Granting, Revoking, Compacting, Ticking>;

class Writer {
 public:
  Writer(State& state, Watchers& watchers, Sweeper& sweeper);
  ~Writer();  // after what was submitted
  // False: too many wait already; the task is untouched.
  bool submit(Task&& task);

 private:
  void run();
  std::vector<Task> wait_for_tasks();
  void add_expired(std::vector<Task>& tasks);
  void run_tasks(std::vector<Task>& tasks);
  void run_group(std::span<Task> tasks);
  Group make_group() const;
  void answer_reads(std::span<Task> tasks) const;
  void compact(Compacting& task);

  void evaluate(Submitted& task, Group& group);
  void evaluate(Granting& task, Group& group);
  void evaluate(Revoking& task, Group& group);
  Result<> writable() const;
  void measure();
  Result<> commit(const Group& group);
  void show(Group& group);
  LeaseId draw_lease(const Group& group);

  State& state_;
  Watchers& watchers_;
  Sweeper& sweeper_;
  const std::uint64_t bytes_max_;
  std::uint64_t bytes_since_ = 0;  // written since the folder was measured
  Rng lease_ids_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::vector<Task> tasks_;
  std::thread thread_;
};

}  // namespace evenkeel::store::embedded::detail
