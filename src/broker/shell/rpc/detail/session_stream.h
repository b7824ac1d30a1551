#pragma once
// SessionStream: one client's stream, on the broker's side. It owns itself: gRPC tells it when it is over, and it goes.
//
// Who does what: reads are handled one after the other, so the session is opened, used and closed by the reading side alone
// (`reading_` says that a read is under way or being handled); only when reading pauses does a cancelled call close it itself.
// Deliveries come on any thread; they are put into `waiting_` and sent in batches, one write at a time. The stream is finished
// only when no write is under way. All of it is decided under `mutex_`, and gRPC is called under it too: its reactions never run
// inside a call to it. The session is called and destroyed without it, since that delivers.

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "evenkeel/base/quantity.h"
#include "evenkeel/broker/shell/broker.h"
#include "evenkeel/broker/shell/rpc/wire.h"

namespace evenkeel::broker::detail {

// A bounded number of places. Threads: any.
class Seats {
 public:
  explicit Seats(std::size_t most) : most_(most) {}
  bool take() {
    if (taken_.fetch_add(1) < most_) return true;
    taken_.fetch_sub(1);
    return false;
  }
  void leave() { taken_.fetch_sub(1); }
  std::size_t most() const { return most_; }

 private:
  const std::size_t most_;
  std::atomic<std::size_t> taken_ = 0;
};

class SessionStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>, public SessionSink {
 public:
  struct Bounds {
    std::size_t deliveries_max = 0;
    Bytes message_max;
  };

  SessionStream(Broker& broker, Seats& seats, const Bounds& bounds);

 private:
  ~SessionStream() override;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void deliver(const Delivery& delivery) override;

  Result<void> handle_message();
  void welcome();
  // Closes the session, without the lock, and finishes the stream as soon as nothing is being written. What waits to be sent is sent
  // before only if the client ended it in order: it may still want its answers.
  void end(const grpc::Status& status);

  // Under the lock.
  void write_next();
  void finish_when_quiet();

  Broker& broker_;
  Seats& seats_;
  const Bounds bounds_;
  bool seated_ = false;

  // The reading side's own.
  grpc::ByteBuffer incoming_;
  wire::Intake intake_;
  std::unique_ptr<Session> session_;

  std::mutex mutex_;
  bool reading_ = false;
  bool writing_ = false;
  bool cancelled_ = false;
  bool finished_ = false;
  std::optional<grpc::Status> status_;  // the stream is to end with it
  std::optional<v1::Welcome> welcome_;
  std::deque<Delivery> waiting_;
  grpc::ByteBuffer outgoing_;
};

}  // namespace evenkeel::broker::detail
