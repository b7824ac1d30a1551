#pragma once
// WriteLog: which writes a replica has, without their contents: for each position, from 1, the epoch of the leader that wrote there.
//
// A write is known by (epoch, position): at one epoch one leader numbers its writes one after the other. So a log is a few runs of one epoch, and the
// same epoch at the same position is the same write, with the same writes before it.
// A value. Cost: O(runs) at most for each call; a shard has a run for each leader that wrote.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/model/ids.h"

namespace evenkeel::sim {

class WriteLog {
 public:
  struct Run {
    Epoch epoch;
    std::uint64_t end = 0;  // its last position
    friend bool operator==(const Run&, const Run&) = default;
  };

  std::uint64_t length() const { return runs_.empty() ? 0 : runs_.back().end; }
  bool empty() const { return runs_.empty(); }
  const std::vector<Run>& runs() const { return runs_; }
  // Nothing: there is no such position.
  std::optional<Epoch> epoch_at(std::uint64_t position) const;

  // Epochs do not go back.
  void append(Epoch epoch, std::uint64_t count = 1);
  void truncate(std::uint64_t length);
  // So many writes of the other one, which has all that this one has.
  void extend(const WriteLog& other, std::uint64_t length);
  // How many writes, from the first, both have.
  std::uint64_t common(const WriteLog& other) const;
  bool starts_with(const WriteLog& other) const { return common(other) == other.length(); }

  friend bool operator==(const WriteLog&, const WriteLog&) = default;

 private:
  std::vector<Run> runs_;  // none is empty, neighbours differ
};

// "1×12 4×3": three writes at epoch 4 after twelve at epoch 1.
std::string format(const WriteLog& log);

}  // namespace evenkeel::sim
