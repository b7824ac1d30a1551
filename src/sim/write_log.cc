#include "evenkeel/sim/write_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "evenkeel/base/result.h"

namespace evenkeel::sim {

std::optional<Epoch> WriteLog::epoch_at(std::uint64_t position) const {
  const auto run = std::ranges::lower_bound(runs_, position, {}, &Run::end);
  return position == 0 || run == runs_.end() ? std::nullopt : std::optional(run->epoch);
}

void WriteLog::append(Epoch epoch, std::uint64_t count) {
  if (count == 0) return;
  ensure(runs_.empty() || runs_.back().epoch <= epoch, "the epochs of a log do not go back");
  const std::uint64_t end = length() + count;
  if (!runs_.empty() && runs_.back().epoch == epoch) {
    runs_.back().end = end;
  } else {
    runs_.push_back({epoch, end});
  }
}

void WriteLog::truncate(std::uint64_t length) {
  const auto run = std::ranges::lower_bound(runs_, length, {}, &Run::end);
  if (run == runs_.end()) return;
  const std::uint64_t before = run == runs_.begin() ? 0 : std::prev(run)->end;
  const auto first_gone = length > before ? std::next(run) : run;
  if (length > before) run->end = length;
  runs_.erase(first_gone, runs_.end());
}

void WriteLog::extend(const WriteLog& other, std::uint64_t length) {
  for (const Run& run : other.runs_) {
    const std::uint64_t end = std::min(run.end, length);
    if (end > this->length()) append(run.epoch, end - this->length());
  }
}

std::uint64_t WriteLog::common(const WriteLog& other) const {
  // Runs that are equal begin at the same position; the first two that are not still share what is before the end of the shorter, if both are of
  // one epoch.
  std::uint64_t same = 0;
  for (std::size_t i = 0; i < std::min(runs_.size(), other.runs_.size()); ++i) {
    const Run& one = runs_[i];
    const Run& two = other.runs_[i];
    if (one.epoch != two.epoch) return same;
    same = std::min(one.end, two.end);
    if (one.end != two.end) return same;
  }
  return same;
}

std::string format(const WriteLog& log) {
  std::string text;
  std::uint64_t before = 0;
  for (const WriteLog::Run& run : log.runs()) {
    text += fmt::format("{}{}×{}", text.empty() ? "" : " ", run.epoch, run.end - before);
    before = run.end;
  }
  return text;
}

}  // namespace evenkeel::sim
