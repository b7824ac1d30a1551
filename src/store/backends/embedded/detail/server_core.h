#pragma once
// What the services of a server share: the engine, who may call, the head of every answer, threads for what takes long, open streams.

#include <grpcpp/server_context.h>
#include <store/backends/proto/etcd.pb.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "evenkeel/store/backends/embedded/detail/server_access.h"
#include "evenkeel/store/backends/embedded/detail/server_status.h"
#include "evenkeel/store/backends/embedded/detail/server_stream.h"
#include "evenkeel/store/backends/embedded/detail/wire.h"
#include "evenkeel/store/backends/embedded/engine.h"

namespace evenkeel::store::embedded::detail {

// One thread for work that takes long, so that none of gRPC's does. Destroying it does first what was posted.
class Worker {
 public:
  using Work = std::move_only_function<void()>;

  explicit Worker(std::size_t waiting_max);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // False: too much is waiting.
  bool post(Work work);

 private:
  void run();

  const std::size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

struct Core {
  Core(Engine& the_engine, std::optional<Users> users, std::string the_name);

  void fill(pb::ResponseHeader* header, std::int64_t revision) const {
    header->set_cluster_id(cluster_id);
    header->set_member_id(member_id);
    header->set_revision(revision);
    header->set_raft_term(raft_term);
  }
  // Not from status(), which asks the disk.
  std::int64_t revision() const {
    const auto nothing = engine.range({.span = {std::string(1, '\0'), {}}, .count_only = true});
    return nothing ? nothing->revision : 0;
  }
  // Where clients find it: known once it listens, when the first calls may be under way.
  void set_client_urls(std::vector<std::string> urls) {
    const std::scoped_lock lock(urls_mutex_);
    client_urls_ = std::move(urls);
  }
  std::vector<std::string> client_urls() const {
    const std::scoped_lock lock(urls_mutex_);
    return client_urls_;
  }

  static constexpr std::uint64_t raft_term = 1;  // there is one member, and it always leads
  static constexpr std::size_t request_bytes_max = 1'572'864;
  static constexpr std::size_t passwords_max = 64;  // to be checked: 3 s of work
  static constexpr std::size_t chores_max = 64;

  Engine& engine;
  const std::uint64_t cluster_id, member_id;
  const std::string name;
  BootClock clock;
  Access access;
  Streams streams;
  Worker passwords;
  Worker chores;  // compaction and the like

 private:
  mutable std::mutex urls_mutex_;
  std::vector<std::string> client_urls_;
};

using Reactor = grpc::ServerUnaryReactor;

inline Reactor* finish(grpc::CallbackServerContext* context, const Result<>& done) {
  Reactor* reactor = context->DefaultReactor();
  reactor->Finish(done ? grpc::Status::OK : to_status(done.error()));
  return reactor;
}

// Answers from a worker's thread with what `work` returns.
template <class Work>
Reactor* finish_on(Worker& worker, grpc::CallbackServerContext* context, Work work) {
  Reactor* reactor = context->DefaultReactor();
  const bool posted = worker.post([reactor, work = std::move(work)]() mutable {
    const Result<> done = work();
    reactor->Finish(done ? grpc::Status::OK : to_status(done.error()));
  });
  if (!posted) reactor->Finish(to_status({Code::refused, std::string(words::too_many_requests)}));
  return reactor;
}

}  // namespace evenkeel::store::embedded::detail
