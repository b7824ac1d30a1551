#pragma once
// The bounded buffer between a broker, which pushes under its lock, and the one who reads a Recording.

#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "evenkeel/broker/shell/recording.h"

namespace evenkeel::broker {

class Recording::Buffer {
 public:
  Buffer(trace::Restore start, std::size_t most) : most_(most), last_(start.state.now) {
    commands_.emplace_back(std::move(start));
  }

  // False: it takes no more, and may be forgotten.
  bool push(Micros now, const trace::Command& command);
  Result<std::vector<trace::Command>> read(const std::stop_token& stop);
  Result<std::vector<trace::Command>> read_now();
  void end();

 private:
  Result<std::vector<trace::Command>> take();

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<trace::Command> commands_;
  Micros last_;
  bool overflowed_ = false;
  bool ended_ = false;
};

}  // namespace evenkeel::broker
