#include "evenkeel/store/backends/embedded/detail/server_core.h"

namespace evenkeel::store::embedded::detail {

Worker::Worker(std::size_t waiting_max) : waiting_max_(waiting_max), thread_([this] { run(); }) {}

Worker::~Worker() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

bool Worker::post(Work work) {
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= waiting_max_) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

Core::Core(Engine& the_engine, std::optional<Users> users, std::string the_name)
    : engine(the_engine),
      cluster_id(the_engine.status().cluster_id),
      member_id(the_engine.status().member_id),
      name(std::move(the_name)),
      access(std::move(users), clock),
      passwords(passwords_max),
      chores(chores_max) {}

}  // namespace evenkeel::store::embedded::detail
