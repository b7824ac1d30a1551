#pragma once
// A watch: a list where one is due, then a place on a stream from the revision after it, again and again until it is closed.
//
// Whatever happens to the stream, which it shares with other watches, it goes on after the last revision that was delivered whole, at
// whichever endpoint there is. If that revision was compacted, a fresh list takes its place.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "evenkeel/store/backends/etcd/detail/core.h"
#include "evenkeel/store/backends/etcd/detail/stream.h"

namespace evenkeel::store::etcd::detail {

class Watch : public std::enable_shared_from_this<Watch> {
 public:
  Watch(Core& core, std::string prefix, std::optional<Revision> after, OnChanges on_changes);

  void start();
  // Nothing more comes; the core is not touched any more.
  void close();
  // Goes elsewhere if it is there.
  void leave(const Endpoint& endpoint);

 private:
  void run();
  void list();
  void open();
  void join(Endpoint& endpoint, const Token& token);
  void take(Stream::Message& message);
  void take_events(Stream::Message& message);
  void check_history();
  void cancelled_by_server(const Stream::Message& message);
  void ended(const grpc::Status& status);
  void failed(const Verdict& verdict);
  // Begins again, after a pause that grows while nothing comes.
  void again();
  void leave_stream();
  bool deliver(Changes changes);  // false: closed meanwhile
  void end_with(Error error);
  // A function for later, which does nothing if the watch has begun again or is gone by then.
  template <class F>
  auto guarded(F f) {
    return [weak = weak_from_this(), turn = turn_, f = std::move(f)]<class... Args>(Args&&... args) {
      const auto self = weak.lock();
      if (self && !self->closed_ && self->turn_ == turn) f(*self, std::forward<Args>(args)...);
    };
  }

  Core& core_;
  const std::string prefix_;
  std::optional<Revision> after_;  // none: a fresh list is due
  OnChanges on_changes_;
  bool closed_ = false;

  std::uint64_t turn_ = 0;  // grows with each beginning
  std::unique_ptr<Stream::Place> place_;
  Endpoint* endpoint_ = nullptr;  // of the stream
  Token token_;                   // of the stream
  bool token_refused_ = false;    // since the last time that all was well
  int failures_ = 0;              // likewise
  std::vector<Change> held_;      // of a revision that may not be here whole
};

}  // namespace evenkeel::store::etcd::detail
