#include "evenkeel/broker/shell/recording.h"

#include <utility>

#include "evenkeel/broker/shell/detail/recording_buffer.h"

namespace evenkeel::broker {

bool Recording::Buffer::push(Micros now, const trace::Command& command) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    overflowed_ = commands_.size() + (now > last_ ? 2 : 1) > most_;
    ended_ = overflowed_;
    if (!overflowed_ && now > last_) commands_.emplace_back(trace::Advance{now - last_});
    if (!overflowed_) commands_.push_back(command);
    last_ = now;
  }
  changed_.notify_one();
  return true;
}

Result<std::vector<trace::Command>> Recording::Buffer::read(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, stop, [this] { return !commands_.empty() || ended_; });
  return take();
}

Result<std::vector<trace::Command>> Recording::Buffer::read_now() {
  const std::lock_guard lock(mutex_);
  return take();
}

Result<std::vector<trace::Command>> Recording::Buffer::take() {
  if (commands_.empty() && overflowed_)
    return fail(Code::too_large,
                "the recording ended: {} commands waited to be read, which is all it keeps; read faster, or keep more", most_);
  return std::exchange(commands_, {});
}

void Recording::Buffer::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

Recording::Recording(std::shared_ptr<Buffer> buffer) : buffer_(std::move(buffer)) {}
Recording::~Recording() { buffer_->end(); }
// NOLINTNEXTLINE(performance-unnecessary-value-param): a token is handed over by value everywhere.
Result<std::vector<trace::Command>> Recording::read(std::stop_token stop) { return buffer_->read(stop); }
Result<std::vector<trace::Command>> Recording::read_now() { return buffer_->read_now(); }

}  // namespace evenkeel::broker
