// What people read after a run: the timeline and how calm it was.

#include <algorithm>
#include <iterator>
#include <utility>

#include "evenkeel/base/text.h"
#include "evenkeel/sim/detail/moments.h"
#include "evenkeel/sim/run.h"

namespace evenkeel::sim {
namespace detail {

std::string format_time(Duration time) {
  const auto minutes = std::chrono::floor<std::chrono::minutes>(time);
  const auto rest = std::chrono::floor<std::chrono::milliseconds>(time - minutes);
  const std::string seconds = format_decimal(static_cast<double>(rest.count()) / 1000, 3) + "s";
  if (minutes == minutes.zero()) return seconds;
  return rest == rest.zero() ? format(Duration(minutes)) : format(Duration(minutes)) + seconds;
}

}  // namespace detail

std::string format(const Moment& moment) {
  return fmt::format("{:>12}  {:<12}  {}", detail::format_time(moment.at), moment.who, moment.what);
}

std::string format_timeline(const Outcome& outcome) {
  std::string out;
  for (const Moment& moment : outcome.timeline) fmt::format_to(std::back_inserter(out), "{}\n", format(moment));
  return out;
}

std::string format_calm(const Calm& calm) {
  const std::pair<std::string_view, std::string> lines[] = {
      {"moves", fmt::format("{}, of them {} back to where the shard had just been dropped", calm.moves, calm.thrash)},
      {"leader changes", fmt::format("{}", calm.leader_changes)},
      {"without a leader", fmt::format("{} over all shards, {} at the longest", detail::format_time(calm.leaderless),
                                       detail::format_time(calm.leaderless_longest))},
      {"unsettled", detail::format_time(calm.unsettled)},
      {"writes", fmt::format("{} acknowledged, {} refused", calm.writes, calm.refused)},
      {"to the store", fmt::format("{} bytes", calm.bytes_written)},
  };
  std::string out;
  for (const auto& [what, text] : lines) fmt::format_to(std::back_inserter(out), "{:<16}  {}\n", what, text);
  return out;
}

}  // namespace evenkeel::sim
