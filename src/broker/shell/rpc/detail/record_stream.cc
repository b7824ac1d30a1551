#include "evenkeel/broker/shell/rpc/detail/record_stream.h"

#include <algorithm>

#include "evenkeel/broker/shell/rpc/detail/status.h"

namespace evenkeel::broker::detail {
namespace {

// The first line holds all tasks, so it may be long: it goes in parts, well below what a message may have.
constexpr std::size_t part_max = 256 * 1024;

}  // namespace

RecordStream::RecordStream(Broker& broker, Seats& seats) : seats_(seats) {
  if (!seats_.take()) {
    Finish(to_status({Code::too_large, fmt::format("{} recordings are made already, which is all at a time", seats_.most())}));
    return;
  }
  thread_ =
      std::jthread([this, recording = broker.record()](const std::stop_token& stop) mutable { run(stop, std::move(recording)); });
}

RecordStream::~RecordStream() = default;

void RecordStream::run(const std::stop_token& stop, std::unique_ptr<Recording> recording) {
  grpc::Status status = grpc::Status::OK;
  while (true) {
    const auto commands = recording->read(stop);
    if (!commands) {
      status = to_status(commands.error());
      break;
    }
    std::string text;
    for (const trace::Command& command : *commands) text += trace::format(command) + "\n";
    if (text.empty() || !send(text)) break;
  }
  recording.reset();
  seats_.leave();
  Finish(status);  // the last that is done here: the stream may be gone after it
}

bool RecordStream::send(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), part_max))) {
    std::unique_lock lock(mutex_);
    if (lost_) return false;
    outgoing_.set_text(std::string(text.substr(0, part_max)));
    writing_ = true;
    StartWrite(&outgoing_);
    written_.wait(lock, [this] { return !writing_; });
  }
  const std::lock_guard lock(mutex_);
  return !lost_;
}

void RecordStream::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  lost_ = lost_ || !ok;
  written_.notify_one();
}

void RecordStream::OnCancel() { thread_.request_stop(); }

// Joins the thread, which has nothing left to do.
void RecordStream::OnDone() { delete this; }

}  // namespace evenkeel::broker::detail
