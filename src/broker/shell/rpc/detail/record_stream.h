#pragma once
// RecordStream: one recording, sent to who asked for it. It owns itself, and has a thread that waits for what the broker is asked next.

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "broker/shell/rpc/broker.pb.h"

#include "evenkeel/broker/shell/broker.h"
#include "evenkeel/broker/shell/recording.h"
#include "evenkeel/broker/shell/rpc/detail/session_stream.h"

namespace evenkeel::broker::detail {

class RecordStream final : public grpc::ServerWriteReactor<v1::RecordResponse> {
 public:
  RecordStream(Broker& broker, Seats& seats);

 private:
  ~RecordStream() override;

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  // The thread's work.
  void run(const std::stop_token& stop, std::unique_ptr<Recording> recording);
  // Returns when the text is sent; false: nobody reads any more.
  bool send(std::string_view text);

  Seats& seats_;
  std::mutex mutex_;
  std::condition_variable written_;
  bool writing_ = false;
  bool lost_ = false;
  v1::RecordResponse outgoing_;
  std::jthread thread_;
};

}  // namespace evenkeel::broker::detail
