#pragma once
// Line: a client's stream to a broker. It is kept by whoever uses it, and by itself until gRPC says that the stream is over.
// It is never destroyed on a thread of gRPC's: with the last channel gRPC ends those threads and waits for them, so one would wait for
// itself. That is why close() waits for the very end of OnDone.
//
// Requests are put into `unsent_` and sent in batches, one write at a time; deliveries go through an outbox to the sink. gRPC is
// called under `mutex_`, since its reactions never run inside a call to it. A hold, kept while the line is up, lets any thread start
// a write.

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "broker/shell/rpc/broker.grpc.pb.h"

#include "evenkeel/broker/shell/detail/outbox.h"
#include "evenkeel/broker/shell/rpc/remote.h"

namespace evenkeel::broker::detail {

class Line final : public grpc::ClientBidiReactor<v1::ClientMessage, v1::ServerMessage>,
                   public std::enable_shared_from_this<Line> {
 public:
  Line(std::shared_ptr<grpc::Channel> channel, const RemoteOptions& options, Executor executor, SessionSink& sink);

  // Says hello and waits for the welcome.
  Result<void> start(const std::string& name);
  Result<RequestTag> send(v1::Operation operation);
  // Sends what is queued, waits for the end a little, then forces it. Nothing is delivered afterwards.
  void close();

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  void take(const v1::ServerMessage& message);
  void push(Delivery delivery);
  // After a delivery: there may be room to read on.
  void delivered();

  // Under the lock.
  void read_next();
  void write_next();
  void refuse_from_now_on(Error reason);

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::Broker::Stub> stub_;
  const RemoteOptions options_;
  grpc::ClientContext context_;
  std::shared_ptr<Outbox<Delivery>> outbox_;
  v1::ServerMessage incoming_;
  v1::ClientMessage outgoing_;

  std::mutex mutex_;
  std::condition_variable changed_;          // room to send, welcome, or the end
  std::atomic<std::thread::id> delivering_;  // the thread that delivers just now
  std::shared_ptr<Line> self_;               // until OnDone
  std::optional<Error> down_;                // why nothing is taken any more
  std::optional<Error> fault_;               // what the broker sent and should not have
  std::optional<grpc::Status> over_;         // what the stream ended with
  std::size_t message_max_ = 0;              // bytes; 0: not yet welcome
  RequestTag last_tag_ = 0;
  std::deque<v1::Operation> unsent_;
  bool reading_ = false, writing_ = false, closing_ = false, half_closed_ = false, held_ = false;
  bool gone_ = false;      // gRPC is done with it, and so is OnDone
  bool orphaned_ = false;  // nobody waits for that
};

}  // namespace evenkeel::broker::detail
