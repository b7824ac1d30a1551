#pragma once
// Streams: the watches of a client share one, to each endpoint and with each token in use. It opens with its first watch and ends with its last.
//
//   auto place = streams.join(endpoint, token, create, {on_message, on_end});    // a watch's place on it; destroyed, the watch is cancelled
//
// The server gives the ids by which messages find their watch. One watch is created at a time, the next when the last was answered: a server
// that refuses one need not say which.
// Messages are read ahead of the loop up to a bound in bytes; beyond it they stay with the server, by gRPC's flow control. So a consumer that
// is slow, which holds up the loop itself, costs no memory, and the others no more than its own time.

#include <store/backends/proto/etcd.pb.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "evenkeel/store/backends/etcd/detail/caller.h"

namespace evenkeel::store::etcd::detail {

class Stream : public std::enable_shared_from_this<Stream> {
  struct Member;

 public:
  using Create = etcdserverpb::WatchCreateRequest;
  using Message = etcdserverpb::WatchResponse;
  struct Handlers {
    std::function<void(Message&)> on_message;  // of this watch: the first says `created`, one that says `canceled` is the last
    std::function<void(const grpc::Status&)> on_end;  // of the stream; nothing comes after it
  };
  class Place {
   public:
    Place(std::shared_ptr<Stream> stream, std::shared_ptr<Member> member)
        : stream_(std::move(stream)), member_(std::move(member)) {}
    ~Place() { stream_->leave(*member_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    std::shared_ptr<Stream> stream_;
    std::shared_ptr<Member> member_;
  };

  // A server that owes an answer and says nothing for `timeout` ends it as DEADLINE_EXCEEDED.
  Stream(Loop& loop, Pump& pump, Endpoint& endpoint, const Token& token, Duration timeout);
  void open();
  bool is_open_to(const Endpoint& endpoint, const Token& token) const;
  std::unique_ptr<Place> join(Create create, Handlers handlers);

 private:
  struct Wire;

  void leave(Member& member);
  void create_next();
  void await_answer();
  void send(etcdserverpb::WatchRequest request);
  void write();
  void read();
  void take(Message& message);
  void answered(Message& message);
  void finish();
  void end(const grpc::Status& status);

  Pump& pump_;
  Endpoint& endpoint_;
  const Token token_;
  const Duration timeout_;
  const std::shared_ptr<Wire> wire_;
  bool started_ = false, writing_ = false, ended_ = false;
  std::deque<etcdserverpb::WatchRequest> out_;
  std::uint64_t taken_ = 0;                                   // messages
  std::map<std::uint64_t, std::shared_ptr<Member>> members_;  // by number: in the order in which they joined
  std::uint64_t last_number_ = 0;
  std::deque<std::shared_ptr<Member>> waiting_;  // to be created; the server was asked for the first
  std::unordered_map<std::int64_t, std::shared_ptr<Member>> by_id_;
  Delays delays_;
};

class Streams {
 public:
  Streams(Loop& loop, Pump& pump, Duration timeout) : loop_(loop), pump_(pump), timeout_(timeout) {}
  std::unique_ptr<Stream::Place> join(Endpoint& endpoint, const Token& token, Stream::Create create, Stream::Handlers handlers);

 private:
  Loop& loop_;
  Pump& pump_;
  const Duration timeout_;
  std::vector<std::weak_ptr<Stream>> streams_;
};

}  // namespace evenkeel::store::etcd::detail
